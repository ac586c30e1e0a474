"""A neutral format, so that any tool can hand over sessions: ``docs/formats/jsonl.md``.

The first line says what the session is; every other line is one turn, already normalised. What
a turn claims about its speaker is believed: whoever writes this format answers for it. Without a
claim nobody is taken for a person.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from enum import StrEnum
from pathlib import Path
from typing import ClassVar, Final, TypeVar

import msgspec

from dreaming.models.session import (
    Denier,
    ResultStatus,
    Session,
    SessionKind,
    Speaker,
    Tool,
    Turn,
    TurnKind,
)
from dreaming.transcripts.interface import NotASession, Parser, Source, Transcript
from dreaming.transcripts.listing import walk
from dreaming.transcripts.normal import (
    ACTION_TEXT,
    EDIT_TEXT,
    MODEL_TEXT,
    TOOL_TEXT,
    USER_TEXT,
    cut,
    instant,
)
from dreaming.transcripts.parsing import LineParser
from dreaming.transcripts.tools import tool_named

FORMAT: Final = "dreaming-session"
VERSION: Final = 1

_NAME: Final = re.compile(r"[A-Za-z0-9][A-Za-z0-9._-]{0,63}")
"""An agent's name is shown in candidates: nothing that names a person or a place fits."""
_UNSAID: Final = {
    TurnKind.USER: Speaker.HARNESS,
    TurnKind.ASSISTANT: Speaker.MODEL,
    TurnKind.CALL: Speaker.MODEL,
    TurnKind.RESULT: Speaker.TOOL,
    TurnKind.INTERRUPTION: Speaker.HARNESS,
    TurnKind.SUMMARY: Speaker.MODEL,
}
_MOST: Final = {TurnKind.USER: USER_TEXT, TurnKind.RESULT: TOOL_TEXT}

E = TypeVar("E", bound=StrEnum)


class Record(msgspec.Struct, gc=False):
    """One line: the head, or a turn."""

    format: str | None = None
    version: int | None = None
    agent: str | None = None
    session: str | None = None
    parent: str | None = None
    repository: str | None = None
    agent_version: str | None = None
    kind: str | None = None
    speaker: str | None = None
    text: str | None = None
    at: str | int | float | None = None
    record: str | None = None
    folder: str | None = None
    tool: str | None = None
    tool_name: str | None = None
    call: str | None = None
    action: str | None = None
    before: str | None = None
    after: str | None = None
    status: str | None = None
    denier: str | None = None


class Jsonl(Source):
    """Sessions that another tool wrote in the neutral format."""

    agent: ClassVar[str] = "jsonl"

    def default_folders(self, environment: Mapping[str, str], home: Path) -> list[Path]:
        """Return none: a folder is always named."""
        return []

    def list(self, folder: Path) -> Iterator[Transcript | NotASession]:
        """Yield every regular file below ``folder``, in a stable order, each as what it is."""
        return walk(self.agent, folder, _why_not)

    def parser(self, transcript: Transcript) -> Parser:
        """Return a fresh parser for this transcript."""
        return JsonlParser(transcript.path)


def _why_not(name: str, within: str) -> str:
    return "" if name.endswith(".jsonl") else "not a transcript"


class JsonlParser(LineParser[Record]):
    """Reads one session."""

    agent = "jsonl"
    record_type = Record

    def __init__(self, path: Path) -> None:
        super().__init__()
        self._stem = path.stem
        self._head: Record | None = None

    def is_foreign(self, record: Record) -> bool:
        """Tell a line of another format: it is no head and no turn."""
        return record.format is None and _value(TurnKind, record.kind) is None

    def take(self, record: Record, line: int) -> None:
        """Take the head or a turn; turns before a head belong to nobody."""
        if record.format is not None:
            if record.format != FORMAT or record.version != VERSION or self._head is not None:
                self.unknown_record(f"{record.format} {record.version or ''}".strip())
            else:
                self._head = record
            return
        kind = _value(TurnKind, record.kind)
        if kind is None or self._head is None:
            self.unknown_record(record.kind or "" if self._head else "(before the head)")
            return
        if kind is TurnKind.USER:
            self.asked(record.text or "")
        self.turns.append(_turn(kind, record, line))

    def session(self) -> Session:
        """Return the session."""
        head = self._head or Record()
        native = head.session or self._stem
        return Session(
            agent=head.agent if head.agent and _NAME.fullmatch(head.agent) else self.agent,
            native_id=native,
            kin=(native, head.parent) if head.parent else (native,),
            kind=_value(SessionKind, head.kind) or SessionKind.INTERACTIVE,
            version=head.agent_version or "",
            repository=head.repository or "",
            turns=self.turns,
        )


def _turn(kind: TurnKind, record: Record, line: int) -> Turn:
    name = record.tool_name or record.tool or ""
    status = _value(ResultStatus, record.status)
    if kind is TurnKind.RESULT and status is None:
        status = ResultStatus.OK
    return Turn(
        kind=kind,
        speaker=_value(Speaker, record.speaker) or _UNSAID[kind],
        line=line,
        text=cut(record.text or "", _MOST.get(kind, MODEL_TEXT)),
        record=record.record or "",
        at=instant(record.at),
        folder=record.folder or "",
        call_id=record.call or "",
        tool=_value(Tool, record.tool) or tool_named(name),
        tool_name=name,
        action=cut(record.action or "", ACTION_TEXT),
        before=cut(record.before or "", EDIT_TEXT),
        after=cut(record.after or "", EDIT_TEXT),
        status=status,
        denier=_value(Denier, record.denier),
    )


def _value(kind: type[E], name: str | None) -> E | None:
    try:
        return kind(name) if name else None
    except ValueError:
        return None
