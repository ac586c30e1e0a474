"""How near a lesson is to the lines there are: worded otherwise, is it the same?

For a person who decides: a handful of lines to look at, and one threshold from which on a line is
taken for the same without looking. ``benchmarks/dedup`` measures both.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from functools import lru_cache
from math import fsum, log, sqrt
from typing import Final

import msgspec

from dreaming.similarity import COMMON, grams, tokens

PRECISE: Final = 0.4
"""From here on a line says the same; the measure stands in benchmarks/dedup/README.md."""
SHOWN: Final = 5
"""How many lines are shown to a person."""

_SHARES: Final = (0.6, 0.2, 0.2)
"""What spelling, words and the words of the rule count."""
_Lengths = tuple[float, float, float]
_ENDINGS: Final = "ations ation ingly ings ing ies ied ers edly ed es ly er s".split()
_WORD: Final = re.compile(r"[\w-]+")
_STOP: Final = frozenset(
    "the a an and or of to in on for is are was were be been it its this that with as at by from "
    "do does you your so if then than but have has had will would can when there here what".split()
)


class Said(msgspec.Struct, frozen=True):
    """A line to compare with."""

    text: str
    """All of it; what is compared where it is not in our grammar."""
    symptom: str = ""
    rule: str = ""


class Features(msgspec.Struct, frozen=True):
    """What a lesson is compared by."""

    spelling: frozenset[str]
    """Pieces of its words, which a word keeps in another form."""
    words: frozenset[str]
    rule: frozenset[str]


class Near:
    """Lines one can be near to. Made once, asked often."""

    def __init__(self, lines: Sequence[Said]) -> None:
        self._lines = [features(one.symptom, one.rule or one.text) for one in lines]
        self._seen: dict[str, int] = {}
        for line in self._lines:
            for key in line.spelling | line.words:
                self._seen[key] = self._seen.get(key, 0) + 1
        self._weights: dict[str, float] = {}
        self._lengths = [self._length(line) for line in self._lines]

    def closest(self, symptom: str, rule: str, limit: int = SHOWN) -> list[tuple[int, float]]:
        """Return the places of the closest lines, closest first, each with its likeness, 0 to 1."""
        asked = features(symptom, rule)
        length = self._length(asked)
        ranked = sorted(
            (
                (self._likeness(asked, length, line, self._lengths[place]), -place)
                for place, line in enumerate(self._lines)
            ),
            reverse=True,
        )
        return [(-place, likeness) for likeness, place in ranked[:limit] if likeness > 0]

    def between(self, one: int, other: int) -> float:
        """Return how alike two of the lines are, by their places, 0 to 1."""
        return self._likeness(
            self._lines[one], self._lengths[one], self._lines[other], self._lengths[other]
        )

    def _likeness(
        self, one: Features, length: _Lengths, other: Features, other_length: _Lengths
    ) -> float:
        both = one.spelling & other.spelling, one.words & other.words, one.rule & other.rule
        likenesses = map(self._cosine, both, length, other_length)
        return round(fsum(share * like for share, like in zip(_SHARES, likenesses, strict=True)), 4)

    def _cosine(self, both: frozenset[str], length: float, other_length: float) -> float:
        return self._sum(both) / sqrt(length * other_length) if both else 0.0

    def _length(self, line: Features) -> _Lengths:
        return self._sum(line.spelling), self._sum(line.words), self._sum(line.rule)

    def _sum(self, keys: frozenset[str]) -> float:
        return fsum(map(self._weight, keys))

    def _weight(self, key: str) -> float:
        """How much a piece tells, squared: the fewer lines have it the more."""
        found = self._weights.get(key)
        if found is None:
            found = log(1 + (20 + len(self._lines)) / (1 + self._seen.get(key, 0))) ** 2
            self._weights[key] = found
        return found


@lru_cache(maxsize=8192)
def features(symptom: str, rule: str) -> Features:
    """Return what a lesson is compared by."""
    text = f"{symptom} {rule}"
    words = [one for one in _WORD.findall(text.lower()) if one not in _STOP]
    pieces = frozenset[str]().union(*(grams(one.strip("-")) for one in words))
    return Features(pieces, _stems(text), _stems(rule))


def _stems(text: str) -> frozenset[str]:
    return frozenset(_stem(one) for one in tokens(text) if one not in COMMON)


def _stem(word: str) -> str:
    for ending in _ENDINGS:
        if word.endswith(ending) and len(word) - len(ending) >= 4:
            return word[: -len(ending)]
    return word
