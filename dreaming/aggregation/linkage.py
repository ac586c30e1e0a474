"""Average linkage over sparse likenesses: pairs that share nothing count as 0."""

from __future__ import annotations

from array import array
from collections.abc import Iterable, Mapping
from heapq import heapify, heappop, heappush
from typing import Final

COMPARED: Final = 24
"""With how many others a place is compared at most; what was not compared says nothing."""


def groups(size: int, likeness: Mapping[tuple[int, int], float], least: float) -> list[list[int]]:
    """Return the places 0..size-1 in groups: the most alike join first, down to ``least``.

    Two groups are as alike as their members are on average. Ties fall to the lowest places, so the
    same likenesses give the same groups, always.
    """
    members: dict[int, list[int]] = {place: [place] for place in range(size)}
    sums: dict[int, dict[int, float]] = {place: {} for place in range(size)}
    for (one, other), value in likeness.items():
        if value > 0.0:
            sums[one][other] = sums[other][one] = value
    queue = [(-value, *pair) for pair, value in likeness.items() if value >= least]
    heapify(queue)
    following = size
    while queue:
        negative, one, other = heappop(queue)
        if -negative < least:
            break
        if one not in members or other not in members:
            continue
        members[following] = sorted(members.pop(one) + members.pop(other))
        sums[following] = _joined(sums, one, other, following)
        count = len(members[following])
        for near, total in sums[following].items():
            average = total / comparable(count, len(members[near]))
            if average >= least:
                heappush(queue, (-average, near, following))
        following += 1
    return sorted(members.values())


def comparable(one: int, other: int) -> int:
    """Return how many pairs of two groups of these sizes can have been compared."""
    return min(one * other, COMPARED * min(one, other))


def _joined(sums: dict[int, dict[int, float]], one: int, other: int, name: int) -> dict[int, float]:
    """Take two groups out of the likenesses and return those of their union."""
    joined = sums.pop(one)
    for near, total in sums.pop(other).items():
        joined[near] = joined.get(near, 0.0) + total
    for gone in (one, other):
        joined.pop(gone, None)
    for near, total in joined.items():
        sums[near].pop(one, None)
        sums[near].pop(other, None)
        sums[near][name] = total
    return joined


def families(size: int, likely: Iterable[tuple[int, int]]) -> list[list[int]]:
    """Return the places 0..size-1 that likely pairs connect, however far, two or more together.

    Groups join only where some pair is likely, so each family can be grouped by itself.
    """
    leads = array("I", range(size))

    def lead(place: int) -> int:
        while leads[place] != place:
            leads[place] = leads[leads[place]]
            place = leads[place]
        return place

    for pair in likely:
        one, other = sorted(map(lead, pair))
        leads[other] = one
    found: dict[int, list[int]] = {}
    for place in range(size):
        first = lead(place)
        if first != place:
            found.setdefault(first, [first]).append(place)
    return list(found.values())
