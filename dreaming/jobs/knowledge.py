"""Looking at the knowledge base: what stands there, what is wrong with it, what became of lessons.

Nothing here writes. Text is the truth: what stands in the files is a lesson, whatever the ledger
says; where the two differ, ``check`` tells.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from pathlib import Path
from typing import Final

import msgspec

from dreaming.errors import WrongUse
from dreaming.jobs import past
from dreaming.known.lint import Kind, Problem, in_order, lint, problem
from dreaming.known.search import Index
from dreaming.models.decision import Action, Decision
from dreaming.models.lesson import KnownLine
from dreaming.stores.knowledge_reader import TopicFile, read, read_topics
from dreaming.stores.ledger import Ledger

SHORTEST: Final = 4
"""Characters of a lesson's id that are enough to name it."""
_ID: Final = 8
"""Characters of a lesson's id; a candidate's has twice as many."""


# -- what stands there ----------------------------------------------------------------------------


class Found(msgspec.Struct, frozen=True):
    """A line that has the words asked for."""

    line: KnownLine
    score: float
    """1.0 where every word stands there; more where they stand there just so."""


def topics(folder: Path) -> list[TopicFile]:
    """Return every topic with its size and lines, by name."""
    return read_topics(folder)


def search(folder: Path, words: str, limit: int) -> list[Found]:
    """Return the lines that have these words, best first; a topic's name counts as a word of it."""
    lines = read(folder)
    index = Index([f"{line.text} {line.path.stem}" for line in lines])
    return [Found(lines[place], round(score, 3)) for place, score in index.search(words)[:limit]]


# -- what became of lessons -----------------------------------------------------------------------


class Life(msgspec.Struct):
    """What became of one lesson, by the ledger."""

    lesson: str
    topic: str = ""
    text: str = ""
    """Its line as last written."""
    stands: bool = False
    ended: str = ""
    """What took it out: ``retire``, ``supersede`` or ``undo``; empty while it stands."""
    steps: list[Decision] = msgspec.field(default_factory=list)
    """What was decided about it, oldest first, also what was undone."""
    candidates: list[str] = msgspec.field(default_factory=list)
    """What it was made of, also by merging and by superseding; empty for a lesson of one's own."""


def lives(steps: Iterable[Decision]) -> dict[str, Life]:
    """Return what became of every lesson that the ledger's steps tell of, by its id."""
    found: dict[str, Life] = {}
    decided = past.read(steps)
    void = decided.void
    for name, one in decided.every.items():
        for lesson in _concerned(one, decided):
            life = found.setdefault(lesson, Life(lesson))
            life.steps.append(one)
            if one.action is not Action.UNDO and name not in void:
                _live(life, one)
    for life in found.values():
        if not life.stands and not life.ended:
            life.ended = "undo"
    _trace(found, decided)
    return found


def _concerned(one: Decision, decided: past.Past) -> list[str]:
    """The lessons that a decision is about; an undo is about those of what it takes back."""
    seen: set[str] = set()
    while one.action is Action.UNDO:
        if one.name in seen or one.target not in decided.every:
            return []  # it takes back what no ledger here knows
        seen.add(one.name)
        one = decided.every[one.target]
    named = [one.lesson]
    if one.action in (Action.MERGE, Action.SUPERSEDE) and len(one.target) == _ID:
        named.append(one.target)
    return [lesson for lesson in dict.fromkeys(named) if lesson]


def _live(life: Life, one: Decision) -> None:
    """Let a decision that holds have its effect."""
    took_out = one.action is Action.RETIRE or (
        one.action is Action.SUPERSEDE and life.lesson != one.lesson
    )
    if took_out:
        life.stands, life.ended = False, one.action
    elif one.action in (Action.ACCEPT, Action.EDIT, Action.SUPERSEDE):
        life.stands, life.ended = True, ""
        life.topic, life.text = one.topic, one.text


