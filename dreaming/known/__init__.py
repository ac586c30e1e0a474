"""Given texts: is it known already? Pure comparison of words; who reads the files is above.

A lesson and what a session ran into are worded differently. What they share is the few rare names
the lesson is about, so a line is known where the sessions name those, most of all in what they do.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Sequence
from math import fsum
from typing import Final

from dreaming.known.weights import KNOWN
from dreaming.similarity import rarity, telling

FEATURES: Final = (
    "first",
    "second",
    "third",
    "deed_first",
    "deed_second",
    "covered",
    "leading",
    "deed_covered",
    "size",
)
SURE: Final = 0.15
"""From here on a line says the same."""
NEAR: Final = 0.05
"""From here on a person should see the line beside the candidate."""

_MARKUP = re.compile(r"^[\s>*+\-#\d.)]*(?:\[\d{4}-\d\d-\d\d\])?\s*|<!--.*?-->")
_FENCE = "```"


def statements(text: str) -> list[str]:
    """Return the lines of a hand-written file that say something: no headings, no code blocks."""
    found: list[str] = []
    fenced = False
    for line in text.split("\n"):
        if line.lstrip().startswith(_FENCE):
            fenced = not fenced
        elif not fenced and not line.lstrip().startswith("#"):
            said = _MARKUP.sub("", line).strip()
            if len(said) > 15:
                found.append(said)
    return found


class Known:
    """What the knowledge base, an agent's own files and past decisions say, line by line."""

    def __init__(
        self,
        lessons: Sequence[str],
        context: Sequence[str] = (),
        rarity_of: Callable[[str], float] | None = None,
    ) -> None:
        """Take lines in any form. ``rarity_of`` tells how rare a token is over all sessions."""
        self.lines = tuple(dict.fromkeys(line.strip() for line in (*lessons, *context)))
        self._tokens = [tuple(telling(_MARKUP.sub("", line))) for line in self.lines]
        self._rarity = rarity_of or self._among_lines()
        self._holders: dict[str, list[int]] = {}
        for place, found in enumerate(self._tokens):
            for token in found:
                self._holders.setdefault(token, []).append(place)

    def _among_lines(self) -> Callable[[str], float]:
        counts: dict[str, int] = {}
        for found in self._tokens:
            for token in found:
                counts[token] = counts.get(token, 0) + 1
        return lambda token: rarity(counts.get(token, 0), max(20, len(self._tokens)))

    def match(self, texts: Sequence[str], deeds: Sequence[str] = ()) -> tuple[str, float] | None:
        """Return the line that most likely says the same, with how sure that is, 0 to 1.

        ``texts`` is what each session says of it, ``deeds`` what each did or was told to do;
        ``None`` where no line shares a word.
        """
        held = _held(texts)
        done = _held(deeds) if deeds else held
        near = {place for token in held for place in self._holders.get(token, ())}
        judged = [(KNOWN.sure(self.features(place, held, done)), -place) for place in near]
        if not judged:
            return None
        sure, place = max(judged)
        return self.lines[-place], sure

    def features(self, place: int, held: dict[str, int], done: dict[str, int]) -> list[float]:
        """Return what tells about one line, in the order of ``FEATURES``."""
        weights = {token: self._rarity(token) for token in self._tokens[place]}
        seen = _weighed(weights, held)
        acted = _weighed(weights, done)
        total = fsum(weights.values()) or 1.0
        leading = sorted(weights, key=lambda token: (-weights[token], token))[:3]
        return [
            *seen[:3],
            *acted[:2],
            fsum(seen) / total,
            float(sum(token in held for token in leading)),
            fsum(acted) / total,
            float(min(20, len(weights))),
        ]


def _held(texts: Iterable[str]) -> dict[str, int]:
    """Return in how many of the texts each token stands."""
    counts: dict[str, int] = {}
    for text in texts:
        for token in telling(text):
            counts[token] = counts.get(token, 0) + 1
    return counts


def _weighed(weights: dict[str, float], held: dict[str, int]) -> list[float]:
    """Return the weights of the tokens both have, heaviest first, at least three numbers."""
    found = [weight * min(1.0, 0.5 * held[t]) for t, weight in weights.items() if t in held]
    return [*sorted(found, reverse=True), 0.0, 0.0, 0.0]
