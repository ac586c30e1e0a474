"""The second look: which findings of all nights are about one gotcha, from their words alone.

A model that sees one night's excerpts cannot know how an earlier night worded the same gotcha. So
the findings, one line each, are put to it once more, without any excerpt.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Final

import msgspec

from dreaming.models.finding import Complaint
from dreaming.models.session import OWN_RUN_MARK
from dreaming.packets import as_data, estimate_tokens
from dreaming.tasks.answers import NotTaken, Reason, parse, word
from dreaming.tasks.interface import Request
from dreaming.tasks.mining import as_object, digest, said_back, say_back

TASK_VERSION: Final = "joining-2"
"""Goes up whenever the same statements should be asked about anew."""


class Statement(msgspec.Struct, frozen=True):
    """What findings of one or several sessions say, in the words of one of them."""

    sessions: tuple[str, ...]
    slug: str
    topic: str
    symptom: str
    rule: str

    @property
    def tokens(self) -> int:
        """How much of a request it takes."""
        return estimate_tokens([_line(9999, self)])


def request(
    statements: Sequence[Statement], *, prompt: str, identity: str, attempt: int = 1
) -> Request:
    """Return the question which of these statements are about one gotcha, numbered from ``f1``."""
    lines = "\n".join(_line(number, one) for number, one in enumerate(statements, start=1))
    hash_ = digest([TASK_VERSION, prompt, identity, str(attempt), lines])
    asked = word(hash_, prompt)
    return Request(
        packets=(),
        system=prompt,
        prompt=f"{OWN_RUN_MARK}\n\nThe statements:\n\n{lines}\n{say_back(asked)}",
        hash=hash_,
        word=asked,
        sessions=tuple(sorted({id_ for one in statements for id_ in one.sessions})),
        backend=identity.partition(":")[0],
        schema=_schema(asked),
    )


def read(
    text: str, statements: Sequence[Statement], word: str = ""
) -> tuple[list[tuple[int, ...]], list[Complaint]]:
    """Return the lists of places (from 0) of statements that are one, and what cannot be used.

    ``word`` is what the question asked back. No statement is in two lists.
    """
    try:
        root = parse(text, word, (f"{one.symptom} {one.rule}" for one in statements))
        lists = root.get("same") if isinstance(root, dict) else None
        if not isinstance(lists, list):
            raise NotTaken(Reason.WRONG_SHAPE)
    except NotTaken as problem:
        return [], [Complaint(problem.reason, problem.detail, whole=True)]
    places = {f"f{place + 1}": place for place in range(len(statements))}
    found: list[tuple[int, ...]] = []
    complaints: list[Complaint] = []
    for item in lists:
        labels = item if isinstance(item, list) else [None]
        here = [places.pop(one, None) if isinstance(one, str) else None for one in labels]
        if None in here:
            complaints.append(Complaint(Reason.UNKNOWN_NUMBER, "in a list of statements"))
        known = tuple(sorted(place for place in here if place is not None))
        if len(known) > 1:
            found.append(known)
    return found, complaints


def _line(number: int, one: Statement) -> str:
    words = as_data(f"{one.slug} ({one.topic}): {one.symptom} => {one.rule}")
    return f"[f{number}]\n  | {' '.join(words.split())}"


def _schema(word: str) -> dict[str, object]:
    lists = {"type": "array", "items": {"type": "array", "items": {"type": "string"}}}
    return as_object({**said_back(word), "same": lists})
