"""The credential rules, as data.

A rule says where to look (anchors, found in one pass over the raw bytes), what to find there
(the shape, compared with the unwrapped text), what proves it, and what it does to a transcript.
"""

from __future__ import annotations

from collections.abc import Callable
from enum import StrEnum
from typing import Final

import msgspec

from dreaming.redaction.proofs import Proof


class Severity(StrEnum):
    """What a hit does to the transcript it stands in."""

    HIGH = "high"
    """The transcript is excluded."""
    MEDIUM = "medium"
    """The transcript is held until a person says what it is."""


class Rule(msgspec.Struct, frozen=True, kw_only=True):
    """One family of credentials."""

    name: str
    severity: Severity
    anchors: tuple[str, ...]
    """Hyperscan expressions over raw bytes: where a credential of this family may stand."""
    shape: str
    """Regular expression over unwrapped text; group ``value`` is the secret, ``name`` its name."""
    proof: Proof
    is_not: str
    """What looks alike and is no hit."""
    example: str
    """Template of invented text that must hit; the token is what ``seal`` is given."""
    counterexample: str
    """Template of invented text that must not."""
    source: str
    """Where the shape is described."""
    what: str = ""
    """What it looks for, shorter than the example, where that says all."""
    seal: Callable[[str], str] | None = None
    """Makes the checksum of an example's token right."""
    prefixes: tuple[bytes, ...] = ()
    """Fixed beginnings, of rules whose token can be put together again over a break."""
    before: int = 200
    """Bytes left of the anchor's end that the shape may need."""
    after: int = 500
    """Bytes right of the anchor's end that the shape may need."""
    many_lines: bool = False
    """Whether the shape goes over line ends."""
    bounded: bool = True
    """Whether a letter or digit beside the match makes it chance."""


HIGH: Final = Severity.HIGH
MEDIUM: Final = Severity.MEDIUM
