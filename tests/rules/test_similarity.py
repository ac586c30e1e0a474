"""Tokens of code and speech, and how rare they are."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from dreaming.similarity import (
    RAREST,
    cosine,
    distinct,
    overlap,
    program,
    rarity,
    telling,
    tokens,
)


def test_token_keeps_its_whole_and_its_parts() -> None:
    """A name of code counts whole and in parts, flags and words alike, in lower case."""
    assert tokens("ModuleNotFoundError --frozen-lockfile") == [
        "modulenotfounderror",
        "module",
        "not",
        "found",
        "error",
        "frozen-lockfile",
        "frozen",
        "lockfile",
    ]


def test_flag_and_word_are_one_token() -> None:
    """What a person names is found again as a flag."""
    assert set(tokens("--platform")) & set(tokens("you forgot the platform"))


def test_placeholders_are_no_tokens() -> None:
    """Redaction's pseudonyms join nothing."""
    assert tokens("mail <email:3f2a91> in <home>/x2") == ["mail", "in", "x2"]


@given(st.lists(st.text(st.sampled_from("aB9é見_-@./:< >\n"), max_size=12), max_size=4))
def test_distinct_tokens_are_those_of_each_text(texts: list[str]) -> None:
    """Many texts at once give the same tokens as one after the other."""
    assert distinct(texts) == {token for text in texts for token in tokens(text)}


def test_scripts_without_spaces_become_pairs() -> None:
    """Where words are not set apart, two letters are a token."""
    assert tokens("必须封存") == ["必须", "须封", "封存"]


def test_telling_leaves_common_words_out() -> None:
    """Words that every session has tell nothing."""
    assert telling("you must use the kelp file") == ["kelp"]


@pytest.mark.parametrize(
    ("command", "name"),
    [
        ("sudo PORT=1 /usr/bin/kelp push", "kelp"),
        ("cd reef && kelp push | tail -3", "kelp"),
        ("bash -lc kelp", "kelp"),
        ("", ""),
    ],
)
def test_program_behind_wrappers(command: str, name: str) -> None:
    """The program is what does the work, not what wraps it."""
    assert program(command) == name


@given(st.integers(1, 10**6), st.data())
def test_rarer_tells_more(sessions: int, data: st.DataObject) -> None:
    """What occurs more often never tells more, and nothing tells more than the rarest."""
    few = data.draw(st.integers(0, sessions))
    many = data.draw(st.integers(few, sessions))
    assert 0.0 <= rarity(many, sessions) <= rarity(few, sessions) <= RAREST


def test_short_history_is_stretched() -> None:
    """What two of twelve sessions share tells about as much as what two of ninety share."""
    assert rarity(2, 12) == pytest.approx(rarity(2, 90), abs=0.6)


@given(st.dictionaries(st.text(max_size=3), st.floats(0.1, 9), max_size=8))
def test_text_is_like_itself(vector: dict[str, float]) -> None:
    """A vector's cosine with itself is one, an empty one's is nothing."""
    assert cosine(vector, vector) == pytest.approx(1.0 if vector else 0.0)


def test_overlap_of_nothing() -> None:
    """Two empty texts have nothing in common."""
    assert overlap([], []) == 0.0
