"""A repository is read as far as a table says, and nothing in it runs or leads out of it."""

from __future__ import annotations

import os
import subprocess
from pathlib import Path

import pytest

from dreaming.stores.interface import Project
from dreaming.stores.projects import git_identity
from dreaming.stores.repository import LARGEST, checkout

DAY = 24 * 3600
START = 1_780_000_000


def git(root: Path, *arguments: str, at: int = START) -> None:
    """Run git on an invented repository."""
    who = {"NAME": "Robin", "EMAIL": "robin@example.org", "DATE": f"{at} +0000"}
    told = {
        f"GIT_{role}_{key}": one for role in ("AUTHOR", "COMMITTER") for key, one in who.items()
    }
    subprocess.run(["git", *arguments], cwd=root, env=os.environ | told, check=True)


def commit(root: Path, path: str, text: str, at: int) -> None:
    """Write a file and commit it."""
    (root / path).parent.mkdir(parents=True, exist_ok=True)
    (root / path).write_text(text, encoding="utf-8")
    git(root, "add", "-A", at=at)
    git(root, "commit", "-q", "-m", "x", at=at)


@pytest.fixture
def root(tmp_path: Path) -> Path:
    """A repository of one folder."""
    found = tmp_path / "tide"
    found.mkdir()
    git(found, "init", "-q")
    return found


def project(folder: Path) -> Project:
    """The project of a folder, as a night records it."""
    return Project("p" * 16, git_identity(str(folder)), str(folder))


def read(root: Path) -> dict[str, list[str]]:
    """The lines that are looked at, by file."""
    found = checkout(project(root))
    assert found is not None
    texts: dict[str, list[str]] = {}
    for unit in found.units():
        texts.setdefault(unit.path, []).append(unit.text)
    return texts


def test_known_names_are_read_and_no_others(root: Path) -> None:
    """Source, environment files and keys stay closed, whatever stands in them."""
    for path in (
        "README.md",
        "docs/a/b.md",
        ".husky/pre-commit",
        "src/README.md",
        ".env",
        ".npmrc",
    ):
        commit(root, path, "Use it.\n", START)
    assert sorted(read(root)) == [".husky/pre-commit", "README.md", "docs/a/b.md"]


def test_no_link_is_followed(root: Path, tmp_path: Path) -> None:
    """A link to a file or a folder, inside or outside, says nothing; nor does a pipe."""
    (tmp_path / "secret.md").write_text("Use it.\n")
    (tmp_path / "hooks").mkdir()
    (tmp_path / "hooks" / "pre-commit").write_text("make it\n")
    (root / ".env").write_text("KEY=1\n")
    (root / "README.md").symlink_to(tmp_path / "secret.md")
    (root / "CONTRIBUTING.md").symlink_to(root / ".env")
    (root / ".husky").symlink_to(tmp_path / "hooks")
    (root / "docs").symlink_to(tmp_path)
    os.mkfifo(root / "AGENTS.md")
    assert read(root) == {}


def test_what_is_large_is_left(root: Path) -> None:
    """A file that a program made is not read; a lock file only has to be there."""
    (root / "README.md").write_text("Use it. " * LARGEST)
    (root / "uv.lock").write_text("x" * 2 * LARGEST)
    assert read(root) == {"uv.lock": [""]}


def test_the_history_says_when_a_line_came_in(root: Path) -> None:
    """Not when its file was touched last, nor when it was checked out."""
    commit(root, "Makefile", "app:\n\tgo build\n", START)
    commit(root, "Makefile", "app:\n\tmake client\n\tgo build\n", START + DAY)
    commit(root, "Makefile", "app:\n\tmake client\n\tgo build -v\n", START + 2 * DAY)
    found = checkout(project(root))
    assert found is not None
    assert found.since("Makefile", "^[ \t]*make client[ \t]*$") == START + DAY
    assert found.since("Makefile", "^[ \t]*go build[ \t]*-v$") == START + 2 * DAY
    assert found.since("Makefile", "") == START


def test_without_a_history_the_files_time_counts(root: Path) -> None:
    """What is not committed yet came in when its file was written; what is gone never did."""
    (root / "README.md").write_text("Use it.\n")
    os.utime(root / "README.md", (START + 9, START + 9))
    found = checkout(project(root))
    assert found is not None
    assert found.since("README.md", "Use it") == START + 9
    assert found.since("gone.md", "Use it") == 0.0


def test_nothing_that_the_repository_names_runs(root: Path, tmp_path: Path) -> None:
    """Its configuration may name helpers; looking at it starts none."""
    commit(root, "README.md", "Use it.\n", START)
    commit(root, ".gitattributes", "*.md diff=evil filter=evil\n", START)
    mark = tmp_path / "ran"
    for key in (
        "core.fsmonitor", "core.pager", "diff.external", "diff.evil.textconv", "diff.evil.command",
        "filter.evil.clean", "filter.evil.smudge", "gpg.program", "core.sshCommand",
    ):  # fmt: skip
        git(root, "config", key, f"touch {mark}; cat")
    git(root, "config", "log.showSignature", "true")
    git(root, "config", "diff.algorithm", "histogram")
    found = checkout(project(root))
    assert found is not None
    assert found.since("README.md", "Use it") == START
    assert not mark.exists()


def test_only_the_projects_own_repository_is_opened(root: Path, tmp_path: Path) -> None:
    """Where another repository, or none, lies in the folder now, nothing is read."""
    (root / "deep").mkdir()
    known = project(root / "deep")
    assert checkout(known) is not None
    assert checkout(Project(known.id, "example.org/other", known.folder)) is None
    assert checkout(Project(known.id, "", str(tmp_path))) is None
    assert checkout(Project(known.id, "C:\\tide", "C:\\tide")) is None
    assert checkout(Project(known.id, known.identity, str(tmp_path / "gone"))) is None


@pytest.mark.parametrize("name", ["lo\0op", "loop", "a" * 5000])
def test_a_folder_that_cannot_be_is_no_repository(tmp_path: Path, name: str) -> None:
    """Anybody may record any folder in a transcript; it ends no night."""
    (tmp_path / "loop").symlink_to(tmp_path / "loop")
    folder = f"{tmp_path}/{name}"
    assert git_identity(folder) == ""
    assert checkout(Project("p", folder, folder)) is None
