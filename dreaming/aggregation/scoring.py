"""Is a group worth a person's look? Numbers about its structure; no word itself is among them."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from itertools import combinations
from math import fsum, log
from typing import Final

import msgspec

from dreaming.aggregation.linkage import COMPARED
from dreaming.aggregation.packed import DEED, KINDS, PLAIN, WHOLE, Packed, Seen
from dreaming.aggregation.weights import GROUP
from dreaming.models.finding import SignalKind

FEATURES: Final = (
    "third",
    "deed_second",
    "plain_first",
    "exclusive",
    "at_home",
    "roots",
    "per_root",
    "coherence",
    "best",
    "weakest",
    "linked",
    "assumptions",
    "strength",
    "changed",
    "same_program",
)
ELIGIBLE: Final = 0.5
"""Groups scored at least this wait for a person; the others are held back."""
LINKED: Final = 0.05
"""Pairs as sure as this count as linked."""

_ASSUMPTION: Final = KINDS.index(SignalKind.ASSUMPTION)


class Links(msgspec.Struct, frozen=True):
    """How the members of a group hang together."""

    coherence: float
    """How alike they are on average."""
    best: float
    """How alike the two are that resemble each other most."""
    weakest: float
    """How alike the loosest member is to the one it resembles most."""
    linked: int
    """How many pairs are alike at all."""


def links(members: Sequence[int], alike: Mapping[tuple[int, int], float]) -> Links:
    """Return how these members hang together, by how alike each pair is."""
    size = len(members)
    pairs: Iterable[tuple[tuple[int, int], float | None]]
    if size * size < len(alike):
        pairs = ((pair, alike.get(pair)) for pair in combinations(sorted(members), 2))
    else:
        inside = set(members)
        pairs = ((pair, sure) for pair, sure in alike.items() if inside.issuperset(pair))
    values: list[float] = []
    nearest = dict.fromkeys(members, 0.0)
    for pair, sure in pairs:
        if sure is not None:
            values.append(sure)
            for member in pair:
                nearest[member] = max(sure, nearest[member])
    return Links(
        coherence=fsum(values) / (min(size * (size - 1) / 2, COMPARED * size) or 1),
        best=max(values, default=0.0),
        weakest=min(nearest.values()),
        linked=sum(value > LINKED for value in values),
    )


class Scorer:
    """Scores groups of one history."""

    def __init__(self, known: Packed, holders: Mapping[int, Sequence[int]]) -> None:
        """``holders`` are the places that have a token, for those that tell something."""
        self._known, self._holders = known, holders
        self._of_root: dict[int, list[int]] = {}
        for place, root in enumerate(known.roots):
            self._of_root.setdefault(root, []).append(place)

    def score(self, members: Sequence[int], hang: Links) -> float:
        """Return how sure it is that a person would keep these, 0 to 1."""
        return GROUP.sure(self.features(members, hang))

    def features(self, members: Sequence[int], hang: Links) -> list[float]:
        """Return what tells about a group, in the order of ``FEATURES``."""
        seen = [self._known[member] for member in members]
        roots, size = len({one.root for one in seen}), len(seen)
        whole, deed = _shared(seen, WHOLE), _shared(seen, DEED)
        key = next(iter(deed or whole), 0)
        plain = {t for one in seen for t, r in zip(one.tokens, one.roles, strict=True) if r & PLAIN}
        return [
            [*whole.values(), 0.0, 0.0, 0.0][2],
            [*deed.values(), 0.0, 0.0][1],
            max((weight for token, weight in deed.items() if token in plain), default=0.0),
            self._exclusive(key, seen) if key else 0.0,
            min(3.0, self._at_home(key, members, seen) / size) if key else 0.0,
            log(roots),
            size / roots,
            hang.coherence,
            hang.best,
            hang.weakest,
            log(1 + hang.linked),
            _mean(seen, lambda one: float(one.kind == _ASSUMPTION)),
            _mean(seen, lambda one: one.strength),
            _mean(seen, lambda one: float(one.changed)),
            _most_common(one.program for one in seen) / size,
        ]

    def _exclusive(self, token: int, seen: Sequence[Seen]) -> float:
        """Return which share of the excerpts with a token the members are."""
        have = sum(token in one.tokens for one in seen)
        return have / max(have, len(self._holders.get(token, ())))

    def _at_home(self, token: int, members: Sequence[int], seen: Sequence[Seen]) -> int:
        """Return how many other excerpts of the same roots have a token: what runs through all."""
        inside = set(members)
        return sum(
            place not in inside and token in self._known.having_weight(place)
            for root in sorted({one.root for one in seen})
            for place in self._of_root[root]
        )


def _shared(seen: Sequence[Seen], weighs: Sequence[float]) -> dict[int, float]:
    """Return the tokens of two roots or more, heaviest first: their rarity and how many have it."""
    holders: dict[int, set[int]] = {}
    rarities: dict[int, float] = {}
    for one in seen:
        for token, role, rare in zip(one.tokens, one.roles, one.rarities, strict=True):
            if weighs[role]:
                holders.setdefault(token, set()).add(one.root)
                rarities[token] = min(rare, rarities.get(token, rare))
    roots = len({one.root for one in seen})
    found = {t: rarities[t] * len(held) / roots for t, held in holders.items() if len(held) > 1}
    return dict(sorted(found.items(), key=lambda item: (-item[1], item[0])))


def _mean(seen: Sequence[Seen], value: Callable[[Seen], float]) -> float:
    return fsum(map(value, seen)) / len(seen)


def _most_common(names: Iterable[int]) -> int:
    counts: dict[int, int] = {}
    for name in names:
        if name:
            counts[name] = counts.get(name, 0) + 1
    return max(counts.values(), default=0)
