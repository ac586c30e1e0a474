"""Which tokens several root sessions share, and how much each of them tells."""

from __future__ import annotations

from array import array
from collections import Counter
from collections.abc import Iterable
from itertools import groupby
from math import pow
from typing import Final, Protocol

from dreaming.aggregation.bags import bag
from dreaming.aggregation.tally import Table, Tally
from dreaming.models.finding import KeptExcerpt
from dreaming.similarity import rarity, stem

FEW_ROOTS: Final = 60
"""In a shorter history, what most sessions ran into may be its one gotcha, not its background."""
BACKGROUND: Final = 2.5
"""What is less rare than this among the excerpts tells less."""
THROUGH: Final = 1.5
"""How much less a token tells that runs through a whole session: a power of how often it comes."""
REMEMBERED: Final = 4096
"""How many rarities of tokens that nobody shares are remembered."""


class Frequencies(Protocol):
    """In how many sessions of the whole history a term occurs."""

    @property
    def sessions(self) -> int:
        """How many sessions the history holds."""
        ...

    def of(self, term: str) -> int:
        """Return in how many of them ``term`` occurs."""
        ...


class Vocabulary:
    """How much each token tells: rare in all sessions, not in every excerpt, and said once.

    A feature's own names run through all that a session does; what a gotcha is about comes up where
    it hurts. So a token that stands in many excerpts of each of its sessions tells less.

    What several roots share has a number. What only one root has can join nothing: memory follows
    what is shared, not what was read.
    """

    def __init__(
        self,
        frequencies: Frequencies,
        spread: dict[int, int],
        repeats: Table,
        roots: int,
    ) -> None:
        self._frequencies = frequencies
        self._spread = spread
        self._repeats = repeats
        self._roots = max(FEW_ROOTS, roots)
        self._numbers: dict[str, int] = {}
        self._own: dict[str, float] = {}
        self.rarities = array("d")
        """By the number of a shared token."""
        self.plain = bytearray()
        """The same: 1 for a word of letters only, 0 for a name of code."""

    def number(self, token: str) -> int | None:
        """Return the number of a token that several roots share, in whatever form."""
        token = stem(token)
        found = self._numbers.get(token)
        if found is None and hash(token) in self._spread:
            found = self._numbers[token] = len(self._numbers)
            self.rarities.append(self._rarity(token))
            self.plain.append(token.isalpha())
        return found

    def shared(self, weights: dict[str, float]) -> dict[str, float]:
        """Return those of these tokens that several roots share."""
        return {t: weight for t, weight in weights.items() if self.number(t) is not None}

    def of(self, token: str) -> float:
        """Return the rarity of any token, 0 to ``similarity.RAREST``."""
        number = self.number(token)
        if number is not None:
            return self.rarities[number]
        token = stem(token)
        if token not in self._own:
            if len(self._own) >= REMEMBERED:
                self._own.clear()
            self._own[token] = self._rarity(token)
        return self._own[token]

    def _rarity(self, token: str) -> float:
        key = hash(token)
        at_large = rarity(self._frequencies.of(token), self._frequencies.sessions)
        here = rarity(self._spread.get(key, 0), self._roots)
        return at_large * min(1.0, here / BACKGROUND) / pow(self._repeats.get(key, 1.0), THROUGH)


def vocabulary(by_root: Iterable[KeptExcerpt], frequencies: Frequencies) -> Vocabulary:
    """Return what roots share. The excerpts of one root stand together."""
    tokens = Tally()
    roots = 0
    for _, several in groupby(by_root, key=lambda kept: kept.root):
        roots += 1
        seen: Counter[int] = Counter()
        beside: set[int] = set()
        for kept in several:
            found = bag(kept.excerpt)
            seen.update({hash(stem(token)) for token in found.whole})
            beside.update(hash(stem(token)) for token in found.everything())
        tokens.add(dict.fromkeys(beside, 0) | seen)
    return Vocabulary(frequencies, tokens.spread(), tokens.repeats(), roots)
