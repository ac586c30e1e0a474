"""A program that answers: tried before a night believes it, again when it changed; its login."""

from __future__ import annotations

import io
import json
import sys
from collections.abc import Callable
from pathlib import Path
from typing import NamedTuple

import pytest

from dreaming import wiring
from dreaming.backends.attacker import attacking
from dreaming.cli.main import run
from dreaming.config import ClaudeCodeSettings, CodexSettings, PersonSettings
from dreaming.wiring import Place

PROGRAM = '''#!{python} -IS
"""Asks the model as Claude Code does; with a tool where BAD says so."""
import http.client, json, os, sys
if "--version" in sys.argv:
    print("2.1.{number} (Claude Code)")
    sys.exit()
system = next(one.partition("=")[2] for one in sys.argv if one.startswith("--system-prompt="))
messages = [{{"role": "user", "content": sys.stdin.read()}}]
token = os.environ["CLAUDE_CODE_OAUTH_TOKEN"]
for _ in range(2):
    body = {{"model": "m", "system": system, "messages": messages, "tools": {tools}}}
    model = http.client.HTTPConnection(os.environ["ANTHROPIC_BASE_URL"].partition("//")[2])
    given = {{"authorization": "Bearer " + token}}
    model.request("POST", "/v1/messages", json.dumps(body), given)
    content = json.loads(model.getresponse().read())["content"]
    results = [
        {{"type": "tool_result", "tool_use_id": one["id"], "content": "no", "is_error": True}}
        for one in content if one["type"] == "tool_use"
    ]
    messages = [*messages, {{"role": "user", "content": results}}]
init = {{"type": "system", "subtype": "init", "tools": [], "permissionMode": "dontAsk",
        "model": "claude-haiku-5-5", "mcp_servers": []}}
answer = {{"type": "result", "subtype": "success", "is_error": False, "result": "[]",
          "structured_output": {{"findings": []}}, "usage": {{}}}}
print(json.dumps(init), json.dumps(answer), sep="\\n")
'''
TOKEN = "sk-ant-oat01-" + "a1_-" * 20


def install(home: Path, number: int = 400, tools: str = "[]") -> Path:
    """Put a version of the program where the person's settings say it is."""
    path = home / "bin/claude"
    path.parent.mkdir(exist_ok=True)
    text = PROGRAM.format(python=sys.executable, number=number, tools=tools)
    path.write_text(text)
    path.chmod(0o755)
    settings = home / "xdg_config_home/dreaming/config.toml"
    settings.parent.mkdir(parents=True, exist_ok=True)
    settings.write_text(f'backend = "claude-code"\n[claude_code]\nprogram = "{path}"\n')
    return path


class Ended(NamedTuple):
    """How a command ended."""

    code: int
    out: str
    err: str


Dreaming = Callable[..., Ended]


