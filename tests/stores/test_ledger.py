"""The ledger only grows, and shows tampering."""

from datetime import UTC, datetime, timedelta
from pathlib import Path

import pytest

from dreaming.errors import Unusable
from dreaming.models.decision import Action, Phase
from dreaming.stores.ledger import START, Ledger

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
