"""From bytes to confirmed credentials: one pass for anchors, then a close look at each.

The pass runs every anchor over the raw bytes at once. What costs anything (unwrapping, regular
expressions, proofs) happens only in a window around an anchor. Bytes that hide an anchor (needless
escapes, terminal codes inside a word, percent-encoding, base64) have anchors of their own: there
the window is unwrapped and scanned again.
"""

from __future__ import annotations

import string
from collections.abc import Iterator, Sequence
from enum import Enum, auto
from typing import TYPE_CHECKING, Any, Final, NamedTuple

from dreaming.errors import DreamingError
from dreaming.redaction import decoding
from dreaming.redaction.context_rules import CONTEXTS
from dreaming.redaction.proofs import Candidate
from dreaming.redaction.rules import Rule
from dreaming.redaction.structure_rules import STRUCTURES
from dreaming.redaction.token_rules import TOKENS
from dreaming.redaction.windows import Window, around

if TYPE_CHECKING:
    import regex

RULES: Final = (*STRUCTURES, *TOKENS, *CONTEXTS)

CONFIRM_SECONDS: Final = 2.0
"""A confirmation takes microseconds; one that takes this long is an attack or a defect."""
DEEPEST: Final = 3
"""Base64 inside base64 inside an escape."""


class ScanFailed(DreamingError):
    """A transcript could not be scanned to its end, so nothing is known about it."""


class Trace(NamedTuple):
    """A confirmed credential."""

    rule: Rule
    value: bytes
    at: int
    """Where in the scanned bytes its anchor ends."""


class Wrapping(Enum):
    """Why a window is unwrapped and scanned again."""

    ESCAPED = auto()
    PERCENT = auto()
    BASE64 = auto()


_CODES: Final = r"(?:\\{1,4}u001b\[[0-9;]{0,8}[mK]|\x1b\[[0-9;]{0,8}[mK]){1,3}"
_UNSEEN: Final = "|".join(
    chr(code).encode().decode("latin-1") + rf"|\\u(?i:{code:04x})" for code in decoding.INVISIBLE
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
    (Wrapping.PERCENT, r"%(?:25)?[2-7][0-9A-Fa-f]"),
    (Wrapping.BASE64, rf"(?:^|[^A-Za-z0-9+/]|\\[nrt])(?:{_TEXT_QUAD}){{9}}"),
)
_BEFORE: Final = 300
_AFTER: Final = 1500
_WORD_BYTES: Final = (string.ascii_letters + string.digits + "_").encode()
_WORD: Final = frozenset(_WORD_BYTES)
_TOKEN_BYTES: Final = _WORD_BYTES + b"-./+=~"


