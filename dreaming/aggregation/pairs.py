"""Do two excerpts show the same gotcha? Only pairs that share something rare are asked."""

from __future__ import annotations

from array import array
from bisect import bisect_right
from collections.abc import Iterator, Sequence
from math import fsum, log1p
from typing import Final

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
    "done_and_done",
    "done_and_said",
    "said_and_said",
    "left_and_left",
    "error_and_error",
    "wrong_and_wrong",
    "error_and_said",
    "error_and_done",
    "left_and_said",
    "phrase",
    "phrases",
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
TELLING: Final = 1.5
"""A token this rare tells something by itself."""
LONGEST_LIST: Final = 60
"""A token in more excerpts than this (or a twentieth of them) compares nothing."""
SAME_FAILURE: Final = 0.6
"""How sure nearly the same failure is to be one gotcha, whatever was done about it."""
HARD_LIMIT: Final = 200
"""However long the history is, a token in more excerpts than this compares nothing."""
NEIGHBOURS: Final = 60
"""With how many later excerpts one is compared."""
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
    """With which later excerpts of other roots one is compared: those that share a rare token.

    However long the history is, an excerpt is compared only with those it shares most with.
    """

    def __init__(self, packed: Packed) -> None:
        self._packed = packed
        self._holders = _holders(packed)
        self._restricted = {p: None for p in range(len(packed)) if packed[p].restricted}

    def of(self, one: int) -> list[int]:
        """Return the places that the one given is compared with, in order."""
        roots, rarities = self._packed.roots, self._packed.vocabulary.rarities
        root = roots[one]
        near: dict[int, float] = {}
        for token in self._packed.tokens(one):
            places = self._holders.get(token)
            if places is not None:
                rare = rarities[token]
                for other in places[bisect_right(places, one) :]:
                    if roots[other] != root:
                        near[other] = near.get(other, 0.0) + rare
        best = sorted(near, key=lambda other: (-near[other], other))[:NEIGHBOURS]
        if one in self._restricted:
            best += [p for p in self._restricted if p > one and roots[p] != root]
        return sorted(set(best))

    def pairs(self) -> Iterator[tuple[int, int]]:
        """Yield every pair that is compared, each once, in order."""
        for one in range(len(self._packed)):
            for other in self.of(one):
                yield one, other


def _holders(packed: Packed) -> dict[int, array[int]]:
    """Return where each token stands that is rare enough to compare anything."""
    rarities = packed.vocabulary.rarities
    holders: dict[int, array[int]] = {}
    for place in range(len(packed)):
        for token in packed.tokens(place):
            if rarities[token] > TELLING:
                holders.setdefault(token, array("I")).append(place)
    limit = min(HARD_LIMIT, max(LONGEST_LIST, len(packed) // 20))
    return {token: places for token, places in holders.items() if 2 <= len(places) <= limit}


class _Common:
    """The tokens that two excerpts share, by what they do in both."""

    __slots__ = ("any_first", "done", "errors", "first", "seen", "shared")

    def __init__(self, focus: Focus, other: Seen, rarities: array[float]) -> None:
        self.seen: list[float] = []
        self.done: list[float] = []
        self.shared: list[float] = []
        self.any_first = 0.0
        self.first = first = [0.0] * len(_TOGETHER)
        self.errors = 0
        tokens = other.tokens
        for token, one, two in zip(tokens, map(focus.role_of, tokens), other.roles, strict=True):
            if one is None:
                continue
            rare = rarities[token]
            if WHOLE[one] and WHOLE[two]:
                self.seen.append(WHOLE[one] * rare * (WHOLE[two] * rare))
                if rare > self.any_first:
                    self.any_first = rare
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
    a, common = focus.seen, _Common(focus, b, vocabulary.rarities)
    shared, errors = common.shared, common.errors
    phrases = focus.phrases.intersection(b.phrases)
    return [
        fsum(common.seen) / ((a.vector_length * b.vector_length) or 1.0),
        fsum(common.done) / ((a.deed_length * b.deed_length) or 1.0),
        *(*shared[:3], 0.0, 0.0, 0.0)[:3],
        common.any_first,
        *common.first,
        vocabulary.rarest_phrase(phrases),
        float(min(4, len(phrases))),
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


def likely(packed: Packed, neighbours: Neighbours, least: float) -> Iterator[tuple[int, int]]:
    """Yield the pairs that are at least this sure to be of one gotcha."""
    for one in range(len(packed)):
        focus = Focus(packed[one])
        for other in neighbours.of(one):
            if sure(focus, packed[other], packed.vocabulary) >= least:
                yield one, other


def likeness(
    family: Sequence[int], packed: Packed, neighbours: Neighbours
) -> dict[tuple[int, int], float]:
    """Return how sure each compared pair of a family is of one gotcha; unlikely ones are left out.

    The pairs are numbered within the family.
    """
    found: dict[tuple[int, int], float] = {}
    numbers = {place: number for number, place in enumerate(family)}
    for one, place in enumerate(family):
        focus = Focus(packed[place])
        for near in neighbours.of(place):
            other = numbers.get(near)
            if other is not None:
                value = sure(focus, packed[near], packed.vocabulary)
                if value >= UNLIKELY:
                    found[one, other] = value
    return found
