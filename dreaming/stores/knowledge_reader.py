"""Reads the knowledge base: every line of it, hand-written or ours."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

from dreaming.errors import Unusable
from dreaming.lessons import parse_line
from dreaming.models.lesson import KnownLine


def read(folder: Path) -> list[KnownLine]:
    """Return the lines of all topics that say something, in a stable order.

    Headings, blank lines and the folder's README are left out. Raises ``Unusable`` where a topic
    cannot be read: deciding against a knowledge base one cannot see would propose what is known.
    """
    return [line for path in topics(folder) for line in read_file(path)]


def topics(folder: Path) -> list[Path]:
    """Return the topic files, sorted."""
    try:
        found = sorted(folder.glob("*.md"))
    except OSError as wrong:
        raise Unusable(f"{folder}: {wrong.strerror}") from wrong
    return [path for path in found if path.name != "README.md" and path.is_file()]


def read_file(path: Path) -> Iterator[KnownLine]:
    """Yield the lines of one markdown file that say something."""
    try:
        text = path.read_text(encoding="utf-8", errors="replace")
    except OSError as wrong:
        raise Unusable(
            f"{path}: {wrong.strerror}", remedy="Give yourself the right to read it."
        ) from wrong
    for number, line in enumerate(text.split("\n"), start=1):
        stripped = line.strip()
        if stripped and not stripped.startswith("#") and not set(stripped) <= set("-=*_`~|: "):
            yield KnownLine(path, number, stripped, parse_line(line.rstrip("\r")))
