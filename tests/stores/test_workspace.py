"""Where things are, and how a workspace is made."""

from pathlib import Path

import pytest

from dreaming.errors import Unusable, WrongUse
from dreaming.stores.workspace import Pseudonymizer, Workspace, find, lay_out

TEMPLATE = {"dreaming.toml": "", ".gitignore": "x", "knowledge_base/README.md": "format"}


def _at(folder: Path) -> Workspace:
    return Workspace(folder / "w", folder / "state")


def test_laying_out_twice_changes_nothing(tmp_path: Path) -> None:
    """What stands there is left as it is, the key above all."""
    place = _at(tmp_path)
    assert lay_out(place, TEMPLATE)
    key = place.key()
    (place.root / "dreaming.toml").write_text("max_pending = 3\n")
    assert not lay_out(place, TEMPLATE)
    assert place.key() == key
    assert (place.root / "dreaming.toml").read_text() == "max_pending = 3\n"


def test_a_knowledge_base_that_is_there_gets_no_file(tmp_path: Path) -> None:
    """A folder with a person's own files is not written into."""
    place = _at(tmp_path)
    place.knowledge_base.mkdir(parents=True)
    lay_out(place, TEMPLATE)
    assert list(place.knowledge_base.iterdir()) == []


def test_the_machines_own_folder_is_private(tmp_path: Path) -> None:
    """Nobody else reads excerpts or the key."""
    place = _at(tmp_path)
    lay_out(place, TEMPLATE)
    assert place.state.stat().st_mode & 0o777 == 0o700
    assert place.key_file.stat().st_mode & 0o777 == 0o600


def test_a_given_key_makes_the_same_ids(tmp_path: Path) -> None:
    """Two machines that share a key on purpose have one id for one session."""
    one, two = _at(tmp_path / "one"), _at(tmp_path / "two")
    lay_out(one, TEMPLATE, b"s" * 32)
    lay_out(two, TEMPLATE, b"s" * 32)
    ids = {Pseudonymizer(place.key()).session("codex", "n") for place in (one, two)}
    assert len(ids) == 1
    assert len(ids.pop()) == 16


@pytest.mark.parametrize("key", [b"", b"short", b"x" * 33])
def test_a_key_of_another_length_is_refused(tmp_path: Path, key: bytes) -> None:
    """A key is 32 bytes."""
    with pytest.raises(WrongUse):
        lay_out(_at(tmp_path), TEMPLATE, key)


def test_another_key_never_replaces_one(tmp_path: Path) -> None:
    """Ids would change behind a person's back."""
    place = _at(tmp_path)
    lay_out(place, TEMPLATE, b"a" * 32)
    with pytest.raises(Unusable, match="another key"):
        lay_out(place, TEMPLATE, b"b" * 32)


def test_a_missing_key_is_said_with_the_remedy(tmp_path: Path) -> None:
    """The way back is named."""
    with pytest.raises(Unusable) as told:
        _at(tmp_path).key()
    assert "--key" in told.value.remedy


def test_the_nearest_workspace_is_found(tmp_path: Path) -> None:
    """Named, then the environment's, then a parent with settings, then the default."""
    home, here = tmp_path / "home", tmp_path / "w" / "deep"
    here.mkdir(parents=True)
    assert find(None, {}, here, home).root == home / ".dreaming"
    (tmp_path / "w" / "dreaming.toml").touch()
    assert find(None, {}, here, home).root == tmp_path / "w"
    told = {"DREAMING_WORKSPACE": str(tmp_path / "told")}
    assert find(None, told, here, home).root == tmp_path / "told"
    assert find(tmp_path / "named", told, here, home).root == tmp_path / "named"


def test_a_file_is_no_workspace(tmp_path: Path) -> None:
    """A wrong argument is said, not laid out over."""
    (tmp_path / "file").touch()
    with pytest.raises(WrongUse):
        find(tmp_path / "file", {}, tmp_path, tmp_path)
