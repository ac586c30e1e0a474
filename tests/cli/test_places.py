"""Where a person points: odd places get a sentence and a documented code, never a surprise."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest


def dreaming(home: Path, *words: str) -> subprocess.CompletedProcess[str]:
    """Run a command in a home of its own."""
    return subprocess.run(
        (sys.executable, "-m", "dreaming", *words),
        cwd=home,
        stdin=subprocess.DEVNULL,
        capture_output=True,
        text=True,
        check=False,
    )


@pytest.mark.parametrize(
    ("named", "code"),
    [(" ", 78), ("\n", 78), ("~/elsewhere", 78), ("a" * 5000, 2), ("~nobody-here/x", 2)],
)
def test_an_odd_workspace_in_the_environment(
    home: Path, monkeypatch: pytest.MonkeyPatch, named: str, code: int
) -> None:
    """Blanks name none, ``~`` is the home, and what cannot be a folder is said."""
    monkeypatch.setenv("DREAMING_WORKSPACE", named)
    ended = dreaming(home, "status")
    assert ended.returncode == code
    assert "Traceback" not in ended.stderr
    if named.startswith("~/"):
        assert str(home / "elsewhere") in ended.stderr
    elif code == 78:
        assert str(home / ".dreaming") in ended.stderr


@pytest.mark.parametrize("wanted", ["", "a", "abc"])
def test_reveal_shows_what_somebody_named(home: Path, wanted: str) -> None:
    """The beginning of an id that fits everything does not reveal everything."""
    assert dreaming(home, "init", str(home / "w")).returncode == 0
    ended = dreaming(home, "reveal", "--workspace", str(home / "w"), wanted)
    assert ended.returncode == 2
    assert "too short" in ended.stderr
