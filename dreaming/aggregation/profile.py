"""What an excerpt is about: its tokens, weighed by where they stand and how rare they are."""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from itertools import pairwise
from math import sqrt
from typing import Final, Protocol

import msgspec

from dreaming.models.finding import Excerpt, KeptExcerpt, SignalKind
from dreaming.models.session import Speaker
from dreaming.similarity import COMMON, length, program, rarity, tokens

READ: Final = 350
"""How much of what was said is looked at, in characters."""
FEW_ROOTS: Final = 60
"""In a shorter history, what most sessions ran into may be its one gotcha, not its background."""
TELLING: Final = 1.5
"""A token this rare tells something by itself."""


class Frequencies(Protocol):
    """In how many sessions of the whole history a term occurs."""

    @property
    def sessions(self) -> int:
        """How many sessions the history holds."""
        ...

    def of(self, term: str) -> int:
        """Return in how many of them ``term`` occurs."""
        ...


class Profile(msgspec.Struct, frozen=True):
    """An excerpt's tokens. ``deed`` is what to do; ``whole`` is everything that was seen."""

    kept: KeptExcerpt
    deed: dict[str, float]
    """Token to weight: what the fix adds, what the person or the remark names."""
    whole: dict[str, float]
    vector: dict[str, float]
    """``whole`` with rarity, for the cosine."""
    vector_length: float
    deed_vector: dict[str, float]
    deed_length: float
    error: frozenset[str]
    said: frozenset[str]
    """What the person or the remark says."""
    added: frozenset[str]
    removed: frozenset[str]
    wrong: frozenset[str]
    phrases: frozenset[str]
    """Two words in a row, one of them telling."""
    size: int
    """How many tokens the deed has, those no other root has included."""
    program: str
    right_program: str
    generic: float
    """How little its own failure says: 1 for a bare failure without a remark."""

    @property
    def excerpt(self) -> Excerpt:
        """The excerpt itself."""
        return self.kept.excerpt


class Rarities:
    """How much each token tells: rare in all sessions, not in every excerpt, and said once.

    A feature's own names run through all that a session does; what a gotcha is about comes up where
    it hurts. So a token that stands in many excerpts of each of its sessions tells less.
    """

    def __init__(
        self,
        frequencies: Frequencies,
        spread: Mapping[str, int],
        repeats: Mapping[str, float],
        phrases: Mapping[str, int],
        roots: int,
    ) -> None:
        self._frequencies = frequencies
        self._spread = spread
        self._repeats = repeats
        self._phrases = phrases
        self._roots = roots
        self._cache: dict[str, float] = {}
        for token in spread:
            self.of(token)

    def of(self, token: str) -> float:
        """Return the rarity of a token, 0 to ``similarity.RAREST``."""
        if token not in self._cache:
            at_large = rarity(self._frequencies.of(token), self._frequencies.sessions)
            here = rarity(self._spread.get(token, 0), max(FEW_ROOTS, self._roots))
            often = sqrt(self._repeats.get(token, 1.0))
            self._cache[token] = at_large * min(1.0, here / 1.8) / often
        return self._cache[token]

    def first(self, found: Collection[str]) -> float:
        """Return the rarity of the rarest of these shared tokens."""
        return max([self._cache[token] for token in found], default=0.0) if found else 0.0

    def phrase(self, found: Iterable[str]) -> float:
        """Return the rarity, among the excerpts, of the rarest of these phrases."""
        roots = max(FEW_ROOTS, self._roots)
        return max((rarity(self._phrases.get(p, 0), roots) for p in found), default=0.0)


def _put(bag: dict[str, float], found: Iterable[str], weight: float, most: int) -> None:
    """Give the first ``most`` telling tokens at least this weight."""
    for token in found:
        if token in COMMON or token.isdigit():
            continue
        if most <= 0:
            return
        most -= 1
        if bag.get(token, 0.0) < weight:
            bag[token] = weight


def spoken(excerpt: Excerpt) -> str:
    """Return the person's words; what a script prompted is nobody's."""
    return excerpt.words if excerpt.words_by is Speaker.HUMAN else ""


def deed(excerpt: Excerpt) -> dict[str, float]:
    """Return the tokens of what to do, with weights."""
    bag: dict[str, float] = {}
    _put(bag, excerpt.added, 1.0, 20)
    _put(bag, tokens(excerpt.words[:READ]), 1.0, 60)
    _put(bag, tokens(excerpt.remark[:READ]), 0.8, 60)
    _put(bag, excerpt.removed, 0.6, 20)
    return bag


