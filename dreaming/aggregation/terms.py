"""What the excerpts of a group share: the tokens that two root sessions have in common."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence

import msgspec

from dreaming.aggregation.profile import Profile
from dreaming.aggregation.vocabulary import Vocabulary
from dreaming.similarity import COMMON


class Shared(msgspec.Struct, frozen=True):
    """Tokens that stand in two roots of a group, with their weights, heaviest first."""

    key: dict[str, float]
    """Of everything seen."""
    added: dict[str, float]
    """Of what the right actions add: plain rarity."""
    said: dict[str, float]
    """Of what persons and remarks say: plain rarity."""
    roots: int


def shared(members: Sequence[Profile], rarities: Vocabulary) -> Shared:
    """Return what two roots (or the only one) of these excerpts have in common."""
    roots = len({member.kept.root for member in members})
    need = min(2, roots)
    added = _holders((m, m.excerpt.added) for m in members)
    said = _holders((m, m.said) for m in members)
    return Shared(
        key=_key(members, need, rarities),
        added=_heaviest({t: rarities.of(t) for t, held in added.items() if len(held) >= need}),
        said=_heaviest({t: rarities.of(t) for t, held in said.items() if len(held) >= need}),
        roots=roots,
    )


def _holders(bags: Iterable[tuple[Profile, Iterable[str]]]) -> dict[str, set[str]]:
    """Return in which roots each telling token stands."""
    holders: dict[str, set[str]] = {}
    for member, bag in bags:
        for token in bag:
            if token not in COMMON and not token.isdigit():
                holders.setdefault(token, set()).add(member.kept.root)
    return holders


def _key(members: Sequence[Profile], need: int, rarities: Vocabulary) -> dict[str, float]:
    holders = _holders((m, m.whole) for m in members)
    total: dict[str, float] = {}
    for member in members:
        for token, weight in member.whole.items():
            total[token] = total.get(token, 0.0) + weight * rarities.of(token)
    kept = {t: total[t] * len(held) for t, held in holders.items() if len(held) >= need}
    return _heaviest({token: weight for token, weight in kept.items() if weight > 0.0})


def _heaviest(weights: Mapping[str, float]) -> dict[str, float]:
    return dict(sorted(weights.items(), key=lambda item: (-item[1], item[0])))
