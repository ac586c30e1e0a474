"""Batches: told to stop they leave the rest whole, and what was spent is always told."""

import sqlite3
from pathlib import Path

import pytest

from dreaming.backends.replay import Replay
from dreaming.jobs import batches
from dreaming.jobs.nightly import run
from dreaming.models.report import Outcome, Report
from dreaming.stores.state import opened

from .world import GOTCHAS, KEY, World, recorded, session


class Paid(Replay):
    """A replay that costs something, in small requests, so that a batch has several."""

    free = False
    identity = "replay:paid"
    context_tokens = 400


@pytest.fixture
def world(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> World:
    """Six sessions in batches of two."""
    monkeypatch.setattr(batches, "BATCH_TRANSCRIPTS", 2)
    made = World(tmp_path)
    names = list(GOTCHAS)
    for number in range(6):
        session(made.sessions, f"s{number}", [names[number // 2], names[6 + number // 2]])
    return made


def _stopped_after(world: World, times: int) -> Report:
    """Run a night that is told to stop when it has asked so often whether it should."""
    asked = iter([""] * times)
    with opened(world.place.database, key=KEY) as state:
        night = world.made(state)
        night.stop = lambda: next(asked, "the limit of 2 h is over")
        return run(night)


def test_a_night_told_to_stop_leaves_the_rest_due(world: World) -> None:
    """What is settled stays, the rest waits, the watermark stays, and it says why."""
    report = _stopped_after(world, 2)
    assert (report.outcome, report.exit_code) == (Outcome.STAYED, 75)
    assert (report.why, report.watermark) == ("the limit of 2 h is over", None)
    assert report.reasons == {"processed": 4, "skipped: waits for the next run": 2}
    assert report.failures == []
    again = world.night()
    assert (again.outcome, again.read) == (Outcome.ADVANCED, 2)


def test_a_night_stops_between_two_requests_and_pays_no_answer_twice(world: World) -> None:
    """A batch that was cut short is read again, and only what nobody answered is asked."""
    world.backend = first = Paid(recorded())
    report = _stopped_after(world, 2)
    assert (report.outcome, report.why) == (Outcome.STAYED, "the limit of 2 h is over")
    assert (len(first.asked), report.spent.requests) == (1, 1)
    world.backend = second = Paid(recorded())
    world.night()
    hashes = [one.hash for one in (*first.asked, *second.asked)]
    assert len(hashes) == len(set(hashes)) > 3
    assert len(world.waiting()) == 6


def test_a_run_that_breaks_says_what_it_spent(world: World) -> None:
    """The kept report of a run that ended before its end has its cost and why."""
    world.backend = Paid(recorded())
    with opened(world.place.database, key=KEY) as state:
        state.connection.execute(
            "create trigger plug before insert on cursors"
            " begin select raise(abort, 'pulled the plug'); end"
        )
        with pytest.raises(sqlite3.IntegrityError):
            run(world.made(state))
        (last,) = state.last_runs(1)
    assert (last["outcome"], last["why"]) == ("failed", "it broke off: IntegrityError")
    assert last["spent"]["requests"] >= 1


def test_an_interrupted_run_stayed(world: World) -> None:
    """Ctrl-C is no failure: what was settled stands and the report says so."""

    def interrupt() -> str:
        raise KeyboardInterrupt

    with opened(world.place.database, key=KEY) as state:
        night = world.made(state)
        night.stop = interrupt
        with pytest.raises(KeyboardInterrupt):
            run(night)
        (last,) = state.last_runs(1)
    assert (last["outcome"], last["exit_code"]) == ("stayed", 130)


def test_an_answer_is_not_paid_twice_when_batches_are_cut_in_another_way(
    world: World, monkeypatch: pytest.MonkeyPatch
) -> None:
    """What was answered and not settled is used by excerpt, whatever comes beside it now."""
    monkeypatch.setattr(Paid, "context_tokens", 60_000)
    world.backend = first = Paid(recorded())
    with opened(world.place.database, key=KEY) as state:
        state.connection.execute(
            "create trigger plug before insert on cursors"
            " begin select raise(abort, 'pulled the plug'); end"
        )
        with pytest.raises(sqlite3.IntegrityError):
            run(world.made(state))
        state.connection.execute("drop trigger plug")
    for batch in (1, 4):
        session(world.sessions, f"r{batch}", ["seed"])
        monkeypatch.setattr(batches, "BATCH_TRANSCRIPTS", batch)
        world.backend = second = Paid(recorded())
        world.night()
        told = [
            kept.id
            for request in (*first.asked, *second.asked)
            for packet in request.packets
            for _, kept in packet.excerpts
        ]
        assert len(told) == len(set(told))
    assert len(world.waiting()) == 7
    with opened(world.place.database, key=KEY) as state:
        assert state.unsettled_requests() == []
