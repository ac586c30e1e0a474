"""A night as a person starts it, without any unit, watched by strace."""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

from tests.acceptance.installed import Dreaming, copy_sample
from tests.live.strace import WATCH, forbidden


@pytest.fixture
def dreaming(home: Path) -> Dreaming:
    """A home with the sample's sessions and a workspace."""
    if shutil.which("strace") is None:
        pytest.skip("strace is not here")
    copy_sample(home)
    made = Dreaming(home)
    assert made.run("init").code == 0
    return made


def watched(made: Dreaming, trace: Path, *words: str) -> list[str]:
    """Run a command under strace and return its calls."""
    done = subprocess.run(
        [*WATCH, trace, sys.executable, "-m", "dreaming", *words],
        cwd=made.home,
        env=dict(os.environ),
        capture_output=True,
        text=True,
        check=False,
    )
    if "ptrace" in done.stderr:
        pytest.skip("nobody may be watched here")
    assert done.returncode == 0, done.stderr
    return trace.read_text(errors="replace").splitlines()


def test_a_night_changes_nothing_of_a_persons_and_calls_nobody(
    dreaming: Dreaming, tmp_path: Path
) -> None:
    """Not one call changes knowledge base or ledger or talks to an address, offline."""
    words = ("nightly", "--since", "all", "--settle", "0")
    calls = watched(dreaming, tmp_path / "trace", *words)
    owned = [dreaming.workspace / "knowledge_base", dreaming.workspace / "ledger"]
    assert dreaming.pending()
    assert forbidden(calls, owned, sockets=False) == []
    assert forbidden(calls, [dreaming.workspace / "pending"], sockets=False)


def test_a_decision_is_seen(dreaming: Dreaming, tmp_path: Path) -> None:
    """The same watch sees what a person's decision writes, so that it would see a night's."""
    dreaming.night()
    first = next(iter(dreaming.pending()))
    calls = watched(dreaming, tmp_path / "trace", "accept", first, "--i-am-a-person")
    for name in ("knowledge_base", "ledger"):
        assert forbidden(calls, [dreaming.workspace / name], sockets=False)


@pytest.mark.parametrize(
    ("line", "seen"),
    [
        ('7 openat(AT_FDCWD, "/w/kb/a.md", O_RDONLY|O_CLOEXEC) = 3</w/kb/a.md>', False),
        ('7 openat(AT_FDCWD, "/w/kb/a.md", O_WRONLY|O_APPEND) = 3</w/kb/a.md>', True),
        ('7 openat(AT_FDCWD, "/w/kb/a.md", O_WRONLY) = -1 EROFS (Read-only file system)', False),
        ('7 write(3</w/kb/a.md>, "x", 1) = 1', True),
        ('7 rename("/w/state/x", "/w/kb/a.md") = 0', True),
        ('7 unlink("/w/kb/a.md") = 0', True),
        ('7 newfstatat(AT_FDCWD, "/w/kb/a.md", {}, 0) = 0', False),
        ("7 connect(3<socket:[1]>, {sa_family=AF_INET, sin_port=htons(443)}, 16) = 0", True),
        ("7 connect(3<socket:[1]>, {sa_family=AF_INET}, 16) = -1 EINPROGRESS (now)", True),
        ("7 connect(3<socket:[1]>, {sa_family=AF_INET}, 16) = -1 EACCES (no)", False),
        ("7 socket(AF_INET, SOCK_STREAM, 0) = 3<socket:[1]>", True),
        ("7 sendto(3<socket:[1]>, [{ifa_family=AF_INET}], {sa_family=AF_NETLINK}) = 32", False),
        ('7 connect(3<socket:[1]>, {sa_family=AF_UNIX, sun_path="/run/x"}, 110) = 0', False),
    ],
)
def test_what_is_forbidden_is_seen(line: str, seen: bool) -> None:
    """Successful changes below a folder, and talking to an address, also when it takes longer."""
    assert bool(forbidden([line], [Path("/w/kb")], sockets=True)) is seen
