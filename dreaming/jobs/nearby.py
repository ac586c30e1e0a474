"""What the knowledge base and the ledger hold that is the same as a lesson, or near it."""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence
from pathlib import Path
from typing import Final

from dreaming.errors import AlreadyKnown
from dreaming.jobs.desk import NearlyKnown, Neighbour
from dreaming.jobs.past import Past
from dreaming.known.near import PRECISE, SHOWN, Near, Said
from dreaming.lessons import same_key
from dreaming.models.decision import Action
from dreaming.models.lesson import KnownLine
from dreaming.stores.ledger import Ledger

_MARKS: Final = re.compile(r"^[\s>*+\-\d.)]*(?:\[\d{4}-\d\d-\d\d\])?\s*|<!--.*?-->")
"""What a hand-written line may begin with, and comments in it."""


def known_line(
    lines: Iterable[KnownLine], symptom: str, rule: str, lesson: str
) -> KnownLine | None:
    """Return the line that says the same after normalising, hand-written or ours.

    The same rule is the same lesson, whatever its symptom; so is the same id.
    """
    wanted = same_key(rule)
    both = {wanted, same_key(f"{symptom} {rule}")}
    for line in lines:
        if line.lesson is not None:
            if same_key(line.lesson.rule) == wanted or line.lesson.id == lesson:
                return line
        elif same_key(_MARKS.sub("", line.text)) in both:
            return line
    return None


def neighbours(
    lines: Sequence[KnownLine],
    past: Past,
    ledger: Ledger,
    symptom: str,
    rule: str,
    limit: int = SHOWN,
) -> list[Neighbour]:
    """Return the lines closest to a lesson, closest first: lessons, hand-written, and rejected."""
    rejected = [one for one in past.standing if one.action is Action.REJECT and one.text]
    said = [_said(line) for line in lines] + [Said("", rule=one.text) for one in rejected]
    found: list[Neighbour] = []
    for place, likeness in Near(said).closest(symptom, rule, limit):
        if place < len(lines):
            line = lines[place]
            id_ = line.lesson.id if line.lesson else ""
            found.append(Neighbour(line.path, line.number, line.text, likeness, "lesson", id_))
        else:
            one = rejected[place - len(lines)]
            path = ledger.folder / f"reviewed-{one.writer}.jsonl"
            found.append(Neighbour(path, one.seq, one.text, likeness, "rejected"))
    return found


def refuse_known(line: KnownLine | None, wanted: str) -> None:
    """Stop where a line says the same. Raises ``AlreadyKnown`` naming file and line."""
    if line is not None:
        raise AlreadyKnown(
            f"Known already: {_place(line.path, line.number)}: {line.text}",
            remedy=f"`dreaming reject {wanted[:8]} --why known` takes it off the queue."
            if wanted
            else "",
        )


def refuse_near(found: Sequence[Neighbour]) -> None:
    """Stop where the closest lesson is near enough to be taken for the same.

    A rejected rule does not stop a person; it is shown. Raises ``NearlyKnown``.
    """
    same = [one for one in found if one.kind == "lesson" and one.likeness >= PRECISE]
    if same:
        raise NearlyKnown(
            f"Nearly known: {_place(same[0].path, same[0].number)}: {same[0].text}",
            tuple(found),
            remedy="Add --force WHY if it is another lesson; the reason goes to the ledger.",
        )


def _said(line: KnownLine) -> Said:
    if line.lesson is None:
        return Said(_MARKS.sub("", line.text))
    return Said(line.text, line.lesson.symptom, line.lesson.rule)


def _place(path: Path, number: int) -> str:
    return f"{path}:{number}"
