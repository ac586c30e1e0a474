"""A call ended well, the model then says that it had assumed wrongly, and does it another way."""

from __future__ import annotations

from collections.abc import Iterator, Mapping

from msgspec import structs

from dreaming.models.finding import Excerpt, SignalKind
from dreaming.models.session import ResultStatus, Tool, TurnKind
from dreaming.motifs import in_remark
from dreaming.signals import cues
from dreaming.signals.correction import spoken
from dreaming.signals.interface import Walk, action, keep, quote, reads, salient

REACH = 8
"""How many turns back a command still is what a remark is about."""
NAMED = 0.5
"""How strong a remark is at least that admits a fault with a name."""


class Assumption:
    """Remarks between two runs of the same thing, with several words of realising, or that admit a
    fault with a name."""

    def find(self, walk: Walk) -> Iterator[Excerpt]:
        """Yield one excerpt a remark; what readers return is never the source of one."""
        for said in walk.places(TurnKind.ASSISTANT):
            excerpt = self._between(walk, said)
            names = in_remark(walk.turns[said].text, self._commands(walk, said))
            if names and excerpt is not None:
                strength = max(excerpt.strength, NAMED)
                excerpt = structs.replace(excerpt, names=tuple(names), strength=strength)
            elif names:
                excerpt = self._admitted(walk, said, names)
            if excerpt is not None:
                yield excerpt

    def _commands(self, walk: Walk, said: int) -> list[str]:
        before = walk.turns[max(0, said - REACH) : said]
        return [turn.action for turn in before if turn.kind is TurnKind.CALL]

    def _admitted(self, walk: Walk, said: int, names: Mapping[str, str]) -> Excerpt | None:
        """Return the excerpt of a fault that the model names after a result or a person's words."""
        remark = walk.turns[said]
        result, asked = walk.before(said, TurnKind.RESULT, 3), walk.before(said, TurnKind.USER, 1)
        if result is None and asked is None:
            return None
        call, following = (
            walk.call.get(result) if result is not None else None,
            walk.next_call(said, 1),
        )
        return Excerpt(
            kind=SignalKind.ASSUMPTION,
            line=remark.line,
            record=remark.record,
            at=remark.at,
            folder=remark.folder,
            tool=walk.turns[call].tool if call is not None else Tool.OTHER,
            wrong=keep("wrong", action(walk.turns[call])) if call is not None else "",
            remark=keep("remark", "\n".join(dict.fromkeys(names.values()))),
            right=keep("right", action(walk.turns[following])) if following is not None else "",
            strength=NAMED,
            quotations=tuple(spoken(remark, dict.fromkeys(names.values()))),
            names=tuple(names),
        )

    def _between(self, walk: Walk, said: int) -> Excerpt | None:
        turns, following = walk.turns, said + 1
        if following >= len(turns) or turns[following].kind is not TurnKind.CALL:
            return None
        result = walk.before(said, TurnKind.RESULT, 2)
        call = walk.call.get(result) if result is not None else None
        if result is None or call is None or turns[result].status is not ResultStatus.OK:
            return None
        return self._judge(walk, call, result, said)

    def _judge(self, walk: Walk, call: int, result: int, said: int) -> Excerpt | None:
        made, turn, remark, following = (
            walk.turns[call],
            walk.turns[result],
            walk.turns[said],
            said + 1,
        )
        hits = len(cues.REALISED.findall(remark.text[:1500].lower()))
        retried = made.tool is Tool.SHELL and not reads(made)
        if not hits and not retried:
            return None
        related = walk.related(call, following)
        again = related > 0.5 and retried
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
