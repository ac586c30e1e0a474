"""Bytes to blocks to lines to records: how a transcript is read whatever it looks like inside.

A block ends at a line end, so that what is settled is always a number of whole lines. A line is
what stands between two ``\\n``: other line separators occur inside JSON strings. A line that is
not one clean JSON value is searched for the records in it, and what is lost is said.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterator
from pathlib import Path
from typing import Any, BinaryIO, Final, NamedTuple

from dreaming.transcripts.interface import Block

BLOCK: Final = 4 << 20
"""Bytes read at a time."""
MAX_LINE: Final = 32 << 20
"""A longer line is handed on in pieces and never parsed."""

_MOST_ATTEMPTS: Final = 64
_MOST_CHARACTERS_RETRIED: Final = 64 << 20
_RECORD_START: Final = re.compile(r'\{\s*"[A-Za-z_]\w*"\s*:')
_TOP_LEVEL: Final = frozenset(
    (
        "format",
        "kind",
        "leafUuid",
        "messageId",
        "parentUuid",
        "payload",
        "record_type",
        "sessionId",
        "timestamp",
        "uuid",
    )
)
"""A record found in the middle of a damaged line has one of these; a part of one has not."""
_SURROGATE: Final = re.compile("[\ud800-\udfff]")


class Blocks(Iterator[Block]):
    """The blocks of a file, and afterwards how far they reached."""

    def __init__(self, path: Path, split_at: int, limit: int | None) -> None:
        self.settled = 0
        """Bytes handed out so far."""
        self.left = 0
        """Bytes after the last line end, still being written; known when the blocks are used up."""
        self._blocks = self._read(path, split_at, limit)

    def __iter__(self) -> Blocks:
        return self

    def __next__(self) -> Block:
        return next(self._blocks)

    def _read(self, path: Path, split_at: int, limit: int | None) -> Iterator[Block]:
        line = 1
        with path.open("rb") as file:
            size = file.seek(0, 2)
            end = size if limit is None else min(size, limit)
            long_line_end = 0
            while self.settled < end:
                stop = split_at if self.settled < split_at < end else end
                oversized = self.settled < long_line_end
                if oversized:
                    data = _read_at(file, self.settled, min(BLOCK, long_line_end - self.settled))
                else:
                    data, long_line_end = _whole_lines(file, self.settled, stop, cut=stop < end)
                if data:
                    yield Block(data, line, oversized)
                    self.settled += len(data)
                    line += data.count(b"\n")
                elif oversized or self.settled >= long_line_end:
                    break  # no whole line is left, or the file shrank while it was read
            self.left = end - self.settled


def blocks(path: Path, *, split_at: int = 0, limit: int | None = None) -> Blocks:
    """Stream a file in blocks of about 4 MB that end at line ends.

    There is an extra cut at byte ``split_at``. Nothing after byte ``limit`` and nothing after the
    last line end is read. Raises ``OSError`` on the way when the file cannot be read.
    """
    return Blocks(path, split_at, limit)


def _read_at(file: BinaryIO, start: int, size: int) -> bytes:
    file.seek(start)
    return file.read(size)


def _whole_lines(file: BinaryIO, start: int, stop: int, *, cut: bool) -> tuple[bytes, int]:
    """Return the next lines before ``stop``, or no bytes and where an oversized line ends.

    ``cut`` says that ``stop`` counts as a line end.
    """
    data = _read_at(file, start, min(BLOCK, stop - start))
    reached = start + len(data)
    if cut and reached == stop:
        return data, 0
    length = data.rfind(b"\n") + 1
    if length:
        return data[:length], 0
    line_end = _line_end(file, reached, stop, cut=cut)
    if line_end - start <= MAX_LINE:
        return (_read_at(file, start, line_end - start), 0) if line_end else (b"", 0)
    return b"", line_end


def _line_end(file: BinaryIO, start: int, stop: int, *, cut: bool) -> int:
    """Return the offset after the next line end from ``start``, 0 when there is none."""
    position = start
    file.seek(start)
    while position < stop and (data := file.read(min(BLOCK, stop - position))):
        found = data.find(b"\n")
        if found >= 0:
            return position + found + 1
        position += len(data)
    return stop if cut and position == stop else 0


def lines(block: Block) -> Iterator[tuple[int, bytes]]:
    """Yield each line of a block with its number, without its line end."""
    if not block.oversized:
        parts = block.data.split(b"\n")
        if not parts[-1]:
            parts.pop()
        yield from enumerate(parts, block.first_line)


class Records(NamedTuple):
    """What was found in one line."""

    values: list[Any]
    lost: bool
    """Something in the line could not be read."""


def records(line: bytes) -> Records:
    """Return the JSON values of a line, recovering what can be recovered. Never raises.

    Byte order marks, NULs, carriage returns, control characters inside strings, invalid UTF-8,
    lone surrogates and NaN do no harm; several values on one line are all returned; a cut value
    glued before a whole record is lost and the record is found.
    """
    if b"\0" in line:
        line = line.replace(b"\0", b"")
    text = line.decode("utf-8", "replace").strip(" \t\r\n\f\v\ufeff")
    if not text:
        return Records([], False)
    found = Records(*_decode_all(text))
    if "\\u" in text:
        return Records([_without_surrogates(value) for value in found.values], found.lost)
    return found


_decoder = json.JSONDecoder(strict=False)


def _decode_all(text: str) -> tuple[list[Any], bool]:
    values: list[Any] = []
    lost, position, attempts, retried = False, 0, 0, 0
    while position < len(text):
        start = position
        try:
            value, position = _decoder.raw_decode(text, start)
        except (ValueError, RecursionError):
            attempts, retried, lost = attempts + 1, retried + len(text) - start, True
            nearest = _RECORD_START.search(text, start + 1)
            given_up = attempts >= _MOST_ATTEMPTS or retried > _MOST_CHARACTERS_RETRIED
            if nearest is None or given_up:
                break
            position = nearest.start()
            continue
        position = _skip_space(text, position)
        if not lost or _is_record(value, text, position):
            values.append(value)
    return values, lost


def _skip_space(text: str, position: int) -> int:
    while position < len(text) and text[position] in " \t\r\n,":
        position += 1
    return position


def _is_record(value: Any, text: str, end: int) -> bool:
    """Tell a record found behind damage from a piece of the damaged one."""
    return (
        isinstance(value, dict)
        and not _TOP_LEVEL.isdisjoint(value)
        and (end == len(text) or text[end] == "{")
    )


def _without_surrogates(value: Any) -> Any:
    """Return the value with lone surrogates replaced, so that it can always be encoded."""
    if isinstance(value, str):
        return _SURROGATE.sub("\ufffd", value) if _SURROGATE.search(value) else value
    if not isinstance(value, (dict, list)):
        return value
    root: list[Any] = [value]
    waiting: list[dict[str, Any] | list[Any]] = [root]
    while waiting:
        holder = waiting.pop()
        pairs = list(holder.items()) if isinstance(holder, dict) else list(enumerate(holder))
        for key, item in pairs:
            if isinstance(item, str):
                holder[key] = _SURROGATE.sub("\ufffd", item)  # type: ignore[index]
            elif isinstance(item, (dict, list)):
                waiting.append(item)
        if isinstance(holder, dict):
            for key in [name for name in holder if _SURROGATE.search(name)]:
                holder[_SURROGATE.sub("\ufffd", key)] = holder.pop(key)
    return root[0]
