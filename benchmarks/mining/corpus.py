"""Reads folders of transcripts into memory, as a night would, without any state."""

from __future__ import annotations

import hashlib
from collections import Counter
from collections.abc import Collection, Iterable, Iterator
from pathlib import Path

import msgspec

from dreaming.models.finding import Excerpt, KeptExcerpt
from dreaming.models.session import Session, SessionKind
from dreaming.signals import mine, terms
from dreaming.similarity import term_id
from dreaming.transcripts.claude_code import ClaudeCode
from dreaming.transcripts.codex import Codex
from dreaming.transcripts.interface import Block, Source, Transcript

BLOCK = 1 << 20


class Frequencies:
    """In how many sessions each term occurs."""

    def __init__(self) -> None:
        self.counts: Counter[str] = Counter()
        self.sessions = 0

    def add(self, found: frozenset[str]) -> None:
        """Count one session."""
        self.counts.update(found)
        self.sessions += 1

    def of(self, term: str) -> int:
        """Return in how many sessions a term occurs."""
        return self.counts[term]

    def among(
        self, terms: Collection[int], sessions: Collection[str] | None
    ) -> tuple[dict[int, int], int]:
        """Return in how many sessions each of these terms occurs: always in the whole history."""
        ids = ((term_id(term), number) for term, number in self.counts.items())
        return {id_: number for id_, number in ids if id_ in terms}, self.sessions


class Place(msgspec.Struct, frozen=True):
    """Where an excerpt stands: for labels only, the product never keeps a path."""

    path: Path
    excerpt: Excerpt


class Corpus(msgspec.Struct):
    """What a night would know after reading everything."""

    kept: list[KeptExcerpt]
    places: dict[str, Place]
    frequencies: Frequencies
    sessions: int
    bytes: int
    left_out: Counter[str]


def key(*parts: object) -> str:
    """Return 16 hex characters for these parts."""
    return hashlib.sha256("\x1f".join(map(str, parts)).encode()).hexdigest()[:16]


def blocks(path: Path) -> Iterator[Block]:
    """Yield a file in blocks that end at line ends."""
    data = path.read_bytes()
    line, start = 1, 0
    while start < len(data):
        end = start + BLOCK
        if end < len(data):
            end = data.rfind(b"\n", start, end) + 1 or data.find(b"\n", end) + 1 or len(data)
        piece = data[start:end]
        yield Block(piece, line)
        line += piece.count(b"\n")
        start = end


def sessions(source: Source, folder: Path) -> Iterator[tuple[Path, Session]]:
    """Yield every session below a folder."""
    for found in source.list(folder):
        if isinstance(found, Transcript):
            parser = source.parser(found)
            for block in blocks(found.path):
                parser.feed(block)
            yield found.path, parser.finish()


def _roots(names: Iterable[tuple[str, tuple[str, ...]]]) -> dict[str, str]:
    """Return the root of each native id: those with kin in common share one."""
    parent: dict[str, str] = {}

    def find(name: str) -> str:
        while parent.setdefault(name, name) != name:
            parent[name] = parent[parent[name]]
            name = parent[name]
        return name

    natives = []
    for native, kin in names:
        natives.append(native)
        for relative in kin:
            one, other = sorted((find(native), find(relative)))
            parent[other] = one
    return {native: find(native) for native in natives}


def load(folders: Iterable[tuple[Source, Path]]) -> Corpus:
    """Read everything below these folders."""
    frequencies, left_out = Frequencies(), Counter[str]()
    read: list[tuple[str, Path, Session, list[Excerpt]]] = []
    seen_terms: dict[str, set[str]] = {}
    size = 0
    for source, folder in folders:
        for path, session in sessions(source, folder):
            size += path.stat().st_size
            mined = mine(session)
            left_out.update(mined.left_out)
            seen_terms.setdefault(session.native_id, set()).update(terms(session))
            session.turns = []
            read.append((source.agent, path, session, mined.excerpts))
    for found in seen_terms.values():
        frequencies.add(frozenset(found))
    roots = _roots((session.native_id, session.kin) for _, _, session, _ in read)
    kept: list[KeptExcerpt] = []
    places: dict[str, Place] = {}
    for agent, path, session, found_here in read:
        for excerpt in found_here:
            one = KeptExcerpt(
                id=key(agent, session.native_id, path.name, excerpt.line, excerpt.kind),
                session_id=key(agent, session.native_id),
                root=key(agent, roots[session.native_id]),
                agent=agent,
                native_id=session.native_id,
                project="",
                headless=session.kind is SessionKind.HEADLESS,
                excerpt=excerpt,
            )
            kept.append(one)
            places[one.id] = Place(path, excerpt)
    return Corpus(kept, places, frequencies, len(set(roots.values())), size, left_out)


def benchmark(root: Path) -> Corpus:
    """Read a generated corpus of the mining benchmark."""
    return load([(ClaudeCode(), root / "claude"), (Codex(), root / "codex")])
