"""Each decision: what it writes, what it leaves alone, and how it is taken back."""

from __future__ import annotations

import os
import re
from collections.abc import Iterator
from datetime import date, datetime
from pathlib import Path
from typing import Any

import pytest
from msgspec import structs

from dreaming.errors import AlreadyKnown, Refused, WrongUse
from dreaming.jobs import decide, past
from dreaming.jobs.desk import Desk
from dreaming.models.decision import Action, Phase
from dreaming.stores.ledger import Head, Ledger
from dreaming.stores.pending import Pending
from dreaming.stores.state import opened

from ..rules.redaction_samples import github_token
from .crashes import Crash, Power
from .test_decide_machine import candidate
from .world import HOUR, KEY, World, session


@pytest.fixture
def world(tmp_path: Path) -> World:
    """Six invented candidates wait."""
    made = World(tmp_path)
    with opened(made.place.database, key=KEY) as state:
        waiting = [candidate(number) for number in range(6)]
        state.publish(((one.id, [one.id, f"{one.id[:-1]}x"]) for one in waiting), 0.0)
    for one in waiting:
        Pending(made.place.pending).put(one)
    return made


@pytest.fixture
def desk(world: World) -> Iterator[Desk]:
    """Sit down to decide."""
    with world.desk() as made:
        yield made


def _id(number: int = 0) -> str:
    return candidate(number).id


def _lines(desk: Desk, topic: str = "notes") -> list[str]:
    path = desk.knowledge_base / f"{topic}.md"
    return path.read_text().splitlines()[2:] if path.exists() else []


def _actions(desk: Desk) -> list[str]:
    return [one.action for one in past.read(desk.ledger.decisions()).every.values()]


# -- accept ---------------------------------------------------------------------------------------


def test_an_edited_candidate_is_written_in_a_persons_words(desk: Desk) -> None:
    """The line says what the person says; the ledger keeps what was proposed."""
    written = decide.accept(desk, _id(), topic="git", rule="Give amberctl  a pause.")
    assert "RULE: Give amberctl a pause. <!--" in written.line
    assert _lines(desk, "git") == [written.line]
    step = desk.ledger.decisions()[0]
    assert (step.action, step.proposed) == (Action.EDIT, candidate(0).rule)


def test_a_lesson_of_ones_own_is_written(desk: Desk) -> None:
    """It needs no candidate, and its id is the same each time it is said."""
    written = decide.accept_own(desk, "shell", "A loop eats input.", "Call ssh with -n.")
    assert _lines(desk, "shell") == [written.line]
    assert written.candidate is None and written.waiting == 6
    with pytest.raises(AlreadyKnown):
        decide.accept_own(desk, "shell", "a loop eats input", "call `ssh` with -n")


@pytest.mark.parametrize(
    "said",
    [
        "USE pnpm, npm or yarn!",
        "“Use npm, yarn or pnpm.”",
        "- use yarn, pnpm, and npm",
        "* [2026-01-01] Use yarn, the pnpm & npm",
    ],
)
def test_the_same_in_other_dress_is_known(desk: Desk, said: str) -> None:
    """Case, quoting, punctuation, stop words and the order of a list make no other lesson."""
    (desk.knowledge_base / "by-hand.md").write_text(f"# mine\n\n{said}\n")
    with pytest.raises(AlreadyKnown, match=r"by-hand\.md:3") as told:
        decide.accept_own(desk, "tools", "It fails.", "Use `pnpm`, `npm` or `yarn`.", force="x")
    assert not isinstance(told.value, decide.NearlyKnown)
    assert desk.ledger.decisions() == []


def test_a_near_lesson_stops_until_a_reason_is_given(desk: Desk) -> None:
    """Nearly the same ends without a byte written; with a reason it is written, and kept."""
    decide.accept_own(desk, "git", "The first push fails.", "Push with `--set-upstream origin`.")
    before = desk.ledger.head()
    with pytest.raises(decide.NearlyKnown) as close:
        decide.accept_own(desk, "vcs", "First push fails.", "Use --set-upstream origin to push.")
    assert close.value.EXIT_CODE == 3
    assert close.value.neighbours[0].path.name == "git.md"
    assert desk.ledger.head() == before
    decide.accept_own(
        desk, "vcs", "First push fails.", "Use --set-upstream origin to push.", force="for mirrors"
    )
    assert desk.ledger.decisions()[-2].why == "for mirrors"


