"""The pen: the one module that writes the knowledge base.

Only ``jobs/decide.py`` may import it; a contract checks that. What a person wrote stays byte for
byte, and a file that changed since it was looked at is not touched.
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


class Change(msgspec.Struct, frozen=True):
    """What writing one line would do to a topic's file."""

    path: Path
    before: bytes | None
    """``None`` where the topic is new."""
    after: bytes

    @property
    def before_hash(self) -> str:
        """SHA-256 of what stands there; empty for a new topic."""
        return "" if self.before is None else hashlib.sha256(self.before).hexdigest()

    @property
    def after_hash(self) -> str:
        """SHA-256 of what will stand there."""
        return hashlib.sha256(self.after).hexdigest()


def plan(folder: Path, topic: str, line: str) -> Change:
    """Return what appending ``line`` to ``topic`` would change. Writes nothing.

    Raises ``Refused`` for a topic that is no slug or whose file is not a file inside ``folder``.
    """
    if not re.fullmatch(TOPIC_PATTERN, topic) or topic == "readme":
        raise Refused(f"{topic!r} is no topic: lower-case letters, digits and hyphens, at most 64.")
    path = folder / f"{topic}.md"
    inside = folder.resolve()
    if path.is_symlink() and not path.resolve().is_relative_to(inside):
        raise Refused(f"{path} is a link that leads out of the knowledge base.")
    before = path.read_bytes() if path.exists() else None
    if before is None:
        return Change(path, None, f"# {topic}\n\n{line}\n".encode())
    newline = b"\r\n" if b"\r\n" in before and b"\n" not in before.replace(b"\r\n", b"") else b"\n"
    gap = b"" if before.endswith(b"\n") or not before else newline
    return Change(path, before, before + gap + line.encode() + newline)


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
    files.replace(change.path, change.after)
