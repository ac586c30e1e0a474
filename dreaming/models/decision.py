"""A decision: one line of the ledger."""

from __future__ import annotations

from datetime import date
from enum import StrEnum
from typing import Annotated, Final

import msgspec
from pydantic import AwareDatetime, BaseModel, ConfigDict, Field


class Action(StrEnum):
    """What a person decided."""

    ACCEPT = "accept"
    EDIT = "edit"
    """Accepted in other words, or under another topic, than proposed."""
    MERGE = "merge"
    """The same as another candidate or as a lesson there is."""
    REJECT = "reject"
    LATER = "later"
    UNDO = "undo"
    """Takes another decision back; also an undo can be undone."""
    RETIRE = "retire"
    SUPERSEDE = "supersede"
    ALLOW = "allow"
    """A value that a rule of redaction finds is no credential."""
    RELEASE = "release"
    """A held transcript is read although these hits of medium severity stand in it."""


REDACTION: Final = "redaction"
"""The kind of decision that is about a hit and not about a lesson."""


class Phase(StrEnum):
    """Where a decision that writes a file stands."""

    INTENT = "intent"
    """Durable before the knowledge base is touched: the commit point."""
    DONE = "done"
    DROPPED = "dropped"
    """The intent before it could not be carried out any more: it counts as never decided."""


class Decision(BaseModel):
    """One line of ``ledger/reviewed-<writer>.jsonl``. Appended, never edited."""

    model_config = ConfigDict(frozen=True, extra="forbid")

    seq: Annotated[int, Field(ge=1)]
    at: AwareDatetime
    action: Action
    phase: Phase
    kind: str = "lesson"
    candidate: str = ""
    """Empty for a lesson of one's own."""
    rule_hash: str = ""
    """Of the normalised rule: the same rule in other dress is the same decision."""
    lesson: str = ""
    topic: str = ""
    text: str = ""
    """The line exactly as written, or the rule that was turned down, put off or merged; of a
    release the fingerprints it holds for."""
    was: str = ""
    """The line that stood there before, exactly; of what replaces or takes out a line."""
    proposed: str = ""
    """The rule as it was proposed, where a person changed it."""
    target: str = ""
    """Of a merge the candidate or lesson, of an undo the decision, of a supersede the lesson, of an
    allow the fingerprint, of a release the transcript's keyed id."""
    until: str = ""
    """Of later: a day, or a number of new sessions."""
    group: str = ""
    """What the lines of one bulk decision have in common."""
    before: str = ""
    """SHA-256 of the topic file before; empty where there was none."""
    after: str = ""
    reviewer: str = ""
    why: str = ""
    prev: Annotated[str, Field(pattern=r"^[0-9a-f]{64}$")]
    """SHA-256 of the line before; zeros for the first."""
    writer: Annotated[str, Field(exclude=True)] = ""
    """Whose chain it stands in: the name of the file says it, not the line."""

    @property
    def name(self) -> str:
        """How a person names it: the chain and the line's number in it."""
        return f"{self.writer}:{self.seq}"

    @property
    def until_day(self) -> date | None:
        """The day it was put off to; ``None`` where it waits for sessions instead."""
        return date.fromisoformat(self.until) if "-" in self.until else None


class Words(msgspec.Struct, frozen=True):
    """What people said about hits of redaction, as far as it stands. Nothing else overrules one."""

    allowed: frozenset[str] = frozenset()
    """Fingerprints of values that are no credentials."""
    released: dict[str, frozenset[str]] = msgspec.field(default_factory=dict)
    """By the keyed id of a transcript, the fingerprints that do not hold it any more."""
