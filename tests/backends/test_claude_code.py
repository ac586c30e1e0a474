"""Claude Code as a backend: what it is run with, what it is held to, what becomes of its words."""

from __future__ import annotations

import json
import re
from pathlib import Path
from typing import Any

import pytest

from dreaming.backends import child
from dreaming.backends.claude_code import ClaudeCode
from dreaming.backends.interface import (
    AnswerRefused,
    BudgetReached,
    LetInRefused,
    NotReadOnly,
    QuotaReached,
    TimedOut,
    TooBig,
    TransientFailure,
    Unanswered,
    Unreachable,
    Usage,
    Window,
)
from dreaming.errors import DreamingError
from tests.backends.programs import SCHEMA, plays, program, question, speaks

TOKEN = "sk-ant-oat01-invented"
NOW = 1_800_000_000.0
FOUND = {"findings": ["a"]}


def init(**other: Any) -> dict[str, Any]:
    """Return the frame that says what a run has."""
    return {
        "type": "system",
        "subtype": "init",
        "tools": ["StructuredOutput"],
        "mcp_servers": [],
        "model": "claude-haiku-5-5",
        "permissionMode": "dontAsk",
        "slash_commands": [],
        "skills": [],
        "agents": ["general-purpose"],
        "plugins": [{"name": "own", "path": "builtin"}],
        **other,
    }


def said(*blocks: dict[str, Any], model: str = "claude-haiku-5-5") -> dict[str, Any]:
    """Return the frame of a message."""
    usage = {"input_tokens": 1000, "output_tokens": 100}
    message = {"id": "msg_1", "model": model, "content": list(blocks), "usage": usage}
    return {"type": "assistant", "message": message}


def text(words: str) -> dict[str, Any]:
    """Return a block of text."""
    return {"type": "text", "text": words}


def use(tool: str, **given: Any) -> dict[str, Any]:
    """Return a block that calls a tool."""
    return {"type": "tool_use", "id": "toolu_1", "name": tool, "input": given}


def result(words: str | None = "", **other: Any) -> dict[str, Any]:
    """Return the frame that ends a run."""
    usage = {"input_tokens": 585, "cache_read_input_tokens": 15, "output_tokens": 50}
    return {
        "type": "result",
        "subtype": "success",
        "is_error": False,
        "api_error_status": None,
        "stop_reason": "end_turn",
        "terminal_reason": "completed",
        "total_cost_usd": 0.25,
        "usage": usage,
        "modelUsage": {"claude-haiku-5-5": {}},
        "result": words,
        **other,
    }


def failed(words: str | None, status: int | None = None, **other: Any) -> dict[str, Any]:
    """Return the frame that ends a run which could not be answered."""
    told = {"terminal_reason": "api_error", "api_error_status": status, **other}
    return result(words, is_error=True, **told)


def limits(status: str = "allowed") -> dict[str, Any]:
    """Return the frame that tells the windows of a plan."""
    windows = {
        "five_hour": {"utilization": 0.3, "resetsAt": NOW + 7200, "status": status},
        "seven_day": {"utilization": 0.4, "resetsAt": NOW + 400000, "status": "allowed"},
    }
    told = {"status": status, "resetsAt": NOW + 7200, "rateLimitType": "five_hour"}
    return {"type": "rate_limit_event", "rate_limit_info": {**told, "unifiedWindows": windows}}


@pytest.fixture
def token(tmp_path: Path) -> Path:
    """A login."""
    file = tmp_path / "token"
    file.write_text(f"{TOKEN}\n")
    return file


def ask(folder: Path, *records: Any, timeout: float = 30.0, **how: Any) -> Any:
    """Ask a program that says these records."""
    (folder / "token").write_text(TOKEN)
    file = speaks(folder, *records, **how)
    backend = ClaudeCode(str(file), token_file=folder / "token", timeout=timeout, clock=lambda: NOW)
    return backend.ask(question())


def failure(folder: Path, *records: Any, **how: Any) -> Any:
    """Return the error that such a program ends with."""
    with pytest.raises(DreamingError) as told:
        ask(folder, *records, **how)
    assert TOKEN not in f"{told.value.message}{told.value.remedy}"
    return told.value


