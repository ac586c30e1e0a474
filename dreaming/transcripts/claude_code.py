"""Claude Code: one JSONL file a session, subagents in files of their own beside it.

Chain records (``user``, ``assistant``, ``system``, ``attachment``) tell the conversation; all
others are bookkeeping. A ``user`` record is mostly not a person: tool results, reminders, plans
and scripted prompts stand in it, and what a person typed while the agent worked stands elsewhere
(``queue-operation``, ``queued_command``, the text of a denial).
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any, ClassVar, Final

import msgspec
from msgspec import structs

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
from dreaming.transcripts.claude_code_records import SKIPPED, Content, Message, Record
from dreaming.transcripts.claude_code_results import (
    CLARIFY,
    EXIT_CODE,
    HOOK_SPOKE,
    INTERRUPTED,
    WORK,
    denial_words,
    ending,
    hook_text,
    mid_turn_words,
    was_stopped,
)
from dreaming.transcripts.interface import NotASession, Parser, Source, Transcript
from dreaming.transcripts.listing import walk
from dreaming.transcripts.loose import loosely
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
from dreaming.transcripts.tools import action_of
from dreaming.transcripts.wording import heard


class ClaudeCode(Source):
    """Sessions of Claude Code and of the desktop programs that use its store."""

    agent: ClassVar[str] = "claude-code"

    def default_folders(self, environment: Mapping[str, str], home: Path) -> list[Path]:
        """Return ``projects`` below the configuration folder."""
        configured = environment.get("CLAUDE_CONFIG_DIR", "").strip()
        if configured:
            return [Path(part.strip()) / "projects" for part in configured.split(",") if part]
        return [home / ".claude" / "projects", home / ".config" / "claude" / "projects"]

    def list(self, folder: Path) -> Iterator[Transcript | NotASession]:
        """Yield every regular file below ``folder``, in a stable order, each as what it is."""
        return walk(self.agent, folder, _why_not)

    def keeps_days(self, folder: Path) -> int | None:
        """Return ``cleanupPeriodDays`` of the settings beside ``projects``, 30 where none is set.

        A folder of another name is a copy: nobody cleans it up.
        """
        if folder.name != "projects":
            return None
        try:
            with (folder.parent / "settings.json").open("rb") as file:
                days = msgspec.json.decode(file.read(_MOST_SETTINGS), type=_Settings)
        except (OSError, msgspec.MsgspecError, UnicodeDecodeError, RecursionError):
            return _KEPT_DAYS
        return days.cleanup_days if days.cleanup_days >= 1 else _KEPT_DAYS

    def parser(self, transcript: Transcript) -> Parser:
        """Return a fresh parser for this transcript."""
        return ClaudeCodeParser(transcript.path)


_KEPT_DAYS: Final = 30
"""What Claude Code does where ``cleanupPeriodDays`` is not set; it refuses 0."""
_MOST_SETTINGS: Final = 1 << 20


class _Settings(msgspec.Struct, frozen=True):
    """What is read of the agent's own settings."""

    cleanup_days: int = msgspec.field(default=_KEPT_DAYS, name="cleanupPeriodDays")


_FOLDERS: Final = {"memory": "memory", "file-history": "backup of an edited file"}
_NAMES: Final = {
    "journal.jsonl": "journal",
    "history.jsonl": "prompt history",
    "sessions-index.json": "index",
    ".session-aliases": "index",
}


def _why_not(name: str, within: str) -> str:
    """Return why a file below a Claude Code folder is no transcript; empty where it may be one."""
    if name in _NAMES:
        return _NAMES[name]
    if name.endswith(".meta.json"):
        return "agent metadata"
    if within == "tool-results":
        return "tool output"
    if not name.endswith(".jsonl"):
        return _FOLDERS.get(within, "not a transcript")
    if name.startswith("agent-aprompt_suggestion-"):
        return "machine-made helper agent"
    return ""


