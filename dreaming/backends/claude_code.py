"""Claude Code, run without anything it could act with: ``claude -p`` for people with a plan.

What makes it read only was seen on the wire with versions 2.1.197 and 2.1.332: an empty list of
tools (allowing none is not enough: then they are offered), no source of settings, none of the
person's folders, nothing attached. A plan mode is no guard: it offers every tool. So each run is
held to what the program itself says of it before a word of the answer is believed.
"""

from __future__ import annotations

import json
import math
import time
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import Any, Final

from dreaming.backends import anthropic_prices, child
from dreaming.backends.interface import (
    Answer,
    AnswerRefused,
    BudgetReached,
    LetInRefused,
    NotReadOnly,
    Price,
    QuotaReached,
    Request,
    TooBig,
    TransientFailure,
    Unanswered,
    Unreachable,
    Usage,
    Window,
)
from dreaming.errors import DreamingError

DEFAULT_MODEL: Final = "claude-haiku-5-5"
MOST_INPUT: Final = 10_000_000
"""Bytes of a prompt that it takes on its input."""
FLAGS: Final = (
    "-p",
    "--output-format=stream-json",
    "--verbose",
    "--tools=",
    "--strict-mcp-config",
    "--setting-sources=",
    "--disable-slash-commands",
    "--no-session-persistence",
    "--permission-mode=dontAsk",
)
QUIET: Final = {
    "CLAUDE_CODE_DISABLE_ATTACHMENTS": "1",
    "CLAUDE_CODE_DISABLE_FILE_MENTIONS": "1",
    "CLAUDE_CODE_DISABLE_AUTO_MEMORY": "1",
    "CLAUDE_CODE_SKIP_PROMPT_HISTORY": "1",
    "CLAUDE_CODE_DISABLE_NONESSENTIAL_TRAFFIC": "1",
    "DISABLE_TELEMETRY": "1",
    "DISABLE_ERROR_REPORTING": "1",
    "DISABLE_AUTOUPDATER": "1",
    "CLAUDE_CODE_MAX_RETRIES": "2",
    "MAX_STRUCTURED_OUTPUT_RETRIES": "2",
}

_ANSWER_TOOL: Final = "StructuredOutput"
_INERT: Final = frozenset({_ANSWER_TOOL, "DeferredToolPlaceholder"})
_READING: Final = frozenset({"text", "thinking", "redacted_thinking"})
_TRY: Final = "Run `dreaming doctor --backend claude-code`; this version may not be used at night."
_LOGIN: Final = 'Run `dreaming login claude-code`; with key = "api" look at ANTHROPIC_API_KEY.'
_PAY: Final = "Look at plan and credit of the account."
_NETWORK: Final = "Look at the network."
_SETTINGS: Final = "Look at [claude_code] in your config.toml: model, program, base_url."
_MONEY: Final = "Set `money` in [claude_code] of your config.toml."

# fmt: off
_FAILURES: Final[Sequence[child.Row]] = (
    (BudgetReached, "A question cost more than it may", _MONEY, "error_max_budget_usd"),
    (Unanswered, "Claude did not keep to the form", "",
     "error_max_structured_output_retries|error_max_turns|output token maximum"),
    (QuotaReached, "The plan's quota is used up", "",
     "limit rejected|you've hit your|you've reached your|you're out of"
     "|your org is out of usage"),
    (LetInRefused, "Claude asks for payment", _PAY,
     "status 402|credit balance is too low|seat type doesn't include"
     "|usage limit is set to $0"),
    (TooBig, "Claude takes no request of this size", "",
     "status 413|prompt_too_long|blocking_limit|prompt is too long|request too large"
     "|stdin input exceeds"),
    (LetInRefused, "Claude does not let us in", _LOGIN,
     "status 401|status 403|not logged in|invalid api key|failed to authenticate"),
    (AnswerRefused, "The model declined", "", "stop refusal"),
    (Unreachable, "Claude cannot be reached", _NETWORK,
     "econnrefused|enotfound|eai_again|enetunreach|ehostunreach"),
    (TransientFailure, "Claude could not answer", "",
     "status 408|status 409|status 429|status 5|econn|connection|unable to connect|timed out"
     "|overloaded"),
    (LetInRefused, "Claude does not take the request", _SETTINGS, "status 4|does not start"),
    (Unanswered, "Claude gave no answer", "", ""),
)
# fmt: on
"""The first row that fits is what happened; apostrophes are straight, letters small."""


