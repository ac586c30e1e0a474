"""From bytes to confirmed credentials: one pass for anchors, then a close look at each.

The pass runs every anchor over the raw bytes at once. What costs anything (unwrapping, regular
expressions, proofs) happens only in a window around an anchor. Bytes that hide an anchor (needless
escapes, terminal codes inside a word, percent-encoding, base64) have anchors of their own: there
the window is unwrapped and scanned again.
"""

from __future__ import annotations

import string
from bisect import bisect_right
from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from enum import Enum, auto
from functools import cached_property
from typing import TYPE_CHECKING, Any, Final, NamedTuple

from dreaming.redaction import decoding
from dreaming.redaction.anchors import Anchors, Kept, Place, ScanFailed
from dreaming.redaction.context_rules import CONTEXTS
from dreaming.redaction.proofs import Candidate
from dreaming.redaction.rules import Rule
from dreaming.redaction.structure_rules import STRUCTURES
from dreaming.redaction.token_rules import TOKENS
from dreaming.redaction.vendor_rules import VENDORS
from dreaming.redaction.windows import Window, around

if TYPE_CHECKING:
    import regex

__all__ = ["RULES", "Detector", "ScanFailed", "Trace", "Work"]

RULES: Final = (*STRUCTURES, *TOKENS, *VENDORS, *CONTEXTS)

CONFIRM_SECONDS: Final = 2.0
"""A confirmation takes microseconds; one that takes this long is an attack or a defect."""
DEEPEST: Final = 3
"""Base64 inside base64 inside an escape."""
ENOUGH: Final = 50
"""Hits of one rule in one transcript. More change nothing about what becomes of it."""
FREE: Final = 704 << 10
"""Bytes that may be compared closely in vain, however short a transcript is."""
SHARE: Final = 32
"""Beyond ``FREE``, one in so many bytes of the transcript. The real transcript with most needs a
third of what it may, long ones a tenth."""


class Trace(NamedTuple):
    """A confirmed credential."""

    rule: Rule
    value: bytes
    at: int
    """Where in the scanned bytes its anchor ends."""


class Work:
    """What was done for one transcript, and what that came to."""

    def __init__(self, size: int = 0) -> None:
        self.size = size
        """Bytes of the transcript that were read."""
        self.compared = 0
        """Bytes that were compared with the shape of a rule in vain, as often as they were; other
        work in proportion to its time."""
        self.hits: Counter[str] = Counter()
        """By rule. Whoever takes a trace and counts it here ends the search after ``ENOUGH``."""

    def charge(self, count: int) -> None:
        """Count bytes to be compared. Raises ``ScanFailed`` for more than any real text needs."""
        self.compared += count
        if self.compared > FREE + self.size // SHARE:
            raise ScanFailed("It has more places that look like credentials than can be compared.")


class Wrapping(Enum):
    """Why a window is unwrapped and scanned again."""

    ESCAPED = auto()
    PERCENT = auto()
    PIECES = auto()
    BASE64 = auto()


