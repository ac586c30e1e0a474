"""What agents load anyway in a project: CLAUDE.md and AGENTS.md. A lesson there is known."""

from __future__ import annotations

from collections.abc import Iterable
from pathlib import Path
from typing import Final

from dreaming.errors import Unusable
from dreaming.models.lesson import KnownLine
from dreaming.stores.knowledge_reader import read_file

NAMES: Final = ("CLAUDE.md", "AGENTS.md", "CLAUDE.local.md", ".claude/CLAUDE.md")
_LARGEST: Final = 1_000_000
"""Bytes; a larger file is not one that agents load."""


def read(folders: Iterable[str]) -> tuple[list[KnownLine], list[str]]:
    """Return the lines of what agents load in these folders, and what was not readable."""
    lines: list[KnownLine] = []
    unreadable: list[str] = []
    for path in _paths(folders):
        try:
            lines += read_file(path)
        except Unusable as wrong:
            unreadable.append(wrong.message)
    return lines, unreadable


def _paths(folders: Iterable[str]) -> list[Path]:
    found: dict[Path, None] = {}
    for folder in sorted({one for one in folders if one.startswith("/")}):
        for place in _up_to_repository(Path(folder)):
            for name in NAMES:
                path = place / name
                if _is_small_file(path):
                    found[path.resolve()] = None
    return list(found)


def _up_to_repository(folder: Path) -> list[Path]:
    """The folder and its parents up to the repository's root; the folder alone outside one."""
    places = [folder, *folder.parents]
    for number, place in enumerate(places):
        if _exists(place / ".git"):
            return places[: number + 1]
    return places[:1]


def _exists(path: Path) -> bool:
    try:
        return path.exists()
    except OSError:
        return False  # a folder we may not look into holds nothing an agent of ours loads


def _is_small_file(path: Path) -> bool:
    try:
        return path.is_file() and path.stat().st_size <= _LARGEST
    except OSError:
        return False  # as above