class ClaudeCode(child.CliBackend):
    """Asks a Claude model through the person's own Claude Code."""

    name = "claude-code"
    leaves_the_machine = True
    free = False

    def __init__(
        self,
        program: str = "claude",
        model: str = DEFAULT_MODEL,
        *,
        token_file: Path | None = None,
        api_key: str = "",
        base_url: str | None = None,
        money: float = 1.0,
        timeout: float = 600.0,
        clock: Callable[[], float] = time.time,
    ) -> None:
        """Nothing is looked for, read or sent yet.

        With an ``api_key`` that is used, else the token of a plan that ``token_file`` holds.
        ``money`` is the most a request may cost, in dollars at list price.
        """
        super().__init__(program)
        self._model = model
        self._token_file = token_file
        self._api_key = api_key.strip()
        self._base_url = base_url
        self._money = money
        self._timeout = timeout
        self._clock = clock

    @property
    def identity(self) -> str:
        """Name and model."""
        return f"{self.name}:{self._model}"

    @property
    def context_tokens(self) -> int:
        """Stays, with instructions and known lessons, well below the price step at 100,000."""
        return 60_000

    @property
    def account(self) -> str:
        """A plan has windows of its own; a key shares those of the API."""
        return "anthropic" if self._api_key else self.name

    @property
    def price(self) -> Price:
        """List price of the model; a plan is charged in shares of its windows instead."""
        return anthropic_prices.price(self._model, self.context_tokens)

    def command(self, request: Request, folders: child.Room) -> child.Command:
        """Return what ``ask`` runs; raises ``LetInRefused`` without program, key or login."""
        path = child.find(self._program)
        argv = [str(path), *FLAGS, f"--model={self._model}", f"--max-budget-usd={self._money}"]
        argv += [f"--system-prompt={request.system}"]
        if request.schema is not None:
            argv += [f"--json-schema={json.dumps(request.schema)}"]
        more = {
            **QUIET,
            "CLAUDE_CONFIG_DIR": str(folders.home / "claude"),
            "CLAUDE_CODE_TMPDIR": str(folders.temporary),
            "API_TIMEOUT_MS": str(math.ceil(self._timeout * 1000)),
        }
        if self._base_url:
            more["ANTHROPIC_BASE_URL"] = self._base_url
        if self._api_key:
            argv += ["--bare"]
            more["ANTHROPIC_API_KEY"] = self._api_key
        else:
            more["CLAUDE_CODE_OAUTH_TOKEN"] = self._token()
        stdin = child.guarded(request.prompt).encode("utf-8", "replace")
        return child.Command(tuple(argv), child.environment(path, folders, **more), stdin)

    def ask(self, request: Request) -> Answer:
        """Return the raw answer; see ``Backend.ask`` for what else may happen."""
        heard = _Heard(self._model, self._clock)
        with child.room() as folders:
            command = self.command(request, folders)
            if len(command.stdin) > MOST_INPUT:
                raise TooBig("Claude Code takes no prompt of more than 10 MB.")
            ended = child.run(command, folders, self._timeout, heard.take)
        ended.check("Claude Code", heard.partial())
        return heard.ended(ended)

    def _token(self) -> str:
        try:
            token = self._token_file.read_text("utf-8").strip() if self._token_file else ""
        except (OSError, UnicodeDecodeError):
            token = ""
        if not token:
            raise LetInRefused("Claude Code has no login that a timer could use.", remedy=_LOGIN)
        return token


