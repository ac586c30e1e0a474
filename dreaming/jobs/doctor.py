"""The doctor: one small check after another, each with a word, a sentence and a remedy.

A check only looks. What it cannot look at is a finding too, so a check never ends the others.
"""

from __future__ import annotations

import os
import shutil
import socket
import stat
from collections.abc import Callable, Sequence
from contextlib import AbstractContextManager
from datetime import UTC, datetime
from enum import StrEnum
from pathlib import Path
from typing import Any, Final

import msgspec

from dreaming.config import PersonSettings
from dreaming.errors import DreamingError
from dreaming.jobs import gate, health
from dreaming.jobs.listing import PURPOSE, Preview
from dreaming.jobs.schedule import Overview
from dreaming.stores import files, mounts, sandbox
from dreaming.stores.ledger import Head, Ledger
from dreaming.stores.migrations import STEPS
from dreaming.stores.state import State
from dreaming.stores.workspace import FOLDERS, Workspace

_FIRST_DAY: Final = datetime(2026, 1, 1, tzinfo=UTC).timestamp()
"""A clock before this day is wrong."""
_LITTLE, _VERY_LITTLE = 1 << 30, 100 << 20
"""Free bytes."""
_CONNECT_SECONDS: Final = 5.0
_MANY: Final = 10
_LARGE_SHARE: Final = 0.02
"""Of all transcripts: from both on, so many left out are worth a look."""


class Level(StrEnum):
    """How a check went."""

    OK = "ok"
    WARN = "warn"
    BAD = "bad"


class Check(msgspec.Struct):
    """What one check found."""

    level: Level
    said: str
    remedy: str = ""
    name: str = ""


class Patient(msgspec.Struct):
    """What is looked at: a workspace, its settings, and the ways to the rest."""

    workspace: Workspace
    person: PersonSettings
    folders: Callable[[], Sequence[tuple[Any, Path]]]
    due: Callable[[], Preview]
    state: Callable[[], AbstractContextManager[State]]
    backend: Callable[[], Any]
    """Makes the backend, without asking it anything."""
    away: tuple[str, int] | None
    """Host and port of a backend that is elsewhere."""
    program: Callable[[], Any]
    """Says what is known of the backend's program; nothing where it runs none."""
    scheduled: Callable[[], Overview]
    now: float


def examine(patient: Patient, *, as_scheduled: bool = False) -> list[Check]:
    """Run every check, or those that depend on the environment a scheduler gives."""
    found: list[Check] = []
    for name, check, depends in _CHECKS:
        if as_scheduled and not depends:
            continue
        try:
            one = check(patient)
        except DreamingError as wrong:
            one = Check(Level.BAD, wrong.message, wrong.remedy)
        except OSError as wrong:
            place = f"{wrong.filename}: " if wrong.filename else ""
            one = Check(Level.BAD, f"{place}{wrong.strerror}", "Give yourself the right to it.")
        one.name = name
        if one.said not in {other.said for other in found}:  # a broken database stops several
            found.append(one)
    return found


def _ok(said: str) -> Check:
    return Check(Level.OK, said)


def _warn(said: str, remedy: str) -> Check:
    return Check(Level.WARN, said, remedy)


def _bad(said: str, remedy: str) -> Check:
    return Check(Level.BAD, said, remedy)


# -- places ---------------------------------------------------------------------------------------


def _places(patient: Patient) -> Check:
    found = patient.workspace
    missing = [one for one in FOLDERS if not (found.root / one).is_dir()]
    if missing:
        again = f"`dreaming init {found.root}` makes what is missing."
        return _bad(f"{found.root} lacks {', '.join(missing)}.", again)
    found.key()
    return _ok(f"{found.root} is whole; this machine's own folder is {found.state}.")


def _permissions(patient: Patient) -> Check:
    private = (patient.workspace.state, patient.workspace.key_file, patient.workspace.database)
    for place in private:
        if not place.exists():
            continue
        status = place.stat()
        if stat.S_IMODE(status.st_mode) & 0o077:
            return _bad(f"{place} can be seen by others.", f"`chmod go= {place}`")
        if status.st_uid != os.geteuid():
            return _bad(f"{place} belongs to somebody else.", f"`chown $USER {place}`")
    open_ = [place for place in (*private[:1], patient.workspace.pending) if not _writable(place)]
    if open_:
        return _bad(f"{open_[0]} may not be written.", "Give yourself the right to write it.")
    return _ok("Only you can see this machine's own folder, and a night can write it.")


