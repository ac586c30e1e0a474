"""The grammar of a lesson's line, what may stand in it, and when two lessons are the same.

Pure: texts in, texts out. The line is made inert for markdown, because agents load the file: an
``@path`` outside a code span would import that path, a link would be followed.
"""

from __future__ import annotations

import hashlib
import re
import unicodedata
from datetime import date
from typing import Final

from dreaming.models.candidate import MAX_TEXT
from dreaming.models.lesson import Lesson

_LINE: Final = re.compile(
    r"^- \[(?P<day>\d{4}-\d{2}-\d{2})\] SYMPTOM: (?P<symptom>.*?) RULE: (?P<rule>.*?)"
    r"(?: <!-- dreaming:(?P<id>[0-9a-f]{8}) -->)?\s*$"
)
_SPAN: Final = re.compile(r"`[^`\n]+`")
_WORD: Final = re.compile(r"\S+")
_EDGE: Final = re.compile(r"^([(\"']*)(.*?)([)\"'.,;:!?]*)$", re.S)
_NOT_INERT: Final = re.compile(r"[@*_\[\]<>|#~$\\&{}]|://|/|^!.*\w")
_STOP: Final = frozenset(
    "a an and are as at be by do does for from has have if in instead into is it its of on or "
    "so than that the then there this to use using was when which with you your".split()
)

_WORD_OR_COMMA: Final = re.compile(r"\w+(?:[-./:]\w+)*|--?[\w-]+|[,&]")
_BETWEEN: Final = frozenset({",", "&", "and", "or"})
_SPACES: Final = re.compile(r"[ \u00a0\u2000-\u200a\u202f\u205f\u3000]+")


def format_line(day: date, symptom: str, rule: str, lesson_id: str) -> str:
    """Return the line of a lesson, without a newline, made inert for markdown.

    ``symptom`` and ``rule`` must have passed ``refusal``.
    """
    return (
        f"- [{day.isoformat()}] SYMPTOM: {inert(symptom)} RULE: {inert(rule)} "
        f"<!-- dreaming:{lesson_id} -->"
    )


def parse_line(line: str) -> Lesson | None:
    """Return the lesson in a line of our grammar, with or without anchor; ``None`` for others."""
    match = _LINE.match(line)
    if match is None:
        return None
    try:
        day = date.fromisoformat(match["day"])
    except ValueError:
        return None
    return Lesson(day, match["symptom"], match["rule"], match["id"] or "")


def refusal(text: str) -> str | None:
    """Return why ``text`` must not become part of a lesson; ``None`` where it may."""
    if not text.strip():
        return "it is empty"
    if len(text) > MAX_TEXT:
        return f"it has {len(text)} characters; at most {MAX_TEXT} fit"
    if "<!--" in text or "-->" in text:
        return "it holds a comment mark"
    for place, char in enumerate(text, start=1):
        if unicodedata.category(char) in {"Cc", "Cf", "Cs", "Co", "Zl", "Zp"}:
            return f"character {place} is U+{ord(char):04X}, which cannot be seen"
    return None


def inert(text: str) -> str:
    """Return ``text`` so that markdown and the agents that load it take it as words.

    Code spans stay. Outside them a word with a mark of markdown, an ``@``, a path or an address
    is put into a code span; a lone backtick becomes an apostrophe.
    """
    parts: list[str] = []
    end = 0
    for span in _SPAN.finditer(text):
        parts += [_inert_prose(text[end : span.start()]), span.group()]
        end = span.end()
    parts.append(_inert_prose(text[end:]))
    return "".join(parts)


def _inert_prose(text: str) -> str:
    return _WORD.sub(_inert_word, text.replace("`", "'"))


def _inert_word(match: re.Match[str]) -> str:
    word = match.group()
    if not _NOT_INERT.search(word):
        return word
    edges = _EDGE.match(word)
    if edges is None or not edges[2]:
        return f"`{word}`"
    return f"{edges[1]}`{edges[2]}`{edges[3]}"


def normalised(text: str) -> str:
    """Return ``text`` without case, punctuation, quoting and stop words: equal means the same."""
    folded = unicodedata.normalize("NFKC", text).casefold()
    words = re.findall(r"[\w]+(?:[-./:][\w]+)*|--?[\w-]+", folded)
    return " ".join(word for word in words if word not in _STOP)


def same_key(text: str) -> str:
    """Return what is left of ``text`` for telling whether another says the same.

    Like ``normalised``, and the items of a list count in any order. Never empty where ``text`` says
    something: words that are all stop words stand for themselves.
    """
    folded = unicodedata.normalize("NFKC", text).casefold()
    words = [
        word
        for word in _WORD_OR_COMMA.findall(folded)
        if word in _BETWEEN or word == "then" or word not in _STOP
    ]
    kept = " ".join(_lists_sorted(words))
    return kept or " ".join(folded.split())


def _lists_sorted(words: list[str]) -> list[str]:
    """Sort the items of each list ``a, b and c``; what stands between items goes."""
    found: list[str] = []
    items: list[str] = []
    between = False
    for word in words:
        if word in _BETWEEN:
            between = True
            continue
        if not between:
            found += sorted(items)
            items = []
        items.append(word)
        between = False
    return found + sorted(items)


def tidy(text: str) -> str:
    """Return ``text`` with harmless dress taken off: composed, spaces folded, none at its ends.

    A line break, a tab or anything else that steers stays, for ``refusal`` to name.
    """
    return _SPACES.sub(" ", unicodedata.normalize("NFC", text)).strip(" ")


def rule_hash(rule: str) -> str:
    """Return 16 hex characters that stand for a rule, whatever dress it wears."""
    return hashlib.sha256(normalised(rule).encode()).hexdigest()[:16]


def lesson_id(candidate_id: str) -> str:
    """Return the anchor of the lesson that a candidate becomes: 8 hex characters."""
    return hashlib.sha256(f"lesson {candidate_id}".encode()).hexdigest()[:8]
