"""What a signal is: it looks at a session's turns and yields the excerpts it finds.

Write a new one as a class with one method, and name it in ``dreaming/signals/__init__.py``. A
signal reads a ``Walk``, never raw text of a transcript, so that who speaks is settled before.
"""

from __future__ import annotations

import hashlib
import re
from collections.abc import Iterable, Iterator
from functools import cached_property
from itertools import islice
from typing import Final, Protocol

from dreaming.models.finding import Excerpt, Quotation
from dreaming.models.session import (
    ResultStatus,
    Session,
    SessionKind,
    Speaker,
    Tool,
    Turn,
    TurnKind,
)
from dreaming.signals import cues, noise
from dreaming.similarity import overlap, program, tokens

QUOTE: Final = (12, 220)
"""Shortest and longest quotation, in characters."""
HORIZON: Final = 7
"""How many calls after a failure a related one still counts as its repair."""
ACTION: Final = 1200
"""How much of a call is compared."""
KEPT: Final = {"wrong": 300, "error": 360, "remark": 360, "words": 420, "right": 300}
"""How much of each text an excerpt keeps, in characters."""
CHANGES: Final = 20
"""How many tokens of a change an excerpt keeps."""

_QUIET: Final = frozenset({Tool.READ, Tool.SEARCH, Tool.WEB})
_CUT: Final = "…"
_PARTS: Final = re.compile(r"&&|\|\||[;\n]")


class Signal(Protocol):
    """One kind of place in a session where a lesson may be."""

    def find(self, walk: Walk) -> Iterator[Excerpt]:
        """Yield an excerpt for each such place, in the order of the turns."""
        ...


class Walk:
    """A session's turns, tied together: which result answers which call, what was said between."""

    def __init__(self, session: Session) -> None:
        self.kind = session.kind
        self.turns = [turn for turn in session.turns if _counts(turn)]
        self.result: dict[int, int] = {}
        """Call to result, by position."""
        self.call: dict[int, int] = {}
        """Result to call, by position."""
        self._tie()
        self._bags: dict[int, frozenset[str]] = {}

    def _tie(self) -> None:
        waiting: dict[str, int] = {}
        for place, turn in enumerate(self.turns):
            if turn.kind is TurnKind.CALL:
                waiting[turn.call_id] = place
            elif turn.kind is TurnKind.RESULT and turn.call_id in waiting:
                call = waiting.pop(turn.call_id)
                self.result[call], self.call[place] = place, call

    @property
    def restricted(self) -> bool:
        """Whether another session's model drives this one."""
        return self.kind is SessionKind.SUBAGENT

    @cached_property
    def first_prompt(self) -> int:
        """The place of the first thing a person or a script asked; -1 where nobody did."""
        users = (p for p, turn in enumerate(self.turns) if turn.kind is TurnKind.USER)
        return next(users, -1)

    def places(self, kind: TurnKind) -> Iterator[int]:
        """Yield where turns of this kind stand."""
        return (place for place, turn in enumerate(self.turns) if turn.kind is kind)

    def failed(self, status: ResultStatus) -> Iterator[tuple[int, int]]:
        """Yield (call, result) of every call that ended like this."""
        for place, call in self.call.items():
            if self.turns[place].status is status:
                yield call, place

    def bag(self, call: int) -> frozenset[str]:
        """Return the tokens of what a call did."""
        if call not in self._bags:
            self._bags[call] = frozenset(tokens(action(self.turns[call])))
        return self._bags[call]

    def related(self, call: int, later: int) -> float:
        """Return how much a later call looks like another try of this one, 0 to 1.5."""
        one, other = self.turns[call], self.turns[later]
        same = 0.0
        if one.tool is other.tool is Tool.SHELL:
            name = program(one.action)
            same = 0.5 if name and name == program(other.action) else 0.0
        return overlap(self.bag(call), self.bag(later)) + same

    def repair(self, call: int, after: int) -> tuple[int | None, list[int]]:
        """Return the next successful call that looks like another try, and what was said first."""
        best: int | None = None
        need, calls = 0.25, 0
        said: list[int] = []
        for place in range(after + 1, min(len(self.turns), after + 2 * HORIZON)):
            turn = self.turns[place]
            if turn.kind is TurnKind.USER and calls:
                break
            if turn.kind is TurnKind.ASSISTANT and calls <= 1:
                said.append(place)
            if turn.kind is not TurnKind.CALL:
                continue
            calls += 1
            if calls > HORIZON:
                break
            if self._went_wrong(place):
                continue
            fit = self.related(call, place) + self._nearness(call, place, calls)
            if fit > need:
                best, need = place, fit
                if calls == 1 and fit > 0.6:
                    break
        return best, said

    def _went_wrong(self, call: int) -> bool:
        result = self.result.get(call)
        return result is not None and self.turns[result].status is not ResultStatus.OK

    def _nearness(self, call: int, later: int, calls: int) -> float:
        """Return what speaks for a call that came right after, most of all an edit."""
        near = {1: 0.25, 2: 0.1}.get(calls, 0.0)
        edit = self.turns[later].tool in (Tool.EDIT, Tool.WRITE)
        return near + (0.15 if edit and calls <= 2 and self.turns[call].tool is Tool.SHELL else 0)

    def before(self, place: int, kind: TurnKind, reach: int) -> int | None:
        """Return the nearest earlier turn of this kind within ``reach`` turns."""
        back = range(place - 1, max(-1, place - 1 - reach), -1)
        return next((p for p in back if self.turns[p].kind is kind), None)

    def words_after(self, place: int, reach: int = 3) -> int | None:
        """Return what a person said next, within ``reach`` turns."""
        ahead = range(place + 1, min(len(self.turns), place + 1 + reach))
        return next((p for p in ahead if is_person(self.turns[p])), None)

    def next_call(self, place: int, reach: int = 4) -> int | None:
        """Return the call that follows, unless somebody speaks first."""
        for ahead in range(place + 1, min(len(self.turns), place + 1 + reach)):
            if self.turns[ahead].kind is TurnKind.CALL:
                return ahead
            if self.turns[ahead].kind is TurnKind.USER:
                return None
        return None

    def calls_between(self, place: int, later: int) -> int:
        """Return how many calls stand between two turns."""
        return sum(turn.kind is TurnKind.CALL for turn in self.turns[place + 1 : later])

    def changes(self, call: int | None, later: int | None) -> tuple[tuple[str, ...], ...]:
        """Return the tokens a later call adds to this one, and those it leaves out."""
        one = tokens(action(self.turns[call])) if call is not None else []
        other = tokens(action(self.turns[later])) if later is not None else []
        had, has = frozenset(one), frozenset(other)
        added = tuple(t for t in dict.fromkeys(other) if t not in had)
        removed = tuple(t for t in dict.fromkeys(one) if t not in has)
        return added[:CHANGES], removed[:CHANGES]


