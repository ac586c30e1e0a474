"""What is kept when an agent deletes its transcript: redacted, withdrawn with it, read again."""

import math
import os
import zlib
from pathlib import Path

import msgspec
import pytest

from dreaming.backends.replay import Replay
from dreaming.jobs.archiving import Retention
from dreaming.models.report import Verdict
from dreaming.stores.archive import Archive, Archived
from dreaming.stores.history import History
from dreaming.stores.state import opened

from .test_refusal import _private_key
from .world import HOUR, KEY, NIGHT, World, recorded, session

DAY = 24 * HOUR


@pytest.fixture
def world(tmp_path: Path) -> World:
    """Two sessions that share two gotchas, read while whole sessions are kept for good."""
    made = World(tmp_path)
    made.retention = Retention(sessions=math.inf)
    session(made.sessions, "alpha", ["watch", "push"])
    session(made.sessions, "beta", ["watch", "push"])
    made.night()
    return made


def _kept(world: World) -> list[Archived]:
    return list(Archive(world.place.archive).all())


def _stem(one: Archived) -> str:
    return Path(os.fsdecode(one.path)).stem


def _delete_and_change_rules(world: World) -> None:
    for one in world.sessions.iterdir():
        one.unlink()
    world.rules = "newer"
    world.now += DAY


def test_nothing_is_kept_unless_somebody_asked(tmp_path: Path) -> None:
    """Off by default; and what was kept goes when it is switched off again."""
    made = World(tmp_path)
    session(made.sessions, "alpha", ["watch"])
    made.night()
    assert _kept(made) == []
    made.retention, made.rules = Retention(sessions=math.inf), "newer"
    made.night()
    assert len(_kept(made)) == 1
    made.retention = Retention()
    made.night()
    assert _kept(made) == []


def test_what_is_kept_is_redacted(tmp_path: Path) -> None:
    """Neither names nor homes nor the folders of projects stand in a kept session."""
    made = World(tmp_path)
    made.retention = Retention(sessions=math.inf)
    words = {"kind": "user", "speaker": "human", "text": "Ask robin.field@tidepool.dev, please."}
    session(
        made.sessions, "alpha", ["watch"], extra=[words], folder_of_work="/home/robinfield/tide"
    )
    made.night()
    (path,) = made.place.archive.iterdir()
    data = zlib.decompress(path.read_bytes())
    assert b"robin.field@tidepool" not in data
    (one,) = _kept(made)
    assert all("robinfield" not in str(turn) for turn in one.session.turns)
    assert (path.stat().st_mode & 0o777, path.stat().st_mtime) == (0o600, NIGHT - DAY)


def test_what_is_gone_is_mined_again_when_the_rules_change(world: World) -> None:
    """The same excerpts come of the kept session as of the transcript, and by the rules of now."""
    with opened(world.place.database, key=KEY) as state:
        before = [(one.id, one.project, one.excerpt) for one in History(state).excerpts()]
        state.connection.execute("update excerpts set body = x'80'")  # as older rules had it
    queue = world.snapshot()
    _delete_and_change_rules(world)
    report = world.night()
    assert (report.found, report.read) == (2, 2)
    assert report.verdicts == {Verdict.PROCESSED: 2}
    with opened(world.place.database, key=KEY) as state:
        assert [(one.id, one.project, one.excerpt) for one in History(state).excerpts()] == before
    assert world.snapshot() == queue
    assert world.night().read == 0


def test_a_damaged_copy_changes_nothing(world: World) -> None:
    """What is known of a transcript stands where its copy cannot be read."""
    queue = world.snapshot()
    for one in world.place.archive.iterdir():
        one.write_bytes(b"not compressed")
    _delete_and_change_rules(world)
    world.night()
    assert world.snapshot() == queue


def test_a_grown_session_replaces_its_copy(world: World) -> None:
    """One copy a transcript, of its last whole form."""
    session(world.sessions, "beta", ["watch", "push", "lint"], modified=NIGHT)
    world.now += DAY
    world.night()
    turns = {_stem(one): len(one.session.turns) for one in _kept(world)}
    assert turns["beta"] == turns["alpha"] + 5


def _leak(world: World, name: str = "beta") -> Path:
    leak = {"kind": "result", "speaker": "tool", "tool": "shell", "text": _private_key()}
    world.now += DAY
    return session(world.sessions, name, ["watch", "push"], extra=[leak], modified=world.now - DAY)


def test_a_refusal_takes_the_copy_along(world: World) -> None:
    """Also where the process was killed between the verdict and the deletion."""
    copies = {one.name: one.read_bytes() for one in world.place.archive.iterdir()}
    _leak(world)
    world.night()
    assert [_stem(one) for one in _kept(world)] == ["alpha"]
    for name, data in copies.items():
        (world.place.archive / name).write_bytes(data)
    world.night()
    assert [_stem(one) for one in _kept(world)] == ["alpha"]


def test_a_refusal_takes_the_copy_of_the_old_place_along(world: World) -> None:
    """A transcript that was moved and then refused leaves no copy under its old path."""
    (world.sessions / "beta.jsonl").unlink()
    (world.sessions / "moved").mkdir()
    _leak(world).rename(world.sessions / "moved" / "beta.jsonl")
    world.night()
    assert [_stem(one) for one in _kept(world)] == ["alpha"]


def test_a_new_rule_refuses_what_was_kept(world: World) -> None:
    """A credential that older rules did not see withdraws excerpts and copy of a transcript."""
    archive = Archive(world.place.archive)
    (beta,) = [one for one in _kept(world) if _stem(one) == "beta"]
    turns = [msgspec.structs.replace(beta.session.turns[0], text=_private_key())]
    worse = msgspec.structs.replace(beta.session, turns=[*turns, *beta.session.turns])
    archive.put(msgspec.structs.replace(beta, session=worse), NIGHT)
    _delete_and_change_rules(world)
    report = world.night()
    assert (report.verdicts[Verdict.EXCLUDED], report.withdrawn.transcripts) == (1, 1)
    assert [_stem(one) for one in _kept(world)] == ["alpha"]
    assert world.waiting() == {}


def test_copies_are_kept_as_long_as_was_said(world: World) -> None:
    """Their age is that of the transcript, not that of the copy."""
    world.retention = Retention(sessions=10 * DAY)
    world.now = NIGHT + 8 * DAY
    world.night()
    assert len(_kept(world)) == 2
    world.now = NIGHT + 10 * DAY
    world.night()
    assert _kept(world) == []


def test_excerpts_and_answers_wait_as_long_as_was_said(tmp_path: Path) -> None:
    """What stands in a candidate stays; other old excerpts go, with their findings."""
    made = World(tmp_path)
    made.backend = Replay(recorded())
    session(made.sessions, "alpha", ["watch", "lint"])
    session(made.sessions, "beta", ["watch"])
    made.night()
    assert set(made.waiting()) == {"watch-gotcha"}
    queue = made.snapshot()
    made.place.answers.mkdir(exist_ok=True)
    old = made.place.answers / "old.json"
    old.write_text("{}")
    os.utime(old, (NIGHT - DAY, NIGHT - DAY))
    made.retention = Retention(excerpts=30 * DAY, answers=30 * DAY)
    for day, left, findings in ((20, 6, 3), (40, 4, 2)):
        made.now = NIGHT + day * DAY
        made.night()
        with opened(made.place.database, key=KEY) as state:
            assert (len(History(state).excerpts()), len(History(state).findings())) == (
                left, findings,
            )  # fmt: skip
        assert old.exists() == (day < 30)
    assert made.snapshot() == queue
