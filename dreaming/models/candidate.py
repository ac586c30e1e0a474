"""A candidate: what waits in ``pending/`` for a person's decision (DESIGN: deliberately narrow)."""

from __future__ import annotations

from datetime import datetime
from enum import StrEnum
from typing import Annotated, Final, Literal

from pydantic import AwareDatetime, BaseModel, ConfigDict, Field

TOPIC_PATTERN: Final = r"^[a-z0-9][a-z0-9-]{0,63}$"
ID_PATTERN: Final = r"^[0-9a-f]{16}$"
MAX_TEXT: Final = 400
"""Longest symptom or rule, in characters."""


class Flag(StrEnum):
    """Why a person should look twice. Flagged candidates are never decided in bulk."""

    EXTERNAL = "external"
    """The evidence stands only in tool output."""
    SAME_SOURCE = "same-source"
    """One text, read by several sessions."""
    INSTRUCTION = "instruction"
    """It asks to switch off a check, to fetch, to run or to send something."""
    URL = "url"
    NEAR_KNOWN = "near-known"
    MAYBE_FIXED = "maybe-fixed"
    MIXED_SCRIPT = "mixed-script"


class Candidate(BaseModel):
    """Findings of one gotcha from two or more sessions, not yet known.

    No quotation, path, user name or native id: the evidence stays in the state and is joined by
    the screen and by ``dreaming reveal``.
    """

    model_config = ConfigDict(frozen=True, extra="forbid")

    schema_version: Annotated[Literal[1], Field(alias="schema")] = 1
    kind: Literal["lesson"] = "lesson"
    id: Annotated[str, Field(pattern=ID_PATTERN)]
    """That of its oldest excerpt: made from evidence, not from wording."""
    formerly: tuple[str, ...] = ()
    """Ids it had before; decisions follow them."""
    slug: Annotated[str, Field(pattern=r"^[a-z0-9][a-z0-9-]{0,79}$")]
    topic: Annotated[str, Field(pattern=TOPIC_PATTERN)]
    symptom: Annotated[str, Field(min_length=1, max_length=MAX_TEXT)]
    rule: Annotated[str, Field(min_length=1, max_length=MAX_TEXT)]
    session_ids: tuple[str, ...]
    """Root sessions, sorted."""
    sessions: int
    agents: tuple[str, ...]
    projects: tuple[str, ...]
    """Keyed hashes."""
    first_seen: AwareDatetime | None
    last_seen: AwareDatetime | None
    score: float
    backend: str
    flags: tuple[Flag, ...] = ()


def when(seconds: float) -> datetime | None:
    """The instant of a recorded time; ``None`` where the agent recorded none."""
    from datetime import UTC

    return datetime.fromtimestamp(seconds, UTC) if seconds > 0 else None
