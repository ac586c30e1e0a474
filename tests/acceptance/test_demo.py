"""The demo: quick, complete, and nothing of the person's is touched."""

from __future__ import annotations

import json
import os
from pathlib import Path

import pytest

from dreaming.cli.main import run
from tests.acceptance import first_night
from tests.acceptance.installed import Dreaming, folder_hash


def test_demo_shows_a_night(home: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """Candidates, one with its evidence, and what to do next; the home stays as it was."""
    (home / ".claude").mkdir()
    (home / ".claude" / "settings.json").write_text("{}")
    before = folder_hash(home)
    assert run(["demo"]) == 0
    told = capsys.readouterr()
    assert "Run `pnpm check:style` to lint lantern-web" in told.out
    why = told.out.split("in words that stand in the sessions:")[1].strip().splitlines()
    assert len([line for line in why if line.strip().startswith("2026-11-")]) >= 2
    assert "dreaming nightly" in told.err
    assert folder_hash(home) == before


def test_recorded_answers_reach_every_lesson(capsys: pytest.CaptureFixture[str]) -> None:
    """What a model said is proposed in its words, each lesson once, each from two sessions."""
    assert run(["demo", "--json"]) == 0
    told = json.loads(capsys.readouterr().out)
    assert told["report"]["complaints"] == {}
    assert {one["backend"] for one in told["candidates"]} == {"replay"}
    assert {one["slug"] for one in told["candidates"]} == {
        "client-is-generated",
        "database-on-port-5439",
        "importer-needs-the-zone",
        "main-only-by-pull-request",
        "pnpm-not-npm",
        "reviewer-has-no-shell",
        "smoke-tests-only",
        "style-check-has-its-own-name",
    }
    assert all(one["sessions"] >= 2 for one in told["candidates"])
    first_night.check_account(told["report"])


def test_demo_finds_lessons_without_a_model(capsys: pytest.CaptureFixture[str]) -> None:
    """The embedded backend brings at least five candidates from the same sessions."""
    assert run(["demo", "--offline", "--json"]) == 0
    told = json.loads(capsys.readouterr().out)
    assert len(told["candidates"]) >= 5
    assert {one["backend"] for one in told["candidates"]} == {"offline"}


def test_settings_do_not_reach_the_demo(
    home: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    """A person's backend, broken settings and workspace variable change nothing."""
    monkeypatch.setenv("DREAMING_BACKEND", "anthropic")
    monkeypatch.setenv("DREAMING_WORKSPACE", str(home / "elsewhere"))
    settings = home / "xdg_config_home" / "dreaming" / "config.toml"
    settings.parent.mkdir(parents=True)
    settings.write_text("bakcend = 'anthropic'\n")
    assert run(["demo", "--json"]) == 0
    assert json.loads(capsys.readouterr().out)["report"]["backend"].startswith("replay")


def test_kept_demo_can_be_gone_on_in(home: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """``--keep`` leaves a workspace in which every command works as the demo says."""
    kept = home / "kept"
    dreaming = Dreaming(home)
    told = dreaming.run("demo", "--keep", kept)
    assert told.code == 0, told.said
    for line in told.err.splitlines():
        if line.strip().startswith("export "):
            for setting in line.split()[1:]:
                monkeypatch.setenv(*setting.split("=", 1))
    assert os.environ["XDG_STATE_HOME"] == str(kept / "state")
    there = Dreaming(home)
    there.workspace = kept / "workspace"
    here = ("--workspace", there.workspace)
    assert there.night(*here)["new_bytes"] == 0
    candidate = next(iter(there.pending()))
    assert there.run("accept", candidate, *here).code == 0
    assert candidate not in there.pending()


def test_demo_never_writes_over(home: Path) -> None:
    """``--keep`` of a folder that holds something ends with 2 and leaves it."""
    (home / "mine").mkdir()
    (home / "mine" / "notes.txt").write_text("mine")
    assert run(["demo", "--keep", str(home / "mine")]) == 2
    assert [path.name for path in (home / "mine").iterdir()] == ["notes.txt"]
