"""Codex CLI, desktop and editor extension: one rollout file a thread, in three dialects.

Oldest: bare items, one a line. Then items wrapped with a time and a type, and events that repeat
what was said (``user_message``, ``agent_message``). Newest: the events are ``item_completed``.
The same words therefore stand up to three times; they are emitted once. A fork and a subagent
begin with a copy of their parent's lines, which is left out.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any, ClassVar, Final, NamedTuple

from msgspec import structs

from dreaming.models.session import (
    Session,
    SessionKind,
    Speaker,
    Tool,
    Turn,
    TurnKind,
)
from dreaming.transcripts.codex_records import (
    BARE_ITEMS,
    CALLS,
    SKIPPED_EVENTS,
    SKIPPED_ITEMS,
    SKIPPED_LINES,
    Item,
    Part,
    Payload,
    Record,
)
from dreaming.transcripts.codex_tools import called, returned
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
from dreaming.transcripts.tools import Action
from dreaming.transcripts.wording import heard

COPY_SECONDS: Final = 1.0
"""The copy of a parent's lines is written within this time, where turns carry no ids."""
MIRROR_LINES: Final = 60
"""The repeated forms of one text stand within so many lines."""
_ABORTED: Final = re.compile(r"\s*<turn_aborted>")
_FOLDER: Final = re.compile(r"<cwd>([^<\n]+)</cwd>|^Current working directory: (.+)$", re.MULTILINE)
_GUARDIAN: Final = "The following is the Codex agent history"
_ENVIRONMENT: Final = ("<environment_context>", "Current working directory: ")
_V7: Final = re.compile(r"([0-9a-f]{8})-([0-9a-f]{4})-7[0-9a-f]{3}-")
_HEADLESS: Final = ("codex_exec", "codex_sdk", "codex-exec")


class Codex(Source):
    """Threads of Codex, whatever program ran it."""

    agent: ClassVar[str] = "codex"

    def default_folders(self, environment: Mapping[str, str], home: Path) -> list[Path]:
        """Return the folders of running and of archived threads."""
        configured = environment.get("CODEX_HOME", "").strip()
        top = Path(configured) if configured else home / ".codex"
        return [top / "sessions", top / "archived_sessions"]

    def list(self, folder: Path) -> Iterator[Transcript | NotASession]:
        """Yield every regular file below ``folder``, in a stable order, each as what it is."""
        return walk(self.agent, folder, _why_not)

    def parser(self, transcript: Transcript) -> Parser:
        """Return a fresh parser for this transcript."""
        return CodexParser(transcript.path)


_NAMES: Final = {
    "history.jsonl": "prompt history",
    "session_index.jsonl": "index",
}


def _why_not(name: str, within: str) -> str:
    """Return why a file below a Codex folder is no transcript; empty where it may be one."""
    if name in _NAMES:
        return _NAMES[name]
    if name.endswith(".jsonl.zst"):
        return "compressed"
    if name.startswith("rollout-") and name.endswith(".json"):
        return "rollout of an old form"
    return "" if name.endswith(".jsonl") else "not a transcript"


class _Said(NamedTuple):
    """Words that were added, and the forms in which they stood so far."""

    line: int
    forms: set[str]
    place: int


