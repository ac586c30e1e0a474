"""What is dealt with already is flagged, with the reason, and comes last; it is never hidden."""

from __future__ import annotations

import subprocess
from collections.abc import Sequence
from pathlib import Path

import msgspec
import pytest

from dreaming.jobs import decide, evidence
from dreaming.jobs.fixing import reasons
from dreaming.jobs.review import AtDesk
from dreaming.jobs.why import why
from dreaming.known.places import Unit, units
from dreaming.models.candidate import Candidate, Flag
from dreaming.stores.interface import Project
from dreaming.stores.ledger import Ledger
from dreaming.stores.pending import Pending
from dreaming.stores.repository import checkout
from dreaming.stores.state import opened

from .test_refusal import _private_key
from .world import HOUR, KEY, NIGHT, World, session, touch

TEXT = "Always run `pnpm vitest run`.\n"


class Files(msgspec.Struct):
    """A repository of one document."""

    since_: float = NIGHT - HOUR

    def units(self) -> Sequence[Unit]:
        """Return its lines."""
        return list(units("CONTRIBUTING.md", TEXT))

    def stamp(self) -> str:
        """Return what changes with it."""
        return str(self.since_)

    def since(self, path: str, line: str) -> float:
        """Return when any line came in."""
        return self.since_


@pytest.fixture
def world(tmp_path: Path) -> World:
    """Two gotchas, in two sessions each."""
    made = World(tmp_path)
    session(made.sessions, "one", ["watch", "push"])
    session(made.sessions, "two", ["push", "watch"])
    return made


def waiting(world: World) -> dict[str, Candidate]:
    """What waits, in order."""
    return {one.slug: one for one in Pending(world.place.pending).all()}


def kept(world: World) -> dict[str, str]:
    """The reasons that the state keeps."""
    with opened(world.place.database, key=KEY) as state:
        return dict(reasons(state))


def test_what_is_dealt_with_waits_last_with_its_reason(world: World) -> None:
    """It is flagged, told why and where, and stands behind all that is open."""
    world.repository = lambda _: Files()
    world.night()
    found = waiting(world)
    assert [Flag.MAYBE_FIXED in one.flags for one in found.values()] == [False, True]
    flagged = found["watch-gotcha"]
    (why_fixed,) = kept(world).values()
    assert why_fixed == "a document says it in CONTRIBUTING.md:1 since 2026-11-29"
    with opened(world.place.database, key=KEY) as state:
        shown = {one.slug: one.fixed for one in evidence.reveal(list(found.values()), state)}
    assert shown == {"watch-gotcha": why_fixed, "push-gotcha": ""}
    with world.desk() as desk:
        detail = AtDesk(desk).detail(flagged.id)
    assert [why_fixed in doubt.reason for doubt in detail.item.doubts][-1]


def test_what_was_there_before_the_last_evidence_does_not_count(world: World) -> None:
    """What did not help is no end of it."""
    world.repository = lambda _: Files(NIGHT - 9 * 24 * HOUR)
    world.night()
    assert not any(Flag.MAYBE_FIXED in one.flags for one in waiting(world).values())
    assert kept(world) == {}


def test_a_flag_goes_when_its_reason_does(world: World) -> None:
    """Each night looks anew."""
    world.repository = lambda _: Files()
    world.night()
    world.repository = lambda _: None
    world.night()
    assert not any(Flag.MAYBE_FIXED in one.flags for one in waiting(world).values())
    assert kept(world) == {}


def test_a_full_queue_keeps_what_is_open(world: World) -> None:
    """Where there is room for one, what may be fixed is held back, though it waited before."""
    world.max_pending = 1
    world.repository = lambda _: Files()
    report = world.night()
    assert list(waiting(world)) == ["push-gotcha"]
    assert report.queue is not None and report.queue.held_back == 1


def test_the_habit_of_later_sessions_is_seen(world: World) -> None:
    """Five sessions that do it right from the start, and none that does not."""
    for number in range(5):
        _works(world, f"later{number}", "pnpm vitest run")
    world.night()
    (told,) = kept(world).values()
    assert told == "the right form was used from the start in the last 5 sessions"
    _works(world, "slip", "pnpm test")
    world.night()
    assert kept(world) == {}


def test_another_projects_sessions_make_no_habit(world: World) -> None:
    """What is done elsewhere says nothing about this repository."""
    for number in range(5):
        _works(world, f"later{number}", "pnpm vitest run", folder="/srv/other")
    world.night()
    assert kept(world) == {}


def test_only_repositories_of_the_workspace_are_opened(tmp_path: Path) -> None:
    """A project that does not belong is not looked at."""
    world = World(tmp_path, exclude=["/srv/secret"])
    for name in ("one", "two"):
        session(world.sessions, name, ["watch"])
        session(world.sessions, f"secret-{name}", ["push"], folder_of_work="/srv/secret")
    asked: list[str] = []

    def open_files(project: Project) -> None:
        asked.append(project.folder)

    world.repository = open_files
    world.night()
    assert set(asked) == {"/srv/tide"}


def test_a_line_of_the_projects_own_repository_is_found(tmp_path: Path) -> None:
    """From the folder that sessions recorded to the reason that a person reads."""
    root = tmp_path / "tide"
    root.mkdir()
    subprocess.run(["git", "init", "-q", root], check=True)
    (root / "CONTRIBUTING.md").write_text(TEXT, encoding="utf-8")
    touch(root / "CONTRIBUTING.md", NIGHT - HOUR)
    world = World(tmp_path)
    world.repository = checkout
    for name in ("one", "two"):
        session(world.sessions, name, ["watch"], folder_of_work=str(root / "gone"))
    world.night()
    assert list(kept(world).values()) == [
        "a document says it in CONTRIBUTING.md:1 since 2026-11-29"
    ]


def test_a_refused_transcript_leaves_no_deeds(world: World) -> None:
    """Refusal takes back what was done, too."""
    world.night()
    with opened(world.place.database, key=KEY) as state:
        assert state.connection.execute("select count(*) from deeds").fetchone() == (2,)
    leak = {"kind": "result", "speaker": "tool", "tool": "shell", "text": _private_key()}
    session(world.sessions, "one", ["watch", "push"], extra=[leak], modified=NIGHT)
    world.now += 24 * HOUR
    world.night()
    with opened(world.place.database, key=KEY) as state:
        assert state.connection.execute("select count(*) from deeds").fetchone() == (1,)


def test_why_still_tells_after_the_decision(world: World) -> None:
    """What was known when a person decided stays with the lesson."""
    world.repository = lambda _: Files()
    world.night()
    flagged = waiting(world)["watch-gotcha"]
    with world.desk() as desk:
        written = decide.accept(desk, flagged.id)
    world.repository = lambda _: None
    world.night()
    with opened(world.place.database, key=KEY) as state:
        ledger = Ledger(world.place.ledger, "reader")
        told = why(world.place.knowledge_base, ledger, state, written.lesson)
    assert [one.fixed for one in told.origins] == [
        "a document says it in CONTRIBUTING.md:1 since 2026-11-29"
    ]


def _works(world: World, name: str, command: str, folder: str = "/srv/tide") -> None:
    """A session in which a command works at once, after the others."""
    at = NIGHT - 40 * HOUR
    call = {
        "kind": "call", "speaker": "model", "text": "", "at": at, "folder": folder, "call": "c1",
        "tool": "shell", "tool_name": "Bash", "action": command,
    }  # fmt: skip
    done = {**call, "kind": "result", "speaker": "tool", "text": "done", "status": "ok"}
    session(world.sessions, name, [], at=at, folder_of_work=folder, extra=[call, done])
