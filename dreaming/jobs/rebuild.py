"""Makes the state anew from transcripts, archive, kept answers and the ledger, and pays nothing.

The new state is made beside the old one, which is put aside only when the new one is whole.
"""

from __future__ import annotations

import os
from pathlib import Path
from typing import ClassVar, Final

import msgspec

from dreaming.backends.interface import Answer, Backend, Request
from dreaming.due import Standing
from dreaming.errors import DreamingError
from dreaming.jobs import archiving
from dreaming.jobs.batches import settle_all
from dreaming.jobs.limits import Limits
from dreaming.jobs.listing import PURPOSE, waiting_settlement
from dreaming.jobs.nightly import Night, queue_up, take_stock
from dreaming.jobs.progress import Stopwatch
from dreaming.models.report import Report, Spent, iso
from dreaming.stores import files
from dreaming.stores.salvage import Salvaged, salvage

OLD: Final = "state.before-rebuild.db"


class Rebuilt(msgspec.Struct):
    """What the new state was made of."""

    report: Report
    salvaged: Salvaged
    unasked: int
    """Transcripts with something no kept answer is about: a night with the backend reads them."""


class NotKept(DreamingError):
    """No kept answer is about this; a night asks the backend."""


class _Kept(Backend):
    """Stands for a backend that costs something: nothing is asked of it."""

    name: ClassVar[str] = "kept"
    leaves_the_machine = False
    free: ClassVar[bool] = False

    def __init__(self, instead_of: Backend) -> None:
        self._identity, self._tokens = instead_of.identity, instead_of.context_tokens

    @property
    def identity(self) -> str:
        """Name the backend it stands for."""
        return self._identity

    @property
    def context_tokens(self) -> int:
        """Return what the backend takes."""
        return self._tokens

    def ask(self, request: Request) -> Answer:
        """Refuse."""
        raise NotKept


def rebuild(night: Night, old: Path) -> Rebuilt:
    """Fill the night's state, which must be empty, with what is known without it.

    ``old`` is the database that is given up; what only it tells is taken over where it can be read.
    Its transcripts that waited as too old wait again. Raises what a night raises.
    """
    now, watch = night.clock(), Stopwatch()
    report = Report(started=iso(now), backend=night.backend.identity)
    night.waits = msgspec.structs.replace(night.waits, since=0.0)
    night.reader.words = night.decided().words
    stock = take_stock(night, report, now, frozenset({Standing.DUE}))
    there = {one.transcript.key for one in [*stock.due, *stock.open]}
    salvaged = salvage(old, night.state, there) if old.exists() else Salvaged()
    for hash_ in night.answers.all():
        answer = night.answers.get(hash_)
        if answer is not None and answer.about:
            sessions = [session for session, _ in answer.about]
            night.state.note_request(hash_, hash_, "asked", sessions, Spent(), now)
    night.limits = Limits()
    if not night.backend.free:
        night.backend = _Kept(night.backend)
    due = [one for one in stock.due if one.transcript.key not in salvaged.older]
    due += archiving.bereft(night.state, night.archive, there)
    settled = settle_all(night, due, report, watch, room=lambda: 1)
    unasked = [one for one in due if one.transcript.key not in settled]
    long_ago = (now - night.waits.first_night) * 1e9
    waiting = [one for one in unasked if one.transcript.modified_ns < long_ago]
    waiting += [one for one in stock.due if one.transcript.key in salvaged.older]
    older = [msgspec.structs.replace(one, standing=Standing.OLDER) for one in waiting]
    settlements = [waiting_settlement(one, night.waits) for one in older]
    night.state.settle(PURPOSE, [*stock.waiting, *settlements], now=now)
    report.failures = [one for one in report.failures if one != NotKept().message]
    report.exit_code = 1 if report.failures else 0
    archiving.withdraw(night.archive, night.state)
    queue_up(night, report, watch, now)
    return Rebuilt(report, salvaged, len(unasked))


def put_in_place(new: Path, old: Path) -> Path:
    """Put the new database where the old one is; return where the old one is kept.

    What the old one's journal holds goes with it: beside another database it would be poison.
    """
    kept = old.with_name(OLD)
    for tail in ("", "-wal", "-shm"):
        kept.with_name(f"{kept.name}{tail}").unlink(missing_ok=True)
    if old.exists():
        os.link(old, kept)
    for tail in ("-wal", "-shm"):
        journal = old.with_name(f"{old.name}{tail}")
        if journal.exists():
            journal.rename(kept.with_name(f"{kept.name}{tail}"))
    new.replace(old)
    files.sync_folder(old.parent)
    return kept