class CodexParser(LineParser[Record]):
    """Reads one thread."""

    agent = "codex"
    record_type = Record

    def __init__(self, path: Path) -> None:
        super().__init__()
        self._stem = path.stem
        self._native = ""
        self._kin: dict[str, None] = {}
        self._kind = SessionKind.INTERACTIVE
        self._version = self._repository = self._folder = ""
        self._started = 0.0
        self._muted = False
        self._moment: str | float | None = None
        self._calls: dict[str, Action] = {}
        self._names: dict[str, str] = {}
        self._running: dict[str, str] = {}
        self._said: dict[tuple[Speaker, int], _Said] = {}

    def is_foreign(self, record: Record) -> bool:
        """Tell a record of Claude Code or of the neutral format."""
        return record.payload is None and (
            bool(record.sessionId or record.uuid or record.parentUuid) or record.format is not None
        )

    def take(self, record: Record, line: int) -> None:
        """Take one record."""
        payload = record.payload
        if payload is None:
            self._take_bare(record, line)
            return
        kind = record.type
        self._moment = record.timestamp or payload.timestamp or self._moment
        if kind == "session_meta":
            self._take_head(payload)
            return
        self._listen(payload)
        if kind == "turn_context":
            self._folder = payload.cwd or self._folder
        elif self._muted:
            return
        elif kind == "response_item":
            self._take_item(payload, line)
        elif kind == "event_msg":
            self._take_event(payload, line)
        elif kind == "compacted":
            self._add(TurnKind.SUMMARY, Speaker.MODEL, line, cut(payload.message or "", MODEL_TEXT))
        elif kind not in SKIPPED_LINES:
            self.unknown_record(kind)

    def session(self) -> Session:
        """Return the session."""
        native = self._native or self._stem
        return Session(
            agent=self.agent,
            native_id=native,
            kin=tuple(dict.fromkeys((native, *self._kin))),
            kind=self._kind,
            version=self._version,
            repository=self._repository,
            turns=self.turns,
        )

    def _take_bare(self, record: Record, line: int) -> None:
        """Take a line of the oldest dialect: an item, or the head of the file."""
        self._moment = record.timestamp or self._moment
        if record.type in BARE_ITEMS:
            self._take_item(record, line)
        elif record.id and not record.type and not self._native:
            self._take_head(record)
        elif not record.record_type:
            self.unknown_record(record.type)

    # --- the head, forks and subagents ------------------------------------------------------

    def _take_head(self, head: Payload) -> None:
        """Take the first head as the file's own; another thread's opens a copy of its lines."""
        if self._native:
            self._muted = self._muted or bool(head.id and head.id != self._native)
            if head.id != self._native and head.id:
                self._kin[head.id] = None
            return
        self._native = head.id or self._stem
        self._started = instant(self._moment or head.timestamp)
        self._version = head.cli_version or ""
        self._folder = head.cwd or self._folder
        self._repository = (head.git.repository_url if head.git else None) or ""
        self._kind, parent = _driven(head)
        for relative in (head.forked_from_id, head.parent_thread_id, parent):
            if relative:
                self._kin[relative] = None
        self._muted = bool(head.forked_from_id) and not head.history_base

    def _listen(self, payload: Payload) -> None:
        """End the copy of a parent's lines where the file's own first turn begins."""
        if not self._muted:
            return
        turn_id = payload.turn_id or (payload.passed.turn_id if payload.passed else None)
        own, turn = _V7.match(self._native), _V7.match(turn_id or "")
        if own and turn:
            self._muted = turn.groups() < own.groups()
        elif instant(self._moment) > self._started + COPY_SECONDS:
            self._muted = False

    # --- items --------------------------------------------------------------------------------

    def _take_item(self, item: Payload, line: int) -> None:
        kind = item.type or ("message" if item.role else "")
        if kind == "message":
            self._take_message(item, line)
        elif kind in CALLS:
            self._take_call(item, line)
        elif kind in ("function_call_output", "custom_tool_call_output"):
            self._take_result(item, line)
        elif kind == "agent_message":
            self._take_user([_joined(item.content)], line, item.id, "item")
        elif kind not in SKIPPED_ITEMS:
            self.unknown_record(kind)

    def _take_message(self, item: Payload, line: int) -> None:
        if item.role == "assistant":
            self._take_answer(_joined(item.content), line, item.id, "item")
        elif item.role == "user":
            self._take_user(_user_texts(item), line, item.id, "item")

    def _take_answer(self, text: str, line: int, identity: str | None, form: str) -> None:
        if text.strip() and self._is_first(Speaker.MODEL, text, line, form, identity):
            self._add(
                TurnKind.ASSISTANT, Speaker.MODEL, line, cut(text, MODEL_TEXT), record=identity
            )

    def _take_user(self, texts: list[str], line: int, identity: str | None, form: str) -> None:
        """Take the blocks of one message in the user's role; a person's words are one turn."""
        if any(_ABORTED.match(text) for text in texts):
            self._take_interruption(line)
            return
        for text in texts:
            self._note_folder(text)
        blocks = [block for block in map(heard, texts) if block.text]
        text = "\n".join(block.text for block in blocks)
        if not text or not self._is_first(Speaker.HUMAN, text, line, form, identity):
            return
        self.asked(text)
        human = all(block.human for block in blocks) and self._kind is SessionKind.INTERACTIVE
        speaker = Speaker.HUMAN if human else Speaker.HARNESS
        self._add(TurnKind.USER, speaker, line, cut(text, USER_TEXT), record=identity)

    def _is_first(
        self, speaker: Speaker, text: str, line: int, form: str, identity: str | None
    ) -> bool:
        """Tell a text's first form, about to be added, from the forms that repeat it."""
        key = (speaker, hash("".join(text.split())))
        before = self._said.get(key)
        if before and form not in before.forms and line - before.line <= MIRROR_LINES:
            before.forms.add(form)
            if identity and not self.turns[before.place].record:
                told = structs.replace(self.turns[before.place], record=identity)
                self.turns[before.place] = told
            return False
        if len(self._said) > 10 * MIRROR_LINES:
            self._said.clear()
        self._said[key] = _Said(line, {form}, len(self.turns))
        return True

    def _note_folder(self, text: str) -> None:
        found = _FOLDER.search(text) if text.lstrip().startswith(_ENVIRONMENT) else None
        if found:
            self._folder = (found.group(1) or found.group(2)).strip()

    def _take_call(self, item: Payload, line: int) -> None:
        name = item.name or item.type.removesuffix("_call")
        call_id = item.call_id or item.id or ""
        given = next((x for x in (item.arguments, item.input, item.action) if x is not None), None)
        action = called(name, given, self._running)
        if call_id:
            self._calls[call_id], self._names[call_id] = action, name
        self.turns.append(
            self._turn(
                TurnKind.CALL,
                Speaker.MODEL,
                line,
                record=call_id,
                call_id=call_id,
                tool=action.tool,
                tool_name=name,
                action=cut(action.action, ACTION_TEXT),
                before=cut(action.before, EDIT_TEXT),
                after=cut(action.after, EDIT_TEXT),
            )
        )

    def _take_result(self, item: Payload, line: int) -> None:
        call_id = item.call_id or ""
        action = self._calls.get(call_id, Action(Tool.OTHER, ""))
        result = returned(item.output)
        if result.running:
            self._running[result.running] = action.action
        self.turns.append(
            self._turn(
                TurnKind.RESULT,
                Speaker.TOOL,
                line,
                record=call_id,
                text=cut(result.text, TOOL_TEXT),
                call_id=call_id,
                tool=action.tool,
                tool_name=self._names.get(call_id, ""),
                status=result.status,
                denier=result.denier,
            )
        )
        if result.aborted:
            self._take_interruption(line)

    # --- events -------------------------------------------------------------------------------

    def _take_event(self, event: Payload, line: int) -> None:
        kind = event.type
        if kind == "user_message":
            self._take_user([event.message or ""], line, None, "event")
        elif kind == "agent_message":
            self._take_answer(event.message or "", line, None, "event")
        elif kind == "item_completed":
            self._take_completed(event.item or Item(), line)
        elif kind == "turn_aborted":
            self._said.clear()
            if event.reason in (None, "interrupted", "replaced"):
                self._take_interruption(line)
        elif kind == "thread_rolled_back":
            self._take_interruption(line)
        elif kind in ("task_started", "task_complete", "turn_started", "turn_complete"):
            self._said.clear()
        elif kind not in SKIPPED_EVENTS:
            self.unknown_record(kind)

    def _take_completed(self, item: Item, line: int) -> None:
        kind = item.type.lower()
        text = _joined(item.content)
        if kind == "usermessage":
            self._take_user(_texts(item.content), line, item.id, "completed")
        elif kind == "agentmessage":
            self._take_answer(text, line, item.id, "completed")

    def _take_interruption(self, line: int) -> None:
        by_hand = self._kind is SessionKind.INTERACTIVE
        speaker = Speaker.HUMAN if by_hand else Speaker.HARNESS
        self.interrupted(self._turn(TurnKind.INTERRUPTION, speaker, line))

    def _add(
        self, kind: TurnKind, speaker: Speaker, line: int, text: str, record: str | None = None
    ) -> None:
        self.turns.append(self._turn(kind, speaker, line, text=text, record=record or ""))

    def _turn(self, kind: TurnKind, speaker: Speaker, line: int, **more: Any) -> Turn:
        at = instant(self._moment)
        return Turn(kind=kind, speaker=speaker, line=line, at=at, folder=self._folder, **more)


