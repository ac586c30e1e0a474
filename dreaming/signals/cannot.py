"""A restricted agent says what it structurally cannot do."""

from __future__ import annotations

from collections.abc import Iterator

from dreaming.models.finding import Excerpt, SignalKind
from dreaming.models.session import SessionKind, Speaker, Tool, TurnKind
from dreaming.motifs import in_limits
from dreaming.signals import cues
from dreaming.signals.interface import Walk, keep, quote

LONGEST = 1200
"""In longer texts "cannot" is about the work, not about the agent."""


class Cannot:
    """Statements of subagents, and of models that answer without having tried anything."""

    def find(self, walk: Walk) -> Iterator[Excerpt]:
        """Yield one excerpt a statement, with the prompt that asked for it."""
        for place in walk.places(TurnKind.ASSISTANT):
            turn = walk.turns[place]
            after_call = place > 0 and walk.turns[place - 1].kind is TurnKind.CALL
            if len(turn.text) >= LONGEST or (after_call and not walk.restricted):
                continue
            if not cues.CANNOT.search(turn.text[:500].lower()):
                continue
            asked = walk.before(place, TurnKind.USER, 2)
            prompt = walk.turns[asked] if asked is not None else None
            yield Excerpt(
                kind=SignalKind.CANNOT,
                line=turn.line,
                record=turn.record,
                at=turn.at,
                folder=turn.folder,
                tool=Tool.OTHER,
                remark=keep("remark", turn.text),
                words=keep("words", prompt.text) if prompt is not None else "",
                words_by=prompt.speaker if prompt is not None else Speaker.HARNESS,
                strength=1.2 if walk.restricted else 0.8,
                quotations=tuple(quote(turn)),
                names=tuple(in_limits(turn.text)) if _by_program(walk) else (),
            )


def _by_program(walk: Walk) -> bool:
    """Return whether no person drives the session: another model does, or a script."""
    return walk.restricted or walk.kind is SessionKind.HEADLESS
