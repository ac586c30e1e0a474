"""The queue: one file a candidate, complete or absent."""

from pathlib import Path

import pytest

from dreaming.errors import Unusable
from dreaming.models.candidate import Candidate
from dreaming.stores.pending import Pending


def _candidate(id_: str = "a" * 16, score: float = 0.5) -> Candidate:
    return Candidate(
        id=id_,
        slug="tests-run-in-watch-mode",
        topic="testing",
        symptom="The test command never ends.",
        rule="Run the tests with `--run`.",
        session_ids=("1" * 16, "2" * 16),
        sessions=2,
        agents=("codex",),
        projects=("f" * 16,),
        first_seen=None,
        last_seen=None,
        score=score,
        backend="offline",
    )


def test_what_is_put_is_read_again(tmp_path: Path) -> None:
    """A candidate survives its file."""
    pending = Pending(tmp_path)
    assert pending.put(_candidate())
    assert pending.all() == [_candidate()]


def test_putting_the_same_again_writes_nothing(tmp_path: Path) -> None:
    """A second night leaves the files alone, down to their times."""
    pending = Pending(tmp_path)
    pending.put(_candidate())
    before = (tmp_path / f"{'a' * 16}.json").stat().st_mtime_ns
    assert not pending.put(_candidate())
    assert (tmp_path / f"{'a' * 16}.json").stat().st_mtime_ns == before


def test_the_best_comes_first(tmp_path: Path) -> None:
    """People look at the top."""
    pending = Pending(tmp_path)
    pending.put(_candidate("a" * 16, 0.2))
    pending.put(_candidate("b" * 16, 0.9))
    assert [one.id[0] for one in pending.all()] == ["b", "a"]


def test_removing_what_is_gone_is_fine(tmp_path: Path) -> None:
    """A decision that was cut short can be finished."""
    Pending(tmp_path).remove("a" * 16)


@pytest.mark.parametrize("text", ["", "{", "[]", '{"id": "x"}', '{"schema": 2}'])
def test_a_file_that_is_no_candidate_is_named(tmp_path: Path, text: str) -> None:
    """A person is told which file to move away."""
    (tmp_path / f"{'c' * 16}.json").write_text(text)
    with pytest.raises(Unusable, match="c" * 16):
        Pending(tmp_path).all()


def test_a_candidate_under_another_name_is_refused(tmp_path: Path) -> None:
    """A copied file does not become a second candidate."""
    Pending(tmp_path).put(_candidate())
    (tmp_path / f"{'a' * 16}.json").rename(tmp_path / f"{'b' * 16}.json")
    with pytest.raises(Unusable, match="holds the candidate"):
        Pending(tmp_path).all()