def _driven(head: Payload) -> tuple[SessionKind, str]:
    """Return who drove a thread, and its parent where its source names one."""
    source = head.source
    parent = ""
    if isinstance(source, dict) and "subagent" in source:
        spawned = source["subagent"]
        if isinstance(spawned, dict) and isinstance(spawned.get("thread_spawn"), dict):
            parent = str(spawned["thread_spawn"].get("parent_thread_id") or "")
        return SessionKind.SUBAGENT, parent
    if head.thread_source not in (None, "user") or head.parent_thread_id:
        return SessionKind.SUBAGENT, parent
    originator = head.originator or ""
    if source in ("exec", "mcp") or originator.startswith(_HEADLESS):
        return SessionKind.HEADLESS, parent
    return SessionKind.INTERACTIVE, parent


def _joined(content: str | list[Part] | None) -> str:
    if isinstance(content, str):
        return content
    return "\n".join(part.text for part in content or [] if part.text)


def _texts(content: str | list[Part] | None) -> list[str]:
    if isinstance(content, str):
        return [content]
    return [part.text for part in content or [] if part.text]


def _user_texts(item: Payload) -> list[str]:
    """Return the blocks of a message in the user's role, without those marked as injected."""
    texts = _texts(item.content)
    if texts and texts[0].startswith(_GUARDIAN):
        return []
    kinds = item.passed.content_item_kinds if item.passed else None
    if not kinds or not isinstance(item.content, list) or len(kinds) != len(item.content):
        return texts
    marked = zip(item.content, kinds, strict=True)
    return [
        part.text
        for part, kind in marked
        if part.text and (kind == "user.text" or part.text.lstrip().startswith(_ENVIRONMENT))
    ]
