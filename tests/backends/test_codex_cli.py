"""Codex as a backend: what it is run with, what it is held to, what becomes of its words."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from dreaming.backends import child, codex_cli
from dreaming.backends.codex_cli import DEFAULT_MODEL, Codex
from dreaming.backends.interface import (
    AnswerRefused,
    LetInRefused,
    NotReadOnly,
    QuotaReached,
    TimedOut,
    TooBig,
    TransientFailure,
    Unanswered,
    Unreachable,
    Usage,
)
from dreaming.errors import DreamingError
from tests.backends.programs import plays, program, question

NOW = 1_800_000_000.0
KEY = "sk-invented"
ARMED = {"slug": DEFAULT_MODEL, "tool_mode": "code_mode_only", "shell_type": "unified_exec"}
CATALOGUE = {"models": [{**ARMED, "context_window": 272000}]}

STARTED = ({"type": "thread.started", "thread_id": "1"}, {"type": "turn.started"})
USAGE = {"input_tokens": 10, "cached_input_tokens": 4, "output_tokens": 5}
COMPLETED = {"type": "turn.completed", "usage": USAGE}


def item(kind: str, words: str = "") -> dict[str, Any]:
    """Return the event of an item."""
    return {"type": "item.completed", "item": {"id": "item_0", "type": kind, "text": words}}


def failed(words: str) -> dict[str, Any]:
    """Return the event of a turn that failed."""
    return {"type": "turn.failed", "error": {"message": words}}


def codex(folder: Path, *events: Any, last: str = "", code: int = 0, then: str = "") -> Path:
    """Write a program that knows one model and says these events."""
    lines = [one if isinstance(one, str) else json.dumps(one) for one in events]
    return program(
        folder,
        f"if sys.argv[1] == 'debug': print({json.dumps(CATALOGUE)!r}); sys.exit()\n"
        f"open({str(folder / 'prompt')!r}, 'wb').write(sys.stdin.buffer.read())\n"
        "last = next(one for one in sys.argv if one.startswith('--output-last-message='))\n"
        f"open(last.partition('=')[2], 'w').write({last!r})\n"
        f"for line in {lines!r}: print(line, flush=True)\n{then}\nsys.exit({code})\n",
    )


def ask(folder: Path, *events: Any, timeout: float = 30.0, **how: Any) -> Any:
    """Ask a program that says these events."""
    file = codex(folder, *events, **how)
    backend = Codex(str(file), api_key=KEY, timeout=timeout, clock=lambda: NOW)
    return backend.ask(question())


def failure(folder: Path, *events: Any, **how: Any) -> Any:
    """Return the error that such a program ends with."""
    with pytest.raises(DreamingError) as told:
        ask(folder, *events, **how)
    assert KEY not in f"{told.value.message}{told.value.remedy}"
    return told.value


def test_the_answer_is_the_last_message_of_a_completed_turn(tmp_path: Path) -> None:
    """Events that nobody knows are passed over; what the program counts is believed."""
    reconnecting = {"type": "error", "message": "Reconnecting... 2/5"}
    notice = item("error", "Falling back")
    events = (*STARTED, reconnecting, notice, {"type": "of tomorrow"}, "[1", item("reasoning"))
    answer = ask(tmp_path, *events, item("agent_message", "{}"), COMPLETED, last='{"a": 1}')
    assert (answer.text, answer.complete, answer.model) == ('{"a": 1}', True, DEFAULT_MODEL)
    assert answer.usage == Usage(10, 5, cache_read_tokens=4)
    answer = ask(tmp_path, *STARTED, item("agent_message", "{}"), COMPLETED)
    assert answer.text == "{}"


@pytest.mark.parametrize(
    ("words", "kind"),
    [
        ("You\u2019ve hit your usage limit. Upgrade to Pro or try again at 1:18 PM.", QuotaReached),
        ("Quota exceeded. Check your plan and billing details.", LetInRefused),
        ("exceeded retry limit, last status: 429 Too Many Requests", TransientFailure),
        ("We\u2019re currently experiencing high demand, which may cause errors", TransientFailure),
        ("Selected model is at capacity. Please try a different model.", TransientFailure),
        ("stream disconnected before completion: stream closed", TransientFailure),
        ("unexpected status 503 Service Unavailable: no", TransientFailure),
        ("unexpected status 401 Unauthorized: no", LetInRefused),
        ("Missing environment variable: `K`.", LetInRefused),
        ("Codex ran out of room in the model's context window.", TooBig),
        ("unexpected status 413 Payload Too Large: no", TooBig),
        ("Incomplete response returned, reason: max_output_tokens", Unanswered),
        ("Incomplete response returned, reason: content_filter", AnswerRefused),
        ("Connection failed: error sending request", Unreachable),
        ("The model 'nope' does not exist", LetInRefused),
        ("Something new", LetInRefused),
    ],
)
def test_each_failure_has_its_class(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, words: str, kind: Any
) -> None:
    """By its text; a message of a turn that failed is kept and is no answer."""
    monkeypatch.setattr(codex_cli, "_catalogue", lambda path: {DEFAULT_MODEL: ARMED})
    plays(monkeypatch, *STARTED, item("agent_message", "so far"), failed(words), code=1)
    told = failure(tmp_path)
    assert type(told) is kind
    assert words[20:40].replace("\u2019", "") in told.message.replace("\u2019", "")
    assert (told.partial.text, told.partial.complete) == ("so far", False)


@pytest.mark.parametrize(
    ("clock", "wait"), [("1:18 PM", 19080.0), ("Jan 16th, 2027 8:00 AM", 86400.0), ("noon", 0.0)]
)
def test_a_used_up_window_says_from_when(tmp_path: Path, clock: str, wait: float) -> None:
    """By the next such time of the clock that the program was given."""
    words = f"You've hit your usage limit. Try again at {clock}."
    told = failure(tmp_path, *STARTED, failed(words), code=1)
    assert told.not_before == (NOW + wait if wait else 0.0)


@pytest.mark.parametrize(
    "kind", ["command_execution", "file_change", "mcp_tool_call", "web_search", "of_tomorrow"]
)
def test_anything_but_words_ends_the_run(tmp_path: Path, kind: str) -> None:
    """At its first event, before it has got anywhere."""
    began = {"type": "item.started", "item": {"id": "item_1", "type": kind}}
    acts = f"time.sleep(2); open({str(tmp_path / 'acted')!r}, 'w')"
    told = failure(tmp_path, *STARTED, item("agent_message", "half"), began, COMPLETED, then=acts)
    assert type(told) is NotReadOnly
    assert told.text == "half"
    assert not (tmp_path / "acted").exists()


@pytest.mark.parametrize(
    ("events", "how", "kind"),
    [
        ((), {"code": 0}, LetInRefused),
        ((), {"code": 2, "then": "print('unknown feature', file=sys.stderr)"}, LetInRefused),
        ((), {"then": "os.kill(os.getpid(), 9)"}, TransientFailure),
        ((item("agent_message", "x"), COMPLETED), {"code": 1}, Unanswered),
        ((item("agent_message", "x"),), {"then": "time.sleep(60)", "timeout": 0.5}, TimedOut),
    ],
)
def test_exit_code_and_events_both_count(tmp_path: Path, events: Any, how: Any, kind: Any) -> None:
    """A completed turn that exits with 1 is no success, nor is an exit code 0 without a turn."""
    told = failure(tmp_path, *events, **how)
    assert type(told) is kind
    assert told.text == ("x" if events else "")


# -- what it is run with --------------------------------------------------------------------------


FLAGS = """
exec --json --ephemeral --skip-git-repo-check --sandbox --ignore-user-config --ignore-rules
--strict-config --output-last-message --output-schema
"""
SETTINGS = """
web_search analytics.enabled project_doc_max_bytes approval_policy skills.include_instructions
include_environment_context model model_catalog_json
"""
OFF = """
apps browser_use code_mode_host computer_use goals hooks image_generation memories multi_agent
multi_agent_v2 plugins shell_snapshot shell_tool skill_search sleep_tool tool_suggest
unbounded_connection_retries unified_exec view_image
"""
DISARMED: dict[str, object] = {
    "shell_type": "disabled",
    "apply_patch_tool_type": None,
    "experimental_supported_tools": [],
    "supports_search_tool": False,
    "tool_mode": None,
    "multi_agent_version": None,
    "model_messages": None,
    "include_skills_usage_instructions": False,
    "include_plugin_usage_instructions": False,
    "include_apps_usage_instructions": False,
    "node_repl_disabled": True,
    "input_modalities": ["text"],
}


def test_its_hands_are_tied(tmp_path: Path) -> None:
    """No tools, settings, rules, servers or skills, and a catalogue of one model without any."""
    with child.room() as folders:
        request = question()
        command = Codex(str(codex(tmp_path)), api_key=KEY).command(request, folders)
        argv = list(command.argv)
        chosen = [argv[at + 1] for at, one in enumerate(argv) if one == "-c"]
        off = [argv[at + 1] for at, one in enumerate(argv) if one == "--disable"]
        catalogue = json.loads(next(f for f in chosen if "model_catalog" in f).partition("=")[2])
        (model,) = json.loads(Path(catalogue).read_text())["models"]
        schema = next(one for one in argv if one.startswith("--output-schema="))
        assert json.loads(Path(schema.partition("=")[2]).read_text()) == request.schema
        assert list(Path(command.environment["CODEX_HOME"]).iterdir()) == []
    plain = [one.partition("=")[0] for one in argv[1:] if one.startswith("--")]
    assert sorted({*plain, argv[1]} - {"--disable"}) == sorted(FLAGS.split())
    assert [one.partition("=")[0] for one in chosen] == SETTINGS.split()
    assert 'web_search="disabled"' in chosen and 'approval_policy="never"' in chosen
    assert sorted(off) == sorted(OFF.split())
    assert {name: model[name] for name in DISARMED} == DISARMED
    assert (model["base_instructions"], model["context_window"]) == ("You answer.", 272000)
    assert "--sandbox=read-only" in argv


def test_the_login_is_linked_and_never_copied(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Codex renews it where the person has it; a key in the environment is not given to it."""
    monkeypatch.setenv("OPENAI_API_KEY", "sk-of-the-person")
    own = tmp_path / "own"
    own.mkdir()
    (own / "auth.json").write_text("login")
    (own / "config.toml").write_text("[mcp_servers.evil]")
    with child.room() as folders:
        file = codex(tmp_path)
        command = Codex(str(file), login_home=own).command(question(), folders)
        (link,) = Path(command.environment["CODEX_HOME"]).iterdir()
        assert link.is_symlink()
        link.write_text("renewed")
    assert (own / "auth.json").read_text() == "renewed"
    assert not [one for one in command.environment if "KEY" in one]


