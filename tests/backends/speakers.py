"""Every backend behind one door: a test says what is answered, and each says it in its own way."""

from __future__ import annotations

import json
from abc import ABC, abstractmethod
from collections.abc import Callable, Mapping
from datetime import UTC, datetime
from pathlib import Path
from typing import Any, ClassVar, Final

import msgspec

from dreaming.backends.anthropic_api import Anthropic
from dreaming.backends.claude_code import ClaudeCode
from dreaming.backends.codex_cli import Codex
from dreaming.backends.command import CommandBackend
from dreaming.backends.interface import (
    Answer,
    AnswerRefused,
    Backend,
    LetInRefused,
    NotReadOnly,
    QuotaReached,
    Request,
    TimedOut,
    TransientFailure,
    Unanswered,
)
from dreaming.backends.openai_api import OpenAI
from dreaming.backends.replay import Replay
from tests.backends import loopback
from tests.backends.loopback import WORD, MessagesApi, Step, asked_word
from tests.backends.programs import program
from tests.jobs.world import NIGHT

LATER: Final = 7200
"""Seconds after which a quota starts anew."""
_RESETS: Final = NIGHT + LATER

Made = Callable[[str], Any]
"""Makes what a backend hears, of the text that belongs into it."""


def _now() -> float:
    return NIGHT


class Speaker(ABC):
    """A backend whose answers a test decides."""

    name: ClassVar[str]
    ways: ClassVar[Mapping[str, Made]]
    """How this backend tells what no text tells: by case, from the text that comes with it."""
    calls: int
    """How often it was asked."""

    @abstractmethod
    def backend(self, timeout: float = 30.0) -> Backend:
        """Return the backend."""

    @abstractmethod
    def hear(self, told: Any) -> None:
        """Answer like this from now on."""

    @abstractmethod
    def says(self, text: str) -> None:
        """Answer this text from now on."""

    def does(self, case: str, text: str = "") -> bool:
        """Answer in this way from now on; say whether this backend can."""
        if case not in self.ways:
            return False
        self.hear(self.ways[case](text))
        return True


class Server(Speaker):
    """A backend that asks over HTTP."""

    whole: ClassVar[Made]

    def __init__(self, api: MessagesApi) -> None:
        self._api = api

    @property
    def calls(self) -> int:  # type: ignore[override] # the server counts
        """Requests that arrived."""
        return len(self._api.seen)

    def hear(self, told: Step) -> None:
        """Let the server do this step."""
        self._api.script(told)

    def says(self, text: str) -> None:
        """Let the server stream this text."""
        self.hear(type(self).whole(text))


class ByAnthropic(Server):
    """The Messages API."""

    name = "anthropic"
    whole = staticmethod(loopback.said)
    ways: ClassVar[Mapping[str, Made]] = {
        "cut": lambda text: loopback.stream(
            loopback.start(), loopback.block(), loopback.words(text), cut=True
        ),
        "hang": lambda text: loopback.stream(
            loopback.start(), loopback.block(), loopback.words(text), hold=True
        ),
        "quota": lambda _: loopback.failure(
            429, "rate_limit_error", headers={"retry-after": str(LATER)}
        ),
        "money": lambda _: loopback.failure(402, "billing_error"),
        "refusal": lambda text: loopback.said(text, stop_reason="refusal"),
        "tool": lambda text: loopback.stream(
            loopback.start(), loopback.block(), loopback.words(text),
            loopback.block("tool_use", id="t", name="ExitPlanMode", input={}),
            loopback.end("tool_use"),
        ),
        "error as success": lambda text: loopback.stream(
            loopback.start(), loopback.block(), loopback.words(text),
            loopback.event("error", error={"type": "overloaded_error", "message": "no"}),
        ),
        "cut short": lambda text: loopback.said(text, stop_reason="max_tokens"),
    }  # fmt: skip

    def backend(self, timeout: float = 30.0) -> Backend:
        """Ask the loopback server."""
        return Anthropic(api_key="made-up", base_url=self._api.url, timeout=timeout, clock=_now)


