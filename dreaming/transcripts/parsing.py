"""What every parser of line-by-line transcripts shares: lines across blocks, losses, and turns."""

from __future__ import annotations

from abc import abstractmethod
from datetime import UTC, datetime
from typing import Any, ClassVar, Final, Generic, TypeVar

import msgspec

from dreaming.models.session import (
    OWN_RUN_MARK,
    Session,
    SessionKind,
    Speaker,
    Turn,
    TurnKind,
)
from dreaming.transcripts.interface import Block, Parser
from dreaming.transcripts.loose import loosely
from dreaming.transcripts.reading import MAX_LINE, records

USER_TEXT: Final = 20_000
"""Characters kept of what a person said."""
MODEL_TEXT: Final = 8_000
"""Characters kept of what the model said, and of a summary."""
TOOL_TEXT: Final = 12_000
"""Characters kept of what a tool returned."""
ACTION_TEXT: Final = 2_000
"""Characters kept of what somebody would retype."""
EDIT_TEXT: Final = 4_000
"""Characters kept of each side of an edit."""
SNIFFED: Final = 50
"""Records that decide whether a file is of the agent whose folder it lies in."""

R = TypeVar("R", bound=msgspec.Struct)


def cut(text: str, most: int) -> str:
    """Return a text of at most about ``most`` characters: head and tail where it is longer."""
    if len(text) <= most:
        return text
    half = most // 2
    return f"{text[:half]}\n…\n{text[-half:]}"


def instant(recorded: str | int | float | None) -> float:
    """Return seconds since 1970 UTC of an ISO time, seconds or milliseconds; 0.0 where unknown."""
    if isinstance(recorded, str):
        try:
            moment = datetime.fromisoformat(recorded)
            return (moment if moment.tzinfo else moment.replace(tzinfo=UTC)).timestamp()
        except (ValueError, OverflowError):
            return instant(_number(recorded))
    if recorded is None or isinstance(recorded, bool) or not 0 < recorded < 1e14:
        return 0.0
    return recorded / 1000 if recorded >= 1e11 else float(recorded)


def _number(text: str) -> float | None:
    try:
        return float(text)
    except ValueError:
        return None


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
        self._decode = msgspec.json.Decoder(self.record_type).decode

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
        session.agent = self.agent
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
            self.own_run = text.lstrip().startswith(OWN_RUN_MARK)

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
        self._sniff(record)
        self.take(record, number)

    def _read_damaged(self, line: bytes, number: int) -> None:
        found = records(line)
        self.unreadable += found.lost
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


def spoken(kind: SessionKind, human: bool) -> Speaker:
    """Return whose words a text in the user's role is, in a session of this kind."""
    return Speaker.HUMAN if human and kind is SessionKind.INTERACTIVE else Speaker.HARNESS