def test_what_was_rejected_is_shown_and_does_not_stop(desk: Desk) -> None:
    """A person may think again; the rejected rule stands among the neighbours."""
    decide.reject(desk, _id(), "wrong")
    written = decide.accept_own(desk, "mine", candidate(0).symptom, candidate(0).rule)
    assert [one.kind for one in written.neighbours] == ["rejected"]


@pytest.mark.parametrize(
    ("rule", "place"),
    [
        ("a\nb", "character 2"),
        ("a \x1b[31mred", "character 3"),
        ("hidden \u200b mark", "character 8"),
        ("x <!-- y", "comment mark"),
        (f"Use {github_token()}", "credential"),
    ],
)
def test_text_that_must_not_be_written_names_its_place(desk: Desk, rule: str, place: str) -> None:
    """Refused with field and place; nothing is written anywhere."""
    with pytest.raises(Refused, match=rf"The rule .*{place}"):
        decide.accept_own(desk, "mine", "It fails.", rule)
    assert desk.ledger.decisions() == [] and not (desk.knowledge_base / "mine.md").exists()


def test_a_long_topic_is_told(desk: Desk) -> None:
    """Agents cut long files off; a person hears of it before that."""
    desk.max_topic_lines = 4
    decide.accept(desk, _id(0))
    decide.accept(desk, _id(2), force="another")
    assert desk.notes == []
    decide.accept(desk, _id(4), force="another")
    assert len(desk.notes) == 1 and "has 5 lines, more than 4" in desk.notes[0]


# -- merge, later, retire, supersede --------------------------------------------------------------


def test_a_merged_candidate_leaves_the_queue(desk: Desk) -> None:
    """Into another that waits, or into a lesson; the ledger says into what."""
    lesson = decide.accept(desk, _id(0)).lesson
    decide.merge(desk, _id(1), lesson)
    decide.merge(desk, _id(2), _id(3)[:8])
    steps = desk.ledger.decisions()[-2:]
    assert [one.target for one in steps] == [lesson, _id(3)]
    assert sorted(desk.pending.ids()) == sorted([_id(3), _id(4), _id(5)])
    for wrong in (_id(4), _id(0), "zzzz", ""):
        with pytest.raises(WrongUse):
            decide.merge(desk, _id(4), wrong)


@pytest.mark.parametrize(
    ("until", "sessions"), [(None, 0), (date(2027, 1, 1), 2), (date(2020, 1, 1), 0)]
)
def test_later_needs_one_end(desk: Desk, until: date | None, sessions: int) -> None:
    """A day that is to come, or a number of sessions; not both, not neither."""
    with pytest.raises(WrongUse):
        decide.later(desk, _id(), until=until, sessions=sessions)


def test_what_is_put_off_is_counted(desk: Desk) -> None:
    """Nothing put off is silent."""
    decide.later(desk, _id(0), until=date(2027, 1, 1))
    decide.later(desk, _id(1), sessions=3)
    assert [one.until for one in decide.put_off(desk)] == ["2027-01-01", "3"]


def test_retiring_takes_out_exactly_one_line(desk: Desk) -> None:
    """What is by hand and what is another lesson stays byte for byte."""
    path = desk.knowledge_base / "notes.md"
    path.write_bytes(b"# notes\r\n\r\nby hand\r\n")
    first, second = decide.accept(desk, _id(0)), decide.accept(desk, _id(2), force="y")
    shown = decide.retire(desk, first.lesson, "gone", dry_run=True)
    assert shown.was == first.line and first.line in path.read_text()
    decide.retire(desk, first.lesson, "gone")
    assert path.read_bytes() == f"# notes\r\n\r\nby hand\r\n{second.line}\r\n".encode()
    with pytest.raises(WrongUse):
        decide.retire(desk, first.lesson, "gone")


def test_superseding_puts_the_new_line_in_the_old_ones_place(desk: Desk) -> None:
    """The place stays, the id is new, and the ledger keeps what stood there."""
    first, second = decide.accept(desk, _id(0)), decide.accept(desk, _id(2), force="y")
    new = decide.supersede(desk, first.lesson, "Amber stalls.", "Wait for the amber lamp.")
    assert _lines(desk) == [new.line, second.line]
    step = desk.ledger.decisions()[-2]
    assert (step.was, step.text, step.target) == (first.line, new.line, first.lesson)
    assert new.lesson != first.lesson


