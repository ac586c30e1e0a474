"""A person corrected what was done: by structure first, by their words second."""

from __future__ import annotations

from collections.abc import Iterable, Iterator

from msgspec import structs

from dreaming.models.finding import Excerpt, Quotation, SignalKind
from dreaming.models.session import ResultStatus, Tool, Turn, TurnKind
from dreaming.motifs import Moment, in_words
from dreaming.signals import cues
from dreaming.signals.interface import Walk, action, is_person, keep, quote, salient
from dreaming.similarity import tokens

LONGEST = 700
"""Longer words are a task, a paste or a review: no correction by their structure."""


WORK = 60
"""How many turns back an edit still is the work that the words are about."""
ENDS = 600
"""How much of both ends of a report is looked at, in characters."""
_EDITS = (Tool.EDIT, Tool.WRITE)
NAMED = 0.5
"""How strong words are at least that voice a standing wish."""


class Correction:
    """What a person said after an action, where the next action shows that it was a correction.

    A standing wish that has a name ("are there tests for this?") needs no such action.
    """

    def find(self, walk: Walk) -> Iterator[Excerpt]:
        """Yield one excerpt a correction. Plain approval is none; a first prompt by words only."""
        for place in walk.places(TurnKind.USER):
            turn = walk.turns[place]
            if (
                not is_person(turn)
                or cues.APPROVAL.match(turn.text.lower())
                or _answers_a_stop(walk, place)
            ):
                continue
            yield from described(walk, place, SignalKind.CORRECTION)


def moment(walk: Walk, place: int) -> Moment:
    """Return what stood before a person's words."""
    before = walk.turns[max(0, place - WORK) : place]
    said = walk.before(place, TurnKind.ASSISTANT, 6)
    report = walk.turns[said].text if said is not None else ""
    report = (report[:ENDS] + report[-ENDS:]).lower()
    edits = [turn for turn in before if turn.tool in _EDITS]
    last = [turn.action[:ENDS].lower() for turn in before[-20:] if turn.tool is Tool.SHELL]
    found = Moment.FIRST if place == walk.first_prompt and said is None else Moment.NONE
    if cues.DONE.search(report):
        found |= Moment.DONE
    if edits or (Moment.DONE in found and before):
        found |= Moment.WORK
    if cues.COMMITTED.search("\n".join([*last, report])):
        found |= Moment.COMMIT
    if any(cues.DOCUMENT.search(turn.action[:300].lower()) for turn in edits[-2:]):
        found |= Moment.DOCS
    if _answers_a_stop(walk, place):
        found |= Moment.STOPPED
    return found


def _answers_a_stop(walk: Walk, place: int) -> bool:
    """Return whether these words follow an interruption or a denial: those have their signals."""
    for back in range(place - 1, max(-1, place - 3), -1):
        turn = walk.turns[back]
        if turn.kind is TurnKind.INTERRUPTION or turn.status is ResultStatus.DENIED:
            return True
    return False


def described(walk: Walk, place: int, kind: SignalKind) -> Iterator[Excerpt]:
    """Yield the excerpt of a person's words, where something says they correct.

    Each standing wish in them makes one of its own, so that each is counted.
    """
    turn = walk.turns[place]
    names = in_words(turn.text, moment(walk, place))
    stopped = kind is SignalKind.INTERRUPTION
    hints, strong, corrects = 0, False, stopped
    prior, following = walk.before(place, TurnKind.CALL, 5), walk.next_call(place)
    redone = walk.related(prior, following) if prior is not None and following is not None else 0.0
    if stopped or (place != walk.first_prompt and len(turn.text) <= LONGEST):
        words = turn.text.lower()
        hints = len(set(cues.CORRECTION.findall(words)))
        strong = cues.STRONG.search(words) is not None
        again = redone > 0.4 and len(turn.text) < 400
        corrects = stopped or strong or again or hints >= 2
        corrects = corrects or (hints > 0 and len(turn.text) < 140)
    if not corrects and not names:
        return
    wrong, error = _what_was_wrong(walk, place, prior)
    added, removed = walk.changes(prior, following) if following is not None else ((), ())
    linked = float(bool(frozenset(tokens(turn.text)) & frozenset(added)))
    strength = 1.0 if stopped else 0.3 if (strong or hints) else 0.05
    strength += 0.25 * min(3, hints) + (0.3 if strong else 0.0)
    strength += 0.5 * linked + (0.4 if redone > 0.3 else 0.0)
    said = [*dict.fromkeys(names.values())]
    excerpt = Excerpt(
        kind=kind,
        line=turn.line,
        record=turn.record,
        at=turn.at,
        folder=turn.folder,
        tool=walk.turns[prior].tool if prior is not None else walk.turns[place].tool,
        wrong=keep("wrong", wrong),
        error=keep("error", error),
        words=keep("words", turn.text if corrects else "\n".join(said)),
        words_by=turn.speaker,
        right=keep("right", action(walk.turns[following])) if following is not None else "",
        added=added,
        removed=removed,
        strength=max(strength, NAMED) if names else strength,
        linked=linked,
        redone=redone,
        quotations=tuple(quote(turn) if corrects else spoken(turn, said)),
        names=tuple(names),
    )
    if len(names) < 2:
        yield excerpt
        return
    for name, run in names.items():
        yield structs.replace(excerpt, names=(name,), quotations=tuple(spoken(turn, [run])))


def spoken(turn: Turn, said: Iterable[str]) -> list[Quotation]:
    """Return the runs of a turn that carry its names, else its beginning."""
    return [one for run in said for one in quote(turn, run)] or [*quote(turn)]


def _what_was_wrong(walk: Walk, place: int, prior: int | None) -> tuple[str, str]:
    """Return the action the words are about, and what it had returned where it failed."""
    if prior is None:
        said = walk.before(place, TurnKind.ASSISTANT, 3)
        return (walk.turns[said].text if said is not None else ""), ""
    result = walk.result.get(prior)
    failed = result is not None and walk.turns[result].status is ResultStatus.ERROR
    error = "\n".join(salient(walk.turns[result].text)) if failed and result is not None else ""
    return action(walk.turns[prior]), error
