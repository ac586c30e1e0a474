"""What each excerpt is about, in a few hundred bytes: enough to compare it with any other."""

from __future__ import annotations

import hashlib
import struct
from array import array
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from itertools import compress
from math import hypot
from typing import Final

import msgspec

from dreaming.aggregation.bags import Bag, bag
from dreaming.aggregation.memory import Memory
from dreaming.models.finding import Excerpt, KeptExcerpt, SignalKind
from dreaming.similarity import RAREST, program, stem, term_id

ERROR: Final = 1
SAID: Final = 2
ADDED: Final = 4
REMOVED: Final = 8
WRONG: Final = 16
STANDS: Final = 31
"""The bits of a role that say where a token stands; its two weights are in other bits."""
PLAIN: Final = 1 << 11
"""The bit of a word of letters only, which no name of code is."""
_WEIGHTS: Final = (0.0, 0.5, 0.6, 0.8, 1.0, 1.2, 1.5, 1.8)
"""All weights that ``bags`` gives."""
_BITS: Final = {weight: bits for bits, weight in enumerate(_WEIGHTS)}
WHOLE: Final = tuple(_WEIGHTS[role >> 5 & 7] for role in range(PLAIN << 1))
"""What a token weighs in everything seen, by its role."""
DEED: Final = tuple(_WEIGHTS[role >> 8 & 7] for role in range(PLAIN << 1))
"""What a token weighs in what to do, by its role."""
WEIGHS: Final = PLAIN - 1 - STANDS
"""The bits of both weights."""


class Seen(msgspec.Struct, frozen=True, gc=False):
    """What an excerpt is compared by."""

    tokens: array[int]
    """The ids of its tokens."""
    roles: array[int]
    """Where each of them stands and what it weighs."""
    rarities: array[float]
    """How much each of them tells."""
    root: int
    vector_length: float
    """Of everything seen, weighed by rarity."""
    deed_length: float
    """The same of what to do."""
    strength: float
    linked: float
    redone: float
    generic: float
    program: int
    """An id, 0 where there is none."""
    right_program: int
    size: int
    """How many tokens the deed has."""
    errors: int
    """How many tokens the error has."""
    kind: int
    """Its place among ``SignalKind``."""
    has_words: bool
    has_error: bool
    by_person: bool
    """A person stepped in."""
    changed: bool
    """What followed adds something."""
    restricted: bool
    """A restricted agent says what it cannot do: few do, and mostly the same."""


class Focus:
    """An excerpt that is compared with many others."""

    def __init__(self, seen: Seen) -> None:
        self.seen = seen
        self.role_of = dict(zip(seen.tokens, seen.roles, strict=True))
        self.rarity_of = dict(zip(seen.tokens, seen.rarities, strict=True))
        self.tokens = frozenset(seen.tokens)


KINDS: Final = tuple(SignalKind)
THROUGH: Final = 1.5
"""How much less a token tells that runs through a whole session: a power of how often it comes."""
PERSONS: Final = frozenset({SignalKind.CORRECTION, SignalKind.INTERRUPTION})
RESTRICTED: Final = 1.2
"""The strength of what a subagent says it cannot do."""
_NUMBERS: Final = struct.Struct("=4d2q2HB5?")


