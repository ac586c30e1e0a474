"""What is there and where each transcript stands, before anything is opened."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Iterator, Sequence
from pathlib import Path
from typing import Final

import msgspec

from dreaming.due import Sight, Standing, standing
from dreaming.jobs.reading import stamp
from dreaming.jobs.retention import Loss, note
from dreaming.models.report import Verdict
from dreaming.stores.interface import Cursor, Settlement
from dreaming.stores.state import State
from dreaming.transcripts.interface import NotASession, Source, Transcript

PURPOSE: Final = "mining"

STALE_BYTES: Final = 4_000_000_000
"""About ten minutes of reading. What this machine keeps of all the rest is scanned at once."""
_WAITS: Final = {one.value: one for one in (Standing.OPEN, Standing.OLDER)}


class Waits(msgspec.Struct, frozen=True):
    """What lets a transcript wait."""

    rules: str
    """Version of the rules a verdict depends on: another one makes everything due, in slices."""
    settle: float
    """Seconds a transcript must have been quiet."""
    first_night: float
    """Seconds a first night reads back."""
    since: float | None = None
    """An instant that a person named; 0.0 for everything."""
    stale_bytes: int = STALE_BYTES
    """How much of what only the rules changed for one night reads."""


class Listed(msgspec.Struct, frozen=True, gc=False):
    """One transcript of a listing."""

    source: Source | None
    """``None`` for one that is gone and is read from the archive."""
    transcript: Transcript
    cursor: Cursor | None
    standing: Standing
    keeps_days: int | None = None
    """How long its agent keeps it after its last change; ``None`` for ever."""


class Preview(msgspec.Struct):
    """What a night would read."""

    found: int = 0
    """All transcripts that are there, whatever became of them."""
    transcripts: int = 0
    """Those that are due."""
    bytes: int = 0
    agents: dict[str, int] = msgspec.field(default_factory=dict)
    older: int = 0
    older_bytes: int = 0
    writing: int = 0
    """Transcripts still being written."""
    stale: int = 0
    """Transcripts that wait to be scanned by new rules."""
    stale_bytes: int = 0
    losses: dict[str, Loss] = msgspec.field(default_factory=dict)
    """What agents will delete, by agent."""


def look(
    folders: Sequence[tuple[Source, Path]],
    state: State,
    waits: Waits,
    now: float,
    again: Collection[tuple[str, bytes]] = (),
) -> Iterator[Listed | NotASession]:
    """Yield every file of the folders with where it stands. Writes nothing.

    ``again`` are transcripts to read although nothing changed: a person's word let them in.
    """
    cursors = state.cursors(PURPOSE)
    since = waits.since
    if since is None and not cursors:
        since = now - waits.first_night
    seen: set[tuple[str, bytes]] = set()
    for source, folder in folders:
        keeps_days = source.keeps_days(folder)
        for one in source.list(folder):
            if isinstance(one, NotASession):
                yield one
                continue
            key = one.key
            if key in seen:
                yield NotASession(one.path, "listed twice")
                continue
            seen.add(key)
            cursor = cursors.get(key)
            sight = _sight(one, cursor, waits.rules)
            if key in again:
                sight = msgspec.structs.replace(sight, changed=True)
            stands = standing(sight, now=now, settle=waits.settle, since=since)
            yield Listed(source, one, cursor, stands, keeps_days)


def preview(found: Iterable[Listed | NotASession], now: float) -> Preview:
    """Return what a night would read of a listing, and what agents will delete of it."""
    result = Preview()
    for one in found:
        if isinstance(one, NotASession):
            continue
        result.found += 1
        settled = one.standing in (Standing.SETTLED, Standing.STALE)
        note(result.losses, one.transcript, one.keeps_days, settled=settled, now=now)
        if one.standing is Standing.DUE:
            result.transcripts += 1
            result.bytes += one.transcript.size
            agent = one.transcript.agent
            result.agents[agent] = result.agents.get(agent, 0) + 1
        elif one.standing is Standing.OLDER:
            result.older += 1
            result.older_bytes += one.transcript.size
        elif one.standing is Standing.OPEN:
            result.writing += 1
        elif one.standing is Standing.STALE:
            result.stale += 1
            result.stale_bytes += one.transcript.size
    return result


def is_new_to_wait(one: Listed) -> bool:
    """Whether the state must remember that this transcript was seen and waits."""
    if one.standing is Standing.OPEN:
        return one.cursor is None
    if one.standing is Standing.OLDER:
        return one.cursor is None or one.cursor.reason != Standing.OLDER
    return False


def waiting_settlement(one: Listed, waits: Waits) -> Settlement:
    """Return what the state remembers of a transcript that waits: nothing of it is settled."""
    return Settlement(
        agent=one.transcript.agent,
        path=one.transcript.path,
        stamp=stamp(one.transcript),
        verdict=Verdict.SKIPPED,
        reason=one.standing.value,
        rules=waits.rules,
    )


def _sight(transcript: Transcript, cursor: Cursor | None, rules: str) -> Sight:
    modified = transcript.modified_ns / 1e9
    if cursor is None:
        return Sight(modified, changed=True, waits_since=None)
    waits_for = _WAITS.get(cursor.reason)
    return Sight(
        modified,
        changed=cursor.stamp != stamp(transcript),
        waits_since=cursor.looked_at,
        waits_for=waits_for,
        attempts=cursor.attempts,
        stale=cursor.rules != rules and not waits_for,
    )
