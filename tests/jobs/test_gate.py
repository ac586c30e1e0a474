"""When a night is due, whether the network is there, and what a night gives up."""

from __future__ import annotations

import errno
import os
import socket
from collections.abc import Callable
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import pytest

from dreaming.errors import Unusable
from dreaming.jobs import gate
from dreaming.jobs.unattended import apart
from dreaming.models.report import Report
from dreaming.stores import sandbox
from dreaming.stores.state import opened

from .world import HOUR, KEY, NIGHT, World, session


def run(*, code: int = 0, hours_ago: float = 0.0, took: float = 0.0) -> dict[str, Any]:
    """A run as the state gives it back, ended some hours before NIGHT."""
    started = NIGHT - hours_ago * HOUR - took
    at = datetime.fromtimestamp(started, UTC).isoformat(timespec="seconds")
    return {"started": at, "exit_code": code, "seconds": {"read": took - took / 4, "ask": took / 4}}


@pytest.mark.parametrize(
    ("codes", "hours"),
    [
        ([0], 20),
        ([0, 1, 1], 20),
        ([1], 1),
        ([1, 0, 1, 1], 1),
        ([75, 1, 0], 2),
        ([130, 75, 1], 4),
        ([1] * 4, 8),
        ([1] * 5, 16),
        ([1] * 6, 20),
        ([1] * 8, 20),
    ],
)
def test_when_a_night_is_due(codes: list[int], hours: float) -> None:
    """20 hours after one that was in order; after trouble 1, 2, 4 … hours, at most 20."""
    runs = [run(code=code, hours_ago=10 * at) for at, code in enumerate(codes)]
    assert gate.due_at(runs, 20 * HOUR) == NIGHT + hours * HOUR


def test_the_end_of_a_night_counts() -> None:
    """A night that took three hours is due so long after its end, not its beginning."""
    assert gate.due_at([run(took=3 * HOUR)], 20 * HOUR) == NIGHT + 20 * HOUR
    assert gate.due_at([], 20 * HOUR) == 0.0


# -- the network ----------------------------------------------------------------------------------


def test_a_network_that_is_there_is_not_waited_for() -> None:
    """Where somebody answers nothing is waited for, and nothing is said to them."""
    with socket.create_server(("127.0.0.1", 0)) as server:
        port = server.getsockname()[1]
        pauses: list[float] = []
        assert gate.wait_for_network("127.0.0.1", port, 300, lambda: 0.0, pauses.append)
        assert pauses == []
        talk, _ = server.accept()
        with talk:
            assert talk.recv(10) == b""


def test_a_network_that_never_comes_is_given_up() -> None:
    """So many seconds and no longer."""
    with socket.create_server(("127.0.0.1", 0)) as server:
        port = server.getsockname()[1]
    pauses: list[float] = []
    assert not gate.wait_for_network("127.0.0.1", port, 300, lambda: sum(pauses), pauses.append)
    assert sum(pauses) == 300


# -- what a night gives up ------------------------------------------------------------------------


def shut_in(world: World, tries: Callable[[World], None], **more: Any) -> Report:
    """Give up what a night does not need, then try something; the report says what held."""
    held = gate.confine(
        [world.place.state, world.place.pending, Path(os.devnull)],
        world.place.settings,
        more.get("ports", ()),
        more.get("environment", {}),
        required=more.get("required", False),
    )
    report = Report(started="", backend="", why=str(held))
    try:
        tries(world)
    except OSError as wrong:
        report.exit_code = wrong.errno or 0
    return report


@pytest.fixture
def world(tmp_path: Path) -> World:
    """Two sessions that share a gotcha."""
    made = World(tmp_path)
    session(made.sessions, "alpha", ["watch"])
    session(made.sessions, "beta", ["watch"])
    return made


def tries_nothing(world: World) -> None:
    """It does as it should."""


def runs_a_night(world: World) -> None:
    """The whole of it: read, redact, ask, group, queue."""
    gate.own_temporary(world.place.state / "tmp")
    assert world.night().queue.waiting == 1


def writes_a_lesson(world: World) -> None:
    """What no night may do."""
    (world.place.knowledge_base / "tools.md").write_text("- mine\n")


def writes_the_ledger(world: World) -> None:
    """The same."""
    (world.place.ledger / "reviewed-kim.jsonl").open("a")


def changes_a_transcript(world: World) -> None:
    """The same."""
    (world.sessions / "alpha.jsonl").open("a")


def writes_at_home(world: World) -> None:
    """The same."""
    (Path.home() / ".bashrc").write_text("")


