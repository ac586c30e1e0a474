"""What became of each transcript, and the report of a night."""

from __future__ import annotations

from collections import Counter
from datetime import UTC, datetime
from enum import StrEnum
from typing import Final

import msgspec


class Verdict(StrEnum):
    """What became of a transcript. Together they add up to what was found."""

    PROCESSED = "processed"
    """Read to its last whole line."""
    EXCLUDED = "excluded"
    """Left out: it holds a high-severity credential shape."""
    HELD = "held"
    """Left out until a person says a word: a medium-severity shape."""
    FAILED = "failed"
    """Unreadable or not scannable; tried again."""
    SKIPPED = "skipped"
    """Not a session, filtered, or not settled yet."""


REFUSED: Final = frozenset({Verdict.EXCLUDED, Verdict.HELD})
"""Verdicts after which nothing of a transcript is kept."""


class Outcome(StrEnum):
    """How a night ended. There is no fourth way."""

    ADVANCED = "advanced"
    STAYED = "stayed"
    FAILED = "failed"


class Spent(msgspec.Struct):
    """What a night's requests used; dollars at list price."""

    requests: int = 0
    input_tokens: int = 0
    output_tokens: int = 0
    cost: float = 0.0

    @property
    def tokens(self) -> int:
        """Read and written."""
        return self.input_tokens + self.output_tokens


class Withdrawn(msgspec.Struct):
    """What was taken back because a transcript turned out to hold a credential, or changed."""

    transcripts: int = 0
    excerpts: int = 0
    findings: int = 0
    answers: int = 0


def add(one: msgspec.Struct, other: msgspec.Struct) -> None:
    """Count ``other`` to ``one``, of the same kind."""
    for name in one.__struct_fields__:
        setattr(one, name, getattr(one, name) + getattr(other, name))


def iso(seconds: float) -> str:
    """Return an instant as reports tell it."""
    return datetime.fromtimestamp(seconds, UTC).isoformat(timespec="seconds")


class Queue(msgspec.Struct):
    """What the night did to ``pending/``."""

    waiting: int = 0
    new: int = 0
    updated: int = 0
    removed: int = 0
    held_back: int = 0
    """Eligible, but ``max_pending`` are waiting already."""
    known: int = 0
    """Left out because the knowledge base or a loaded file says it already."""
    decided: int = 0
    """Left out because a person decided it before."""
    seen_once: int = 0
    """Groups from one root session: they wait for a second."""


class Report(msgspec.Struct):
    """Everything a night did, counted with reasons. Nothing is swallowed."""

    started: str
    backend: str
    outcome: Outcome = Outcome.STAYED
    why: str = ""
    exit_code: int = 0
    """How the command leaves the shell: that of the worst that happened."""
    watermark: str | None = None
    found: int = 0
    verdicts: dict[Verdict, int] = msgspec.field(default_factory=dict)
    reasons: dict[str, int] = msgspec.field(default_factory=Counter)
    """``verdict: reason`` with its number."""
    read: int = 0
    """Transcripts opened tonight."""
    new_bytes: int = 0
    sessions: int = 0
    """Conversations the transcripts read tonight belong to (resumes and subagents joined)."""
    unreadable_lines: int = 0
    unknown_records: dict[str, int] = msgspec.field(default_factory=Counter)
    """``agent version: type`` with its number."""
    excerpts: int = 0
    findings: int = 0
    complaints: dict[str, int] = msgspec.field(default_factory=Counter)
    set_aside: int = 0
    """Requests that failed as often as we pay for: reported, and no longer in the way."""
    withdrawn: Withdrawn = msgspec.field(default_factory=Withdrawn)
    queue: Queue = msgspec.field(default_factory=Queue)
    spent: Spent = msgspec.field(default_factory=Spent)
    estimated: Spent = msgspec.field(default_factory=Spent)
    """What its questions were thought to take before they were asked."""
    not_before: str | None = None
    """From when the account may be asked again, where its quota was in the way."""
    limited: bool = False
    """It ended at a limit that a person set: the next night comes as after one in order."""
    older: int = 0
    """Transcripts from before the first night that wait for ``--since all``."""
    older_bytes: int = 0
    stale: int = 0
    """Settled transcripts that wait to be scanned by new rules."""
    stale_bytes: int = 0
    seconds: dict[str, float] = msgspec.field(default_factory=dict)
    """Wall time by stage."""
    failures: list[str] = msgspec.field(default_factory=list)
    """What failed, in sentences; never with text from a transcript."""
