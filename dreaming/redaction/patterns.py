"""Patterns of one's own: regular expressions of what else must be replaced.

They see text as it reads, never the escapes of JSON. Each search has a time limit: a pattern that
backtracks without end makes the transcript failed, never clean.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Sequence
from typing import TYPE_CHECKING, Final

from dreaming.redaction.detector import ScanFailed

if TYPE_CHECKING:
    import regex

SECONDS: Final = 1.0
"""For one search of one text. Usual patterns take microseconds."""

PSEUDONYM: Final = re.compile(
    r"<(?:(?:uuid|email|user|host|ip|mac|phone|own):[0-9a-f]{4,16}|home)>"
)


class PatternTooSlow(ScanFailed):
    """A pattern of one's own took too long, so nothing is known about the transcript."""


class OwnPatterns:
    """The person's regular expressions, compiled. Raises ``regex.error`` for what is none."""

    def __init__(self, patterns: Sequence[str], seconds: float = SECONDS) -> None:
        self._patterns: list[regex.Pattern[str]] = []
        self._seconds = seconds
        if patterns:
            import regex  # late: few people have patterns

            self._patterns = [regex.compile(pattern) for pattern in patterns]

    def __bool__(self) -> bool:
        return bool(self._patterns)

    def replace(self, text: str, pseudonym: Callable[[str], str]) -> str:
        """Return the text with all that matches replaced, until nothing does; pseudonyms stay."""
        while True:
            spans = self._spans(text)
            if not spans:
                return text
            parts: list[str] = []
            position = 0
            for start, end in spans:
                if start >= position:
                    parts += (text[position:start], pseudonym(text[start:end]))
                    position = end
            text = "".join((*parts, text[position:]))

    def _spans(self, text: str) -> list[tuple[int, int]]:
        """Return where patterns match between the pseudonyms: earliest first, longest first."""
        found = []
        for number, pattern in enumerate(self._patterns, start=1):
            try:
                for start, end in _between(text):
                    for match in pattern.finditer(text, start, end, timeout=self._seconds):
                        if match.end() > match.start():
                            found.append(match.span())
            except TimeoutError as error:
                raise PatternTooSlow(f"Number {number} of `patterns` took too long.") from error
        return sorted(found, key=lambda span: (span[0], -span[1]))


def _between(text: str) -> Iterator[tuple[int, int]]:
    """Yield the stretches that no pseudonym covers."""
    start = 0
    for pseudonym in PSEUDONYM.finditer(text):
        yield start, pseudonym.start()
        start = pseudonym.end()
    yield start, len(text)
