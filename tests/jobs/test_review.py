"""What the screen may ask for: the same answers at a desk and in a rehearsal."""

from __future__ import annotations

import contextlib
from collections.abc import Callable, Iterator
from datetime import date
from pathlib import Path
from typing import Final

import pytest

from dreaming.errors import DreamingError, WrongUse
from dreaming.jobs.rehearsal import Rehearsal
from dreaming.jobs.review import AtDesk, Changed, Edited, Review, Until
from dreaming.jobs.showing import DOUBTS, inert, one_line, word_diff
from dreaming.models.candidate import Candidate, Flag
from dreaming.models.decision import Action
from dreaming.models.session import Speaker
from dreaming.stores.pending import Pending
from tests.jobs.world import World, session

NAMES: Final = ("watch", "push", "lint", "proto")
Opened = contextlib.AbstractContextManager[Review]


def world(tmp_path: Path) -> World:
    """A workspace where four gotchas recur."""
    found = World(tmp_path)
    for name in ("one", "two"):
        session(found.sessions, name, NAMES)
    found.night()
    return found


@pytest.fixture(params=["desk", "rehearsal"])
def opened(request: pytest.FixtureRequest, tmp_path: Path) -> Callable[[], Opened]:
    """Open a review of four candidates, real or in memory."""
    found = world(tmp_path)
    if request.param == "desk":
        return lambda: _at_desk(found)
    rehearsal = Rehearsal(Pending(found.place.pending).all())
    return lambda: contextlib.nullcontext(rehearsal)


@contextlib.contextmanager
def _at_desk(found: World) -> Iterator[Review]:
    with found.desk() as desk:
        yield AtDesk(desk)


def test_the_queue_is_what_waits(opened: Callable[[], Opened]) -> None:
    """Everything that waits is in the overview, best first, and nothing was decided yet."""
    with opened() as review:
        overview = review.overview()
        assert len(overview.items) == len(NAMES)
        scores = [one.score for one in overview.items]
        assert scores == sorted(scores, reverse=True)
        assert overview.undoable == ""


def test_the_preview_is_the_line(opened: Callable[[], Opened]) -> None:
    """What the preview shows is what is written, where it says, and looking writes nothing."""
    with opened() as review:
        item = review.overview().items[0]
        draft = review.detail(item.id).draft
        assert draft.new_topic
        assert f"one line more in {draft.place}" in review.accept(item, Edited()).text
        assert len(review.overview().items) == len(NAMES) - 1


def test_every_decision_takes_it_off_and_undo_brings_it_back(
    opened: Callable[[], Opened],
) -> None:
    """Each way to decide says what changed, and undo says that it waits again."""
    with opened() as review:
        first, second = review.overview().items[:2]
        ways: list[Callable[[], object]] = [
            lambda: review.accept(first, Edited()),
            lambda: review.accept(first, Edited(rule="Do it in another way.", topic="other")),
            lambda: review.reject(first, "wrong"),
            lambda: review.later(first, Until(sessions=2)),
            lambda: review.later(first, Until(day=date(2027, 1, 1))),
            lambda: review.merge(first, second.id),
        ]
        for way in ways:
            way()
            assert first.id not in {one.id for one in review.overview().items}
            assert review.overview().undoable
            said = review.undo()
            assert said.text.startswith("took back")
            assert said.id == first.id
            assert first.id in {one.id for one in review.overview().items}


def test_nothing_to_undo_is_said(opened: Callable[[], Opened]) -> None:
    """Undo without a decision is a sentence."""
    with opened() as review, pytest.raises(DreamingError):
        review.undo()


def test_what_changed_is_not_decided(opened: Callable[[], Opened]) -> None:
    """A candidate that is not as it was looked at is refused by every decision."""
    with opened() as review:
        first, second = review.overview().items[:2]
        review.accept(first, Edited())
        ways: list[Callable[[], object]] = [
            lambda: review.accept(first, Edited()),
            lambda: review.reject(first, "wrong"),
            lambda: review.later(first, Until(sessions=1)),
            lambda: review.merge(first, second.id),
        ]
        for way in ways:
            with pytest.raises(Changed):
                way()


def test_what_cannot_be_written_is_in_the_preview(opened: Callable[[], Opened]) -> None:
    """Words that must not become a lesson are refused before anybody presses a key."""
    with opened() as review:
        item = review.overview().items[0]
        draft = review.draft(item, Edited(rule="Mind the <!-- gap -->."))
        assert "comment mark" in draft.problem and not draft.line


def test_what_was_put_off_is_told(opened: Callable[[], Opened]) -> None:
    """Later is never silent: the overview says what, and until when."""
    with opened() as review:
        review.later(review.overview().items[0], Until(day=date(2027, 1, 1)))
        (told,) = review.overview().put_off
        assert "2027-01-01" in told


