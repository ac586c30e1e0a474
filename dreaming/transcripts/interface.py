"""What a source of transcripts is: it lists files and turns their bytes into sessions.

Write a new one by subclassing ``Source`` and ``Parser``; register it in ``dreaming/wiring.py``.
A source only reads. It never fails a file for one record: what it does not know it counts.
"""

from __future__ import annotations

import os
from abc import ABC, abstractmethod
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import ClassVar

import msgspec

from dreaming.models.session import Session


class Transcript(msgspec.Struct, frozen=True, gc=False):
    """A file that may hold a session, as the listing saw it.

    There may be very many, and most of them are never opened: a path is made when one is.
    """

    agent: str
    place: bytes
    """Its path as the system spells it."""
    device: int
    inode: int
    size: int
    modified_ns: int
    changed_ns: int

    @property
    def path(self) -> Path:
        """Where it lies."""
        return Path(os.fsdecode(self.place))

    @property
    def key(self) -> tuple[str, bytes]:
        """What it is known by: its agent and its place."""
        return self.agent, self.place


class NotASession(msgspec.Struct, frozen=True):
    """A file below a source's folder that holds no session, with the reason in a few words."""

    path: Path
    reason: str
    unreadable: bool = False
    """What it holds is not known: there may be sessions in it."""


class Block(msgspec.Struct, frozen=True):
    """A run of bytes of a transcript, cut at line ends wherever a line is short enough."""

    data: bytes
    first_line: int
    """1-based number of the line that ``data`` begins in."""
    oversized: bool = False
    """``data`` is a piece of one line longer than the limit: scanned, counted, never parsed."""


class Parser(ABC):
    """Turns the blocks of one transcript, in order, into a session; holds its state."""

    @abstractmethod
    def feed(self, block: Block) -> None:
        """Take the next block. Never raises for what the file holds."""

    @abstractmethod
    def finish(self) -> Session:
        """Return what was read. Called once, after the last block."""


class Source(ABC):
    """The transcripts of one agent."""

    agent: ClassVar[str]

    @abstractmethod
    def default_folders(self, environment: Mapping[str, str], home: Path) -> list[Path]:
        """Return the folders this agent writes to, its own environment overrides honoured."""

    @abstractmethod
    def list(self, folder: Path) -> Iterator[Transcript | NotASession]:
        """Yield every regular file below ``folder``, in a stable order, each as what it is.

        Raises ``OSError`` only for ``folder`` itself; below it what cannot be listed is yielded as
        ``NotASession`` with the reason. Symbolic link loops end.
        """

    def keeps_days(self, folder: Path) -> int | None:
        """Return after how many days without a change the agent deletes what is in ``folder``.

        ``None`` where it deletes nothing by itself.
        """
        return None

    @abstractmethod
    def parser(self, transcript: Transcript) -> Parser:
        """Return a fresh parser for this transcript."""