# -- undo -----------------------------------------------------------------------------------------


def test_undoing_takes_back_everything_in_turn(desk: Desk, world: World) -> None:
    """Undone to the beginning, knowledge base and queue are byte for byte what they were."""
    before = world.snapshot("knowledge_base"), world.snapshot("pending")
    lesson = decide.accept(desk, _id(0)).lesson
    decide.accept(desk, _id(1), rule="Ask basaltctl twice.")
    new = decide.supersede(desk, lesson, "Amber stalls.", "Wait for the amber lamp.")
    decide.retire(desk, new.lesson, "gone")
    decide.reject(desk, _id(2), "wrong")
    decide.later(desk, _id(3), sessions=2)
    decide.merge(desk, _id(4), _id(5))
    decide.accept_own(desk, "mine", "It sulks.", "Poke it.")
    undone = [decide.undo(desk).action for _ in range(8)]
    assert undone == "accept merge later reject retire supersede edit accept".split()
    assert (world.snapshot("knowledge_base"), world.snapshot("pending")) == before
    with pytest.raises(WrongUse):
        decide.undo(desk)
    assert _actions(desk).count("undo") == 8


def test_an_undo_can_be_undone(desk: Desk) -> None:
    """Any number of times; line and queue follow."""
    written = decide.accept(desk, _id())
    name = written.decision
    for times in range(5):
        undone = decide.undo(desk, name)
        name = past.read(desk.ledger.decisions()).every.popitem()[0]
        assert bool(_lines(desk)) == bool(times % 2)
        assert undone.waits_again == (_id() in desk.pending.ids()) == (not times % 2)
    assert decide.undo(desk, name).line == written.line


def test_one_decision_is_named(desk: Desk) -> None:
    """By its name, its candidate or its lesson; what does not stand is not undone twice."""
    first = decide.accept(desk, _id(0))
    decide.reject(desk, _id(1), "wrong")
    assert decide.undo(desk, first.lesson).candidate == _id(0)
    assert decide.undo(desk, _id(1)[:6]).action == Action.REJECT
    with pytest.raises(AlreadyKnown):
        decide.undo(desk, first.decision)
    with pytest.raises(WrongUse):
        decide.undo(desk, "zzzz")


def test_a_line_that_a_person_changed_is_not_taken_out(desk: Desk, world: World) -> None:
    """Undo takes out only what it put in, and says where the changed line stands."""
    written = decide.accept(desk, _id())
    text = written.path.read_text().replace("Start", "Always start")
    written.path.write_text(text)
    before = world.snapshot("ledger")
    with pytest.raises(Refused, match=r"changed since: .*notes\.md:3"):
        decide.undo(desk)
    assert written.path.read_text() == text
    assert world.snapshot("ledger") == before


def test_an_intent_whose_line_is_gone_is_dropped(desk: Desk, world: World) -> None:
    """Cut short, and the line changed by hand before it was finished: it counts as not decided."""
    written = decide.accept(desk, _id())
    with Power(fails_at=3).on(), pytest.raises(Crash):
        decide.supersede(desk, written.lesson, "Amber stalls.", "Wait for the amber lamp.")
    written.path.write_text("# notes\n\nnothing of it\n")
    with world.desk() as again:
        decide.mend(again)
        assert "dropped" in again.notes[0]
        assert again.ledger.unfinished() == []
        assert _actions(again) == ["accept", "supersede"]
        last = decide.last(again)
    assert last is not None and last.action is Action.ACCEPT


def test_what_was_written_and_then_changed_by_hand_is_not_written_again(
    desk: Desk, world: World
) -> None:
    """Cut short between the line and its end: the anchor tells that the line was there."""
    append = Ledger.append

    def fails_at_the_end(
        self: Ledger, at: datetime, action: Action, phase: Phase, **more: Any
    ) -> Any:
        if phase is Phase.DONE:
            raise Crash
        return append(self, at, action, phase, **more)

    with pytest.MonkeyPatch.context() as patch, pytest.raises(Crash):
        patch.setattr(Ledger, "append", fails_at_the_end)
        decide.accept(desk, _id(0))
    path = desk.knowledge_base / "notes.md"
    text = path.read_text().replace("Start", "Always start") + "by hand\n"
    path.write_text(text)
    with world.desk() as again:
        assert len(again.ledger.unfinished()) == 1
        decide.mend(again)
        assert again.ledger.unfinished() == []
    assert path.read_text() == text


