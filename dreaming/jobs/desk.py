"""What deciding needs and what it answers: the values that both doors see."""

from __future__ import annotations

import secrets
from collections.abc import Callable, Mapping
from datetime import date, datetime
from pathlib import Path
from typing import Final, Literal

import msgspec

from dreaming.errors import AlreadyKnown, Refused
from dreaming.models.candidate import Candidate
from dreaming.models.decision import Action
from dreaming.redaction.engine import Redactor
from dreaming.stores.ledger import Ledger
from dreaming.stores.pending import Pending
from dreaming.stores.state import State

AGENT_VARIABLES: Final = (
    "CLAUDECODE",
    "CLAUDE_CODE_ENTRYPOINT",
    "CODEX_SANDBOX",
    "CODEX_THREAD_ID",
    "CURSOR_AGENT",
    "GEMINI_CLI",
    "OPENCODE",
    "AIDER_CHAT",
    "COPILOT_CLI",
)
"""Set by agents for the commands they run."""


class Desk(msgspec.Struct):
    """What deciding needs."""

    knowledge_base: Path
    pending: Pending
    ledger: Ledger
    state: State
    lock: Path
    """In the machine's own folder: it keeps processes apart, not machines that share a folder."""
    torn: Path
    """Where a torn last line of the ledger is set aside."""
    redactor: Redactor
    reviewer: str
    now: Callable[[], datetime]
    notes: list[str] = msgspec.field(default_factory=list)
    """What a person should be told besides the result."""
    max_topic_lines: int = 150
    """From here on a person is told that a topic is long."""
    group: str = ""
    """Of a bulk decision: what its lines in the ledger have in common."""

    @property
    def today(self) -> date:
        """The day it is, in UTC."""
        return self.now().date()


class Neighbour(msgspec.Struct, frozen=True):
    """A line that says something alike."""

    path: Path
    """The topic's file, or the ledger's for a rejected rule."""
    number: int
    """Of the line in that file, 1-based."""
    text: str
    likeness: float
    """0 to 1."""
    kind: Literal["lesson", "rejected"]
    lesson: str = ""
    """The lesson's id; empty for what a person wrote by hand and for a rejected rule."""


class NearlyKnown(AlreadyKnown):
    """The knowledge base has a line that says nearly the same; nothing was written."""

    def __init__(
        self, message: str = "", neighbours: tuple[Neighbour, ...] = (), *, remedy: str = ""
    ) -> None:
        self.neighbours = neighbours
        super().__init__(message, remedy=remedy)


class Written(msgspec.Struct, frozen=True):
    """What a decision did to the knowledge base, or would do."""

    candidate: Candidate | None
    """``None`` for a lesson of one's own, and where a lesson was retired or superseded."""
    path: Path
    line: str
    """The line that stands there now; empty where one was taken out."""
    new_topic: bool
    waiting: int
    """How many candidates wait now."""
    lesson: str = ""
    """The lesson's id."""
    was: str = ""
    """The line that stood there before; empty where one was only added."""
    neighbours: tuple[Neighbour, ...] = ()
    """The closest lines, closest first."""
    decision: str = ""
    """The decision's name, for ``undo``; empty for a dry run."""


class Undone(msgspec.Struct, frozen=True):
    """What undoing did."""

    action: Action
    """What was undone."""
    decision: str
    """Its name."""
    candidate: str
    """The candidate it was about; empty for a lesson of one's own and for a hit."""
    path: Path | None
    """The topic's file, where it changed."""
    line: str
    """The line that stands again; empty where none does."""
    was: str
    """The line that was taken out; empty where none was."""
    waits_again: bool
    """Whether the candidate is back in the queue now."""


def refuse_agents(environment: Mapping[str, str]) -> None:
    """Stop a decision that an agent, not a person, is about to make. A guard rail, not a wall.

    Raises ``Refused``.
    """
    found = [name for name in AGENT_VARIABLES if environment.get(name)]
    if found:
        raise Refused(
            f"This runs inside a coding agent ({found[0]} is set). A person decides.",
            remedy="Run it in a terminal of your own, or add --i-am-a-person if you are one.",
        )


def writer_name(state: State, reviewer: str) -> str:
    """Return the name of this machine's and person's chain: a handle and a random number."""
    machine = state.get("machine")
    if machine is None:
        machine = secrets.token_hex(4)
        state.put("machine", machine)
    return f"{reviewer}-{machine}"
