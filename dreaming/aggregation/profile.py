"""What a member of a group is about: its tokens, as far as several roots share them."""

from __future__ import annotations

import msgspec

from dreaming.aggregation.bags import bag
from dreaming.aggregation.vocabulary import Vocabulary
from dreaming.models.finding import Excerpt, KeptExcerpt, SignalKind
from dreaming.similarity import program


class Profile(msgspec.Struct, frozen=True):
    """An excerpt with its shared tokens."""

    kept: KeptExcerpt
    whole: dict[str, float]
    """Token to weight: everything that was seen."""
    said: frozenset[str]
    """What the person or the remark says."""
    program: str
    generic: float

    @property
    def excerpt(self) -> Excerpt:
        """The excerpt itself."""
        return self.kept.excerpt


def generic(excerpt: Excerpt) -> float:
    """Return how little a failure says by itself: 1 for a bare one without a remark."""
    bare = excerpt.kind in (SignalKind.ERROR, SignalKind.ERROR_FIX) and not excerpt.remark
    return float(bare)


def profile(kept: KeptExcerpt, vocabulary: Vocabulary) -> Profile:
    """Return what an excerpt has in common with others."""
    found = bag(kept.excerpt)
    return Profile(
        kept=kept,
        whole=vocabulary.shared(found.whole),
        said=frozenset(t for t in found.said if vocabulary.number(t) is not None),
        program=program(kept.excerpt.wrong),
        generic=generic(kept.excerpt),
    )
