"""Do two excerpts show the same gotcha? Only pairs that share something rare are asked."""

from __future__ import annotations

from array import array
from bisect import bisect_left
from collections import deque
from collections.abc import Iterable, Iterator, Sequence
from collections.abc import Set as AbstractSet
from heapq import nsmallest
from itertools import chain
from math import fsum, log1p
from typing import Final

import msgspec

from dreaming.aggregation.linkage import COMPARED, families
from dreaming.aggregation.memory import Memory
from dreaming.aggregation.packed import (
    ADDED,
    DEED,
    ERROR,
    PLAIN,
    REMOVED,
    SAID,
    STANDS,
    WHOLE,
    WRONG,
    Focus,
    Packed,
    Seen,
)
from dreaming.aggregation.vocabulary import Vocabulary
from dreaming.aggregation.weights import PAIR

FEATURES: Final = (
    "cosine",
    "deed_cosine",
    "deed_first",
    "deed_second",
    "deed_third",
    "any_first",
    "any_second",
    "plain_first",
    "done_and_done",
    "done_and_said",
    "said_and_said",
    "left_and_left",
    "error_and_error",
    "wrong_and_wrong",
    "error_and_said",
    "error_and_done",
    "left_and_said",
    "error_overlap",
    "same_program",
    "same_right_program",
    "both_words",
    "both_errors",
    "both_cannot",
    "both_persons",
    "shared",
    "generic",
    "deed_size",
    "deed_sizes",
    "weaker",
    "stronger",
    "linked",
    "redone",
)
TELLING: Final = 0.8
"""A token this rare tells something by itself."""
LATEST: Final = 60
"""How many of the excerpts with a token are looked at, the latest."""
SAME_FAILURE: Final = 0.6
"""How sure nearly the same failure is to be one gotcha, whatever was done about it."""
LEAST_SHARED: Final = 1.0
"""What shares less than this, all rarities added up, is not compared."""
LARGEST: Final = 2000
"""A larger family is taken apart before it is grouped, so that memory does not follow it."""
TIGHTER: Final = (0.5, 0.7, 0.9)
"""How sure pairs must be that keep parts of a large family together, step by step."""
UNLIKELY: Final = 0.01
"""Pairs less sure than this count as not alike at all."""

VERSION: Final = 1
"""Goes up whenever an excerpt would be taken apart or compared in another way."""
MADE_BY: Final = msgspec.msgpack.encode((VERSION, PAIR.weights, PAIR.bias))
"""What a memory must have been made by."""

_TOGETHER: Final = (
    (ADDED, ADDED),
    (ADDED, SAID),
    (SAID, SAID),
    (REMOVED, REMOVED),
    (ERROR, ERROR),
    (WRONG, WRONG),
    (ERROR, SAID),
    (ERROR, ADDED),
    (REMOVED, SAID),
)
"""Where a token of both stands in one and in the other, in the order of ``FEATURES``."""
_MEETS: Final = [
    tuple(
        place
        for place, (this, that) in enumerate(_TOGETHER)
        if (one & this and other & that) or (one & that and other & this)
    )
    for one in range(STANDS + 1)
    for other in range(STANDS + 1)
]
"""By where a token stands in one and in the other: the places in ``_TOGETHER`` it counts for."""
_ERROR_AND_ERROR: Final = FEATURES.index("error_and_error")
_ERROR_OVERLAP: Final = FEATURES.index("error_overlap")


