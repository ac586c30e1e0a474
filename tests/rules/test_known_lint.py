"""What is wrong in the lines of a knowledge base is found, and what is fine is left alone."""

from __future__ import annotations

from datetime import date
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from dreaming.known.lint import Kind, Problem, lint
from dreaming.lessons import format_line, parse_line, refusal
from dreaming.models.lesson import KnownLine

DAY = date(2026, 11, 30)


def lines(*texts: str, file: str = "tools.md") -> list[KnownLine]:
    """Lines as the reader hands them over."""
    return [
        KnownLine(Path(file), number, text.strip(), parse_line(text))
        for number, text in enumerate(texts, start=1)
    ]


def ours(symptom: str, rule: str, anchor: str) -> str:
    """A line of ours."""
    return format_line(DAY, symptom, rule, anchor)


def found(*texts: str) -> list[tuple[int, Kind, bool]]:
    """What lint says of them, without words."""
    return [(one.number, one.kind, one.wrong) for one in lint(lines(*texts))]


HANGS = ours("`pnpm test` never ends in watch mode.", "Use `pnpm vitest run`.", "aaaaaaaa")
COLD = ours("`tidepool sync` loses rows.", "Pass `--cold` to `tidepool sync`.", "aaaaaaab")


def test_a_good_knowledge_base_has_no_problem() -> None:
    """Lessons of ours and lines in a person's own form stand side by side."""
    assert found(HANGS, COLD, "Everything here is about tools we use.", "* Quote globs.") == []


@pytest.mark.parametrize(
    "other",
    [
        ours("The test run hangs.", "USE `pnpm vitest run`!", "aaaaaaac"),
        "- Use pnpm vitest run",
        "* use the 'pnpm vitest run'",
    ],
)
def test_a_duplicate_is_found_in_any_dress(other: str) -> None:
    """Case, quoting, punctuation and stop words make no other lesson, ours or hand-written."""
    (one,) = lint(lines(HANGS, other))
    assert (one.number, one.kind, one.wrong) == (2, Kind.DUPLICATE, True)
    assert one.beside is not None and one.beside.number == 1


def test_a_reworded_lesson_wants_a_look() -> None:
    """Nearly the same is shown beside what it is near to, and is not called wrong."""
    other = ours(
        "In watch mode `pnpm test` never ends.", "Run `pnpm vitest run`, it ends.", "ab" * 4
    )
    assert found(HANGS, other) == [(2, Kind.NEAR_DUPLICATE, False)]


def test_opposite_rules_for_one_symptom_want_a_look() -> None:
    """Two lines that contradict each other are shown together, not as near duplicates."""
    other = ours("`tidepool sync` loses rows.", "Never pass `--cold` to `tidepool sync`.", "ab" * 4)
    assert found(COLD, other) == [(2, Kind.OPPOSITE, False)]


def test_opposite_rules_for_other_symptoms_are_left_alone() -> None:
    """What is right when one thing fails may be wrong when another does."""
    other = ours(
        "Nightly exports of the reef are slow.", "Never pass `--cold` on Sundays.", "ab" * 4
    )
    assert found(COLD, other) == []


@pytest.mark.parametrize(
    "text",
    [
        "- [2026-13-40] SYMPTOM: it hangs RULE: Add a flag. <!-- dreaming:aaaaaaaa -->",
        "- [today] SYMPTOM: it hangs RULE: Add a flag.",
        "* [2026-11-30] SYMPTOM: it hangs RULE: Add a flag.",
        "- symptom: it hangs rule: Add a flag.",
        "- [2026-11-30] SYMPTOM: it hangs RULE: Add a flag. <!-- dreaming:aaa -->",
        "- [2026-11-30] SYMPTOM: it hangs RULE: Add a flag. <!-- dreaming:aaaaaaaa --> more",
        "Add a flag. <!-- dreaming:aaaaaaaa -->",
    ],
)
def test_what_looks_like_ours_and_is_not_is_wrong(text: str) -> None:
    """A line that lost its form is no lesson any longer: nobody could retire or supersede it."""
    assert (1, Kind.NOT_PARSED, True) in found(text)


@pytest.mark.parametrize("word", ["@docs/setup.md", "[a](b)", "<b>", "https://kelp.example/x"])
def test_text_of_ours_that_would_act_is_wrong(word: str) -> None:
    """An import, a link, a tag outside a code span: some agent would follow it."""
    text = f"- [2026-11-30] SYMPTOM: it hangs RULE: Read {word} first. <!-- dreaming:aaaaaaaa -->"
    assert found(text) == [(1, Kind.NOT_INERT, True)]


def test_an_import_by_hand_wants_a_look() -> None:
    """A person may import a file on purpose; in a code span nothing is imported."""
    assert found("See @~/reef/notes.md for more.") == [(1, Kind.NOT_INERT, False)]
    assert found("See `@~/reef/notes.md`, or write to kim@reef.example.") == []


@pytest.mark.parametrize("char", ["\x1b", "\u202e", "\u200b", "\x07", "\u2028", "\U000e0041"])
def test_what_cannot_be_seen_is_wrong_in_ours(char: str) -> None:
    """Hidden characters are named by number; in a hand-written line a person may want them."""
    text = f"- [2026-11-30] SYMPTOM: it hangs RULE: Add{char} it. <!-- dreaming:aaaaaaaa -->"
    (one,) = [each for each in lint(lines(text)) if each.kind is Kind.HIDDEN]
    assert one.wrong and f"U+{ord(char):04X}" in one.says
    (by_hand,) = lint(lines(f"Add{char} a flag to it."))
    assert (by_hand.kind, by_hand.wrong) == (Kind.HIDDEN, False)


def test_an_anchor_stands_once() -> None:
    """Two lines with one anchor could not be told apart by a decision."""
    other = COLD.replace("aaaaaaab", "aaaaaaaa")
    assert found(HANGS, other) == [(2, Kind.ANCHOR_TWICE, True)]


_WORDS = st.text(min_size=1, max_size=60).filter(lambda text: refusal(text) is None)


@given(_WORDS, _WORDS)
def test_what_is_accepted_is_never_called_wrong(symptom: str, rule: str) -> None:
    """A single line that accepting wrote passes lint, whatever its words are."""
    text = format_line(DAY, symptom, rule, "aaaaaaaa")
    assert [one for one in lint(lines(text)) if one.wrong] == []


@given(st.lists(st.text(max_size=60), max_size=6))
def test_any_lines_at_all_can_be_judged(texts: list[str]) -> None:
    """Lint ends for whatever stands there, and names lines that are there."""
    problems: list[Problem] = lint(lines(*texts))
    assert all(1 <= one.number <= len(texts) for one in problems)