class ClaudeCodeParser(LineParser[Record]):
    """Reads one session or one subagent."""

    agent = "claude-code"
    record_type = Record

    def __init__(self, path: Path) -> None:
        super().__init__()
        self._stem = path.stem
        self._parent = path.stem
        if "subagents" in path.parts[1:]:
            self._parent = path.parts[path.parts.index("subagents", 1) - 1]
        self._is_subagent = path.name.startswith("agent-") or "subagents" in path.parts
        self._condenses = path.name.startswith("agent-acompact-")
        self._ids: dict[str, int] = {}
        self._seen: set[str] = set()
        self._calls: dict[str, Turn] = {}
        self._queued: list[tuple[str, Turn]] = []
        self._withdrawn: set[int] = set()
        self._first = ""
        self._version = ""
        self._folder = ""
        self._main = self._side = 0
        self._headless = False
        self._message = ""

    def is_foreign(self, record: Record) -> bool:
        """Tell a rollout of Codex or a session in the neutral format."""
        return bool(record.payload) or record.format is not None or record.type == "session_meta"

    def is_doubtful(self, record: Record) -> bool:
        """Tell a record whose message has neither a role nor content under their names."""
        message = record.message
        return message is not None and message.content is None and message.role is None

    def rescue(self, value: Any) -> Record:
        """Return a record also where the message is a text, a map of numbers or not wrapped."""
        message = value.get("message")
        if isinstance(message, dict) and message and all(key.isdigit() for key in message):
            parts = list(message.values())
            message = "".join(parts) if all(isinstance(part, str) for part in parts) else parts
        if isinstance(message, (str, list)):
            value = {**value, "message": {"content": message}}
        return loosely(value, Record)

    def take(self, record: Record, line: int) -> None:
        """Take one record."""
        kind = record.type or (record.role or "")
        if kind == "user" or kind == "assistant":
            if self._is_new(record) and (record.isMeta or not self._condenses):
                self._take_message(kind, record, line)
        elif kind == "attachment":
            if self._is_new(record):
                self._take_attachment(record, line)
        elif kind == "queue-operation":
            self._take_queue(record, line)
        elif kind == "system":
            if self._is_new(record):
                self._take_hook(hook_text(record.hookErrors), True, record, line)
        elif kind not in SKIPPED:
            self.unknown_record(kind)

    def session(self) -> Session:
        """Return the session."""
        subagent = self._is_subagent or (self._side > 0 and self._main == 0)
        native = self._stem if self._stem in self._ids else next(iter(self._ids), self._parent)
        scripted = {id(turn) for _, turn in self._queued} if self._headless else set()
        turns = [
            structs.replace(turn, speaker=Speaker.HARNESS) if id(turn) in scripted else turn
            for turn in self.turns
            if id(turn) not in self._withdrawn
        ]
        kind = SessionKind.SUBAGENT if subagent else SessionKind.INTERACTIVE
        if self._headless and not subagent:
            by_people = any(turn.speaker is Speaker.HUMAN for turn in turns)
            kind = SessionKind.INTERACTIVE if by_people else SessionKind.HEADLESS
        first = (f"first:{self._first}",) if self._first and not subagent else ()
        return Session(
            agent=self.agent,
            native_id=native,
            kin=(native, *first),
            kind=kind,
            version=self._version,
            turns=turns,
        )

    def _is_new(self, record: Record) -> bool:
        """Note what a chain record carries; False for one that this file holds already."""
        if record.uuid:
            if record.uuid in self._seen:
                return False
            self._seen.add(record.uuid)
            self._first = self._first or record.uuid
        if record.sessionId:
            self._ids[record.sessionId] = self._ids.get(record.sessionId, 0) + 1
        self._version = record.version or self._version
        self._folder = record.cwd or self._folder
        if self._is_side(record):
            self._side += 1
        else:
            self._main += 1
        return True

    def _is_side(self, record: Record) -> bool:
        aside = bool(record.agentId) if record.isSidechain is None else record.isSidechain
        return aside or self._is_subagent

    def _turn(
        self, kind: TurnKind, speaker: Speaker, record: Record, line: int, **more: Any
    ) -> Turn:
        return Turn(
            kind=kind,
            speaker=speaker,
            line=line,
            record=record.uuid or "",
            at=instant(record.timestamp),
            folder=record.cwd or self._folder,
            **more,
        )

    def _take_message(self, kind: str, record: Record, line: int) -> None:
        message = record.message
        if message is None or message.content is None:
            message = Message(content=record.content) if record.content else message
        if message is None or message.content is None:
            return
        blocks = message.content
        if isinstance(blocks, str):
            blocks = [Content(type="text", text=blocks)]
        if kind == "assistant":
            if not record.isApiErrorMessage and message.model != "<synthetic>":
                self._take_answer(message, blocks, record, line)
            return
        for block in blocks:
            if block.type == "tool_result":
                self._take_result(block, record, line)
            elif block.text and (block.type == "text" or not block.type):
                self._take_text(block.text, record, line)

    # --- the model ---------------------------------------------------------------------------

    def _take_answer(
        self, message: Message, blocks: list[Content], record: Record, line: int
    ) -> None:
        for block in blocks:
            if block.type == "text" and block.text and block.text.strip():
                self._take_said(message.id or "", block.text, record, line)
            elif block.type == "tool_use":
                self._take_call(block, record, line)
        self._message = message.id or ""

    def _take_said(self, message: str, text: str, record: Record, line: int) -> None:
        """Add what the model said; a longer snapshot of the same message replaces the shorter."""
        turn = self._turn(
            TurnKind.ASSISTANT, Speaker.MODEL, record, line, text=cut(text, MODEL_TEXT)
        )
        last = self.turns[-1] if self.turns else None
        repeats = bool(message) and message == self._message
        if repeats and last and last.kind is TurnKind.ASSISTANT and text.startswith(last.text):
            self.turns[-1] = turn
        else:
            self.turns.append(turn)

    def _take_call(self, block: Content, record: Record, line: int) -> None:
        call_id = block.id or ""
        if call_id and call_id in self._calls:
            return
        name = block.name or ""
        action = action_of(name, block.input or {})
        turn = self._turn(
            TurnKind.CALL,
            Speaker.MODEL,
            record,
            line,
            call_id=call_id,
            tool=action.tool,
            tool_name=name,
            action=cut(action.action, ACTION_TEXT),
            before=cut(action.before, EDIT_TEXT),
            after=cut(action.after, EDIT_TEXT),
        )
        self._calls[call_id] = turn
        self.turns.append(turn)

    # --- tools -------------------------------------------------------------------------------

    def _take_result(self, block: Content, record: Record, line: int) -> None:
        text = block.content or ""
        if not isinstance(text, str):
            text = "\n".join(part.text for part in text if part.text)
        text, mid_turn = mid_turn_words(text)
        told, is_error = bytes(record.toolUseResult), bool(block.is_error)
        status, denier = ending(text, is_error, record.toolDenialKind, told)
        stopped = was_stopped(text, is_error, told) or record.toolDenialKind == "interrupted"
        said = ""
        if denier is Denier.HUMAN:
            text, said = denial_words(text)
        elif status is ResultStatus.ERROR and (code := EXIT_CODE.match(text)):
            text = text[code.end() :] or text
        if said.startswith(CLARIFY):
            status, denier = ResultStatus.OK, None
        call = self._calls.get(block.tool_use_id or "")
        self.turns.append(
            self._turn(
                TurnKind.RESULT,
                Speaker.TOOL,
                record,
                line,
                text=cut(text, TOOL_TEXT),
                call_id=block.tool_use_id or "",
                tool=call.tool if call else Tool.OTHER,
                tool_name=call.tool_name if call else "",
                status=status,
                denier=denier,
            )
        )
        if stopped:
            self._take_interruption(record, line)
        if said:
            self._add_user(said, not said.startswith(CLARIFY), record, line)
        if mid_turn:
            self._add_user(mid_turn, True, record, line)

    # --- the user's role ----------------------------------------------------------------------

    def _take_text(self, text: str, record: Record, line: int) -> None:
        if record.isCompactSummary:
            self.turns.append(
                self._turn(
                    TurnKind.SUMMARY, Speaker.MODEL, record, line, text=cut(text, MODEL_TEXT)
                )
            )
            return
        if record.isMeta:
            told = HOOK_SPOKE.match(text)
            if told:
                failed = "context" not in told.group()
                text = text[told.end() :].removesuffix("</system-reminder>")
                self._take_hook(text, failed, record, line)
            return
        if text.startswith(INTERRUPTED):
            self._take_interruption(record, line)
            text = text.partition("]")[2].strip()
        elif record.interruptedMessageId:
            self._take_interruption(record, line)
        self.asked(text)
        found = heard(text)
        if not found.text or self._is_notice(record):
            return
        self._settle_queued(found.text)
        human = found.human and not record.planContent
        self._add_user(found.text, human, record, line)

    def _is_notice(self, record: Record) -> bool:
        kind = record.origin.kind if record.origin else None
        if kind not in (None, "human", "coordinator"):
            return True
        return record.promptSource == "system"

    def _add_user(self, text: str, human: bool, record: Record, line: int) -> None:
        """Add words in the user's role: a person's only where the record allows it."""
        kind = record.origin.kind if record.origin else None
        scripted = (record.entrypoint or "").startswith("sdk")
        if scripted:
            self._headless = True
        elif record.promptSource == "sdk":
            scripted = kind != "human"
        human = human and not scripted and not self._is_side(record) and kind in (None, "human")
        self.turns.append(
            self._turn(
                TurnKind.USER,
                Speaker.HUMAN if human else Speaker.HARNESS,
                record,
                line,
                text=cut(text, USER_TEXT),
            )
        )

    def _take_interruption(self, record: Record, line: int) -> None:
        by_hand = not self._is_side(record)
        speaker = Speaker.HUMAN if by_hand else Speaker.HARNESS
        self.interrupted(self._turn(TurnKind.INTERRUPTION, speaker, record, line))

    def _take_attachment(self, record: Record, line: int) -> None:
        attachment = record.attachment
        if attachment is None:
            return
        if attachment.type.startswith("hook_") and (attachment.hookEvent or "").startswith(WORK):
            said = (attachment.content, attachment.blockingError, attachment.stderr)
            text = "\n".join(filter(None, map(hook_text, said)))
            self._take_hook(text, "error" in attachment.type, record, line)
        if attachment.type != "queued_command":
            return
        if attachment.commandMode not in (None, "prompt"):
            return
        if attachment.origin and attachment.origin.kind not in (None, "human"):
            return
        for text in _texts(attachment.prompt):
            found = heard(text)
            if found.text and not found.text.startswith(("/", "{")):
                self._settle_queued(found.text)
                self._add_user(found.text, found.human, record, line)

    def _take_hook(self, text: str, failed: bool, record: Record, line: int) -> None:
        """Add what a hook said of the work; a session's own frame (its start) is not work."""
        if text.strip():
            status = ResultStatus.ERROR if failed else ResultStatus.OK
            text = cut(text.strip(), TOOL_TEXT)
            self.turns.append(
                self._turn(
                    TurnKind.RESULT,
                    Speaker.HARNESS,
                    record,
                    line,
                    text=text,
                    tool_name="hook",
                    status=status,
                )
            )

    def _take_queue(self, record: Record, line: int) -> None:
        """Keep a text typed while the agent worked, until it turns up again or is taken back."""
        content = record.content if isinstance(record.content, str) else ""
        if record.operation == "enqueue" and content:
            self.asked(content)
            found = heard(content)
            if found.text and not found.text.startswith(("/", "{")):
                self._add_user(found.text, found.human, record, line)
                self._queued.append((_folded(found.text), self.turns[-1]))
        elif record.operation == "popAll":
            self._withdrawn.update(id(turn) for _, turn in self._queued)
            self._queued.clear()
        elif record.operation == "remove" and record.reason in ("cancelled", "agent_stopped"):
            self._settle_queued(content or (self._queued[0][0] if self._queued else ""))

    def _settle_queued(self, text: str) -> None:
        """Withdraw the queued copy of a text that turned up as a record of its own."""
        folded = _folded(text)
        for place, (words, turn) in enumerate(self._queued):
            if words == folded:
                self._withdrawn.add(id(turn))
                del self._queued[place]
                return


def _folded(text: str) -> str:
    return " ".join(text.split())


def _texts(prompt: str | list[Content] | None) -> list[str]:
    if isinstance(prompt, str):
        return [prompt]
    return [block.text for block in prompt or [] if block.text and block.type in ("text", "")]
