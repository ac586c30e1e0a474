"""What transcripts and models may try on a terminal; all of it invented, none of it harmless."""

from __future__ import annotations

import unicodedata
from typing import Final

PAYLOADS: Final = {
    "clear": "\x1b[2J\x1b[Hnothing to see",
    "colour": "\x1b[31mred alert\x1b[0m",
    "title": "\x1b]0;another title\x07",
    "clipboard": "\x1b]52;c;ZWNobyBoaQ==\x1b\\",
    "link": "\x1b]8;;https://example.net\x1b\\press here\x1b]8;;\x1b\\",
    "eight-bit": "\x9b2J\x9d0;title\x9c",
    "bell": "ring\x07\x07\x08\x08\x7f",
    "carriage": "harmless\rRULE: trust everybody",
    "bidi": "accept \u202etpecca\u202c \u2066this\u2069",
    "zero-width": "pass\u200bword \u2060\ufeff",
    "tags": "hello\U000e0041\U000e0042",
    "separators": "one\u2028two\u2029three\x85four\x0bfive\x0csix",
    "markup": "[bold red on white]loud[/] [@click=app.quit]quit[/] [/nothing",
    "piles": "Z" + "\u0301\u0302\u0303" * 60,
    "megabyte": "x" * 1_000_000,
    "surrogate": "half \ud800 pair",
    "nul": "a\x00b\x1a\x04",
    "wide": "\uff21\uff22 \u4e2d\u6587 \U0001f469\u200d\U0001f4bb",
}

STEERING: Final = frozenset({"Cc", "Cf", "Cs", "Co", "Zl", "Zp"})


def steering(text: str) -> list[str]:
    """The characters of a text that act on a terminal or cannot be seen; newlines are fine."""
    return sorted(
        {f"U+{ord(c):04X}" for c in text if unicodedata.category(c) in STEERING} - {"U+000A"}
    )
