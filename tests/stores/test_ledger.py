"""The ledger only grows, and shows tampering."""

import os
from datetime import UTC, datetime, timedelta
from pathlib import Path

import pytest

from dreaming.errors import Unusable
from dreaming.models.decision import Action, Phase
from dreaming.stores.ledger import START, Head, Ledger

NOON = datetime(2026, 11, 30, 12, tzinfo=UTC)


def _filled(folder: Path, writer: str = "kim-0001", count: int = 4) -> Ledger:
    ledger = Ledger(folder, writer)
    for number in range(count):
        ledger.append(
            NOON + timedelta(minutes=number),
            Action.REJECT,
            Phase.DONE,
            candidate=f"{number:016x}",
            why="wrong",
        )
    return ledger


def test_lines_chain_from_zeros(tmp_path: Path) -> None:
    """Each line carries the hash of the one before; the first carries zeros."""
    ledger = _filled(tmp_path)
    decisions = ledger.decisions()
    assert decisions[0].prev == START
    assert [one.seq for one in decisions] == [1, 2, 3, 4]
    assert ledger.head()[0] == 4


@pytest.mark.parametrize("place", [0, 40, 200, -2])
def test_a_changed_byte_is_found(tmp_path: Path, place: int) -> None:
    """Any changed byte breaks the chain, and file and line are named.

    The last line has nobody behind it: that is what the head kept in the state is for.
    """
    ledger = _filled(tmp_path)
    data = bytearray(ledger.path.read_bytes())
    end = data.rfind(b"\n", 0, -1)
    place = place if place >= 0 else end + place
    data[place] ^= 1
    ledger.path.write_bytes(bytes(data))
    with pytest.raises(Unusable, match=r"reviewed-kim-0001\.jsonl:\d+"):
        ledger.decisions()


def test_swapped_and_missing_lines_are_found(tmp_path: Path) -> None:
    """An order nobody wrote is no ledger."""
    ledger = _filled(tmp_path)
    lines = ledger.path.read_bytes().splitlines(keepends=True)
    for wrong in ([lines[1], lines[0], *lines[2:]], [lines[0], *lines[2:]]):
        ledger.path.write_bytes(b"".join(wrong))
        with pytest.raises(Unusable):
            ledger.decisions()


def test_a_cut_tail_is_seen_against_the_kept_head(tmp_path: Path) -> None:
    """Whole lines cut off the end leave a good chain; the kept head does not stand in it."""
    ledger = _filled(tmp_path)
    count, head = ledger.head()
    lines = ledger.path.read_bytes().splitlines(keepends=True)
    ledger.path.write_bytes(b"".join(lines[:2]))
    assert len(ledger.decisions()) == 2
    assert not ledger.has(count, head)
    ledger.path.write_bytes(b"".join(lines))
    assert ledger.has(count, head)


def test_two_writers_are_read_together(tmp_path: Path) -> None:
    """Two machines' files stand side by side and need no merging."""
    _filled(tmp_path, "kim-0001", 2)
    _filled(tmp_path, "lee-0002", 3)
    assert len(Ledger(tmp_path, "reader").decisions()) == 5


def test_a_torn_last_line_is_set_aside(tmp_path: Path) -> None:
    """Half a line was never confirmed: it is kept elsewhere, and the chain goes on."""
    ledger = _filled(tmp_path)
    whole = ledger.path.read_bytes()
    ledger.path.write_bytes(whole + b'{"seq":5,"at')
    assert ledger.set_torn_tail_aside(tmp_path / "torn")
    assert (tmp_path / "torn").read_bytes() == b'{"seq":5,"at\n'
    assert ledger.path.read_bytes() == whole
    assert not ledger.set_torn_tail_aside(tmp_path / "torn")


def test_an_intent_without_its_end_is_unfinished(tmp_path: Path) -> None:
    """What was decided but not yet written is found until it is done."""
    ledger = Ledger(tmp_path, "kim-0001")
    ledger.append(NOON, Action.ACCEPT, Phase.INTENT, candidate="a" * 16, topic="git")
    assert [one.candidate for one in ledger.unfinished()] == ["a" * 16]
    ledger.append(NOON, Action.ACCEPT, Phase.DONE, candidate="a" * 16, topic="git")
    assert ledger.unfinished() == []


def _kept(ledger: Ledger) -> dict[str, Head]:
    return {ledger.path.name: Head(*ledger.head())}


