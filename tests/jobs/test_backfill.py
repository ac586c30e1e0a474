"""The backfill: all that no night reads, once, within what a person can afford."""

import sqlite3
from collections.abc import Iterator
from pathlib import Path

import pytest

from dreaming.backends.interface import Answer, Backend, Price, Usage
from dreaming.backends.replay import Replay
from dreaming.errors import DreamingError
from dreaming.jobs import backfill, batches
from dreaming.jobs.backfill import Backfilled, Plan
from dreaming.jobs.limits import Limits
from dreaming.models.report import Outcome
from dreaming.quota import Window
from dreaming.stores.accounts import Accounts
from dreaming.stores.state import State, opened
from dreaming.tasks.interface import Request

from .world import GOTCHAS, HOUR, KEY, NIGHT, World, recorded, session

DAY = 24 * HOUR


class Dear(Replay):
    """A replay of which each answer costs 1000 tokens and a dollar, one excerpt a request."""

    free = False
    identity = "replay:dear"
    context_tokens = 1
    price = Price(2.0, 10.0, "a list")

    def ask(self, request: Request) -> Answer:
        """Answer, and say what it cost."""
        return Answer(super().ask(request).text, Usage(800, 200, 1.0))


@pytest.fixture
def world(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> World:
    """Twelve sessions of the last days and of long ago, two with each gotcha, in small batches."""
    monkeypatch.setattr(batches, "BATCH_TRANSCRIPTS", 4)
    made = World(tmp_path)
    names = list(GOTCHAS)
    for number in range(12):
        session(
            made.sessions,
            f"s{number:02}",
            [names[number % 6]],
            modified=NIGHT - (2 + 10 * number) * DAY,
            at=NIGHT - (2 + 10 * number) * DAY,
        )
    return made


def _slice(world: World, limits: Limits | None = None, *, doomed_first: bool = False) -> Backfilled:
    with opened(world.place.database, key=KEY) as state:
        ready = backfill.prepare(world.made(state), limits or Limits(), doomed_first=doomed_first)
        return backfill.run(ready)


def _plan(world: World) -> Plan:
    with opened(world.place.database, key=KEY) as state:
        found = backfill.plan(state)
    assert found is not None
    return found


def _settled(state: State) -> dict[str, int]:
    return {
        Path(path.decode()).stem: one.settled for (_, path), one in state.cursors("mining").items()
    }


def test_nights_leave_what_is_older_and_a_backfill_takes_it(world: World) -> None:
    """In whichever order they come, the queue is that of one run over everything."""
    assert world.night().older == 10
    assert _slice(world).report.outcome is Outcome.ADVANCED
    assert world.night().read == 0
    assert len(world.waiting()) == 6
    assert _plan(world).left == 0


def test_a_backfill_that_comes_first_leaves_nights_as_they_are(world: World) -> None:
    """A slice before the first night does not make that night read everything."""
    _slice(world, Limits(sessions=1))
    report = world.night()
    assert (report.read, report.older) == (1, 10)


def test_preparing_writes_nothing(world: World) -> None:
    """An estimate can be had for nothing, also of the disk."""
    with opened(world.place.database, key=KEY) as state:
        before = list(state.connection.iterdump())
        world.backend = Dear(recorded())
        ready = backfill.prepare(world.made(state), Limits(), doomed_first=False)
        assert list(state.connection.iterdump()) == before
    estimate = ready.estimate
    assert (estimate.transcripts, estimate.agents) == (12, {"jsonl": 12})
    assert estimate.bytes == sum(one.stat().st_size for one in world.sessions.iterdir())
    assert estimate.tokens == round(estimate.bytes * world.tokens_per_mb / 1e6)
    assert estimate.money == pytest.approx(estimate.tokens * 3.0 / 1e6, abs=1e-4)
    assert estimate.price_source == "a list"


def test_the_newest_come_first_or_the_doomed(world: World, monkeypatch: pytest.MonkeyPatch) -> None:
    """What an agent is about to delete can be read before it goes."""
    _slice(world, Limits(sessions=2))
    with opened(world.place.database, key=KEY) as state:
        assert {name for name, settled in _settled(state).items() if settled} == {"s00", "s01"}
    monkeypatch.setattr("dreaming.transcripts.jsonl.Jsonl.keeps_days", lambda *_: 30)
    _slice(world, Limits(sessions=2), doomed_first=True)
    with opened(world.place.database, key=KEY) as state:
        assert {name for name, settled in _settled(state).items() if settled} == {
            "s00", "s01", "s10", "s11",
        }  # fmt: skip


def test_slices_end_at_their_limits_and_add_up(world: World) -> None:
    """Sessions exactly; each is settled once; the plan knows how far it is."""
    reads = []
    for left in (7, 2, 0):
        done = _slice(world, Limits(sessions=5))
        reads.append(done.report.read)
        assert done.plan.left == left
        assert done.report.exit_code == (75 if left else 0)
        assert sum(done.report.verdicts.values()) == done.report.found
    assert reads == [5, 5, 2]
    assert (done.plan.done, done.plan.slices) == (12, 3)


@pytest.mark.parametrize(
    ("limits", "asked"),
    [
        (Limits(tokens=2500), 3),
        (Limits(calls=4), 4),
        (Limits(money=2.5), 3),
        (Limits(money=3.0), 3),
        (Limits(tokens=1), 0),
        (Limits(money=0.0001), 0),
    ],
)
def test_a_budget_is_exceeded_by_the_call_in_flight_at_most(
    world: World, limits: Limits, asked: int
) -> None:
    """Asked before every call, in the middle of a batch too, and not at all where the call alone is
    thought to be too large; and nothing is paid for twice."""
    world.backend = backend = Dear(recorded())
    done = _slice(world, limits)
    assert (len(backend.asked), done.report.spent.requests) == (asked, asked)
    assert done.report.exit_code == 75
    world.backend = rest = Dear(recorded())
    _slice(world)
    hashes = [one.hash for one in (*backend.asked, *rest.asked)]
    assert len(hashes) == len(set(hashes)) == 24 + 1  # the last one is about all findings
    assert _plan(world).money == pytest.approx(25.0)


def test_a_backfill_leaves_a_night_its_share(world: World) -> None:
    """Of a window that both use a backfill may use less, so that a night finds something left."""
    accounts = Accounts(world.place.state)
    accounts.own("replay").hear([Window("five_hour", 0.3, NIGHT + HOUR)], NIGHT)
    accounts.keep()
    world.backend = backend = Dear(recorded())
    done = _slice(world, Limits(window=0.25))
    assert (done.report.exit_code, backend.asked) == (75, [])
    assert "30% of the five_hour window" in done.plan.why
    world.limits = Limits(window=0.5)
    assert world.night().exit_code == 0 and backend.asked


def test_minutes_are_counted_between_batches(world: World) -> None:
    """A slice that has had its time leaves the rest."""
    ticks: Iterator[float] = iter(range(0, 3600, 20))
    with opened(world.place.database, key=KEY) as state:
        ready = backfill.prepare(world.made(state), Limits(minutes=1), doomed_first=False)
        done = backfill.run(ready, clock=lambda: next(ticks))
    assert 0 < done.report.read < 12
    assert done.plan.why == "the limit of 1 minutes is reached"


def test_a_slice_that_breaks_says_so_and_goes_on(world: World) -> None:
    """Whatever ends it, the plan tells that it failed and why, and the next slice resumes."""
    with opened(world.place.database, key=KEY) as state:
        state.connection.execute(
            "create trigger plug before insert on cursors when new.settled > 0 and"
            " (select count(*) from cursors where settled > 0) > 5"
            " begin select raise(abort, 'pulled the plug'); end"
        )
        ready = backfill.prepare(world.made(state), Limits(), doomed_first=False)
        with pytest.raises(sqlite3.IntegrityError):
            backfill.run(ready)
        state.connection.execute("drop trigger plug")
    plan = _plan(world)
    assert (plan.failed, plan.running, plan.done, plan.left) == (True, False, 4, 8)
    assert plan.why == "it broke off: IntegrityError"
    done = _slice(world)
    assert (done.report.read, done.plan.done, done.plan.failed) == (8, 12, False)


class _Away(Replay):
    """A backend that cannot be reached."""

    def ask(self, request: Request) -> Answer:
        """Fail."""
        raise DreamingError("nobody there")


def test_a_backend_that_fails_fails_the_slice(world: World) -> None:
    """Nothing is settled without an answer, and the plan says why."""
    backend: Backend = _Away(recorded())
    world.backend = backend
    done = _slice(world)
    assert (done.plan.failed, done.plan.done, done.plan.why) == (True, 0, "nobody there")


def test_what_is_still_being_written_is_not_called_settled(world: World) -> None:
    """It is left to the nights, and the end of the slice says so."""
    assert _slice(world).plan.why == "everything that was there is settled"
    session(world.sessions, "now", ["watch"], modified=NIGHT - 60, at=NIGHT - 60)
    assert "1 still being written" in _slice(world).plan.why
