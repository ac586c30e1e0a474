"""Why a line is there: who decided, which night proposed it, whose words it rests on.

It is joined from places that are kept apart on purpose: the ledger says who decided and when, the
state which excerpts a candidate was made of, the excerpts hold the words. Each may be gone; then
that is said, never guessed.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from datetime import UTC, datetime
from pathlib import Path

import msgspec

from dreaming.jobs import past
from dreaming.jobs.evidence import Quote, quotes
from dreaming.jobs.fixing import reasons
from dreaming.jobs.knowledge import Life, anchored, lives, named
from dreaming.models.finding import KeptExcerpt
from dreaming.models.lesson import KnownLine
from dreaming.stores.history import History, Publication
from dreaming.stores.interface import Project
from dreaming.stores.knowledge_reader import read
from dreaming.stores.ledger import Ledger
from dreaming.stores.state import State


class Told(msgspec.Struct, frozen=True):
    """One decision about a lesson."""

    name: str
    """What ``dreaming undo`` takes."""
    at: datetime
    action: str
    reviewer: str
    why: str
    candidate: str
    text: str
    """The line or the rule it was about."""
    holds: bool
    """False where it was undone."""


class Origin(msgspec.Struct, frozen=True):
    """Where one candidate of a lesson came from."""

    candidate: str
    night: datetime | None
    """When the night began that proposed it; ``None`` where that is no longer known."""
    backend: str
    """Whose words it was proposed in; empty where that is no longer known."""
    sessions: tuple[str, ...]
    """Native ids of the root sessions whose words are still there."""
    agents: tuple[str, ...]
    fixed: str
    """Why it may be fixed already, as found before it was decided; empty where nothing says so."""
    evidence: tuple[Quote, ...]


class Why(msgspec.Struct, frozen=True):
    """Why a line is there."""

    lesson: str
    path: str
    """Empty where the line does not stand."""
    number: int
    """1-based; 0 where the line does not stand."""
    line: str
    """As it stands; empty where it does not."""
    written: str
    """As the ledger says it was written last; empty where no decision knows it."""
    standing: str
    """``stands``, ``edited by hand``, ``gone``, or what took it out."""
    decisions: tuple[Told, ...]
    """Oldest first."""
    origins: tuple[Origin, ...]
    unknown: tuple[str, ...]
    """What is not, or no longer, known: in sentences."""


def why(
    folder: Path,
    ledger: Ledger,
    state: State,
    wanted: str,
    belongs: Callable[[Project], bool] = lambda _: True,
) -> Why:
    """Return which sessions, words, backend, night and decisions led to a lesson.

    ``wanted`` is its id or the beginning of it; ``belongs`` says which projects this workspace may
    see. Raises ``WrongUse`` where there is no such lesson or more than one.
    """
    steps = ledger.decisions()
    known, lines = lives(steps), anchored(read(folder))
    lesson = named(wanted, {*known, *lines})
    line, life = lines.get(lesson), known.get(lesson)
    unknown: list[str] = []
    return Why(
        lesson=lesson,
        path=str(line.path) if line else "",
        number=line.number if line else 0,
        line=line.text if line else "",
        written=life.text if life else "",
        standing=_standing(line, life),
        decisions=_told(life, past.read(steps)),
        origins=tuple(_origins(life, state, History(state, belongs), unknown)),
        unknown=tuple(unknown),
    )


def _standing(line: KnownLine | None, life: Life | None) -> str:
    if line is None:
        return (life.ended if life else "") or "gone"
    if life is None or line.text == life.text.strip():
        return "stands"
    return "edited by hand"


def _told(life: Life | None, decided: past.Past) -> tuple[Told, ...]:
    return tuple(
        Told(
            name=one.name,
            at=one.at,
            action=one.action,
            reviewer=one.reviewer,
            why=one.why,
            candidate=one.candidate,
            text=one.text,
            holds=one.name not in decided.void,
        )
        for one in (life.steps if life else ())
    )


# -- where it came from ---------------------------------------------------------------------------


def _origins(life: Life | None, state: State, history: History, unknown: list[str]) -> list[Origin]:
    """Where the lesson's candidates came from; what is not known of it is added to ``unknown``."""
    if life is None:
        unknown.append("No decision in the ledger knows this anchor; somebody wrote it by hand.")
        return []
    if not life.candidates:
        unknown.append("A person wrote it as a lesson of their own; no session is behind it.")
        return []
    published, fixed = history.publications(), reasons(state)
    bodies = {one.candidate: one.body for one in state.kept().values()}
    origins = []
    for candidate in life.candidates:
        known = published.get(candidate)
        if known is None:
            unknown.append(
                f"Where candidate {candidate} came from is not known on this machine: it was found "
                "on another one, or the state was lost. The decision stands all the same."
            )
        else:
            backend = _backend_of(bodies.get(candidate, ""))
            told = fixed.get(candidate, "")
            origins.append(_origin(candidate, known, backend, told, history, unknown))
    return origins


def _origin(
    candidate: str,
    known: Publication,
    backend: str,
    fixed: str,
    history: History,
    unknown: list[str],
) -> Origin:
    there = history.some(known.members)
    gone = len(known.members) - len(there)
    if gone:
        unknown.append(
            f"{gone} of the {len(known.members)} excerpts that candidate {candidate} was made of "
            "are gone: their transcript changed or was withdrawn, or its project does not belong "
            "to this workspace."
        )
    report = history.run(known.at)
    if report is None:
        unknown.append(f"The report of the night that proposed candidate {candidate} is gone.")
    native = history.native_ids()
    roots = sorted({one.root for one in there})
    return Origin(
        candidate=candidate,
        night=datetime.fromtimestamp(known.at, UTC),
        backend=backend or _asked(there, history) or str((report or {}).get("backend", "")),
        sessions=tuple(native.get(root, root) for root in roots),
        agents=tuple(sorted({one.agent for one in there})),
        fixed=fixed,
        evidence=tuple(quotes(there)),
    )


def _backend_of(body: str) -> str:
    """The backend that a decided candidate named, from its file as it was kept."""
    return str(msgspec.json.decode(body)["backend"]) if body else ""


def _asked(excerpts: Sequence[KeptExcerpt], history: History) -> str:
    """Whose findings rest on these excerpts."""
    ids = {one.id for one in excerpts}
    names = {one.backend for one in history.findings() if ids & set(one.evidence)}
    return ", ".join(sorted(names))
