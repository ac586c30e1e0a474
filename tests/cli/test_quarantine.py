"""``dreaming quarantine``: what could not be used can be seen, and read again for nothing."""

from __future__ import annotations

import json
import os
import re
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from dreaming.backends.interface import Answer, NotReadOnly, TimedOut, Usage
from dreaming.cli.main import run
from dreaming.models.report import Outcome
from dreaming.stores.answers import Answers
from dreaming.stores.workspace import Workspace, lay_out, state_home
from tests.jobs.test_paid_once import Paid
from tests.jobs.world import GOTCHAS, HOUR, KEY, NIGHT, World, session

PROSE = Answer("Let me \x1b[2Jplan.", Usage(90, 10, 0.25))
Told = Callable[..., tuple[int, str, str]]


@pytest.fixture
def world(tmp_path: Path) -> World:
    """Two sessions that share a gotcha, in a workspace at the command's own places."""
    made = World(tmp_path)
    made.place = Workspace(made.place.root, state_home())
    lay_out(made.place, {"dreaming.toml": ""}, KEY)
    for name in ("alpha", "beta"):
        session(made.sessions, name, ["watch"])
    return made


@pytest.fixture
def told(world: World, capsys: pytest.CaptureFixture[str]) -> Told:
    """Run ``dreaming quarantine`` with these words; return its code, results and narration."""

    def call(*words: str) -> tuple[int, str, str]:
        code = run(["quarantine", *words, "--workspace", str(world.place.root)])
        out = capsys.readouterr()
        return code, out.out, out.err

    return call


def listed(told: Told) -> list[dict[str, Any]]:
    """What the list says to a script."""
    found: list[dict[str, Any]] = json.loads(told("list", "--json")[1])
    return found


def meant(world: World, name: str) -> str:
    """What a kept answer should have said: the gotcha of each session it is about."""
    kept = Answers(world.place.answers).get(name)
    assert kept is not None
    return json.dumps(
        [
            {
                "session_id": id_,
                "slug": "watch-gotcha",
                "topic": "tools",
                "symptom": f"It says: {GOTCHAS['watch'][1]}.",
                "rule": "Run it once.",
                "evidence": [number for number, _, _ in told],
            }
            for id_, told in kept.about
        ]
    )


def test_the_list_says_what_failed_when_and_why(
    world: World, told: Told, golden: Callable[[str, str], None]
) -> None:
    """A line for each answer, and nothing of its text."""
    assert told("list") == (0, "", "None.\n")
    world.backend = Paid(PROSE, TimedOut("No answer in 600 s.", partial=Answer("[{", Usage(9))))
    world.night()
    world.backend = Paid(NotReadOnly("It used Bash.", partial=Answer("done", Usage(9))))
    world.night()
    for kept in world.place.answers.glob("*.json"):
        os.utime(kept, (NIGHT, NIGHT))
    code, out, err = told("list")
    assert code == 0
    text = re.sub(r"^[0-9a-f]{12}", "ID", out, flags=re.M)
    golden("".join(sorted(text.splitlines(keepends=True))) + err, "txt")


def test_a_raw_answer_is_shown_as_it_came_and_steers_no_terminal(world: World, told: Told) -> None:
    """A script gets every character, a person one that is inert."""
    world.backend = Paid(rest=PROSE)
    world.night()
    id_ = listed(told)[0]["id"]
    code, out, _ = told("show", id_[:12])
    assert (code, out) == (0, "Let me <U+001B>[2Jplan.\n")
    assert json.loads(told("show", id_, "--json")[1])["text"] == PROSE.text
    assert told("show", "f" * 64)[0] == 2


def test_what_was_set_aside_is_read_again_and_nothing_is_asked(
    world: World, told: Told, tmp_path: Path
) -> None:
    """A person mends what the model said; it is checked like any answer, and counts."""
    world.backend = Paid(rest=PROSE)
    world.night()
    assert world.night().set_aside == 2
    assert told("replay", listed(told)[0]["id"])[0] == 1
    mended = tmp_path / "mended.json"
    for one in listed(told):
        mended.write_text(meant(world, one["id"]))
        assert told("replay", one["id"], "--file", str(mended))[0] == 0
    assert all(one["replayed"] for one in listed(told))
    world.backend = silent = Paid()
    world.now += 24 * HOUR
    world.night()
    assert set(world.waiting()) == {"watch-gotcha"}
    assert [one for one in silent.asked if one.packets] == []


def test_the_next_night_takes_what_was_read_again(world: World, told: Told, tmp_path: Path) -> None:
    """Where no night has settled the sessions yet, the mended answer stands for the question."""
    world.backend = Paid(TimedOut("silence", partial=Answer("[{", Usage(9))))
    assert world.night().outcome is Outcome.FAILED
    (one,) = listed(told)
    mended = tmp_path / "mended.json"
    mended.write_text(meant(world, one["id"]))
    code, _, err = told("replay", one["id"], "--file", str(mended))
    assert code == 0 and "4 excerpts wait for the next night" in err
    world.backend = silent = Paid()
    assert world.night().outcome is Outcome.ADVANCED
    assert silent.asked == [] and set(world.waiting()) == {"watch-gotcha"}


def test_what_may_not_be_believed_is_not_read_again(
    world: World, told: Told, tmp_path: Path
) -> None:
    """Neither an answer of a model that had a tool, nor one that holds a credential."""
    world.backend = Paid(NotReadOnly("It used Bash.", partial=Answer("[]", Usage(9))))
    world.night()
    (one,) = listed(told)
    assert told("replay", one["id"])[0] == 4
    world.backend = Paid(rest=PROSE)
    world.night()
    mended = tmp_path / "mended.json"
    mended.write_text(json.dumps(["AKIA" + "Q3EGRIA7P5VWXYZ2"]))
    prose = next(one for one in listed(told) if not one["why"].startswith("not read only"))
    assert told("replay", prose["id"], "--file", str(mended))[0] == 4
