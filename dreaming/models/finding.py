"""Excerpts, quotations and findings: what a session says that may be a lesson."""

from __future__ import annotations

from enum import StrEnum

import msgspec

from dreaming.models.session import Denier, Speaker, Tool


class SignalKind(StrEnum):
    """Why an excerpt was taken."""

    ERROR_FIX = "error-fix"
    """A call failed and a related one worked later."""
    ERROR = "error"
    """A call failed and nothing related worked."""
    CORRECTION = "correction"
    """A person corrected what was done."""
    DENIAL = "denial"
    """A call was denied, by a person or by a rule."""
    INTERRUPTION = "interruption"
    """A person interrupted, and what they said next."""
    ASSUMPTION = "assumption"
    """The model noticed by itself that it had assumed wrongly."""
    REJECTION = "rejection"
    """A linter, a formatter, a compiler or a hook rejected the work, whatever the call's status:
    one excerpt a name, so that each of several findings of one output stands for itself."""
    CANNOT = "cannot"
    """A restricted agent says what it structurally cannot do."""


class Quotation(msgspec.Struct, frozen=True, gc=False):
    """Words that stand in the redacted session exactly as given (white space folded)."""

    text: str
    speaker: Speaker
    line: int
    """1-based line of the transcript."""
    source: str
    """Hash of the whole text it stands in: one text read by many sessions is one source."""


_BY_NAME = frozenset({SignalKind.REJECTION, SignalKind.CORRECTION, SignalKind.INTERRUPTION})
"""Kinds of which one turn may give several excerpts."""


class Excerpt(msgspec.Struct, frozen=True):
    """A few turns that carry a signal, redacted. Made by ``signals``; kept over all nights."""

    kind: SignalKind
    line: int
    """1-based line of the turn that gave the signal."""
    record: str
    """Identity of that turn, the same in a fork's copy."""
    at: float
    """Seconds since 1970 UTC of that turn; 0.0 where unknown."""
    folder: str
    """Recorded working folder. Used to find the project and then dropped: never stored."""
    tool: Tool = Tool.OTHER
    wrong: str = ""
    """The action that failed, was corrected or denied."""
    error: str = ""
    """The telling lines of what came back."""
    remark: str = ""
    """What the model said between wrong and right."""
    words: str = ""
    """What the person (or a scripted prompt) said."""
    words_by: Speaker = Speaker.HUMAN
    right: str = ""
    """The action that worked, or followed the person's words."""
    added: tuple[str, ...] = ()
    """Tokens that the right action has and the wrong one has not."""
    removed: tuple[str, ...] = ()
    """Tokens that the wrong action has and the right one has not."""
    denier: Denier | None = None
    strength: float = 0.0
    """How strong the signal is by structure alone, about 0 to 3."""
    linked: float = 0.0
    """1.0 where a word of the person shows up in the action that followed."""
    redone: float = 0.0
    """How much the action that followed resembles the one before the signal, 0 to about 1.5."""
    cost: int = 0
    """Calls between what went wrong and what worked; 0 where unknown."""
    quotations: tuple[Quotation, ...] = ()
    names: tuple[str, ...] = ()
    """What ``motifs`` calls it, such as ``lint-md060``; sessions with one name met one thing."""

    @property
    def aspect(self) -> str:
        """What tells it from others of its turn: its kind, and what was rejected or wished."""
        named = self.names if self.kind in _BY_NAME else ()
        return " ".join((self.kind, *named))


class KeptExcerpt(msgspec.Struct, frozen=True):
    """An excerpt with its place in the history, as the state keeps it."""

    id: str
    """16 hex characters: keyed hash of agent, native id, line and kind."""
    session_id: str
    """16 hex characters: keyed hash of agent and native id."""
    root: str
    """The session id that stands for the whole family of resumes, forks and subagents."""
    agent: str
    native_id: str
    """For ordering and for the local look-up only; never in a file a person commits."""
    project: str
    """Keyed hash of the project."""
    headless: bool
    excerpt: Excerpt


class Finding(msgspec.Struct, frozen=True):
    """One gotcha in one session, as a backend reported it and a check confirmed it."""

    session_id: str
    slug: str
    topic: str
    symptom: str
    rule: str
    """Empty where the backend says that the evidence is no lesson."""
    evidence: tuple[str, ...]
    """Ids of kept excerpts; their quotations are true by construction."""
    backend: str


class Complaint(msgspec.Struct, frozen=True):
    """Something in an answer that could not be used: counted and kept, never a candidate."""

    reason: str
    detail: str = ""
    whole: bool = False
    """True where the answer as a whole could not be read: its question is still open."""
