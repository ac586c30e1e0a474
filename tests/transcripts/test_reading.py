from __future__ import annotations

import json
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from dreaming.transcripts import reading
from dreaming.transcripts.interface import Block
from dreaming.transcripts.reading import blocks, lines, records


def write(tmp_path: Path, data: bytes) -> Path:
    """Make a transcript of these bytes."""
    path = tmp_path / "t.jsonl"
    path.write_bytes(data)
    return path


def test_whole_lines_are_handed_out_and_the_unfinished_last_line_is_left(tmp_path: Path) -> None:
    """A last line without a line end waits for another night; its bytes are told."""
    reader = blocks(write(tmp_path, b"one\ntwo\nthr"))
    assert [block.data for block in reader] == [b"one\ntwo\n"]
    assert (reader.settled, reader.left) == (8, 3)


def test_a_file_that_shrinks_while_it_is_read_ends(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Also in the middle of a line too long to be parsed; nothing is waited for."""
    monkeypatch.setattr(reading, "BLOCK", 1 << 14)
    monkeypatch.setattr(reading, "MAX_LINE", 1 << 15)
    path = write(tmp_path, b"x" * (1 << 18) + b"\n")
    reader = blocks(path)
    assert next(reader).oversized
    path.write_bytes(b"x" * 100)
    assert sum(len(block.data) for block in reader) < 1 << 18


@pytest.mark.parametrize("data", [b"", b"no line end", b"\n", b"a\n"])
def test_no_file_is_too_small(tmp_path: Path, data: bytes) -> None:
    """Every byte is either handed out or left."""
    reader = blocks(write(tmp_path, data))
    assert sum(len(block.data) for block in reader) + reader.left == len(data)


@given(
    data=st.binary(max_size=300).map(lambda raw: raw.replace(b"\x07", b"\n")),
    split_at=st.integers(0, 310),
    limit=st.none() | st.integers(0, 310),
)
def test_blocks_join_to_the_file_and_are_cut_where_asked(
    tmp_path_factory: pytest.TempPathFactory, data: bytes, split_at: int, limit: int | None
) -> None:
    """Blocks in order are the settled bytes; first lines are right; there is a cut at the split."""
    path = write(tmp_path_factory.mktemp("blocks"), data)
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(reading, "BLOCK", 16)
        patch.setattr(reading, "MAX_LINE", 48)
        reader = blocks(path, split_at=split_at, limit=limit)
        found = list(reader)
    end = len(data) if limit is None else min(limit, len(data))
    settled = b"".join(block.data for block in found)
    assert settled == data[: len(settled)]
    assert len(settled) + reader.left == end
    last_line_end = data.rfind(b"\n", 0, end) + 1
    assert len(settled) == max(last_line_end, split_at if split_at < end else 0)
    position = 0
    for block in found:
        assert block.first_line == 1 + data.count(b"\n", 0, position)
        assert position >= split_at or position + len(block.data) <= split_at or split_at >= end
        assert len(block.data) <= 48
        position += len(block.data)


def test_a_line_over_the_limit_comes_in_pieces_and_the_next_line_is_whole(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Memory stays bounded whatever the size of a line, and nothing around it is lost."""
    monkeypatch.setattr(reading, "BLOCK", 10)
    monkeypatch.setattr(reading, "MAX_LINE", 40)
    found = list(blocks(write(tmp_path, b"a\n" + b"x" * 95 + b"\nb\n")))
    assert [(block.first_line, block.oversized) for block in found if not block.oversized] == [
        (1, False),
        (3, False),
    ]
    huge = [block for block in found if block.oversized]
    assert b"".join(block.data for block in huge) == b"x" * 95 + b"\n"
    assert {block.first_line for block in huge} == {2}
    assert max(len(block.data) for block in found) <= 10


def test_a_huge_line_still_being_written_is_left(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Not one piece of an unfinished line is handed out, however long it is."""
    monkeypatch.setattr(reading, "BLOCK", 10)
    monkeypatch.setattr(reading, "MAX_LINE", 40)
    reader = blocks(write(tmp_path, b"a\n" + b"x" * 95))
    assert [block.data for block in reader] == [b"a\n"]
    assert reader.left == 95


def test_a_file_that_shrinks_while_it_is_read_ends_quietly(tmp_path: Path) -> None:
    """A limit beyond the end of the file reads what is there."""
    reader = blocks(write(tmp_path, b"a\nb\n"), limit=1000)
    assert b"".join(block.data for block in reader) == b"a\nb\n"
    assert reader.left == 0


def test_a_file_that_vanished_is_an_error_of_the_system(tmp_path: Path) -> None:
    """The caller learns that the file is gone, and why."""
    with pytest.raises(FileNotFoundError):
        list(blocks(tmp_path / "gone.jsonl"))


def test_only_a_newline_ends_a_line() -> None:
    """Line separators of other kinds occur inside strings and cut nothing."""
    text = "a\u2028b\u2029c\u0085d\x0be\x0cf"
    data = f'{{"text": "{text}"}}\n{{}}\n'.encode()
    assert [number for number, _ in lines(Block(data, 7))] == [7, 8]
    assert records(next(lines(Block(data, 7)))[1]).values == [{"text": text}]


WHOLE = {"type": "user", "uuid": "u1", "message": {"content": [{"type": "text", "text": "hi"}]}}


@pytest.mark.parametrize(
    ("line", "values", "lost"),
    [
        (b"", [], False),
        (b"\x00\x00\x00", [], False),
        (b"\xef\xbb\xbf" + json.dumps(WHOLE).encode(), [WHOLE], False),
        (json.dumps(WHOLE).encode() + b"\r", [WHOLE], False),
        (b"\x00\x00" + json.dumps(WHOLE).encode() + b"\x00", [WHOLE], False),
        (json.dumps(WHOLE).encode() * 2, [WHOLE, WHOLE], False),
        (b'{"parentUuid": "x", "message": {"con' + json.dumps(WHOLE).encode(), [WHOLE], True),
        (b'{"a": [{"type":"text","text":"q"},{"ty' + json.dumps(WHOLE).encode(), [WHOLE], True),
        (json.dumps(WHOLE).encode()[:-9], [], True),
        (b'{"at": NaN, "to": Infinity}', None, False),
        (b'{"a": "tab\there"}', [{"a": "tab\there"}], False),
        (b'{"a": "\xff\xfe"}', [{"a": "\ufffd\ufffd"}], False),
        (b'{"a": "\\ud83d", "\\udc00": ["\\ud800"]}', [{"a": "�", "�": ["�"]}], False),
        (b'{"a": "\\ud83d\\ude00"}', [{"a": "\U0001f600"}], False),
        (b"[" * 100_000, [], True),
        (b"not json", [], True),
    ],
)
def test_records_are_recovered_from_a_damaged_line(
    line: bytes, values: list[object] | None, lost: bool
) -> None:
    """What can be read is read, what is lost is told, and no part is taken for a record."""
    found = records(line)
    assert found.lost is lost
    assert values is None or found.values == values
    assert json.dumps(found.values, ensure_ascii=False).encode() or True


@given(st.binary(max_size=200))
def test_no_bytes_make_reading_fail(line: bytes) -> None:
    """Any bytes give values that can be written out again, or a loss."""
    found = records(line)
    json.dumps(found.values, ensure_ascii=False).encode()


def test_a_damaged_line_of_many_starts_is_given_up_in_time() -> None:
    """A line made of beginnings costs a bounded number of attempts."""
    assert records(b'{"uuid":' * 200_000).lost
