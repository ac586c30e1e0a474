"""The promises of the night, each as a law."""

import json
import sqlite3
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest

from dreaming.backends.interface import Answer, QuotaReached, Unreachable, Usage
from dreaming.backends.replay import Replay
from dreaming.jobs import nightly
from dreaming.jobs.decide import reject
from dreaming.jobs.nightly import run
from dreaming.jobs.progress import Progress
from dreaming.jobs.queueing import survey
from dreaming.models.report import Outcome, Verdict
from dreaming.stores.history import History
from dreaming.stores.state import opened
from dreaming.tasks.interface import Request
from dreaming.transcripts.interface import NotASession, Transcript
from dreaming.transcripts.jsonl import Jsonl

from .world import GOTCHAS, HOUR, KEY, NIGHT, World, recorded, report_text, session, touch


@pytest.fixture
def world(tmp_path: Path) -> World:
    """Two sessions that share two gotchas, and one gotcha of each alone."""
    made = World(tmp_path)
    session(made.sessions, "alpha", ["watch", "push", "lint"])
    session(made.sessions, "beta", ["watch", "push", "proto"])
    return made


def test_what_two_sessions_share_waits(world: World) -> None:
    """Two root sessions are the floor; what one session said twice is not enough."""
    session(world.sessions, "gamma", ["seed", "seed"])
    report = world.night()
    assert set(world.waiting()) == {"watch-gotcha", "push-gotcha"}
    assert report.queue.new == 2
    assert all(one.sessions == 2 for one in world.waiting().values())


def test_verdicts_add_up_to_what_was_found(world: World) -> None:
    """Nothing is swallowed: every file has a verdict and a reason."""
    (world.sessions / "notes.txt").write_text("mine")
    (world.sessions / "empty.jsonl").write_bytes(b"")
    (world.sessions / "noise.jsonl").write_bytes(bytes(range(256)) * 20)
    report = world.night()
    assert report.found == 5
    assert sum(report.verdicts.values()) == sum(report.reasons.values()) == 5
    assert report.verdicts[Verdict.PROCESSED] == 2


def test_a_second_night_is_quiet(world: World) -> None:
    """Nothing new is a success: no byte is read, no file is written, the watermark moves."""
    world.night()
    before = world.snapshot()
    world.now += 24 * HOUR
    report = world.night()
    assert (report.read, report.new_bytes, report.queue.new, report.queue.updated) == (0, 0, 0, 0)
    assert world.snapshot() == before
    assert report.outcome is Outcome.ADVANCED


def test_evidence_of_different_nights_meets(world: World) -> None:
    """Monday and Tuesday make two sessions, however long it takes."""
    world.night()
    world.now += 60 * 24 * HOUR
    session(world.sessions, "delta", ["lint"], modified=world.now - 5 * HOUR)
    world.night()
    assert "lint-gotcha" in world.waiting()


def test_a_touched_file_is_not_read_anew(world: World) -> None:
    """The hash of the settled bytes decides, not the clock."""
    world.night()
    touch(world.sessions / "alpha.jsonl", NIGHT)
    world.now += 24 * HOUR
    report = world.night()
    assert (report.read, report.new_bytes) == (1, 0)
    assert report.verdicts[Verdict.PROCESSED] == 2


def test_a_grown_file_gives_only_its_new_bytes(world: World) -> None:
    """What was settled is not new again, and its candidates keep their ids."""
    world.night()
    ids = {one.id for one in world.waiting().values()}
    path = world.sessions / "beta.jsonl"
    old = path.stat().st_size
    more = session(world.sessions / "x", "beta", ["watch", "push", "proto", "lint"]).read_bytes()
    (world.sessions / "x" / "beta.jsonl").unlink()
    path.write_bytes(more)
    touch(path, NIGHT)
    world.now += 24 * HOUR
    report = world.night()
    assert report.new_bytes == len(more) - old
    assert ids < {one.id for one in world.waiting().values()}
    assert "lint-gotcha" in world.waiting()


def test_a_rewritten_file_is_read_from_its_beginning(world: World) -> None:
    """Evidence of bytes that are no longer there is withdrawn, and said."""
    world.night()
    session(world.sessions, "beta", ["proto"], modified=NIGHT)
    world.now += 24 * HOUR
    report = world.night()
    assert report.withdrawn.excerpts > 0
    assert world.waiting() == {}
    assert report.queue.removed == 2


