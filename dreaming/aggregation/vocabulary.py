"""Which tokens several root sessions share, and how much each of them tells."""

from __future__ import annotations

from collections import Counter
from collections.abc import Collection, Iterable, Mapping, Sequence
from itertools import chain
from typing import Final, Protocol

from dreaming.aggregation.packed import THROUGH, Packed
from dreaming.aggregation.tally import Tally
from dreaming.similarity import rarity, stem, term_id

FEW_ROOTS: Final = 60
"""In a shorter history, what most sessions ran into may be its one gotcha, not its background."""
BACKGROUND: Final = 2.5
"""What is less rare than this among the excerpts tells less."""
WHOLE_HISTORY: Final = 3000
"""Up to this many excerpts, all of them say how rare a token is."""
STEP: Final = 1.25
"""In a longer history the first of them say it, by time: their number grows in such steps, so that
what is new does not change how alike the others are."""
SETTLED: Final = 0.9
"""The latest part of a history says nothing of it: its sessions may go on."""


class Frequencies(Protocol):
    """In how many sessions of the whole history a term occurs."""

    @property
    def sessions(self) -> int:
        """How many sessions the history holds."""
        ...

    def of(self, term: str) -> int:
        """Return in how many of them ``term`` occurs."""
        ...

    def among(
        self, terms: Collection[int], sessions: Collection[str] | None
    ) -> tuple[Mapping[int, int], int]:
        """Return in how many of these sessions each of these terms occurs, and how many they are.

        Terms by ``similarity.term_id``; ``None`` stands for the whole history.
        """
        ...


class Vocabulary:
    """How much each token tells: rare in all sessions, not in every excerpt, and said once.

    A feature's own names run through all that a session does; what a gotcha is about comes up where
    it hurts. So a token that stands in many excerpts of each of its sessions tells less.
    """

    def __init__(
        self, rarities: Mapping[int, float], shared: Collection[int], frequencies: Frequencies
    ) -> None:
        self.rarities = rarities
        """By token id, of what several roots have among those excerpts that say how rare it is."""
        self.shared = shared
        """The ids of the tokens that several roots have. What only one has can join nothing."""
        self._frequencies = frequencies

    def is_shared(self, token: str) -> bool:
        """Return whether several roots have a token, in whatever form."""
        return term_id(stem(token)) in self.shared

    def of(self, token: str) -> float:
        """Return the rarity of any token, 0 to ``similarity.RAREST``."""
        word = stem(token)
        found = self.rarities.get(term_id(word))
        if found is None:
            return rarity(self._frequencies.of(word), self._frequencies.sessions)
        return found


def first(size: int) -> int:
    """Return how many excerpts of a history of this size say how rare a token is."""
    if size <= WHOLE_HISTORY:
        return size
    told = float(WHOLE_HISTORY)
    while told * STEP <= size * SETTLED:
        told *= STEP
    return int(told)


def vocabulary(
    known: Packed, frequencies: Frequencies, among: Iterable[int] | None = None
) -> Vocabulary:
    """Return what roots share; ``among`` are the places that count, all of them by default."""
    places = list(range(len(known)) if among is None else among)
    base = places[: first(len(places))]
    by_root = known.by_root(base)
    tally = _tally(known, by_root.values())
    spread, repeats = tally.spread(), tally.repeats()
    sessions = None
    if len(base) < len(places):
        names = list(known.session_ids)
        sessions = {names[known.sessions[place]] for place in base}
    counts, total = frequencies.among(spread.keys(), sessions)
    size = max(FEW_ROOTS, len(by_root))
    rarities = {}
    for token, held in spread.items():
        at_large = rarity(counts.get(token, 0), total)
        here = min(1.0, rarity(held, size) / BACKGROUND)
        rarities[token] = at_large * here / pow(repeats.get(token, 1.0), THROUGH)
    if len(base) == len(places):
        return Vocabulary(rarities, rarities.keys(), frequencies)
    return Vocabulary(rarities, _shared(known, known.by_root(places).values()), frequencies)


def _tally(known: Packed, by_root: Iterable[Sequence[int]]) -> Tally:
    """Return in how many roots each token stands, and how often with a weight."""
    tally = Tally()
    for places in by_root:
        seen = dict.fromkeys(chain.from_iterable(map(known.all_of, places)), 0)
        seen.update(Counter(chain.from_iterable(map(known.having_weight, places))))
        tally.add(seen)
    return tally


def _shared(known: Packed, by_root: Iterable[Sequence[int]]) -> set[int]:
    """Return the tokens that stand in two roots or more."""
    seen, shared = set[int](), set[int]()
    for places in by_root:
        here = set(chain.from_iterable(map(known.all_of, places)))
        shared |= seen & here
        seen |= here
    return shared
