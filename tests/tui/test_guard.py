"""A person's key, a pasted burst and a key held down are told apart by time alone."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from review_tui.guard import BURST, Guard, Verdict


def counted(presses: list[tuple[str, float]], decides: str = "aexmsu") -> list[str]:
    """The keys that count, of keys with their times in seconds."""
    guard, found = Guard(), []
    waiting, since = "", 0.0
    for key, at in [*presses, ("", 1e9)]:
        if waiting and at - since >= guard.moment:
            if guard.due():
                found.append(waiting)
            waiting = ""
        verdict = guard.press(key, at, decides=key in decides and bool(key))
        if verdict is Verdict.WAIT:
            waiting, since = key, at
    return found


@pytest.mark.parametrize(
    ("presses", "expected"),
    [
        ([("a", 0.0)], "a"),
        ([("a", 0.0), ("x", 0.3)], "ax"),
        ([("a", 0.0), ("a", 0.3), ("a", 0.6)], "aaa"),
        ([("j", 0.0), ("a", 0.2), ("j", 0.4), ("a", 0.6)], "aa"),
        ([("a", 0.0), ("x", 0.001), ("s", 0.002)], ""),
        ([("a", 0.0), ("a", 0.001), ("a", 0.002)], ""),
        ([("a", 0.0), ("x", 0.019), ("s", 0.038)], ""),
        ([("j", 0.0), ("j", 0.001), ("a", 0.002), ("j", 0.003)], ""),
    ],
)
def test_a_burst_counts_nothing(presses: list[tuple[str, float]], expected: str) -> None:
    """Keys apart count each; three within 40 ms count none, whatever they are."""
    assert counted(presses) == list(expected)


@pytest.mark.parametrize("repeat", [0.025, 0.033, 0.040, 0.090])
@pytest.mark.parametrize("delay", [0.2, 0.25, 0.5, 1.0])
def test_a_held_key_counts_once(repeat: float, delay: float) -> None:
    """However a keyboard repeats, a key held down counts once."""
    held = [("a", 0.0), *(("a", delay + repeat * turn) for turn in range(40))]
    assert counted(held) == ["a"]


def test_after_a_held_key_the_next_press_counts() -> None:
    """Letting go and pressing again counts again."""
    held = [("a", 0.0), *(("a", 0.5 + 0.03 * turn) for turn in range(10))]
    assert counted([*held, ("a", 2.0), ("x", 2.5)]) == ["a", "a", "x"]


@given(st.lists(st.sampled_from("aexmsujkq1?"), min_size=3, max_size=60), st.floats(0.0, 0.012))
def test_no_pasted_text_counts(text: list[str], gap: float) -> None:
    """Text of any letters that comes in one go decides nothing."""
    assert counted([(key, gap * place) for place, key in enumerate(text)]) == []


@given(st.lists(st.sampled_from("aexmsujkq1?"), max_size=60))
def test_everything_a_person_types_counts(text: list[str]) -> None:
    """At a quarter of a second a key nothing is lost."""
    typed = [(key, 0.25 * place) for place, key in enumerate(text)]
    assert counted(typed) == [key for key in text if key in "aexmsu"]
    assert BURST < 0.25