def test_the_answer_comes_with_what_it_cost_and_how_far_the_windows_are_used(
    tmp_path: Path,
) -> None:
    """What the program counts is believed; records that nobody knows are passed over."""
    answer = ask(
        tmp_path,
        init(),
        {"type": "system", "subtype": "of tomorrow"},
        "[1, 2",
        '{"type": "result"',
        said({"type": "thinking", "thinking": "hm"}, use("StructuredOutput", **FOUND)),
        limits(),
        result("prose", structured_output=FOUND),
    )
    assert json.loads(answer.text) == FOUND
    assert answer.complete
    assert answer.usage == Usage(600, 50, 0.25, 0, 15)
    assert answer.windows == (
        Window("five_hour", 0.3, NOW + 7200),
        Window("seven_day", 0.4, NOW + 400000),
    )


@pytest.mark.parametrize("words", ["I have no ExitPlanMode tool.", '[{"slug": ', "null", ""])
def test_words_without_the_form_are_an_answer_all_the_same(tmp_path: Path, words: str) -> None:
    """Marked a success, without the key for the form: the text goes to the task, which judges."""
    answer = ask(tmp_path, init(), said(text(words)), result(words))
    assert (answer.text, answer.complete) == (words, True)


BUDGET: dict[str, Any] = {"subtype": "error_max_budget_usd", "result": None}
FORM: dict[str, Any] = {"subtype": "error_max_structured_output_retries", "result": None}


@pytest.mark.parametrize(
    ("record", "kind", "words"),
    [
        (failed("You've hit your 5-hour limit · resets 1:01pm (UTC)", 429), QuotaReached, "5-hour"),
        (failed("You\u2019ve reached your weekly limit", 429), QuotaReached, "weekly"),
        (failed("You're out of usage credits", 400), QuotaReached, "credits"),
        (failed("API Error: Request rejected (429) · slow", 429), TransientFailure, "slow"),
        (failed("API Error: Server is temporarily limiting", 429), TransientFailure, "limiting"),
        (failed("API Error: 529 Overloaded.", 529), TransientFailure, "Overloaded"),
        (failed("API Error: 500", 500), TransientFailure, "500"),
        (failed("API Error: Connection dropped (ECONNRESET)"), TransientFailure, "ECONNRESET"),
        (failed("Request timed out."), TransientFailure, "timed out"),
        (failed("Unable to connect to API (ConnectionRefused ECONNREFUSED)"), Unreachable, "API"),
        (failed("Unable to connect to API (ENOTFOUND)"), Unreachable, "ENOTFOUND"),
        (failed("Not logged in · Please run /login", 401), LetInRefused, "login"),
        (failed("Invalid API key · Fix external API key"), LetInRefused, "key"),
        (failed("Failed to authenticate. API Error: 403 no", 403), LetInRefused, "403"),
        (failed("Credit balance is too low", 400), LetInRefused, "payment"),
        (failed("API Error: 402", 402), LetInRefused, "payment"),
        (failed("Prompt is too long", 400, terminal_reason="prompt_too_long"), TooBig, "long"),
        (failed("Prompt", terminal_reason="blocking_limit"), TooBig, "size"),
        (failed("Request too large (max 32MB)", 413), TooBig, "32MB"),
        (failed("There's an issue with the selected model (x)", 404), LetInRefused, "model"),
        (failed("API Error: Haiku can't help", stop_reason="refusal"), AnswerRefused, "declined"),
        (failed("Claude's response exceeded the 128000 output token maximum"), Unanswered, "form"),
        (failed(None, errors=["does not match"], **FORM), Unanswered, "does not match"),
        (failed(None, **BUDGET), BudgetReached, "more than it may"),
        (failed("Something new"), Unanswered, "Something new"),
        (result("A prose answer, and exit code 1"), Unanswered, "exit code 1"),
    ],
)
def test_each_failure_has_its_class(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, record: Any, kind: Any, words: str
) -> None:
    """By status, reason and text; the message says it, and what had come is kept."""
    plays(monkeypatch, init(), said(text("so far")), record, code=1)
    told = failure(tmp_path)
    assert type(told) is kind
    assert words in told.message
    assert told.partial.text == "so far"
    assert told.partial.usage.cost == 0.25


def test_an_error_with_exit_code_0_is_one(tmp_path: Path) -> None:
    """Marked a success by its kind, an error by its flag: both count."""
    assert type(failure(tmp_path, init(), failed("API Error: 529", 529))) is TransientFailure


def test_a_used_up_window_says_from_when(tmp_path: Path) -> None:
    """By the record of the limits, else by the clock time in the text."""
    words = "You've hit your 5-hour limit · resets 1:01pm (UTC)"
    told = failure(tmp_path, init(), limits("rejected"), failed(words, 429), code=1)
    assert told.not_before == NOW + 7200
    assert told.partial.windows[0].used == 0.3
    assert failure(tmp_path, init(), failed(words, 429), code=1).not_before == NOW + 18060


