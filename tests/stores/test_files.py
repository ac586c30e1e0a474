"""Durable writes and locks."""

from pathlib import Path

import pytest

from dreaming.errors import Unusable
from dreaming.stores import files


def test_a_replaced_file_is_complete_or_as_it_was(tmp_path: Path) -> None:
    """A write that fails leaves what stood there, and nothing beside it."""
    path = tmp_path / "topic.md"
    path.write_bytes(b"old")
    (tmp_path / f".topic.md.{__import__('os').getpid()}.new").mkdir()
    with pytest.raises(OSError, match="directory"):
        files.replace(path, b"new")
    assert path.read_bytes() == b"old"


def test_a_replaced_file_keeps_its_mode(tmp_path: Path) -> None:
    """What a person set stays set."""
    path = tmp_path / "topic.md"
    path.write_bytes(b"old")
    path.chmod(0o640)
    files.replace(path, b"new", mode=0o600)
    assert (path.read_bytes(), path.stat().st_mode & 0o777) == (b"new", 0o640)


def test_a_new_file_gets_the_mode_it_is_given(tmp_path: Path) -> None:
    """A secret is never readable by others, not even for a moment after it was moved in place."""
    files.replace(tmp_path / "key", b"x", mode=0o600)
    assert (tmp_path / "key").stat().st_mode & 0o777 == 0o600


def test_a_link_is_followed(tmp_path: Path) -> None:
    """The file behind a link changes; the link stays a link."""
    target, link = tmp_path / "target.md", tmp_path / "link.md"
    target.write_bytes(b"old")
    link.symlink_to(target)
    files.replace(link, b"new")
    assert link.is_symlink()
    assert target.read_bytes() == b"new"


def test_what_a_kill_left_beside_is_swept(tmp_path: Path) -> None:
    """A half-written neighbour goes; everything else stays."""
    (tmp_path / ".a.json.77.new").write_bytes(b"half")
    (tmp_path / "a.json").write_bytes(b"whole")
    files.sweep(tmp_path)
    assert [one.name for one in tmp_path.iterdir()] == ["a.json"]


def test_a_held_lock_names_its_holder(tmp_path: Path) -> None:
    """Whoever finds it held is told by whom."""
    path = tmp_path / "run.lock"
    with (
        files.lock(path, "process 1, since noon"),
        pytest.raises(files.Held, match="process 1, since noon"),
        files.lock(path),
    ):
        raise AssertionError("two at once")


def test_a_lock_let_go_can_be_taken(tmp_path: Path) -> None:
    """The lock file that stays behind is no lock."""
    path = tmp_path / "run.lock"
    for _ in range(2):
        with files.lock(path, "somebody"):
            assert path.exists()


def test_a_persons_own_file_is_not_swept(tmp_path: Path) -> None:
    """Only the names that a write gives are ours; a folder of such a name is nobody's to remove."""
    (tmp_path / ".draft.new").write_bytes(b"mine")
    (tmp_path / ".x.1.new").mkdir()
    files.sweep(tmp_path)
    assert sorted(one.name for one in tmp_path.iterdir()) == [".draft.new", ".x.1.new"]


def test_a_folder_nobody_may_look_into_is_not_empty(tmp_path: Path) -> None:
    """A folder that cannot be listed is said; one that is missing holds nothing."""
    (tmp_path / "file").touch()
    with pytest.raises(Unusable):
        files.matching(tmp_path / "file", "*")
    assert files.matching(tmp_path / "missing", "*") == []