def test_an_unfinished_last_line_waits(world: World) -> None:
    """Half a line is not read, and not lost when its other half comes."""
    path = world.sessions / "alpha.jsonl"
    whole = path.read_bytes()
    path.write_bytes(whole + b'{"kind": "user", "te')
    touch(path, NIGHT - 24 * HOUR)
    assert world.night().unreadable_lines == 0
    path.write_bytes(whole + b'{"kind": "user", "text": "thanks"}\n')
    touch(path, NIGHT)
    world.now += 24 * HOUR
    report = world.night()
    assert (report.unreadable_lines, report.new_bytes) == (0, 35)


def test_a_session_still_being_written_waits_but_not_for_ever(world: World) -> None:
    """Half an hour of quiet, or at the latest the day after."""
    touch(world.sessions / "beta.jsonl", NIGHT - 60)
    report = world.night()
    assert report.reasons["skipped: still being written"] == 1
    assert (report.outcome, report.watermark) == (Outcome.STAYED, None)
    world.now += 25 * HOUR
    touch(world.sessions / "beta.jsonl", world.now - 60)
    assert world.night().verdicts == {Verdict.PROCESSED: 2}


def test_a_first_night_leaves_older_history_and_says_so(world: World) -> None:
    """Fourteen days back; the rest waits until a person asks for it."""
    touch(world.sessions / "beta.jsonl", NIGHT - 30 * 24 * HOUR)
    report = world.night()
    assert (report.older, report.verdicts[Verdict.PROCESSED]) == (1, 1)
    world.now += 24 * HOUR
    assert world.night().older == 1
    world.since = 0.0
    assert world.night().verdicts == {Verdict.PROCESSED: 2}


def test_a_late_file_with_an_old_time_is_read(world: World) -> None:
    """A restored backup is as new to us as a fresh session."""
    world.night()
    world.now += 24 * HOUR
    session(world.sessions, "restored", ["lint"], modified=NIGHT - 400 * 24 * HOUR)
    world.night()
    assert "lint-gotcha" in world.waiting()


def test_a_clock_that_jumps_changes_nothing(world: World) -> None:
    """Cursors decide what is new; a year back or ten forward finds the same."""
    world.night()
    before = world.snapshot()
    for jump in (-365 * 24 * HOUR, 3650 * 24 * HOUR):
        world.now = NIGHT + jump
        world.night()
        assert world.snapshot() == before


def test_a_fork_counts_once(world: World) -> None:
    """A copy of a conversation under another id is no second session."""
    lines = (world.sessions / "alpha.jsonl").read_text().splitlines()
    head = {**json.loads(lines[0]), "session": "fork", "parent": "alpha"}
    (world.sessions / "fork.jsonl").write_text("\n".join([json.dumps(head), *lines[1:]]) + "\n")
    touch(world.sessions / "fork.jsonl", NIGHT - 24 * HOUR)
    world.night()
    assert "lint-gotcha" not in world.waiting()
    assert world.waiting()["watch-gotcha"].sessions == 2


def test_a_fork_without_its_beginning_counts_once(world: World) -> None:
    """A copy that left out the first records still repeats those that gave an excerpt."""
    path = world.sessions / "alpha.jsonl"
    head, *turns = [json.loads(line) for line in path.read_text().splitlines()]
    turns = [{**turn, "record": f"record-{n:012d}"} for n, turn in enumerate(turns)]
    for name, kept_turns in (("alpha", turns), ("fork", turns[1:])):
        lines = [json.dumps({**head, "session": name}), *map(json.dumps, kept_turns)]
        (world.sessions / f"{name}.jsonl").write_text("\n".join(lines) + "\n")
        touch(world.sessions / f"{name}.jsonl", NIGHT - 24 * HOUR)
    world.night()
    assert "lint-gotcha" not in world.waiting()
    assert world.waiting()["watch-gotcha"].sessions == 2


