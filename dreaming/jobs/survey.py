"""The survey: what there is to read, what would be left out, what it would cost. Spends nothing."""

from __future__ import annotations

import os
from collections.abc import Iterable, Sequence
from pathlib import Path
from typing import Final

import msgspec

from dreaming.backends.interface import Price
from dreaming.errors import WrongUse
from dreaming.jobs.asking import room
from dreaming.jobs.progress import Progress
from dreaming.jobs.reading import Reader, Reading, kept
from dreaming.models.report import Verdict
from dreaming.packets import best, estimate_tokens, number, render
from dreaming.tasks import mining
from dreaming.transcripts.interface import NotASession, Source, Transcript

RENDERED_TOKENS: Final = 100_000
"""Budget of one request when showing what would be sent."""


class AgentCount(msgspec.Struct):
    """What one agent left."""

    transcripts: int = 0
    sessions: int = 0
    bytes: int = 0
    versions: dict[str, int] = msgspec.field(default_factory=dict)
    kinds: dict[str, int] = msgspec.field(default_factory=dict)


class Survey(msgspec.Struct):
    """What reading everything would meet."""

    found: int = 0
    agents: dict[str, AgentCount] = msgspec.field(default_factory=dict)
    projects: dict[str, int] = msgspec.field(default_factory=dict)
    """Excerpts by project, as this machine names it."""
    verdicts: dict[str, int] = msgspec.field(default_factory=dict)
    """``verdict: reason`` with its number."""
    refused_bytes: int = 0
    unknown_records: dict[str, int] = msgspec.field(default_factory=dict)
    unreadable_lines: int = 0
    excerpts: int = 0
    tokens: int = 0
    """What a model would be sent, the best excerpts of each transcript, estimated."""
    cost: dict[str, float] = msgspec.field(default_factory=dict)
    """US dollars for that by backend, at list price, answers of a tenth of the length included."""


def survey(
    folders: Sequence[tuple[Source, Path]],
    reader: Reader,
    prices: dict[str, Price],
    progress: Progress,
    tokens_per_mb: int,
) -> Survey:
    """Read everything, keep nothing, and say what there is."""
    result = Survey()
    sessions: dict[str, set[str]] = {}
    listed = [(source, one) for source, folder in folders for one in source.list(folder)]
    progress.begin("reading", sum(one.size for _, one in listed if isinstance(one, Transcript)))
    for source, one in listed:
        result.found += 1
        if isinstance(one, NotASession):
            verdict = Verdict.FAILED if one.unreadable else Verdict.SKIPPED
            _bump(result.verdicts, f"{verdict}: {one.reason}")
            continue
        reading = reader.read(source, one, None)
        _count(result, one, reading, sessions.setdefault(one.agent, set()))
        shown = best(kept(reading.settlement), room(one.size, tokens_per_mb))
        for packets in number(shown, RENDERED_TOKENS):
            result.tokens += estimate_tokens([render(packets)])
        progress.step(one.size)
    for agent, ids in sessions.items():
        result.agents[agent].sessions = len(ids)
    for name, price in prices.items():
        result.cost[name] = price.estimate(result.tokens)
    return result


def rendered(
    path: Path, sources: Iterable[Source], reader: Reader, prompt: str, tokens_per_mb: int
) -> str:
    """Return exactly what a backend would be sent about one transcript.

    Raises ``WrongUse`` where nothing of it would be sent, with the reason.
    """
    status = path.stat()
    reason = "no agent's session is in it"
    for source in sources:
        transcript = Transcript(
            agent=source.agent,
            place=os.fsencode(path),
            device=status.st_dev,
            inode=status.st_ino,
            size=status.st_size,
            modified_ns=status.st_mtime_ns,
            changed_ns=status.st_ctime_ns,
        )
        one = reader.read(source, transcript, None).settlement
        if one.verdict is Verdict.PROCESSED:
            shown = best(kept(one), room(status.st_size, tokens_per_mb))
            packets = number(shown, RENDERED_TOKENS)
            requests = (mining.request(p, (), prompt=prompt, identity="inspect") for p in packets)
            return "\n".join(f"{request.system}\n\n{request.prompt}" for request in requests)
        if one.verdict is not Verdict.SKIPPED:
            reason = f"{one.verdict}: {one.reason}"
    raise WrongUse(f"Nothing of {path} would be sent ({reason}).")


def _count(result: Survey, one: Transcript, reading: Reading, sessions: set[str]) -> None:
    settlement = reading.settlement
    reason = f": {settlement.reason}" if settlement.reason else ""
    _bump(result.verdicts, f"{settlement.verdict}{reason}")
    result.unreadable_lines += reading.unreadable_lines
    for kind, number_ in reading.unknown_records.items():
        _bump(result.unknown_records, kind, number_)
    if settlement.verdict in (Verdict.EXCLUDED, Verdict.HELD):
        result.refused_bytes += one.size
    agent = result.agents.setdefault(one.agent, AgentCount())
    if settlement.origin is not None:
        agent.transcripts += 1
        agent.bytes += one.size
        sessions.add(settlement.origin.session_id)
        _bump(agent.versions, settlement.origin.version or "unknown")
        _bump(agent.kinds, settlement.origin.kind)
    for _, project, _ in settlement.excerpts:
        _bump(result.projects, settlement.projects[project].identity)
    result.excerpts += len(settlement.excerpts)


def _bump(counts: dict[str, int], key: str, by: int = 1) -> None:
    counts[key] = counts.get(key, 0) + by
