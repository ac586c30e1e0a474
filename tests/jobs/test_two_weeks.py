"""Two weeks of nights, whatever the clock does, come to what one run over everything comes to."""

import random
import shutil
import time
from collections.abc import Callable
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

import pytest
from freezegun import freeze_time

from dreaming.jobs import batches
from dreaming.models.report import Outcome

from .world import GOTCHAS, World, session, touch

BEGIN = datetime(2026, 10, 19, 1, 15, tzinfo=UTC)
"""03:15 in Berlin; the night of the 25th has the hour from two to three twice."""
NIGHTS = 14
MISSED = {3, 4, 9}
JUMPS = {2: timedelta(days=-400), 6: timedelta(days=3650), 7: timedelta(hours=-1)}
"""How wrong the clock is in a night; the next one has it right again."""
ZONES = {0: "Europe/Berlin", 5: "Pacific/Kiritimati", 8: "America/St_Johns", 11: "Europe/Berlin"}


class Weeks:
    """What happens to transcripts by day, the same for a seed, and what of them was deleted."""

    def __init__(self, world: World, seed: int) -> None:
        self.world = world
        self.attic = world.sessions.parent / "attic"
        self._source = random.Random(seed)
        self._said: dict[str, list[str]] = {}

    def day(self, now: float) -> None:
        """Sessions are begun, go on, are rewritten, restored, copied in late, deleted."""
        told: list[Callable[[float], None]] = [
            self._new, self._new, self._grown, self._rewritten, self._restored, self._twins,
            self._deleted,
        ]  # fmt: skip
        for happens in self._source.sample(told, 4):
            happens(now)

    def _write(self, name: str, gotchas: list[str], modified: float) -> None:
        self._said[name] = gotchas
        session(self.world.sessions, name, gotchas, modified=modified, at=1_792_000_000.0)

    def _name(self) -> str:
        return f"s{len(self._said):03}"

    def _some(self) -> list[str]:
        return self._source.sample(list(GOTCHAS), self._source.randint(1, 3))

    def _known(self) -> str:
        return self._source.choice(sorted(self._said) or [""])

    def _new(self, now: float) -> None:
        self._write(self._name(), self._some(), now - self._source.uniform(2000, 80_000))

    def _grown(self, now: float) -> None:
        name = self._known()
        if name and self._path(name).exists():
            more = [one for one in self._some() if one not in self._said[name]]
            self._write(name, [*self._said[name], *more], now - 4000)

    def _rewritten(self, now: float) -> None:
        """Other words under the same name, and a time that is older than before."""
        name = self._known()
        if name and self._path(name).exists():
            self._write(name, self._some(), self._path(name).stat().st_mtime - 1)

    def _restored(self, now: float) -> None:
        """A backup, or another machine's files: nobody has seen them, and they are old."""
        self._write(self._name(), self._some(), now - 86_400 * self._source.uniform(30, 900))

    def _twins(self, now: float) -> None:
        """Two files of one instant."""
        for _ in range(2):
            self._write(self._name(), self._some(), float(int(now) - 5000))

    def _deleted(self, now: float) -> None:
        """An agent deletes what was settled: the evidence stays."""
        there = sorted(self.world.sessions.iterdir())
        settled = [one for one in there if _stamp(one) in self.settled]
        if settled:
            gone = self._source.choice(settled)
            self.attic.mkdir(exist_ok=True)
            shutil.move(gone, self.attic / gone.name)

    def _path(self, name: str) -> Path:
        return self.world.sessions / f"{name}.jsonl"

    settled: frozenset[tuple[int, int]] = frozenset()

    def note_settled(self) -> None:
        """What is there now was read: whatever is deleted later was settled before."""
        self.settled = frozenset(_stamp(one) for one in self.world.sessions.iterdir())


def _stamp(path: Path) -> tuple[int, int]:
    status = path.stat()
    return status.st_ino, status.st_ctime_ns


def _candidates(world: World) -> list[dict[str, Any]]:
    left_out = {"formerly", "first_seen", "last_seen"}
    every = [one.model_dump(exclude=left_out) for one in world.waiting().values()]
    return sorted(every, key=lambda one: str(one["id"]))


def _made(root: Path) -> World:
    made = World(root)
    made.max_pending, made.since = 1000, 0.0
    return made


@pytest.mark.parametrize("seed", [1, 2])
def test_two_weeks_come_to_what_one_run_comes_to(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, seed: int
) -> None:
    """Missed nights, jumping clocks, time zones, late files: the same candidates."""
    monkeypatch.setattr(batches, "BATCH_TRANSCRIPTS", 8)  # one answer holds 50 findings at most
    nightly = _made(tmp_path / "nightly")
    weeks = Weeks(nightly, seed)
    for number in range(NIGHTS):
        right = BEGIN + timedelta(days=number)
        if number in ZONES:
            monkeypatch.setenv("TZ", ZONES[number])
            time.tzset()
        weeks.day(right.timestamp())
        if number in MISSED:
            continue
        with freeze_time(right + JUMPS.get(number, timedelta())):
            nightly.now = time.time()
            report = nightly.night()
        assert report.outcome in (Outcome.ADVANCED, Outcome.STAYED)
        assert report.failures == []
        weeks.note_settled()
    with freeze_time(BEGIN + timedelta(days=NIGHTS)):
        nightly.now = time.time()
        last = nightly.night()
    assert last.outcome is Outcome.ADVANCED

    whole = _made(tmp_path / "whole")
    for folder in (nightly.sessions, weeks.attic):
        if folder.exists():
            shutil.copytree(folder, whole.sessions / folder.name)
    whole.now = nightly.now
    whole.night()
    assert len(_candidates(whole)) >= 6
    assert _candidates(nightly) == _candidates(whole)


@pytest.fixture(autouse=True)
def _zone_again(monkeypatch: pytest.MonkeyPatch) -> Any:
    """Leave the zone as it was."""
    yield
    monkeypatch.undo()
    time.tzset()


def test_a_file_of_the_same_size_and_time_is_noticed(tmp_path: Path) -> None:
    """A restored file whose size and time are those of before is told by its change time."""
    world = _made(tmp_path)
    for name in ("a", "b"):
        session(world.sessions, name, ["watch"])
    world.night()
    path = world.sessions / "a.jsonl"
    size, modified = path.stat().st_size, path.stat().st_mtime
    text = path.read_text().replace("watch mode never ends here", "watch mode never ends HERE")
    path.write_text(text)
    touch(path, modified)
    assert path.stat().st_size == size
    world.now += 86_400
    assert world.night().read == 1
