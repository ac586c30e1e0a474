"""Find lines by words: rare words count most, and one spelled a little otherwise still counts."""

from __future__ import annotations

from collections.abc import Sequence
from math import fsum
from typing import Final

from dreaming.similarity import COMMON, grams, overlap, rarity, tokens

LEAST: Final = 0.15
"""How much of the words, by what they tell, a line must have to be shown."""
_SPELLED_LIKE: Final = 0.35
"""Share of character n-grams from which on two words are taken for one."""
_BEGINS: Final = 0.8
_VERBATIM: Final = 0.25


class Index:
    """Lines that can be searched. Made once, asked often."""

    def __init__(self, lines: Sequence[str]) -> None:
        self._lines = [" ".join(line.split()).casefold() for line in lines]
        self._holders: dict[str, list[int]] = {}
        for place, line in enumerate(lines):
            for token in dict.fromkeys(tokens(line)):
                self._holders.setdefault(token, []).append(place)
        self._grams = {token: grams(token) for token in self._holders}

    def search(self, words: str) -> list[tuple[int, float]]:
        """Return the places of the lines that have these words, best first, with how well.

        1.0 means every word stands there; more, that they stand there just so.
        """
        asked = dict.fromkeys(tokens(words))
        wanted = [one for one in asked if one not in COMMON] or list(asked)
        weights = {one: self._weight(one) for one in wanted}
        total = fsum(weights.values())
        phrase = " ".join(words.split()).casefold()
        found: dict[int, float] = {}
        for token, weight in weights.items():
            for place, credit in self._places(token).items():
                found[place] = found.get(place, 0.0) + weight * credit / total
        for place, line in enumerate(self._lines):
            if phrase and phrase in line:
                found[place] = max(1.0, found.get(place, 0.0)) + _VERBATIM
        ranked = sorted(found.items(), key=lambda one: (-round(one[1], 6), one[0]))
        return [(place, score) for place, score in ranked if score >= LEAST]

    def _weight(self, token: str) -> float:
        """How much a word tells among these lines; never nothing, so that it can be asked for."""
        known = len(self._holders.get(token, ()))
        return max(0.1, rarity(known, max(20, len(self._lines))))

    def _places(self, token: str) -> dict[int, float]:
        """Where a word stands, or one that begins with it or is spelled like it, and how alike."""
        shape = grams(token)
        places: dict[int, float] = {}
        for other, held in self._grams.items():
            credit = 1.0 if other == token else _credit(token, shape, other, held)
            if credit:
                for place in self._holders[other]:
                    places[place] = max(credit, places.get(place, 0.0))
        return places


def _credit(token: str, shape: frozenset[str], other: str, other_shape: frozenset[str]) -> float:
    if len(token) >= 3 and other.startswith(token):
        return _BEGINS
    alike = overlap(shape, other_shape)
    return alike if alike >= _SPELLED_LIKE and min(len(token), len(other)) >= 4 else 0.0
