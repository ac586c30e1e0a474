"""What has a name is one candidate, however the nights were cut."""

from __future__ import annotations

import random
from pathlib import Path
from typing import Any

import pytest

from dreaming.backends.offline import Offline
from dreaming.stores.pending import Pending
from dreaming.stores.projects import home
from tests.jobs.world import NIGHT, World, session, touch

HOUR = 3600.0
SAID = {
    "ann": ("mdlint docs", "docs/reef.md:7:3 error MD060/table-column-style Table column style"),
    "bob": ("mdlint tide", "tide.md:9:1 error MD060/table-column-style Table column style"),
    "cyd": ("lint ./...", "reef.go:7:2: Error return value of `b.Close` is not checked (errcheck)"),
    "dan": ("lint ./buoy", "buoy.go:3:9: Error return value of `f.Sync` is not checked (errcheck)"),
    "eve": ("mdlint .", "buoy.md:2:8 error MD060/table-column-style Table column style"),
}


def written(world: World, name: str) -> None:
    """A session in which a linter rejects the work, at an hour of its own."""
    command, line = SAID[name]
    hours = 30 * sorted(SAID).index(name)
    at = NIGHT - (400 - hours) * HOUR
    shell = {"tool": "shell", "tool_name": "Bash", "folder": "/srv/tide"}
    turns: list[dict[str, Any]] = []
    for number, (action, said, status) in enumerate(
        [(command, line, "error"), (f"{command} --fix", "ok", "ok")]
    ):
        call = {"call": f"{name}-{number}", "at": at + 10 * number, **shell}
        turns += [
            {"kind": "call", "speaker": "model", "text": "", "action": action, **call},
            {"kind": "result", "speaker": "tool", "text": said, "status": status, **call},
        ]
    path = session(world.sessions, name, ["watch", "push"][: hours % 3], at=at - 500, extra=turns)
    touch(path, world.now - 24 * HOUR)


def waiting(world: World) -> list[dict[str, Any]]:
    """What waits, but for the ids it had before."""
    return [one.model_dump(exclude={"formerly"}) for one in Pending(world.place.pending).all()]


@pytest.mark.parametrize("seed", range(3))
def test_nights_in_any_order_come_to_the_same(tmp_path: Path, seed: int) -> None:
    """All at once, or cut into nights at random and in any order: the same candidates wait."""
    at_once = World(tmp_path / "at-once")
    at_once.backend, at_once.since = Offline(), 0.0
    for name in SAID:
        written(at_once, name)
    at_once.night()
    assert {one["slug"] for one in waiting(at_once)} >= {"lint-md060", "lint-errcheck"}

    chance = random.Random(seed)
    names = chance.sample(sorted(SAID), len(SAID))
    cut = World(tmp_path / "cut")
    cut.backend, cut.since = Offline(), 0.0
    while names:
        for name in names[: (size := chance.randint(1, 3))]:
            written(cut, name)
        names = names[size:]
        cut.night()
        cut.now += 24 * HOUR
    assert waiting(cut) == waiting(at_once)


@pytest.mark.parametrize(
    ("recorded", "name"),
    [
        ("/home/mira/work/reef/.worktrees/tide-2", "reef"),
        ("/home/mira/work/reef/.claude/worktrees/tide/docs", "reef"),
        ("/home/mira/work/reef-worktrees/tide", "reef"),
        ("/home/mira/.keeper/worktrees/reef/tide", "reef"),
        ("/home/mira/.codex/worktrees/7f3a/reef", "reef"),
        (r"D:\work\reef", "reef"),
        ("git.example/mira/Reef", "reef"),
        ("/home/mira/work/reef", "reef"),
    ],
)
def test_a_worktree_has_the_name_of_its_repository(recorded: str, name: str) -> None:
    """Where tools put worktrees is known, so that what recurs in them is counted together."""
    assert home(recorded) == name