_CODES: Final = r"(?:\\{1,4}u001b\[[0-9;]{0,8}[mK]|\x1b\[[0-9;]{0,8}[mK]){1,3}"
_UNSEEN: Final = "|".join(
    "".join(f"\\x{byte:02x}" for byte in chr(code).encode()) + rf"|\\u(?i:{code:04x})"
    for code in decoding.INVISIBLE
)
_TEXT_QUAD: Final = (
    "[CDI-Za-f][ACDEFGHQSTUVWXgijklmnwyz0123][AEIMQUYcgkosw048BFJNRVZdhlptx159][A-Za-z0-9+/]"
)
"""Four base64 characters that stand for three printable bytes."""
_WRAPPINGS: Final = (
    (Wrapping.ESCAPED, r"\\u00[2-7][0-9a-fA-F]"),
    (Wrapping.ESCAPED, rf"[A-Za-z0-9_-]{{2}}{_CODES}[A-Za-z0-9_-]{{8}}"),
    (Wrapping.ESCAPED, rf"(?i)(?:secret|key|token|pass|auth)[a-z_-]{{0,12}}[=: ]{{0,3}}{_CODES}"),
    (Wrapping.ESCAPED, rf"[!-~](?:{_UNSEEN})[!-~]"),
    (Wrapping.ESCAPED, rf":\\{{0,4}}/\\{{0,4}}/{_CODES}"),
    (Wrapping.ESCAPED, r"(?:\\{1,8}x[2-7][0-9a-fA-F]){8}"),
    (Wrapping.ESCAPED, r"[A-Za-z0-9]\\{1,8}_[A-Za-z0-9_-]{8}"),  # as Markdown writes an underscore
    (Wrapping.PERCENT, r"%(?:25)?[2-7][0-9A-Fa-f]"),
    (Wrapping.PIECES, r"[\"'] ?\+ ?\\{0,8}[\"'][A-Za-z0-9/_+.~%=-]{6}"),
    (Wrapping.PIECES, r"[\"'] \. \\{0,8}[\"'][A-Za-z0-9/_+-]{6}"),
    (Wrapping.BASE64, rf"(?:^|[^A-Za-z0-9+/]|\\[nrt])(?:{_TEXT_QUAD}){{9}}"),
)
_BEFORE: Final = 300
_AFTER: Final = 1500
_LONG: Final = 32 << 10
"""To unwrap costs no more than in proportion, so fewer windows need to overlap."""
_UNDO: Final = (
    (Wrapping.ESCAPED, decoding.clean),
    (Wrapping.PERCENT, decoding.percent),
    (Wrapping.PIECES, decoding.pieces),
)
_BETWEEN: Final = b"\n\x00\n"
_WORD_BYTES: Final = (string.ascii_letters + string.digits + "_").encode()
_WORD: Final = frozenset(_WORD_BYTES)
_TOKEN_BYTES: Final = rb"[A-Za-z0-9_\-./+=~]"
_TOKEN: Final = _WORD_BYTES + b"-./+=~"
_NEAR: Final = 300
"""Bytes from the end of one string of a record to the beginning of the next that may go on."""
_PROOF_COST: Final = 1 << 6
"""Judging one candidate costs at least as much as to compare this many bytes."""
_HEAD_COST: Final = 1 << 6
"""Looking for the rest of a token in the next record costs at least as much as to compare this."""
_FIXED_BYTES: Final = 4
"""Bytes compared with a shape that begins with something fixed, in the time of one with others."""
_ESCAPE_COST: Final = 1
_RUN_COST: Final = 1 << 4
"""Decoding one run of base64, however short."""
_DENSE_BYTES: Final = 5
"""Bytes full of anchors that are gone through in the time of comparing one."""
_WRAPPED_BYTES: Final = 32
"""Bytes that are unwrapped, apart from what they hold, in the time of comparing one."""


