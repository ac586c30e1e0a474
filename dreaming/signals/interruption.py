"""A person interrupted, and what they said next."""

from __future__ import annotations

from collections.abc import Iterator

from dreaming.models.finding import Excerpt, SignalKind
from dreaming.models.session import TurnKind
from dreaming.signals import cues
from dreaming.signals.correction import described
from dreaming.signals.interface import Walk


class Interruption:
    """Interruptions with words: without words nobody can tell what was wrong."""

    def find(self, walk: Walk) -> Iterator[Excerpt]:
        """Yield one excerpt an interruption that a person explained."""
        for place in walk.places(TurnKind.INTERRUPTION):
            spoken = walk.words_after(place, 2)
            if spoken is None or cues.APPROVAL.match(walk.turns[spoken].text.lower()):
                continue
            yield from described(walk, spoken, SignalKind.INTERRUPTION)
