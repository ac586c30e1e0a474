"""What is known of a name: its words, and how much it says by itself."""

from __future__ import annotations

import msgspec


class Told(msgspec.Struct, frozen=True):
    """A gotcha that has a name, in words."""

    slug: str
    topic: str
    symptom: str
    """One line, at most 200 characters: what goes wrong."""
    rule: str
    """One imperative sentence, at most 200 characters: what to do instead."""
    worth: float
    """How much of such a thing people keep once two sessions show it, 0 to 1: a project's own
    limit is near 1, what every agent learns from the message itself is near 0."""
    roots: int = 2
    """How many root sessions it takes before it is worth a look."""
    anywhere: bool = False
    """Whether sessions of all projects count together: it is about the agent's own program, not
    about a project."""