def test_another_handle_on_this_machine_finishes_it_too(desk: Desk) -> None:
    """Who changes the name decisions are signed with leaves nothing half-done behind."""
    with Power().on():
        decide.reject(desk, _id(5), "first line, so that the next is not the first")
    with Power(fails_at=5).on(), pytest.raises(Crash):
        decide.accept(desk, _id(0))
    assert len(desk.ledger.unfinished()) == 1
    other = Ledger(desk.ledger.folder, decide.writer_name(desk.state, "lee"))
    decide.mend(structs.replace(desk, ledger=other, reviewer="lee"))
    assert desk.ledger.unfinished() == []
    assert len(_lines(desk)) == 1 and _id(0) not in desk.pending.ids()


def test_accepting_again_after_an_undo_is_a_new_decision(desk: Desk) -> None:
    """What was taken back can be decided otherwise."""
    decide.accept(desk, _id())
    decide.undo(desk)
    decide.reject(desk, _id(), "wrong after all")
    assert _actions(desk) == ["accept", "undo", "reject"]
    assert _id() not in desk.pending.ids()


def test_a_bulk_decision_is_undone_in_one_step(desk: Desk) -> None:
    """What has its group in common and still stands; nothing else."""
    decide.reject(desk, _id(3), "alone")
    desk.group = "g1"
    for number in range(3):
        decide.reject(desk, _id(number), "wrong")
    desk.group = ""
    decide.undo(desk, _id(1))
    assert [one.candidate for one in decide.undo_group(desk, "g1")] == [_id(2), _id(0)]
    assert _id(3) not in desk.pending.ids()
    assert decide.undo_group(desk, "") == decide.undo_group(desk, "g2") == []


@pytest.mark.parametrize("why", ["a\x1b[2J", "two\nlines", "\udc80", f"{github_token()} leaked"])
def test_a_reason_is_checked_too(desk: Desk, why: str) -> None:
    """The ledger is made to be committed and read in a terminal."""
    written = decide.accept(desk, _id(1))
    before = desk.ledger.head()
    for call in (
        lambda: decide.reject(desk, _id(0), why),
        lambda: decide.retire(desk, written.lesson, why),
        lambda: decide.accept(desk, _id(0), force=why),
    ):
        with pytest.raises(Refused):
            call()
    assert desk.ledger.head() == before


def test_the_ledger_is_ascii(desk: Desk) -> None:
    """What was hidden in a candidate does not steer whoever looks at the file."""
    shady = candidate(0).model_copy(update={"rule": "a\u202eb\u2028c\x9b"})
    desk.pending.put(shady)
    decide.reject(desk, shady.id, "hidden marks")
    assert desk.ledger.path.read_bytes().isascii()
    assert desk.ledger.decisions()[0].text == shady.rule


# -- nights ---------------------------------------------------------------------------------------


@pytest.fixture
def nights(tmp_path: Path) -> World:
    """One candidate of two sessions waits, made by a night."""
    made = World(tmp_path / "nights")
    for name in ("alpha", "beta"):
        session(made.sessions, name, ["watch"])
    made.night()
    return made


def _seen_again(world: World, *names: str) -> None:
    world.now += 24 * HOUR
    for name in names:
        session(world.sessions, name, ["watch"], modified=world.now - HOUR)
    world.night()


def test_a_rejected_candidate_comes_back_when_its_evidence_doubled(nights: World) -> None:
    """Half as much again is not enough; twice as much, with a new session, is."""
    (one,) = nights.waiting().values()
    with nights.desk() as desk:
        decide.reject(desk, one.id, "one-off")
    _seen_again(nights, "gamma")
    assert nights.waiting() == {}
    _seen_again(nights, "delta")
    (again,) = nights.waiting().values()
    assert again.sessions == 4
    with nights.desk() as desk:
        decide.reject(desk, again.id, "still no")
        assert decide.undo(desk).waits_again
        decide.reject(desk, again.id, "still no")
    nights.night()
    assert nights.waiting() == {}


