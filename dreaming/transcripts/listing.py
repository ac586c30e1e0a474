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
    top = folder.stat()
    if not stat.S_ISDIR(top.st_mode):
        raise NotADirectoryError(errno.ENOTDIR, "not a folder", str(folder))
    with os.scandir(folder):
        pass
    seen = {(top.st_dev, top.st_ino)}
    waiting = [folder]
    while waiting:
        current = waiting.pop()
        try:
            with os.scandir(current) as entries:
                inside = sorted(entries, key=lambda entry: os.fsencode(entry.name))
        except OSError as error:
            yield _unreadable(current, error)
            continue
        inner: list[Path] = []
        within = "" if current is folder else current.name
        for entry in inside:
            found = _entry(agent, current / entry.name, within, entry, why_not, seen)
            if isinstance(found, Path):
                inner.append(found)
            elif found is not None:
                yield found
        waiting.extend(reversed(inner))


def _entry(
    agent: str,
    path: Path,
    within: str,
    entry: os.DirEntry[str],
    why_not: Callable[[str, str], str],
    seen: set[tuple[int, int]],
) -> Transcript | NotASession | Path | None:
    """Return what an entry is: a folder to enter, a file, or nothing we speak of."""
    try:
        status = entry.stat()
    except OSError as error:
        return _unreadable(path, error)
    is_folder = stat.S_ISDIR(status.st_mode)
    if not is_folder and not stat.S_ISREG(status.st_mode):
        return None
    identity = (status.st_dev, status.st_ino)
    if identity in seen:
        return NotASession(path, "symbolic link loop" if is_folder else "another name of a file")
    seen.add(identity)
    if is_folder:
        return path
    reason = why_not(entry.name, within)
    if reason:
        return NotASession(path, reason)
    return Transcript(
        agent=agent,
        path=path,
        device=status.st_dev,
        inode=status.st_ino,
        size=status.st_size,
        modified_ns=status.st_mtime_ns,
        changed_ns=status.st_ctime_ns,
    )


def _unreadable(path: Path, error: OSError) -> NotASession:
    if error.errno == errno.ELOOP:
        return NotASession(path, "symbolic link loop")
    reason = f"cannot be read: {error.strerror or type(error).__name__}"
    return NotASession(path, reason, unreadable=error.errno != errno.ENOENT)
