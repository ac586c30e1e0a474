"""Counts terms in little room: a dozen bytes a term and root, as most of a history come once.

Terms are counted by their 64-bit hash. Two of a million different terms share one with odds of
one to thirty million.
"""

from __future__ import annotations

from array import array
from bisect import bisect_left
from collections import Counter
from collections.abc import Mapping
from typing import Final

_BITS: Final = 6
"""Hashes are counted in 64 parts, one after the other: a count of them all never exists."""


class Tally:
    """In how many roots each term stands, and how often."""

    def __init__(self) -> None:
        self._parts = [(array("q"), array("I")) for _ in range(1 << _BITS)]

    def add(self, times: Mapping[int, int]) -> None:
        """Count what stands in one more root, with how often; 0 counts for ``spread`` only."""
        parts, shift, half = self._parts, 64 - _BITS, 1 << (_BITS - 1)
        for key, number in times.items():
            keys, numbers = parts[(key >> shift) + half]
            keys.append(key)
            numbers.append(number)

    def spread(self) -> dict[int, int]:
        """Return in how many roots each term stands, those of one root left out."""
        return {
            key: roots
            for keys, _ in self._parts
            for key, roots in Counter(keys).items()
            if roots > 1
        }

    def repeats(self) -> Table:
        """Return how often each term stands in a root of its own, on average: more than once."""
        found = Table()
        for keys, numbers in self._parts:
            roots, times = Counter[int](), Counter[int]()
            for key, number in zip(keys, numbers, strict=True):
                if number:
                    roots[key] += 1
                    times[key] += number
            found.add({key: n / roots[key] for key, n in times.items() if n > roots[key]})
        return found


class Table:
    """Numbers by hash in two arrays: a tenth of what a dict takes."""

    def __init__(self) -> None:
        self._keys = array("q")
        self._numbers = array("d")

    def add(self, numbers: Mapping[int, float]) -> None:
        """Take more numbers; their hashes are all larger than those before."""
        for key in sorted(numbers):
            self._keys.append(key)
            self._numbers.append(numbers[key])

    def get(self, key: int, otherwise: float) -> float:
        """Return the number of a hash."""
        place = bisect_left(self._keys, key)
        if place < len(self._keys) and self._keys[place] == key:
            return self._numbers[place]
        return otherwise
