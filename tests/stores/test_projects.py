"""Which project a folder belongs to, and which projects belong to a workspace."""

from pathlib import Path

import pytest

from dreaming.stores.interface import Project
from dreaming.stores.projects import Filter, Projects, git_identity, normalised_remote
from dreaming.stores.workspace import Pseudonymizer


def _repository(folder: Path, remote: str = "") -> Path:
    (folder / ".git").mkdir(parents=True)
    config = f'[core]\n\tbare = false\n[remote "origin"]\n\turl = {remote}\n' if remote else ""
    (folder / ".git" / "config").write_text(config)
    return folder


@pytest.mark.parametrize(
    "url",
    [
        "git@example.org:tide/api.git",
        "ssh://git@example.org/tide/api",
        "https://robin:word@example.org/Tide/api.git/",
        "https://example.org/tide/api",
        "https://robin:a@word@example.org/tide/api",
        "https://robin:a/word@example.org/tide/api",
        "HTTPS://robin:word@example.org/tide/api",
        '"https://robin@tide:word@example.org/tide/api"',
        "codecommit::eu-1://word@example.org/tide/api",
        "https://example.org/tide/api?token=word#word",
    ],
)
def test_one_remote_has_one_identity(url: str) -> None:
    """However it is written, and never with a login inside."""
    assert normalised_remote(url) == "example.org/tide/api"


@pytest.mark.parametrize("path", ["@scope/api", "tide/a@b"])
@pytest.mark.parametrize("start", ["git@example.org:", "https://robin:word@example.org/"])
def test_a_sign_in_the_path_is_no_login(start: str, path: str) -> None:
    """What stands behind the host is the repository's name."""
    assert normalised_remote(start + path) == f"example.org/{path}"


def test_a_repository_is_its_remote(tmp_path: Path) -> None:
    """Two checkouts of one remote are one project, also from a folder inside."""
    one = _repository(tmp_path / "one", "git@example.org:tide/api.git") / "src"
    one.mkdir()
    two = _repository(tmp_path / "two", "https://example.org/tide/api")
    assert git_identity(str(one)) == git_identity(str(two)) == "example.org/tide/api"


def test_a_worktree_is_its_repository(tmp_path: Path) -> None:
    """A linked worktree leads to the common directory."""
    main = _repository(tmp_path / "main")
    own = main / ".git" / "worktrees" / "w"
    own.mkdir(parents=True)
    (own / "commondir").write_text("../..\n")
    tree = tmp_path / "w"
    tree.mkdir()
    (tree / ".git").write_text(f"gitdir: {own}\n")
    assert git_identity(str(tree)) == str((main / ".git").resolve())


@pytest.mark.parametrize("place", [".git", "own/commondir"])
def test_a_huge_file_in_place_of_a_path_is_not_read(tmp_path: Path, place: str) -> None:
    """Whoever names a folder in a transcript cannot make a night read a terabyte."""
    (tmp_path / "own").mkdir()
    (tmp_path / ".git").write_text("gitdir: own")
    with (tmp_path / place).open("ab") as file:
        file.truncate(1 << 40)
    assert git_identity(str(tmp_path)) == ""


def test_what_cannot_be_a_path_tells_nothing(tmp_path: Path) -> None:
    """It ends no night."""
    (tmp_path / ".git").write_text("gitdir: a\0b")
    assert git_identity(str(tmp_path)) == ""


def test_a_gone_folder_is_what_the_transcript_recorded(tmp_path: Path) -> None:
    """The recorded remote first, then the recorded path."""
    projects = Projects(Pseudonymizer(b"k" * 32))
    gone = str(tmp_path / "gone")
    assert projects.of(gone, "git@example.org:tide/api.git").identity == "example.org/tide/api"
    assert projects.of(gone).identity == gone
    assert projects.of(gone).id == projects.of(gone).id != projects.of("").id


TIDE = Project("t", "example.org/tide/api", "/home/robin/tide")
LAMP = Project("l", "/home/robin/lamp/.git", "/home/robin/lamp/web")


@pytest.mark.parametrize(
    ("include", "exclude", "around", "seen"),
    [
        ((), (), "", {"t", "l"}),
        ((), (), "example.org/tide/api", {"t"}),
        (("/home/robin/lamp",), (), "example.org/tide/api", {"l"}),
        (("git@example.org:tide/api.git",), (), "", {"t"}),
        (("example.org/tide/*",), (), "", {"t"}),
        ((), ("/home/robin/lamp",), "", {"t"}),
        (("/home/robin/*",), ("example.org/*",), "", {"l"}),
        (("/home/robin/la",), (), "", set()),
    ],
)
def test_which_projects_a_workspace_sees(
    include: tuple[str, ...], exclude: tuple[str, ...], around: str, seen: set[str]
) -> None:
    """Its own repository unless told otherwise; paths, remotes and globs; exclude wins."""
    belongs = Filter(include, exclude, around)
    assert {one.id for one in (TIDE, LAMP) if belongs(one)} == seen