def _writable(folder: Path) -> bool:
    return os.access(folder, os.W_OK | os.X_OK)


def _disk(patient: Patient) -> Check:
    free = min(
        shutil.disk_usage(place).free for place in (patient.workspace.state, patient.workspace.root)
    )
    said = f"{free / 1e9:.1f} GB are free."
    if free < _LITTLE:
        return (_bad if free < _VERY_LITTLE else _warn)(
            said, "Make room; a full disk ends a night."
        )
    return _ok(said)


def _file_system(patient: Patient) -> Check:
    kind = mounts.network(patient.workspace.state)
    if kind:
        return _bad(
            f"{patient.workspace.state} lies on {kind}, where locks cannot be relied on.",
            "Set XDG_STATE_HOME to a folder on a local disk.",
        )
    return _ok("This machine's own folder is on a local disk.")


def _clock(patient: Patient) -> Check:
    now = datetime.fromtimestamp(patient.now, UTC)
    if patient.now < _FIRST_DAY:
        return _bad(f"The clock says {now:%Y-%m-%d}.", "Set it.")
    with patient.state() as state:
        runs = state.last_runs(1)
    if runs and gate.ended_at(runs[0]) > patient.now + 60:
        return _warn(
            f"The last night was at {runs[0]['started']}, and the clock says {now:%Y-%m-%d %H:%M}.",
            "Set the clock if it is wrong; what is due does not depend on it.",
        )
    return _ok(f"It is {now:%Y-%m-%d %H:%M} UTC.")


# -- what is kept ---------------------------------------------------------------------------------


def _database(patient: Patient) -> Check:
    with patient.state() as state:
        (said,) = state.connection.execute("pragma quick_check(1)").fetchone()
    if said != "ok":
        return _bad(
            f"{patient.workspace.database} is damaged: {said}",
            "`dreaming doctor --rebuild` makes it anew; no decision is lost.",
        )
    size = patient.workspace.database.stat().st_size / 1e6
    return _ok(f"The state is whole ({size:.1f} MB, schema {len(STEPS)}).")


def _ledger(patient: Patient) -> Check:
    with patient.state() as state:
        kept = {name: Head.parse(text) for name, text in state.beginning("head ").items()}
    broken = Ledger(patient.workspace.ledger, "reader").verify(kept)
    if broken:
        more = f" ({len(broken)} places)" if broken[1:] else ""
        return _bad(f"{broken[0]}{more}.", "Put the file back as it was (git, backup).")
    return _ok(f"Every chain of the ledger is whole ({len(kept)} confirmed by this machine).")


def _lock(patient: Patient) -> Check:
    try:
        if patient.workspace.run_lock.exists():
            with files.lock(patient.workspace.run_lock):
                pass
    except files.Held as held:
        return _warn(f"A run is at work: {held}.", "Wait for it; it ends at its limit.")
    return _ok("No run is at work.")


# -- what is read ---------------------------------------------------------------------------------


def _agents(patient: Patient) -> Check:
    there = [f"{source.agent} in {folder}" for source, folder in patient.folders()]
    if not there:
        return _warn(
            "No agent left transcripts where they are looked for.",
            "Name the folders under [transcripts] in your config.toml.",
        )
    with patient.state() as state:
        rows = state.connection.execute(
            "select session_agent, version, count(*) from transcripts where version != ''"
            " group by 1, 2 order by 3 desc limit 6"
        ).fetchall()
    read = ", ".join(f"{agent} {version} ({number})" for agent, version, number in rows)
    return _ok(f"{'; '.join(there)}. Read so far: {read or 'nothing'}.")


def _retention(patient: Patient) -> Check:
    losses = patient.due().losses
    unread = sum(one.unread for one in losses.values())
    if unread:
        return _warn(
            f"Agents delete {unread} transcripts within a week that nobody has read.",
            "`dreaming backfill --doomed-first`",
        )
    kept = ", ".join(f"{agent} keeps them {one.days} days" for agent, one in losses.items())
    return _ok(f"No transcript goes unread within a week ({kept or 'nothing is deleted'}).")


def _records(patient: Patient) -> Check:
    with patient.state() as state:
        nights = health.nights(state, patient.person.alert, patient.now)
    unknown = sorted(nights.unknown_records.items(), key=lambda one: (-one[1], one[0]))
    if unknown:
        kinds = ", ".join(f"{kind} ({number})" for kind, number in unknown[:5])
        return _warn(
            f"The last nights met {len(unknown)} kinds of record nobody knows: {kinds}.",
            "They are passed over. Update dreaming; if they stay, report them.",
        )
    return _ok("Every kind of record that the last nights met is known.")


