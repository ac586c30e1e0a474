"""Reads the knowledge base: every line of it, hand-written or ours."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import msgspec

from dreaming.errors import Unusable
from dreaming.lessons import parse_line
from dreaming.models.lesson import KnownLine
from dreaming.stores import files


class TopicFile(msgspec.Struct, frozen=True):
    """One topic as it lies there."""

    path: Path
    lines: int
    """All of them, headings and blank ones too: what an agent loads and may cut off."""
    bytes: int
    known: tuple[KnownLine, ...]
    """The lines that say something."""

    @property
    def topic(self) -> str:
        """Its name."""
        return self.path.stem

    @property
    def lessons(self) -> int:
        """How many of its lines are in our grammar."""
        return sum(line.lesson is not None for line in self.known)


def read(folder: Path) -> list[KnownLine]:
    """Return the lines of all topics that say something, in a stable order.

    Headings, blank lines and the folder's README are left out. Raises ``Unusable`` where a topic
    cannot be read: deciding against a knowledge base one cannot see would propose what is known.
    """
    return [line for path in topics(folder) for line in read_file(path)]


def topics(folder: Path) -> list[Path]:
    """Return the topic files, sorted."""
    return [path for path in files.matching(folder, "*.md") if path.name != "README.md"]


def read_topics(folder: Path) -> list[TopicFile]:
    """Return every topic with its size and its lines, sorted. Raises ``Unusable`` as ``read``."""
    found = []
    for path in topics(folder):
        text = _text(path)
        lines = text.count("\n") + (not text.endswith("\n") and text != "")
        size = len(text.encode("utf-8"))
        found.append(TopicFile(path, lines, size, tuple(_lines(path, text))))
    return found


def read_file(path: Path) -> Iterator[KnownLine]:
    """Yield the lines of one markdown file that say something."""
    yield from _lines(path, _text(path))


def _text(path: Path) -> str:
    try:
        return path.read_text(encoding="utf-8", errors="replace")
    except OSError as wrong:
        raise Unusable(
            f"{path}: {wrong.strerror}", remedy="Give yourself the right to read it."
        ) from wrong


def _lines(path: Path, text: str) -> Iterator[KnownLine]:
    for number, line in enumerate(text.split("\n"), start=1):
        stripped = line.strip()
        if stripped and not stripped.startswith("#") and not set(stripped) <= set("-=*_`~|: "):
            yield KnownLine(path, number, stripped, parse_line(line.rstrip("\r")))
