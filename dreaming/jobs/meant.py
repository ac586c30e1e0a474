"""What a person means by the beginning of an id: a candidate that waits, a lesson, a decision."""

from __future__ import annotations

from typing import Final

from dreaming.errors import AlreadyKnown, WrongUse
from dreaming.jobs.agreement import holding
from dreaming.jobs.desk import Desk
from dreaming.jobs.past import Past
from dreaming.models.candidate import Candidate
from dreaming.models.decision import Decision
from dreaming.models.lesson import KnownLine
from dreaming.stores import knowledge_reader

SHORTEST: Final = 4
"""Characters of an id, at least, that name it."""


def find(desk: Desk, before: Past, wanted: str) -> Candidate:
    """Return the waiting candidate of that id, or of an id it had before.

    Raises ``WrongUse`` where none or several are, ``AlreadyKnown`` where it was decided.
    """
    if len(wanted) < SHORTEST:
        raise WrongUse(f"{wanted!r} is too short: write {SHORTEST} characters of the id or more.")
    found = [id_ for id_ in desk.pending.ids() if id_.startswith(wanted)] or [
        one.id for one in desk.pending.all() if any(old.startswith(wanted) for old in one.formerly)
    ]
    if len(found) > 1:
        raise WrongUse(f"{wanted} is the beginning of {len(found)} ids; write more of it.")
    if found:
        candidate = desk.pending.get(found[0])
        decided = holding(desk, before, candidate)
        if decided is None:
            return candidate
        raise already(decided)
    decided_ones = [one for id_, one in before.by_candidate().items() if id_.startswith(wanted)]
    if len(decided_ones) == 1:
        raise already(decided_ones[0])
    raise WrongUse(
        f"No candidate {wanted} waits.", remedy="`dreaming pending list` shows what does."
    )


def already(one: Decision) -> AlreadyKnown:
    """Return the error that says when and how a candidate was decided."""
    return AlreadyKnown(
        f"{one.candidate} was decided on {one.at:%Y-%m-%d} by {one.reviewer}: {one.action}.",
        remedy=f"`dreaming undo {one.name}` takes that back.",
    )


def merge_target(desk: Desk, candidate: Candidate, target: str) -> tuple[str, str]:
    """Return what a candidate is merged into: (its id, the lesson's id where it is one)."""
    waiting = [id_ for id_ in desk.pending.ids() if id_.startswith(target) and id_ != candidate.id]
    known = [one.lesson.id for one in lessons(desk, target) if one.lesson]
    if len(target) < SHORTEST or len(waiting) + len(known) != 1:
        raise WrongUse(
            f"{target!r} names {len(waiting)} other candidates and {len(known)} lessons; "
            "one is needed.",
            remedy="`dreaming pending list` shows candidates; a lesson's id stands in its line.",
        )
    return (known[0], known[0]) if known else (waiting[0], "")


def lesson_line(desk: Desk, wanted: str) -> KnownLine:
    """Return the line of the lesson of that id. Raises ``WrongUse`` where not exactly one is."""
    found = lessons(desk, wanted) if len(wanted) >= SHORTEST else []
    if len(found) != 1:
        places = ", ".join(f"{one.path}:{one.number}" for one in found)
        raise WrongUse(
            f"{len(found)} lines are the lesson {wanted!r}{': ' if places else '.'}{places}",
            remedy="A lesson's id stands at the end of its line.",
        )
    return found[0]


def lessons(desk: Desk, wanted: str) -> list[KnownLine]:
    """Return the lines of lessons whose id begins so."""
    return [
        one
        for one in knowledge_reader.read(desk.knowledge_base)
        if one.lesson is not None and one.lesson.id and one.lesson.id.startswith(wanted)
    ]


def to_undo(desk: Desk, before: Past, wanted: str) -> Decision:
    """Return the decision to take back: this writer's last, or the one that is named."""
    if not wanted:
        last = before.last(desk.ledger.writer)
        if last is None:
            raise WrongUse("There is nothing to undo.")
        return last
    if wanted in before.every:
        one = before.every[wanted]
        if one.name in before.void:
            raise AlreadyKnown(f"{one.name} does not stand any more.")
        return one
    found = {
        one.name: one
        for index in (before.by_candidate(), before.by_lesson())
        for id_, one in index.items()
        if id_.startswith(wanted) and len(wanted) >= SHORTEST
    }
    if len(found) != 1:
        raise WrongUse(
            f"{wanted!r} names {len(found)} decisions; one is needed.",
            remedy="`dreaming ledger show` names them.",
        )
    return next(iter(found.values()))
