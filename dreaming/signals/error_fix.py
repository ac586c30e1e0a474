"""A call failed, and (perhaps) a related one worked later."""

from __future__ import annotations

from collections.abc import Iterator

from dreaming.models.finding import Excerpt, SignalKind
from dreaming.models.session import ResultStatus, Tool, TurnKind
from dreaming.signals import cues, noise
from dreaming.signals.interface import Walk, action, keep, quote, reads, salient

SOFT_LIMIT = 1500
"""Longer output of a successful call is not searched for hidden failures."""


class ErrorFix:
    """Failed calls, and successful ones whose short output tells of a failure."""

    def find(self, walk: Walk) -> Iterator[Excerpt]:
        """Yield one excerpt a failure."""
        for result, call in walk.call.items():
            turn = walk.turns[result]
            soft = turn.status is ResultStatus.OK
            if turn.status is ResultStatus.DENIED:
                continue
            if soft and not self._hides_failure(walk, call, result):
                continue
            if is_noise(turn.text):
                continue
            excerpt = self._excerpt(walk, call, result, soft=soft)
            realised = cues.REALISED.search(excerpt.remark.lower()) is not None
            if realised or not noise.ORDINARY.search(excerpt.error):
                yield excerpt

    def _hides_failure(self, walk: Walk, call: int, result: int) -> bool:
        made, turn = walk.turns[call], walk.turns[result]
        return (
            made.tool in (Tool.SHELL, Tool.AGENT, Tool.OTHER)
            and len(turn.text) < SOFT_LIMIT
            and cues.SOFT_ERROR.search(turn.text.lower()) is not None
            and not reads(made)
        )

    def _excerpt(self, walk: Walk, call: int, result: int, *, soft: bool) -> Excerpt:
        failed, turn = walk.turns[call], walk.turns[result]
        lines = salient(turn.text)
        fix, said = walk.repair(call, result)
        remark = " ".join(walk.turns[place].text for place in said[:2])
        spoken = walk.words_after(result) if fix is None else None
        added, removed = walk.changes(call, fix) if fix is not None else ((), ())
        quotations = [*quote(turn, lines[0] if lines else "")]
        quotations += [q for place in said[:1] for q in quote(walk.turns[place])]
        if spoken is not None:
            quotations += quote(walk.turns[spoken])
        strength = (1.0 if fix is not None else 0.4) - (0.3 if soft else 0.0)
        strength += 0.4 if cues.REALISED.search(remark.lower()) else 0.0
        return Excerpt(
            kind=SignalKind.ERROR if fix is None else SignalKind.ERROR_FIX,
            line=turn.line,
            record=turn.record,
            at=turn.at,
            folder=turn.folder or failed.folder,
            tool=failed.tool,
            wrong=keep("wrong", action(failed)),
            error=keep("error", "\n".join(lines)),
            remark=keep("remark", remark),
            words=keep("words", walk.turns[spoken].text) if spoken is not None else "",
            right=keep("right", action(walk.turns[fix])) if fix is not None else "",
            added=added,
            removed=removed,
            strength=strength,
            redone=walk.related(call, fix) if fix is not None else 0.0,
            cost=walk.calls_between(result, fix) if fix is not None else 0,
            quotations=tuple(quotations),
        )


def is_noise(text: str) -> bool:
    """Return whether an agent's own program speaks here."""
    return noise.HARNESS.search(text[:400].lower()) is not None


def harness_failures(walk: Walk) -> int:
    """Return how many failures were of handling a tool only, and so left out."""
    return sum(
        1
        for place in walk.places(TurnKind.RESULT)
        if walk.turns[place].status is ResultStatus.ERROR and is_noise(walk.turns[place].text)
    )
