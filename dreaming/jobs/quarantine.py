"""Answers that could not be used: what there is, and reading one again without asking again."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable

import msgspec

from dreaming.backends.interface import NotReadOnly
from dreaming.errors import DreamingError, Refused, WrongUse
from dreaming.jobs.asking import in_words, mark, within
from dreaming.jobs.listing import PURPOSE
from dreaming.models.report import Spent, iso
from dreaming.stores.answers import Answers, KeptAnswer
from dreaming.stores.history import History
from dreaming.stores.interface import Project
from dreaming.stores.state import State
from dreaming.tasks import mining
from dreaming.tasks.interface import Request


class Quarantined(msgspec.Struct):
    """An answer that could not be used, without its text."""

    id: str
    at: str
    backend: str
    why: str
    sessions: int
    bytes: int
    replayed: bool
    """Whether it was read after all."""


class Replayed(msgspec.Struct):
    """What came of reading an answer again."""

    findings: int
    complaints: dict[str, int]
    waiting: int
    """Excerpts it is about that no night has settled: the next night reads it for them."""


def listed(answers: Answers) -> list[Quarantined]:
    """Return every answer that could not be used, newest first."""
    found = [
        Quarantined(
            id=name,
            at=iso(at),
            backend=kept.backend,
            why=kept.why or "the answer was cut short",
            sessions=len(kept.about),
            bytes=len(kept.text.encode()),
            replayed=answers.get(_replayed(name)) is not None,
        )
        for name, kept, at in answers.unusable()
    ]
    return sorted(found, key=lambda one: (one.at, one.id), reverse=True)


def find(
    answers: Answers, beginning: str, is_clean: Callable[[str], bool]
) -> tuple[str, KeptAnswer]:
    """Return the one whose id begins so; raises ``WrongUse`` where there are none or several.

    Raises ``Refused`` where its text has by today's rules the shape of a credential.
    """
    found = [one for one in answers.unusable() if one[0].startswith(beginning)]
    if len(found) != 1:
        raise WrongUse(
            f"{len(found)} answers in quarantine begin with {beginning}.",
            remedy="`dreaming quarantine list` names them.",
        )
    name, kept, _ = found[0]
    _check(kept.text, is_clean)
    return name, kept


def replay(
    answers: Answers,
    state: State,
    belongs: Callable[[Project], bool],
    is_clean: Callable[[str], bool],
    beginning: str,
    text: str | None,
    now: float,
) -> Replayed:
    """Read an answer again, or ``text`` in its stead, and take the findings it now gives.

    What came stays as it is. Raises ``DreamingError`` where it still cannot be read, and
    ``Refused`` where it may not be believed. Hold the run's lock.
    """
    name, kept = find(answers, beginning, is_clean)
    if kept.why.startswith(in_words(NotReadOnly)):
        raise Refused(f"{name[:12]}: its model was offered a tool, so nothing of it is believed.")
    if not kept.about:
        raise WrongUse(f"{name[:12]} is about no excerpts; the next night asks that again.")
    word = kept.word if text is None else ""  # a person vouches for what a person wrote
    text = kept.text if text is None else text
    _check(text, is_clean)
    ids = [id_ for _, told in kept.about for _, id_, _ in told]
    settled = {(one.id, mark(one)): one for one in History(state, belongs).some(ids)}
    packets, backend = tuple(within(kept, settled)), kept.backend.partition(":")[0]
    request = Request(packets, "", "", name, backend=backend, word=word)
    findings, complaints = mining.read(text, request)
    for one in complaints:
        if one.whole:
            raise DreamingError(
                f"{name[:12]} still cannot be read: {one.reason}.",
                remedy="Mend a copy of what `dreaming quarantine show` prints, and name it by "
                "--file.",
            )
    left = tuple(
        (session, tuple(one for one in told if one[1:] not in settled))
        for session, told in kept.about
    )
    left = tuple(one for one in left if one[1])
    again, sessions = _replayed(name), [session for session, _ in kept.about]
    read = KeptAnswer(text, backend=kept.backend, about=left or kept.about, word=word)
    answers.keep(again, read)
    outcome = "asked" if left else "answered"
    state.settle(
        PURPOSE,
        [],
        now=now,
        findings=[(again, one) for one in findings],
        requests=[(again, again, outcome, sessions, Spent())],
    )
    waiting = sum(len(told) for _, told in left)
    return Replayed(len(findings), Counter(str(one.reason) for one in complaints), waiting)


def _check(text: str, is_clean: Callable[[str], bool]) -> None:
    if not is_clean(text):
        raise Refused("It holds the shape of a credential.")


def _replayed(name: str) -> str:
    return mining.digest([name, "replayed"])
