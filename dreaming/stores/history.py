"""Everything the state holds that aggregation needs: excerpts over all nights, with their roots.

Roots are derived here, each time, from identities that relatives share. So it makes no difference
which of a fork and its original was read first.
"""

from __future__ import annotations

import json
from array import array
from collections import Counter
from collections.abc import Callable, Collection, Iterable, Iterator, Sequence
from itertools import groupby
from operator import itemgetter
from typing import Any, Final, overload

import msgspec

from dreaming.models.finding import Excerpt, Finding, KeptExcerpt
from dreaming.models.report import Verdict
from dreaming.models.session import SessionKind
from dreaming.similarity import term_id
from dreaming.stores.interface import Project
from dreaming.stores.state import State

_REMEMBERED: Final = 8192
"""How many frequencies are remembered."""
_LATEST: Final = 200
"""Transcripts looked at for a habit."""
_decode: Final = msgspec.msgpack.Decoder(Excerpt).decode


class Publication(msgspec.Struct, frozen=True):
    """How a candidate came to wait."""

    members: tuple[str, ...]
    """The excerpts it was made of when it last waited."""
    at: float
    """When the run started that first proposed it, seconds since 1970 UTC."""


class History:
    """A view of one workspace's evidence, limited to the projects that belong to it."""

    def __init__(self, state: State, belongs: Callable[[Project], bool] = lambda _: True) -> None:
        self._state = state
        self.projects = {id_: one for id_, one in state.projects().items() if belongs(one)}
        """Those that belong to the workspace."""
        self.roots = _roots(state)

    def excerpts(self) -> Sequence[KeptExcerpt]:
        """Return every excerpt once, in a stable order, though copies of its transcript exist."""
        return self._best(
            self._state.connection.execute(
                "select e.id, e.rowid, project from excerpts e order by e.id, e.rowid"
            )
        )

    def some(self, ids: Sequence[str]) -> Sequence[KeptExcerpt]:
        """Return those of these excerpts that are still kept, as ``excerpts`` would."""
        marks = ", ".join("?" * len(ids))
        query = (
            "select e.id, e.rowid, project from excerpts e"
            f" where e.id in ({marks}) order by e.id, e.rowid"
        )
        return self._best(self._state.connection.execute(query, list(ids)))

    def _best(self, rows: Iterable[Sequence[Any]]) -> Sequence[KeptExcerpt]:
        """Return the excerpts of these rows, of several copies the one that says most."""
        chosen = array("q")
        for _, copies in groupby(rows, key=itemgetter(0)):
            here = [row for _, row, project in copies if project in self.projects]
            if here:
                chosen.append(max(here, key=self._strength) if len(here) > 1 else here[0])
        return Excerpts(chosen, self._excerpt)

    def _strength(self, row: int) -> tuple[float, bytes]:
        """Return what the better of two copies has more of."""
        (body,) = self._state.connection.execute(
            "select body from excerpts where rowid = ?", [row]
        ).fetchone()
        return _decode(body).strength, body

    def _excerpt(self, row: int) -> KeptExcerpt:
        id_, session_id, native_id, agent, kind, project, body = self._state.connection.execute(
            "select e.id, session_id, native_id, session_agent, kind, project, body"
            " from excerpts e join transcripts t on t.id = e.transcript where e.rowid = ?",
            [row],
        ).fetchone()
        return KeptExcerpt(
            id=id_,
            session_id=session_id,
            root=self.roots[session_id],
            agent=agent,
            native_id=native_id,
            project=project,
            headless=kind == SessionKind.HEADLESS,
            excerpt=_decode(body),
        )

    def findings(self) -> list[Finding]:
        """Return every finding, in a stable order."""
        rows = self._state.connection.execute(
            "select session_id, slug, topic, symptom, rule, evidence, backend from findings"
            " order by session_id, slug, evidence, backend, symptom, rule"
        )
        return [
            Finding(
                session_id=session_id,
                slug=slug,
                topic=topic,
                symptom=symptom,
                rule=rule,
                evidence=tuple(json.loads(evidence)),
                backend=name,
            )
            for session_id, slug, topic, symptom, rule, evidence, name in rows
        ]

    def deeds(self, project: str, after: float) -> list[tuple[str, bytes]]:
        """Return the roots of the latest transcripts begun after an instant, and what they did.

        Newest first, packed as ``known.habit`` packs it.
        """
        rows = self._state.connection.execute(
            "select session_id, packed from deeds join transcripts on id = transcript"
            " where project = ? and at > ? and session_id != '' order by at desc, id limit ?",
            [project, after, _LATEST],
        )
        return [(self.roots[session_id], packed) for session_id, packed in rows]

    def frequencies(self) -> StoredFrequencies:
        """Return document frequencies over the whole history."""
        return StoredFrequencies(self._state)

    def publications(self) -> dict[str, Publication]:
        """Return how every candidate that ever waited came to wait, by its id."""
        rows = self._state.connection.execute("select candidate, members, at from published")
        return {
            candidate: Publication(tuple(json.loads(members)), at)
            for candidate, members, at in rows
        }

    def run(self, started: float) -> dict[str, Any] | None:
        """Return the report of the run that started then."""
        row = self._state.connection.execute(
            "select report from runs where started = ? order by id desc limit 1", [started]
        ).fetchone()
        return None if row is None else dict(json.loads(row[0]))

    def native_ids(self) -> dict[str, str]:
        """Return the native id of every session id. For the local look-up only."""
        rows = self._state.connection.execute(
            "select session_id, min(native_id) from transcripts where session_id != ''"
            " group by session_id"
        )
        return dict(rows)


