"""Ways in which text is wrapped inside a transcript, undone on small windows.

A transcript is JSON that holds command output that holds JSON that holds a file. What a person
would read in the end is compared with the rules, never the wrapped bytes.
"""

from __future__ import annotations

import binascii
import re
from typing import Final
from urllib.parse import unquote_to_bytes

LEVELS: Final = 4
"""JSON inside JSON inside JSON inside JSON: deeper was never seen."""

INVISIBLE: Final = (0xAD, 0x200B, 0x200C, 0x200D, 0x200E, 0x200F, 0x2060, 0xFEFF)
"""Characters nobody sees: soft hyphen, zero-width space and its kin, byte order mark."""

_ESCAPE: Final = re.compile(rb"\\(u[0-9a-fA-F]{4}|x[0-9a-fA-F]{2}|[bfnrt/`'\"\\])")
_CONTROLS: Final = dict(zip(b"bfnrt", (b" ", b" ", b"\n", b"\r", b"\t"), strict=True))
_INVISIBLE: Final = re.compile(b"|".join(chr(code).encode() for code in INVISIBLE))
_TERMINAL: Final = re.compile(
    rb"\x1b(?:\[[0-9;?]{0,16}[ -/]{0,2}[@-~]|\][^\x07\x1b]{0,200}(?:\x07|\x1b\\))"
)
_NUMBER_MARK: Final = rb"\d{1,6}(?::|\||\t|\xe2\x86\x92)"
_LINE_MARK: Final = re.compile(rb"(?m)^[ \t]{0,8}(?:" + _NUMBER_MARK + rb"|[+>|]|-(?!-)) ?")
_BREAK: Final = re.compile(rb"[\r\n]+[ \t]*")
_PRINTABLE: Final = bytes(code for code in range(127) if code >= 32 or code in b"\t\r\n")
_BASE64_LINE: Final = rb"[A-Za-z0-9+/]{4,}={0,2}"
_BASE64_BREAK: Final = rb"(?:[\r\n]|\\{1,8}[nr])+[ \t]*"
_BASE64_RUN: Final = re.compile(_BASE64_LINE + rb"(?:" + _BASE64_BREAK + _BASE64_LINE + rb")*")
_BASE64_NOISE: Final = re.compile(rb"\\{1,8}[nr]|[\s=]")


def clean(data: bytes) -> bytes:
    """Return the bytes as they would be read: no escape, terminal code, invisible character."""
    data = unescape(data)
    if b"\x1b" in data:
        data = _TERMINAL.sub(b"", data)
    if not data.isascii():
        data = _INVISIBLE.sub(b"", data)
    return data


def unescape(data: bytes) -> bytes:
    """Undo JSON string escapes, as often as they are nested and at most ``LEVELS`` times."""
    for _ in range(LEVELS):
        if b"\\" not in data:
            break
        plain = _ESCAPE.sub(_unescape_one, data)
        if plain == data:
            break
        data = plain
    return data


def _unescape_one(found: re.Match[bytes]) -> bytes:
    kind, digits = found[1][0], found[1][1:]
    if not digits:
        return _CONTROLS.get(kind, found[1])
    code = int(digits, 16)
    if code < 128:
        return bytes((code,))
    if code in INVISIBLE:
        return b""
    return b"\t" if code == _ARROW else b"?"


_ARROW: Final = 0x2192
"""Stands between a line's number and the line where agents print files."""


def percent(data: bytes) -> bytes:
    """Undo percent-encoding, twice where it was done twice."""
    data = unquote_to_bytes(data)
    return unquote_to_bytes(data) if b"%" in data else data


def unwrap(data: bytes) -> bytes:
    """Join lines that a terminal, a gutter, a diff or a quotation broke."""
    return _BREAK.sub(b"", _LINE_MARK.sub(b"", data))


def base64_text(data: bytes, start: int) -> tuple[bytes, int]:
    """Return the text of the base64 run at ``start`` (empty: it holds none) and where it ends.

    A run may be broken over lines, by real or by escaped line ends.
    """
    found = _BASE64_RUN.match(data, start)
    if not found:
        return b"", start
    raw = _BASE64_NOISE.sub(b"", found[0])
    if len(raw) % 4 == 1:
        raw = raw[:-1]  # cut in the middle
    try:
        text = binascii.a2b_base64(raw + b"=" * (-len(raw) % 4))
    except ValueError:  # not base64 after all
        return b"", found.end()
    return (b"" if text[:27].translate(None, _PRINTABLE) else text), found.end()


def base64_start(data: bytes) -> int:
    """Return where to start in data that begins inside a base64 run, or -1 where it does not."""
    for start in range(4):
        run = data[start : start + 40]
        if len(run) < 40 or not re.fullmatch(rb"[A-Za-z0-9+/]{40}", run):
            return -1
        if not binascii.a2b_base64(run).translate(None, _PRINTABLE):
            return start
    return -1
