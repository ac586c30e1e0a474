"""`make night`: what it is going to read is said, and asked about where somebody can answer."""

from __future__ import annotations

import os
import pty
import shutil
import subprocess
import sys
import time
from importlib import resources
from pathlib import Path

import pytest

RUN = (sys.executable, "-m", "dreaming", "first-night")


def files(folder: Path) -> list[str]:
    """Every file below a folder."""
    return sorted(str(one.relative_to(folder)) for one in folder.rglob("*") if one.is_file())


@pytest.fixture
def used(home: Path) -> Path:
    """A home in which agents worked, a day ago."""
    with resources.as_file(resources.files("dreaming.resources") / "sample" / "home") as sample:
        shutil.copytree(sample, home, dirs_exist_ok=True)
    yesterday = time.time() - 24 * 3600
    for one in home.rglob("*.jsonl"):
        os.utime(one, (yesterday, yesterday))
    return home


def run(home: Path) -> subprocess.CompletedProcess[str]:
    """Run it where nobody can answer."""
    return subprocess.run(
        RUN, cwd=home, stdin=subprocess.DEVNULL, capture_output=True, text=True, check=False
    )


def answer(home: Path, said: bytes) -> tuple[int, str]:
    """Run it on a terminal and answer its question."""
    ours, theirs = pty.openpty()
    process = subprocess.Popen(RUN, cwd=home, stdin=theirs, stdout=theirs, stderr=theirs)
    os.close(theirs)
    os.write(ours, said)
    seen = b""
    try:
        while piece := os.read(ours, 4096):
            seen += piece
    except OSError:  # how Linux says that the other side is closed
        pass
    os.close(ours)
    return process.wait(), seen.decode()


def test_a_machine_without_transcripts_sees_the_sample(home: Path) -> None:
    """The invented sample is mined, candidates are shown, and nothing is left behind."""
    done = run(home)
    assert done.returncode == 0, done.stderr
    assert "No coding agent left a transcript on this machine" in done.stderr
    assert "offline backend" in done.stdout
    assert "wait for a person's decision" in done.stderr
    assert files(home) == []


def test_what_will_be_read_is_said_first(used: Path) -> None:
    """Agents, numbers, sizes, folders, what is written, and that nothing leaves the machine."""
    said = run(used).stderr
    before, _, after = said.partition("Nothing leaves this machine")
    assert "claude-code" in before and "~/.claude/projects" in before
    assert "codex" in before and "~/.codex/sessions" in before
    assert "~/.dreaming" in before
    assert "candidates wait. Next: dreaming pending list" in after


def test_a_night_is_run_in_the_default_workspace(used: Path) -> None:
    """Afterwards there is a workspace with a queue, and a second time is quiet."""
    assert run(used).returncode == 0
    queue = [one for one in files(used / ".dreaming/pending") if one.endswith(".json")]
    assert queue
    again = run(used)
    assert again.returncode == 0
    assert "0 transcripts" in again.stderr and "0 B new" in again.stdout
    assert [one for one in files(used / ".dreaming/pending") if one.endswith(".json")] == queue


def test_no_means_no(used: Path) -> None:
    """A person on a terminal is asked before anything is written; no leaves all as it was."""
    before = files(used)
    code, seen = answer(used, b"n\n")
    assert code == 0
    assert "Go on? [Y/n]" in seen and "Nothing was read and nothing was written." in seen
    assert files(used) == before


def test_return_means_yes(used: Path) -> None:
    """The night runs after Return."""
    code, seen = answer(used, b"\n")
    assert code == 0
    assert "Next: dreaming pending list" in seen