class Excerpts(Sequence[KeptExcerpt]):
    """Excerpts that stay in the state: each is read when it is asked for, and let go again.

    Equal to any sequence of the same excerpts.
    """

    def __init__(self, rows: Sequence[int], read: Callable[[int], KeptExcerpt]) -> None:
        self._rows = rows
        self._read = read

    def __len__(self) -> int:
        return len(self._rows)

    @overload
    def __getitem__(self, place: int) -> KeptExcerpt: ...

    @overload
    def __getitem__(self, place: slice) -> Excerpts: ...

    def __getitem__(self, place: int | slice) -> KeptExcerpt | Excerpts:
        if isinstance(place, slice):
            return Excerpts(self._rows[place], self._read)
        return self._read(self._rows[place])

    def __eq__(self, other: object) -> bool:
        if not isinstance(other, Sequence) or len(self) != len(other):
            return False
        return all(one == another for one, another in zip(self, other, strict=True))

    __hash__ = None  # type: ignore[assignment]


class StoredFrequencies:
    """In how many sessions a term occurs, looked up in the state as asked."""

    def __init__(self, state: State) -> None:
        self._state = state
        self._known: dict[str, int] = {}
        (self.sessions,) = state.connection.execute(
            "select count(distinct session_id) from vocabulary join transcripts on id = transcript"
        ).fetchone()

    def among(
        self, terms: Collection[int], sessions: Collection[str] | None
    ) -> tuple[dict[int, int], int]:
        """Return in how many of these sessions each of these terms occurs; ``None`` for all."""
        if sessions is None:
            rows = self._state.connection.execute("select term, sessions from frequency")
            return {term: number for term, number in rows if term in terms}, self.sessions
        rows = self._state.connection.execute(
            "select session_id, terms from vocabulary join transcripts on id = transcript"
            " order by session_id"
        )
        counts: Counter[int] = Counter()
        total = 0
        for session, several in groupby(rows, key=itemgetter(0)):
            if session in sessions:
                total += 1
                found = {term for _, blob in several for term in array("q", blob)}
                counts.update(term for term in found if term in terms)
        return counts, total

    def of(self, term: str) -> int:
        """Return the number of sessions with this term."""
        known = self._known.get(term)
        if known is None:
            if len(self._known) >= _REMEMBERED:
                self._known.clear()
            row = self._state.connection.execute(
                "select sessions from frequency where term = ?", [term_id(term)]
            ).fetchone()
            known = self._known[term] = int(row[0]) if row else 0
        return known


def _roots(state: State) -> dict[str, str]:
    """Return for every session id the smallest session id of its family."""
    parent: dict[str, str] = {}

    def top(node: str) -> str:
        while parent.setdefault(node, node) != node:
            parent[node] = parent[parent[node]]
            node = parent[node]
        return node

    sessions: set[str] = set()
    for session_id, kin in _kin(state):
        sessions.add(session_id)
        for one in kin:
            a, b = top(f"s{session_id}"), top(f"k{one}")
            parent[max(a, b)] = min(a, b)
    smallest: dict[str, str] = {}
    for session_id in sorted(sessions):
        smallest.setdefault(top(f"s{session_id}"), session_id)
    return {session_id: smallest[top(f"s{session_id}")] for session_id in sessions}


def _kin(state: State) -> Iterator[tuple[str, list[str]]]:
    rows = state.connection.execute(
        "select session_id, kin from transcripts join cursors on transcript = id"
        " where session_id != '' and verdict != ?",
        [Verdict.SKIPPED.value],
    )
    for session_id, kin in rows:
        yield session_id, json.loads(kin)
