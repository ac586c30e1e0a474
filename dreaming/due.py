"""What is due, and where the watermark may go. Pure: instants in, answers out.

All instants are seconds since 1970 UTC. The clock never decides what is new: cursors do. It only
decides whether a transcript has been quiet long enough, and what a first night leaves for later.
"""

from __future__ import annotations

from collections.abc import Iterable
from enum import StrEnum
from typing import Final

import msgspec

LONGEST_WAIT: Final = 24 * 3600.0
"""Seconds after which a transcript that never comes to rest is read all the same."""
MAX_ATTEMPTS: Final = 3
"""How often a transcript that fails is tried before it no longer holds the watermark."""


class Standing(StrEnum):
    """Where a listed transcript stands tonight."""

    DUE = "due"
    SETTLED = "settled"
    """Nothing changed since it was settled."""
    STALE = "waiting for the new rules"
    """Nothing changed but the rules since it was settled."""
    OPEN = "still being written"
    OLDER = "older than the first night"
    SET_ASIDE = "failed too often"
    """Unchanged since it failed for the last time."""


class Sight(msgspec.Struct, frozen=True, gc=False):
    """What is known of a listed transcript before it is opened."""

    modified: float
    changed: bool
    """The file system's stamp differs from when it was settled; true for a new one."""
    waits_since: float | None
    """When it was first seen or last settled; ``None`` for one never listed before."""
    waits_for: Standing | None = None
    """OPEN or OLDER where the last listing left it at that."""
    attempts: int = 0
    """Failed attempts so far."""
    stale: bool = False
    """The rules differ from those it was settled by."""


def standing(sight: Sight, *, now: float, settle: float, since: float | None) -> Standing:
    """Return where a transcript stands.

    ``settle`` is in seconds. ``since`` is the instant before which a transcript nobody has read is
    left for later: on a first night, or where a person named one. ``None`` means no such instant.
    """
    never_read = sight.waits_since is None or sight.waits_for is not None
    if sight.waits_for is Standing.OLDER and not sight.changed and since is None:
        return Standing.OLDER
    if since is not None and never_read and sight.modified < since:
        return Standing.OLDER
    if not sight.changed and not sight.stale and sight.attempts >= MAX_ATTEMPTS:
        return Standing.SET_ASIDE
    if not sight.changed and sight.waits_for is None and sight.attempts == 0:
        return Standing.STALE if sight.stale else Standing.SETTLED
    if settle > 0 and now - settle < sight.modified <= now:
        waits_since = now if sight.waits_since is None else sight.waits_since
        if 0 <= now - waits_since < LONGEST_WAIT:  # an instant to come is a clock that jumped
            return Standing.OPEN
    return Standing.DUE


def watermark(
    before: float | None, listed_at: float, unsettled: Iterable[float | None]
) -> float | None:
    """Return the instant up to which every source is settled: it never goes back.

    ``listed_at`` is when tonight's listing was taken. ``unsettled`` holds, for every transcript
    with something left, when it was last found settled, and ``None`` for one that never was:
    then nothing after ``before`` is promised.
    """
    bound: float | None = listed_at
    for settled_at in unsettled:
        if settled_at is None:
            return before
        bound = min(bound, settled_at) if bound is not None else settled_at
    if before is None or bound is None:
        return bound
    return max(before, bound)
