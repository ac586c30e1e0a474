"""The pen: the one module that writes the knowledge base.

Only ``jobs/decide.py`` may import it; a contract checks that. What a person wrote stays byte for
byte, a file that changed since it was looked at is not touched, and what is taken out or replaced
is exactly one line of our own.

Whoever calls holds the decision lock, which is in the machine's own folder: it keeps two processes
of one machine apart, not two machines that share the folder over a network.
"""

from __future__ import annotations

import hashlib
import re
from pathlib import Path

import msgspec

from dreaming.errors import DreamingError, Refused
from dreaming.models.candidate import TOPIC_PATTERN
from dreaming.stores import files


class ChangedMeanwhile(DreamingError):
    """The topic's file changed while the decision was being made; nothing was written."""


class NotThere(Refused):
    """The line does not stand there as it was written; nothing was changed."""


class Change(msgspec.Struct, frozen=True):
    """What writing would do to a topic's file."""

    path: Path
    before: bytes | None
    """``None`` where the topic is new."""
    after: bytes | None
    """``None`` where nothing but our own heading would be left."""

    @property
    def before_hash(self) -> str:
        """SHA-256 of what stands there; empty for a new topic."""
        return _hash(self.before)

    @property
    def after_hash(self) -> str:
        """SHA-256 of what will stand there; empty where the file goes."""
        return _hash(self.after)

    @property
    def lines(self) -> int:
        """How many lines the file will have."""
        after = self.after or b""
        return after.count(b"\n") + (not after.endswith(b"\n") and after != b"")


def plan(folder: Path, topic: str, line: str, was: str = "") -> Change:
    """Return what a line would change. Writes nothing.

    ``line`` is put where ``was`` stands, or at the end where that is empty; an empty ``line`` takes
    ``was`` out. Raises ``Refused`` for a topic that is no slug or whose file is not a file inside
    ``folder``, and ``NotThere`` where ``was`` does not stand there exactly once, unchanged.
    """
    path = place(folder, topic)
    before = path.read_bytes() if path.exists() else None
    if was:
        return Change(path, before, _exchanged(path, topic, before or b"", was, line))
    if before is None:
        return Change(path, None, _heading(topic) + line.encode() + b"\n")
    newline = b"\r\n" if b"\r\n" in before and b"\n" not in before.replace(b"\r\n", b"") else b"\n"
    gap = b"" if before.endswith(b"\n") or not before else newline
    return Change(path, before, before + gap + line.encode() + newline)


def place(folder: Path, topic: str) -> Path:
    """Return the file of a topic. Raises ``Refused`` where that would not be one of ``folder``."""
    if not re.fullmatch(TOPIC_PATTERN, topic) or topic == "readme":
        raise Refused(f"{topic!r} is no topic: lower-case letters, digits and hyphens, at most 64.")
    path = folder / f"{topic}.md"
    if path.is_symlink() and not path.resolve().is_relative_to(folder.resolve()):
        raise Refused(f"{path} is a link that leads out of the knowledge base.")
    return path


def stands(folder: Path, topic: str, line: str) -> bool:
    """Whether a topic holds exactly this line."""
    path = place(folder, topic)
    data = path.read_bytes() if path.exists() else b""
    return bool(_numbers(data.splitlines(keepends=True), line))


def holds_anchor(folder: Path, topic: str, lesson: str, line: str) -> bool:
    """Whether a topic holds this line, or one with this lesson's anchor that a person changed."""
    path = place(folder, topic)
    data = path.read_bytes() if path.exists() else b""
    anchor = f"<!-- dreaming:{lesson} -->"
    mine = anchor in line and anchor.encode() in data
    return mine or bool(_numbers(data.splitlines(keepends=True), line))


def current_hash(folder: Path, topic: str) -> str:
    """Return SHA-256 of what a topic's file holds; empty where there is none."""
    path = place(folder, topic)
    return _hash(path.read_bytes() if path.exists() else None)


def write(change: Change) -> None:
    """Carry out a planned change, durably.

    Raises ``ChangedMeanwhile`` where the file is not what the plan saw.
    """
    now = change.path.read_bytes() if change.path.exists() else None
    if now != change.before:
        raise ChangedMeanwhile(
            f"{change.path} changed while the decision was being made; nothing was written.",
            remedy="Run the command again.",
        )
    if change.after is None:
        files.remove(change.path)
    else:
        files.replace(change.path, change.after)


def _exchanged(path: Path, topic: str, before: bytes, was: str, line: str) -> bytes | None:
    lines = before.splitlines(keepends=True)
    found = _numbers(lines, was)
    if len(found) != 1:
        there = ", ".join(f"{path}:{number + 1}" for number in found)
        raise NotThere(
            f"It stands {len(found)} times: {there}."
            if found
            else f"{path} does not hold this line as it was written: {was}",
            remedy="Put it back as it was, or change the file by hand.",
        )
    (number,) = found
    end = lines[number][len(lines[number].rstrip(b"\r\n")) :]
    lines[number] = line.encode() + end if line else b""
    after = b"".join(lines)
    return None if after == _heading(topic) and not path.is_symlink() else after


def _numbers(lines: list[bytes], line: str) -> list[int]:
    wanted = line.encode()
    return [number for number, one in enumerate(lines) if one.rstrip(b" \t\r\n") == wanted]


def _heading(topic: str) -> bytes:
    return f"# {topic}\n\n".encode()


def _hash(data: bytes | None) -> str:
    return "" if data is None else hashlib.sha256(data).hexdigest()
