"""A call was denied, by a person or by a rule, and what was done instead."""

from __future__ import annotations

from collections.abc import Iterator

from dreaming.models.finding import Excerpt, SignalKind
from dreaming.models.session import Denier, ResultStatus, TurnKind
from dreaming.motifs import in_words
from dreaming.signals import cues, noise
from dreaming.signals.correction import moment
from dreaming.signals.interface import Walk, action, keep, quote, salient


class Denial:
    """Denied calls, with the person's words where there are any."""

    def find(self, walk: Walk) -> Iterator[Excerpt]:
        """Yield one excerpt a denied call; a question form sent back is none."""
        for call, result in walk.failed(ResultStatus.DENIED):
            spoken = walk.words_after(result)
            said = walk.turns[spoken].text if spoken is not None else ""
            if noise.OUTAGE.search(walk.turns[result].text[:400]):
                continue
            if noise.QUESTIONS.match(said) or noise.QUESTIONS.search(walk.turns[result].text):
                continue
            if spoken is not None and _was_stopped(walk, result, spoken):
                continue
            yield self._excerpt(walk, call, result, spoken)

    def _excerpt(self, walk: Walk, call: int, result: int, spoken: int | None) -> Excerpt:
        denied, turn = walk.turns[call], walk.turns[result]
        fix, remarks = walk.repair(call, result)
        if fix is None and spoken is not None:
            fix = walk.next_call(spoken)
        remark = " ".join(walk.turns[place].text for place in remarks[:2])
        words = walk.turns[spoken].text if spoken is not None else ""
        added, removed = walk.changes(call, fix) if fix is not None else ((), ())
        lines = salient(turn.text)
        quotations = [*quote(walk.turns[spoken])] if spoken is not None else []
        if lines and turn.denier is not Denier.HUMAN:
            quotations += quote(turn, lines[0])
        quotations += [q for place in remarks[:1] for q in quote(walk.turns[place])]
        strength = 1.0 + (0.6 if fix is not None else 0.0)
        strength += 0.4 if cues.REALISED.search(remark.lower()) else 0.0
        return Excerpt(
            kind=SignalKind.DENIAL,
            line=turn.line,
            record=turn.record,
            at=turn.at,
            folder=turn.folder or denied.folder,
            tool=denied.tool,
            wrong=keep("wrong", action(denied)),
            error=keep("error", "\n".join(lines)),
            remark=keep("remark", remark),
            words=keep("words", words),
            right=keep("right", action(walk.turns[fix])) if fix is not None else "",
            added=added,
            removed=removed,
            denier=turn.denier,
            strength=strength,
            redone=walk.related(call, fix) if fix is not None else 0.0,
            quotations=tuple(quotations),
            names=tuple(in_words(words, moment(walk, spoken))) if spoken is not None else (),
        )


def _was_stopped(walk: Walk, result: int, spoken: int) -> bool:
    """Return whether the call ended by an interruption: that is a signal of its own."""
    between = walk.turns[result:spoken]
    return any(turn.kind is TurnKind.INTERRUPTION for turn in between)
