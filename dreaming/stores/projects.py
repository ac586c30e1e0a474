"""Which project a recorded folder belongs to: a git identity, else what the transcript says."""

from __future__ import annotations

import fnmatch
import re
from collections.abc import Sequence
from pathlib import Path
from typing import Final

from dreaming.stores.interface import Project
from dreaming.stores.workspace import Pseudonymizer

_URL: Final = re.compile(r"^\s*url\s*=\s*(\S+)", re.M)
_REMOTE: Final = re.compile(r'\[remote "([^"]+)"\]([^\[]*)')

_SCHEME: Final = re.compile(r"^(?:[A-Za-z0-9+.-]+::)?[A-Za-z0-9+.-]+://")
_LOGIN: Final = re.compile(r"^(?:[^/]*@|[^/:]*:(?!\d+/)[^@]*@)")
"""A password may hold an ``@``, or a ``/`` that nobody encoded."""

_COPIES: Final = tuple(
    re.compile(form.replace("/", r"[\\/]").replace("SOME", r"[^\\/]+"))
    for form in (
        r"/(?!\.)(SOME)-worktrees?/",
        r"/\.codex/worktrees/SOME/(SOME)",
        r"(?<!home)(?<!Users)/(?!\.)(SOME)/(?:\.SOME/)?\.?worktrees?/",
        r"/(?:\.SOME-)?(?:\.?worktrees?|wt)/(SOME)/",
    )
)
"""Where tools put worktrees: beside, in their own folder, inside the repository, in one for all."""
LONGEST_PATH: Final = 8192
"""Bytes that are read of a file that holds a path."""
LARGEST_CONFIG: Final = 1_000_000
"""Bytes; a larger ``.git/config`` is not one that git wrote."""


class Projects:
    """Tells the project of a folder; looks at each folder of the disk once."""

    def __init__(self, pseudonyms: Pseudonymizer) -> None:
        self._pseudonyms = pseudonyms
        self._known: dict[tuple[str, str], Project] = {}

    def of(self, folder: str, repository: str = "") -> Project:
        """Return the project of a recorded folder.

        Its git remote or common directory where the folder still is in a repository, else the
        ``repository`` that the transcript recorded, else the path itself.
        """
        known = self._known.get((folder, repository))
        if known is None:
            identity = git_identity(folder) or normalised_remote(repository) or folder or "unknown"
            known = Project(self._pseudonyms.project(identity), identity, folder)
            self._known[(folder, repository)] = known
        return known


def git_identity(folder: str) -> str:
    """Return what identifies the repository around a folder: its remote, else its common directory.

    Empty where there is none (any more). Nothing is run; ``.git`` is only read.
    """
    git = _git_folder(Path(folder)) if folder.startswith("/") else None
    if git is None:
        return ""
    return _remote(git / "config") or str(git)


def _git_folder(folder: Path) -> Path | None:
    """The common ``.git`` directory of the repository around ``folder``."""
    for place in (folder, *folder.parents):
        git = place / ".git"
        try:
            if git.is_dir():
                return git.resolve()
            if git.is_file():
                return _linked(git)
        except (OSError, ValueError, RuntimeError):
            return None  # a folder we may not look into, or that cannot be, tells us nothing
    return None


def _linked(file: Path) -> Path | None:
    """The common directory behind a worktree's or submodule's ``.git`` file."""
    target = _beginning(file).partition("gitdir:")[2].strip()
    if not target:
        return None
    own = (file.parent / target).resolve()
    common = own / "commondir"
    if common.is_file():
        return (own / _beginning(common).strip()).resolve()
    return own if own.is_dir() else None


def _beginning(file: Path) -> str:
    with file.open("rb") as opened:
        return opened.read(LONGEST_PATH).decode("utf-8", "replace")


def _remote(config: Path) -> str:
    try:
        if not config.is_file() or config.stat().st_size > LARGEST_CONFIG:
            return ""
        text = config.read_text(encoding="utf-8", errors="replace")
    except OSError:
        return ""  # a repository we may not look into is known by its directory
    remotes = {
        name: url.group(1)
        for name, body in _REMOTE.findall(text)
        if (url := _URL.search(body)) is not None
    }
    if not remotes:
        return ""
    return normalised_remote(remotes.get("origin") or remotes[min(remotes)])


def normalised_remote(url: str) -> str:
    """Return a git remote as ``host/owner/name``: the same for ssh, https and a login inside."""
    text = url.strip().strip("\"'")
    if not text:
        return ""
    scheme = _SCHEME.match(text)
    if scheme:
        text = _LOGIN.sub("", re.split(r"[?#]", text[scheme.end() :])[0])
    else:
        text = re.sub(r"^[^@/]*@", "", text)
    text = re.sub(r"^([^/:]+):(?!\d+/)", r"\1/", text)
    return text.removesuffix("/").removesuffix(".git").lower()


def home(identity: str) -> str:
    """Return the name of the repository that a remote or a recorded path is a copy of.

    By name alone: worktrees and clones are gone long before their sessions. Good for counting
    what recurs, never for deciding what may be seen.
    """
    for form in _COPIES:
        found = form.search(identity)
        if found is not None:
            return found.group(1).lower()
    return re.split(r"[\\/]", identity.rstrip("\\/"))[-1].lower()


class Filter:
    """Which projects belong to a workspace."""

    def __init__(
        self, include: Sequence[str], exclude: Sequence[str], workspace_identity: str
    ) -> None:
        self._include = tuple(include) or ((workspace_identity,) if workspace_identity else ())
        self._exclude = tuple(exclude)

    def __call__(self, project: Project) -> bool:
        """Whether a project's sessions may be read into this workspace."""
        if any(_matches(pattern, project) for pattern in self._exclude):
            return False
        return not self._include or any(_matches(pattern, project) for pattern in self._include)


def _matches(pattern: str, project: Project) -> bool:
    pattern = str(Path(pattern).expanduser()) if pattern.startswith("~") else pattern
    plain = pattern.rstrip("/")
    if plain in (project.identity, project.folder) or normalised_remote(plain) == project.identity:
        return True
    if plain.startswith("/") and project.folder.startswith(f"{plain}/"):
        return True
    names = (project.identity, project.folder)
    return any(fnmatch.fnmatchcase(name, plain) for name in names if name)
