"""The values that the state keeps, and what a night hands to it."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path

import msgspec

from dreaming.models.finding import Excerpt
from dreaming.models.report import Verdict


class Stamp(msgspec.Struct, frozen=True, gc=False):
    """What the file system says of a file. A hint that it changed; never proof."""

    device: int
    inode: int
    size: int
    modified_ns: int
    changed_ns: int


class Cursor(msgspec.Struct, frozen=True, gc=False):
    """Per transcript and purpose: how many bytes are settled, and the hash of those bytes."""

    transcript: int
    """Row of the transcript."""
    settled: int
    digest: str
    """SHA-256 over bytes [0, settled)."""
    verdict: Verdict
    reason: str
    rules: str
    """Version of the redaction rules the verdict was made with."""
    attempts: int
    stamp: Stamp
    looked_at: float
    """When a listing last found it settled, seconds since 1970 UTC."""


class Origin(msgspec.Struct, frozen=True):
    """Whose conversation a transcript belongs to."""

    agent: str
    """Whose session it is; another than the transcript's where somebody handed it over."""
    session_id: str
    native_id: str
    kin: tuple[str, ...]
    """Keyed hashes of the identities that relatives share."""
    kind: str
    version: str


class Project(msgspec.Struct, frozen=True):
    """A project as this machine knows it. Stays in the state."""

    id: str
    """Keyed hash of ``identity``."""
    identity: str
    """Git remote, else common directory, else the recorded path."""
    folder: str
    """A folder in which it was seen."""


class Found(msgspec.Struct, frozen=True, order=True):
    """A hit of redaction as the state knows it: never its value."""

    record: int
    """1-based line of the transcript."""
    rule: str
    severity: str
    fingerprint: str
    since: float = 0.0
    """When it was first found, seconds since 1970 UTC."""


class Settlement(msgspec.Struct):
    """What one transcript came to: everything the state must learn, in one transaction."""

    agent: str
    path: Path
    stamp: Stamp
    verdict: Verdict
    reason: str = ""
    settled: int = 0
    digest: str = ""
    rules: str = ""
    attempts: int = 0
    origin: Origin | None = None
    excerpts: tuple[tuple[str, str, Excerpt], ...] = ()
    """(excerpt id, project id, excerpt without its folder)."""
    terms: frozenset[str] = frozenset()
    """Distinct tokens, for document frequencies."""
    deeds: Mapping[str, tuple[float, bytes]] = msgspec.field(default_factory=dict)
    """By project: when it began, seconds since 1970 UTC, and what was done there, packed."""
    projects: Mapping[str, Project] = msgspec.field(default_factory=dict)
    hits: tuple[Found, ...] = ()
    """What redaction found, also what a person overruled."""
    keep: bool = False
    """Only move the cursor: what is known of the transcript stands (a touched file)."""


class Kept(msgspec.Struct, frozen=True):
    """What a candidate was when a person decided it."""

    candidate: str
    body: str
    """Its file in ``pending/``."""
    excerpts: int
    """How many it was made of."""
    sessions: frozenset[str]
    """Root sessions."""
