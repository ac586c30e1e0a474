"""What the workers tell the screen. Only handlers of these change what is shown."""

from __future__ import annotations

from dataclasses import dataclass

from textual.message import Message

from dreaming.errors import DreamingError
from dreaming.jobs.showing import Detail, Overview, Said


@dataclass
class Loaded(Message):
    """The queue was read."""

    overview: Overview
    select: str = ""
    """Id of the candidate to stand on; empty for the one that was looked at last."""


@dataclass
class Detailed(Message):
    """Everything about the candidate one stands on is there."""

    detail: Detail


@dataclass
class Decided(Message):
    """A decision was made and is on disk."""

    said: Said


@dataclass
class Failed(Message):
    """A decision was not made, and why."""

    wrong: DreamingError
    id: str = ""
