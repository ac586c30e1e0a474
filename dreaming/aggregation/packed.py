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
    phrases: array[int]
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
    has_words: bool
    has_error: bool
    by_person: bool
    """A person stepped in."""
    restricted: bool
    """A restricted agent says what it cannot do: few do, and mostly the same."""


class Focus:
    """An excerpt that is compared with many others."""

    def __init__(self, seen: Seen) -> None:
        self.seen = seen
        self.role_of = dict(zip(seen.tokens, seen.roles, strict=True)).get
        self.phrases = frozenset(seen.phrases)


PERSONS: Final = frozenset({SignalKind.CORRECTION, SignalKind.INTERRUPTION})
RESTRICTED: Final = 1.2
"""The strength of what a subagent says it cannot do."""
_NUMBERS: Final = struct.Struct("=6d2q3I4?")


class Packed:
    """The excerpts of a history, by place."""

    def __init__(self, vocabulary: Vocabulary) -> None:
        self.vocabulary = vocabulary
        self.roots = array("I")
        self._root_numbers: dict[str, int] = {}
        self._tokens, self._roles, self._phrases = array("I"), array("H"), array("I")
        self._token_ends, self._phrase_ends = array("L", [0]), array("L", [0])
        self._numbers = bytearray()

    def __len__(self) -> int:
        return len(self.roots)

    def __getitem__(self, place: int) -> Seen:
        start, end = self._token_ends[place], self._token_ends[place + 1]
        first, last = self._phrase_ends[place], self._phrase_ends[place + 1]
        return Seen(
            self._tokens[start:end],
            self._roles[start:end],
            self._phrases[first:last],
            *_NUMBERS.unpack_from(self._numbers, place * _NUMBERS.size),
        )

    def tokens(self, place: int) -> list[int]:
        """Return the tokens that count for what is compared with what: those with a weight."""
        start, end = self._token_ends[place], self._token_ends[place + 1]
        return [self._tokens[at] for at in range(start, end) if self._roles[at] > STANDS]

    def add(self, kept: KeptExcerpt) -> None:
        """Put an excerpt in the next place."""
        found = bag(kept.excerpt)
        roles = _roles(found, self.vocabulary)
        phrases = self.vocabulary.phrases(found.phrases)
        self._tokens.extend(roles.keys())
        self._roles.extend(roles.values())
        self._phrases.extend(phrases)
        self._token_ends.append(len(self._tokens))
        self._phrase_ends.append(len(self._phrases))
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
    numbered = ((vocabulary.number(token), role) for token, role in roles.items())
    return {number: role for number, role in numbered if number is not None}


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
        bool(excerpt.words),
        bool(excerpt.error),
        excerpt.kind in PERSONS,
        excerpt.kind is SignalKind.CANNOT and excerpt.strength >= RESTRICTED,
    )


def packed(excerpts: Iterable[KeptExcerpt], vocabulary: Vocabulary) -> Packed:
    """Return these excerpts, packed in their order."""
    found = Packed(vocabulary)
    for kept in excerpts:
        found.add(kept)
    return found
