"""Compiled rules, kept on this machine so that no run compiles them again.

Whoever can write what is loaded from here can make credentials go unseen. So a file counts only
where the folder and the file are this user's, and nobody else may read or write them.
"""

from __future__ import annotations

import contextlib
import os
import stat
from pathlib import Path

from dreaming.stores import files


class Compiled:
    """Bytes by name, in a folder of this user's alone. What cannot be kept is not: no error."""

    def __init__(self, folder: Path) -> None:
        self._folder = folder

    def get(self, name: str) -> bytes | None:
        """Return what is kept, or nothing where it is missing, foreign, or open to others."""
        with contextlib.suppress(OSError):
            folder = os.open(self._folder, os.O_RDONLY | os.O_DIRECTORY | os.O_NOFOLLOW)
            try:
                if not _private(folder):
                    return None
                file = os.open(name, os.O_RDONLY | os.O_NOFOLLOW | os.O_NONBLOCK, dir_fd=folder)
            finally:
                os.close(folder)
            with os.fdopen(file, "rb") as opened:
                if _private(file) and stat.S_ISREG(os.fstat(file).st_mode):
                    return opened.read()
        return None

    def put(self, name: str, data: bytes) -> None:
        """Keep bytes, in place of those whose name begins the same up to its first dash."""
        with contextlib.suppress(OSError):
            self._folder.mkdir(mode=0o700, parents=True, exist_ok=True)
            folder = os.open(self._folder, os.O_RDONLY | os.O_DIRECTORY | os.O_NOFOLLOW)
            try:
                if not _private(folder):
                    return
            finally:
                os.close(folder)
            (self._folder / name).unlink(missing_ok=True)  # a link, or open to others
            files.replace(self._folder / name, data, mode=0o600)
            for old in self._folder.glob(f"*{name.partition('-')[0]}-*"):
                if old.name != name:
                    old.unlink(missing_ok=True)


def _private(descriptor: int) -> bool:
    """Say whether an open file or folder is this user's, and closed to everybody else."""
    status = os.fstat(descriptor)
    return status.st_uid == os.geteuid() and not status.st_mode & 0o077
