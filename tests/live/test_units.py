"""The shipped units in real service managers: what they promise is so.

Needs root, systemd and strace; elsewhere these are skipped, and say why. The managers run in a room
of their own (``room.py``); nothing of the machine can be written from it.
"""

from __future__ import annotations

import contextlib
import json
import os
import select
import shutil
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any, Final

import pytest

from tests.live.room import NO_ROOM, SYSTEMD

ROOT: Final = Path(__file__).parents[2]
LONG: Final = 900.0
LEVELS: Final = ["user", "system"]
NEEDED: Final = ("unshare", "strace", "systemd-run", "pivot_root", "mount")


@pytest.fixture(scope="module")
def rooms(tmp_path_factory: pytest.TempPathFactory) -> dict[str, Any]:
    """What the nights in the room came to, by manager."""
    missing = [one for one in NEEDED if shutil.which(one) is None]
    if sys.platform != "linux" or os.geteuid() != 0 or missing or not Path(SYSTEMD).exists():
        pytest.skip(f"needs root on Linux with systemd and strace; missing: {missing}")
    words = ["unshare", "--mount", "--pid", "--fork", "--cgroup", "--uts", "--ipc", "--net"]
    room = (sys.executable, "-P", ROOT / "tests/live/room.py", ROOT, sys.base_prefix)
    with (
        own_cgroup() as group,
        subprocess.Popen(
            [*words, "--kill-child", *map(str, room), str(tmp_path_factory.mktemp("room"))],
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            preexec_fn=lambda: group.joinpath("cgroup.procs").write_text("0"),
        ) as process,
    ):
        assert process.stdout and process.stderr
        try:
            ready, _, _ = select.select([process.stdout], [], [], LONG)
            line = process.stdout.readline() if ready else b""
            if ready and not line:
                said = process.stderr.read().decode()
                if process.wait(LONG) == NO_ROOM or said.startswith("unshare:"):
                    pytest.skip(f"no room for a manager here: {said}")
        finally:
            process.kill()
    assert line, "the room ended without a word"
    found: dict[str, Any] = json.loads(line)
    assert "wrong" not in found, found["wrong"]
    return found


@contextlib.contextmanager
def own_cgroup() -> Iterator[Path]:
    """A cgroup for the room, so that its managers see it as all there is; gone afterwards."""
    top = Path("/sys/fs/cgroup")
    hybrid = top / "unified"
    group = (hybrid if hybrid.is_dir() else top) / f"dreaming-live-{os.getpid()}"
    try:
        group.mkdir()
    except OSError as wrong:
        pytest.skip(f"no cgroup to be had: {wrong}")
    try:
        yield group
    finally:
        below = sorted((one for one in group.rglob("*") if one.is_dir()), reverse=True)
        for one in (*below, group):
            remove_when_empty(one)


def remove_when_empty(group: Path) -> None:
    """Remove a cgroup; its processes were killed, and the last may take a moment to be gone."""
    events = group / "cgroup.events"
    with events.open() as file:
        poll = select.poll()
        poll.register(file, select.POLLPRI)
        while "populated 1" in file.read() and poll.poll(5000):
            file.seek(0)
    group.rmdir()


@pytest.fixture(params=LEVELS)
def room(request: pytest.FixtureRequest, rooms: dict[str, Any]) -> dict[str, Any]:
    """The nights of one manager: a person's own, or the machine's."""
    found: dict[str, Any] = rooms[request.param]
    return found


NEEDS: Final = (
    "read knowledge base",
    "read transcripts",
    "write state",
    "write pending",
    "use a database",
    "use a thread",
    "use temporary files",
)
OTHERS: Final = (
    "add to knowledge base",
    "create in knowledge base",
    "move into knowledge base",
    "link into knowledge base",
    "mode of knowledge base",
    "write ledger",
    "write settings",
    "write transcripts",
    "write home",
    "write etc",
)
SECRET: Final = ("read keys", "read another's home")
RIGHTS: Final = (
    "run what it wrote",
    "write and run memory",
    "make a namespace",
    "run as another user",
)
NETWORK: Final = ("connect", "make a socket")


@pytest.mark.parametrize("backend", ["offline", "remote"])
def test_what_a_night_needs_is_there(room: dict[str, Any], backend: str) -> None:
    """Transcripts and knowledge base can be read, state and queue written, a database used."""
    assert {name: room[backend][name] for name in NEEDS} == dict.fromkeys(NEEDS, "yes")


