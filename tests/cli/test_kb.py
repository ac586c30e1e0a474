"""``dreaming kb`` as a person runs it: exit codes, diffs, and what scripts get."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from dreaming.cli.main import run
from dreaming.jobs import decide
from dreaming.stores.workspace import Workspace, lay_out, state_home
from tests.jobs.world import KEY, World, session

Capture = pytest.CaptureFixture[str]


@pytest.fixture
def world(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> World:
    """One candidate waits and one is a lesson, in the workspace that commands find."""
    made = World(tmp_path)
    made.place = Workspace(made.place.root, state_home())
    lay_out(made.place, {"dreaming.toml": ""}, KEY)
    session(made.sessions, "alpha", ["watch", "push"])
    session(made.sessions, "beta", ["watch", "push"])
    made.night()
    with made.desk() as desk:
        decide.accept(desk, str(made.waiting()["watch-gotcha"].id))
    monkeypatch.setenv("DREAMING_WORKSPACE", str(made.place.root))
    return made


def lesson_of(world: World) -> str:
    """The id of the one lesson."""
    (line,) = (world.place.knowledge_base / "tools.md").read_text().splitlines()[2:]
    return line[-12:-4]


def got(capsys: Capture, *words: str, code: int = 0) -> Any:
    """What a command prints for scripts."""
    assert run([*words, "--json"]) == code
    told = capsys.readouterr()
    assert told.out.isascii()
    return json.loads(told.out)


def said(capsys: Capture, *words: str, code: int = 0) -> tuple[str, str]:
    """What a command prints for people: data, narration."""
    assert run(list(words)) == code
    told = capsys.readouterr()
    return told.out, told.err


def test_list_shows_topics_and_their_lines(world: World, capsys: Capture) -> None:
    """Topics with their size; one topic with its lines and their ids."""
    (topic,) = got(capsys, "kb", "list")
    assert (topic["topic"], topic["lines"], topic["lessons"]) == ("tools", 3, 1)
    assert topic["hand_written"] == 0 and topic["too_long"] is False
    (topic,) = got(capsys, "kb", "list", "tools")
    assert topic["known"][0]["lesson"] == lesson_of(world)
    out, err = said(capsys, "kb", "list")
    assert "tools" in out and "1 lesson in 1 topic" in err
    assert lesson_of(world) in said(capsys, "kb", "list", "tools")[0]
    assert "No topic reef" in said(capsys, "kb", "list", "reef", code=2)[1]


def test_list_marks_topics_past_the_budget(world: World, capsys: Capture) -> None:
    """The workspace says how many lines are too many."""
    world.place.settings.write_text("max_topic_lines = 2\n")
    assert got(capsys, "kb", "list")[0]["too_long"] is True
    assert "too long" in said(capsys, "kb", "list")[0]
    (one,) = got(capsys, "kb", "lint")
    assert (one["kind"], one["wrong"]) == ("too-long", False)


def test_an_empty_knowledge_base_says_what_to_do(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: Capture
) -> None:
    """Nothing to list is no failure."""
    assert run(["init", str(tmp_path / "reef")]) == 0
    monkeypatch.setenv("DREAMING_WORKSPACE", str(tmp_path / "reef"))
    capsys.readouterr()
    out, err = said(capsys, "kb", "list")
    assert out == "" and "dreaming accept" in err
    assert got(capsys, "kb", "lint") == []
    assert got(capsys, "kb", "search", "reef") == []


def test_search_names_file_and_line(world: World, capsys: Capture) -> None:
    """The place of a line is told as editors take it; misspelled words are found."""
    out, _ = said(capsys, "kb", "search", "vitst", "watch")
    assert out.startswith("tools.md:3: - [")
    (one,) = got(capsys, "kb", "search", "pnpm", "--limit", "1")
    assert one["lesson"] == lesson_of(world) and one["number"] == 3
    out, err = said(capsys, "kb", "search", "zzyzx")
    assert out == "" and "Nothing" in err


def test_lint_ends_with_one_only_when_something_is_wrong(world: World, capsys: Capture) -> None:
    """0 for nothing and for what only wants a look, 1 for what is wrong; nothing is changed."""
    assert "Nothing is wrong" in said(capsys, "kb", "lint")[1]
    path = world.place.knowledge_base / "tools.md"
    line = path.read_text().splitlines()[2]
    (world.place.knowledge_base / "notes.md").write_text("See @~/reef.md first.\n")
    out, err = said(capsys, "kb", "lint")
    assert out.startswith("notes.md:1: look: not-inert") and "0 wrong, 1 worth a look" in err
    path.write_text(f"{path.read_text()}{line}\n")
    before = world.snapshot("knowledge_base")
    out, _ = said(capsys, "kb", "lint", code=1)
    assert "tools.md:4: wrong: duplicate: it says the same as tools.md:3" in out
    assert {one["kind"] for one in got(capsys, "kb", "lint", code=1)} == {
        "anchor-twice",
        "duplicate",
        "not-inert",
    }
    assert world.snapshot("knowledge_base") == before


def test_why_tells_and_is_logged(world: World, capsys: Capture) -> None:
    """Sessions, words, night, backend and decision are printed; that they were is noted."""
    lesson = lesson_of(world)
    out, _ = said(capsys, "kb", "why", lesson[:5])
    for word in (lesson, "stands", "accept by kim", "2 sessions", "replay", "alpha", "beta"):
        assert word in out
    found = got(capsys, "kb", "why", lesson)
    assert found["origins"][0]["sessions"] == ["alpha", "beta"]
    logged = (world.place.state / "reveals.log").read_text().splitlines()
    assert len(logged) == 2 and found["origins"][0]["candidate"] in logged[0]


@pytest.mark.parametrize("command", ["why", "retire", "supersede"])
def test_a_lesson_that_is_none_is_wrong_use(command: str, world: World, capsys: Capture) -> None:
    """An id that nobody has ends with 2 and says how lessons are named."""
    more = {"why": [], "retire": ["--why", "x"], "supersede": ["--rule", "x y z"]}[command]
    for wanted in ("ffffffff", "ab", "not-an-id"):
        _, err = said(capsys, "kb", command, wanted, *more, code=2)
        assert "no lesson" in err and "dreaming kb search" in err


def test_retire_shows_the_line_it_takes_out(world: World, capsys: Capture) -> None:
    """First the diff, then the deed; a dry run stops after the diff."""
    lesson = lesson_of(world)
    before = world.snapshot("knowledge_base"), world.snapshot("ledger")
    words = ("kb", "retire", lesson[:6], "--why", "fixed upstream")
    out, err = said(capsys, *words, "--dry-run")
    assert "-- [2026-11-30] SYMPTOM:" in out and "Nothing was changed" in err
    assert (world.snapshot("knowledge_base"), world.snapshot("ledger")) == before
    out, err = said(capsys, *words)
    assert "-- [2026-11-30] SYMPTOM:" in out and "dreaming undo" in err
    assert lesson.encode() not in b"".join(world.snapshot("knowledge_base").values())
    assert run(["undo"]) == 0
    assert world.snapshot("knowledge_base") == before[0]


def test_supersede_shows_both_wordings(world: World, capsys: Capture) -> None:
    """The old line with a minus, the new one with a plus; without --symptom it stays."""
    lesson = lesson_of(world)
    symptom = (world.place.knowledge_base / "tools.md").read_text().split("SYMPTOM: ")[1]
    out, _ = said(capsys, "kb", "supersede", lesson, "--rule", "Run `pnpm vitest run` alone.")
    minus, plus = out.splitlines()[1:]
    assert minus.startswith("-- [") and plus.startswith("+- [")
    assert symptom.split(" RULE:")[0] in plus and "alone." in plus
    assert lesson_of(world) != lesson
    found = got(
        capsys, "kb", "supersede", lesson_of(world), "--symptom", "It hangs.", "--rule", "Wait."
    )
    assert found["written"] and "It hangs." in found["line"] and "alone." in found["was"]


def test_what_must_not_be_written_is_refused(world: World, capsys: Capture) -> None:
    """A new wording with hidden characters ends with 4 and changes nothing."""
    before = world.snapshot("knowledge_base"), world.snapshot("ledger")
    words = ("kb", "supersede", lesson_of(world), "--rule", "Run\u202e it.")
    assert "U+202E" in said(capsys, *words, code=4)[1]
    assert (world.snapshot("knowledge_base"), world.snapshot("ledger")) == before


def test_agents_change_no_lesson(
    world: World, capsys: Capture, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Inside an agent both decisions are refused, and looking is allowed."""
    monkeypatch.setenv("CLAUDECODE", "1")
    lesson = lesson_of(world)
    for words in (["retire", lesson, "--why", "x"], ["supersede", lesson, "--rule", "x y"]):
        assert "--i-am-a-person" in said(capsys, "kb", *words, code=4)[1]
    said(capsys, "kb", "list")
    said(capsys, "kb", "retire", lesson, "--why", "x", "--dry-run")
