"""Find credentials and replace what identifies a person or a machine."""

from __future__ import annotations

from collections.abc import Sequence
from enum import StrEnum
from typing import Final

import msgspec

from dreaming.errors import DreamingError

RULES_VERSION: Final = "0"


class ScanFailed(DreamingError):
    """A transcript could not be scanned to its end, so nothing is known about it."""


class Severity(StrEnum):
    """What a hit does to the transcript it stands in: exclude it, or hold it."""

    HIGH = "high"
    MEDIUM = "medium"


class Hit(msgspec.Struct, frozen=True):
    """A credential shape, named by its rule and place; the value itself is never kept."""

    rule: str
    severity: Severity
    record: int
    fingerprint: str


class Scanner:
    """Reads one transcript block by block and says which credential shapes it holds."""

    def feed(self, data: bytes, first_line: int) -> None:
        """Take the next block of the transcript."""

    def finish(self) -> tuple[Hit, ...]:
        """Say what was found, once every block was fed."""
        return ()


class Redactor:
    """Holds the key, the machine's names and the compiled rules."""

    def __init__(self, key: bytes, names: Sequence[str] = ()) -> None:
        self._key = key
        self._names = tuple(names)

    def scanner(self) -> Scanner:
        """A scanner for one transcript."""
        return Scanner()

    def redact(self, texts: Sequence[str]) -> list[str]:
        """The texts with identifying strings replaced by stable pseudonyms."""
        return list(texts)

    def is_clean(self, texts: Sequence[str]) -> bool:
        """Whether no credential shape of either severity stands in these texts."""
        return True
