"""What a member of a group is about: its tokens, as far as several roots share them."""

from __future__ import annotations

import msgspec

from dreaming.aggregation.bags import bag
from dreaming.aggregation.vocabulary import Vocabulary
from dreaming.models.finding import Excerpt, KeptExcerpt


class Profile(msgspec.Struct, frozen=True):
    """An excerpt with its shared tokens."""

    kept: KeptExcerpt
    whole: dict[str, float]
    """Token to weight: everything that was seen."""
    said: frozenset[str]
    """What the person or the remark says."""

    @property
    def excerpt(self) -> Excerpt:
        """The excerpt itself."""
        return self.kept.excerpt


def profile(kept: KeptExcerpt, vocabulary: Vocabulary) -> Profile:
    """Return what an excerpt has in common with others."""
    found = bag(kept.excerpt)
    return Profile(
        kept=kept,
        whole={t: weight for t, weight in found.whole.items() if vocabulary.is_shared(t)},
        said=frozenset(filter(vocabulary.is_shared, found.said)),
    )
