"""``dreaming schedule`` and ``dreaming daemon`` as a person calls them."""

from __future__ import annotations

import json
import sys
from pathlib import Path

import pytest

from dreaming.cli.main import run

SYSTEMCTL = """#!/bin/sh
echo "$*" >>"$0.asked"
case "$*" in
*list-timers*) echo '[{"next":1796086800000000,"last":0}]' ;;
*show*timer) echo ActiveState=active ;;
*show*) printf 'Result=success\\nExecMainStatus=0\\nExecMainStartTimestamp=\\n' ;;
esac
"""


@pytest.fixture(autouse=True)
def workspace(home: Path) -> Path:
    """A workspace in an empty home."""
    assert run(["init", str(home / ".dreaming")]) == 0
    return home / ".dreaming"


@pytest.fixture
def asked(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A systemctl that answers as one does, and writes down what it was asked."""
    folder = tmp_path / "bin"
    folder.mkdir()
    (folder / "systemctl").write_text(SYSTEMCTL)
    (folder / "systemctl").chmod(0o755)
    monkeypatch.setenv("PATH", str(folder), prepend=":")
    return folder / "systemctl.asked"


def tree(folder: Path) -> set[str]:
    """Every name below a folder, but what a state keeps of itself."""
    return {str(one) for one in folder.rglob("*") if "state" not in str(one)}


def test_print_changes_nothing(home: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """The files are shown with their places, and not written."""
    before = tree(home)
    assert run(["schedule", "install", "--with", "systemd", "--print"]) == 0
    said = capsys.readouterr()
    assert "systemd/user/dreaming.timer\n" in said.out and "PrivateUsers=yes" in said.out
    assert run(["schedule", "install", "--with", "launchd", "--print"]) == 0
    assert "Library/LaunchAgents/dreaming.nightly.plist" in capsys.readouterr().out
    assert tree(home) == before


def test_output_writes_there_only(home: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """Files for another machine: written, not started; taken away with the folder."""
    before, folder = tree(home), home / "new/units"
    words = ["--with", "systemd", "--output", str(folder)]
    assert run(["schedule", "install", *words]) == 0
    assert {one.name for one in folder.iterdir()} == {
        "dreaming.service",
        "dreaming.timer",
        "dreaming-failed@.service",
    }
    assert f"ExecStart={sys.executable} -P -m dreaming" in (folder / "dreaming.service").read_text()
    assert run(["schedule", "show", *words]) == 0
    assert "dreaming.service (ours)\n" in capsys.readouterr().out
    assert run(["schedule", "remove", *words]) == 0
    assert tree(home) == before


def test_the_whole_way(home: Path, asked: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """Install checks, writes and starts; status says when; remove stops before it takes away."""
    before = tree(home)
    assert run(["schedule", "install", "--with", "systemd"]) == 0
    said = capsys.readouterr().err
    assert "Next look: 2026-12-01T01:00:00" in said and "enable-linger" in said
    words = asked.read_text().splitlines()
    assert words.index("--user daemon-reload") < words.index("--user enable --now dreaming.timer")
    assert run(["schedule", "status", "--with", "systemd", "--json"]) == 0
    status = json.loads(capsys.readouterr().out)
    assert (status["kind"], status["installed"], status["active"]) == ("systemd", True, True)
    assert (status["next_look"], status["differs"]) == ("2026-12-01T01:00:00Z", False)
    assert run(["schedule", "status", "--with", "systemd"]) == 0
    assert "nights     systemd: active" in capsys.readouterr().out
    assert run(["schedule", "remove", "--with", "systemd"]) == 0
    assert asked.read_text().splitlines()[-2:] == [
        "--user disable --now dreaming.timer",
        "--user daemon-reload",
    ]
    assert tree(home) == before


def test_a_night_that_could_not_work_is_not_installed(
    home: Path, asked: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    """What is wrong with the settings is shown, and nothing is written or started."""
    monkeypatch.setenv("DREAMING_REVIEWER", "kim")
    (key,) = home.glob("xdg_state_home/dreaming/workspaces/*/key")
    key.write_bytes(b"short")
    before = tree(home)
    assert run(["schedule", "install", "--with", "systemd"]) == 1
    said = capsys.readouterr().err
    assert "A scheduled night could not work" in said and "a key has 32" in said
    assert "DREAMING_REVIEWER: set in this shell only" in said
    assert tree(home) == before and "enable" not in asked.read_text()


def test_without_a_scheduler_the_daemon_is_named(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    """A machine without systemctl hears of the other way, and how to write files elsewhere."""
    monkeypatch.setenv("PATH", "")
    assert run(["schedule", "install", "--with", "systemd"]) == 78
    said = capsys.readouterr().err
    assert "systemctl is not on this machine" in said
    assert "dreaming daemon" in said and "--output" in said


def test_the_daemon_needs_no_files(
    home: Path, workspace: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """Its command is printed, by paths that hold anywhere; nothing is written or removed."""
    before = tree(home)
    for verb in ("install", "show"):
        assert run(["schedule", verb, "--with", "daemon"]) == 0
        said = capsys.readouterr().out.split()
        assert said == [
            sys.executable,
            "-P",
            "-m",
            "dreaming",
            "daemon",
            "--workspace",
            str(workspace),
        ]
    assert run(["schedule", "remove", "--with", "daemon"]) == 0
    assert tree(home) == before


@pytest.mark.parametrize("words", [["--with", "launchd", "--system"], ["--with", "cron"]])
def test_what_does_not_exist_is_told_so(words: list[str]) -> None:
    """Only systemd has a manager of the machine, and there are three kinds."""
    assert run(["schedule", "install", *words]) == 2


def test_status_of_nothing(capsys: pytest.CaptureFixture[str]) -> None:
    """Where nothing starts nights, status says so and what to do."""
    assert run(["schedule", "status", "--with", "daemon"]) == 0
    said = capsys.readouterr().out
    assert "daemon: nothing" in said and "dreaming schedule install" in said


def test_the_daemon_looks_once(capfd: pytest.CaptureFixture[str]) -> None:
    """``--once`` runs what a scheduler would, and ends as it did."""
    assert run(["daemon", "--once"]) == 0
    assert "0 files found" in capfd.readouterr().out
    assert run(["daemon", "--once"]) == 0
    assert "files found" not in capfd.readouterr().out