def whole(excerpt: Excerpt) -> dict[str, float]:
    """Return the tokens of the excerpt; what changes between failure and fix weighs most."""
    bag: dict[str, float] = {}
    _put(bag, tokens(excerpt.error), 1.0, 40)
    _put(bag, tokens(excerpt.wrong), 0.5, 25)
    _put(bag, tokens(excerpt.right), 0.6, 25)
    _put(bag, tokens(excerpt.remark[:READ]), 1.2, 40)
    _put(bag, tokens(excerpt.words[:READ]), 1.5, 40)
    _put(bag, excerpt.removed, 1.0, 12)
    _put(bag, excerpt.added, 1.8, 12)
    return bag


def everything(excerpt: Excerpt) -> Iterator[str]:
    """Yield every telling token of an excerpt, wherever it stands."""
    yield from whole(excerpt)
    yield from deed(excerpt)
    yield from tokens(f"{excerpt.error}\n{excerpt.wrong}")


def phrases(excerpt: Excerpt) -> Iterator[str]:
    """Yield the pairs of neighbouring tokens of which one is no common word."""
    for text in (excerpt.words[:READ], excerpt.remark[:READ], excerpt.right, excerpt.error):
        words = tokens(text)
        for one, other in pairwise(words):
            if one not in COMMON or other not in COMMON:
                yield f"{one} {other}"


def _spread(
    excerpts: Sequence[KeptExcerpt], bag: Callable[[Excerpt], Iterable[str]]
) -> dict[str, int]:
    """Return in how many roots each token stands, those of one root left out.

    What only one root has can join nothing: memory follows what is shared, not what was read.
    """
    count: dict[str, int] = {}
    last: dict[str, str] = {}
    for kept in sorted(excerpts, key=lambda kept: kept.root):
        for token in bag(kept.excerpt):
            if last.get(token) != kept.root:
                last[token] = kept.root
                count[token] = count.get(token, 0) + 1
    return {token: number for token, number in count.items() if number > 1}


def _repeats(excerpts: Sequence[KeptExcerpt]) -> dict[str, float]:
    """Return in how many excerpts of each of its roots a token stands, on average."""
    count: dict[str, int] = {}
    roots: dict[str, int] = {}
    last: dict[str, str] = {}
    for kept in sorted(excerpts, key=lambda kept: kept.root):
        for token in whole(kept.excerpt):
            count[token] = count.get(token, 0) + 1
            if last.get(token) != kept.root:
                last[token] = kept.root
                roots[token] = roots.get(token, 0) + 1
    return {token: n / roots[token] for token, n in count.items() if n > roots[token]}


def profiles(
    excerpts: Sequence[KeptExcerpt], frequencies: Frequencies
) -> tuple[list[Profile], Rarities]:
    """Return a profile for each excerpt, and how rare each token is among all of them."""
    shared, neighbours = _spread(excerpts, everything), _spread(excerpts, phrases)
    roots = len({kept.root for kept in excerpts})
    rarities = Rarities(frequencies, shared, _repeats(excerpts), neighbours, roots)
    return [_profile(kept, rarities, shared, neighbours) for kept in excerpts], rarities


def _profile(
    kept: KeptExcerpt, rarities: Rarities, shared: Collection[str], neighbours: Collection[str]
) -> Profile:
    excerpt = kept.excerpt
    doing = deed(excerpt)
    size = len(doing)
    deed_length = length({token: weight * rarities.of(token) for token, weight in doing.items()})
    doing = {token: weight for token, weight in doing.items() if token in shared}
    seen = {token: weight for token, weight in whole(excerpt).items() if token in shared}
    vector = {token: weight * rarities.of(token) for token, weight in seen.items()}
    deed_vector = {token: weight * rarities.of(token) for token, weight in doing.items()}
    bare = excerpt.kind in (SignalKind.ERROR, SignalKind.ERROR_FIX) and not excerpt.remark
    said = f"{excerpt.words[:READ]}\n{excerpt.remark[:READ]}"

    def about(found: Iterable[str]) -> frozenset[str]:
        return frozenset(
            token
            for token in found
            if token in shared and token not in COMMON and not token.isdigit()
        )

    return Profile(
        kept=kept,
        deed=doing,
        whole=seen,
        vector=vector,
        vector_length=length(vector),
        deed_vector=deed_vector,
        deed_length=deed_length,
        error=about(tokens(excerpt.error)),
        said=about(tokens(said)),
        added=about(excerpt.added),
        removed=about(excerpt.removed),
        wrong=about(tokens(excerpt.wrong)),
        phrases=frozenset(p for p in phrases(excerpt) if p in neighbours),
        size=size,
        program=program(excerpt.wrong),
        right_program=program(excerpt.right),
        generic=float(bare),
    )
