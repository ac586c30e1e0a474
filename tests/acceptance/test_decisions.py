"""Decisions as commands: what a person types, reads, and leaves with."""

from __future__ import annotations

import json
from importlib import import_module
from pathlib import Path

import pytest
from click.testing import CliRunner, Result

from dreaming.cli.main import program
from dreaming.errors import DreamingError
from dreaming.stores.pending import Pending
from tests.jobs.test_decide_machine import candidate


@pytest.fixture
def place(tmp_path: Path) -> Path:
    """A workspace in which three invented candidates wait."""
    root = tmp_path / "workspace"
    assert _run(root, "init", str(root), own=False).exit_code == 0
    for number in range(3):
        Pending(root / "pending").put(candidate(number))
    return root


def _run(root: Path, *words: str, own: bool = True) -> Result:
    more = ["--workspace", str(root)] if own else []
    return CliRunner().invoke(program, [*words, *more], standalone_mode=False)


def _ended(result: Result) -> int:
    if isinstance(result.exception, DreamingError):
        return result.exception.EXIT_CODE
    assert result.exception is None, result.exception
    return int(result.return_value or 0)


def test_accept_and_undo(place: Path) -> None:
    """The line is shown as it goes in and as it comes out."""
    done = _run(place, "accept", candidate(0).id[:8], "--rule", "Wait for the amber lamp.")
    assert _ended(done) == 0
    line = (place / "knowledge_base" / "notes.md").read_text().splitlines()[2]
    assert f"+{line}" in done.stdout
    back = _run(place, "undo")
    assert f"-{line}" in back.stdout and "waits again" in back.stderr
    assert not (place / "knowledge_base" / "notes.md").exists()
    assert _ended(_run(place, "undo")) == 2


def test_a_lesson_of_ones_own(place: Path) -> None:
    """Topic, symptom and rule together; known a second time, near a third."""
    own = ("accept", "--topic", "git", "--symptom", "First push fails.", "--rule")
    rule = "Push with `--set-upstream origin`."
    assert json.loads(_run(place, *own, rule, "--json").stdout)["written"]
    assert _ended(_run(place, *own, rule.upper())) == 3
    near = _run(place, *own, "Use --set-upstream origin to push.")
    assert _ended(near) == 3 and "git.md:3" in near.stderr
    forced = _run(place, *own, "Use --set-upstream origin to push.", "--force", "for mirrors")
    assert _ended(forced) == 0 and "git.md:3" in forced.stderr
    assert "for mirrors" in _run(place, "ledger", "show", "git").stdout
    assert _ended(_run(place, "accept", "--topic", "git")) == 2


@pytest.mark.parametrize(("key", "exit_code"), [("y", 0), ("n", 3), ("\r", 3)])
def test_on_a_terminal_one_key_decides(
    place: Path, monkeypatch: pytest.MonkeyPatch, key: str, exit_code: int
) -> None:
    """What is near is shown; y writes it, anything else writes nothing."""
    monkeypatch.setattr(import_module("dreaming.cli.accept"), "_is_terminal", lambda: True)
    own = ["accept", "--workspace", str(place), "--topic", "git", "--symptom", "First push fails."]
    runner = CliRunner()
    runner.invoke(program, [*own, "--rule", "Push with `--set-upstream origin`."])
    done = runner.invoke(
        program,
        [*own, "--rule", "Use --set-upstream origin to push."],
        input=key,
        standalone_mode=False,
    )
    assert _ended(done) == exit_code
    assert "git.md:3" in done.stderr and "y writes it" in done.stderr
    assert len((place / "knowledge_base" / "git.md").read_text().splitlines()) == 4 - exit_code // 3


def test_text_that_steers_a_terminal_is_refused(place: Path) -> None:
    """Exit 4, with the place; no file is made."""
    told = _run(
        place, "accept", "--topic", "x", "--symptom", "a", "--rule", "b\x1b[2Jc", "--dry-run"
    )
    assert _ended(told) == 4
    assert not (place / "knowledge_base" / "x.md").exists()


def test_later_and_merge(place: Path) -> None:
    """Under `pending`, as what happens to the queue."""
    assert _ended(_run(place, "pending", "later", candidate(0).id, "--sessions", "2")) == 0
    merged = _run(place, "pending", "merge", candidate(1).id, candidate(2).id, "--json")
    assert json.loads(merged.stdout)["merged"]
    assert _ended(_run(place, "pending", "later", candidate(2).id)) == 2
    with pytest.raises(Exception, match="2026-12-24"):
        raise (
            _run(place, "pending", "later", candidate(2).id, "--until", "soon").exception or OSError
        )
    shown = json.loads(_run(place, "ledger", "show", "--json").stdout)
    assert [one["action"] for one in shown] == ["merge", "later"]


def test_verify_names_what_was_changed(place: Path) -> None:
    """Whole, 0 with every head; changed, 78 with file and line."""
    for number in range(3):
        _run(place, "reject", candidate(number).id, "--why", "wrong")
    assert _ended(_run(place, "ledger", "verify")) == 0
    (path,) = (place / "ledger").glob("*.jsonl")
    head = json.loads(_run(place, "status", "--json").stdout)["ledger"][path.name]
    assert head["lines"] == 3
    assert head["head"] in _run(place, "ledger", "verify").stdout
    path.write_bytes(path.read_bytes()[:-1] + b" ")
    broken = _run(place, "ledger", "verify")
    assert _ended(broken) == 78 and f"{path}:3" in broken.stdout
    assert not json.loads(_run(place, "ledger", "verify", "--json").stdout)["whole"]


@pytest.mark.parametrize(
    "words",
    [
        ("undo",),
        ("accept", "1111"),
        ("pending", "merge", "1111", "2222"),
        ("pending", "later", "1111", "--sessions", "2"),
    ],
)
def test_an_agent_does_not_decide(
    place: Path, monkeypatch: pytest.MonkeyPatch, words: tuple[str, ...]
) -> None:
    """Every deciding command is refused inside an agent, and says how a person goes on."""
    monkeypatch.setenv("CLAUDECODE", "1")
    told = _run(place, *words)
    assert _ended(told) == 4
    assert isinstance(told.exception, DreamingError) and "--i-am-a-person" in told.exception.remedy