def _counts(turn: Turn) -> bool:
    """Return whether a turn is part of the work: no summary, bookkeeping or data of the model's."""
    if turn.kind is TurnKind.ASSISTANT:
        return turn.text[:2].strip()[:1] not in ("{", "[")
    return turn.kind is not TurnKind.SUMMARY and turn.tool_name not in noise.BOOKKEEPING


def is_person(turn: Turn) -> bool:
    """Return whether a person typed this, proven by the record."""
    return turn.kind is TurnKind.USER and turn.speaker is Speaker.HUMAN


def reads(turn: Turn) -> bool:
    """Return whether a call returns what somebody else wrote: never the source of a signal."""
    if turn.tool is Tool.SHELL:
        return noise.READERS.match(turn.action) is not None
    return turn.tool in _QUIET


def only_reads(command: str) -> bool:
    """Return whether every part of a command line returns what somebody else wrote."""
    parts = [part for part in _PARTS.split(command[:ACTION]) if not noise.BESIDE.match(part)]
    return bool(parts) and all(noise.READERS.match(part) for part in parts)


def action(turn: Turn) -> str:
    """Return what a call did, in one text: the command, or the edit with both its sides."""
    if turn.tool not in (Tool.EDIT, Tool.WRITE):
        return turn.action[:ACTION]
    sides = f"{turn.before[:ACTION]} => {turn.after[:ACTION]}"
    return f"{turn.action[:200]} :: {sides}"


def salient(text: str, most: int = 3) -> list[str]:
    """Return the lines of an output that tell why it failed, else its first lines."""
    lines = [line.strip() for line in noise.BOILERPLATE.sub(" ", text[:6000]).split("\n")]
    lines = [line for line in lines if line and _CUT not in line]
    telling = (line for line in lines if cues.SALIENT.search(line.lower()))
    return [*islice(telling, most)] or lines[:most]


def keep(field: str, text: str) -> str:
    """Return as much of a text as an excerpt keeps of it."""
    return text.strip()[: KEPT[field]]


def quote(turn: Turn, line: str = "") -> Iterable[Quotation]:
    """Yield a verbatim run of a turn's text: the given line, else its beginning."""
    text = (line or turn.text).strip()
    if _CUT in text[: QUOTE[1] + 1]:
        text = text.split(_CUT, 1)[0].strip()
    text = text[: QUOTE[1]].strip()
    if len(text) >= QUOTE[0]:
        source = hashlib.sha256(turn.text.encode("utf-8", "replace")).hexdigest()[:16]
        yield Quotation(text, turn.speaker, turn.line, source)
