"""What lies below a folder: every regular file once, in a stable order."""

from __future__ import annotations

import errno
import os
import stat
from collections.abc import Callable, Iterator
from pathlib import Path

from dreaming.transcripts.interface import NotASession, Transcript


def walk(
    agent: str, folder: Path, why_not: Callable[[str, str], str]
) -> Iterator[Transcript | NotASession]:
    """Yield every regular file below ``folder`` as a transcript or with the reason it is none.

    ``why_not`` gets a file's name and that of the folder it is in (empty for ``folder`` itself) and
    answers with a reason, or with nothing. A folder or a file reached a second time, by a link, is
    said so and not read again. Raises ``OSError`` only for ``folder`` itself.
    """
    status = folder.stat()
    if not stat.S_ISDIR(status.st_mode):
        raise NotADirectoryError(errno.ENOTDIR, "not a folder", str(folder))
    with os.scandir(folder):
        pass
    seen = {(status.st_dev, status.st_ino)}
    top = os.fsencode(folder)
    waiting = [top]
    while waiting:
        current = waiting.pop()
        try:
            with os.scandir(current) as entries:
                inside = sorted(entries, key=lambda entry: entry.name)
        except OSError as error:
            yield _unreadable(current, error)
            continue
        inner: list[bytes] = []
        within = "" if current == top else os.fsdecode(current.rpartition(b"/")[2])
        for entry in inside:
            found = _entry(agent, within, entry, why_not, seen)
            if isinstance(found, bytes):
                inner.append(found)
            elif found is not None:
                yield found
        waiting.extend(reversed(inner))


def _entry(
    agent: str,
    within: str,
    entry: os.DirEntry[bytes],
    why_not: Callable[[str, str], str],
    seen: set[tuple[int, int]],
) -> Transcript | NotASession | bytes | None:
    """Return what an entry is: a folder to enter, a file, or nothing we speak of."""
    try:
        status = entry.stat()
    except OSError as error:
        return _unreadable(entry.path, error)
    is_folder = stat.S_ISDIR(status.st_mode)
    if not is_folder and not stat.S_ISREG(status.st_mode):
        return None
    identity = (status.st_dev, status.st_ino)
    if identity in seen:
        reason = "symbolic link loop" if is_folder else "another name of a file"
        return NotASession(_path(entry.path), reason)
    seen.add(identity)
    if is_folder:
        return entry.path
    reason = why_not(os.fsdecode(entry.name), within)
    if reason:
        return NotASession(_path(entry.path), reason)
    return Transcript(
        agent,
        entry.path,
        status.st_dev,
        status.st_ino,
        status.st_size,
        status.st_mtime_ns,
        status.st_ctime_ns,
    )


def _path(place: bytes) -> Path:
    return Path(os.fsdecode(place))


def _unreadable(place: bytes, error: OSError) -> NotASession:
    path = _path(place)
    if error.errno == errno.ELOOP:
        return NotASession(path, "symbolic link loop")
    reason = f"cannot be read: {error.strerror or type(error).__name__}"
    return NotASession(path, reason, unreadable=error.errno != errno.ENOENT)
