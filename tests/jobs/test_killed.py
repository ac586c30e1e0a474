"""Killed anywhere and run again: the same queue, byte for byte."""

import os
import shutil
import signal
import sys
from collections.abc import Callable
from functools import partial
from pathlib import Path
from types import FrameType

import pytest

from dreaming.jobs import batches
from dreaming.jobs.nightly import run
from dreaming.stores.state import opened

from .world import GOTCHAS, KEY, World, session

KILLS = 8
"""Moments in each stage."""


class Moments:
    """Counts the moments of each stage of a night, and kills the process at one of them."""

    def __init__(self, world: World, stage: str = "", kill_at: int = 0) -> None:
        self.counts = {"reading": 0, "committing": 0, "aggregating": 0, "writing": 0}
        self._stage, self._kill_at = stage, kill_at
        self._sessions = os.fsencode(world.sessions)
        self._pending = os.fsencode(world.place.pending)
        self._armed = True

    def count(self, stage: str) -> None:
        """One more moment of a stage."""
        self.counts[stage] += 1
        if stage == self._stage and self.counts[stage] == self._kill_at:
            os.kill(os.getpid(), signal.SIGKILL)

    def audit(self, event: str, args: tuple[object, ...]) -> None:
        """Files that are opened, moved and removed."""
        if not self._armed or event not in {"open", "os.rename", "os.remove"}:
            return
        if not isinstance(args[0], str | bytes | os.PathLike):
            return
        path = os.fsencode(args[0])
        if path.startswith(self._sessions + b"/"):
            self.count("reading")
        elif path.startswith(self._pending + b"/"):
            self.count("writing")

    def profile(self, frame: FrameType, event: str, arg: object) -> None:
        """Calls into grouping."""
        if event == "call" and "/dreaming/aggregation/" in frame.f_code.co_filename:
            self.count("aggregating")

    def statement(self, text: str) -> None:
        """Statements that write, their transaction's begin and end among them."""
        if not text.lstrip().lower().startswith("select"):
            self.count("committing")

    def watch(self, world: World) -> None:
        """Run a night under watch."""
        sys.addaudithook(self.audit)
        with opened(world.place.database, key=KEY) as state:
            state.connection.set_trace_callback(self.statement)
            sys.setprofile(self.profile)
            try:
                run(world.made(state))
            finally:
                sys.setprofile(None)
                self._armed = False


@pytest.fixture
def world(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> World:
    """Twelve gotchas in two sessions each, read in batches of two."""
    monkeypatch.setattr(batches, "BATCH_TRANSCRIPTS", 2)
    made = World(tmp_path)
    names = list(GOTCHAS)
    for number in range(8):
        session(made.sessions, f"s{number}", [names[(3 * number + k) % 12] for k in range(3)])
    return made


def _in_child(work: Callable[[], None]) -> int:
    """Do something in a copy of this process; return the signal that ended it, 0 for none."""
    child = os.fork()
    if child == 0:
        try:
            work()
        finally:
            os._exit(0)
    _, status = os.waitpid(child, 0)
    return os.WTERMSIG(status) if os.WIFSIGNALED(status) else 0


def _reset(world: World) -> None:
    for name in ("state.db", "state.db-wal", "state.db-shm"):
        (world.place.state / name).unlink(missing_ok=True)
    shutil.rmtree(world.place.pending)
    world.place.pending.mkdir()


@pytest.mark.parametrize("stage", ["reading", "committing", "aggregating", "writing"])
def test_a_killed_night_run_again_ends_the_same(world: World, stage: str) -> None:
    """SIGKILL at moments spread over each stage; the queue then equals an undisturbed one's."""
    moments = Moments(world)
    moments.watch(world)
    undisturbed = world.snapshot()
    assert len(undisturbed) >= 10
    total = moments.counts[stage]
    assert total >= KILLS
    for number in range(KILLS):
        _reset(world)
        kill_at = 1 + number * (total - 1) // (KILLS - 1)
        killed = Moments(world, stage, kill_at)
        assert _in_child(partial(killed.watch, world)) == signal.SIGKILL
        world.night()
        assert world.snapshot() == undisturbed, f"killed at {stage} {kill_at} of {total}"
