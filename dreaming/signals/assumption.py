"""A call ended well, the model then says that it had assumed wrongly, and does it another way."""

from __future__ import annotations

from collections.abc import Iterator

from dreaming.models.finding import Excerpt, SignalKind
from dreaming.models.session import ResultStatus, Tool, TurnKind
from dreaming.signals import cues
from dreaming.signals.interface import Walk, action, keep, quote, reads, salient


class Assumption:
    """Remarks between two runs of the same thing, or with several words of realising."""

    def find(self, walk: Walk) -> Iterator[Excerpt]:
        """Yield one excerpt a remark; what readers return is never the source of one."""
        turns = walk.turns
        for said in walk.places(TurnKind.ASSISTANT):
            following = said + 1
            if following >= len(turns) or turns[following].kind is not TurnKind.CALL:
                continue
            result = walk.before(said, TurnKind.RESULT, 2)
            call = walk.call.get(result) if result is not None else None
            if result is None or call is None or turns[result].status is not ResultStatus.OK:
                continue
            excerpt = self._judge(walk, call, result, said)
            if excerpt is not None:
                yield excerpt

    def _judge(self, walk: Walk, call: int, result: int, said: int) -> Excerpt | None:
        made, turn, remark, following = (
            walk.turns[call],
            walk.turns[result],
            walk.turns[said],
            said + 1,
        )
        hits = len(cues.REALISED.findall(remark.text[:1500]))
        if not hits and made.tool is not Tool.SHELL:
            return None
        related = walk.related(call, following)
        again = related > 0.5 and made.tool is Tool.SHELL and not reads(made)
        if not (hits >= 2 or (hits and related > 0.2) or again):
            return None
        added, removed = walk.changes(call, following)
        return Excerpt(
            kind=SignalKind.ASSUMPTION,
            line=remark.line,
            record=remark.record,
            at=remark.at,
            folder=remark.folder or made.folder,
            tool=made.tool,
            wrong=keep("wrong", action(made)),
            error="" if reads(made) else keep("error", "\n".join(salient(turn.text, 2))),
            remark=keep("remark", remark.text),
            right=keep("right", action(walk.turns[following])),
            added=added,
            removed=removed,
            strength=0.4 + 0.3 * min(3, hits) + (0.4 if related > 0.35 else 0.0),
            redone=related,
            quotations=tuple(quote(remark)),
        )
