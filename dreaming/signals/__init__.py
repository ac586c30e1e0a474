"""What in a session may carry a lesson: one file a signal, one door for all of them."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Final

import msgspec

from dreaming.models.finding import Excerpt, SignalKind
from dreaming.models.session import ResultStatus, Session, TurnKind
from dreaming.signals.assumption import Assumption
from dreaming.signals.cannot import Cannot
from dreaming.signals.correction import Correction
from dreaming.signals.denial import Denial
from dreaming.signals.error_fix import ErrorFix, harness_failures
from dreaming.signals.interface import Signal, Walk
from dreaming.signals.interruption import Interruption
from dreaming.signals.rejection import Rejection
from dreaming.similarity import distinct, stem

SIGNALS: Final[tuple[Signal, ...]] = (
    ErrorFix(),
    Denial(),
    Interruption(),
    Correction(),
    Assumption(),
    Cannot(),
    Rejection(),
)
MINING_VERSION: Final = "6"
"""Goes up whenever a transcript would give other excerpts: then it is read again."""
_FAILURES: Final = frozenset({SignalKind.ERROR, SignalKind.ERROR_FIX, SignalKind.DENIAL})
LEAST: Final = 0.5
"""Weaker excerpts are left out and counted."""
TERMS: Final = 600
"""How much of each turn counts for how rare a token is, in characters."""
SHORT_RESULT: Final = 3000
"""Longer results are documents; their words say nothing about the session."""


class Mined(msgspec.Struct, frozen=True):
    """The excerpts of one session, and what was left out of it, by reason."""

    excerpts: list[Excerpt]
    left_out: dict[str, int]


def mine(session: Session) -> Mined:
    """Return what carries signal in a redacted session, in the order of its turns."""
    if session.own_run:
        return Mined([], {"own-run": 1})
    walk = Walk(session)
    found = [excerpt for signal in SIGNALS for excerpt in signal.find(walk)]
    strong = [excerpt for excerpt in found if excerpt.strength >= LEAST and excerpt.quotations]
    best: dict[tuple[int, str], Excerpt] = {}
    for excerpt in _named(strong):
        place = (excerpt.line, excerpt.aspect)
        if place not in best or excerpt.strength > best[place].strength:
            best[place] = excerpt
    left_out = {
        "harness": harness_failures(walk),
        "weak": len(found) - len(strong),
        "same-line": len(strong) - len(best),
    }
    return Mined(
        [best[place] for place in sorted(best)],
        {reason: count for reason, count in left_out.items() if count},
    )


def _named(found: Sequence[Excerpt]) -> Iterator[Excerpt]:
    """Give the failure of a line the first name that its output has, instead of saying it twice."""
    failures = {excerpt.line: excerpt for excerpt in found if excerpt.kind in _FAILURES}
    for excerpt in found:
        if excerpt.kind is SignalKind.REJECTION:
            failure = failures.get(excerpt.line)
            if failure is not None and failure.wrong == excerpt.wrong:
                del failures[excerpt.line]
                told = "".join(quotation.text for quotation in excerpt.quotations)
                more = (one for one in failure.quotations if one.text not in told)
                excerpt = msgspec.structs.replace(
                    failure,
                    names=(*failure.names, *excerpt.names),
                    quotations=(*excerpt.quotations, *more),
                    cost=excerpt.cost,
                )
        elif excerpt is failures.get(excerpt.line):
            continue
        yield excerpt
    yield from failures.values()


def excerpts(session: Session) -> list[Excerpt]:
    """Return the excerpts of a redacted session, in the order of its turns."""
    return mine(session).excerpts


def terms(session: Session) -> frozenset[str]:
    """Return the distinct tokens of a session and their stems, for how rare each is.

    Commands, remarks, words and short results count, each turn only with its beginning.
    """
    texts: set[str] = set()
    for turn in session.turns:
        if turn.kind is TurnKind.CALL:
            half = TERMS // 2
            texts |= {turn.action[:TERMS], turn.before[:half], turn.after[:half]}
        elif turn.kind in (TurnKind.USER, TurnKind.ASSISTANT) or (
            turn.kind is TurnKind.RESULT
            and (len(turn.text) < SHORT_RESULT or turn.status is not ResultStatus.OK)
        ):
            texts.add(turn.text[:TERMS])
    seen = distinct(texts)
    return seen.union(map(stem, seen))
