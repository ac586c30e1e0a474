"""What is kept when an agent has deleted its transcript, for how long, and how it is read again."""

from __future__ import annotations

import math
import os
from collections.abc import Collection, Iterator, Sequence
from pathlib import Path

import msgspec

from dreaming.due import Standing
from dreaming.jobs.listing import PURPOSE, Listed
from dreaming.jobs.reading import Reader, Reading
from dreaming.models.report import Verdict
from dreaming.stores.answers import Answers
from dreaming.stores.archive import Archive, Archived, drop_older
from dreaming.stores.state import State
from dreaming.transcripts.interface import Transcript


class Retention(msgspec.Struct, frozen=True):
    """How long what is redacted is kept, in seconds after the transcript last changed."""

    sessions: float = 0.0
    """Whole redacted sessions; 0 keeps none."""
    excerpts: float = math.inf
    """Excerpts that stand in no candidate which waits or was decided."""
    answers: float = math.inf
    """Raw answers of backends; counted from when they came."""


def outlived(state: State, archive: Archive, rules: str) -> Iterator[Listed]:
    """Yield the transcripts that are gone, are archived, and were settled by other rules."""
    for (agent, path), cursor in state.cursors(PURPOSE, but=rules).items():
        if cursor.verdict is not Verdict.PROCESSED or not archive.holds(agent, path):
            continue
        stamp = cursor.stamp
        if not Path(os.fsdecode(path)).exists():
            transcript = Transcript(
                agent=agent,
                place=path,
                device=stamp.device,
                inode=stamp.inode,
                size=stamp.size,
                modified_ns=stamp.modified_ns,
                changed_ns=stamp.changed_ns,
            )
            yield Listed(None, transcript, cursor, Standing.STALE)


def bereft(
    state: State, archive: Archive, there: Collection[tuple[str, bytes]]
) -> Iterator[Listed]:
    """Yield the archived transcripts that are not ``there`` and that the state does not know."""
    known = state.cursors(PURPOSE)
    for one in archive.all():
        if (one.agent, one.path) not in known and (one.agent, one.path) not in there:
            transcript = Transcript(one.agent, one.path, 0, 0, one.settled, 0, 0)
            yield Listed(None, transcript, None, Standing.DUE)


def read(archive: Archive, reader: Reader, one: Listed) -> Reading:
    """Read a transcript that is gone from the archive; where that lost it what is known stands."""
    kept = archive.get(*one.transcript.key)
    return reader.reread(kept, one.transcript, one.cursor)


def keep(archive: Archive, readings: Sequence[Reading]) -> None:
    """Archive what was read, before it is settled: after a crash it is read and kept again."""
    for one in readings:
        settlement = one.settlement
        if settlement.verdict is Verdict.PROCESSED and one.redacted is not None:
            archived = Archived(
                agent=settlement.agent,
                path=os.fsencode(settlement.path),
                settled=settlement.settled,
                digest=settlement.digest,
                session=one.redacted,
                projects=dict(one.projects),
            )
            archive.put(archived, settlement.stamp.modified_ns / 1e9)


def withdraw(archive: Archive, state: State, readings: Sequence[Reading] = ()) -> None:
    """Delete the copies of what is refused, its moved copies too, and of what no longer belongs.

    Called after each batch and at the start of a run, so that no crash leaves one behind.
    """
    gone = {
        (one.settlement.agent, os.fsencode(one.settlement.path))
        for one in readings
        if one.settlement.verdict is Verdict.SKIPPED and not one.settlement.keep
    }
    for agent, path in [*state.refused(PURPOSE), *gone]:
        archive.forget(agent, path)


def prune(
    retention: Retention, archive: Archive, answers: Answers, state: State, now: float
) -> None:
    """Delete what is older than it is to be kept."""
    drop_older(archive.folder, now - retention.sessions)
    if retention.answers < math.inf:
        drop_older(answers.folder, now - retention.answers)
    if retention.excerpts < math.inf:
        state.drop_excerpts(PURPOSE, now - retention.excerpts)
