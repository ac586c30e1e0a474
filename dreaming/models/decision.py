"""A decision: one line of the ledger."""

from __future__ import annotations

from enum import StrEnum
from typing import Annotated

from pydantic import AwareDatetime, BaseModel, ConfigDict, Field


class Action(StrEnum):
    """What a person decided."""

    ACCEPT = "accept"
    REJECT = "reject"


class Phase(StrEnum):
    """Where a decision that writes a file stands."""

    INTENT = "intent"
    """Durable before the knowledge base is touched: the commit point."""
    DONE = "done"


class Decision(BaseModel):
    """One line of ``ledger/reviewed-<writer>.jsonl``. Appended, never edited."""

    model_config = ConfigDict(frozen=True, extra="forbid")

    seq: Annotated[int, Field(ge=1)]
    at: AwareDatetime
    action: Action
    phase: Phase
    kind: str = "lesson"
    candidate: str = ""
    rule_hash: str = ""
    """Of the normalised rule: the same rule in other dress is the same decision."""
    lesson: str = ""
    topic: str = ""
    text: str = ""
    """The line exactly as written, or for a rejection the rule that was turned down."""
    before: str = ""
    """SHA-256 of the topic file before; empty where there was none."""
    after: str = ""
    reviewer: str = ""
    why: str = ""
    prev: Annotated[str, Field(pattern=r"^[0-9a-f]{64}$")]
    """SHA-256 of the line before; zeros for the first."""
