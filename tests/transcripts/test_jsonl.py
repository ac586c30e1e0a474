from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from dreaming.models.session import (
    Denier,
    ResultStatus,
    SessionKind,
    Speaker,
    Tool,
    TurnKind,
)
from dreaming.transcripts.jsonl import Record
from tests.transcripts.transcript_samples import DATA, jsonl, read, shown

DOCS = Path(__file__).parents[2] / "docs" / "formats"
HEAD = {"format": "dreaming-session", "version": 1, "agent": "house-bot", "session": "hb-7"}


def test_a_session_becomes_these_turns() -> None:
    """The sample of the neutral format, turn by turn, for the agent it names."""
    found = read("jsonl", (DATA / "jsonl" / "session.jsonl").read_bytes())
    assert shown(found) == (DATA / "jsonl" / "session.turns.txt").read_text("utf-8")


def test_without_a_claim_nobody_is_taken_for_a_person() -> None:
    """A speaker that is missing or unknown is the harness in the user's role."""
    found = read("jsonl", jsonl(HEAD, {"kind": "user", "text": "a", "speaker": "somebody"}))
    assert [turn.speaker for turn in found.turns] == [Speaker.HARNESS]


@pytest.mark.parametrize(
    "agent", ["/home/robin/bot", "robin@tide.example", "a\x1b[31m", "x" * 65, "", "a\n"]
)
def test_an_agent_has_a_plain_name(agent: str) -> None:
    """It stands in candidates, which name no place, no address and no control character."""
    found = read("jsonl", jsonl({**HEAD, "agent": agent}, {"kind": "user", "text": "a"}))
    assert (found.agent, len(found.turns)) == ("jsonl", 1)


@pytest.mark.parametrize(
    "first",
    [
        {"kind": "user", "text": "a"},
        {**HEAD, "version": 2},
        {**HEAD, "format": "another"},
        {"type": "user", "message": {"content": "a"}},
    ],
)
def test_a_file_without_our_head_is_no_session(first: dict[str, Any]) -> None:
    """Turns of an unknown format or version are counted, not guessed."""
    found = read("jsonl", jsonl(first, {"kind": "user", "text": "a"}))
    assert found.turns == []
    assert sum(found.unknown_records.values()) == 2


def test_unknown_kinds_are_counted() -> None:
    """A kind of turn nobody taught us does no harm."""
    found = read("jsonl", jsonl(HEAD, {"kind": "song"}, {"kind": "user", "text": "a"}, HEAD))
    assert found.unknown_records == {"song": 1, "dreaming-session 1": 1}
    assert len(found.turns) == 1


def test_the_schema_says_what_the_reader_reads() -> None:
    """Every field and every value of the schema is the reader's, and the other way round."""
    schema = json.loads((DOCS / "jsonl.schema.json").read_text("utf-8"))
    head, turn = (schema["$defs"][name]["properties"] for name in ("head", "turn"))
    assert {*head, *turn} == set(Record.__struct_fields__)
    for values, field in (
        (SessionKind, head["kind"]),
        (TurnKind, turn["kind"]),
        (Speaker, turn["speaker"]),
        (Tool, turn["tool"]),
        (ResultStatus, turn["status"]),
        (Denier, turn["denier"]),
    ):
        assert [value for value in field["enum"] if value] == [value.value for value in values]


def test_the_page_shows_the_sample_and_names_every_field() -> None:
    """The description is complete, and its example is read as it stands."""
    page = (DOCS / "jsonl.md").read_text("utf-8")
    for field in Record.__struct_fields__:
        assert f"`{field}`" in page
    example = page.partition("```jsonl\n")[2].partition("```")[0]
    found = read("jsonl", example.encode())
    assert len(found.turns) == example.count("\n") - 1
    assert (found.unknown_records, found.unreadable_lines) == ({}, 0)
