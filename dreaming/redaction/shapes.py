"""A small notation for the shapes of tokens, so that one line says what to find and how to try it.

A template is literal text with pieces in braces: ``{A36}`` is 36 letters or digits, ``{U20+}`` at
least 20 url-safe characters, ``{h8,12}`` 8 to 12 lower-case hex digits. From one template come the
pattern that confirms a token, the anchor that finds its place, and an invented example.
"""

from __future__ import annotations

import hashlib
import re
from collections.abc import Iterator
from typing import Final, NamedTuple

CLASSES: Final = {
    "A": "A-Za-z0-9",
    "B": "A-Za-z0-9+/",
    "C": "A-Z2-7",
    "D": "A-Za-z0-9_.~-",
    "E": "A-Za-z0-9_=-",
    "H": "A-Fa-f0-9",
    "K": "A-Z0-9",
    "L": "A-Za-z",
    "P": "A-Za-z0-9%/+_=-",
    "S": "A-Za-z0-9+/_=-",
    "U": "A-Za-z0-9_-",
    "W": "A-Za-z0-9_",
    "X": "QPZRY9X8GF2TVDW0S3JN54KHCE6MUA7L",
    "d": "0-9",
    "h": "a-f0-9",
    "l": "a-z0-9",
    "u": "A-Z",
}
"""The letter of a piece and the characters it stands for; X is bech32 in capitals."""

_PIECE: Final = re.compile(r"\{([A-Za-z])(\d+)(?:,(\d+)|(\+))?\}")


class Piece(NamedTuple):
    """Literal text, or a run of characters of one class."""

    literal: str
    characters: str = ""
    least: int = 0
    most: int | None = 0


def pieces(template: str) -> Iterator[Piece]:
    """Yield what a template is made of, in order."""
    at = 0
    for found in _PIECE.finditer(template):
        if found.start() > at:
            yield Piece(template[at : found.start()])
        letter, least, most, open_end = found.groups()
        limit = None if open_end else int(most or least)
        yield Piece("", CLASSES[letter], int(least), limit)
        at = found.end()
    if at < len(template):
        yield Piece(template[at:])


def pattern(template: str) -> str:
    """Return the regular expression that matches exactly what the template describes."""
    out = []
    for piece in pieces(template):
        if piece.literal:
            out.append(_escape(piece.literal))
        else:
            limit = "" if piece.most is None else str(piece.most)
            out.append(f"[{piece.characters}]{{{piece.least},{limit}}}")
    return "".join(out)


def opening(template: str, count: int) -> str:
    """Return the expression of the template's first ``count`` characters, as they stand in JSON."""
    out = []
    for piece in pieces(template):
        if count <= 0:
            break
        if piece.literal:
            out.append(_escape(piece.literal[:count]).replace("/", r"\\{0,4}/"))
            count -= len(piece.literal)
            continue
        taken = min(count, piece.least)
        out.append(f"[{piece.characters}]{{{taken}}}")
        if piece.most != piece.least:
            break  # what follows has no fixed place
        count -= taken
    return "".join(out)


def sample(template: str, seed: str) -> str:
    """Return invented text of the template's shape, the same for the same seed.

    A longer run holds a digit if it may: few random ones have none, and rules take those for words.
    """
    stream = _numbers(seed)
    out = []
    for piece in pieces(template):
        letters = _spell(piece.characters)
        run = [letters[next(stream) % len(letters)] for _ in range(piece.least)]
        if "0-9" in piece.characters and len(run) >= 8 and not any(map(str.isdigit, run)):
            run[len(run) // 2] = str(next(stream) % 10)
        out.append(piece.literal or "".join(run))
    return "".join(out)


def _escape(literal: str) -> str:
    return re.sub(r"([^A-Za-z0-9_ :/@=~\"'<>!,;%&-])", r"\\\1", literal)


def _spell(characters: str) -> str:
    """Return every character of a class, written out."""
    out = re.sub(
        r"(\w)-(\w)", lambda m: "".join(map(chr, range(ord(m[1]), ord(m[2]) + 1))), characters
    )
    return out


def _numbers(seed: str) -> Iterator[int]:
    """Yield numbers that look random and depend on nothing but the seed."""
    round_number = 0
    while True:
        digest = hashlib.sha256(f"{seed}/{round_number}".encode()).digest()
        for at in range(0, 32, 2):
            yield digest[at] << 8 | digest[at + 1]
        round_number += 1