def _trace(found: dict[str, Life], decided: past.Past) -> None:
    """Note which candidates each lesson was made of, through merges and earlier wordings."""
    merged: dict[str, list[str]] = {}
    for one in decided.standing:
        if one.action is Action.MERGE and one.candidate:
            merged.setdefault(one.target, []).append(one.candidate)
    for life in found.values():
        todo = [life.lesson]
        seen: dict[str, None] = {}
        while todo:
            name = todo.pop(0)
            if name in seen:
                continue
            seen[name] = None
            todo += [each for one in _made(found.get(name)) for each in (one.candidate, one.target)]
            todo += merged.get(name, ())
        life.candidates = [name for name in seen if name and name not in found]


def _made(life: Life | None) -> list[Decision]:
    """The decisions that put a lesson's line there, undone ones too: they tell where it is from."""
    made = (Action.ACCEPT, Action.EDIT, Action.SUPERSEDE)
    return [one for one in life.steps if one.action in made and one.lesson] if life else []


def resolve(folder: Path, ledger: Ledger, wanted: str) -> str:
    """Return the id of the one lesson that ``wanted`` is or begins, standing or not.

    Raises ``WrongUse`` where there is none or more than one.
    """
    return named(wanted, {*lives(ledger.decisions()), *anchored(read(folder))})


def symptom(folder: Path, lesson: str) -> str:
    """Return the symptom of a lesson as its line has it; empty where no line stands."""
    line = anchored(read(folder)).get(lesson)
    return line.lesson.symptom if line is not None and line.lesson is not None else ""


def anchored(lines: Iterable[KnownLine]) -> dict[str, KnownLine]:
    """Return the first line of each anchor."""
    found: dict[str, KnownLine] = {}
    for line in lines:
        if line.lesson is not None and line.lesson.id:
            found.setdefault(line.lesson.id, line)
    return found


def named(wanted: str, there: Iterable[str]) -> str:
    """Return the one of these ids that ``wanted`` is or begins. Raises ``WrongUse`` else."""
    found = sorted(one for one in there if one.startswith(wanted))
    if len(wanted) < SHORTEST or not found:
        raise WrongUse(
            f"There is no lesson {wanted}.",
            remedy=f"A lesson is named by its anchor's 8 characters, or the first {SHORTEST} or "
            "more; `dreaming kb search` shows them.",
        )
    if len(found) > 1:
        raise WrongUse(f"{wanted} is the beginning of {len(found)} lessons; write more of it.")
    return found[0]


# -- what is wrong --------------------------------------------------------------------------------


def check(folder: Path, ledger: Ledger, max_topic_lines: int) -> list[Problem]:
    """Return everything that is wrong or worth a look, by file and line.

    Raises ``Unusable`` where the ledger was edited: then no anchor can be judged.
    """
    files = read_topics(folder)
    lines = [line for one in files for line in one.known]
    found = lint(lines)
    found += [_too_long(one, max_topic_lines) for one in files if one.lines > max_topic_lines]
    found += _anchors(folder, lines, lives(ledger.decisions()))
    return in_order(found)


def _too_long(one: TopicFile, most: int) -> Problem:
    says = f"it has {one.lines} lines; agents may cut off what comes after {most}"
    return Problem(Kind.TOO_LONG, False, str(one.path), 0, "", says)


def _anchors(folder: Path, lines: Sequence[KnownLine], known: dict[str, Life]) -> Iterator[Problem]:
    """Anchors that no decision made, and decisions whose line is not there."""
    standing = anchored(lines)
    for lesson, line in standing.items():
        life = known.get(lesson)
        if life is None:
            yield problem(Kind.ANCHOR_UNKNOWN, line, "no decision in the ledger knows its anchor")
        elif not life.stands:
            says = f"the ledger says that {life.ended} took it out"
            yield problem(Kind.ANCHOR_UNKNOWN, line, says)
    for lesson, life in sorted(known.items()):
        if life.stands and lesson not in standing:
            says = f"the line of lesson {lesson} is gone, and no decision took it out"
            path = str(folder / f"{life.topic}.md")
            yield Problem(Kind.LINE_GONE, False, path, 0, life.text, says)