def test_a_moved_transcript_is_not_paid_for_again(world: World) -> None:
    """What was asked about stays asked when the file is archived."""
    world.backend = _Paid(recorded())
    world.night()
    (world.sessions / "archived").mkdir()
    (world.sessions / "beta.jsonl").rename(world.sessions / "archived" / "beta.jsonl")
    world.now += 24 * HOUR
    world.backend = second = _Paid(recorded())
    assert world.night().read == 1
    assert about_excerpts(second) == []
    assert world.waiting()["watch-gotcha"].sessions == 2


def test_pending_names_no_path_no_user_and_no_native_id(world: World) -> None:
    """A candidate can be shared without telling where it was seen."""
    session(world.sessions, "gamma", ["watch"], folder_of_work="/home/robin/tide")
    world.night()
    text = b"".join(world.snapshot().values()).decode()
    for word in ("alpha", "beta", "gamma", "/srv", "/home", "robin", str(world.sessions)):
        assert word not in text


def test_the_night_never_writes_what_people_own(world: World) -> None:
    """Knowledge base and ledger are byte-equal before and after."""
    (world.place.knowledge_base / "git.md").write_text("# git\n\nNever force-push.\n")
    before = world.snapshot("knowledge_base"), world.snapshot("ledger")
    world.night()
    assert (world.snapshot("knowledge_base"), world.snapshot("ledger")) == before


def test_max_pending_holds_the_rest_back(world: World) -> None:
    """At most so many wait; those that wait stay, and the next night tops up."""
    for name in ("gamma", "delta"):
        session(world.sessions, name, list(GOTCHAS))
    world.max_pending = 3
    report = world.night()
    first = set(world.waiting())
    assert len(first) == 3
    assert report.queue.held_back == len(GOTCHAS) - 3
    world.max_pending = 5
    world.night()
    assert first < set(world.waiting())
    assert len(world.waiting()) == 5


def test_another_projects_sessions_are_not_seen(tmp_path: Path) -> None:
    """Two workspaces over the same sessions have nothing of each other, in state or queue."""
    worlds = [World(tmp_path / name, include=[f"/srv/{name}"]) for name in ("tide", "lamp")]
    for name in ("tide", "lamp"):
        for number, gotcha in enumerate(["watch", "push"] if name == "tide" else ["lint", "seed"]):
            for copy in range(2):
                for world in worlds:
                    session(
                        world.sessions,
                        f"{name}-{number}-{copy}",
                        [gotcha],
                        folder_of_work=f"/srv/{name}/src",
                    )
    for world in worlds:
        report = world.night()
        assert report.reasons["skipped: another project's"] == 4
    assert set(worlds[0].waiting()) == {"watch-gotcha", "push-gotcha"}
    assert set(worlds[1].waiting()) == {"lint-gotcha", "seed-gotcha"}
    for world, other in ((worlds[0], b"/srv/lamp"), (worlds[1], b"/srv/tide")):
        with opened(world.place.database, key=KEY) as state:
            kept = "\n".join(state.connection.iterdump()).encode()
            assert other not in b"".join(kept.split(b'INSERT INTO "transcripts"')[:1])
            assert {one.project for one in History(state).excerpts()} == {
                next(iter(state.projects()))
            }


def test_the_watermark_moves_last_and_only_over_what_is_settled(world: World) -> None:
    """A batch that fails leaves its cursors and the watermark, and is named."""
    world.backend = Replay(texts=[Unreachable("no route")])
    report = world.night()
    assert (report.outcome, report.watermark) == (Outcome.FAILED, None)
    assert report.failures == ["no route"]
    with opened(world.place.database, key=KEY) as state:
        assert state.cursors("mining") == {}
        assert state.get("watermark") is None
    world.backend = Replay(recorded())
    assert world.night().outcome is Outcome.ADVANCED
    assert len(world.waiting()) == 2


def test_a_quota_is_not_a_failure(world: World) -> None:
    """The night stops, says so, and goes on another time."""
    world.backend = Replay(texts=[QuotaReached("come back at noon")])
    report = world.night()
    assert report.exit_code == 75
    assert report.outcome is Outcome.STAYED
    assert sum(report.verdicts.values()) == report.found


def about_excerpts(backend: Replay) -> list[Request]:
    """What a backend was asked about excerpts; the second look at findings is another question."""
    return [request for request in backend.asked if request.packets]