def test_any_single_changed_byte_is_found(tmp_path: Path) -> None:
    """Whichever byte it is, the last newline too: file and line are named."""
    ledger = _filled(tmp_path, count=3)
    kept, data = _kept(ledger), ledger.path.read_bytes()
    ends = [place for place, byte in enumerate(data) if byte == 0x0A]
    for place in range(len(data)):
        changed = bytearray(data)
        changed[place] ^= 1
        ledger.path.write_bytes(bytes(changed))
        broken = Ledger(tmp_path, "reader").verify(kept)
        assert broken, f"byte {place}"
        line = 1 + sum(end < place for end in ends)
        assert broken[0].path == ledger.path and broken[0].line in (line, line + 1)


def test_any_cut_tail_is_found(tmp_path: Path) -> None:
    """However many lines are gone from the end, all of them too."""
    ledger = _filled(tmp_path, count=4)
    kept, lines = _kept(ledger), ledger.path.read_bytes().splitlines(keepends=True)
    for left in range(4):
        ledger.path.write_bytes(b"".join(lines[:left]))
        (broken,) = Ledger(tmp_path, "reader").verify(kept)
        assert broken.line == left + 1 and "gone from the end" in broken.what
    ledger.path.unlink()
    assert Ledger(tmp_path, "reader").verify(kept)


def test_any_two_swapped_lines_are_found(tmp_path: Path) -> None:
    """The first of the two places is named."""
    ledger = _filled(tmp_path, count=4)
    kept, lines = _kept(ledger), ledger.path.read_bytes().splitlines(keepends=True)
    for one in range(4):
        for other in range(one + 1, 4):
            moved = list(lines)
            moved[one], moved[other] = moved[other], moved[one]
            ledger.path.write_bytes(b"".join(moved))
            assert Ledger(tmp_path, "reader").verify(kept)[0].line == one + 1


def test_every_broken_chain_is_named(tmp_path: Path) -> None:
    """One writer's broken chain does not hide another's."""
    for writer in ("kim-0001", "lee-0002"):
        path = _filled(tmp_path, writer).path
        path.write_bytes(path.read_bytes().replace(b"wrong", b"right", 1))
    broken = Ledger(tmp_path, "reader").verify({})
    assert {one.path.name for one in broken} == {
        "reviewed-kim-0001.jsonl",
        "reviewed-lee-0002.jsonl",
    }


def test_a_confirmed_line_that_lost_its_end_is_not_torn(tmp_path: Path) -> None:
    """Against the kept head a flipped last newline is tampering, and nothing is set aside."""
    ledger = _filled(tmp_path)
    head = Head(*ledger.head())
    data = ledger.path.read_bytes()
    ledger.path.write_bytes(data[:-1] + b"\x0b")
    with pytest.raises(Unusable, match=r"\.jsonl:4"):
        ledger.check_head(head)
    ledger.path.write_bytes(data + b'{"half')
    ledger.check_head(head)


def test_nothing_is_appended_to_half_a_line(tmp_path: Path) -> None:
    """What would join two lines is refused."""
    ledger = _filled(tmp_path)
    ledger.path.write_bytes(ledger.path.read_bytes() + b'{"half')
    with pytest.raises(Unusable, match="half a line"):
        ledger.append(NOON, Action.REJECT, Phase.DONE)


def test_a_chain_keeps_its_order_whatever_its_clock_did(tmp_path: Path) -> None:
    """A clock that jumps back does not reorder what one writer decided."""
    ledger = Ledger(tmp_path, "kim-0001")
    for hours in (5, -20, 1):
        ledger.append(NOON + timedelta(hours=hours), Action.REJECT, Phase.DONE)
    assert [one.seq for one in ledger.decisions()] == [1, 2, 3]


def test_two_processes_appending_never_interleave(tmp_path: Path) -> None:
    """The chain of one writer holds although two processes write it at once."""
    children = []
    for _ in range(2):
        child = os.fork()
        if child == 0:
            status = 1
            try:
                _filled(tmp_path, count=40)
                status = 0
            finally:
                os._exit(status)
        children.append(child)
    assert [os.waitpid(child, 0)[1] for child in children] == [0, 0]
    ledger = Ledger(tmp_path, "kim-0001")
    assert [one.seq for one in ledger.decisions()] == list(range(1, 81))
    assert ledger.verify({}) == []
