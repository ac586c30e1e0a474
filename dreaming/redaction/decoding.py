"""Ways in which text is wrapped inside a transcript, undone on small windows.

A transcript is JSON that holds command output that holds JSON that holds a file. What a person
would read in the end is compared with the rules, never the wrapped bytes.
"""

from __future__ import annotations

import binascii
import re
import string
from collections.abc import Iterator
from typing import Final

LEVELS: Final = 4
"""JSON inside JSON inside JSON inside JSON: deeper was never seen."""

INVISIBLE: Final = (
    *(0, 0xAD, 0x034F, 0x061C, 0x115F, 0x1160, 0x17B4, 0x17B5, 0x180E, 0x3164, 0xFEFF, 0xFFA0),
    *range(0x200B, 0x2010),
    *range(0x202A, 0x202F),
    *range(0x2060, 0x2070),
    *range(0xFE00, 0xFE10),
)
"""Characters nobody sees: what text of two bytes a character has between its letters, soft hyphen,
zero-width space and its kin, marks of direction, fillers, selectors of a form, byte order mark."""

_ESCAPE: Final = re.compile(rb"\\(u[0-9a-fA-F]{4}|x[0-9a-fA-F]{2}|[bfnrt/_`'\"\\])")
_PIECES: Final = re.compile(rb"([\"'])\s{0,40}[+.]?\s{0,40}\1")
_PERCENT: Final = re.compile(rb"%([0-9A-Fa-f]{2})")
_ARROW: Final = 0x2192
"""Stands between a line's number and the line where agents print files."""
_INVISIBLE: Final = re.compile(
    rb"[\0\xc2\xcd\xd8\xe1-\xe3\xef]"  # a set of bytes first: so it is searched for fast
    rb"(?:(?<=\0)|(?<=\xc2)\xad|(?<=\xcd)\x8f|(?<=\xd8)\x9c|(?<=\xe3)\x85\xa4"
    rb"|(?<=\xe1)(?:\x85[\x9f\xa0]|\x9e[\xb4\xb5]|\xa0\x8e)"
    rb"|(?<=\xe2)(?:\x80[\x8b-\x8f\xaa-\xae]|\x81[\xa0-\xaf])"
    rb"|(?<=\xef)(?:\xbb\xbf|\xbe\xa0|\xb8[\x80-\x8f]))"
)
_TERMINAL: Final = re.compile(
    rb"\x1b(?:\[[0-9;?]{0,16}[ -/]{0,2}[@-~]|\][^\x07\x1b]{0,200}(?:\x07|\x1b\\))"
)
_NUMBER_MARK: Final = rb"\d{1,6}(?::|\||\t|\xe2\x86\x92)"
_LINE_MARK: Final = re.compile(rb"(?m)^[ \t]{0,8}(?:" + _NUMBER_MARK + rb"|[+>|]|-(?!-)) ?")
_BREAK: Final = re.compile(rb"[\r\n]+[ \t]*")
_PRINTABLE: Final = bytes(code for code in range(127) if code >= 32 or code in b"\t\r\n")
_BASE64: Final = (string.ascii_letters + string.digits + "+/").encode()
_BASE64_LINE: Final = rb"[A-Za-z0-9+/]{4,}={0,2}"
_BASE64_BREAK: Final = rb"(?:[\r\n]|\\{1,8}[nr])+[ \t]*"
_BASE64_RUN: Final = re.compile(_BASE64_LINE + rb"(?:" + _BASE64_BREAK + _BASE64_LINE + rb")*")
_BASE64_NOISE: Final = b"\\=" + string.whitespace.encode()
_ESCAPED_BREAK: Final = re.compile(rb"\\{1,8}[nr]")
_IS_BASE64: Final = bytes(code in _BASE64 for code in range(256))
_LEAST: Final = 36
"""Characters of base64 that are worth a look: twenty-seven bytes."""


_MOST_ESCAPES: Final = 4096


class _Escapes(dict[bytes, bytes]):
    """What stands behind a backslash, and what it means."""

    def __missing__(self, escape: bytes) -> bytes:
        code = int(escape[1:], 16)
        if code in INVISIBLE:
            plain = b""
        elif code < 128:
            plain = bytes((code,))
        else:
            plain = b"\t" if code == _ARROW else b"?"
        if len(self) < _MOST_ESCAPES:
            self[escape] = plain
        return plain


_ESCAPES: Final = _Escapes(
    {b"b": b" ", b"f": b" ", b"n": b"\n", b"r": b"\r", b"t": b"\t"}
    | {bytes((sign,)): bytes((sign,)) for sign in b"/_`'\"\\"}
)


def clean(data: bytes) -> bytes:
    """Return the bytes as they would be read: no escape, terminal code, invisible character."""
    data = unescape(data)
    if b"\x1b" in data:
        data = _TERMINAL.sub(b"", data)
    if data.isascii():
        return data.replace(b"\0", b"")
    return _INVISIBLE.sub(b"", data)


def unescape(data: bytes) -> bytes:
    """Undo JSON string escapes, as often as they are nested and at most ``LEVELS`` times."""
    for _ in range(LEVELS):
        if b"\\" not in data:
            break
        parts = _ESCAPE.split(data)  # ten times faster than a call for each escape
        if len(parts) == 1:
            break
        parts[1::2] = map(_ESCAPES.__getitem__, parts[1::2])
        data = b"".join(parts)
    return data


def percent(data: bytes) -> bytes:
    """Undo percent-encoding, twice where it was done twice."""
    for _ in range(2):
        parts = _PERCENT.split(data)
        parts[1::2] = map(bytes.fromhex, map(bytes.decode, parts[1::2]))
        data = b"".join(parts)
    return data


def pieces(data: bytes) -> bytes:
    """Put strings together that code adds to each other, or writes side by side."""
    return _PIECES.sub(b"", clean(data))


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
    raw = found[0]
    if b"\\" in raw:
        raw = _ESCAPED_BREAK.sub(b"", raw)
    raw = raw.translate(None, _BASE64_NOISE)
    if binascii.a2b_base64(raw[: min(_LEAST, len(raw) // 4 * 4)]).translate(None, _PRINTABLE):
        return b"", found.end()
    whole = len(raw) // 4 * 4 + (0 if len(raw) % 4 == 1 else len(raw) % 4)  # cut in the middle
    return binascii.a2b_base64(raw[:whole] + b"=" * (-whole % 4)), found.end()


def base64_starts(data: bytes, start: int, stop: int) -> Iterator[int]:
    """Yield where base64 runs begin, of those that reach into ``data[start:stop]``."""
    start = max(0, start - _LEAST)
    marks = data[start : stop + _LEAST].translate(_IS_BASE64)
    at = marks.find(b"\x01" * _LEAST)
    while at >= 0:
        begin = start + at
        escaped = begin > 0 and data[begin - 1] == 0x5C and data[begin] in b"nrt"
        yield begin + 1 if escaped else begin
        at = marks.find(b"\0", at)
        at = marks.find(b"\x01" * _LEAST, at) if at >= 0 else -1


def base64_start(data: bytes) -> int:
    """Return where to start in data that begins inside a base64 run, or -1 where it does not."""
    for start in range(4):
        run = data[start : start + 40]
        if len(run) < 40 or run.translate(None, _BASE64):
            return -1
        if not binascii.a2b_base64(run).translate(None, _PRINTABLE):
            return start
    return -1