def _left_out(patient: Patient) -> Check:
    with patient.state() as state:
        verdicts = state.verdicts(PURPOSE)
    held, failed, excluded = (verdicts.get(name, 0) for name in ("held", "failed", "excluded"))
    total = held + failed + excluded + verdicts.get("processed", 0)
    many = max(_MANY, total * _LARGE_SHARE)
    if failed >= many:
        return _warn(
            f"{failed} of {total} transcripts could not be read or scanned.",
            "`dreaming redaction list` says why.",
        )
    if held >= many:
        return _warn(
            f"{held} of {total} transcripts wait for a word.",
            "`dreaming redaction held` asks about one after the other.",
        )
    return _ok(f"Of {total} transcripts {excluded} are excluded, {held} held, {failed} failed.")


# -- nights ---------------------------------------------------------------------------------------


def _backend(patient: Patient) -> Check:
    backend = patient.backend()
    named, program = backend.identity, patient.program()
    if program is not None:
        if not program.passed:
            again = f"`dreaming doctor --backend {backend.name}`"
            return _bad(f"{named}: {program.program} has not been tried.", again)
        named = f"{named}: {program.program}, which passed on {program.passed[:10]}"
    if patient.away is None:
        anywhere = "may connect anywhere" if program else "asks nobody over the network"
        return _ok(f"{named}: {anywhere}.")
    host, port = patient.away
    try:
        socket.create_connection((host, port), timeout=_CONNECT_SECONDS).close()
    except OSError as wrong:
        return _bad(f"{named}: {host}:{port} cannot be reached: {wrong}.", "Look at the network.")
    return _ok(f"{named}: a credential is there and {host}:{port} answers; nothing was asked.")


def _scheduler(patient: Patient) -> Check:
    found = patient.scheduled()
    again = "`dreaming schedule install` writes it anew."
    if not found.active:
        why = f" ({found.note})" if found.note else ""
        return _warn(f"Nothing starts nights by itself{why}.", "`dreaming schedule install`")
    if found.differs:
        return _warn(f"What {found.kind} starts is not what the settings say now.", again)
    if found.lingers is False:
        return _warn(
            f"{found.kind} starts nights only while you are logged in.", "`loginctl enable-linger`"
        )
    at = f", next look {found.next_look:%Y-%m-%d %H:%M} UTC" if found.next_look else ""
    return _ok(f"{found.kind} starts nights{at}.")


def _nights(patient: Patient) -> Check:
    with patient.state() as state:
        found = health.nights(state, patient.person.alert, patient.now)
    if found.troubles:
        return _bad(found.troubles[0].said, found.troubles[0].remedy)
    if not found.last:
        return _warn("There was no night yet.", "`dreaming nightly`")
    return _ok(f"The last night, of {found.last[0]['started']}, {found.last[0]['outcome']}.")


def _sandbox(patient: Patient) -> Check:
    with patient.state() as state:
        held = gate.kept(state)
    kernel = sandbox.version()
    if held is None:
        can = f"Landlock {kernel}" if kernel else "no Landlock"
        return _ok(f"This system has {can}; the first night tries whether it holds.")
    if not held.rings:
        level = Level.BAD if patient.person.sandbox.required else Level.WARN
        return Check(level, f"The last night ran without a sandbox: {held}.", "docs/safety.md")
    return _ok(f"The last night was held by {held}, as it tried itself.")


def _alert(patient: Patient) -> Check:
    if not patient.person.alert.asked_for:
        return _warn(
            "Nobody is told when nights fail.", "Set [alert] in your config.toml (docs/health.md)."
        )
    return _ok("Somebody is told when nights fail; `dreaming alert --test` tries it.")


_CHECKS: Final[tuple[tuple[str, Callable[[Patient], Check], bool], ...]] = (
    ("places", _places, True),
    ("rights", _permissions, True),
    ("disk", _disk, True),
    ("file system", _file_system, True),
    ("database", _database, True),
    ("clock", _clock, False),
    ("ledger", _ledger, False),
    ("lock", _lock, False),
    ("agents", _agents, True),
    ("records", _records, False),
    ("retention", _retention, False),
    ("left out", _left_out, False),
    ("backend", _backend, True),
    ("scheduler", _scheduler, False),
    ("nights", _nights, False),
    ("sandbox", _sandbox, False),
    ("alert", _alert, False),
)
"""Name, check, and whether the environment of a scheduler could make it go otherwise."""
