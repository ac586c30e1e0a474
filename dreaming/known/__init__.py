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
from dreaming.similarity import rarity, stem, telling

FEATURES: Final = (
    "covered",
    "deed_covered",
    "both_covered",
    "key_covered",
    "plain_first",
    "recurring",
    "size",
)
SURE: Final = 0.2
"""From here on a line says the same."""
NEAR: Final = 0.05
"""From here on a person should see the line beside the candidate."""
KEY: Final = 12
"""How many of the heaviest words that two sessions share are what they are about."""

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
        self._tokens = [tuple(_stems(_MARKUP.sub("", line))) for line in self.lines]
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
        said = Said(texts, deeds or texts, self._rarity)
        near = {place for token in said.held for place in self._holders.get(token, ())}
        judged = [(KNOWN.sure(self.features(place, said)), -place) for place in near]
        if not judged:
            return None
        sure, place = max(judged)
        return self.lines[-place], sure

    def features(self, place: int, said: Said) -> list[float]:
        """Return what tells about one line, in the order of ``FEATURES``."""
        weights = {token: self._rarity(token) for token in self._tokens[place]}
        total = fsum(weights.values()) or 1.0
        both = [w for t, w in weights.items() if said.held.get(t, 0) > 1 and t in said.done]
        plain = [w for t, w in weights.items() if t in said.held and t.isalpha()]
        return [
            _half(weights, said.held) / total,
            _half(weights, said.done) / total,
            fsum(both) / total,
            fsum(weight for token, weight in said.key.items() if token in weights)
            / (fsum(said.key.values()) or 1.0),
            max(plain, default=0.0),
            float(min(8, sum(said.held.get(token, 0) > 1 for token in weights))),
            float(min(20, len(weights))),
        ]


class Said:
    """What sessions say of one thing, by word stems."""

    def __init__(
        self, texts: Sequence[str], deeds: Sequence[str], rarity_of: Callable[[str], float]
    ) -> None:
        """Take what each session says of it and what each did."""
        self.held = _held(texts)
        self.done = _held(deeds)
        shared = {t: rarity_of(t) * min(n, 3) for t, n in self.held.items() if n > 1}
        heaviest = sorted(shared.items(), key=lambda item: (-item[1], item[0]))
        self.key = dict(heaviest[:KEY])
        """What several of them say, the heaviest words."""


def _stems(text: str) -> Iterable[str]:
    return dict.fromkeys(map(stem, telling(text)))


def _held(texts: Iterable[str]) -> dict[str, int]:
    """Return in how many of the texts each word stands."""
    counts: dict[str, int] = {}
    for text in texts:
        for token in _stems(text):
            counts[token] = counts.get(token, 0) + 1
    return counts


def _half(weights: dict[str, float], held: dict[str, int]) -> float:
    """Return the weight of the words both have; what one text alone has counts half."""
    return fsum(w * min(1.0, 0.5 * held[t]) for t, w in weights.items() if t in held)
