"""The real programs, attacked by their model: nothing gets through, and each guard is why."""

from __future__ import annotations

import tempfile
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from dreaming.backends import child, claude_code, codex_cli
from dreaming.backends.child import CliBackend
from dreaming.backends.claude_code import ClaudeCode
from dreaming.backends.codex_cli import Codex
from dreaming.backends.interface import Request
from dreaming.jobs.attack import Stage, attack, on_stage
from dreaming.jobs.doctor import Level

Made = Callable[[Stage], CliBackend]


@pytest.fixture(autouse=True)
def _own_temporary(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    monkeypatch.setenv("TMPDIR", str(tmp_path))
    monkeypatch.setattr(tempfile, "tempdir", None)
    yield
    tempfile.tempdir = None


def bad(made: Made, near: Path) -> dict[str, str]:
    """Return what the attack got through, by check; the person's own home is full of traps."""

    def run(stage: Stage) -> str:
        own = near / "own"
        stage.plant(own)
        with pytest.MonkeyPatch.context() as patch:
            for name in ("HOME", "CLAUDE_CONFIG_DIR", "CODEX_HOME"):
                patch.setenv(name, str(own))
            return on_stage(made(stage), stage)

    found = attack(run, near=near / "trial")
    return {one.name: one.said for one in found if one.level is Level.BAD}


def plan(program: str, near: Path) -> Made:
    """Return Claude Code as people with a plan run it."""
    token = near / "token"
    token.write_text("sk-ant-oat01-invented")
    return lambda stage: ClaudeCode(program, token_file=token, base_url=stage.attacker.url)


def gpt(program: str) -> Made:
    """Return Codex."""
    return lambda stage: Codex(program, api_key="sk-no", base_url=f"{stage.attacker.url}/v1")


def test_nothing_gets_through_claude_code(claude: str, tmp_path: Path) -> None:
    """Neither with the token of a plan nor with a key."""
    assert bad(plan(claude, tmp_path), tmp_path) == {}
    by_key = bad(lambda at: ClaudeCode(claude, api_key="no", base_url=at.attacker.url), tmp_path)
    assert by_key == {}


def test_nothing_gets_through_codex(codex: str, tmp_path: Path) -> None:
    """Nor with the models that are offered their tools inside the prompt."""
    assert bad(gpt(codex), tmp_path) == {}


class Loose(ClaudeCode):
    """Claude Code as it is without any guard: what the attack is worth."""

    def command(self, request: Request, folders: child.Room) -> child.Command:
        """Return a plain run in print mode."""
        path = child.find(self._program)
        argv = (
            str(path),
            "-p",
            "--model=claude-haiku-5-5",
            "--allowedTools=Bash,Read,Write",
            f"--append-system-prompt={request.system}",
        )
        around = child.environment(path, folders, ANTHROPIC_API_KEY="sk-no")
        return child.Command(argv, {**around, "ANTHROPIC_BASE_URL": self._base_url or ""})


def test_the_attack_is_real(claude: str, tmp_path: Path) -> None:
    """Without guards the same model makes the same program do all of it."""
    found = bad(lambda stage: Loose(claude, base_url=stage.attacker.url), tmp_path)
    assert {"tools", "calls", "files", "planted", "traces", "network"} <= set(found)
    assert "made-by-start-hook" in found["files"]
    assert "secret.txt" in found["planted"]


@pytest.mark.parametrize(
    ("gone", "check"),
    [
        (("--tools=",), "tools"),
        (("--setting-sources=",), "files"),
        (("ATTACHMENTS", "MENTIONS"), "planted"),
        (("--no-session-persistence", "HISTORY"), "traces"),
        (("NONESSENTIAL",), "network"),
    ],
)
def test_each_guard_of_claude_code_is_needed(
    claude: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, gone: tuple[str, ...], check: str
) -> None:
    """Taken away, alone or with the one that does the same, the attack gets through."""
    flags = tuple(one for one in claude_code.FLAGS if one not in gone)
    quiet = {
        name: on for name, on in claude_code.QUIET.items() if not any(one in name for one in gone)
    }
    assert len(flags) + len(quiet) == len(claude_code.FLAGS) + len(claude_code.QUIET) - len(gone)
    monkeypatch.setattr(claude_code, "FLAGS", flags)
    monkeypatch.setattr(claude_code, "QUIET", quiet)
    assert check in bad(plan(claude, tmp_path), tmp_path)


def test_a_plan_mode_is_no_guard(
    claude: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """It offers every tool; so this mode is never used."""
    flags = [one for one in claude_code.FLAGS if not one.startswith(("--tools", "--permission"))]
    monkeypatch.setattr(claude_code, "FLAGS", (*flags, "--permission-mode=plan"))
    assert "Bash" in bad(plan(claude, tmp_path), tmp_path)["tools"]


@pytest.mark.parametrize(
    ("table", "gone", "check"),
    [
        ("DISARMED", "tool_mode", "tools"),
        ("DISARMED", "multi_agent_version", "tools"),
        ("SETTINGS", "analytics.enabled=false", "network"),
        ("SETTINGS", "project_doc_max_bytes=0", "planted"),
        ("FLAGS", "--ignore-user-config", "files"),
        ("FLAGS", "--ephemeral", "traces"),
    ],
)
def test_each_guard_of_codex_is_needed(
    codex: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, table: str, gone: str, check: str
) -> None:
    """Taken away alone, the attack gets through."""
    guards = getattr(codex_cli, table)
    assert gone in guards
    fewer = [one for one in guards if one != gone]
    monkeypatch.setattr(
        codex_cli, table, {one: guards[one] for one in fewer} if table == "DISARMED" else fewer
    )
    assert check in bad(gpt(codex), tmp_path)
