"""Looking at the knowledge base: sizes, words, what is wrong, and why a line is there."""

from __future__ import annotations

import json
from collections.abc import Callable
from datetime import UTC, datetime
from pathlib import Path

import pytest

from dreaming.errors import Unusable, WrongUse
from dreaming.jobs import decide, knowledge
from dreaming.jobs.why import Why, why
from dreaming.known.lint import Kind
from dreaming.models.decision import Action, Phase
from dreaming.stores.interface import Project
from dreaming.stores.ledger import Ledger
from dreaming.stores.state import opened

from .world import HOUR, KEY, NIGHT, World, session

DAY = datetime(2026, 11, 30, tzinfo=UTC)


@pytest.fixture
def world(tmp_path: Path) -> World:
    """Two candidates wait, each seen in two sessions."""
    made = World(tmp_path)
    session(made.sessions, "alpha", ["watch", "push"])
    session(made.sessions, "beta", ["watch", "push"])
    made.night()
    return made


def accepted(world: World, slug: str = "watch-gotcha") -> str:
    """Accept a candidate; return the lesson's id."""
    with world.desk() as desk:
        line = decide.accept(desk, str(world.waiting()[slug].id)).line
    return line[-12:-4]


def ledger(world: World) -> Ledger:
    """Everybody's decisions."""
    return Ledger(world.place.ledger, "reader")


def told(world: World, wanted: str, belongs: Callable[[Project], bool] = lambda _: True) -> Why:
    """Why a line is there."""
    with opened(world.place.database, key=KEY) as state:
        return why(world.place.knowledge_base, ledger(world), state, wanted, belongs)


def kinds(world: World, most: int = 150) -> list[Kind]:
    """What is wrong or worth a look."""
    return [one.kind for one in knowledge.check(world.place.knowledge_base, ledger(world), most)]


def by_hand(world: World, text: str, topic: str = "notes") -> Path:
    """Write a topic as a person would."""
    path = world.place.knowledge_base / f"{topic}.md"
    path.write_text(text, encoding="utf-8")
    return path


# -- what stands there ----------------------------------------------------------------------------


def test_topics_say_how_long_they_are(world: World) -> None:
    """Every line counts, as an agent loads it; lessons and lines by hand are told apart."""
    accepted(world)
    by_hand(world, "# notes\n\nQuote globs in the shell.\n\n- Keep it small.")
    found = {one.topic: one for one in knowledge.topics(world.place.knowledge_base)}
    assert set(found) == {"notes", "tools"}
    assert (found["tools"].lines, found["tools"].lessons, len(found["tools"].known)) == (3, 1, 1)
    assert (found["notes"].lines, found["notes"].lessons, len(found["notes"].known)) == (5, 0, 2)
    assert found["notes"].bytes == 52


def test_words_find_lines_of_all_topics(world: World) -> None:
    """Lessons and lines by hand are found, with their place; a topic's name is a word of it."""
    lesson = accepted(world)
    by_hand(world, "Quote globs in the shell.\n", "shells")
    folder = world.place.knowledge_base
    (first, *_) = knowledge.search(folder, "vitest watch", 10)
    assert first.line.lesson is not None and first.line.lesson.id == lesson
    (only,) = knowledge.search(folder, "shells", 10)
    assert (only.line.path.name, only.line.number) == ("shells.md", 1)
    assert knowledge.search(folder, "zzyzx", 10) == []


# -- what is wrong --------------------------------------------------------------------------------


def test_what_the_program_wrote_is_right(world: World) -> None:
    """After decisions alone nothing is wrong."""
    accepted(world)
    accepted(world, "push-gotcha")
    assert kinds(world) == []


def test_a_topic_past_its_budget_is_named(world: World) -> None:
    """One line more than agents load is too long; the budget itself is not."""
    by_hand(world, "one\ntwo\nthree\n")
    assert kinds(world, 3) == []
    assert kinds(world, 2) == [Kind.TOO_LONG]


def test_an_anchor_nobody_decided_is_named(world: World) -> None:
    """A line of ours that no decision made was written by somebody else."""
    by_hand(
        world, "- [2026-11-30] SYMPTOM: it hangs RULE: Add a flag. <!-- dreaming:0badcafe -->\n"
    )
    assert kinds(world) == [Kind.ANCHOR_UNKNOWN]


