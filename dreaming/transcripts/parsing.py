"""What every parser of line-by-line transcripts shares: lines across blocks, losses, and turns."""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Callable
from typing import Any, ClassVar, Final, Generic, TypeVar

import msgspec

from dreaming.models.session import (
    OWN_RUN_MARK,
    Session,
    Turn,
    TurnKind,
)
from dreaming.transcripts.interface import Block, Parser
from dreaming.transcripts.loose import loosely
from dreaming.transcripts.reading import MAX_LINE, records

SNIFFED: Final = 50
"""Records that decide whether a file is of the agent whose folder it lies in."""

JOINED: Final = 1 << 20
JOINED_LINES: Final = 8
"""Bytes and lines up to which a damaged line is tried again together with the next."""

R = TypeVar("R", bound=msgspec.Struct)


class LineParser(Parser, Generic[R]):
    """Reads one typed record a line; a subclass says what a record means.

    Blocks may be cut anywhere: a line that is not finished waits for the next block.
    """

    agent: ClassVar[str]
    record_type: ClassVar[type[msgspec.Struct]]

    def __init__(self) -> None:
        self.turns: list[Turn] = []
        self.unknown: dict[str, int] = {}
        self.unreadable = 0
        self.own_run = False
        self._asked = False
        self._unfinished = b""
        self._next_line = 1
        self._oversized_line = 0
        self._sniffed = self._foreign = 0
        self._broken: tuple[bytes, int, int] | None = None
        self._decode: Callable[[bytes], Any] = msgspec.json.Decoder(self.record_type).decode

    def feed(self, block: Block) -> None:
        """Take the next block. Never raises for what the file holds."""
        if block.oversized:
            if self._oversized_line != block.first_line:
                self._oversized_line = block.first_line
                self.unreadable += 1
            self._next_line = block.first_line + block.data.count(b"\n")
            return
        number = self._next_line if self._unfinished else block.first_line
        parts = (self._unfinished + block.data).split(b"\n")
        self._unfinished = parts.pop()
        for line in parts:
            if line:
                self._read_line(line, number)
            number += 1
        self._next_line = number
        if len(self._unfinished) > MAX_LINE:
            self._unfinished = b""
            self.unreadable += 1

    def finish(self) -> Session:
        """Return what was read. A last line that is not finished counts where it is complete."""
        if self._unfinished:
            found = records(self._unfinished)
            if found.values and not found.lost:
                self._read_line(self._unfinished, self._next_line)
                self._next_line += 1
        foreign = self._foreign * 2 > self._sniffed
        session = self.session()
        session.turns = [] if foreign else session.turns
        session.own_run = self.own_run
        session.unknown_records = self.unknown
        session.unreadable_lines = self.unreadable
        session.lines = self._next_line - 1
        return session

    @abstractmethod
    def take(self, record: R, line: int) -> None:
        """Take one record."""

    @abstractmethod
    def session(self) -> Session:
        """Return the session that the records told of; the rest is filled in by ``finish``."""

    @abstractmethod
    def is_foreign(self, record: R) -> bool:
        """Tell a record that another agent writes."""

    def is_doubtful(self, record: R) -> bool:
        """Tell a record that fits its type only because what matters has another form."""
        return False

    def rescue(self, value: Any) -> R:
        """Return a record made of a JSON value that does not fit the type."""
        return loosely(value, self.record_type)  # type: ignore[return-value]

    def unknown_record(self, name: str) -> None:
        """Count a record of a type nobody taught us."""
        name = name[:60] or "(none)"
        if name in self.unknown or len(self.unknown) < 200:
            self.unknown[name] = self.unknown.get(name, 0) + 1

    def asked(self, text: str) -> None:
        """Note the first words that drive the session: they tell our own runs."""
        if not self._asked and text.strip():
            self._asked = True
            # A program without a place for instructions gets them before the prompt.
            self.own_run = any(one.startswith(OWN_RUN_MARK) for one in text.splitlines())

    def interrupted(self, turn: Turn) -> None:
        """Add an interruption, once however often the transcript repeats it."""
        for earlier in reversed(self.turns[-4:]):
            if earlier.kind is TurnKind.INTERRUPTION:
                return
            if earlier.kind is not TurnKind.RESULT:
                break
        self.turns.append(turn)

    def _read_line(self, line: bytes, number: int) -> None:
        try:
            record = self._decode(line)
        except (msgspec.MsgspecError, ValueError, RecursionError):
            self._read_damaged(line, number)
            return
        if self.is_doubtful(record):
            self._read_damaged(line, number)
            return
        self._broken = None
        self._sniff(record)
        self.take(record, number)

    def _read_damaged(self, line: bytes, number: int) -> None:
        """Read a line that is no clean record, with the damaged one before it where that helps."""
        counted = 0
        if self._broken and not line.startswith(b"{"):
            before, number, counted = self._broken
            line = before + b"\n" + line
        self._broken = None
        found = records(line)
        self.unreadable += 1 if found.lost else -counted
        joinable = len(line) < JOINED and counted < JOINED_LINES and line.startswith(b"{")
        if found.lost and not found.values and joinable:
            self._broken = line, number, counted + 1
        for value in found.values:
            if isinstance(value, dict):
                record = self.rescue(value)
                self._sniff(record)
                self.take(record, number)
            else:
                self.unknown_record("(not an object)")

    def _sniff(self, record: Any) -> None:
        if self._sniffed < SNIFFED:
            self._sniffed += 1
            self._foreign += self.is_foreign(record)
