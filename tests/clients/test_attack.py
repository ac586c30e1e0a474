"""The real programs, as a person tries them and as a night that the kernel holds runs them."""

from __future__ import annotations

import json
import shutil
from collections.abc import Callable
from pathlib import Path

import pytest

from dreaming.backends import claude_code, codex_cli
from dreaming.backends.attacker import ALLOWED, attacking
from dreaming.cli.main import run
from dreaming.jobs.attack import Stage, attack, on_stage
from dreaming.stores import sandbox
from tests.transcripts.transcript_samples import read

SAMPLE = Path(__file__).parents[2] / "dreaming/resources/sample/home"
KINDS = pytest.mark.parametrize("name", ["claude-code", "codex"])


@pytest.fixture
def settings(
    home: Path, claude: str, codex: str, monkeypatch: pytest.MonkeyPatch
) -> Callable[[str, str], None]:
    """Writes the person's settings: a backend, and where its model is."""
    file = home / "xdg_config_home/dreaming/config.toml"
    file.parent.mkdir(parents=True)
    monkeypatch.setenv("OPENAI_API_KEY", "made-up")

    def write(name: str, url: str = "") -> None:
        address = f'base_url = "{url}"\n' if url else ""
        tables = f'[claude_code]\nprogram = "{claude}"\n{address}'
        tables += f'[codex]\nprogram = "{codex}"\nkey = "api"\n{address}'
        file.write_text(f'backend = "{name}"\n{tables}[limits]\ncalls = 1\n')

    return write


@KINDS
def test_a_night_asks_the_program_that_passed(
    name: str,
    settings: Callable[[str, str], None],
    home: Path,
    capsys: pytest.CaptureFixture[str],
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """Tried without a key, it passes; then it works in a night that the kernel holds."""
    shutil.copytree(SAMPLE, home, dirs_exist_ok=True)
    monkeypatch.chdir(home)
    settings(name, "")
    assert run(["doctor", "--backend", name, "--json"]) == 0, capsys.readouterr().out
    (home / "xdg_config_home/dreaming/tokens").mkdir()
    token = home / "xdg_config_home/dreaming/tokens/claude-code"
    token.write_text("sk-ant-oat01-" + "a" * 60)
    token.chmod(0o600)
    assert run(["init"]) == 0
    with attacking(home, "") as model:
        model.calls["none"] = "it answers at once"
        settings(name, model.url)
        run(["nightly", "--since", "all", "--settle", "0", "--quiet"])
    asked = [one for one in model.questions if "[dreaming: mining task]" in one.raw]
    assert asked and not {tool for one in asked for tool in one.tools} - ALLOWED
    assert model.strays == []
    capsys.readouterr()
    assert run(["status", "--json"]) == 0
    status = json.loads(capsys.readouterr().out)
    assert status["backend_program"]["passed"]
    assert status["spent"]["requests"]
    if sandbox.version():
        assert "landlock" in status["sandbox"]["rings"]
    assert not [one for one in home.rglob("dreaming-room-*") if one.is_dir()]


@KINDS
def test_a_transcript_that_is_left_is_known_as_ours(
    name: str, claude: str, codex: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Without the flags that keep a program from leaving one, it is not mined all the same."""
    left: list[bytes] = []

    def search(stage: Stage, folder: Path) -> None:
        left.extend(one.read_bytes() for one in folder.rglob("*.jsonl"))

    monkeypatch.setattr(Stage, "search", search)
    off = ("--no-session-persistence", "--ephemeral")
    for module in (claude_code, codex_cli):
        monkeypatch.setattr(module, "FLAGS", tuple(one for one in module.FLAGS if one not in off))
    quiet = {k: v for k, v in claude_code.QUIET.items() if k != "CLAUDE_CODE_SKIP_PROMPT_HISTORY"}
    monkeypatch.setattr(claude_code, "QUIET", quiet)

    def program(stage: Stage) -> str:
        url = stage.attacker.url
        if name == "codex":
            return on_stage(codex_cli.Codex(codex, api_key="made-up", base_url=url), stage)
        key = "made-up"
        return on_stage(claude_code.ClaudeCode(claude, api_key=key, base_url=url), stage)

    attack(program, near=tmp_path)
    sessions = [session for one in left if (session := read(name, one)).turns]
    assert sessions and all(session.own_run for session in sessions)