def test_without_the_state_a_rejected_candidate_stays_away(nights: World) -> None:
    """A lost database costs evidence, never a decision."""
    (one,) = nights.waiting().values()
    with nights.desk() as desk:
        decide.reject(desk, one.id, "one-off")
    for path in nights.place.state.glob("state.db*"):
        path.unlink()
    _seen_again(nights, "gamma", "delta", "epsilon")
    assert nights.waiting() == {}


@pytest.mark.parametrize("way", ["day", "sessions"])
def test_what_was_put_off_comes_back(nights: World, way: str) -> None:
    """When its day or its number of new sessions comes, and not before."""
    (one,) = nights.waiting().values()
    with nights.desk() as desk:
        if way == "day":
            decide.later(desk, one.id, until=date.fromordinal(desk.today.toordinal() + 2))
        else:
            decide.later(desk, one.id, sessions=2)
    _seen_again(nights, *(["gamma"] if way == "sessions" else []))
    assert nights.waiting() == {}
    _seen_again(nights, *(["delta"] if way == "sessions" else []))
    assert [each.id for each in nights.waiting().values()] == [one.id]
    with nights.desk() as desk:
        decide.mend(desk)
    assert len(nights.waiting()) == 1


def test_what_was_undone_is_proposed_again(nights: World) -> None:
    """The next night finds it undecided, wherever its copy was lost."""
    (one,) = nights.waiting().values()
    with nights.desk() as desk:
        name = decide.accept(desk, one.id).decision
        desk.state.drop_kept(name)
        assert not decide.undo(desk).waits_again
    nights.night()
    assert [each.id for each in nights.waiting().values()] == [one.id]


def test_what_was_merged_counts_towards_the_other(tmp_path: Path) -> None:
    """Sessions of both are the target's; merged is not proposed again."""
    world = World(tmp_path)
    session(world.sessions, "alpha", ["watch", "push"])
    session(world.sessions, "beta", ["watch", "push"])
    session(world.sessions, "gamma", ["push"])
    world.night()
    with world.desk() as desk:
        decide.merge(desk, world.waiting()["push-gotcha"].id, world.waiting()["watch-gotcha"].id)
    world.night()
    (one,) = world.waiting().values()
    assert (one.slug, one.sessions) == ("watch-gotcha", 3)


# -- two at once ----------------------------------------------------------------------------------


def _take(world: World, ids: list[str]) -> None:
    """Decide everything, in a process of its own."""
    with world.desk() as desk:
        for number, id_ in enumerate(ids):
            try:
                if number % 3:
                    decide.reject(desk, id_, "wrong")
                else:
                    decide.accept(desk, id_, force="counted")
            except AlreadyKnown:
                continue


def test_two_reviewers_decide_each_candidate_once(tmp_path: Path) -> None:
    """Two processes take two hundred at once: none twice, none lost, no torn line."""
    world = World(tmp_path)
    queue = Pending(world.place.pending)
    ids = [f"{number:016x}" for number in range(0xA000, 0xA000 + 200)]
    with Power().on():
        for id_ in ids:
            wording = {"id": id_, "symptom": f"Case {id_} stalls.", "rule": f"Free {id_} first."}
            queue.put(candidate(0).model_copy(update=wording))
    with world.desk():
        pass  # the state is laid out before two want it at once
    children = []
    for order in (ids, list(reversed(ids))):
        child = os.fork()
        if child == 0:
            status = 1
            try:
                with Power().on():
                    _take(world, order)
                status = 0
            finally:
                os._exit(status)
        children.append(child)
    assert [os.waitpid(child, 0)[1] for child in children] == [0, 0]
    ledger = Ledger(world.place.ledger, "reader")
    with opened(world.place.database, key=KEY) as state:
        kept = {name: Head.parse(text) for name, text in state.beginning("head ").items()}
    assert ledger.verify(kept) == []
    made = past.read(ledger.decisions())
    assert sorted(one.candidate for one in made.every.values()) == ids
    accepted = [one.lesson for one in made.every.values() if one.action is Action.ACCEPT]
    text = (world.place.knowledge_base / "notes.md").read_text()
    assert sorted(re.findall(r"dreaming:([0-9a-f]{8})", text)) == sorted(accepted)
    assert queue.ids() == []
