"""What a process gives up with Landlock, tried by real processes that gave it up."""

from __future__ import annotations

import errno
import socket
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

from dreaming.stores import sandbox

needs_landlock = pytest.mark.skipif(
    not sandbox.version(), reason="NOT TESTED: this kernel has no Landlock"
)
GIVE_UP = """
import errno, os, socket, subprocess, sys
from pathlib import Path
from dreaming.stores import sandbox
mine, other, ports = Path(sys.argv[1]), Path(sys.argv[2]), sys.argv[3]
sandbox.restrict([mine, Path(os.devnull)], None if ports == "any" else map(int, ports.split()))
try:
    {action}
except OSError as wrong:
    sys.exit(wrong.errno)
"""


@pytest.fixture
def places(tmp_path: Path) -> tuple[Path, Path]:
    """A folder that stays open, and one that does not, each with a file."""
    for name in ("mine", "other"):
        (tmp_path / name).mkdir()
        (tmp_path / name / "old").write_text("as it was")
    return tmp_path / "mine", tmp_path / "other"


def given_up(action: str, places: tuple[Path, Path], ports: str = "") -> int:
    """Return the error that an action gives in a process that gave up its rights; 0 for none."""
    program = GIVE_UP.format(action=action)
    return subprocess.run(
        [sys.executable, "-c", program, *map(str, places), ports], check=False
    ).returncode


@needs_landlock
@pytest.mark.parametrize(
    "action",
    [
        "(other / 'old').write_text('x')",
        "(other / 'old').open('a')",
        "(other / 'new').write_text('x')",
        "(other / 'new').mkdir()",
        "(other / 'old').unlink()",
        "(other / 'new').symlink_to('old')",
        "(other / 'old').rename(other / 'new')",
        "(mine / 'old').rename(other / 'new')",
        "(other / 'old').rename(mine / 'new')",
        "os.link(mine / 'old', other / 'new')",
        "os.truncate(other / 'old', 0)",
        "os.mkfifo(other / 'new')",
        "(mine / 'way').symlink_to(other / 'old'); (mine / 'way').write_text('x')",
        "(mine / '..' / 'other' / 'old').write_text('x')",
    ],
)
def test_nothing_is_written_elsewhere(action: str, places: tuple[Path, Path]) -> None:
    """Writing, making, removing, moving, linking, cutting: refused, and nothing changed."""
    assert given_up(action, places) in (errno.EACCES, errno.EXDEV)
    assert [(one.name, one.read_text()) for one in places[1].iterdir()] == [("old", "as it was")]


@needs_landlock
@pytest.mark.parametrize(
    "action",
    [
        "(mine / 'old').write_text('x')",
        "(mine / 'new').mkdir()",
        "(mine / 'old').rename(mine / 'new')",
        "(mine / 'old').unlink()",
        "(other / 'old').read_text()",
        "list(other.iterdir())",
        "open(os.devnull, 'w').write('x')",
    ],
)
def test_what_a_night_needs_stays(action: str, places: tuple[Path, Path]) -> None:
    """The places named stay open for writing, and everything for reading."""
    assert given_up(action, places) == 0


@needs_landlock
def test_a_state_needs_no_folder_for_temporary_files(places: tuple[Path, Path]) -> None:
    """What is too large for SQLite's cache is sorted all the same, where nothing else is open."""
    sort = (
        "from dreaming.stores.state import opened; door = opened(mine / 'db', key=b'')"
        "; door.__enter__().connection.execute('with recursive n(x) as (select 1 union all"
        " select x + 1 from n where x < 300000) select x from n order by randomblob(9)').fetchall()"
    )
    assert given_up(sort, places) == 0


@needs_landlock
def test_children_have_given_it_up_too(places: tuple[Path, Path]) -> None:
    """What is forked or started afterwards can do no more."""
    shell = "sys.exit(subprocess.run(['sh', '-c', f'echo x > {other}/old']).returncode)"
    assert given_up(shell, places) != 0
    fork = "os.wait() if os.fork() else os.execlp('touch', 'touch', other / 'new')"
    assert given_up(fork, places) == 0
    assert [one.read_text() for one in places[1].iterdir()] == ["as it was"]


@pytest.fixture
def port() -> Iterator[int]:
    """A port of this machine on which somebody listens."""
    with socket.create_server(("127.0.0.1", 0)) as server:
        yield server.getsockname()[1]


@pytest.mark.skipif(sandbox.version() < 4, reason="NOT TESTED: this kernel holds no network")
def test_only_the_named_ports_are_reached(places: tuple[Path, Path], port: int) -> None:
    """No port without a name, one port by its name, every port where the network is left alone."""
    connect = f"socket.create_connection(('127.0.0.1', {port}))"
    assert given_up(connect, places) == errno.EACCES
    assert given_up(connect, places, "443") == errno.EACCES
    assert given_up(connect, places, f"443 {port}") == 0
    assert given_up(connect, places, "any") == 0
    assert given_up("socket.create_server(('127.0.0.1', 0))", places) == errno.EACCES


def test_other_systems_have_none(monkeypatch: pytest.MonkeyPatch) -> None:
    """Where the system is another, no version is claimed and no call is tried."""
    monkeypatch.setattr(sys, "platform", "darwin")
    assert sandbox.version() == 0
