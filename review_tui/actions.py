"""The one table of actions: keys, footer, help and the plain form are made of it."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Final

import msgspec

from dreaming.errors import Unusable


class Action(msgspec.Struct, frozen=True):
    """Something a person can ask for by one key."""

    name: str
    key: str
    word: str
    """For the footer."""
    meaning: str
    """For the help."""
    decides: bool = False
    """Guarded against pasted and held keys, and off where nothing can be seen."""
    plain: bool = True
    """Whether the linear form has it."""


ACTIONS: Final = (
    Action("accept", "a", "accept", "Write its line into the knowledge base.", decides=True),
    Action("edit", "e", "edit", "Change symptom, rule or topic, look at it, accept.", decides=True),
    Action(
        "reject",
        "x",
        "reject",
        "Turn it down for a reason; only much new evidence brings it back.",
        decides=True,
    ),
    Action(
        "merge",
        "m",
        "merge",
        "Say that it is the same as a lesson or another candidate.",
        decides=True,
    ),
    Action(
        "later",
        "s",
        "later",
        "Put it off until a day or until new sessions have it.",
        decides=True,
    ),
    Action(
        "undo", "u", "undo", "Take the last decision back; again for the one before.", decides=True
    ),
    Action("evidence", "v", "evidence", "Read everything the sessions said."),
    Action("diff", "d", "diff", "Compare with what is known, word by word."),
    Action(
        "mark",
        "space",
        "mark",
        "Mark it; accept, reject and later then ask about all that are marked.",
        plain=False,
    ),
    Action("filter", "/", "filter", "Show only what has these words.", plain=False),
    Action("help", "?", "help", "This page."),
    Action("quit", "q", "quit", "Leave; everything decided is kept already."),
)

MOVES: Final = (
    ("j k ↓ ↑", "one down, one up"),
    ("g G", "first, last"),
    ("PgDn PgUp", "a page"),
    ("Tab", "the other pane"),
    ("Esc", "back; clears filter and marks"),
)
"""How to get about; none of it decides."""

TAKEN: Final = frozenset({"j", "k", "g", "G", "up", "down", "enter", "tab", "escape", "backspace"})


def table(chosen: Mapping[str, str] | None = None) -> dict[str, Action]:
    """Return the actions by key, with the keys a person chose (action name to key).

    Raises ``Unusable`` where a name is none, or a key is no single letter or is taken.
    """
    wishes = dict(chosen or {})
    names = {one.name for one in ACTIONS}
    for name, key in wishes.items():
        if name not in names:
            raise Unusable(
                f"keys.{name}: there is no such action.",
                remedy=f"There are {', '.join(sorted(names))}.",
            )
        if key in TAKEN or not (key == "space" or (len(key) == 1 and key.isprintable())):
            raise Unusable(
                f"keys.{name}: {key!r} cannot be a key here.",
                remedy="Choose one letter, digit or sign that does not move.",
            )
    found: dict[str, Action] = {}
    for one in ACTIONS:
        moved = msgspec.structs.replace(one, key=wishes.get(one.name, one.key))
        if moved.key in found:
            raise Unusable(
                f"keys.{one.name}: {moved.key!r} is taken by {found[moved.key].name}.",
                remedy="Give each action a key of its own.",
            )
        found[moved.key] = moved
    return found


def key_of(keys: Mapping[str, Action], name: str) -> str:
    """Return the key that asks for an action."""
    return next(key for key, action in keys.items() if action.name == name)