class Detector:
    """Every rule, compiled once."""

    def __init__(
        self,
        rules: Sequence[Rule] = RULES,
        seconds: float = CONFIRM_SECONDS,
        kept: Kept | None = None,
    ) -> None:
        self._seconds = seconds
        self._owners: list[Rule | Wrapping] = []
        expressions: list[str] = []
        for rule in rules:
            self._owners += [rule] * len(rule.anchors)
            expressions += rule.anchors
        for wrapping, anchor in _WRAPPINGS:
            self._owners.append(wrapping)
            expressions.append(anchor)
        self._anchors = Anchors(expressions, kept)
        self._shapes: dict[str, regex.Pattern[bytes]] = {}

    def find(
        self,
        data: bytes,
        low: int = 0,
        high: int | None = None,
        work: Work | None = None,
        depth: int = 0,
    ) -> Iterator[Trace]:
        """Yield every credential whose anchor ends in ``data[low:high]``.

        What stands outside that range is looked at, never judged. Raises ``ScanFailed``.
        """
        high = len(data) + 1 if high is None else high
        work = Work(len(data)) if work is None else work
        rules: dict[str, tuple[Rule, list[Place]]] = {}
        wrapped: dict[Wrapping, list[Place]] = {}
        for place in self._anchors.find(data, lambda size: work.charge(size // _DENSE_BYTES)):
            first, last, number = place
            if first < low or last >= high:
                if last < low or first >= high:
                    continue
                place = Place(max(first, low), min(last, high - 1), number)
            owner = self._owners[number]
            if isinstance(owner, Wrapping):
                wrapped.setdefault(owner, []).append(place)
            else:
                rules.setdefault(owner.name, (owner, []))[1].append(place)
        for rule, places in rules.values():
            if len(rule.anchors) > 1:
                places.sort()
            yield from self._at(rule, data, places, work)
        if depth < DEEPEST:
            for kind, undo in _UNDO:
                if kind in wrapped:
                    texts = _unwrapped(data, wrapped[kind], undo, work)
                    yield from self._inside(texts, work, depth)
            runs = _decoded(data, wrapped.get(Wrapping.BASE64, ()), depth, work)
            yield from self._inside(runs, work, depth)

    def _at(self, rule: Rule, data: bytes, places: list[Place], work: Work) -> Iterator[Trace]:
        """Yield what is confirmed at the places of one rule. What is the same is compared once."""
        alike: dict[tuple[bytes, int, int], list[Window]] = {}
        for window in around(data, places, rule.before, rule.after, rule.many_lines):
            outer = data[window.outer_start : window.outer_stop]
            start, stop = window.start - window.outer_start, window.stop - window.outer_start
            alike.setdefault((outer, start, stop), []).append(window)
        for (outer, start, stop), windows in alike.items():
            if work.hits[rule.name] >= ENOUGH:
                return
            cut, before = windows[0].outer_start > 0, work.compared
            values = self._confirm(rule, outer, start, stop, cut, work)
            if values:
                work.compared = before  # of hits there are enough, sooner or later
            for window in windows:
                if values and not rule.many_lines and b"\n" in outer[start:stop]:
                    yield from self._by_line(rule, data, window, values, work)
                    continue
                for value in values or self._continued(rule, data, window, work):
                    yield Trace(rule, value, window.at)

    def _by_line(
        self, rule: Rule, data: bytes, window: Window, values: list[bytes], work: Work
    ) -> Iterator[Trace]:
        """Say for each value in which line of its window it stands."""
        at, left = window.start, set(values)
        for line in data[window.start : window.stop].split(b"\n"):
            for value in self._matches(rule, decoding.clean(line), work):
                if work.hits[rule.name] >= ENOUGH:
                    return
                yield Trace(rule, value, at + 1)
                left.discard(value)
            at += len(line) + 1
        for value in left:
            yield Trace(rule, value, window.at)

    def _inside(
        self, texts: Iterator[tuple[bytes, list[int]]], work: Work, depth: int
    ) -> Iterator[Trace]:
        """Scan unwrapped texts, all of them together."""
        parts: list[bytes] = []
        starts: list[int] = []
        places: list[list[int]] = []
        size = 0
        for text, at in texts:
            parts.append(text)
            starts.append(size)
            places.append(at)
            size += len(text) + len(_BETWEEN)
        if not parts:
            return
        for trace in self.find(_BETWEEN.join(parts), work=work, depth=depth + 1):
            for place in places[max(0, bisect_right(starts, trace.at - 1) - 1)]:
                yield trace._replace(at=place)

    def _confirm(
        self, rule: Rule, outer: bytes, start: int, stop: int, cut: bool, work: Work
    ) -> list[bytes]:
        """Return the values of this rule in a window: none where nothing is proven."""
        raw = outer[start:stop]
        cheap = _FIXED_BYTES if rule.prefixes or rule.many_lines else 1
        work.charge(len(raw) // cheap)
        values = self._matches(rule, decoding.clean(raw), work, cut=cut and start == 0)
        if values or not rule.prefixes:
            return values
        plain = decoding.clean(outer)
        if b"\n" in plain or b"\r" in plain:
            work.charge(len(plain) // cheap)
            values = self._matches(rule, decoding.unwrap(plain), work, cut=cut, joined=True)
        return values

    def _matches(
        self, rule: Rule, text: bytes, work: Work, *, cut: bool = False, joined: bool = False
    ) -> list[bytes]:
        """Return the proven values in unwrapped text.

        ``cut``: the text begins in the middle of something. ``joined``: it was put together, so
        what follows a token proves nothing against it.
        """
        if not text:
            return []
        shape = self._shapes.get(rule.name)
        if shape is None:
            shape = self._shapes[rule.name] = _compiled(rule.shape.encode("latin-1"))
        values: dict[bytes, None] = {}
        try:
            for match in shape.finditer(text, timeout=self._seconds):
                if cut and match.start() == 0:
                    continue
                if rule.bounded and not _stands_alone(text, match.start(), match.end(), joined):
                    continue
                work.charge(_PROOF_COST)
                if rule.proof(_candidate(match, text)):
                    values[match["value"]] = None
        except TimeoutError as error:
            raise ScanFailed(f"The rule {rule.name} took too long on one place.") from error
        return list(values)

    def _continued(self, rule: Rule, data: bytes, window: Window, work: Work) -> list[bytes]:
        """Return tokens that a stream of records or parts of a message cut in two, put together.

        The first part ends its string, the second begins a string soon after it in the same record,
        or one of the next two records.
        """
        out: list[bytes] = []
        if not rule.prefixes:
            return out
        for start, head in _ends_of_strings(data, window.outer_start, window.outer_stop):
            place = max((head.rfind(prefix) for prefix in rule.prefixes), default=-1)
            if 0 <= place <= len(head) - 10 and _begins(data, start + place):
                runs = self._opening_runs(data, start + len(head), work)
                out += [head[place:] + rest for rest in runs]
        return self._matches(rule, b"\n".join(out), work, joined=True)

    def _opening_runs(self, data: bytes, at: int, work: Work) -> Iterator[bytes]:
        """Yield what each string begins with, soon after a place and in the next two records."""
        near = data.find(b"\n", at, at + _NEAR)
        for found in self._opening.finditer(data, at, near if near >= 0 else at + _NEAR):
            yield found[1]
        for _ in range(2):
            line = data.find(b"\n", at, at + 16_384)
            if line < 0:
                return
            work.charge(_HEAD_COST)
            at = data.find(b"\n", line + 1, line + 4097)
            at = at if at >= 0 else min(len(data), line + 4097)
            for found in self._opening.finditer(data, line, at):
                yield found[1]

    @cached_property
    def _opening(self) -> regex.Pattern[bytes]:
        return _compiled(rb":\s*+\\*+\"(" + _TOKEN_BYTES + rb"{6,}+)")


def _compiled(pattern: bytes) -> regex.Pattern[bytes]:
    import regex  # late: only needed where something was found

    return regex.compile(pattern)


def _candidate(match: regex.Match[bytes], text: bytes) -> Candidate:
    groups: dict[str, Any] = match.groupdict()
    return Candidate(
        value=match["value"],
        whole=match[0],
        name=groups.get("name") or b"",
        before=text[max(0, match.start() - 80) : match.start()],
        after=text[match.end() : match.end() + 40],
    )


def _stands_alone(text: bytes, start: int, end: int, joined: bool) -> bool:
    """Say that a match is a token of its own: no part of a longer word, no chance in base64."""
    if start and text[start - 1] in _WORD:
        return False
    if not joined and end < len(text) and text[end] in _WORD:
        return False
    if start > 24 and text[start - 1] in b"+/":
        before = text[start - 24 : start]
        return not before.replace(b"+", b"a").replace(b"/", b"a").isalnum()
    return True


def _ends_of_strings(data: bytes, start: int, stop: int) -> Iterator[tuple[int, bytes]]:
    """Yield the token with which each string ends, escaped line ends aside, and where it begins."""
    done = start
    while (quote := data.find(b'"', done, stop + 12)) >= 0:
        text = data[done:quote]
        done = quote + 1
        ending = text[len(text.rstrip(b"\\n")) :]
        end = len(text) - (len(ending) - ending.find(b"\\") if b"\\" in ending else 0)
        head = text[len(text[:end].rstrip(_TOKEN)) : end]
        if len(head) >= 10 and len(text) - end <= 11:
            yield quote - len(text) + end - len(head), head


def _begins(data: bytes, at: int) -> bool:
    """Say whether a token may begin here: after no word, the letter of an escape aside."""
    if at == 0 or data[at - 1] not in _WORD:
        return True
    return at > 1 and data[at - 2] == 0x5C and data[at - 1] in b"nrt"


def _unwrapped(
    data: bytes, places: list[Place], undo: Callable[[bytes], bytes], work: Work
) -> Iterator[tuple[bytes, list[int]]]:
    """Yield what was escaped or percent-encoded, with where it stands."""
    alike: dict[bytes, list[int]] = {}
    places.sort()
    for window in around(data, places, _BEFORE, _AFTER, longest=_LONG):
        alike.setdefault(data[window.start : window.stop], []).append(window.at)
    for raw, at in alike.items():
        signs = raw.count(b"\\") + raw.count(b"%")
        work.charge(len(raw) // _WRAPPED_BYTES + signs * _ESCAPE_COST)
        plain = undo(raw)
        if plain != raw:
            yield plain, at


def _decoded(
    data: bytes, places: Sequence[Place], depth: int, work: Work
) -> Iterator[tuple[bytes, list[int]]]:
    """Yield the text of base64 runs, with where they begin."""
    done = 0
    for start in _base64_starts(data, places, depth):
        if start >= done:
            work.charge(_RUN_COST)
            text, done = decoding.base64_text(data, start)
            if text:
                yield text, [start + 1]


def _base64_starts(data: bytes, places: Sequence[Place], depth: int) -> Iterator[int]:
    """Yield where base64 may begin, ascending."""
    if depth == 0 and (begun := decoding.base64_start(data)) >= 0:
        yield begun  # the block begins inside a run
    for place in places:
        if place.first == place.last:
            yield place.first - 36
        else:
            yield from decoding.base64_starts(data, place.first - 36, place.last)