class _Paid(Replay):
    """A replay that costs something, so that its answers are kept."""

    free = False
    identity = "replay:paid"


def test_a_paid_answer_is_kept_before_it_is_read_and_asked_for_twice_at_most(world: World) -> None:
    """Prose is kept whole; after two attempts the sessions are asked one by one, then set aside."""
    for attempt in range(1, 3):
        world.backend = _Paid(texts=[Answer("I would rather plan first.", Usage(10, 5, 0.5))])
        report = world.night()
        assert report.outcome is Outcome.FAILED
        kept = sorted(world.place.answers.glob("*.json"))
        assert len(kept) == attempt
        assert json.loads(kept[0].read_text())["text"] == "I would rather plan first."
    prose = [Answer("Still prose.", Usage(10, 5, 0.5)) for _ in range(9)]
    asked = 0
    for _ in range(6):
        world.backend = backend = _Paid(texts=prose)
        report = world.night()
        asked += len(backend.asked)
        if report.outcome is Outcome.ADVANCED:
            break
    assert report.outcome is Outcome.ADVANCED
    assert report.set_aside == 2
    assert asked == 4


def test_an_answer_is_not_paid_twice(world: World) -> None:
    """Killed between the answer and the transaction, the next night reads the kept one."""
    world.backend = paid = _Paid(recorded())
    with opened(world.place.database, key=KEY) as state:
        state.connection.execute(
            "create trigger plug before insert on cursors"
            " begin select raise(abort, 'pulled the plug'); end"
        )
        with pytest.raises(sqlite3.IntegrityError, match="pulled the plug"):
            run(world.made(state))
        state.connection.execute("drop trigger plug")
    assert len(paid.asked) == 1
    world.backend = second = _Paid(recorded())
    world.night()
    assert about_excerpts(second) == []
    assert len(world.waiting()) == 2


def test_what_was_asked_is_not_asked_again_when_a_session_grows(world: World) -> None:
    """Only new excerpts are sent."""
    world.backend = _Paid(recorded())
    world.night()
    path = world.sessions / "beta.jsonl"
    session(world.sessions, "beta", ["watch", "push", "proto", "lint"], modified=NIGHT)
    assert path.exists()
    world.now += 24 * HOUR
    world.backend = second = _Paid(recorded())
    world.night()
    (request,) = about_excerpts(second)
    assert GOTCHAS["lint"][1] in request.prompt
    assert GOTCHAS["watch"][1] not in request.prompt
    assert "lint-gotcha" in world.waiting()


def test_the_report_quotes_no_transcript(world: World) -> None:
    """A report can be pasted anywhere."""
    world.backend = Replay(texts=["nonsense " + GOTCHAS["watch"][1]])
    assert GOTCHAS["watch"][1] not in report_text(world.night())


def test_a_copied_transcript_is_asked_about_once(world: World) -> None:
    """A backup beside the original, or an archived copy, costs no second question."""
    (world.sessions / "copy").mkdir()
    (world.sessions / "copy" / "alpha.jsonl").write_bytes(
        (world.sessions / "alpha.jsonl").read_bytes()
    )
    touch(world.sessions / "copy" / "alpha.jsonl", NIGHT - 24 * HOUR)
    world.backend = backend = _Paid(recorded())
    report = world.night()
    (request,) = about_excerpts(backend)
    ids = [kept.id for packet in request.packets for _, kept in packet.excerpts]
    assert len(ids) == len(set(ids))
    assert report.complaints == {}
    assert world.waiting()["watch-gotcha"].sessions == 2


class _Cleanup(Progress):
    """An agent that deletes a transcript after it was listed and before it is read."""

    def __init__(self, path: Path) -> None:
        self._path = path

    def begin(self, stage: str, total: int) -> None:
        if stage == "reading":
            self._path.unlink()


def test_what_is_deleted_while_the_night_runs_keeps_its_evidence(world: World) -> None:
    """It makes no difference whether an agent cleans up before or after the listing."""
    world.night()
    before = world.snapshot()
    beta = session(world.sessions, "beta", ["watch", "push", "proto", "seed"], modified=NIGHT)
    world.now += 24 * HOUR
    with opened(world.place.database, key=KEY) as state:
        night = world.made(state)
        night.progress = _Cleanup(beta)
        report = run(night)
    assert (report.withdrawn.excerpts, report.found) == (0, 2)
    assert sum(report.verdicts.values()) == 2
    assert world.snapshot() == before


