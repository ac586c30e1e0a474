"""A lesson: one line of the knowledge base."""

from __future__ import annotations

from datetime import date
from pathlib import Path

import msgspec


class Lesson(msgspec.Struct, frozen=True):
    """A line in our grammar, taken apart."""

    day: date
    symptom: str
    rule: str
    id: str
    """8 hex characters, the anchor's; empty for a line that a person wrote without one."""


class KnownLine(msgspec.Struct, frozen=True):
    """One line of prose or list that an agent loads anyway, with the place it stands."""

    path: Path
    number: int
    """1-based."""
    text: str
    lesson: Lesson | None = None
    """Set where the line is in our grammar."""