@pytest.mark.parametrize("backend", ["offline", "remote"])
def test_what_is_not_its_own_cannot_be_written(room: dict[str, Any], backend: str) -> None:
    """Knowledge base, ledger, settings, transcripts, home, system: by no way."""
    assert [name for name in OTHERS if room[backend][name] == "yes"] == []


@pytest.mark.parametrize("backend", ["offline", "remote"])
def test_secrets_and_other_homes_are_out_of_sight(room: dict[str, Any], backend: str) -> None:
    """Keys cannot be read, and another person's home is not there."""
    assert [name for name in SECRET if room[backend][name] == "yes"] == []


@pytest.mark.parametrize("backend", ["offline", "remote"])
def test_rights_cannot_be_gained(room: dict[str, Any], backend: str) -> None:
    """Nothing it wrote can be run, and no namespace or user taken."""
    assert [name for name in RIGHTS if room[backend][name] == "yes"] == []


def test_the_network_is_there_for_a_backend_elsewhere_only(room: dict[str, Any]) -> None:
    """Offline there is not even a socket; with a backend elsewhere the same unit connects."""
    assert [name for name in NETWORK if room["offline"][name] == "yes"] == []
    assert [name for name in NETWORK if room["remote"][name] == "yes"] == list(NETWORK)


def test_nothing_else_was_tried(room: dict[str, Any]) -> None:
    """Each attempt of the probe is judged by one of the laws above."""
    judged = {*NEEDS, *OTHERS, *SECRET, *RIGHTS, *NETWORK}
    assert set(room["offline"]) == set(room["remote"]) == judged


def test_a_real_night_works_in_the_unit(room: dict[str, Any]) -> None:
    """The whole command reads the sample and fills the queue, and finds itself held."""
    night = room["night"]
    assert (night["Result"], night["ExecMainStatus"]) == ("success", "0"), night
    status = json.loads(night["status"]["out"])
    assert status["last_night"]["sessions"] >= 20 and status["waiting"] >= 3
    assert "unit" in status["sandbox"]["rings"] and status["sandbox"]["network"] == "closed"


def test_a_night_changes_nothing_of_a_persons_and_calls_nobody(room: dict[str, Any]) -> None:
    """Of all its system calls none changes knowledge base or ledger, and none has an address."""
    night = room["night"]
    assert night["saw the night"] and night["saw it write"]
    assert night["forbidden"] == []


def test_two_starts_are_one_night(room: dict[str, Any]) -> None:
    """Starting it again while it runs starts no second process."""
    assert room["starts of two"] == 1


def test_a_hung_night_is_ended_and_told_of(room: dict[str, Any]) -> None:
    """One that ignores SIGTERM is killed at the wall, and the failure unit hears why."""
    hung = room["hung"]
    assert hung["Result"] == "timeout" and 2 <= hung["seconds"] < 600
    assert hung["told"] == ["dreaming.service timeout", ""]
    assert json.loads(room["status after"]["out"])["last_result"] == "timeout"


def test_a_missed_night_is_caught_up(room: dict[str, Any]) -> None:
    """A timer that looked last two days ago looks at once when it is started."""
    assert room["missed"] == {"stamped": True, "caught up": True}


def test_it_is_installed_by_one_command(room: dict[str, Any]) -> None:
    """Checked, written, started; a second time changes nothing; the next look is known."""
    assert (room["installed"]["code"], room["again"]["code"]) == (0, 0), room["installed"]
    assert "written  /" in room["installed"]["error"]
    assert "written  /" not in room["again"]["error"]
    status = json.loads(room["status"]["out"])
    assert (status["installed"], status["active"], status["differs"]) == (True, True, False)
    assert status["next_look"]


def test_the_machines_units_need_root(room: dict[str, Any]) -> None:
    """Asked for without being root, nothing is written, and the command that does it is said."""
    told = room["not root"]
    assert told["code"] == 78 and "sudo --preserve-env=HOME" in told["error"]
    assert "schedule install --system" in told["error"]


def test_a_backend_elsewhere_is_checked_first(room: dict[str, Any]) -> None:
    """Where the doctor finds that it cannot be reached nothing is written but by --force."""
    assert room["refused"]["code"] == 1 and "Nothing was written" in room["refused"]["error"]
    assert "network.conf" in room["to remote"]["error"]
    assert "removed" in room["to offline"]["error"]


def test_removing_leaves_the_folders_as_they_were(room: dict[str, Any]) -> None:
    """Every byte and folder is as before, and the manager knows the units no more."""
    assert room["removed"]["code"] == 0
    assert room["after"] == room["before"]
    assert room["none"] != 0
