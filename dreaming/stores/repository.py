"""The files of a project's repository that enforce or say something. Read only, and never all.

Only files that ``known.places`` names are opened, none through a link, none that is large. When a
line came in, git's history says where it can; else the file's own time does.
"""

from __future__ import annotations

import contextlib
import os
import subprocess
from collections.abc import Iterator
from pathlib import Path
from typing import Final

from dreaming.known.places import LOCKS, Unit, kind, units
from dreaming.stores.interface import Project
from dreaming.stores.projects import git_identity

FOLDERS: Final = (
    "", ".husky", ".githooks", ".git/hooks", ".github", ".claude", ".claude/rules", "docs",
)  # fmt: skip
LARGEST: Final = 256 << 10
"""Bytes; a larger file is made by a program."""
MOST: Final = 300
"""Files looked at in one repository."""
PATIENCE: Final = 5.0
"""Seconds that git may take for one answer."""

_GIT: Final = (
    "git", "--no-pager", "-c", "core.fsmonitor=false", "-c", "log.showSignature=false", "-c",
    "core.hooksPath=/dev/null", "-c", "protocol.allow=never", "log", "--format=%ct",
    "--max-count=1", "--no-textconv", "--no-ext-diff",
)  # fmt: skip
"""Looks at history and at nothing else: no hook, helper or remote that the repository names."""
_ENVIRONMENT: Final = {
    "GIT_CONFIG_NOSYSTEM": "1",
    "GIT_CONFIG_GLOBAL": "/dev/null",
    "GIT_NO_LAZY_FETCH": "1",
    "GIT_OPTIONAL_LOCKS": "0",
    "GIT_TERMINAL_PROMPT": "0",
    "LC_ALL": "C",
}


class Checkout:
    """A repository on this machine's disk."""

    def __init__(self, root: Path) -> None:
        self._root = root
        self._git = True

    def units(self) -> list[Unit]:
        """Return every line that may enforce or say something, in a stable order."""
        return [unit for path in self._paths() for unit in units(path, self._text(path))]

    def stamp(self) -> str:
        """Return what changes when one of the files read here does."""
        told: list[object] = []
        for path in self._paths():
            with contextlib.suppress(OSError):
                status = (self._root / path).lstat()
                told.append((path, status.st_size, status.st_mtime_ns))
        return repr(told)

    def since(self, path: str, line: str) -> float:
        """Return when a line came in, seconds since 1970 UTC; the file where ``line`` is empty.

        ``line`` is an extended regular expression of POSIX. The file's own time where git does not
        know.
        """
        asked = ["--pickaxe-regex", f"-S{line}"] if line else ["--diff-filter=A"]
        told = self._ask([*asked, "--", path])
        if told.isdigit():
            return float(told)
        try:
            return (self._root / path).lstat().st_mtime
        except OSError:
            return 0.0  # gone meanwhile: it deals with nothing

    def _ask(self, arguments: list[str]) -> str:
        if not self._git:
            return ""
        environment = {"PATH": os.environ.get("PATH", os.defpath), **_ENVIRONMENT}
        try:
            done = subprocess.run(
                [*_GIT, *arguments],
                cwd=self._root,
                env=environment,
                stdin=subprocess.DEVNULL,
                stdout=subprocess.PIPE,
                stderr=subprocess.DEVNULL,
                timeout=PATIENCE,
                check=False,
            )
        except (OSError, subprocess.TimeoutExpired):
            self._git = False  # no git here, or a history too long: the files' times remain
            return ""
        return done.stdout.decode("ascii", "replace").strip() if done.returncode == 0 else ""

    def _text(self, path: str) -> str:
        if path in LOCKS:
            return ""
        try:
            with os.fdopen(os.open(self._root / path, os.O_RDONLY | os.O_NOFOLLOW), "rb") as file:
                return file.read(LARGEST).decode("utf-8", "replace")
        except OSError:
            return ""  # a file we may not read says nothing

    def _paths(self) -> list[str]:
        found: list[str] = []
        folders = [*FOLDERS, *self._below("docs")]
        for folder in folders:
            for entry in self._entries(folder):
                path = f"{folder}/{entry.name}".lstrip("/")
                if kind(path) and entry.is_file(follow_symlinks=False) and _is_small(entry, path):
                    found.append(path)
        return found[:MOST]

    def _below(self, folder: str) -> list[str]:
        entries = self._entries(folder)
        return [f"{folder}/{one.name}" for one in entries if one.is_dir(follow_symlinks=False)]

    def _entries(self, folder: str) -> Iterator[os.DirEntry[str]]:
        place = self._root / folder
        if place.resolve() != self._root / folder:
            return iter(())  # a link: what is behind it is not this repository's
        try:
            with os.scandir(place) as entries:
                return iter(sorted(entries, key=lambda one: one.name))
        except OSError:
            return iter(())


def _is_small(entry: os.DirEntry[str], path: str) -> bool:
    return path in LOCKS or entry.stat(follow_symlinks=False).st_size <= LARGEST


def checkout(project: Project) -> Checkout | None:
    """Return the repository around a project's folder, where it is still that of the project."""
    if not project.folder.startswith("/"):
        return None
    try:
        folder = Path(project.folder).resolve()
    except (OSError, RuntimeError, ValueError):  # a loop of links, a zero byte
        return None
    places = (place for place in (folder, *folder.parents) if os.path.lexists(place / ".git"))
    root = next(places, None)
    if root is None or git_identity(str(folder)) != project.identity:
        return None
    return Checkout(root)
