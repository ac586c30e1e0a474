"""The stretches of bytes around anchors that are looked at closely.

Anchors that stand close together share stretches, so that a transcript full of them costs no more
than its length; and where bytes repeat themselves, so do their stretches.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Final, NamedTuple

from dreaming.redaction.anchors import Place

LONGEST: Final = 4 << 10
"""A shape is compared with little more than this at once: its cost may grow faster than that."""
_SIGNATURE: Final = 512


class Window(NamedTuple):
    """A stretch around anchors."""

    at: int
    """Where the first anchor ends."""
    start: int
    stop: int
    outer_start: int
    """As ``start``, but over line ends: for what may be broken over lines."""
    outer_stop: int


def around(
    data: bytes,
    places: Sequence[Place],
    before: int,
    after: int,
    many_lines: bool = False,
    longest: int = LONGEST,
) -> Iterator[Window]:
    """Yield windows of ``before`` and ``after`` bytes around the places, in order.

    Without ``many_lines`` a window ends with the lines of its anchors.
    """
    for first, last in _runs(data, places, before + after):
        step = longest if last - first < longest else _step(data, first, longest)
        for at in range(first, last + 1, step):
            end = min(at + step - 1, last)
            outer_start, outer_stop = max(0, at - before), min(len(data), end + after)
            start, stop = outer_start, outer_stop
            if not many_lines:
                start = max(start, data.rfind(b"\n", start, at) + 1)
                line_end = data.find(b"\n", end, stop)
                stop = line_end if line_end >= 0 else stop
            yield Window(at, start, stop, outer_start, outer_stop)


def _runs(data: bytes, places: Sequence[Place], near: int) -> Iterator[tuple[int, int]]:
    """Yield from where to where places stand so close that their windows would overlap."""
    first, last = -1, -1
    for place in places:
        if first >= 0 and place.first - last <= near and data.find(b"\n", last, place.first) < 0:
            last = max(last, place.last)
            continue
        if first >= 0:
            yield first, last
        first, last = place.first, place.last
    if first >= 0:
        yield first, last


def _step(data: bytes, first: int, longest: int) -> int:
    """Return the length of stretches; repeated bytes are cut so that stretches are the same."""
    again = data.find(data[first : first + _SIGNATURE], first + 1, first + longest)
    return longest if again < 0 else longest // (again - first) * (again - first)