class _Heard:
    """What a run has said so far, record by record. Records nobody knows are passed over."""

    def __init__(self, model: str, clock: Callable[[], float]) -> None:
        self._model = model
        self._clock = clock
        self._begun = False
        self._texts: list[str] = []
        self._structured = ""
        self._windows: dict[str, Window] = {}
        self._rejected = False
        self._resets = 0.0
        self._counts: dict[str, anthropic_prices.Counts] = {}
        self._result: Mapping[str, Any] | None = None

    def take(self, line: bytes) -> None:
        """Take the next line; raises ``NotReadOnly`` at the first sign of a tool."""
        record = child.record(line)
        kind = record.get("type")
        if kind == "system" and record.get("subtype") == "init":
            self._attest(record)
        elif kind == "assistant":
            self._must_have_begun()
            self._say(child.table(record.get("message")))
        elif kind == "rate_limit_event":
            self._limit(child.table(record.get("rate_limit_info")))
        elif kind == "result":
            self._must_have_begun()
            self._result = record
            self._one_model(child.table(record.get("modelUsage")))

    def partial(self, *, complete: bool = False) -> Answer:
        """Return what was said so far, with what it cost."""
        said = self._structured or "\n".join(self._texts)
        return self._answer(said, complete=complete)

    def ended(self, ended: child.Ended) -> Answer:
        """Return the answer of a run that came to its end, or say why there is none."""
        result = self._result
        if result is None:
            raise self._without_result(ended)
        if ended.code or result.get("is_error") or result.get("subtype") != "success":
            raise self._with_result(result, ended)
        structured = result.get("structured_output")
        if isinstance(structured, dict):
            return self._answer(json.dumps(structured, ensure_ascii=False), complete=True)
        return self._answer(str(result.get("result") or self.partial().text), complete=True)

    # -- read only, or not ---------------------------------------------------------------------

    def _attest(self, init: Mapping[str, Any]) -> None:
        """Hold the run to what the program says it has."""
        self._begun = True
        tools = init.get("tools")
        if not isinstance(tools, list) or not _INERT.issuperset(map(str, tools)):
            raise self._not_read_only(f"offers tools to the model: {tools}")
        for name in ("mcp_servers", "slash_commands", "skills"):
            if init.get(name):
                raise self._not_read_only(f"has loaded {name}: {init[name]}")
        plugins = init.get("plugins") or []
        if any(child.table(one).get("path") != "builtin" for one in plugins):
            raise self._not_read_only(f"has loaded plugins: {plugins}")
        if init.get("permissionMode") != "dontAsk":
            raise self._not_read_only(f"runs in the mode {init.get('permissionMode')}")
        self._one_model([str(init.get("model"))])

    def _one_model(self, told: Any) -> None:
        asked = self._model.partition("[")[0]
        if others := [one for one in told if asked not in one]:
            raise self._not_read_only(f"asked another model: {', '.join(others)}")

    def _must_have_begun(self) -> None:
        if not self._begun:
            raise self._not_read_only("did not say which tools it has")

    def _not_read_only(self, why: str) -> NotReadOnly:
        said = child.one_line(why)[:300]
        return NotReadOnly(f"Claude Code {said}.", remedy=_TRY, partial=self.partial())

    # -- what it says --------------------------------------------------------------------------

    def _say(self, message: Mapping[str, Any]) -> None:
        synthetic = message.get("model") == "<synthetic>"
        usage = child.table(message.get("usage"))
        self._counts[str(message.get("id"))] = _counts(usage)
        for block in message.get("content") or ():
            block = child.table(block)
            kind = block.get("type")
            if kind == "tool_use" and block.get("name") == _ANSWER_TOOL:
                self._structured = json.dumps(block.get("input"), ensure_ascii=False)
            elif kind not in _READING:
                raise self._not_read_only(f"let the model use {block.get('name') or kind}")
            elif kind == "text" and not synthetic:
                self._texts.append(str(block.get("text")))

    def _limit(self, told: Mapping[str, Any]) -> None:
        resets = child.number(told.get("resetsAt"))
        if told.get("status") == "rejected" and resets:  # else it is a rate, and no window
            self._rejected, self._resets = True, resets
        windows = child.table(told.get("unifiedWindows")) or {str(told.get("rateLimitType")): told}
        for name, one in windows.items():
            one = child.table(one)
            if "utilization" in one:
                used, ends = child.number(one["utilization"]), child.number(one.get("resetsAt"))
                self._windows[name] = Window(name, used, ends)

    def _answer(self, text: str, *, complete: bool) -> Answer:
        return Answer(
            text=text.encode("utf-8", "backslashreplace").decode(),
            usage=self._usage(),
            model=self._model,
            complete=complete,
            windows=tuple(self._windows.values()),
        )

    def _usage(self) -> Usage:
        """What the program counted; before it says so, what the messages so far did."""
        if self._result is None:
            used = [anthropic_prices.usage(self._model, one) for one in self._counts.values()]
            return Usage(
                sum(one.input_tokens for one in used),
                sum(one.output_tokens for one in used),
                sum(one.cost for one in used),
            )
        counts = _counts(child.table(self._result.get("usage")))
        cost = child.number(self._result.get("total_cost_usd"))
        return Usage(counts.prompt, counts.output, cost, counts.cache_write, counts.cache_read)

    # -- why there is no answer ----------------------------------------------------------------

    def _without_result(self, ended: child.Ended) -> DreamingError:
        told = ended.words or f"it ended with {ended.code}"
        if ended.code == 0 and not self._begun:
            return self._not_read_only("did not say which tools it has")
        if ended.code < 0 or self._begun:
            return TransientFailure(f"Claude Code broke off: {told}", partial=self.partial())
        return self._failure(told, "does not start")

    def _with_result(self, result: Mapping[str, Any], ended: child.Ended) -> DreamingError:
        errors = result.get("errors")
        said = result.get("result") or "; ".join(map(str, errors if errors else ()))
        status = int(child.number(result.get("api_error_status")))
        signs = [
            f"status {status}" if status else "",
            f"stop {result.get('stop_reason')}",
            f"{result.get('terminal_reason')} {result.get('subtype')}",
            "limit rejected" if self._rejected and status == 429 else "",
        ]
        told = str(said or ended.words or f"it ended with {ended.code}")
        return self._failure(told, " ".join(signs))

    def _failure(self, told: str, signs: str) -> DreamingError:
        partial = self.partial(complete=bool(self._structured) and "max_budget" in signs)
        return child.failure(_FAILURES, told, signs, partial, self._clock(), self._resets)


def _counts(usage: Mapping[str, Any]) -> anthropic_prices.Counts:
    return anthropic_prices.Counts(
        input=int(child.number(usage.get("input_tokens"))),
        output=int(child.number(usage.get("output_tokens"))),
        cache_write=int(child.number(usage.get("cache_creation_input_tokens"))),
        cache_read=int(child.number(usage.get("cache_read_input_tokens"))),
    )