class Detector:
    """Every rule, compiled once."""

    def __init__(self, rules: Sequence[Rule] = RULES, seconds: float = CONFIRM_SECONDS) -> None:
        import hyperscan  # late: loading it costs 20 ms

        self._seconds = seconds
        self._rules = {rule.name: rule for rule in rules}
        self._owners: list[Rule | Wrapping] = []
        expressions: list[bytes] = []
        for rule in rules:
            for anchor in rule.anchors:
                self._owners.append(rule)
                expressions.append(anchor.encode("latin-1"))
        for wrapping, anchor in _WRAPPINGS:
            self._owners.append(wrapping)
            expressions.append(anchor.encode("latin-1"))
        self._database = hyperscan.Database(mode=hyperscan.HS_MODE_BLOCK)
        self._database.compile(
            expressions=expressions,
            ids=list(range(len(expressions))),
            flags=[hyperscan.HS_FLAG_DOTALL] * len(expressions),
        )
        self._failure: type[Exception] = hyperscan.error
        self._shapes: dict[str, regex.Pattern[bytes]] = {}

    def find(
        self, data: bytes, low: int = 0, high: int | None = None, depth: int = 0
    ) -> Iterator[Trace]:
        """Yield every credential whose anchor ends in ``data[low:high]``.

        What stands outside that range is looked at, never judged. Raises ``ScanFailed``.
        """
        high = len(data) + 1 if high is None else high
        places: dict[str, list[int]] = {}
        wrapped: dict[Wrapping, list[int]] = {kind: [] for kind in Wrapping}
        for end, number in self._anchors(data):
            if low <= end < high:
                owner = self._owners[number]
                if isinstance(owner, Wrapping):
                    wrapped[owner].append(end)
                else:
                    places.setdefault(owner.name, []).append(end)
        for name, ends in places.items():
            rule = self._rules[name]
            for window in around(data, ends, rule.before, rule.after, rule.many_lines):
                for value in dict.fromkeys(self._confirm(rule, data, window)):
                    yield Trace(rule, value, window.ends[0])
        if depth < DEEPEST:
            yield from self._inside(data, wrapped, depth)

    def _anchors(self, data: bytes) -> list[tuple[int, int]]:
        found: list[tuple[int, int]] = []
        if not data:
            return found
        add = found.append

        def take(number: int, start: int, end: int, flags: int, context: object) -> None:
            add((end, number))

        try:
            self._database.scan(data, match_event_handler=take)
        except self._failure as error:
            raise ScanFailed(f"The pattern engine gave up: {error}") from error
        return found

    def _inside(
        self, data: bytes, wrapped: dict[Wrapping, list[int]], depth: int
    ) -> Iterator[Trace]:
        """Scan again what was escaped, percent-encoded or base64."""
        for kind, undo in (
            (Wrapping.ESCAPED, decoding.clean),
            (Wrapping.PERCENT, decoding.percent),
        ):
            for window in around(data, wrapped[kind], _BEFORE, _AFTER):
                raw = data[window.start : window.stop]
                plain = undo(raw)
                if plain != raw:
                    for trace in self.find(plain, depth=depth + 1):
                        yield trace._replace(at=window.ends[0])
        done = 0
        starts = [end - 36 for end in wrapped[Wrapping.BASE64]]
        if depth == 0 and (first := decoding.base64_start(data)) >= 0:
            starts.insert(0, first)  # the block begins inside a run
        for start in starts:
            if start >= done:
                text, done = decoding.base64_text(data, start)
                for trace in self.find(text, depth=depth + 1):
                    yield trace._replace(at=start)

    def _confirm(self, rule: Rule, data: bytes, window: Window) -> list[bytes]:
        """Return the values of this rule in a window: none where nothing is proven."""
        plain = decoding.clean(data[window.start : window.stop])
        cut = window.start == window.outer_start > 0
        values = self._matches(rule, plain, cut=cut)
        if values or not rule.prefixes:
            return values
        cut = window.outer_start > 0
        plain = decoding.clean(data[window.outer_start : window.outer_stop])
        if b"\n" in plain or b"\r" in plain:
            values = self._matches(rule, decoding.unwrap(plain), cut=cut, joined=True)
        if not values:
            whole = b"\n".join(_continued(rule, data, end) for end in window.ends)
            values = self._matches(rule, whole, joined=True)
        return values

    def _matches(
        self, rule: Rule, text: bytes, *, cut: bool = False, joined: bool = False
    ) -> list[bytes]:
        """Return the proven values in unwrapped text.

        ``cut``: the text begins in the middle of something. ``joined``: it was put together, so
        what follows a token proves nothing against it.
        """
        if not text:
            return []
        shape = self._shapes.get(rule.name)
        if shape is None:
            shape = self._shapes[rule.name] = _compiled(rule)
        values = []
        try:
            for match in shape.finditer(text, timeout=self._seconds):
                if cut and match.start() == 0:
                    continue
                if rule.bounded and not _stands_alone(text, match.start(), match.end(), joined):
                    continue
                if rule.proof(_candidate(match, text)):
                    values.append(match["value"])
        except TimeoutError as error:
            raise ScanFailed(f"The rule {rule.name} took too long on one place.") from error
        return values


def _compiled(rule: Rule) -> regex.Pattern[bytes]:
    import regex  # late: only needed where something was found

    return regex.compile(rule.shape.encode("latin-1"))


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


def _continued(rule: Rule, data: bytes, end: int) -> bytes:
    """Return a token that a stream of records cut in two, put together; empty where it was not.

    The first part ends its string, the second begins a string of one of the next two records.
    """
    before, after = data[max(0, end - 200) : end], data[end : end + 400]
    left = end - len(before) + len(before.rstrip(_TOKEN_BYTES))
    right = end + len(after) - len(after.lstrip(_TOKEN_BYTES))
    head = data[left:right]
    place = max((head.rfind(prefix) for prefix in rule.prefixes), default=-1)
    if place < 0 or len(head) - place < 10 or not _begins(data, left + place):
        return b""
    if not data[right : right + 12].lstrip(b"\\n").startswith(b'"'):
        return b""
    out = []
    for run in _opening_runs(data, right):
        out.append(head[place:] + run)
    return b"\n".join(out)


def _begins(data: bytes, at: int) -> bool:
    """Say whether a token may begin here: after no word, the letter of an escape aside."""
    if at == 0 or data[at - 1] not in _WORD:
        return True
    return at > 1 and data[at - 2] == 0x5C and data[at - 1] in b"nrt"


def _opening_runs(data: bytes, at: int) -> Iterator[bytes]:
    """Yield what each string of the next two records begins with."""
    import regex

    string = regex.compile(rb":\s*\\*\"([A-Za-z0-9_\-./+=~]{6,})")
    for _ in range(2):
        line = data.find(b"\n", at, at + 16_384)
        if line < 0:
            return
        at = data.find(b"\n", line + 1, line + 4097)
        at = at if at >= 0 else min(len(data), line + 4097)
        for found in string.finditer(data, line, at, timeout=CONFIRM_SECONDS):
            yield found[1]
