"""Redacted sessions, compressed, one file a transcript: kept after the agent has deleted it.

A better miner can read them again. What stands in them is what excerpts are made of: redacted, the
folders replaced by the ids of their projects.
"""

from __future__ import annotations

import hashlib
import os
import zlib
from collections.abc import Iterator
from pathlib import Path
from typing import Final

import msgspec

from dreaming.models.session import Session
from dreaming.stores import files
from dreaming.stores.interface import Project

_encode: Final = msgspec.msgpack.Encoder().encode


class Archived(msgspec.Struct, frozen=True):
    """A redacted session with what is needed to settle it again."""

    agent: str
    path: bytes
    """Where the transcript was."""
    settled: int
    digest: str
    """SHA-256 over the transcript's bytes [0, settled)."""
    session: Session
    """Turns that belong to the workspace; their folder is the id of a project."""
    projects: dict[str, Project]


class Archive:
    """The folder of kept sessions."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder

    def put(self, one: Archived, modified: float) -> None:
        """Keep a session durably, in place of what was kept of the transcript before.

        ``modified`` is when the transcript last changed: its age is the file's.
        """
        self.folder.mkdir(mode=0o700, exist_ok=True)
        path = self._path(one.agent, one.path)
        files.replace(path, zlib.compress(_encode(one)), mode=0o600)
        os.utime(path, (modified, modified))

    def get(self, agent: str, path: bytes) -> Archived | None:
        """Return what is kept of a transcript; ``None`` where that is nothing or is damaged."""
        try:
            data = zlib.decompress(self._path(agent, path).read_bytes())
            return msgspec.msgpack.decode(data, type=Archived)
        except (FileNotFoundError, zlib.error, msgspec.MsgspecError):
            return None

    def holds(self, agent: str, path: bytes) -> bool:
        """Return whether something is kept of a transcript."""
        return self._path(agent, path).exists()

    def forget(self, agent: str, path: bytes) -> None:
        """Delete what is kept of a transcript."""
        self._path(agent, path).unlink(missing_ok=True)

    def all(self) -> Iterator[Archived]:
        """Yield everything that is kept and whole, in a stable order."""
        for path in files.matching(self.folder, "*.z"):
            try:
                yield msgspec.msgpack.decode(zlib.decompress(path.read_bytes()), type=Archived)
            except (zlib.error, msgspec.MsgspecError):
                continue

    def _path(self, agent: str, path: bytes) -> Path:
        name = hashlib.sha256(agent.encode() + b"\0" + path).hexdigest()[:32]
        return self.folder / f"{name}.z"


def drop_older(folder: Path, before: float) -> int:
    """Delete the files of a folder that last changed before an instant; return how many."""
    dropped = 0
    if not folder.is_dir():
        return 0
    with os.scandir(folder) as entries:
        for entry in entries:
            if entry.stat().st_mtime < before:
                Path(entry.path).unlink(missing_ok=True)
                dropped += 1
    return dropped
