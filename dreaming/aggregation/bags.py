"""The tokens of one excerpt: each of its texts is taken apart once."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from typing import Final

import msgspec

from dreaming.models.finding import Excerpt
from dreaming.similarity import COMMON, tokens

READ: Final = 350
"""How much of what was said is looked at, in characters."""
_DEED: Final = (
    ("added", 1.0, 20),
    ("words", 1.0, 60),
    ("remark", 0.8, 60),
    ("removed", 0.6, 20),
)
"""Where what to do stands, its weight, and how many tokens count."""
_WHOLE: Final = (
    ("error", 1.0, 40),
    ("wrong", 0.5, 25),
    ("right", 0.6, 25),
    ("remark", 1.2, 40),
    ("words", 1.5, 40),
    ("removed", 1.0, 12),
    ("added", 1.8, 12),
)
"""The same for everything seen; what changes between failure and fix weighs most."""


class Bag(msgspec.Struct, frozen=True, gc=False):
    """An excerpt's telling tokens, by where they stand, in the order in which they stand there.

    ``deed`` is what to do; ``whole`` is everything that was seen; both are tokens to weights.
    """

    error: Sequence[str]
    wrong: Sequence[str]
    said: Sequence[str]
    """What the person or the remark says."""
    added: Sequence[str]
    removed: Sequence[str]
    deed: dict[str, float]
    whole: dict[str, float]

    def everything(self) -> Iterator[str]:
        """Yield every telling token, wherever it stands; some more than once."""
        yield from self.whole
        yield from self.deed
        yield from self.error
        yield from self.wrong


def bag(excerpt: Excerpt) -> Bag:
    """Return what an excerpt is about."""
    told = {
        "error": _telling(tokens(excerpt.error)),
        "wrong": _telling(tokens(excerpt.wrong)),
        "right": _telling(tokens(excerpt.right)),
        "remark": _telling(tokens(excerpt.remark[:READ])),
        "words": _telling(tokens(excerpt.words[:READ])),
        "added": _telling(excerpt.added),
        "removed": _telling(excerpt.removed),
    }
    return Bag(
        error=told["error"],
        wrong=told["wrong"],
        said=told["words"] + told["remark"],
        added=told["added"],
        removed=told["removed"],
        deed=_weighed(told, _DEED),
        whole=_weighed(told, _WHOLE),
    )


def _telling(found: Iterable[str]) -> list[str]:
    return [token for token in found if token not in COMMON and not token.isdigit()]


def _weighed(
    told: dict[str, list[str]], places: Sequence[tuple[str, float, int]]
) -> dict[str, float]:
    """Give each token the largest of its weights."""
    weights: dict[str, float] = {}
    for name, weight, most in places:
        for token in told[name][:most]:
            if weights.get(token, 0.0) < weight:
                weights[token] = weight
    return weights
