"""What agents delete by themselves, and when: a transcript that goes unread is lost for good."""

from __future__ import annotations

from typing import Final

import msgspec

from dreaming.transcripts.interface import Transcript

DAY: Final = 24 * 3600.0
SOON: Final = 7 * DAY
"""What goes within a week goes soon."""


class Loss(msgspec.Struct):
    """What one agent will delete soon."""

    days: int
    """How long the agent keeps a transcript after its last change."""
    transcripts: int = 0
    bytes: int = 0
    unread: int = 0
    """Of these, the ones that are not settled."""
    unread_bytes: int = 0
    next: float | None = None
    """When the next transcript of all goes, seconds since 1970 UTC; past instants are due now."""


def lost_at(transcript: Transcript, keeps_days: int | None) -> float | None:
    """Return when its agent deletes a transcript that does not change; ``None`` for never."""
    return None if keeps_days is None else transcript.modified_ns / 1e9 + keeps_days * DAY


def note(
    losses: dict[str, Loss], one: Transcript, keeps_days: int | None, *, settled: bool, now: float
) -> None:
    """Count one transcript to what its agent will delete."""
    at = lost_at(one, keeps_days)
    if at is None or keeps_days is None:
        return
    loss = losses.setdefault(one.agent, Loss(keeps_days))
    loss.days = min(loss.days, keeps_days)
    loss.next = at if loss.next is None else min(loss.next, at)
    if at <= now + SOON:
        loss.transcripts += 1
        loss.bytes += one.size
        if not settled:
            loss.unread += 1
            loss.unread_bytes += one.size
