from __future__ import annotations

import random

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from dreaming.models.session import Session
from dreaming.transcripts.interface import Block
from tests.transcripts.transcript_samples import DATA, PARSERS, read

SAMPLES = {
    (path.parent.name, path.name): path.read_bytes() for path in sorted(DATA.rglob("*.jsonl"))
}
each_sample = pytest.mark.parametrize("sample", SAMPLES, ids="/".join)


def encodable(session: Session) -> bool:
    """Tell that every text can be written out."""
    return all(turn.text.encode() is not None for turn in session.turns)


@pytest.mark.parametrize("agent", PARSERS)
@given(data=st.binary(max_size=400))
def test_no_bytes_make_a_parser_fail(agent: str, data: bytes) -> None:
    """Any file gives a session, were it an empty one."""
    assert encodable(read(agent, data))


@each_sample
@settings(suppress_health_check=[HealthCheck.too_slow])
@given(seed=st.integers(0, 2**32), changes=st.integers(1, 12))
def test_no_damage_makes_a_parser_fail(sample: tuple[str, str], seed: int, changes: int) -> None:
    """Bytes changed, cut out, doubled or put in give a session, and lines stay lines."""
    data = bytearray(SAMPLES[sample])
    chance = random.Random(seed)
    for _ in range(changes):
        place, length = chance.randrange(len(data)), chance.randrange(1, 40)
        piece = chance.choice(
            [b"", bytes(data[place : place + length]) * 2, b"\x00" * length, b"\xff", b'{"', b"\n"]
        )
        data[place : place + chance.choice([0, length])] = piece
    found = read(sample[0], bytes(data))
    assert encodable(found)
    assert found.unreadable_lines >= 0
    assert all(1 <= turn.line <= bytes(data).count(b"\n") + 1 for turn in found.turns)


@each_sample
@given(data=st.data())
def test_where_blocks_are_cut_changes_nothing(sample: tuple[str, str], data: st.DataObject) -> None:
    """Any cuts, at line ends or inside lines, give the same session."""
    whole = SAMPLES[sample]
    cuts = data.draw(st.lists(st.integers(0, len(whole)), max_size=8))
    assert read(sample[0], whole, cuts=cuts) == read(sample[0], whole)


@each_sample
def test_the_first_part_of_a_file_gives_the_first_turns(sample: tuple[str, str]) -> None:
    """Reading a growing file early gives what reading it late begins with, but for later mends."""
    whole = SAMPLES[sample]
    lines = whole.split(b"\n")
    half = b"\n".join(lines[: len(lines) // 2]) + b"\n"
    early, late = read(sample[0], half).turns, read(sample[0], whole).turns
    assert early == late[: len(early)]


@pytest.mark.parametrize("agent", PARSERS)
def test_a_line_too_long_to_parse_is_one_unreadable_line(agent: str) -> None:
    """Pieces of an oversized line are counted once and never parsed."""
    parser = PARSERS[agent](DATA / "s.jsonl")
    parser.feed(Block(b"{}\n", 1))
    for piece in (b"x" * 50, b"y" * 50, b"z\n"):
        parser.feed(Block(piece, 2, oversized=True))
    parser.feed(Block(b"{}\n", 3))
    found = parser.finish()
    assert (found.unreadable_lines, found.lines) == (1, 3)


def nested(depth: int) -> bytes:
    """Return objects inside one another."""
    return b'{"a":' * depth + b"1" + b"}" * depth


@pytest.mark.parametrize("agent", PARSERS)
@pytest.mark.parametrize("depth", [50, 400, 900, 5_000])
def test_no_depth_of_nesting_makes_a_parser_fail(agent: str, depth: int) -> None:
    """A deeply nested input is shown in part or its line is lost."""
    inner = nested(depth)
    claude = b'{"type":"assistant","message":{"content":[{"type":"tool_use","id":"t","name":"X",'
    claude += b'"input":' + inner + b"}]}}\n"
    thread = b'{"type":"response_item","payload":{"type":"function_call","name":"x","arguments":'
    thread += inner + b"}}\n"
    output = b'{"type":"response_item","payload":{"type":"function_call_output","output":'
    output += inner + b"}}\n"
    for data in (claude, thread, output, inner + b"\n"):
        assert encodable(read(agent, data))
