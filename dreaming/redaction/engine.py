"""The door of redaction: does a transcript hold a credential, and texts without identities.

Nothing inside a transcript can switch a hit off: there are no allow markers, and a word such as
"example" beside a credential means nothing. Where scanning fails, ``ScanFailed`` is raised:
"clean" is only said of what was scanned to its end.
"""

from __future__ import annotations

import hashlib
import hmac
from bisect import bisect_left
from collections.abc import Callable, Collection, Sequence
from functools import cached_property
from typing import Final

import msgspec

from dreaming.redaction import lane
from dreaming.redaction.detector import RULES, Detector, ScanFailed, Work
from dreaming.redaction.pseudonyms import Pseudonyms
from dreaming.redaction.rules import Rule, Severity

__all__ = ["RULES_VERSION", "Hit", "Redactor", "ScanFailed", "Scanner", "Severity"]

ENGINE_VERSION: Final = 3
"""Raised when the same rules find something else."""


def _version(rules: Sequence[Rule]) -> str:
    told = [(r.name, r.severity, r.anchors, r.shape, r.bounded, r.many_lines) for r in rules]
    return hashlib.sha256(repr((ENGINE_VERSION, told)).encode()).hexdigest()[:16]


RULES_VERSION: Final = _version(RULES)
"""Changes when a transcript found clean before may not be clean any more."""

_STEP: Final = 1 << 20
_LEAST: Final = 1 << 18
"""Smaller blocks are collected first: a scan of its own for each line would cost too much."""
_KEPT: Final = 24 << 10
"""Bytes kept from one step to the next, so that what a cut divides is whole again."""
_SEEN: Final = 8 << 10
"""Of the kept bytes, those judged in the step before; they stay as left context."""
MOST_HITS: Final = 1000
"""Of one transcript. More change nothing about what becomes of it."""
_PACKED: Final = (b"\x1f\x8b", b"PK\x03\x04", b"\x28\xb5\x2f\xfd", b"\xfd7zXZ", b"BZh")
"""How packed files begin. What is in them is not seen, so nothing is known about them."""


class Hit(msgspec.Struct, frozen=True):
    """A credential shape, named by its rule and place; the value itself is never kept."""

    rule: str
    severity: Severity
    record: int
    """1-based line of the transcript."""
    fingerprint: str
    """Keyed hash of the value, 16 hex characters: the same value has the same fingerprint."""


