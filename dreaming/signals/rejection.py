"""What a linter, a hook, a shell or an agent's own program rejected, where that has a name."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterator
from typing import Final

from dreaming.models.finding import Excerpt, Quotation, SignalKind
from dreaming.models.session import Denier, ResultStatus, Tool, Turn, TurnKind
from dreaming.motifs import in_output
from dreaming.signals import noise
from dreaming.signals.interface import (
    QUOTE,
    Walk,
    action,
    is_person,
    keep,
    only_reads,
    quote,
    salient,
)

FOLDER: Final = "wrong-folder"
"""The name of what a change of the folder repairs."""
GUESSED: Final = "agent-path-guessed"
"""The name of a path that was not there, whatever the folder."""
HOOK: Final = "hook"
"""The name that sources give to what a hook returned."""
LINTED: Final = ("lint-", "format-")
"""Names that count also where the check ran elsewhere: a person pastes it, or its log is read."""
LOG: Final = "gh run view"
STATE: Final = re.compile(r"\bgit (?:-C \S+ )?status\b")
"""A reader that returns what is so, not what somebody wrote."""
MOST: Final = 4
"""How many excerpts one session gives to one name."""
_BETWEEN: Final = re.compile(r"\x1b\[[0-9;?]*[A-Za-z]|\n")
SHORT: Final = 400
"""What a failed reader returns up to this length is the shell's word, not a document's."""


class Rejection:
    """Results that say in known words what was wrong, whatever their status."""

    def find(self, walk: Walk) -> Iterator[Excerpt]:
        """Yield one excerpt a name and result."""
        given: Counter[str] = Counter()
        for place, turn in enumerate(walk.turns):
            if turn.kind is not TurnKind.RESULT and not is_person(turn):
                continue
            hook = turn.tool_name == HOOK or (
                turn.denier is Denier.RULE and "hook" in turn.text[:200]
            )
            call = walk.call.get(place)
            if turn.tool_name == HOOK or is_person(turn):
                call = walk.before(place, TurnKind.CALL, 3)
            elif call is None or not _is_source(walk.turns[call], turn):
                continue
            command = walk.turns[call].action if call is not None else ""
            elsewhere = is_person(turn) or LOG in command
            failed = turn.status not in (ResultStatus.OK, None)
            moved = call is not None and failed and _moved(walk, call, place)
            for name, lines in in_output(turn.text, command, failed=failed, hook=hook).items():
                if (elsewhere and not name.startswith(LINTED)) or (moved and name == GUESSED):
                    continue
                given[name] += 1
                if given[name] <= MOST:
                    yield _excerpt(walk, call, place, name, lines)
            if moved and given[FOLDER] < MOST:
                given[FOLDER] += 1
                yield _excerpt(walk, call, place, FOLDER, "".join(salient(turn.text, 1)))


def _moved(walk: Walk, call: int, place: int) -> bool:
    """Return whether a path was not there, and the same was done again in another folder."""
    made, turn = walk.turns[call], walk.turns[place]
    if made.tool is not Tool.SHELL or not noise.ABSENT.search(turn.text[:SHORT]):
        return False
    fix, _ = walk.repair(call, place)
    if fix is None or walk.turns[fix].tool is not Tool.SHELL:
        return False
    there = noise.MOVES.match(walk.turns[fix].action)
    rest = walk.turns[fix].action[there.end() :].split() if there else []
    return bool(rest) and rest[:1] == made.action.split()[:1]


def _is_source(made: Turn, turn: Turn) -> bool:
    """Return whether a result tells what became of a call, and is not what somebody wrote."""
    failed = turn.status is not ResultStatus.OK
    if turn.denier is Denier.HUMAN or made.tool is Tool.AGENT:
        return False
    if made.tool is not Tool.SHELL:
        return failed
    told = LOG in made.action or STATE.search(made.action) or not only_reads(made.action)
    return bool(told) or (failed and len(turn.text) < SHORT)


def _excerpt(walk: Walk, call: int | None, place: int, name: str, lines: str) -> Excerpt:
    turn = walk.turns[place]
    made = walk.turns[call] if call is not None else turn
    fix, said = walk.repair(call, place) if call is not None else (None, [])
    remark = walk.turns[said[0]] if said else None
    added, removed = walk.changes(call, fix) if fix is not None else ((), ())
    return Excerpt(
        kind=SignalKind.REJECTION,
        line=turn.line,
        record=turn.record,
        at=turn.at,
        folder=turn.folder or made.folder,
        tool=made.tool,
        wrong=keep("wrong", action(made)) if call is not None else "",
        error=keep("error", lines),
        remark=keep("remark", remark.text) if remark is not None else "",
        right=keep("right", action(walk.turns[fix])) if fix is not None else "",
        added=added,
        removed=removed,
        strength=1.0 if fix is not None else 0.7,
        redone=walk.related(call, fix) if call is not None and fix is not None else 0.0,
        cost=walk.calls_between(place, fix) if fix is not None else 0,
        quotations=tuple(_quotations(turn, lines)),
        names=(name,),
    )


def _quotations(turn: Turn, lines: str) -> Iterator[Quotation]:
    """Yield the telling lines as they stand in the result."""
    text = lines[: QUOTE[1]]
    start = turn.text.find(text)
    if start < 0:
        # Colours stand between the words: what is between two of them is verbatim.
        parts = (part.strip() for part in _BETWEEN.split(turn.text))
        text = max((part for part in parts if part in lines), key=len, default=lines)
        start = turn.text.find(text)
    if start >= 0 and len(text.strip()) < QUOTE[0]:
        text = turn.text[start : start + QUOTE[1] // 2]
    if start >= 0:
        yield from quote(turn, text)
