"""The grammar of a lesson's line."""

import re
from datetime import date

import pytest
from hypothesis import assume, given
from hypothesis import strategies as st

from dreaming.lessons import (
    format_line,
    inert,
    lesson_id,
    normalised,
    parse_line,
    refusal,
    rule_hash,
    same_key,
    tidy,
)

DAY = date(2026, 11, 30)
WORDS = st.text(st.characters(codec="ascii", categories=["L", "N", "P", "Zs"]), min_size=1)


@given(symptom=WORDS, rule=WORDS)
def test_a_line_is_one_line_and_reads_back(symptom: str, rule: str) -> None:
    """Whatever the words are, the line is one, and its anchor is found again."""
    assume(refusal(symptom) is None and refusal(rule) is None)
    line = format_line(DAY, symptom, rule, "1f0c9a2b")
    assert len(line.splitlines()) == 1
    lesson = parse_line(line)
    assert lesson is not None
    assert (lesson.day, lesson.id) == (DAY, "1f0c9a2b")


@given(text=WORDS)
def test_inert_text_has_no_bare_mark(text: str) -> None:
    """Outside code spans nothing is left that markdown or a loading agent acts on."""
    outside = re.sub(r"`[^`]+`", "", inert(text))
    assert not re.search(r"[@*_\[\]<>|#~$\\&{}`/]", outside)


@given(text=WORDS)
def test_inert_text_stays_inert(text: str) -> None:
    """Making inert what is inert changes nothing."""
    assert inert(inert(text)) == inert(text)


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("Run `pnpm vitest run`.", "Run `pnpm vitest run`."),
        ("See @docs/setup.md.", "See `@docs/setup.md`."),
        ("Ask https://example.com/a (twice).", "Ask `https://example.com/a` (twice)."),
        ("Keep snake_case here", "Keep `snake_case` here"),
        ("a lone ` tick", "a lone ' tick"),
    ],
)
def test_what_acts_stands_in_a_code_span(text: str, expected: str) -> None:
    """An ``@path``, an address, a path or a mark of markdown is put into a code span."""
    assert inert(text) == expected


@pytest.mark.parametrize(
    "text",
    [
        "",
        "   ",
        "a\nb",
        "a\x1b[2Jb",
        "a\u202eb",
        "a\u200bb",
        "a<!-- b",
        "b --> c",
        "x" * 401,
        "\x85",
    ],
)
def test_text_that_must_not_be_written_is_refused(text: str) -> None:
    """Line breaks, hidden characters, comment marks and floods have a reason each."""
    assert refusal(text)


def test_dress_does_not_make_another_rule() -> None:
    """Case, punctuation, quoting and stop words are dress."""
    assert rule_hash("Use `--run`, when you test!") == rule_hash("use --run when test")
    assert normalised("Run the tests.") != normalised("Skip the tests.")


def test_a_lesson_keeps_the_id_of_its_candidate() -> None:
    """The same candidate gives the same anchor, of eight hex characters."""
    assert lesson_id("a" * 16) == lesson_id("a" * 16)
    assert re.fullmatch(r"[0-9a-f]{8}", lesson_id("a" * 16))


@pytest.mark.parametrize(
    "line", ["", "# git", "- hand-written", "- [2026-13-40] SYMPTOM: a RULE: b"]
)
def test_other_lines_are_no_lessons_of_ours(line: str) -> None:
    """Only the grammar is the grammar."""
    assert parse_line(line) is None


@pytest.mark.parametrize(
    ("one", "other"),
    [
        ("Use pnpm, npm or yarn.", "use YARN, pnpm and npm"),
        ("Run the linter, the formatter and the tests.", "Run the tests, linter and formatter!"),
        ("Check b, c & d", "check d, c, b"),
    ],
)
def test_the_order_of_a_list_is_dress(one: str, other: str) -> None:
    """Items between commas, and, or and & count in any order."""
    assert same_key(one) == same_key(other)


@pytest.mark.parametrize(
    ("one", "other"),
    [
        ("Run lint, then test.", "Run test, then lint."),
        ("Lint before test.", "Test before lint."),
        ("Use npm, not yarn.", "Use npm and yarn."),
        ("Do it.", "Do that."),
        ("Pass --run.", "Pass --watch."),
        ("Read docs/setup.", "Read setup/docs."),
    ],
)
def test_another_order_of_deeds_is_another_rule(one: str, other: str) -> None:
    """Only what is a list is sorted; nothing that tells is left out."""
    assert same_key(one) != same_key(other)


@given(text=st.text(max_size=40))
def test_tidy_text_stays_tidy(text: str) -> None:
    """Tidying twice is tidying once, and what steers is left for the refusal to name."""
    assert tidy(tidy(text)) == tidy(text)
    assert ("\n" in text) == ("\n" in tidy(text))
