"""Writes that survive a power cut, and locks the kernel drops when their holder dies."""

from __future__ import annotations

import contextlib
import fcntl
import fnmatch
import os
import re
from collections.abc import Iterator
from pathlib import Path
from typing import Final

from dreaming.errors import Unusable

_BESIDE: Final = re.compile(r"\..+\.\d+\.new")
"""The name of a file that is being written beside its target: process and all."""


def sync(descriptor: int) -> None:
    """Make a file's bytes durable; on macOS through the drive's own cache as well."""
    full = getattr(fcntl, "F_FULLFSYNC", None)
    if full is not None:
        fcntl.fcntl(descriptor, full)
    else:
        os.fsync(descriptor)


def sync_folder(folder: Path) -> None:
    """Make the names in a folder durable."""
    descriptor = os.open(folder, os.O_RDONLY | os.O_DIRECTORY)
    try:
        os.fsync(descriptor)
    finally:
        os.close(descriptor)


def replace(path: Path, data: bytes, *, mode: int | None = None) -> None:
    """Put ``data`` at ``path``: complete or not at all, durable when this returns.

    Written beside, flushed, moved into place; a link is followed, so that its target changes. The
    mode of what stood there is kept, else ``mode``, else what the umask gives.
    """
    target = Path(os.path.realpath(path))
    beside = target.with_name(f".{target.name}.{os.getpid()}.new")
    kept = target.stat().st_mode & 0o7777 if target.exists() else mode
    descriptor = os.open(beside, os.O_WRONLY | os.O_CREAT | os.O_TRUNC, mode or 0o666)
    try:
        try:
            write_all(descriptor, data)
            if kept is not None:
                os.fchmod(descriptor, kept)
            sync(descriptor)
        finally:
            os.close(descriptor)
        beside.replace(target)
    except OSError:
        with contextlib.suppress(FileNotFoundError):
            beside.unlink()
        raise
    sync_folder(target.parent)


def sweep(folder: Path) -> None:
    """Remove what a killed ``replace`` left beside its targets. Call it under the folder's lock.

    A file that a person keeps under a like name is none of ours.
    """
    for left in matching(folder, ".*.new"):
        if _BESIDE.fullmatch(left.name):
            left.unlink(missing_ok=True)


def matching(folder: Path, pattern: str) -> list[Path]:
    """Return the regular files of a folder whose names match, sorted; none where it is missing.

    Raises ``Unusable`` where the folder may not be looked into: it must not count as empty.
    """
    try:
        with os.scandir(folder) as entries:
            names = [one.name for one in entries if one.is_file()]
    except FileNotFoundError:
        return []
    except OSError as wrong:
        raise Unusable(
            f"{folder}: {wrong.strerror}", remedy="Give yourself the right to read it."
        ) from wrong
    return sorted(folder / name for name in names if fnmatch.fnmatchcase(name, pattern))


def remove(path: Path) -> None:
    """Take a file away, durably; it is fine when it is gone already."""
    path.unlink(missing_ok=True)
    sync_folder(path.parent)


def append(path: Path, data: bytes) -> None:
    """Add ``data`` at the end of ``path`` in one write, durable when this returns."""
    new = not path.exists()
    descriptor = os.open(path, os.O_WRONLY | os.O_CREAT | os.O_APPEND, 0o644)
    try:
        write_all(descriptor, data)
        sync(descriptor)
    finally:
        os.close(descriptor)
    if new:
        sync_folder(path.parent)


def cut(path: Path, size: int) -> None:
    """Take away everything after the first ``size`` bytes of a file, durably."""
    descriptor = os.open(path, os.O_WRONLY)
    try:
        os.ftruncate(descriptor, size)
        sync(descriptor)
    finally:
        os.close(descriptor)


def write_all(descriptor: int, data: bytes) -> None:
    """Write all of ``data``, however many calls that takes."""
    view = memoryview(data)
    while view:
        view = view[os.write(descriptor, view) :]


class Held(Exception):
    """Somebody else holds the lock; the message says what they wrote into it."""


@contextlib.contextmanager
def lock(path: Path, note: str = "", *, wait: bool = False) -> Iterator[None]:
    """Hold a lock for the time of the block. The kernel lets go of it when the process dies.

    ``note`` is written into the file for whoever finds it held. Raises ``Held`` with the holder's
    note where ``wait`` is false and somebody holds it.
    """
    descriptor = os.open(path, os.O_RDWR | os.O_CREAT, 0o600)
    try:
        try:
            fcntl.flock(descriptor, fcntl.LOCK_EX | (0 if wait else fcntl.LOCK_NB))
        except BlockingIOError:
            raise Held(os.pread(descriptor, 500, 0).decode("utf-8", "replace").strip()) from None
        if note:
            os.ftruncate(descriptor, 0)
            os.pwrite(descriptor, note.encode(), 0)
        yield
    finally:
        os.close(descriptor)