def test_a_finished_answer_over_budget_is_not_swallowed(tmp_path: Path) -> None:
    """The last record has none; the message before it has, and was paid for."""
    message = said(use("StructuredOutput", **FOUND))
    told = failure(tmp_path, init(), message, failed(None, **BUDGET), code=1)
    assert json.loads(told.partial.text) == FOUND
    assert told.partial.complete


def test_what_the_program_says_itself_is_no_answer(tmp_path: Path) -> None:
    """Its own words in the place of the model's."""
    words = said(text("API Error: 529"), model="<synthetic>")
    assert failure(tmp_path, init(), words, failed("API Error: 529", 529)).text == ""


@pytest.mark.parametrize(
    ("frame", "words"),
    [
        ({}, "did not say which tools"),
        (init(tools=["Read", "StructuredOutput"]), "offers tools .*Read"),
        (init(tools=None), "offers tools"),
        (init(mcp_servers=[{"name": "evil"}]), "loaded mcp_servers"),
        (init(slash_commands=["clear"]), "loaded slash_commands"),
        (init(skills=["evil"]), "loaded skills"),
        (init(plugins=[{"name": "evil", "path": "/home"}]), "loaded plugins"),
        (init(permissionMode="plan"), "mode plan"),
        (init(permissionMode="bypassPermissions"), "mode bypass"),
        (init(model="claude-opus-5-5"), "another model: claude-opus-5-5"),
    ],
)
def test_a_run_that_is_not_read_only_is_ended_at_its_first_frame(
    tmp_path: Path, frame: dict[str, Any], words: str
) -> None:
    """Not a word of it is believed, and it gets no time to act."""
    answered = (said(text("half")), result("whole", structured_output=FOUND))
    acts = f"time.sleep(2); open({str(tmp_path / 'acted')!r}, 'w')"
    told = failure(tmp_path, frame, *answered, then=acts)
    assert type(told) is NotReadOnly
    assert told.EXIT_CODE == 69
    assert "doctor" in told.remedy
    assert re.search(words, told.message)
    assert not (tmp_path / "acted").exists()


@pytest.mark.parametrize("block", [use("Bash"), {"type": "server_tool_use", "name": "web_search"}])
def test_a_call_of_a_tool_ends_the_run(tmp_path: Path, block: dict[str, Any]) -> None:
    """Whatever the program says it has: the answer's own form is the only one."""
    done = result("", structured_output=FOUND)
    told = failure(tmp_path, init(), said(text("half"), block), done, then="time.sleep(60)")
    assert type(told) is NotReadOnly
    assert told.text == "half"


def test_a_second_model_is_not_read_only(tmp_path: Path) -> None:
    """Somebody else was shown the text, such as a judge of calls."""
    used: dict[str, Any] = {"claude-haiku-5-5": {}, "claude-sonnet-5": {}}
    told = failure(tmp_path, init(), result("x", modelUsage=used))
    assert type(told) is NotReadOnly


@pytest.mark.parametrize(
    ("code", "then", "kind"),
    [
        (0, "", NotReadOnly),
        (1, "print('error: unknown option --tools', file=sys.stderr)", LetInRefused),
        (1, "print('piped stdin input exceeds 10MB', file=sys.stderr)", TooBig),
        (0, "os.kill(os.getpid(), 9)", TransientFailure),
    ],
)
def test_silence_has_its_class(
    tmp_path: Path, code: int, then: str, kind: type[DreamingError]
) -> None:
    """Nothing on its output: by exit code and what it complains of."""
    assert type(failure(tmp_path, code=code, then=then)) is kind


def test_what_broke_off_keeps_what_came(tmp_path: Path) -> None:
    """Ended in the middle, or too slow: its words and an estimate of what they cost."""
    for told in (
        failure(tmp_path, init(), said(text("half")), code=1),
        failure(tmp_path, init(), said(text("half")), then="time.sleep(60)", timeout=0.5),
    ):
        assert told.text == "half"
        assert (told.partial.usage.input_tokens, told.partial.complete) == (1000, False)
        assert told.partial.usage.cost > 0
    assert type(told) is TimedOut


# -- what it is run with --------------------------------------------------------------------------


