"""What each excerpt is about, in a few hundred bytes: enough to compare it with any other."""

from __future__ import annotations

import struct
from array import array
from collections.abc import Iterable
from typing import Final

import msgspec

from dreaming.aggregation.bags import Bag, bag
from dreaming.aggregation.profile import generic
from dreaming.aggregation.vocabulary import Vocabulary
from dreaming.models.finding import KeptExcerpt, SignalKind
from dreaming.similarity import length, program

ERROR: Final = 1
SAID: Final = 2
ADDED: Final = 4
REMOVED: Final = 8
WRONG: Final = 16
STANDS: Final = 31
"""The bits of a role that say where a token stands; its two weights are in the other bits."""
_WEIGHTS: Final = (0.0, 0.5, 0.6, 0.8, 1.0, 1.2, 1.5, 1.8)
"""All weights that ``bags`` gives."""
_BITS: Final = {weight: bits for bits, weight in enumerate(_WEIGHTS)}
WHOLE: Final = tuple(_WEIGHTS[role >> 5 & 7] for role in range(1 << 11))
"""What a token weighs in everything seen, by its role."""
DEED: Final = tuple(_WEIGHTS[role >> 8] for role in range(1 << 11))
"""What a token weighs in what to do, by its role."""


class Seen(msgspec.Struct, frozen=True, gc=False):
    """What an excerpt is compared by."""

    tokens: array[int]
    """The numbers of its shared tokens."""
    roles: array[int]
    """Where each of them stands and what it weighs."""
    vector_length: float
    """Of everything seen, weighed by rarity."""
    deed_length: float
    """The same of what to do, tokens that no other root has included."""
    strength: float
    linked: float
    redone: float
    generic: float
    program: int
    """A hash, 0 where there is none."""
    right_program: int
    root: int
    size: int
    """How many tokens the deed has, those no other root has included."""
    errors: int
    """How many shared tokens the error has."""
    kind: int
    """Its place among ``SignalKind``."""
    has_words: bool
    has_error: bool
    by_person: bool
    """A person stepped in."""
    edited: bool
    """What followed was an edit."""
    commanded: bool
    """What followed was a command."""
    changed: bool
    """What followed adds something."""
    restricted: bool
    """A restricted agent says what it cannot do: few do, and mostly the same."""


class Focus:
    """An excerpt that is compared with many others."""

    def __init__(self, seen: Seen) -> None:
        self.seen = seen
        self.role_of = dict(zip(seen.tokens, seen.roles, strict=True))
        self.tokens = frozenset(seen.tokens)


KINDS: Final = tuple(SignalKind)
PERSONS: Final = frozenset({SignalKind.CORRECTION, SignalKind.INTERRUPTION})
RESTRICTED: Final = 1.2
"""The strength of what a subagent says it cannot do."""
_NUMBERS: Final = struct.Struct("=6d2q3IB7?")


class Packed:
    """The excerpts of a history, by place."""

    def __init__(self, vocabulary: Vocabulary) -> None:
        self.vocabulary = vocabulary
        self.roots = array("I")
        self._root_numbers: dict[str, int] = {}
        self._tokens, self._roles, self._ends = array("I"), array("H"), array("L", [0])
        self._numbers = bytearray()
        self.held = array("I")
        """By token, in how many excerpts it has a weight."""

    def __len__(self) -> int:
        return len(self.roots)

    def __getitem__(self, place: int) -> Seen:
        start, end = self._ends[place], self._ends[place + 1]
        return Seen(
            self._tokens[start:end],
            self._roles[start:end],
            *_NUMBERS.unpack_from(self._numbers, place * _NUMBERS.size),
        )

    def tokens(self, place: int) -> list[int]:
        """Return the tokens that count for what is compared with what: those with a weight."""
        start, end = self._ends[place], self._ends[place + 1]
        return [self._tokens[at] for at in range(start, end) if self._roles[at] > STANDS]

    def restricted(self, place: int) -> bool:
        """Return whether a restricted agent says there what it cannot do."""
        return bool(self._numbers[(place + 1) * _NUMBERS.size - 1])

    def add(self, kept: KeptExcerpt) -> None:
        """Put an excerpt in the next place."""
        found = bag(kept.excerpt)
        roles = _roles(found, self.vocabulary)
        self._tokens.extend(roles.keys())
        self._roles.extend(roles.values())
        more = len(self.vocabulary.rarities) - len(self.held)
        self.held.frombytes(bytes(self.held.itemsize * more))
        for token, role in roles.items():
            self.held[token] += role > STANDS
        self._ends.append(len(self._tokens))
        root = self._root_numbers.setdefault(kept.root, len(self._root_numbers))
        self.roots.append(root)
        self._numbers += _numbers(kept, found, roles, root, self.vocabulary)


def _roles(found: Bag, vocabulary: Vocabulary) -> dict[int, int]:
    """Return where each shared token stands, those of the whole first, then those of the deed."""
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
    numbered: dict[int, int] = {}
    for token, role in roles.items():
        number = vocabulary.number(token)
        if number is not None:
            numbered[number] = _both(numbered.get(number, 0), role)
    return numbered


def _both(one: int, other: int) -> int:
    """Return the role of a word that stands there in two forms: all places, the largest weights."""
    stands, whole, deed = ((mask & one, mask & other) for mask in (STANDS, 7 << 5, 7 << 8))
    return stands[0] | stands[1] | max(whole) | max(deed)


def _numbers(
    kept: KeptExcerpt, found: Bag, roles: dict[int, int], root: int, vocabulary: Vocabulary
) -> bytes:
    excerpt = kept.excerpt
    rarities = vocabulary.rarities
    return _NUMBERS.pack(
        length({str(n): WHOLE[role] * rarities[n] for n, role in roles.items()}),
        length({token: weight * vocabulary.of(token) for token, weight in found.deed.items()}),
        excerpt.strength,
        excerpt.linked,
        excerpt.redone,
        generic(excerpt),
        hash(program(excerpt.wrong)),
        hash(program(excerpt.right)),
        root,
        len(found.deed),
        sum(role & ERROR for role in roles.values()),
        KINDS.index(excerpt.kind),
        bool(excerpt.words),
        bool(excerpt.error),
        excerpt.kind in PERSONS,
        " => " in excerpt.right,
        bool(excerpt.right) and " => " not in excerpt.right,
        bool(excerpt.added),
        excerpt.kind is SignalKind.CANNOT and excerpt.strength >= RESTRICTED,
    )


def packed(excerpts: Iterable[KeptExcerpt], vocabulary: Vocabulary) -> Packed:
    """Return these excerpts, packed in their order."""
    found = Packed(vocabulary)
    for kept in excerpts:
        found.add(kept)
    return found
