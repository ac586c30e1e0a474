"""The linear form: the same keys, the same decisions, in lines."""

from __future__ import annotations

from collections.abc import Callable, Iterator

import pytest

from dreaming.jobs.rehearsal import Rehearsal
from review_tui.actions import ACTIONS, table
from review_tui.plain import Plain, sit
from review_tui.sample import rehearsal
from tests.tui.sitting import TODAY

FIRST = "vitest-stays-in-watch-mode"
BOXES = range(0x2500, 0x25A0)


def said(*answers: str, review: Rehearsal | None = None, more: Iterator[bool] | None = None) -> str:
    """Sit through these answers and return everything that was said."""
    lines: list[str] = []
    given = iter(answers)

    def ask(prompt: str) -> str:
        lines.append(prompt)
        answer = next(given, None)
        if answer is None:
            raise EOFError
        return f"{answer}\n"

    pasted: Callable[[], bool] = (lambda: next(more, False)) if more else (lambda: False)
    found = review if review is not None else rehearsal()
    sit(Plain(found, lines.append, ask, TODAY, more=pasted))
    return "\n".join(lines)


@pytest.mark.parametrize(
    ("answers", "steps"),
    [
        (("a",), [("accepted", "testing")]),
        (("x", "3"), [("rejected", "wrong")]),
        (("x", "it is moot"), [("rejected", "it is moot")]),
        (("x", ""), []),
        (("s", "2"), [("put off", "until 2026-12-07")]),
        (("s", "9"), []),
        (("n", "m", "1"), [("merged", "5e2a90c1")]),
        (("m", "77"), []),
        (("n", "a", "a"), [("accepted", "workflow")]),
        (("n", "a", ""), []),
        (("a", "u"), []),
        (("e", "", "Let tests end.", "", "a"), [("accepted", "testing")]),
        (("e", "", "Let tests end.", "", ""), []),
        (("e", "", "Let <!-- tests --> end.", ""), []),
        (("", "y", "accept", "B", " "), []),
        (("v", "d", "?", "n", "p", "q", "a"), []),
    ],
)
def test_answers_decide_as_keys_do(answers: tuple[str, ...], steps: list[tuple[str, str]]) -> None:
    """Each way through the lines ends in the decision that the key stands for, or in none."""
    review = rehearsal()
    said(*answers, review=review)
    assert [(step.action, step.detail) for step in review.steps] == steps


def test_everything_is_said() -> None:
    """Symptom, rule, evidence with its speaker, neighbour, line and doubts are read out."""
    told = said("v", "n", "d", "n", "n", "n", "n")
    for part in (
        "Candidate 1 of 8",
        "Symptom: ",
        "Rule: ",
        "typed by a person: ",
        "Would be written to testing.md, a new topic: - [2026-11-30]",
        "Nearest known, lesson at workflow.md:7",
        "only there: ",
        "Look twice, only tool output: ",
    ):
        assert part in told


def test_no_boxes_and_no_colour() -> None:
    """Nothing that a screen reader spells out."""
    told = said("v", "d", "?", "x", "1", "s", "1", "m", "1", "u", "q")
    assert not [char for char in told if ord(char) in BOXES or char == "\x1b"]


def test_what_changed_is_said() -> None:
    """After a decision the next candidate comes, and what changed was said."""
    told = said("a")
    assert f"accepted {FIRST}: one line more in testing.md" in told
    assert "Candidate 1 of 7" in told


def test_lines_that_come_at_once_decide_nothing() -> None:
    """What is pasted as several lines is refused as a whole."""
    review = rehearsal()
    told = said("a", "a", "a", "q", review=review, more=iter([True, True, True, False]))
    assert "nothing was decided" in told
    assert not review.steps


def test_an_empty_queue_is_said() -> None:
    """It tells what was seen once, and what to do."""
    told = said(review=Rehearsal([], overview=rehearsal()._overview))
    assert "Nothing waits" in told and "jq -r" in told and "dreaming nightly" in told


def test_the_prompt_is_made_of_the_table() -> None:
    """Every action of the linear form stands in its prompt, under its key."""
    told = said()
    for one in ACTIONS:
        assert (f"{one.key} {one.word}" in told) is one.plain
    keys = table({"accept": "y"})
    lines: list[str] = []

    def ask(prompt: str) -> str:
        lines.append(prompt)
        raise EOFError

    sit(Plain(rehearsal(), lines.append, ask, TODAY, keys))
    assert "y accept" in "\n".join(lines)
