"""Laws of the kept compiled rules: what somebody else could have written is never used."""

from __future__ import annotations

from pathlib import Path

import pytest

from dreaming.redaction.anchors import Anchors
from dreaming.stores.compiled import Compiled

EXPRESSIONS = ["abc", "x[0-9]{3}"]


def only_file(folder: Path) -> Path:
    """The one file of a folder."""
    (file,) = folder.iterdir()
    return file


def compilings(folder: Path, monkeypatch: pytest.MonkeyPatch) -> int:
    """How often expressions are compiled when the folder may be used; what they find is right."""
    done = []
    compile_ = Anchors._compiled

    def counted(self: Anchors, *, once: bool) -> object:
        done.append(once)
        return compile_(self, once=once)

    with monkeypatch.context() as patch:
        patch.setattr(Anchors, "_compiled", counted)
        found = Anchors(EXPRESSIONS, Compiled(folder)).find(b"abc x123")
    assert [(place.first, place.number) for place in found] == [(3, 0), (8, 1)]
    return len(done)


def test_rules_are_compiled_once_on_a_machine(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The second run loads them; other rules take the place of the first ones."""
    folder = tmp_path / "state" / "rules"
    assert compilings(folder, monkeypatch) == 1
    assert compilings(folder, monkeypatch) == 0
    assert folder.stat().st_mode & 0o777 == 0o700
    before = only_file(folder)
    assert before.stat().st_mode & 0o777 == 0o600
    Anchors(["other"], Compiled(folder)).find(b"")
    assert only_file(folder) != before


@pytest.mark.parametrize("damage", ["cut", "changed", "empty", "other"])
def test_a_damaged_file_is_compiled_anew(
    damage: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Silently, and the next run loads it again."""
    folder = tmp_path / "rules"
    compilings(folder, monkeypatch)
    file = only_file(folder)
    data = file.read_bytes()
    middle = len(data) // 2
    file.write_bytes(
        {
            "cut": data[:-1],
            "changed": data[:middle] + bytes([data[middle] ^ 1]) + data[middle + 1 :],
            "empty": b"",
            "other": b"no database",
        }[damage]
    )
    assert compilings(folder, monkeypatch) == 1
    assert compilings(folder, monkeypatch) == 0


@pytest.mark.parametrize("mode", [0o644, 0o620, 0o602])
def test_a_file_that_others_may_touch_is_ignored(
    mode: int, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A forged file would hide credentials."""
    folder = tmp_path / "rules"
    compilings(folder, monkeypatch)
    only_file(folder).chmod(mode)
    assert compilings(folder, monkeypatch) == 1
    assert compilings(folder, monkeypatch) == 0


@pytest.mark.parametrize("mode", [0o755, 0o770, 0o1777])
def test_a_folder_that_others_may_enter_is_ignored(
    mode: int, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Nothing is read from it and nothing written."""
    folder = tmp_path / "rules"
    folder.mkdir()
    folder.chmod(mode)
    for _ in range(2):
        assert compilings(folder, monkeypatch) == 1
    assert not list(folder.iterdir())


def test_a_foreign_owner_is_ignored(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """The folder of another user is none of ours, whatever its mode."""
    folder = tmp_path / "rules"
    compilings(folder, monkeypatch)
    monkeypatch.setattr("dreaming.stores.compiled.os.geteuid", lambda: 12345)
    assert compilings(folder, monkeypatch) == 1


def test_links_are_not_followed(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """A link in place of the file or the folder leads nowhere."""
    real = tmp_path / "real"
    compilings(real, monkeypatch)
    file = only_file(real)
    linked = tmp_path / "linked"
    linked.mkdir(mode=0o700)
    (linked / file.name).symlink_to(file)
    assert Compiled(linked).get(file.name) is None
    (tmp_path / "rules").symlink_to(real)
    assert Compiled(tmp_path / "rules").get(file.name) is None
    assert Compiled(real).get(file.name) == file.read_bytes()
