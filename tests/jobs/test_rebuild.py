"""The state made anew: the same queue, no answer paid for again, the old one kept beside."""

import json
import math
import sqlite3
from pathlib import Path

import pytest

from dreaming.backends.replay import Replay
from dreaming.jobs.archiving import Retention
from dreaming.jobs.decide import reject
from dreaming.jobs.rebuild import OLD, Rebuilt, put_in_place, rebuild
from dreaming.stores.state import opened

from .world import HOUR, KEY, NIGHT, World, recorded, session

DAY = 24 * HOUR


class Paid(Replay):
    """A replay that costs something."""

    free = False
    identity = "replay:paid"


@pytest.fixture
def world(tmp_path: Path) -> World:
    """Two nights over four sessions with a backend that costs something, and a decision."""
    made = World(tmp_path)
    made.backend = Paid(recorded())
    session(made.sessions, "alpha", ["watch", "push", "lint"])
    session(made.sessions, "beta", ["watch", "push"])
    made.night()
    session(made.sessions, "gamma", ["lint", "seed"], modified=NIGHT)
    session(made.sessions, "delta", ["seed", "watch"], modified=NIGHT)
    made.now += DAY
    made.night()
    with made.desk() as desk:
        reject(desk, made.waiting()["push-gotcha"].id, "ours alone")
    made.night()
    return made


def _rebuild(world: World) -> Rebuilt:
    beside = world.place.state / "rebuilding.db"
    with opened(beside, key=KEY) as state:
        done = rebuild(world.made(state), world.place.database)
    put_in_place(beside, world.place.database)
    return done


def _facts(world: World) -> dict[str, list[tuple[object, ...]]]:
    told = {
        "excerpts": "select id, project, body from excerpts order by id",
        "findings": "select session_id, slug, rule, evidence, backend from findings"
        " order by session_id, slug, evidence",
        "cursors": "select path, settled, digest, verdict, reason from cursors"
        " join transcripts on id = transcript order by path",
        "published": "select candidate, members from published order by candidate",
        "kept": "select decision, candidate from kept order by decision",
        "frequency": "select term, sessions from frequency where sessions > 0 order by term",
    }
    with opened(world.place.database, key=KEY) as state:
        return {name: state.connection.execute(query).fetchall() for name, query in told.items()}


def _spoil(world: World) -> None:
    for tail in ("-wal", "-shm"):
        world.place.database.with_name(f"state.db{tail}").unlink(missing_ok=True)
    world.place.database.write_bytes(b"no database at all" * 400)


def test_a_whole_state_comes_out_the_same(world: World) -> None:
    """Evidence, decisions, counts and queue; nothing is asked; the old database stays."""
    before, queue, old = _facts(world), world.snapshot(), world.place.database.read_bytes()
    world.backend = paid = Paid(recorded())
    done = _rebuild(world)
    assert _facts(world) == before
    assert (world.snapshot(), paid.asked, done.unasked) == (queue, [], 0)
    assert (world.place.state / OLD).read_bytes() == old
    report = world.night()
    assert (report.read, report.queue.decided) == (0, 1)
    assert paid.asked == []


def test_a_broken_state_is_made_anew_without_paying_again(world: World) -> None:
    """Kept answers are enough: they say which excerpts they are about. Decisions hold."""
    before, queue = _facts(world), world.snapshot()
    _spoil(world)
    world.backend = paid = Paid(recorded())
    done = _rebuild(world)
    after = _facts(world)
    for name in ("excerpts", "findings", "cursors", "frequency"):
        assert after[name] == before[name], name
    assert (world.snapshot(), paid.asked) == (queue, [])
    assert "transcripts" in done.salvaged.unreadable


def test_what_no_answer_is_about_waits_for_a_night(world: World) -> None:
    """A rebuild asks nobody; the next night asks about the rest, and about nothing else."""
    queue = world.snapshot()
    _spoil(world)
    answers = sorted(world.place.answers.iterdir())
    next(one for one in answers if json.loads(one.read_text())["about"]).unlink()
    world.backend = paid = Paid(recorded())
    done = _rebuild(world)
    assert (done.unasked, paid.asked, done.report.failures) == (2, [], [])
    world.night()
    assert sum(len(one.packets) for one in paid.asked) == 2
    assert world.snapshot() == queue


def test_what_an_agent_deleted_is_taken_over(world: World) -> None:
    """From the old state while it can be read."""
    before, queue = _facts(world), world.snapshot()
    (world.sessions / "alpha.jsonl").unlink()
    done = _rebuild(world)
    assert (_facts(world), world.snapshot(), done.salvaged.gone) == (before, queue, 1)


def test_what_lies_where_nobody_looks_now_is_taken_over(world: World) -> None:
    """Evidence of a folder that was named once outlives a rebuild that does not name it."""
    before, queue = _facts(world), world.snapshot()
    world.sessions = world.sessions.parent / "elsewhere"
    world.sessions.mkdir()
    done = _rebuild(world)
    assert (_facts(world), world.snapshot(), done.salvaged.gone) == (before, queue, 4)


def test_what_an_agent_deleted_comes_from_the_archive(world: World) -> None:
    """Where the old state cannot be read any more."""
    world.retention, world.rules = Retention(sessions=math.inf), "newer"
    world.night()
    queue = world.snapshot()
    (world.sessions / "alpha.jsonl").unlink()
    _spoil(world)
    _rebuild(world)
    assert world.snapshot() == queue


def test_older_history_goes_on_waiting(world: World) -> None:
    """A rebuild reads nothing that nobody asked to read."""
    session(world.sessions, "long-ago", ["zone"], modified=NIGHT - 90 * DAY)
    fresh = World(world.sessions.parent / "other")
    fresh.sessions.rmdir()
    world.sessions.rename(fresh.sessions)
    fresh.backend = Paid(recorded())
    assert fresh.night().older == 1
    _rebuild(fresh)
    assert fresh.night().older == 1


def test_a_rebuild_that_breaks_leaves_the_old_state(
    world: World, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The old database is in its place until the new one is whole."""
    before = _facts(world)

    def broken(*_: object) -> None:
        raise sqlite3.OperationalError("no more room")

    monkeypatch.setattr("dreaming.jobs.rebuild.queue_up", broken)
    with pytest.raises(sqlite3.OperationalError):
        _rebuild(world)
    assert _facts(world) == before
