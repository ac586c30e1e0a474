"""What a person allows a night and a backfill, from the settings and the command line."""

from __future__ import annotations

import json
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import pytest

from dreaming import wiring
from dreaming.cli.main import run
from dreaming.jobs.progress import Progress
from dreaming.quota import Window
from dreaming.stores.accounts import Accounts
from dreaming.stores.workspace import config_file

NOW = 1_796_000_000.0


@pytest.fixture
def place(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A new workspace, and a clock that stands."""
    monkeypatch.setattr("time.time", lambda: NOW)
    assert run(["init", str(tmp_path / "w")]) == 0
    return tmp_path / "w"


def status(place: Path, capsys: pytest.CaptureFixture[str], *words: str) -> str:
    """What ``dreaming status`` prints."""
    capsys.readouterr()
    assert run(["status", "--workspace", str(place), *words]) == 0
    return capsys.readouterr().out


@pytest.mark.parametrize(("money", "expected"), [(None, (0.5, 100, 2.0)), (0.75, (0.5, 100, 0.75))])
def test_the_command_line_wins_over_the_settings(
    place: Path, money: float | None, expected: Sequence[float]
) -> None:
    """A night's limits stand in [limits]; half of a window is used where nobody says another."""
    config_file().parent.mkdir(parents=True, exist_ok=True)
    config_file().write_text("[limits]\ncalls = 100\nmoney = 2.0\n")
    choices = wiring.Choices(place, money=money)
    with wiring.night(wiring.place(choices), choices, Progress()) as night:
        limits = night.limits
    assert (limits.window, limits.calls, limits.money) == expected


@pytest.mark.parametrize("text", ["window = 0", "window = 1.1", "money = -1", "calls = 1.5"])
def test_a_limit_that_is_none_is_refused(place: Path, text: str) -> None:
    """Ends with 78, and so does a workspace's file that would set one."""
    config_file().parent.mkdir(parents=True, exist_ok=True)
    config_file().write_text(f"[limits]\n{text}\n")
    assert run(["nightly", "--workspace", str(place)]) == 78
    config_file().unlink()
    (place / "dreaming.toml").write_text("[limits]\ncalls = 1\n")
    assert run(["nightly", "--workspace", str(place)]) == 78


def test_a_night_takes_no_limit_that_is_no_number(place: Path) -> None:
    """``--money nan`` would be no limit at all."""
    assert run(["nightly", "--workspace", str(place), "--money", "nan"]) == 2


def test_status_says_how_far_the_windows_are_used(
    place: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """What any workspace of the machine was told, and from when a night goes on."""
    assert "quota" not in status(place, capsys)
    neighbour = wiring.place(wiring.Choices(place)).workspace.state.parent / "neighbour"
    neighbour.mkdir()
    accounts = Accounts(neighbour)
    quota = accounts.own("claude-code")
    quota.hear([Window("five_hour", 0.62, NOW + 3600), Window("seven_day", 0.1, NOW - 1)], NOW)
    accounts.keep()
    assert (
        "quota       claude-code: 62% of five_hour used; goes on at 2026-11-30T01:53:20+00:00\n"
    ) in status(place, capsys)
    found: list[dict[str, Any]] = json.loads(status(place, capsys, "--json"))["quota"]
    assert found == [
        {
            "account": "claude-code",
            "windows": {"five_hour": 0.62},
            "not_before": "2026-11-30T01:53:20+00:00",
        }
    ]