class Packed:
    """The excerpts of a history, by place."""

    def __init__(self) -> None:
        self.roots, self.sessions = array("I"), array("I")
        """By place, as numbers."""
        self.session_ids: dict[str, int] = {}
        self.names = array("Q")
        """By place, the hash of all that an excerpt says: what ``Memory`` knows it by."""
        self.tokens, self.roles, self.ends = array("q"), array("H"), array("L", [0])
        self.numbers = bytearray()
        self.weighs = bytearray()
        """By token: 1 where it has a weight."""
        self.rarities = array("f")
        """By token, once they are weighed."""
        self._lengths = array("d")
        self._root_numbers: dict[str, int] = {}

    def __len__(self) -> int:
        return len(self.roots)

    def __getitem__(self, place: int) -> Seen:
        start, end = self.ends[place], self.ends[place + 1]
        return Seen(
            self.tokens[start:end],
            self.roles[start:end],
            self.rarities[start:end],
            self.roots[place],
            self._lengths[2 * place],
            self._lengths[2 * place + 1],
            *_NUMBERS.unpack_from(self.numbers, place * _NUMBERS.size),
        )

    def weighing(self, place: int) -> Iterator[tuple[int, float]]:
        """Yield the tokens with a weight, and how much they tell."""
        here = slice(self.ends[place], self.ends[place + 1])
        return compress(zip(self.tokens[here], self.rarities[here], strict=True), self.weighs[here])

    def having_weight(self, place: int) -> Iterator[int]:
        """Yield the tokens with a weight."""
        here = slice(self.ends[place], self.ends[place + 1])
        return compress(self.tokens[here], self.weighs[here])

    def all_of(self, place: int) -> array[int]:
        """Return all tokens."""
        return self.tokens[self.ends[place] : self.ends[place + 1]]

    def restricted(self, place: int) -> bool:
        """Return whether a restricted agent says there what it cannot do."""
        return bool(self.numbers[(place + 1) * _NUMBERS.size - 1])

    def add(self, kept: KeptExcerpt, memory: Memory) -> None:
        """Put an excerpt in the next place; what is remembered of it is not made again."""
        name = _name(kept)
        self.names.append(name)
        place = memory.place_of.get(name)
        if place is None:
            found = bag(kept.excerpt)
            roles = _roles(found)
            self.tokens.extend(roles.keys())
            self.roles.extend(roles.values())
            self.numbers += _numbers(kept, found, roles)
        else:
            start, end = memory.ends[place], memory.ends[place + 1]
            self.tokens.extend(memory.tokens[start:end])
            self.roles.extend(memory.roles[start:end])
            self.numbers += memory.numbers[place * _NUMBERS.size : (place + 1) * _NUMBERS.size]
        self.weighs += bytes(role & WEIGHS > 0 for role in self.roles[self.ends[-1] :])
        self.ends.append(len(self.tokens))
        self.roots.append(self._root_numbers.setdefault(kept.root, len(self._root_numbers)))
        self.sessions.append(self.session_ids.setdefault(kept.session_id, len(self.session_ids)))

    def weigh(self, rarities: Mapping[int, float]) -> None:
        """Say how much each token tells.

        One that has no number yet is rare, and the less telling the more of its session it is in.
        """
        self.rarities = array("f", bytes(4 * len(self.tokens)))
        self._lengths = array("d", bytes(16 * len(self)))
        for places in self.by_root().values():
            counts: Counter[int] = Counter()
            for place in places:
                counts.update(self.all_of(place))
            own = {token: RAREST / pow(times, THROUGH) for token, times in counts.items()}
            for place in places:
                self._weigh(place, [rarities.get(t, own[t]) for t in self.all_of(place)])

    def _weigh(self, place: int, told: Sequence[float]) -> None:
        start, end = self.ends[place], self.ends[place + 1]
        self.rarities[start:end] = array("f", told)
        roles = self.roles[start:end]
        for at, weights in enumerate((WHOLE, DEED)):
            weighed = [weights[role] * rare for role, rare in zip(roles, told, strict=True)]
            self._lengths[2 * place + at] = hypot(*weighed)

    def by_root(self, among: Iterable[int] | None = None) -> dict[int, list[int]]:
        """Return these places, or all, by their root."""
        found: dict[int, list[int]] = {}
        for place in range(len(self)) if among is None else among:
            found.setdefault(self.roots[place], []).append(place)
        return found

    def chain(self, beginning: bytes) -> array[int]:
        """Return, by place, a hash of all that excerpts are compared by up to there."""
        found, before = array("Q"), beginning
        for place in range(len(self)):
            start, end = self.ends[place], self.ends[place + 1]
            digest = hashlib.blake2b(before, digest_size=8)
            digest.update(struct.pack("=QI", self.names[place], self.roots[place]))
            digest.update(self.rarities[start:end].tobytes())
            before = digest.digest()
            found.append(int.from_bytes(before))
        return found


def _name(kept: KeptExcerpt) -> int:
    said = msgspec.msgpack.encode((kept.id, kept.excerpt))
    return int.from_bytes(hashlib.blake2b(said, digest_size=8).digest())


def _roles(found: Bag) -> dict[int, int]:
    """Return where each token stands, two forms of a word as one."""
    roles: dict[str, int] = {token: _BITS[weight] << 5 for token, weight in found.whole.items()}
    for token, weight in found.deed.items():
        roles[token] = roles.get(token, 0) | _BITS[weight] << 8
    for bit, tokens in (
        (ERROR, found.error),
        (SAID, found.said),
        (ADDED, found.added),
        (REMOVED, found.removed),
        (WRONG, found.wrong),
    ):
        for token in tokens:
            roles[token] = roles.get(token, 0) | bit
    by_id: dict[int, int] = {}
    for token, role in roles.items():
        id_ = term_id(stem(token))
        by_id[id_] = _both(by_id.get(id_, 0), role | (PLAIN if token.isalpha() else 0))
    return by_id


def _both(one: int, other: int) -> int:
    """Return the role of a word that stands there in two forms: all places, the largest weights."""
    whole, deed = (max(mask & one, mask & other) for mask in (7 << 5, 7 << 8))
    return (one | other) & (PLAIN | STANDS) | whole | deed


def _numbers(kept: KeptExcerpt, found: Bag, roles: Mapping[int, int]) -> bytes:
    excerpt = kept.excerpt
    return _NUMBERS.pack(
        excerpt.strength,
        excerpt.linked,
        excerpt.redone,
        _generic(excerpt),
        _program(excerpt.wrong),
        _program(excerpt.right),
        len(found.deed),
        sum(role & ERROR for role in roles.values()),
        KINDS.index(excerpt.kind),
        bool(excerpt.words),
        bool(excerpt.error),
        excerpt.kind in PERSONS,
        bool(excerpt.added),
        excerpt.kind is SignalKind.CANNOT and excerpt.strength >= RESTRICTED,
    )


def _generic(excerpt: Excerpt) -> float:
    """Return how little a failure says by itself: 1 for a bare one without a remark."""
    bare = excerpt.kind in (SignalKind.ERROR, SignalKind.ERROR_FIX) and not excerpt.remark
    return float(bare)


def _program(action: str) -> int:
    name = program(action)
    return term_id(name) if name else 0


def packed(excerpts: Iterable[KeptExcerpt], memory: Memory) -> Packed:
    """Return these excerpts, packed in their order; not weighed yet."""
    found = Packed()
    for kept in excerpts:
        found.add(kept, memory)
    return found
