"""A session as every agent's transcript is understood: a sequence of turns.

Sources (``dreaming/transcripts``) make these from what agents wrote; everything above them
reads nothing else. They are msgspec structs because a night makes hundreds of thousands.
"""

from __future__ import annotations

from enum import StrEnum
from typing import Final

import msgspec

OWN_RUN_MARK: Final = "[dreaming: mining task]"
"""Stands at the start of every prompt of ours, so that sources leave our own model runs out."""


class Speaker(StrEnum):
    """Whose words a text is."""

    HUMAN = "human"
    """Typed by a person, proven by the record; never assumed."""
    MODEL = "model"
    """Said or done by the agent's model."""
    TOOL = "tool"
    """Returned by a tool: file contents, command output, web pages."""
    HARNESS = "harness"
    """Injected by the agent's own program: reminders, hooks, skills, plans, scripted prompts."""


class TurnKind(StrEnum):
    """What a turn is."""

    USER = "user"
    ASSISTANT = "assistant"
    CALL = "call"
    RESULT = "result"
    INTERRUPTION = "interruption"
    SUMMARY = "summary"


class ResultStatus(StrEnum):
    """How a tool call ended."""

    OK = "ok"
    ERROR = "error"
    DENIED = "denied"


class Denier(StrEnum):
    """Who denied a tool call."""

    HUMAN = "human"
    RULE = "rule"
    """A permission rule, a sandbox, a hook, an automatic classifier."""


class Tool(StrEnum):
    """What a tool does, whatever an agent calls it."""

    SHELL = "shell"
    EDIT = "edit"
    WRITE = "write"
    READ = "read"
    SEARCH = "search"
    WEB = "web"
    AGENT = "agent"
    OTHER = "other"


class SessionKind(StrEnum):
    """How a session was driven."""

    INTERACTIVE = "interactive"
    HEADLESS = "headless"
    """Started by a script or a scheduler: counts as a session, its prompts are nobody's words."""
    SUBAGENT = "subagent"
    """Started by another session's model; belongs to that session's root."""


class Turn(msgspec.Struct, frozen=True, gc=False):
    """One normalised step of a session."""

    kind: TurnKind
    speaker: Speaker
    line: int
    """1-based line of the transcript it stands on."""
    text: str = ""
    """What was said or returned. Long tool output is cut in the middle; see the sources."""
    record: str = ""
    """The record's own identity (uuid, message id, call id), the same in a resumed or forked copy.
    Empty where the agent gives none."""
    at: float = 0.0
    """Seconds since 1970 UTC as recorded; 0.0 where unknown. A hint: order is file order."""
    folder: str = ""
    """The working folder recorded for this turn; decides the project. Never leaves the machine."""
    call_id: str = ""
    """Ties a call and its result."""
    tool: Tool = Tool.OTHER
    """Of calls and results."""
    tool_name: str = ""
    """The tool as the agent names it."""
    action: str = ""
    """Of a call: the command line, the file path, the query. What somebody would retype."""
    before: str = ""
    """Of an edit: the text replaced."""
    after: str = ""
    """Of an edit or a write: the text put there."""
    status: ResultStatus | None = None
    """Of a result."""
    denier: Denier | None = None
    """Of a denied result."""


class Session(msgspec.Struct):
    """What one transcript says of one conversation."""

    agent: str
    native_id: str
    """The conversation's id as the agent wrote it. A subagent's transcript carries its parent's."""
    kin: tuple[str, ...] = ()
    """Identities this conversation shares with its relatives: the first record's id (a fork repeats
    it), its own and its parent thread's id. Sessions with one in common have one root."""
    kind: SessionKind = SessionKind.INTERACTIVE
    version: str = ""
    """The agent's version, the last one recorded."""
    repository: str = ""
    """A git remote the transcript recorded, where it did."""
    turns: list[Turn] = msgspec.field(default_factory=list)
    own_run: bool = False
    """A model run of ours: left out, never mined."""
    unknown_records: dict[str, int] = msgspec.field(default_factory=dict)
    """Record types nobody taught us, with their number."""
    unreadable_lines: int = 0
    """Lines from which no record could be recovered."""
    lines: int = 0