def test_one_comes_back_to_where_one_was(opened: Callable[[], Opened]) -> None:
    """The candidate that was looked at last is remembered over sittings."""
    with opened() as review:
        last = review.overview().items[2]
        review.detail(last.id)
    with opened() as review:
        assert review.overview().at == last.id


# -- at the desk only -----------------------------------------------------------------------------


def test_evidence_is_by_session_and_names_the_speaker(tmp_path: Path) -> None:
    """Quotations stand under their session, with day, agent and whose words they are."""
    with _at_desk(world(tmp_path)) as review:
        heard = review.detail(review.overview().items[0].id).heard
    assert len(heard) == 2
    assert {one.agent for one in heard} == {"codex"}
    assert all(one.passages and one.day.startswith("2026-") for one in heard)
    assert Speaker.HUMAN in {each.speaker for one in heard for each in one.passages}


def test_a_bulk_decision_is_one_group(tmp_path: Path) -> None:
    """What was decided together says so in the ledger, and later decisions do not."""
    found = world(tmp_path)
    with found.desk() as desk:
        review = AtDesk(desk)
        first, second, third, _ = review.overview().items
        review.reject(first, "wrong", group="77aa")
        review.accept(second, Edited(), group="77aa")
        review.reject(third, "wrong")
        decisions = [one for one in desk.ledger.decisions() if one.phase == one.phase.INTENT]
        decisions += [one for one in desk.ledger.decisions() if one.action == Action.REJECT]
        groups = {one.candidate: one.group for one in decisions}
        review.undo()
        assert len(review.overview().items) == len(NAMES) - 2
        said = review.undo()
        assert "and 1 more" in said.text
        assert len(review.overview().items) == len(NAMES)
    assert groups == {first.id: "77aa", second.id: "77aa", third.id: ""}


def test_a_changed_file_is_noticed(tmp_path: Path) -> None:
    """A candidate that the night worded anew is not decided unseen."""
    found = world(tmp_path)
    with found.desk() as desk:
        review = AtDesk(desk)
        item = review.overview().items[0]
        candidate = next(one for one in desk.pending.all() if one.id == item.id)
        desk.pending.put(candidate.model_copy(update={"rule": "Another rule."}))
        with pytest.raises(Changed):
            review.reject(item, "wrong")
        assert not desk.ledger.decisions()


def test_what_became_known_is_said(tmp_path: Path) -> None:
    """A rule that was written by hand meanwhile stands in the preview as the problem."""
    found = world(tmp_path)
    with _at_desk(found) as review:
        item = review.overview().items[0]
        topic = found.place.knowledge_base / "tools.md"
        topic.write_text(f"- {item.rule}\n", encoding="utf-8")
        assert "tools.md:1" in review.detail(item.id).draft.problem


def test_a_merge_needs_something_to_merge_into(tmp_path: Path) -> None:
    """A target that does not exist is refused."""
    with _at_desk(world(tmp_path)) as review, pytest.raises(WrongUse):
        review.merge(review.overview().items[0], "ffffffff")


# -- what is shown --------------------------------------------------------------------------------


def test_every_flag_has_its_words() -> None:
    """No flag reaches a person as a code."""
    assert set(DOUBTS) == set(Flag)


@pytest.mark.parametrize(
    ("text", "shown"),
    [
        ("\x1b[31mred\x07", "␛[31mred␇"),
        ("left\u202eright", "left<U+202E>right"),
        ("zero\u200bwidth", "zero<U+200B>width"),
        ("a\u0301\u0302\u0303\u0304", "a\u0301\u0302"),
        ("tab\there", "tab    here"),
    ],
)
def test_what_acts_or_hides_is_marked(text: str, shown: str) -> None:
    """Control bytes become pictures, hidden characters their numbers, piles of marks two."""
    assert inert(text) == shown


def test_a_long_text_is_cut_and_says_so() -> None:
    """A megabyte is cut before a screen lays it out."""
    shown = one_line("x" * 1_000_000)
    assert len(shown) < 1300
    assert shown.endswith("[+998800 characters]")


def test_a_word_diff_has_signs() -> None:
    """What is only here, only there and in both is told apart, word by word."""
    pieces = word_diff("Run the tests twice.", "Run all tests twice.")
    assert [(one.sign, one.text) for one in pieces] == [
        (" ", "Run"),
        ("-", "the"),
        ("+", "all"),
        (" ", "tests twice."),
    ]


def test_a_candidate_as_shown_is_one_line_a_field(tmp_path: Path) -> None:
    """Newlines in a field do not make rows in a list."""
    (candidate, *_) = Pending(world(tmp_path).place.pending).all()
    hostile: Candidate = candidate.model_copy(update={"rule": "one\ntwo\r\nthree\u2028four"})
    with contextlib.nullcontext(Rehearsal([hostile])) as review:
        assert review.overview().items[0].rule == "one two three four"
