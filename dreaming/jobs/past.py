"""What the ledger comes to: which decisions stand, and which gave way to new evidence.

Every step of every writer in, what holds today out; nothing here touches a file.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable
from datetime import date
from typing import Final

import msgspec

from dreaming.models.candidate import Candidate
from dreaming.models.decision import REDACTION, Action, Decision, Phase, Words
from dreaming.stores.interface import Kept
from dreaming.stores.ledger import ends
from dreaming.stores.pending import render

GROWN: Final = 2
"""What was turned down comes back when its evidence has grown to this many times what it was."""


class Past(msgspec.Struct, frozen=True):
    """The decisions of all writers, each by its first step."""

    every: dict[str, Decision]
    """By name, oldest first."""
    void: frozenset[str]
    """Names of those that were undone, or dropped before they were carried out."""

    @property
    def standing(self) -> list[Decision]:
        """Those that hold, oldest first; an undo is none."""
        return [
            one
            for name, one in self.every.items()
            if name not in self.void and one.action is not Action.UNDO
        ]

    def by_candidate(self) -> dict[str, Decision]:
        """Return the last that holds of each candidate."""
        return {one.candidate: one for one in self.standing if one.candidate}

    def by_lesson(self) -> dict[str, Decision]:
        """Return the last that holds of each lesson."""
        return {one.lesson: one for one in self.standing if one.lesson}

    def words(self) -> Words:
        """Return what is said about hits; of several releases of one transcript the last."""
        said = [one for one in self.standing if one.kind == REDACTION]
        return Words(
            frozenset(one.target for one in said if one.action is Action.ALLOW),
            {
                one.target: frozenset(one.text.split())
                for one in said
                if one.action is Action.RELEASE
            },
        )

    def last(self, writer: str) -> Decision | None:
        """Return a writer's last decision that holds."""
        own = [one for one in self.standing if one.writer == writer]
        return own[-1] if own else None


def read(steps: Iterable[Decision]) -> Past:
    """Return what the steps of all writers, oldest first, come to."""
    every: dict[str, Decision] = {}
    dropped: set[str] = set()
    open_intents: dict[str, Decision] = {}
    for step in steps:
        intent = open_intents.get(step.writer)
        if intent is not None and ends(step, intent):
            del open_intents[step.writer]
            if step.phase is Phase.DROPPED:
                dropped.add(intent.name)
            continue
        every[step.name] = step
        if step.phase is Phase.INTENT:
            open_intents[step.writer] = step
    return Past(every, frozenset(dropped | _undone(every, dropped)))


def _undone(every: dict[str, Decision], dropped: set[str]) -> set[str]:
    """The decisions that an undo takes back; an undo that was itself undone takes nothing back."""
    void: set[str] = set()
    for name, one in reversed(every.items()):
        if one.action is Action.UNDO and name not in void and name not in dropped:
            void.add(one.target)
    return void


def kept(candidate: Candidate, members: Collection[str]) -> Kept:
    """Return what to remember of a candidate that is decided now."""
    return Kept(
        candidate=candidate.id,
        body=render(candidate).decode(),
        excerpts=size(members, candidate.session_ids),
        sessions=frozenset(candidate.session_ids),
    )


def size(members: Collection[str], sessions: Collection[str]) -> int:
    """Return how much evidence there is: excerpts, and never fewer than sessions."""
    return max(len(members), len(sessions))


def gives_way(
    decision: Decision, before: Kept | None, excerpts: int, sessions: Collection[str], today: date
) -> bool:
    """Whether a decision no longer keeps a candidate away that has this evidence today.

    What was turned down or retired comes back only when its evidence has at least doubled and a new
    session joined; where the state that knew it was lost, it stays away. What was put off comes
    back when its day or its number of new sessions comes; where the state was lost, at once.
    """
    if before is not None and before.candidate != decision.candidate:
        before = None  # remembered for a decision of that name which a crash prevented
    new = frozenset(sessions) - (before.sessions if before else frozenset())
    if decision.action in (Action.REJECT, Action.RETIRE):
        return before is not None and excerpts >= GROWN * before.excerpts and bool(new)
    if decision.action is Action.LATER:
        day = decision.until_day
        if day is not None:
            return today >= day
        return before is None or len(new) >= int(decision.until)
    return False