class Neighbours:
    """With which earlier excerpts of other roots one is compared: those that share a rare token.

    However long the history is, an excerpt looks for each token only at the latest that have it,
    and is compared only with those it shares most with. What comes later changes neither.
    """

    def __init__(self, packed: Packed, vocabulary: Vocabulary) -> None:
        self._packed, self._shared = packed, vocabulary.shared
        self.holders: dict[int, array[int]] = {}
        """By token, the places that have it."""
        self._restricted: deque[int] = deque(maxlen=COMPARED)
        self._next = 0

    def following(self, *, compare: bool = True) -> list[int]:
        """Return the places that the next place is compared with, in order."""
        one, roots, holders = self._next, self._packed.roots, self.holders
        self._next += 1
        root, near, shared = roots[one], dict[int, float](), self._shared
        for token, rare in self._packed.weighing(one):
            if rare > TELLING and token in shared:
                held = holders.get(token)
                if held is None:
                    held = holders[token] = array("I")
                elif compare:
                    for other in held[-LATEST:]:
                        near[other] = near.get(other, 0.0) + rare
                held.append(one)
        enough = (o for o in near if near[o] >= LEAST_SHARED and roots[o] != root)
        best = nsmallest(COMPARED, enough, key=lambda other: (-near[other], other))
        if self._packed.restricted(one):
            best += [other for other in self._restricted if roots[other] != root]
            self._restricted.append(one)
        return sorted(set(best))

    def pairs(self) -> Iterator[tuple[int, int]]:
        """Yield every pair that is compared, each once, in order of the later."""
        for one in range(len(self._packed)):
            for other in self.following():
                yield other, one


class _Common:
    """The tokens that two excerpts share, by what they do in both."""

    __slots__ = ("any", "done", "errors", "first", "plain_first", "seen", "shared")

    def __init__(self, focus: Focus, other: Seen) -> None:
        self.seen: list[float] = []
        self.done: list[float] = []
        self.shared: list[float] = []
        self.any: list[float] = []
        self.plain_first = 0.0
        self.first = first = [0.0] * len(_TOGETHER)
        self.errors = 0
        where, roles, rarities = other.tokens.index, other.roles, other.rarities
        for token in focus.tokens.intersection(other.tokens):
            at = where(token)
            one, two = focus.role_of[token], roles[at]
            rare = min(focus.rarity_of[token], rarities[at])
            if WHOLE[one] and WHOLE[two]:
                self.seen.append(WHOLE[one] * rare * (WHOLE[two] * rare))
                self.any.append(rare)
                if rare > self.plain_first and one & PLAIN:
                    self.plain_first = rare
            if DEED[one] and DEED[two]:
                self.done.append(DEED[one] * rare * (DEED[two] * rare))
                self.shared.append(min(DEED[one], DEED[two]) * rare)
            for place in _MEETS[(one & STANDS) << 5 | two & STANDS]:
                if rare > first[place]:
                    first[place] = rare
            self.errors += one & two & ERROR
        self.shared.sort(reverse=True)


def features(focus: Focus, b: Seen) -> list[float]:
    """Return what tells about a pair, in the order of ``FEATURES``; no word itself is among it."""
    a, common = focus.seen, _Common(focus, b)
    shared, errors = common.shared, common.errors
    return [
        fsum(common.seen) / ((a.vector_length * b.vector_length) or 1.0),
        fsum(common.done) / ((a.deed_length * b.deed_length) or 1.0),
        *(*shared[:3], 0.0, 0.0, 0.0)[:3],
        *sorted((0.0, 0.0, *common.any), reverse=True)[:2],
        common.plain_first,
        *common.first,
        errors / (a.errors + b.errors - errors or 1),
        float(a.program == b.program != 0),
        float(a.right_program == b.right_program != 0),
        float(a.has_words and b.has_words),
        float(a.has_error and b.has_error),
        float(a.restricted and b.restricted),
        float(a.by_person and b.by_person),
        float(min(6, sum([value > 1 for value in shared]))),
        a.generic + b.generic,
        log1p(min(a.size, b.size)),
        abs(a.size - b.size) / (a.size + b.size + 1),
        min(a.strength, b.strength),
        max(a.strength, b.strength),
        a.linked + b.linked,
        min(1.0, a.redone) + min(1.0, b.redone),
    ]


def sure(focus: Focus, other: Seen) -> float:
    """Return how sure a pair is of one gotcha, 0 to 1."""
    values = features(focus, other)
    value = PAIR.sure(values)
    return max(value, SAME_FAILURE) if _same_failure(focus.seen, other, values) else value


