"""The embedded backend: no key, no network. Words each strong excerpt by a template.

What recurs is found by ``aggregation`` from the excerpts themselves; these findings say what one
session shows, so that every backend answers in one form.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any, ClassVar, Final

import msgspec

from dreaming.aggregation import wording
from dreaming.backends.interface import Answer, Backend, Request
from dreaming.models.finding import KeptExcerpt
from dreaming.similarity import telling

STRONG: Final = 1.0
"""Weaker excerpts say too little on their own to be worded."""
MOST: Final = 50
"""Most findings of one answer; a task takes no more."""


class Offline(Backend):
    """Answers from the excerpts alone: the same request, the same answer."""

    name: ClassVar[str] = "offline"
    leaves_the_machine = False
    free: ClassVar[bool] = True
    words: ClassVar[bool] = False

    @property
    def identity(self) -> str:
        """Name the one offline model there is."""
        return self.name

    @property
    def context_tokens(self) -> int:
        """Return how much one request may hold: it only has to fit in memory."""
        return 1_000_000

    def ask(self, request: Request) -> Answer:
        """Return findings for the request's strongest excerpts, as a JSON array."""
        strong = sorted(_strong(request), key=lambda one: (-one[2].excerpt.strength, one[1]))
        findings = [one for one in map(_finding, strong) if one["rule"]][:MOST]
        said = {"read": request.word, "findings": findings} if request.word else findings
        return Answer(text=msgspec.json.encode(said).decode(), model=self.name)


def _strong(request: Request) -> Iterator[tuple[str, str, KeptExcerpt]]:
    """Yield (session, number, excerpt) of what is strong enough to be worded."""
    for packet in request.packets:
        for number, kept in packet.excerpts:
            if kept.excerpt.strength >= STRONG:
                yield packet.session_id, number, kept


def _finding(one: tuple[str, str, KeptExcerpt]) -> dict[str, Any]:
    session_id, number, kept = one
    excerpt = kept.excerpt
    said = telling(f"{excerpt.words}\n{excerpt.remark}")
    known = dict.fromkeys([*excerpt.added, *said], 1.0)
    return {
        "session_id": session_id,
        "slug": wording.slug(known),
        "topic": wording.topic([excerpt], known, ()),
        "symptom": wording.symptom([excerpt], known),
        "rule": wording.rule([excerpt], known),
        "evidence": [number],
    }
