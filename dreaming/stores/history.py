"""Everything the state holds that aggregation needs: excerpts over all nights, with their roots.

Roots are derived here, each time, from identities that relatives share. So it makes no difference
which of a fork and its original was read first.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator
from typing import Final

import msgspec

from dreaming.models.finding import Excerpt, Finding, KeptExcerpt
from dreaming.models.report import Verdict
from dreaming.models.session import SessionKind
from dreaming.stores.interface import Project
from dreaming.stores.state import State

_decode: Final = msgspec.msgpack.Decoder(Excerpt).decode


class History:
    """A view of one workspace's evidence, limited to the projects that belong to it."""

    def __init__(self, state: State, belongs: Callable[[Project], bool] = lambda _: True) -> None:
        self._state = state
        self._projects = {id_ for id_, project in state.projects().items() if belongs(project)}
        self.roots = _roots(state)

    def excerpts(self) -> list[KeptExcerpt]:
        """Return every excerpt once, in a stable order, though copies of its transcript exist."""
        best: dict[str, tuple[tuple[float, bytes], KeptExcerpt]] = {}
        rows = self._state.connection.execute(
            "select e.id, session_id, native_id, session_agent, kind, project, body"
            " from excerpts e join transcripts t on t.id = e.transcript order by e.id"
        )
        for id_, session_id, native_id, agent, kind, project, body in rows:
            if project not in self._projects:
                continue
            excerpt = _decode(body)
            rank = (excerpt.strength, body)
            if id_ in best and best[id_][0] >= rank:
                continue
            kept = KeptExcerpt(
                id=id_,
                session_id=session_id,
                root=self.roots[session_id],
                agent=agent,
                native_id=native_id,
                project=project,
                headless=kind == SessionKind.HEADLESS,
                excerpt=excerpt,
            )
            best[id_] = (rank, kept)
        return [kept for _, kept in best.values()]

    def findings(self, backend: str | None = None) -> list[Finding]:
        """Return every finding, or those of one backend, in a stable order."""
        rows = self._state.connection.execute(
            "select session_id, slug, topic, symptom, rule, evidence, backend from findings"
            " order by session_id, slug, evidence, backend, symptom, rule"
        )
        found = (
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
        )
        return [one for one in found if backend is None or one.backend == backend]

    def frequencies(self) -> StoredFrequencies:
        """Return document frequencies over the whole history."""
        return StoredFrequencies(self._state)

    def native_ids(self) -> dict[str, str]:
        """Return the native id of every session id. For the local look-up only."""
        rows = self._state.connection.execute(
            "select session_id, min(native_id) from transcripts where session_id != ''"
            " group by session_id"
        )
        return dict(rows)


class StoredFrequencies:
    """In how many sessions a term occurs, looked up in the state as asked."""

    def __init__(self, state: State) -> None:
        self._state = state
        self._known: dict[str, int] = {}
        (self.sessions,) = state.connection.execute(
            "select count(distinct session_id) from vocabulary join transcripts on id = transcript"
        ).fetchone()

    def of(self, term: str) -> int:
        """Return the number of sessions with this term."""
        known = self._known.get(term)
        if known is None:
            row = self._state.connection.execute(
                "select sessions from frequency where term = ?", [self._state.term_id(term)]
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