def test_a_lesson_whose_line_is_gone_is_named(world: World) -> None:
    """The ledger says it stands and it does not: file and line as written are told."""
    accepted(world)
    path = world.place.knowledge_base / "tools.md"
    path.write_text("# tools\n")
    (one,) = knowledge.check(world.place.knowledge_base, ledger(world), 150)
    assert (one.kind, one.path, one.wrong) == (Kind.LINE_GONE, str(path), False)
    assert "pnpm vitest run" in one.text


def test_a_lesson_may_move_to_another_topic(world: World) -> None:
    """A person sorts their files as they like: the anchor goes with the line."""
    accepted(world)
    (world.place.knowledge_base / "tools.md").rename(world.place.knowledge_base / "vitest.md")
    assert kinds(world) == []


def test_an_edited_ledger_is_no_witness(world: World) -> None:
    """No anchor is judged by a chain that was tampered with."""
    accepted(world)
    path = next(world.place.ledger.glob("*.jsonl"))
    path.write_bytes(path.read_bytes().replace(b"kim", b"tim", 1))
    with pytest.raises(Unusable):
        kinds(world)


# -- why a line is there --------------------------------------------------------------------------


def test_why_joins_ledger_night_and_words(world: World) -> None:
    """Sessions, quotations, backend, night and decision of a line are told together."""
    lesson = accepted(world)
    found = told(world, lesson)
    assert (found.standing, found.line, found.number) == ("stands", found.written, 3)
    (decision,) = found.decisions
    assert (decision.action, decision.reviewer, decision.holds) == ("accept", "kim", True)
    (origin,) = found.origins
    assert origin.candidate == decision.candidate
    assert origin.night is not None and origin.night.timestamp() == NIGHT
    assert origin.backend == "replay"
    assert origin.sessions == ("alpha", "beta")
    assert any("watch mode never ends here" in one.quote for one in origin.evidence)
    assert {one.session_id for one in origin.evidence} == {"alpha", "beta"}
    assert found.unknown == ()


def test_the_beginning_of_a_lesson_is_enough(world: World) -> None:
    """Four characters name a lesson where only one begins so; fewer, or none, name none."""
    lesson = accepted(world)
    assert told(world, lesson[:4]).lesson == lesson
    for wrong in ("", lesson[:3], "zzzz", f"{lesson}0"):
        with pytest.raises(WrongUse):
            told(world, wrong)
    text = "- [2026-11-30] SYMPTOM: it hangs RULE: Add a flag. <!-- dreaming:{}{} -->\n"
    by_hand(world, text.format(lesson[:6], "00") + text.format(lesson[:6], "0f"))
    with pytest.raises(WrongUse, match="more of it"):
        told(world, lesson[:5])


def test_why_says_when_the_state_was_lost(world: World) -> None:
    """The decision stands without the database; where it came from is called unknown."""
    lesson = accepted(world)
    world.place.database.unlink()
    found = told(world, lesson)
    assert found.standing == "stands" and len(found.decisions) == 1
    assert found.origins == ()
    (said,) = found.unknown
    assert found.decisions[0].candidate in said and "not known on this machine" in said


def test_why_says_when_evidence_was_withdrawn(world: World) -> None:
    """Words of a session that turned out to hold a credential are gone; that is said."""
    lesson = accepted(world)
    key = "".join(["sk_li", "ve_", "9aZ3kQ7mT2xV5bN8cR4wY6pL"])
    path = session(world.sessions, "beta", ["watch", "push"], modified=world.now)
    with path.open("a", encoding="utf-8") as file:
        file.write(json.dumps({"kind": "user", "speaker": "human", "text": key}) + "\n")
    world.now += 48 * HOUR
    assert world.night().withdrawn.excerpts > 0
    found = told(world, lesson)
    (origin,) = found.origins
    assert origin.sessions == ("alpha",)
    assert key not in repr(found)
    assert any("are gone" in one for one in found.unknown)


def test_why_shows_only_this_workspaces_projects(world: World) -> None:
    """Words of a project that no longer belongs here are not shown, and that is said."""
    lesson = accepted(world)
    found = told(world, lesson, lambda _: False)
    (origin,) = found.origins
    assert origin.evidence == () and origin.sessions == ()
    assert any("does not belong" in one for one in found.unknown)


def test_why_of_a_line_that_nobody_decided(world: World) -> None:
    """An anchor that somebody made up is told to be one."""
    by_hand(
        world, "- [2026-11-30] SYMPTOM: it hangs RULE: Add a flag. <!-- dreaming:0badcafe -->\n"
    )
    found = told(world, "0badcafe")
    assert found.decisions == () and found.written == ""
    assert "by hand" in found.unknown[0]