@pytest.fixture
def dreaming(
    home: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> Dreaming:
    """Runs a command in a home of its own; without a terminal unless told otherwise."""
    monkeypatch.chdir(home)
    monkeypatch.setenv("PATH", "/usr/bin:/bin")

    def called(*words: str, given: str = "", terminal: bool = False) -> Ended:
        stdin = io.StringIO(given)
        monkeypatch.setattr(stdin, "isatty", lambda: terminal)
        monkeypatch.setattr(sys, "stdin", stdin)
        monkeypatch.setattr(sys.stderr, "isatty", lambda: terminal)
        capsys.readouterr()
        code = run(list(words))
        return Ended(code, *capsys.readouterr())

    return called


def test_a_version_that_has_not_passed_runs_no_night(home: Path, dreaming: Dreaming) -> None:
    """Nobody looks on: it ends with 69 and the remedy; so does one that updated itself since."""
    install(home)
    assert dreaming("init").code == 0
    refused = dreaming("nightly")
    assert refused.code == 69
    assert "2.1.400 (Claude Code) has not been tried" in refused.err
    assert "`dreaming doctor --backend claude-code`" in refused.err
    tried = dreaming("doctor", "--backend", "claude-code")
    assert tried.code == 0, tried.out
    assert dreaming("nightly").code == 0
    install(home, 401)
    assert dreaming("backfill", "--yes").code == 69
    again = dreaming("nightly", "--if-due", "0s")
    assert again.code == 69 and "2.1.401 (Claude Code) has not been tried" in again.err
    status = json.loads(dreaming("status", "--json").out)
    assert status["nights"][0]["outcome"] == "failed"
    assert status["goes_to"] == "api.anthropic.com"


def test_on_a_terminal_it_is_tried_by_itself(home: Path, dreaming: Dreaming) -> None:
    """Somebody looks on: attacked first, then the night goes on; a bad one is refused."""
    install(home)
    assert dreaming("init").code == 0
    first, second = (dreaming("nightly", terminal=True) for _ in range(2))
    assert (first.code, second.code) == (0, 0), first.err
    assert "a model on this machine attacks it first" in first.err
    assert "attacks it first" not in second.err
    install(home, 401, '[{"name": "Bash"}]')
    bad = dreaming("nightly", terminal=True)
    assert bad.code == 69, bad.err
    assert "offers the model Bash" in bad.err and "has not been tried" in bad.err
    install(home, 402)
    due = dreaming("nightly", "--if-due", "0s", terminal=True)
    assert due.code == 69 and "attacks it first" not in due.err


def test_the_doctor_says_what_a_program_did(home: Path, dreaming: Dreaming) -> None:
    """Each check with a word, as a document too; 69 where it did not pass."""
    install(home, 402, '[{"name": "Bash"}]')
    ended = dreaming("doctor", "--backend", "claude-code", "--json")
    assert ended.code == 69
    checks = {one["name"]: one for one in json.loads(ended.out)["checks"]}
    assert [name for name, one in checks.items() if one["level"] != "ok"] == ["tools"]
    assert checks["tools"]["remedy"]
    assert dreaming("nightly", "--workspace", str(home / "w")).code == 69


@pytest.mark.parametrize(
    ("backend", "code", "said"),
    [
        ("offline", 0, "no text leaves"),
        ("anthropic", 69, "ANTHROPIC_API_KEY is not set"),
        ("codex", 69, "not there"),
        ("command", 69, "no program"),
        ("none-such", 2, "is no backend"),
    ],
)
def test_the_doctor_says_what_it_cannot_try(
    dreaming: Dreaming, backend: str, code: int, said: str
) -> None:
    """A backend without a program has no tools; a missing one is a sentence."""
    ended = dreaming("doctor", "--backend", backend)
    assert ended.code == code
    assert said in ended.out + ended.err and "Traceback" not in ended.err


def test_a_command_that_asks_elsewhere_passes_as_untried(home: Path, dreaming: Dreaming) -> None:
    """What cannot be seen is said; its files and its traces are looked at all the same."""
    install(home)
    script = home / "bin/answer"
    script.write_text("#!/bin/sh\ncat >/dev/null\nexit 69\n")
    script.chmod(0o755)
    settings = home / "xdg_config_home/dreaming/config.toml"
    settings.write_text(f'backend = "command"\n[command]\nargv = ["{script}"]\n')
    ended = dreaming("doctor", "--backend", "command")
    assert ended.code == 0 and "warn  asked" in ended.out, ended.out
    script.write_text("#!/bin/sh\ncat >$HOME/kept\nexit 69\n")
    ended = dreaming("doctor", "--backend", "command")
    assert ended.code == 69 and "bad   traces" in ended.out, ended.out


# -- where it may go and what it may write --------------------------------------------------------


@pytest.mark.parametrize(
    ("name", "ports", "words"),
    [
        ("offline", (), ""),
        ("replay", (), ""),
        ("anthropic", (443,), "api.anthropic.com"),
        ("claude-code", (443,), "api.anthropic.com"),
        ("codex", (443,), "chatgpt.com"),
        ("openai", (11434,), "127.0.0.1"),
        ("command", None, "where the program sends it"),
    ],
)
def test_where_text_goes(name: str, ports: tuple[int, ...] | None, words: str) -> None:
    """The kernel opens the one port a backend needs; none for none, any for a command."""
    person = PersonSettings()
    assert wiring.ports(name, person) == ports
    assert wiring.goes_to(name, person) == words


def test_another_address_and_a_proxy_are_gone_by(monkeypatch: pytest.MonkeyPatch) -> None:
    """The settings' address is where text goes, and a proxy what is connected to."""
    claude = ClaudeCodeSettings(base_url="https://gate.example:8443/anthropic")
    person = PersonSettings(claude_code=claude, codex=CodexSettings(key="api"))
    assert wiring.endpoint("claude-code", person) == ("gate.example", 8443)
    assert wiring.goes_to("codex", person) == "api.openai.com"
    monkeypatch.setenv("https_proxy", "http://proxy.example:3128")
    assert wiring.ports("claude-code", person) == (3128,)
    assert wiring.goes_to("claude-code", person) == "gate.example through proxy.example:3128"


def test_a_scheduled_night_finds_the_program(home: Path) -> None:
    """Its folder is in the unit's PATH and can be read there; codex may renew its login."""
    program = install(home)
    here = wiring.place(wiring.Choices(), must_exist=False)
    planned = wiring.plan(here)
    assert planned.program and planned.remote and planned.logins == ()
    assert planned.environment["PATH"].partition(":")[0] == str(program.parent)
    assert program.parent in planned.readable
    assert home / "xdg_state_home/dreaming/programs" in planned.readable
    login = home / ".codex/auth.json"
    login.parent.mkdir()
    login.write_text("{}")
    person = here.person.model_copy(update={"backend": "codex"})
    planned = wiring.plan(Place(here.workspace, person, here.settings, here.config_file))
    assert planned.logins == (login.resolve(),)
    assert wiring.renewed_logins("codex", PersonSettings(codex=CodexSettings(key="api"))) == ()
    offline = PersonSettings()
    planned = wiring.plan(Place(here.workspace, offline, here.settings, here.config_file))
    assert not planned.program and "PATH" not in planned.environment


# -- login ----------------------------------------------------------------------------------------


def test_a_token_is_kept_for_the_person_alone(home: Path, dreaming: Dreaming) -> None:
    """From standard input into a file nobody else can read, never shown; and forgotten."""
    ended = dreaming("login", "claude-code", given=f" {TOKEN[:50]}\n{TOKEN[50:]}\n")
    assert ended.code == 0, ended.err
    file = home / "xdg_config_home/dreaming/tokens/claude-code"
    assert file.read_text() == TOKEN and file.stat().st_mode & 0o777 == 0o600
    assert file.parent.stat().st_mode & 0o777 == 0o700
    assert TOKEN[:20] not in ended.out + ended.err
    assert dreaming("login", "claude-code", "--forget").code == 0
    assert not file.exists()


@pytest.mark.parametrize("given", ["", "sk-ant-api03-" + "a" * 80, "secret-thing", TOKEN + "!"])
def test_what_is_no_token_is_refused_and_not_shown(
    home: Path, dreaming: Dreaming, given: str
) -> None:
    """Nothing is written, and what was pasted stands in no message."""
    ended = dreaming("login", "claude-code", given=given)
    assert ended.code == 2
    assert not (home / "xdg_config_home/dreaming/tokens").exists()
    assert not given or given not in ended.err


def test_a_login_is_proved_where_nights_start(home: Path, dreaming: Dreaming) -> None:
    """In the scheduler's environment the token is found, and a question is answered with it."""
    install(home)
    settings = home / "xdg_config_home/dreaming/config.toml"
    assert dreaming("login", "claude-code", given=TOKEN).code == 0
    assert dreaming("doctor", "--backend", "claude-code").code == 0
    with attacking(home, "") as model:
        model.calls["none"] = "it answers at once"
        settings.write_text(f'{settings.read_text()}base_url = "{model.url}"\n')
        ended = dreaming("login", "claude-code", "--check")
    assert ended.code == 0 and "claude-code answered" in ended.err, ended.err
    assert model.questions[0].body["system"] == "Answer by the schema."


def test_a_missing_login_is_a_sentence(home: Path, dreaming: Dreaming) -> None:
    """Codex keeps its own; where it has none, and where ours is missing, the next step is said."""
    install(home)
    ended = dreaming("login", "codex")
    assert ended.code == 78 and "`codex login`" in ended.err
    (home / ".codex").mkdir()
    (home / ".codex/auth.json").write_text("{}")
    assert dreaming("login", "codex").code == 0
    assert dreaming("doctor", "--backend", "claude-code").code == 0
    ended = dreaming("login", "claude-code", "--check")
    assert ended.code == 69 and "dreaming login claude-code" in ended.err