def connects(world: World) -> None:
    """What a night with a local backend may not do."""
    socket.create_connection(("127.0.0.1", 9)).close()


landlock = pytest.mark.skipif(not sandbox.version(), reason="NOT TESTED: no Landlock here")


@landlock
def test_a_night_works_shut_in(world: World) -> None:
    """A whole night needs the state and the queue and nothing else."""
    ended = apart(shut_in, [world, runs_a_night])
    assert ended.report is not None and ended.report.exit_code == 0, ended
    assert ended.report.why.startswith("landlock")
    assert len(world.waiting()) == 1


@landlock
@pytest.mark.parametrize(
    "tries", [writes_a_lesson, writes_the_ledger, changes_a_transcript, writes_at_home]
)
def test_a_night_cannot_write_what_people_own(world: World, tries: Callable[[World], None]) -> None:
    """Knowledge base, ledger, transcripts and home stay as they are, whatever the code does."""
    ended = apart(shut_in, [world, tries])
    assert ended.report is not None and ended.report.exit_code == errno.EACCES


@pytest.mark.skipif(sandbox.version() < 4, reason="NOT TESTED: no Landlock for TCP here")
@pytest.mark.parametrize(
    ("ports", "said"), [((), "TCP closed"), ((443,), "TCP only to port 443"), (None, "open")]
)
def test_a_night_reaches_only_its_backend(
    world: World, ports: tuple[int, ...] | None, said: str
) -> None:
    """What is said of the network is what was tried."""
    ended = apart(_with_ports, [world, ports])
    assert ended.report is not None and ended.report.why == f"landlock, network {said}"
    assert ended.report.exit_code == (errno.ECONNREFUSED if ports is None else errno.EACCES)


def _with_ports(world: World, ports: tuple[int, ...] | None) -> Report:
    return shut_in(world, connects, ports=ports)


def _without_landlock(world: World, required: bool, unit: bool) -> Report:
    sandbox.version = lambda: 0
    environment = {gate.UNIT: "dreaming.service"} if unit else {}
    return shut_in(world, tries_nothing, required=required, environment=environment)


def test_a_ring_is_not_claimed_that_does_not_hold(world: World) -> None:
    """A unit's word is not believed while the trial file can be opened for writing."""
    ended = apart(_without_landlock, [world, False, True])
    assert ended.report is not None and ended.report.why == "none (this system has no Landlock)"


def test_a_unit_that_holds_is_believed(world: World, monkeypatch: pytest.MonkeyPatch) -> None:
    """A read-only file system and the unit's word together are a ring; one alone is none."""
    monkeypatch.setattr(gate, "_refusal", lambda _: errno.EROFS)
    ended = apart(_without_landlock, [world, True, True])
    assert ended.report is not None and ended.report.why.startswith("unit, network")
    ended = apart(_without_landlock, [world, False, False])
    assert ended.report is not None and ended.report.why.startswith("none")


def test_a_required_sandbox_that_is_missing_stops_the_night(world: World) -> None:
    """`[sandbox] required` runs nothing that neither kernel nor manager holds."""
    wrong = apart(_without_landlock, [world, True, False]).again()
    assert isinstance(wrong, Unusable) and "No sandbox holds" in wrong.message


def test_trying_changes_nothing(world: World) -> None:
    """The trial file is not written, and its time stays."""
    before = world.place.settings.stat()
    assert gate._refusal(world.place.settings) == 0
    assert world.place.settings.stat() == before


def test_what_held_is_remembered() -> None:
    """Before a night nothing is known; afterwards what that night tried."""
    with opened(":memory:", key=KEY) as state:
        assert gate.kept(state) is None
        gate.keep(state, gate.Held(rings=["landlock"], network="TCP closed"), "2026-11-30T03:00")
        kept = gate.kept(state)
    assert kept is not None and (str(kept), kept.at) == (
        "landlock, network TCP closed",
        "2026-11-30T03:00",
    )


def test_temporary_files_do_not_stay(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """The folder for them is empty at each start, and only its owner can look into it."""
    import tempfile

    monkeypatch.setenv("TMPDIR", "")
    monkeypatch.setattr(tempfile, "tempdir", None)
    (tmp_path / "tmp").mkdir()
    (tmp_path / "tmp" / "left").write_text("words")
    gate.own_temporary(tmp_path / "tmp")
    assert list((tmp_path / "tmp").iterdir()) == []
    assert (tmp_path / "tmp").stat().st_mode & 0o777 == 0o700
    assert tempfile.gettempdir() == str(tmp_path / "tmp")
