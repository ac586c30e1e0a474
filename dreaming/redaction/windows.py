"""The stretches of bytes around anchors that are looked at closely.

Anchors that stand close together share one stretch, so that a transcript full of them costs no more
than its length.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Final, NamedTuple

_LONGEST: Final = 16 << 10
"""A shape is compared with this much at once, so that the time limit means something."""


class Window(NamedTuple):
    """A stretch around anchors that lie on one line."""

    ends: tuple[int, ...]
    """Where the anchors end, ascending."""
    start: int
    stop: int
    outer_start: int
    """As ``start``, but over line ends: for what may be broken over lines."""
    outer_stop: int


def around(
    data: bytes, ends: Sequence[int], before: int, after: int, many_lines: bool = False
) -> Iterator[Window]:
    """Yield windows of ``before`` and ``after`` bytes around the places, in order.

    Without ``many_lines`` a window stays within the line of its anchors.
    """
    group: list[int] = []
    for end in ends:
        if group and _belongs(data, group, end, before + after):
            group.append(end)
            continue
        if group:
            yield _window(data, group, before, after, many_lines)
        group = [end]
    if group:
        yield _window(data, group, before, after, many_lines)


def _belongs(data: bytes, group: list[int], end: int, near: int) -> bool:
    if end - group[-1] > near or end - group[0] > _LONGEST:
        return False
    return data.find(b"\n", group[-1], end) < 0


def _window(data: bytes, group: list[int], before: int, after: int, many_lines: bool) -> Window:
    outer_start, outer_stop = max(0, group[0] - before), min(len(data), group[-1] + after)
    start, stop = outer_start, outer_stop
    if not many_lines:
        start = max(start, data.rfind(b"\n", start, group[0]) + 1)
        line_end = data.find(b"\n", group[-1], stop)
        stop = line_end if line_end >= 0 else stop
    return Window(tuple(group), start, stop, outer_start, outer_stop)
