"""Do two excerpts show the same gotcha? Only pairs that share something rare are asked."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from math import fsum, log1p
from typing import Final

from dreaming.aggregation.profile import TELLING, Profile, Rarities
from dreaming.aggregation.weights import PAIR
from dreaming.models.finding import SignalKind
from dreaming.similarity import overlap

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
PERSONS: Final = frozenset({SignalKind.CORRECTION, SignalKind.INTERRUPTION})
LONGEST_LIST: Final = 60
"""A token in more excerpts than this (or a twentieth of them) compares nothing."""
RESTRICTED: Final = 1.2
"""The strength of what a subagent says it cannot do."""
SAME_FAILURE: Final = 0.6
"""How sure nearly the same failure is to be one gotcha, whatever was done about it."""
HARD_LIMIT: Final = 200
"""However long the history is, a token in more excerpts than this compares nothing."""
NEIGHBOURS: Final = 60
"""With how many later excerpts one is compared."""


def candidates(profiles: Sequence[Profile], rarities: Rarities) -> Iterator[tuple[int, int]]:
    """Yield pairs of different roots that share a rare token, each once, in order.

    However long the history is, an excerpt is compared only with those it shares most with.
    """
    holders = _holders(profiles, rarities)
    cannot = [place for place, profile in enumerate(profiles) if _restricted(profile)]
    for one, profile in enumerate(profiles):
        near: dict[int, float] = {}
        for token in _tokens(profile):
            for other in holders.get(token, ()):
                if other > one and profiles[other].kept.root != profile.kept.root:
                    near[other] = near.get(other, 0.0) + rarities.of(token)
        best = sorted(near, key=lambda other: (-near[other], other))[:NEIGHBOURS]
        if _restricted(profile):
            best += [p for p in cannot if p > one and profiles[p].kept.root != profile.kept.root]
        for other in sorted(set(best)):
            yield one, other


def _tokens(profile: Profile) -> Iterator[str]:
    """Yield every token of a profile once, in a stable order."""
    yield from profile.whole
    yield from (token for token in profile.deed if token not in profile.whole)


def _holders(profiles: Sequence[Profile], rarities: Rarities) -> dict[str, list[int]]:
    """Return where each token stands that is rare enough to compare anything."""
    holders: dict[str, list[int]] = {}
    for place, profile in enumerate(profiles):
        for token in _tokens(profile):
            if rarities.of(token) > TELLING:
                holders.setdefault(token, []).append(place)
    limit = min(HARD_LIMIT, max(LONGEST_LIST, len(profiles) // 20))
    return {token: places for token, places in holders.items() if 2 <= len(places) <= limit}


def _restricted(profile: Profile) -> bool:
    """Return whether a restricted agent says what it cannot do: few do, and mostly the same."""
    return profile.excerpt.kind is SignalKind.CANNOT and profile.excerpt.strength >= RESTRICTED


def features(a: Profile, b: Profile, rarities: Rarities) -> list[float]:
    """Return what tells about a pair, in the order of ``FEATURES``; no word itself is among it."""
    shared = sorted(
        (
            min(weight, b.deed[token]) * rarities.of(token)
            for token, weight in a.deed.items()
            if token in b.deed
        ),
        reverse=True,
    )
    one, other = a.excerpt, b.excerpt
    phrases = a.phrases & b.phrases
    first = rarities.first
    return [
        _cosine(a.vector, a.vector_length, b.vector, b.vector_length),
        _cosine(a.deed_vector, a.deed_length, b.deed_vector, b.deed_length),
        shared[0] if shared else 0.0,
        shared[1] if len(shared) > 1 else 0.0,
        shared[2] if len(shared) > 2 else 0.0,
        first(a.whole.keys() & b.whole.keys()),
        first(a.added & b.added),
        max(first(a.added & b.said), first(a.said & b.added)),
        first(a.said & b.said),
        first(a.removed & b.removed),
        first(a.error & b.error),
        first(a.wrong & b.wrong),
        max(first(a.error & b.said), first(a.said & b.error)),
        max(first(a.error & b.added), first(a.added & b.error)),
        max(first(a.removed & b.said), first(a.said & b.removed)),
        rarities.phrase(phrases),
        float(min(4, len(phrases))),
        overlap(a.error, b.error),
        float(bool(a.program) and a.program == b.program),
        float(bool(a.right_program) and a.right_program == b.right_program),
        float(bool(one.words) and bool(other.words)),
        float(bool(one.error) and bool(other.error)),
        float(_restricted(a) and _restricted(b)),
        float(one.kind in PERSONS and other.kind in PERSONS),
        float(min(6, sum(value > 1 for value in shared))),
        a.generic + b.generic,
        log1p(min(a.size, b.size)),
        abs(a.size - b.size) / (a.size + b.size + 1),
        min(one.strength, other.strength),
        max(one.strength, other.strength),
        one.linked + other.linked,
        min(1.0, one.redone) + min(1.0, other.redone),
    ]


def _same_failure(a: Profile, b: Profile, rarities: Rarities) -> bool:
    """Return whether one program failed in nearly the same rare words: nothing needs guessing."""
    if not a.program or a.program != b.program or min(len(a.error), len(b.error)) < 4:
        return False
    return overlap(a.error, b.error) >= 0.6 and rarities.first(a.error & b.error) >= 3.0


def _cosine(a: dict[str, float], a_length: float, b: dict[str, float], b_length: float) -> float:
    if len(a) > len(b):
        a, b = b, a
    dot = fsum(weight * b[token] for token, weight in a.items() if token in b)
    return dot / ((a_length * b_length) or 1.0)


def likeness(profiles: Sequence[Profile], rarities: Rarities) -> dict[tuple[int, int], float]:
    """Return how sure each compared pair is of one gotcha; unlikely ones are left out."""
    found: dict[tuple[int, int], float] = {}
    for one, other in candidates(profiles, rarities):
        value = PAIR.sure(features(profiles[one], profiles[other], rarities))
        if _same_failure(profiles[one], profiles[other], rarities):
            value = max(value, SAME_FAILURE)
        if value >= 0.01:
            found[one, other] = value
    return found
