"""Is a group worth a person's look? Numbers about its structure; no word itself is among them."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from itertools import islice
from math import fsum, log
from typing import Final

from dreaming.aggregation.profile import Profile
from dreaming.aggregation.terms import Shared
from dreaming.aggregation.weights import GROUP
from dreaming.models.finding import SignalKind
from dreaming.models.session import Tool

FEATURES: Final = (
    "specific",
    "same_addition",
    "same_words",
    "human",
    "roots",
    "coherence",
    "strength",
    "bare",
    "edited",
    "commanded",
    "per_root",
    "kinds",
    "worded",
    "additions",
    "words",
    "linked",
    "redone",
    "changed",
    "corrections",
    "first_term",
    "same_program",
)
ELIGIBLE: Final = 0.5
"""Groups scored at least this wait for a person; the others are held back."""

_HUMAN = frozenset({SignalKind.CORRECTION, SignalKind.INTERRUPTION, SignalKind.DENIAL})
_EDITS = frozenset({Tool.EDIT, Tool.WRITE})


def _top(weights: Mapping[str, float], most: int) -> float:
    return fsum(islice(weights.values(), most))


def _mean(members: Sequence[Profile], value: Callable[[Profile], float]) -> float:
    return fsum(value(member) for member in members) / len(members)


def _most_common(names: Iterable[str]) -> int:
    counts: dict[str, int] = {}
    for name in names:
        if name:
            counts[name] = counts.get(name, 0) + 1
    return max(counts.values(), default=0)


def coherence(places: Sequence[int], likeness: Mapping[tuple[int, int], float]) -> float:
    """Return how alike the members are on average."""
    pairs = [(a, b) for i, a in enumerate(places) for b in places[i + 1 :]]
    return fsum(likeness.get(pair, 0.0) for pair in pairs) / (len(pairs) or 1)


def features(members: Sequence[Profile], common: Shared, alike: float) -> list[float]:
    """Return what tells about a group, in the order of ``FEATURES``."""
    kinds = {member.excerpt.kind for member in members}
    specific = sorted((w for w in common.key.values()), reverse=True)
    return [
        fsum(islice(specific, 4)) / len(members),
        _top(common.added, 3),
        _top(common.said, 3),
        float(bool(kinds & _HUMAN)),
        log(common.roots),
        alike,
        _mean(members, lambda m: m.excerpt.strength),
        _mean(members, lambda m: m.generic),
        _mean(members, lambda m: float(" => " in m.excerpt.right)),
        _mean(members, lambda m: float(bool(m.excerpt.right) and " => " not in m.excerpt.right)),
        len(members) / common.roots,
        float(len(kinds)),
        _mean(members, lambda m: float(bool(m.excerpt.words))),
        float(sum(weight > 1 for weight in common.added.values())),
        float(sum(weight > 1 for weight in common.said.values())),
        _mean(members, lambda m: m.excerpt.linked),
        _mean(members, lambda m: m.excerpt.redone),
        _mean(members, lambda m: float(bool(m.excerpt.added))),
        _mean(members, lambda m: float(m.excerpt.kind is SignalKind.CORRECTION)),
        max((*common.added.values(), *common.said.values()), default=0.0),
        _most_common(m.program for m in members) / len(members),
    ]


def score(members: Sequence[Profile], common: Shared, alike: float) -> float:
    """Return how sure it is that a person would keep this, 0 to 1."""
    return GROUP.sure(features(members, common, alike))