class ByOpenAI(Server):
    """An OpenAI-compatible server."""

    name = "openai"
    whole = staticmethod(loopback.chatted)
    ways: ClassVar[Mapping[str, Made]] = {
        "cut": lambda text: loopback.stream(loopback.piece(text), cut=True),
        "hang": lambda text: loopback.stream(loopback.piece(text), hold=True),
        "quota": lambda _: loopback.chat_failure(429, "no", headers={"retry-after": str(LATER)}),
        "money": lambda _: loopback.chat_failure(402, "Insufficient balance"),
        "refusal": lambda text: loopback.chatted(text, finish="content_filter"),
        "tool": lambda text: loopback.stream(
            loopback.piece(text), loopback.piece(tool_calls=[{"function": {"name": "exit_plan"}}])
        ),
        "error as success": lambda text: loopback.stream(
            loopback.piece(text), b'data: {"error": {"message": "out of memory"}}\n\n'
        ),
        "cut short": lambda text: loopback.chatted(text, finish="length"),
    }

    def backend(self, timeout: float = 30.0) -> Backend:
        """Ask the loopback server."""
        return OpenAI("tiny", self._api.url, timeout=timeout, context_tokens=60_000, clock=_now)


class Told(msgspec.Struct):
    """What a program does when it is asked."""

    out: str = ""
    err: str = ""
    code: int = 0
    last: str = ""
    """What Codex puts into its file for the last message."""
    then: str = ""
    """``hang`` or ``die``."""


_BODY: Final = """
import re, signal
here = os.path.dirname(os.path.abspath(__file__))
if "debug" in sys.argv:
    print(json.dumps({"models": [{"slug": "gpt-6-luna"}]}))
    sys.exit()
asked = sys.stdin.buffer.read().decode()
word = (re.findall(r'"read": "([a-z]{5}-[a-z]{5})"', asked) or [""])[-1]
told = json.load(open(os.path.join(here, "told.json")))
open(os.path.join(here, "calls"), "a").write("x")
for one in sys.argv:
    if one.startswith("--output-last-message="):
        open(one.partition("=")[2], "w").write(told["last"].replace("%WORD%", word))
sys.stderr.write(told["err"])
sys.stdout.write(told["out"].replace("%WORD%", word))
sys.stdout.flush()
if told["then"] == "hang":
    time.sleep(60)
if told["then"] == "die":
    os.kill(os.getpid(), signal.SIGKILL)
sys.exit(told["code"])
"""