@pytest.mark.parametrize("there", [False, True])
def test_a_login_that_could_not_be_renewed_is_not_used(tmp_path: Path, there: bool) -> None:
    """Renewed and not written down, it would be lost to the person."""
    if there:
        (tmp_path / "auth.json").mkdir()  # opens for nobody, whatever their rights
    with pytest.raises(LetInRefused, match=r"auth\.json") as told:
        Codex(str(codex(tmp_path)), login_home=tmp_path).ask(question())
    assert "codex login" in told.value.remedy


def test_a_model_that_it_does_not_know_is_refused(tmp_path: Path) -> None:
    """With those it knows; one without an entry would be given tools."""
    with pytest.raises(LetInRefused, match=f"no model 'nope'; it knows {DEFAULT_MODEL}"):
        Codex(str(codex(tmp_path)), "nope", api_key=KEY).ask(question())
    with pytest.raises(LetInRefused, match="which models it knows"):
        Codex(str(program(tmp_path, "print('{}')", "old")), api_key=KEY).ask(question())


def test_the_prompt_arrives_without_a_command_in_it(tmp_path: Path) -> None:
    """Neither a file to attach nor something to do at once."""
    backend = Codex(str(codex(tmp_path, COMPLETED)), api_key=KEY)
    backend.ask(question("/init @/etc/passwd"))
    assert (tmp_path / "prompt").read_text() == "Text:\n/init @ /etc/passwd"
    (tmp_path / "prompt").unlink()
    with pytest.raises(TooBig):
        backend.ask(question("x" * 1_048_577))
    assert not (tmp_path / "prompt").exists()
