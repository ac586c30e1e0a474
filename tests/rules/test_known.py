"""Is it known already?"""

from __future__ import annotations

import pytest

from dreaming.known import SURE, Known, statements
from dreaming.similarity import rarity

TEXTS = [
    "kelp push lagoon\nkelp: refusing to push, ledger not sealed\nkelp seal --ledger && kelp push",
    "no, you must run kelp seal --ledger before every push, otherwise it hangs\nkelp push reef",
]
COUNTS = {"kelp": 6, "push": 9, "seal": 2, "ledger": 2, "before": 60, "lagoon": 1}


def rare(token: str) -> float:
    """How rare a token is among a hundred sessions."""
    return rarity(COUNTS.get(token, 5), 100)


@pytest.mark.parametrize(
    "line",
    [
        "Run `kelp seal --ledger` before `kelp push`.",
        "- [2026-11-30] SYMPTOM: push hangs RULE: seal the ledger (kelp seal) <!-- dreaming:1f -->",
        "* kelp: the ledger has to be sealed before a push (kelp seal --ledger)",
    ],
)
def test_line_in_any_form_is_recognised(line: str) -> None:
    """A lesson counts as known however a person wrote it down."""
    told = Known([line, "Never paint the buoy green, ask Mira."], (), rare).match(TEXTS)
    assert told is not None and told[0] == line and told[1] >= SURE


def test_other_lessons_are_not_the_same() -> None:
    """A line about the same program but another lesson does not make this one known."""
    told = Known(["kelp logs live in the attic, rotate them on Fridays."], (), rare).match(TEXTS)
    assert told is None or told[1] < SURE


def test_nothing_in_common_is_nothing() -> None:
    """Where no line shares a word there is no answer, not a weak one."""
    assert Known(["Paint buoys green."], (), rare).match(TEXTS) is None
    assert Known([]).match(TEXTS) is None


def test_context_counts_like_lessons() -> None:
    """What an agent loads anyway is known as well."""
    told = Known([], ["Seal first: kelp seal --ledger, then kelp push."], rare).match(TEXTS)
    assert told is not None and told[1] >= SURE


def test_order_of_lines_changes_nothing() -> None:
    """The best line wins wherever it stands."""
    lines = ["Run `kelp seal --ledger` before `kelp push`.", "Use kelp push for lagoons."]
    assert Known(lines, (), rare).match(TEXTS) == Known(lines[::-1], (), rare).match(TEXTS)


def test_statements_leave_headings_and_code_out() -> None:
    """A hand-written file is read line by line, without headings and code blocks."""
    text = "# Harbour\n\n- Always seal the ledger first.\n```\nkelp seal --everything\n```\nshort\n"
    assert statements(text) == ["Always seal the ledger first."]
