"""What is kept, and for how long, is said and asked when a workspace is made."""

from pathlib import Path

import click
import pytest

from dreaming.cli.main import run
from dreaming.config import read_workspace


def _terminal(monkeypatch: pytest.MonkeyPatch, answer: str) -> list[str]:
    asked: list[str] = []

    def prompt(text: str, **_: object) -> str:
        asked.append(text)
        return answer

    monkeypatch.setattr("sys.stdin.isatty", lambda: True)
    monkeypatch.setattr("sys.stderr.isatty", lambda: True)
    monkeypatch.setattr(click, "prompt", prompt)
    return asked


def test_a_new_workspace_keeps_what_a_person_says(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    """Asked once, on a terminal; what was said stands in the workspace's settings."""
    asked = _terminal(monkeypatch, "180 days")
    assert run(["init", str(tmp_path / "w")]) == 0
    assert read_workspace(tmp_path / "w" / "dreaming.toml").retention.sessions == "180 days"
    assert "redacted, kept 180 days; [retention] in dreaming.toml" in capsys.readouterr().err
    assert run(["init", str(tmp_path / "w")]) == 0
    assert len(asked) == 1


def test_nothing_is_kept_where_nobody_can_be_asked(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """Without a terminal whole sessions are not kept, and that is said."""
    assert run(["init", str(tmp_path / "w")]) == 0
    assert read_workspace(tmp_path / "w" / "dreaming.toml").retention.sessions == "off"
    assert "none are kept; [retention] in dreaming.toml" in capsys.readouterr().err