def _same_failure(a: Seen, b: Seen, values: Sequence[float]) -> bool:
    """Return whether one program failed in nearly the same rare words: nothing needs guessing."""
    if not a.program or a.program != b.program or min(a.errors, b.errors) < 4:
        return False
    return values[_ERROR_OVERLAP] >= 0.6 and values[_ERROR_AND_ERROR] >= 3.0


class Alike:
    """How sure each compared pair is of one gotcha, in three arrays; unlikely ones are left out."""

    def __init__(self, packed: Packed, vocabulary: Vocabulary, memory: Memory) -> None:
        self._size = len(packed)
        self.chain = packed.chain(memory.made_by)
        kept = _same(self.chain, memory.chain)
        pairs = bisect_left(memory.later, kept)
        self.earlier, self.later = memory.earlier[:pairs], memory.later[:pairs]
        self.sure = memory.sure[:pairs]
        neighbours = Neighbours(packed, vocabulary)
        self.holders = neighbours.holders
        for _ in range(kept):
            neighbours.following(compare=False)
        for one in range(kept, self._size):
            focus = Focus(packed[one])
            for other in neighbours.following():
                value = sure(focus, packed[other])
                if value >= UNLIKELY:
                    self.earlier.append(other)
                    self.later.append(one)
                    self.sure.append(value)

    def families(
        self,
        least: float,
        together: Iterable[tuple[int, int]],
        silent: AbstractSet[int] = frozenset(),
        largest: int = LARGEST,
    ) -> Iterator[tuple[list[int], dict[tuple[int, int], float]]]:
        """Yield the families with how alike their members are, by their numbers in the family.

        Groups join only where a pair is at least this sure, so each family is grouped by itself;
        ``together`` are pairs that are sure for other reasons; what is ``silent`` is like nothing.
        """
        sure = dict.fromkeys(together)
        found = self._families(least, sure, silent, largest)
        number_of = array("I", bytes(4 * self._size))
        family_of = array("i", [-1]) * self._size
        for name, family in enumerate(found):
            for number, place in enumerate(family):
                number_of[place], family_of[place] = number, name
        held = [array("I") for _ in found]
        for at, (one, other) in enumerate(zip(self.earlier, self.later, strict=True)):
            if family_of[one] == family_of[other] >= 0 and silent.isdisjoint((one, other)):
                held[family_of[one]].append(at)
        joined: dict[int, list[tuple[int, int]]] = {}
        for one, other in sure:
            if family_of[one] == family_of[other]:
                joined.setdefault(family_of[one], []).append((one, other))
        for name, family in enumerate(found):
            alike = {
                (number_of[self.earlier[at]], number_of[self.later[at]]): self.sure[at]
                for at in held[name]
            }
            for one, other in joined.get(name, ()):
                alike[number_of[one], number_of[other]] = 1.0
            yield family, alike

    def _families(
        self,
        least: float,
        together: Iterable[tuple[int, int]],
        silent: AbstractSet[int],
        largest: int,
    ) -> list[list[int]]:
        """Return what likely pairs connect; a family that is too large, in parts."""
        found: list[list[int]] = []
        large = [list(range(self._size))]
        for level in (least, *TIGHTER):
            open_ = bytearray(self._size)
            for place in chain.from_iterable(large):
                open_[place] = 1
            likely = (
                (one, other)
                for one, other, value in zip(self.earlier, self.later, self.sure, strict=True)
                if value >= level and silent.isdisjoint((one, other))
            )
            pairs = (pair for pair in chain(likely, together) if open_[pair[0]] and open_[pair[1]])
            parts = families(self._size, pairs)
            found += [part for part in parts if len(part) <= largest]
            large = [part for part in parts if len(part) > largest]
            if not large:
                break
        for part in large:
            found += [part[at : at + largest] for at in range(0, len(part), largest)]
        return sorted(found)


def _same(one: Sequence[int], other: Sequence[int]) -> int:
    """Return how many places two chains have in common: from some place on all differ."""
    low, high = 0, min(len(one), len(other))
    while low < high:
        middle = (low + high + 1) // 2
        if one[middle - 1] == other[middle - 1]:
            low = middle
        else:
            high = middle - 1
    return low
