"""The local look-up: which sessions and which words a waiting candidate rests on.

Native ids and quotations stay in the state; nothing of this is ever written to the workspace.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from datetime import UTC, datetime
from pathlib import Path
from typing import Final

import msgspec

from dreaming.jobs.fixing import reasons
from dreaming.models.candidate import Candidate
from dreaming.models.finding import KeptExcerpt
from dreaming.stores import files
from dreaming.stores.history import History
from dreaming.stores.state import State

PER_SESSION: Final = 3
"""Quotations shown of one session."""
PER_CANDIDATE: Final = 24


class Quote(msgspec.Struct, frozen=True):
    """Words of one session."""

    session_id: str
    """Native."""
    quote: str
    speaker: str
    line: int
    at: str
    agent: str


class Revealed(msgspec.Struct, frozen=True):
    """A candidate with its evidence."""

    id: str
    session_ids: tuple[str, ...]
    """Native ids of its sessions, one for each root: that in which its strongest evidence is."""
    slug: str
    topic: str
    symptom: str
    rule: str
    fixed: str
    """Why it may be fixed already; empty where nothing says so."""
    evidence: tuple[Quote, ...]


def reveal(candidates: Sequence[Candidate], state: State) -> list[Revealed]:
    """Return candidates with their evidence, in the order given."""
    with state.one_moment():
        history = History(state)
        members, fixed = state.published(), reasons(state)
        wanted = {id_ for one in candidates for id_ in members.get(one.id, ())}
        kept = {one.id: one for one in history.excerpts() if one.id in wanted}
        native = history.native_ids()
    return [
        _revealed(
            one,
            ranked(kept[id_] for id_ in members.get(one.id, ()) if id_ in kept),
            native,
            fixed.get(one.id, ""),
        )
        for one in candidates
    ]


def _revealed(
    one: Candidate, evidence: Sequence[KeptExcerpt], native: Mapping[str, str], fixed: str
) -> Revealed:
    strongest = {kept.root: kept.native_id for kept in reversed(evidence)}
    return Revealed(
        id=one.id,
        session_ids=tuple(strongest.get(r) or native.get(r, r) for r in one.session_ids),
        slug=one.slug,
        topic=one.topic,
        symptom=one.symptom,
        rule=one.rule,
        fixed=fixed,
        evidence=tuple(quotes(evidence)),
    )


def ranked(excerpts: Iterable[KeptExcerpt]) -> list[KeptExcerpt]:
    """Return excerpts as they are shown: the strongest of each session first."""
    places: Counter[str] = Counter()
    found: list[tuple[int, KeptExcerpt]] = []
    for kept in sorted(excerpts, key=lambda kept: (-kept.excerpt.strength, kept.id)):
        found.append((places[kept.root], kept))
        places[kept.root] += 1
    return [kept for _, kept in sorted(found, key=lambda pair: pair[0])]


def log(path: Path, ids: Iterable[str]) -> None:
    """Note that evidence was looked up, when and of which candidates."""
    line = f"{datetime.now(UTC).isoformat(timespec='seconds')} {' '.join(ids)}\n"
    files.append(path, line.encode())


def quotes(excerpts: Iterable[KeptExcerpt]) -> list[Quote]:
    """Return the strongest excerpts' quotations, few of each session: every session speaks."""
    found: list[Quote] = []
    by_session: dict[str, int] = {}
    for kept in ranked(excerpts):
        for quotation in kept.excerpt.quotations:
            shown = by_session.get(kept.root, 0)
            if shown == PER_SESSION or len(found) == PER_CANDIDATE:
                break
            by_session[kept.root] = shown + 1
            at = kept.excerpt.at
            found.append(
                Quote(
                    session_id=kept.native_id,
                    quote=quotation.text,
                    speaker=quotation.speaker,
                    line=quotation.line,
                    at=datetime.fromtimestamp(at, UTC).isoformat() if at > 0 else "",
                    agent=kept.agent,
                )
            )
    return found