def test_why_shows_both_wordings_of_an_edited_line(world: World) -> None:
    """What a person changed in the file stands; what was decided is in the ledger."""
    lesson = accepted(world)
    path = world.place.knowledge_base / "tools.md"
    path.write_text(path.read_text().replace("from the start", "always"))
    found = told(world, lesson)
    assert found.standing == "edited by hand"
    assert "always" in found.line and "from the start" in found.written


# -- after later decisions ------------------------------------------------------------------------


def test_why_after_retiring(world: World) -> None:
    """The line is gone; what took it out, when and why is told, and still where it came from."""
    lesson = accepted(world)
    with world.desk() as desk:
        decide.retire(desk, lesson, "fixed upstream")
    found = told(world, lesson)
    assert (found.standing, found.line, found.path, found.number) == ("retire", "", "", 0)
    assert "pnpm vitest run" in found.written
    assert [(one.action, one.why) for one in found.decisions] == [
        ("accept", ""),
        ("retire", "fixed upstream"),
    ]
    assert found.origins[0].evidence
    assert kinds(world) == []


def test_why_after_undoing(world: World) -> None:
    """An accept that was taken back is shown as such; nothing stands."""
    lesson = accepted(world)
    with world.desk() as desk:
        decide.undo(desk)
    found = told(world, lesson)
    assert (found.standing, found.line) == ("undo", "")
    assert [(one.action, one.holds) for one in found.decisions] == [
        ("accept", False),
        ("undo", True),
    ]
    assert kinds(world) == []


def test_why_after_undoing_a_retirement(world: World) -> None:
    """The line stands again, and each step is told."""
    lesson = accepted(world)
    with world.desk() as desk:
        decide.retire(desk, lesson, "fixed upstream")
        decide.undo(desk)
    found = told(world, lesson)
    assert found.standing == "stands"
    assert [one.holds for one in found.decisions] == [True, False, True]
    assert kinds(world) == []


def test_why_of_a_new_wording_knows_where_the_old_came_from(world: World) -> None:
    """A lesson worded anew rests on the same sessions; the old one tells what took its place."""
    old = accepted(world)
    with world.desk() as desk:
        new = decide.supersede(desk, old, "Watch mode hangs.", "Run `pnpm vitest run`.").lesson
    found = told(world, new)
    assert found.standing == "stands" and found.line.endswith(f"{new} -->")
    assert found.origins[0].sessions == ("alpha", "beta")
    before = told(world, old)
    assert before.standing == "supersede" and before.decisions[-1].action == "supersede"
    assert before.origins == found.origins
    assert kinds(world) == []


def test_why_counts_what_was_merged_into_a_lesson(world: World) -> None:
    """A candidate that was taken as the same gives its sessions to the lesson."""
    lesson = accepted(world)
    with world.desk() as desk:
        decide.merge(desk, str(world.waiting()["push-gotcha"].id), lesson)
    found = told(world, lesson)
    assert [one.action for one in found.decisions] == ["accept", "merge"]
    assert len(found.origins) == 2
    assert any("upstreamset" in one.quote for one in found.origins[1].evidence)


def test_why_of_a_lesson_of_ones_own(world: World) -> None:
    """No session is behind what a person wrote themselves, and that is said."""
    with world.desk() as desk:
        lesson = decide.accept_own(desk, "tools", "Globs break.", "Quote globs.").lesson
    found = told(world, lesson)
    assert found.standing == "stands" and found.origins == ()
    assert "of their own" in found.unknown[0]


def test_looking_writes_nothing(world: World) -> None:
    """Whatever is asked, the three folders stay as they are."""
    lesson = accepted(world)
    names = ("knowledge_base", "ledger", "pending")
    before = [world.snapshot(name) for name in names]
    told(world, lesson)
    kinds(world)
    knowledge.search(world.place.knowledge_base, "pnpm", 3)
    knowledge.topics(world.place.knowledge_base)
    assert [world.snapshot(name) for name in names] == before


def test_undos_that_go_round_in_a_circle_are_harmless(world: World) -> None:
    """Whatever another writer's chain says, looking comes to an end."""
    lesson = accepted(world)
    foreign = Ledger(world.place.ledger, "eve")
    for target in ("eve:1", "eve:3", "eve:2", "nobody:9"):
        foreign.append(DAY, Action.UNDO, Phase.DONE, target=target)
    assert told(world, lesson).standing == "stands"
    assert kinds(world) == []