class Scanner:
    """Reads one transcript block by block and says which credential shapes it holds.

    Needs a few megabytes whatever the size of the transcript, its lines or its blocks. Every place
    is judged once, when enough of what stands on both sides of it was read.
    """

    def __init__(
        self, detector: Detector, key: bytes, let_in: Collection[str] = frozenset()
    ) -> None:
        self._detector = detector
        self._key = key
        self._let_in = let_in
        self._told: set[str] = set()
        """Of ``let_in`` what was found."""
        self.work = Work()
        self._parts: list[bytes] = []
        self._size = 0
        self._judged = 0
        self._marks: list[tuple[int, int]] = []
        """Offsets in the buffer with the line they stand in, ascending."""
        self._hits: dict[Hit, None] = {}

    def feed(self, data: bytes, first_line: int) -> None:
        """Take the next block; ``first_line`` is the 1-based line it begins in.

        Raises ``ScanFailed``.
        """
        if not self.work.size and data.startswith(_PACKED):
            raise ScanFailed("It cannot be decoded: it is packed (gzip, zip, zstd, xz, bzip2).")
        self.work.size += len(data)
        self._marks.append((self._size, first_line))
        view = memoryview(data)
        for at in range(0, len(data), _STEP):
            part = data if len(data) <= _STEP else bytes(view[at : at + _STEP])
            self._parts.append(part)
            self._size += len(part)
            if self._size >= _LEAST + _KEPT:
                self._forget(self._judge(self._size - (_KEPT - _SEEN)))

    def finish(self) -> tuple[Hit, ...]:
        """Say what was found, in the order of the transcript. Called once, after the last block.

        Of each rule the first ``detector.ENOUGH`` hits. Raises ``ScanFailed``.
        """
        self._judge(self._size + 1)
        self._parts, self._size, self._marks = [], 0, []
        return tuple(self._hits)

    def _judge(self, high: int) -> bytes:
        """Judge every place up to ``high`` that was not judged before; return the buffer."""
        data = b"".join(self._parts)
        found = []
        known: dict[bytes, str] = {}
        for trace in self._detector.find(data, self._judged, high, self.work):
            mark = known.get(trace.value) or fingerprint(self._key, trace.value)
            known[trace.value] = mark
            if mark in self._told:
                continue
            if mark in self._let_in:
                self._told.add(mark)
            else:
                self.work.hits[trace.rule.name] += 1
            found.append((trace.at, trace.rule, mark))
        at, line = 0, 0
        for end, rule, mark in sorted(found, key=lambda one: one[0]):
            if len(self._hits) >= MOST_HITS:
                break
            line = self._line_of(data, end, (at, line))
            at = end
            self._hits[Hit(rule.name, rule.severity, line, mark)] = None
        self._judged = high
        return data

    def _line_of(self, data: bytes, at: int, known: tuple[int, int] = (0, 0)) -> int:
        """Return the line in which the byte before ``at`` stands.

        ``known`` is a place before it, with its line.
        """
        offset, line = self._marks[bisect_left(self._marks, (max(at, 1), 0)) - 1]
        if known[0] > offset:
            offset, line = known[0] - 1, known[1]
        return line + data.count(b"\n", offset, max(at - 1, 0))

    def _forget(self, data: bytes) -> None:
        """Keep only what the next step needs."""
        gone = len(data) - _KEPT
        first = (0, self._line_of(data, gone + 1))
        self._marks = [first, *((at - gone, line) for at, line in self._marks if at > gone)]
        self._parts, self._size = [data[gone:]], _KEPT
        self._judged -= gone


class Redactor:
    """Holds the key, the machine's names and the compiled rules; make one for a whole run.

    ``names`` are this machine's user and host names: they are replaced wherever they stand alone.
    ``patterns`` are regular expressions of what else is replaced; ``regex.error`` for what is none.
    """

    def __init__(self, key: bytes, names: Sequence[str] = (), patterns: Sequence[str] = ()) -> None:
        self._key = key
        self._names = tuple(names)
        self._patterns = tuple(patterns)

    @cached_property
    def _detector(self) -> Detector:
        return Detector()

    @cached_property
    def _pseudonyms(self) -> Pseudonyms:
        return Pseudonyms(self._key, self._names, self._patterns)

    def scanner(self, let_in: Collection[str] = frozenset()) -> Scanner:
        """Return a scanner for one transcript.

        A fingerprint that a person ``let_in`` is a hit once, and hides no other.
        """
        return Scanner(self._detector, self._key, let_in)

    def redact(self, texts: Sequence[str], names: Sequence[str] = ()) -> list[str]:
        """Return the texts with identifying strings replaced by stable pseudonyms.

        Texts of one session belong in one call: user names learned from home folders in one text
        are replaced in all. ``names`` are further user names to replace. A text that holds nothing
        identifying is returned as the same object. Redacting twice changes nothing more.
        """
        return self._pseudonyms.redact(texts, names)

    def redact_bytes(
        self, read: Callable[[], lane.Blocks], allowed: Collection[str] = ()
    ) -> lane.Redacted | lane.Excluded | lane.Held:
        """Return what becomes of a transcript, from its bytes; see ``lane.redact``."""
        return lane.redact(read, lambda: self.scanner(allowed), self._pseudonyms, allowed)

    def is_clean(self, texts: Sequence[str]) -> bool:
        """Say whether no credential shape of either severity stands in these texts.

        The last gate before text is stored or sent. Raises ``ScanFailed``.
        """
        data = "\n\x00\n".join(texts).encode("utf-8", "surrogatepass")
        return next(iter(self._detector.find(data)), None) is None


def fingerprint(key: bytes, value: bytes) -> str:
    """Return the keyed hash by which a value is known without being told."""
    return hmac.new(key, b"credential\x00" + value, hashlib.sha256).hexdigest()[:16]
