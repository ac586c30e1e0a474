"""Do two excerpts show the same gotcha? Only pairs that share something rare are asked."""

from __future__ import annotations

from array import array
from collections import deque
from collections.abc import Iterable, Iterator, Sequence
from collections.abc import Set as AbstractSet
from heapq import nsmallest
from itertools import chain
from math import fsum, log1p
from typing import Final

from dreaming.aggregation.linkage import COMPARED, families
from dreaming.aggregation.packed import (
    ADDED,
    DEED,
    ERROR,
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

    def __init__(self, packed: Packed) -> None:
        self._packed = packed
        self._holders: dict[int, array[int]] = {}
        self._restricted: deque[int] = deque(maxlen=COMPARED)
        self._next = 0

    def following(self) -> list[int]:
        """Return the places that the next place is compared with, in order."""
        one, roots, rarities = self._next, self._packed.roots, self._packed.vocabulary.rarities
        self._next += 1
        root, holders = roots[one], self._holders
        near: dict[int, float] = {}
        for token in self._packed.tokens(one):
            rare = rarities[token]
            if rare > TELLING:
                if token in holders:
                    for other in holders[token][-LATEST:]:
                        near[other] = near.get(other, 0.0) + rare
                    holders[token].append(one)
                else:
                    holders[token] = array("I", [one])
        shared = (o for o in near if near[o] >= LEAST_SHARED and roots[o] != root)
        best = nsmallest(COMPARED, shared, key=lambda other: (-near[other], other))
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

    def __init__(self, focus: Focus, other: Seen, vocabulary: Vocabulary) -> None:
        rarities, plain = vocabulary.rarities, vocabulary.plain
        self.seen: list[float] = []
        self.done: list[float] = []
        self.shared: list[float] = []
        self.any: list[float] = []
        self.plain_first = 0.0
        self.first = first = [0.0] * len(_TOGETHER)
        self.errors = 0
        where, roles = other.tokens.index, other.roles
        for token in focus.tokens.intersection(other.tokens):
            rare, one, two = rarities[token], focus.role_of[token], roles[where(token)]
            if WHOLE[one] and WHOLE[two]:
                self.seen.append(WHOLE[one] * rare * (WHOLE[two] * rare))
                self.any.append(rare)
                if rare > self.plain_first and plain[token]:
                    self.plain_first = rare
            if DEED[one] and DEED[two]:
                self.done.append(DEED[one] * rare * (DEED[two] * rare))
                self.shared.append(min(DEED[one], DEED[two]) * rare)
            for place in _MEETS[(one & STANDS) << 5 | two & STANDS]:
                if rare > first[place]:
                    first[place] = rare
            self.errors += one & two & ERROR
        self.shared.sort(reverse=True)


def features(focus: Focus, b: Seen, vocabulary: Vocabulary) -> list[float]:
    """Return what tells about a pair, in the order of ``FEATURES``; no word itself is among it."""
    a, common = focus.seen, _Common(focus, b, vocabulary)
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


def sure(focus: Focus, other: Seen, vocabulary: Vocabulary) -> float:
    """Return how sure a pair is of one gotcha, 0 to 1."""
    values = features(focus, other, vocabulary)
    value = PAIR.sure(values)
    return max(value, SAME_FAILURE) if _same_failure(focus.seen, other, values) else value


def _same_failure(a: Seen, b: Seen, values: Sequence[float]) -> bool:
    """Return whether one program failed in nearly the same rare words: nothing needs guessing."""
    if not a.program or a.program != b.program or min(a.errors, b.errors) < 4:
        return False
    return values[_ERROR_OVERLAP] >= 0.6 and values[_ERROR_AND_ERROR] >= 3.0


class Alike:
    """How sure each compared pair is of one gotcha, in three arrays; unlikely ones are left out."""

    def __init__(self, packed: Packed, silent: AbstractSet[int] = frozenset()) -> None:
        """Pairs with one that is ``silent`` are left out."""
        self.earlier, self.later, self.sure = array("I"), array("I"), array("f")
        neighbours = Neighbours(packed)
        for one in range(len(packed)):
            near = neighbours.following()
            if one in silent:
                continue
            focus = Focus(packed[one])
            for other in near:
                if other in silent:
                    continue
                value = sure(focus, packed[other], packed.vocabulary)
                if value >= UNLIKELY:
                    self.earlier.append(other)
                    self.later.append(one)
                    self.sure.append(value)

        self._size = len(packed)

    def families(
        self, least: float, together: Iterable[tuple[int, int]]
    ) -> Iterator[tuple[list[int], dict[tuple[int, int], float]]]:
        """Yield the families with how alike their members are, by their numbers in the family.

        Groups join only where a pair is at least this sure, so each family is grouped by itself;
        ``together`` are pairs that are sure for other reasons.
        """
        sure = dict.fromkeys(together)
        found = self._families(least, sure)
        number_of = array("I", bytes(4 * self._size))
        family_of = array("i", [-1]) * self._size
        for name, family in enumerate(found):
            for number, place in enumerate(family):
                number_of[place], family_of[place] = number, name
        held = [array("I") for _ in found]
        for at, (one, other) in enumerate(zip(self.earlier, self.later, strict=True)):
            if family_of[one] == family_of[other] >= 0:
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

    def _families(self, least: float, together: Iterable[tuple[int, int]]) -> list[list[int]]:
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
                if value >= level
            )
            pairs = (pair for pair in chain(likely, together) if open_[pair[0]] and open_[pair[1]])
            parts = families(self._size, pairs)
            found += [part for part in parts if len(part) <= LARGEST]
            large = [part for part in parts if len(part) > LARGEST]
            if not large:
                break
        for part in large:
            found += [part[at : at + LARGEST] for at in range(0, len(part), LARGEST)]
        return sorted(found)
