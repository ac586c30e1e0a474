"""What one grouping hands to the next: taken apart and compared already.

It saves work and decides nothing: whatever is forgotten or does not fit is made again. It holds
hashes and numbers, no words.
"""

from __future__ import annotations

import zlib
from array import array
from typing import TYPE_CHECKING, Final

import msgspec

if TYPE_CHECKING:
    from dreaming.aggregation.packed import Packed
    from dreaming.aggregation.pairs import Alike

_LEVEL: Final = 1
"""Fast is enough."""


class _Stored(msgspec.Struct, array_like=True):
    made_by: bytes
    names: bytes = b""
    ends: bytes = b""
    tokens: bytes = b""
    roles: bytes = b""
    numbers: bytes = b""
    chain: bytes = b""
    earlier: bytes = b""
    later: bytes = b""
    sure: bytes = b""


class Memory:
    """Excerpts by the hash of what they say, and how alike the first of them were."""

    def __init__(self, made_by: bytes, body: bytes = b"") -> None:
        """Take what ``stored`` returned; nothing of it where other code made it."""
        known = _read(made_by, body)
        self.made_by = made_by
        self.names = array("Q", known.names)
        self.ends = array("L", known.ends)
        self.tokens = array("q", known.tokens)
        self.roles = array("H", known.roles)
        self.numbers = known.numbers
        self.chain = array("Q", known.chain)
        self.earlier = array("I", known.earlier)
        self.later = array("I", known.later)
        self.sure = array("f", known.sure)
        self.place_of = {name: place for place, name in enumerate(self.names)}


def _read(made_by: bytes, body: bytes) -> _Stored:
    try:
        found = msgspec.msgpack.decode(zlib.decompress(body), type=_Stored) if body else None
    except (zlib.error, msgspec.DecodeError):
        found = None
    return found if found is not None and found.made_by == made_by else _Stored(made_by)


def stored(made_by: bytes, known: Packed, alike: Alike) -> bytes:
    """Return what the next grouping may use again."""
    body = _Stored(
        made_by,
        known.names.tobytes(),
        known.ends.tobytes(),
        known.tokens.tobytes(),
        known.roles.tobytes(),
        bytes(known.numbers),
        alike.chain.tobytes(),
        alike.earlier.tobytes(),
        alike.later.tobytes(),
        alike.sure.tobytes(),
    )
    return zlib.compress(msgspec.msgpack.encode(body), _LEVEL)
