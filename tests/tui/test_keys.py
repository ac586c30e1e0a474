"""Every key of the review does what the table of actions says, and nothing else decides."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable
from typing import Final

import pytest

from dreaming.errors import Unusable
from dreaming.jobs.rehearsal import Rehearsal
from review_tui.actions import ACTIONS, table
from review_tui.sample import rehearsal
from tests.tui.sitting import Sitting, sitting

FIRST: Final = "vitest-stays-in-watch-mode"
CLOSE: Final = "search-whole-repository-times-out"
THIRD: Final = "first-push-needs-an-upstream"


def play(
    scene: Callable[[Sitting], Awaitable[None]],
    review: Rehearsal | None = None,
    size: tuple[int, int] = (120, 34),
) -> Rehearsal:
    """Let a scene happen and return the review as it is afterwards."""

    async def run() -> Rehearsal:
        async with sitting(review, size=size) as one:
            await scene(one)
            return one.review

    return asyncio.run(run())


def test_a_accepts_and_goes_on() -> None:
    """One key writes the line, says so, and the next candidate is there."""

    async def scene(one: Sitting) -> None:
        await one.press("a")
        assert one.slug == CLOSE
        assert f"accepted {FIRST}: one line more in testing.md" in one.text()
        assert "u undo" in one.text().splitlines()[-2]

    review = play(scene)
    assert FIRST not in {one.slug for one in review.waiting.values()}
    assert len(review.lines["testing"]) == 1


def test_what_is_nearly_known_asks_once_more() -> None:
    """Accepting what comes close to a lesson shows the lesson; a second key accepts."""

    async def scene(one: Sitting) -> None:
        await one.press("j", "a")
        assert CLOSE in one.waiting
        assert "Nearly known already" in one.text()
        await one.press("a")
        assert CLOSE not in one.waiting

    play(scene)


def test_e_edits_and_only_a_outside_the_fields_accepts() -> None:
    """Letters go into the field; Escape leaves it; then the key accepts the new words."""

    async def scene(one: Sitting) -> None:
        await one.press("e", "end", "!", "escape")
        assert FIRST in one.waiting
        await one.press("a")

    review = play(scene)
    assert review.lines["testing"][0].count("by themselves.!") == 1


def test_enter_in_a_field_goes_on() -> None:
    """Enter in the last field leaves it and decides nothing."""

    async def scene(one: Sitting) -> None:
        await one.press("e", "enter", "enter", "enter", "enter")
        assert one.waiting == [each.slug for each in rehearsal().overview().items]

    play(scene)


def test_x_rejects_by_a_reasons_key() -> None:
    """Two keys turn a candidate down, with the reason."""

    async def scene(one: Sitting) -> None:
        await one.press("x", "4")

    review = play(scene)
    assert [(step.action, step.detail) for step in review.steps] == [("rejected", "too specific")]


def test_x_takes_words_of_ones_own() -> None:
    """A reason can be written; Enter only ends the writing."""

    async def scene(one: Sitting) -> None:
        await one.press("x", "o", *"moot", "enter")
        assert not one.review.steps
        await one.press("escape", "x") if one.app.focused else await one.press("x")

    review = play(scene)
    assert [(step.action, step.detail) for step in review.steps] == [("rejected", "moot")]


def test_m_merges_into_what_is_chosen() -> None:
    """The neighbour stands first; the same key merges into it."""

    async def scene(one: Sitting) -> None:
        await one.press("j", "m", "m")

    review = play(scene)
    assert [(step.action, step.detail) for step in review.steps] == [("merged", "5e2a90c1")]


@pytest.mark.parametrize(
    ("key", "words"),
    [("1", "until 2026-12-01"), ("2", "until 2026-12-07"), ("4", "until 1 new session have it")],
)
def test_s_puts_off(key: str, words: str) -> None:
    """Two keys put a candidate off until a day or a number of sessions."""

    async def scene(one: Sitting) -> None:
        await one.press("s", key)
        assert "1 put off" in one.text() or one.review.steps

    review = play(scene)
    assert [(step.action, step.detail) for step in review.steps] == [("put off", words)]


def test_u_takes_back_again_and_again() -> None:
    """Undo brings back the last decision, then the one before, and stands on it."""

    async def scene(one: Sitting) -> None:
        await one.press("a", "j", "a", "u")
        assert one.slug == THIRD
        await one.press("u")
        assert one.slug == FIRST
        await one.press("u")
        assert "nothing to take back" in one.text()

    review = play(scene)
    assert len(review.waiting) == 8
    assert list(review.lines) == ["workflow"]


def test_v_shows_evidence() -> None:
    """All that was said, with its speaker; what a person typed is marked."""

    async def scene(one: Sitting) -> None:
        await one.press("v")
        assert "> typed by a person:" in " ".join(one.text().split())
        await one.press("v")
        assert one.app.screen is one.queue

    play(scene)


def test_d_compares_by_signs() -> None:
    """What differs is told by signs, not by colour alone."""

    async def scene(one: Sitting) -> None:
        await one.press("j", "d")
        assert "[-" in one.text() and "{+" in one.text()
        await one.press("escape")
        assert one.app.screen is one.queue

    play(scene)


def test_d_says_when_nothing_is_near() -> None:
    """Comparing with nothing is a sentence, not a page."""

    async def scene(one: Sitting) -> None:
        await one.press("d")
        assert "Nothing that is known comes near it" in one.text()

    play(scene)


def test_marked_ones_are_decided_together_after_their_number_was_typed() -> None:
    """Every final line is shown, the number is typed, and flagged ones stay out."""

    async def scene(one: Sitting) -> None:
        await one.press("space", "space", "space", "a")
        assert "Accept 2 at once" in one.text()
        assert f"left out: {CLOSE}" in one.text()
        await one.press("a", "enter", "3", "a")
        assert not one.review.steps
        await one.press("backspace", "2", "a")

    review = play(scene)
    assert [step.candidate.slug for step in review.steps] == [FIRST, THIRD]
    assert len({step.group for step in review.steps}) == 1
    assert "" not in {step.group for step in review.steps}


def test_a_bulk_decision_is_taken_back_as_one() -> None:
    """One undo brings back all of it."""

    async def scene(one: Sitting) -> None:
        await one.press("space", "j", "space", "x", "3", "2", "x", "u")
        assert len(one.waiting) == 8

    play(scene)


def test_only_flagged_marks_decide_nothing() -> None:
    """What has to be looked at twice is never decided in bulk."""

    async def scene(one: Sitting) -> None:
        await one.press("j", "space", "a")
        assert "one by one" in one.text()
        await one.press("0", "a", "1", "a", "escape")

    assert play(scene).steps == []


def test_slash_filters_and_escape_shows_all() -> None:
    """Words narrow the queue while one types; letters decide nothing there."""

    async def scene(one: Sitting) -> None:
        await one.press("slash", *"utc")
        assert [each.slug for each in one.queue.queue.items] == ["dates-compare-in-utc"]
        await one.press("enter")
        assert one.slug == "dates-compare-in-utc"
        await one.press("escape")
        assert len(one.queue.queue.items) == 8

    assert play(scene).steps == []


def test_help_is_made_of_the_table() -> None:
    """The help names every key with its meaning."""

    async def scene(one: Sitting) -> None:
        await one.press("question_mark")
        shown = " ".join(one.text().split())
        for action in ACTIONS:
            assert f"{action.key} {action.meaning[:20]}" in shown

    play(scene, size=(120, 60))


def test_q_leaves_and_the_place_is_kept() -> None:
    """One comes back to the candidate one left."""
    review = rehearsal()

    async def leave(one: Sitting) -> None:
        await one.press("j", "j", "j", "q")

    async def come_back(one: Sitting) -> None:
        assert one.slug == "migrations-run-against-the-test-database"

    play(leave, review)
    play(come_back, review)


@pytest.mark.parametrize(
    "key", ["enter", "backspace", "delete", "ctrl+a", "ctrl+x", "ctrl+s", "ctrl+u", "A", "X", "y"]
)
def test_other_keys_decide_nothing(key: str) -> None:
    """No decision on Enter, Backspace, a ctrl chord or an unknown letter."""

    async def scene(one: Sitting) -> None:
        await one.press(key, key, key)

    assert play(scene).steps == []


def test_moving_about() -> None:
    """Letters, arrows, pages and ends move; none of it decides."""

    async def scene(one: Sitting) -> None:
        await one.press("G")
        assert one.slug == "lint-script-has-another-name"
        await one.press("k", "up", "g", "down", "pagedown", "pageup", "tab", "j", "tab")
        assert one.slug

    assert play(scene).steps == []


# -- pasted, held, remapped -----------------------------------------------------------------------


@pytest.mark.parametrize("keys", ["aaa", "axs", "please accept all", "x1x1x1", "uuuu", "aj"])
def test_a_burst_decides_nothing(keys: str) -> None:
    """Keys that come faster than anybody types are pasted text."""
    review = rehearsal()
    before = list(review.waiting)

    async def scene(one: Sitting) -> None:
        await one.burst(*("space" if key == " " else key for key in keys))
        assert "Nothing was decided" in one.text()

    assert play(scene, review).steps == []
    assert list(review.waiting) == before


def test_pasted_text_decides_nothing() -> None:
    """A bracketed paste is no key at all, and says so."""
    from textual import events

    async def scene(one: Sitting) -> None:
        one.app.post_message(events.Paste("a"))
        await one.quiet()
        assert "Nothing was decided" in one.text()

    assert play(scene).steps == []


def test_keys_can_be_chosen() -> None:
    """A chosen key takes the place of the usual one, in the footer too."""

    async def scene() -> None:
        async with sitting(keys={"accept": "y"}) as one:
            assert "y accept" in one.text()
            await one.press("a")
            assert not one.review.steps
            await one.press("y")
            assert [step.action for step in one.review.steps] == ["accepted"]

    asyncio.run(scene())


@pytest.mark.parametrize(
    "chosen",
    [{"accept": "x"}, {"acept": "y"}, {"accept": "ctrl+a"}, {"accept": "enter"}, {"accept": "j"}],
)
def test_unusable_keys_are_refused(chosen: dict[str, str]) -> None:
    """A key that is taken, moves or is a chord is refused by name."""
    with pytest.raises(Unusable, match=r"keys\."):
        table(chosen)


# -- what can go wrong ----------------------------------------------------------------------------


def test_what_changed_meanwhile_is_not_decided() -> None:
    """A candidate that is another one now says so and shows itself anew."""

    async def scene(one: Sitting) -> None:
        (id_,) = [key for key, each in one.review.waiting.items() if each.slug == FIRST]
        changed = one.review.waiting[id_].model_copy(update={"rule": "Something else entirely."})
        one.review.waiting[id_] = changed
        await one.press("a")
        assert "It changed while you looked at it" in one.text()
        assert "Something else entirely." in one.text()

    assert play(scene).steps == []


def test_what_was_decided_elsewhere_says_so() -> None:
    """A candidate that no longer waits is not decided twice."""

    async def scene(one: Sitting) -> None:
        (id_,) = [key for key, each in one.review.waiting.items() if each.slug == FIRST]
        del one.review.waiting[id_]
        await one.press("a")
        assert "no longer waits" in one.text()
        assert one.slug == CLOSE

    assert play(scene).steps == []


def test_a_small_window_decides_nothing() -> None:
    """Below 40x10 every decision is off, and the window says why."""

    async def scene(one: Sitting) -> None:
        await one.pilot.resize_terminal(39, 20)
        await one.press("a", "x", "1")
        assert "too small" in one.text()
        await one.pilot.resize_terminal(40, 10)
        await one.press("a")

    assert [step.action for step in play(scene).steps] == ["accepted"]


@pytest.mark.parametrize("size", [(60, 20), (40, 12), (40, 10), (80, 24), (100, 30), (200, 60)])
def test_every_size_can_be_worked_in(size: tuple[int, int]) -> None:
    """Accept, reject, evidence and undo work at each size."""

    async def scene(one: Sitting) -> None:
        await one.press("a", "u", "v", "escape", "x", "1")

    assert [step.action for step in play(scene, size=size).steps] == ["rejected"]


def test_an_empty_queue_says_what_to_do() -> None:
    """What was seen once, what was left out, what to do."""
    empty = Rehearsal([], overview=rehearsal().overview())
    empty._overview = rehearsal()._overview

    async def scene(one: Sitting) -> None:
        for said in ("Nothing waits", "jq -r", "2 excluded", "dreaming nightly"):
            assert said in one.text()
        await one.press("a", "x", "m", "s", "e", "v", "d", "space", "u")

    assert play(scene, empty).steps == []


def test_the_last_decision_empties_the_queue() -> None:
    """After the last candidate the page of the empty queue comes, and undo still works."""
    review = Rehearsal(list(rehearsal().waiting.values())[:1])

    async def scene(one: Sitting) -> None:
        await one.press("a")
        assert "Nothing waits" in one.text()
        await one.press("u")
        assert one.slug == FIRST

    play(scene, review)