QUIET = set(
    """
    CLAUDE_CODE_DISABLE_ATTACHMENTS CLAUDE_CODE_DISABLE_FILE_MENTIONS
    CLAUDE_CODE_DISABLE_AUTO_MEMORY CLAUDE_CODE_SKIP_PROMPT_HISTORY
    CLAUDE_CODE_DISABLE_NONESSENTIAL_TRAFFIC DISABLE_TELEMETRY DISABLE_ERROR_REPORTING
    DISABLE_AUTOUPDATER CLAUDE_CODE_MAX_RETRIES MAX_STRUCTURED_OUTPUT_RETRIES
    CLAUDE_CONFIG_DIR CLAUDE_CODE_TMPDIR API_TIMEOUT_MS CLAUDE_CODE_OAUTH_TOKEN
    """.split()
)
"""All that it gets beside what any program gets."""


def run_with(backend: ClaudeCode, prompt: str = "hello") -> child.Command:
    """Return what a question would run."""
    with child.room() as folders:
        return backend.command(question(prompt), folders)


def test_its_hands_are_tied(tmp_path: Path, token: Path) -> None:
    """No tools, no settings, no servers, no commands, nothing kept, nothing attached."""
    command = run_with(ClaudeCode(str(program(tmp_path, "")), token_file=token, money=0.5))
    argv = command.argv[1:]
    assert set(argv) == {
        "-p",
        "--output-format=stream-json",
        "--verbose",
        "--tools=",
        "--setting-sources=",
        "--strict-mcp-config",
        "--disable-slash-commands",
        "--no-session-persistence",
        "--permission-mode=dontAsk",
        "--max-budget-usd=0.5",
        "--model=claude-haiku-5-5",
        "--system-prompt=You answer.",
        f"--json-schema={json.dumps(SCHEMA)}",
    }
    around = {name for name in command.environment if name not in child.PASSED_ON}
    assert around == QUIET | set("PATH HOME TMPDIR LANG TZ NO_COLOR".split())
    assert {command.environment[name] for name in QUIET if "DISABLE" in name} == {"1"}


def test_a_plan_brings_its_token_and_no_key(
    tmp_path: Path, token: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A key that lies around in the environment is not given to the program."""
    monkeypatch.setenv("ANTHROPIC_API_KEY", "sk-of-the-person")
    file = program(tmp_path, "")
    plan = run_with(ClaudeCode(str(file), token_file=token))
    assert plan.environment["CLAUDE_CODE_OAUTH_TOKEN"] == TOKEN
    assert "ANTHROPIC_API_KEY" not in plan.environment
    assert TOKEN not in " ".join(plan.argv)
    key = run_with(ClaudeCode(str(file), token_file=token, api_key=" sk-chosen "))
    assert key.environment["ANTHROPIC_API_KEY"] == "sk-chosen"
    assert "CLAUDE_CODE_OAUTH_TOKEN" not in key.environment
    assert "--bare" in key.argv


@pytest.mark.parametrize("content", [None, b" \n", b"\xff\xfe"])
def test_without_a_login_nothing_runs(tmp_path: Path, content: bytes | None) -> None:
    """The remedy is the command that makes one."""
    file = tmp_path / "token"
    if content is not None:
        file.write_bytes(content)
    with pytest.raises(LetInRefused) as told:
        ClaudeCode(str(program(tmp_path, "")), token_file=file).ask(question())
    assert "dreaming login claude-code" in told.value.remedy


def test_the_prompt_arrives_without_a_command_in_it(tmp_path: Path, token: Path) -> None:
    """Neither a file to attach nor something to do at once."""
    kept = tmp_path / "prompt"
    frames = [json.dumps(init()), json.dumps(result("x"))]
    file = program(
        tmp_path,
        f"open({str(kept)!r}, 'wb').write(sys.stdin.buffer.read())\nprint(*{frames!r}, sep='\\n')",
    )
    ClaudeCode(str(file), token_file=token).ask(question("/init @/etc/passwd"))
    assert kept.read_text() == "Text:\n/init @ /etc/passwd"


def test_a_prompt_that_is_too_big_starts_nothing(tmp_path: Path, token: Path) -> None:
    """It would be refused after it was read."""
    file = program(tmp_path, f"open({str(tmp_path / 'ran')!r}, 'w')")
    with pytest.raises(TooBig):
        ClaudeCode(str(file), token_file=token).ask(question("x" * 10_000_001))
    assert not (tmp_path / "ran").exists()


def test_a_plan_and_a_key_have_accounts_of_their_own(tmp_path: Path) -> None:
    """The windows of a plan say nothing about the API's."""
    assert ClaudeCode().account == "claude-code"
    assert ClaudeCode(api_key="sk").account == "anthropic"
    assert ClaudeCode().identity == "claude-code:claude-haiku-5-5"