class _Closed(Jsonl):
    """A folder in which one place may not be looked into."""

    def list(self, folder: Path) -> Iterator[Transcript | NotASession]:
        yield from super().list(folder)
        yield NotASession(folder / "closed", "cannot be read: Permission denied", unreadable=True)


def test_what_nobody_can_look_into_is_not_settled(world: World) -> None:
    """A folder without a right to it may hold sessions: it is told, and the watermark stays."""
    first = world.night().watermark
    world.now += 24 * HOUR
    with opened(world.place.database, key=KEY) as state:
        night = world.made(state)
        night.folders = [(_Closed(), world.sessions)]
        report = run(night)
    assert report.reasons["failed: cannot be read: Permission denied"] == 1
    assert sum(report.verdicts.values()) == report.found == 3
    assert (report.exit_code, report.outcome, report.watermark) == (1, Outcome.STAYED, first)
    world.now += 24 * HOUR
    assert world.night().outcome is Outcome.ADVANCED


@pytest.mark.parametrize(("moved_to", "seen"), [("/srv/a/web", True), ("/srv/ab", False)])
def test_a_recorded_repository_is_that_of_the_folder_a_session_began_in(
    tmp_path: Path, moved_to: str, seen: bool
) -> None:
    """Turns in another client's folder, gone by now, do not come along."""
    world = World(tmp_path, include=["git.example/tide/a"])
    for name in ("alpha", "beta"):
        path = session(world.sessions, name, ["watch"], folder_of_work="/srv/a")
        head, first, *rest = path.read_text("utf-8").splitlines()
        head = head.replace("{", '{"repository": "https://git.example/tide/a.git", ', 1)
        rest = [line.replace('"/srv/a"', f'"{moved_to}"') for line in rest]
        path.write_text("\n".join([head, first, *rest, ""]), "utf-8")
        touch(path, NIGHT - 24 * HOUR)
    report = world.night()
    assert report.verdicts == {Verdict.PROCESSED: 2}
    assert bool(report.excerpts) is seen
    assert ("watch-gotcha" in world.waiting()) is seen


def test_a_clock_that_was_ahead_once_holds_nothing_up(world: World) -> None:
    """The watermark does not go back; nights after the clock was put right say they are done."""
    world.since = 0.0
    world.now += 365 * 24 * HOUR
    ahead = world.night().watermark
    world.now = NIGHT + 24 * HOUR
    session(world.sessions, "gamma", ["proto"], modified=NIGHT)
    report = world.night()
    assert (report.outcome, report.exit_code) == (Outcome.ADVANCED, 0)
    assert report.why == "everything that was there is settled"
    assert report.watermark == ahead
    assert "proto-gotcha" in world.waiting()


def test_a_quiet_night_groups_nothing_and_knows_when_it_must(
    world: World, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Grouping runs again when evidence, lessons, decisions, settings or the queue changed."""
    grouped: list[float] = []

    def watched(*args: Any, **more: Any) -> Any:
        grouped.append(world.now)
        return survey(*args, **more)

    monkeypatch.setattr(nightly, "survey", watched)
    first = world.night()
    world.now += 24 * HOUR
    quiet = world.night()
    assert len(grouped) == 1
    assert (quiet.queue.waiting, quiet.queue.new) == (first.queue.waiting, 0)

    def lesson() -> None:
        (world.place.knowledge_base / "tools.md").write_text("- SYMPTOM: a. RULE: b.\n")

    changes: dict[str, Callable[[], object]] = {
        "a session": lambda: session(world.sessions, "new", ["lint"]),
        "a lesson": lesson,
        "a decision": lambda: _reject(world),
        "a setting": lambda: setattr(world, "max_pending", 29),
        "the queue": lambda: next(world.place.pending.glob("*.json")).unlink(),
    }
    for number, (name, change) in enumerate(changes.items(), start=2):
        change()
        world.night()
        world.night()
        assert len(grouped) == number, name


def _reject(world: World) -> None:
    with world.desk() as desk:
        reject(desk, next(iter(world.waiting().values())).id, "no")