class Child(Speaker):
    """A backend that runs a program."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        self.program = str(program(folder, _BODY))

    @property
    def calls(self) -> int:  # type: ignore[override] # the program counts
        """How often the program was run to answer."""
        file = self.folder / "calls"
        return file.stat().st_size if file.exists() else 0

    def hear(self, told: Told) -> None:
        """Let the program do this."""
        (self.folder / "told.json").write_text(json.dumps(msgspec.to_builtins(told)), "utf-8")
        (self.folder / "calls").unlink(missing_ok=True)


def _lines(*records: Mapping[str, Any]) -> str:
    return "".join(f"{json.dumps(one)}\n" for one in records)


def _init(mode: str = "dontAsk") -> dict[str, Any]:
    nothing: dict[str, Any] = {"tools": [], "mcp_servers": [], "slash_commands": [], "skills": []}
    told = {"type": "system", "subtype": "init", "model": "claude-haiku-5-5", **nothing}
    return {**told, "permissionMode": mode}


def _message(text: str) -> dict[str, Any]:
    content = [{"type": "text", "text": text}]
    usage = {"input_tokens": 10, "output_tokens": 5}
    return {"type": "assistant", "message": {"id": "m", "content": content, "usage": usage}}


def _result(text: str, **more: Any) -> dict[str, Any]:
    usage = {"input_tokens": 10, "output_tokens": 5}
    told = {"type": "result", "subtype": "success", "is_error": False, "stop_reason": "end_turn"}
    return {**told, "result": text, "usage": usage, "total_cost_usd": 0.001, **more}


class ByClaudeCode(Child):
    """Claude Code."""

    name = "claude-code"
    ways: ClassVar[Mapping[str, Made]] = {
        "cut": lambda text: Told(_lines(_init(), _message(text)), then="die"),
        "hang": lambda text: Told(_lines(_init(), _message(text)), then="hang"),
        "quota": lambda _: Told(
            _lines(
                _init(),
                {"type": "rate_limit_event", "rate_limit_info": {
                    "status": "rejected", "rateLimitType": "five_hour", "resetsAt": _RESETS,
                }},
                _result("You've hit your limit", is_error=True, api_error_status=429),
            ),
            code=1,
        ),
        "money": lambda _: Told(
            _lines(_init(), _result("Credit balance is too low", is_error=True)), code=1
        ),
        "refusal": lambda text: Told(
            _lines(_init(), _message(text), _result("", is_error=True, stop_reason="refusal")),
            code=1,
        ),
        "tool": lambda text: Told(_lines(_init("plan"), _message(text), _result(text))),
        "error as success": lambda text: Told(
            _lines(_init(), _message(text), _result(text, is_error=True, api_error_status=500)),
            code=1,
        ),
    }  # fmt: skip

    def backend(self, timeout: float = 30.0) -> Backend:
        """Run the program."""
        return ClaudeCode(self.program, api_key="made-up", timeout=timeout, clock=_now)

    def says(self, text: str) -> None:
        """Let the program say this text."""
        self.hear(Told(_lines(_init(), _message(text), _result(text))))


def _item(text: str, kind: str = "agent_message") -> dict[str, Any]:
    return {"type": "item.completed", "item": {"type": kind, "text": text}}


def _failed(message: str) -> dict[str, Any]:
    return {"type": "turn.failed", "error": {"message": message}}


_COMPLETED: Final = {"type": "turn.completed", "usage": {"input_tokens": 10, "output_tokens": 5}}


class ByCodex(Child):
    """Codex."""

    name = "codex"
    ways: ClassVar[Mapping[str, Made]] = {
        "cut": lambda text: Told(_lines(_item(text)), then="die"),
        "hang": lambda text: Told(_lines(_item(text)), then="hang"),
        "quota": lambda _: Told(
            _lines(_failed("You\u2019ve hit your usage limit. Try again at 1:18 PM.")), code=1
        ),
        "money": lambda _: Told(
            _lines(_failed("Quota exceeded. Check your plan and billing details.")), code=1
        ),
        "refusal": lambda text: Told(_lines(_item(text), _failed("content_filter")), code=1),
        "tool": lambda text: Told(_lines(_item(text), _item("", "command_execution"), _COMPLETED)),
        "error as success": lambda text: Told(
            _lines(_item(text), _failed("We're currently experiencing high demand.")), code=1
        ),
    }

    def backend(self, timeout: float = 30.0) -> Backend:
        """Run the program."""
        return Codex(self.program, api_key="made-up", timeout=timeout, clock=_now)

    def says(self, text: str) -> None:
        """Let the program say this text."""
        self.hear(Told(_lines(_item(text), _COMPLETED), last=text))


class ByCommand(Child):
    """Any program."""

    name = "command"
    ways: ClassVar[Mapping[str, Made]] = {
        "cut": lambda text: Told(text, then="die"),
        "hang": lambda text: Told(text, then="hang"),
        "quota": lambda _: Told(
            err=f"not-before: {datetime.fromtimestamp(_RESETS, UTC).isoformat()}\n", code=75
        ),
        "money": lambda _: Told(err="Nobody pays.", code=69),
        "error as success": lambda text: Told(text, code=1),
    }

    def backend(self, timeout: float = 30.0) -> Backend:
        """Run the program."""
        return CommandBackend([self.program], timeout=timeout)

    def says(self, text: str) -> None:
        """Let the program print this text."""
        self.hear(Told(text))


class _Paid(Replay):
    """A recording that is paid for, so that its answers are kept like a model's."""

    free = False

    def __init__(self, told: Answer | type[Unanswered] | Exception | str) -> None:
        super().__init__()
        self.told = told

    @property
    def identity(self) -> str:
        """One recording."""
        return "replay:paid"

    def ask(self, request: Request) -> Answer:
        """Return or raise what was told."""
        self.asked.append(request)
        told = self.told
        if isinstance(told, Exception):
            raise told
        text = str(told.text if isinstance(told, Answer) else told)
        said = text.replace(WORD, asked_word(request.prompt))
        return Answer(said, complete=not isinstance(told, Answer) or told.complete)


def _half(text: str) -> Answer:
    return Answer(text, complete=False)


class ByReplay(Speaker):
    """A recording: the twin without a model that other tests use."""

    name = "replay"
    ways: ClassVar[Mapping[str, Made]] = {
        "cut": lambda text: TransientFailure(partial=_half(text)),
        "hang": lambda text: TimedOut(partial=_half(text)),
        "quota": lambda _: QuotaReached(not_before=_RESETS),
        "money": lambda _: LetInRefused("Nobody pays."),
        "refusal": lambda text: AnswerRefused(partial=_half(text)),
        "tool": lambda text: NotReadOnly(partial=_half(text)),
        "error as success": lambda text: TransientFailure(partial=_half(text)),
        "cut short": _half,
    }

    def __init__(self) -> None:
        self._paid = _Paid("")

    @property
    def calls(self) -> int:  # type: ignore[override] # the recording counts
        """Questions so far."""
        return len(self._paid.asked)

    def backend(self, timeout: float = 30.0) -> Backend:
        """Return the recording."""
        return self._paid

    def hear(self, told: Any) -> None:
        """Answer like this."""
        self._paid.told = told
        self._paid.asked.clear()

    def says(self, text: str) -> None:
        """Answer this text."""
        self.hear(text)
