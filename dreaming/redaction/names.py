"""The names of people and machines: learned from what a transcript says, found in every spelling.

A home folder tells a user's name, a line of git tells a person's. Once learned, a name is replaced
wherever it stands as a word of its own, in any case, with its dots as dashes, its letters escaped.
"""

from __future__ import annotations

import re
from collections.abc import Collection, Iterable, Iterator
from typing import Final, NamedTuple
from urllib.parse import quote

from dreaming.redaction.detector import ScanFailed
from dreaming.redaction.homes import around, stands_free
from dreaming.redaction.identities import COMMON_WORDS, is_nobodys_mail

GIT_ANCHORS: Final = (
    r"(?:[Aa]uthor|[Cc]ommitter|-[Bb]y|[Tt]agger):? +[^<>\x00-\x1f\"\\]{2,60} <",
    r"user\.name[= ]",
)
"""Hyperscan expressions: where git says who somebody is."""

_SIGNED: Final = re.compile(
    rb"(?i)(?:author|committer|-by|tagger):? +(?P<name>[^<>\x00-\x1f\"\\:@]{2,60}?) +"
    rb"<(?P<mail>[^<>\s\"\\]{3,100})>"
)
_CONFIGURED: Final = re.compile(
    rb"user\.name(?:(?: ?= ?)\\{0,8}[\"']?| {1,4}\\{0,8}[\"'])"
    rb"(?P<name>(?:[A-Za-z\x80-\xff][\w.'\x80-\xff-]{0,30} ?){1,4})"
)
_PERSONS_NAME: Final = re.compile(r"[^\W\d_][\w.'’-]*(?: [^\W\d_][\w.'’-]*){1,3}")
_HANDLE: Final = re.compile(r"[\w.-]+")
_SHORTEST: Final = 3
_SHORTEST_GLUED: Final = 5
"""A shorter name beside an underscore is a part of an identifier: ``tom_m``."""
_MOST: Final = 2000
"""Names of one transcript: more are not learned from people."""
_GAP: Final = r"(?:[ ._+-]|%20)"


class Learned(NamedTuple):
    """Names in lower case."""

    names: frozenset[str] = frozenset()
    """Replaced in any case. A name of two words is a person's full name."""
    first: frozenset[str] = frozenset()
    """First names: replaced only where they are written as names are, with a capital."""

    def and_of(self, other: Learned) -> Learned:
        """Return the names of both. Raises ``ScanFailed`` where they are too many to look for."""
        both = Learned(self.names | other.names, self.first | other.first)
        if len(both.names) > _MOST and both != self:
            raise ScanFailed(f"More than {_MOST} names of users stand in it.")
        return both


def of_users(names: Iterable[str]) -> Learned:
    """Return what is to be looked for where these are names of users, machines or people."""
    return _learned(name for name in names if name)


def _learned(names: Iterable[str]) -> Learned:
    found, first = set(), set()
    for name in names:
        folded = " ".join(name.lower().split())
        if is_usable(folded):
            found.add(folded)
        if _PERSONS_NAME.fullmatch(" ".join(name.split())):
            first |= _first_name(folded)
    return Learned(frozenset(found), frozenset(first))


def is_usable(name: str) -> bool:
    """Say whether a name, in lower case, can be replaced where it stands alone."""
    return len(name) >= _SHORTEST and name.encode() not in COMMON_WORDS and not name.isdigit()


def _first_name(folded: str) -> set[str]:
    """Return the first name of a full one, unless some part of it is a word."""
    words = folded.split()
    if any(word.encode() in COMMON_WORDS for word in words) or not words[0].isalpha():
        return set()
    return {words[0]} if len(words[0]) > _SHORTEST else set()


def git_names(data: bytes, at: int) -> Learned:
    """Return who a line of git names; nobody where that is a program or an invented person."""
    found = around(_SIGNED, data, at, 80, 110)
    if found:
        mail = found["mail"].lower()
        if is_nobodys_mail(mail):
            return Learned()
        name, local = _text(found["name"]), _text(mail.split(b"@")[0])
        if " " not in name.strip():  # a handle: trusted where the address says the same
            return _learned([name] if name.lower() in local and _HANDLE.fullmatch(name) else [])
        learned = _learned([name] if _PERSONS_NAME.fullmatch(name) else [])
        return learned if any(one in local for one in learned.first) else Learned(learned.names)
    found = _CONFIGURED.match(data, max(0, at - 10))
    name = _text(found["name"]).strip() if found else ""
    is_persons = name == name.title() and _PERSONS_NAME.fullmatch(name)
    return Learned(_learned([name]).names) if is_persons else Learned()


def _text(raw: bytes) -> str:
    return raw.decode("utf-8", "replace")


class Finder:
    """Looks for names; all of them in one pass."""

    def __init__(self, learned: Learned, users: Collection[str]) -> None:
        import hyperscan  # late: loading it costs 20 ms

        self._users = users
        names = sorted(learned.names)
        self._names = [*names]
        first = sorted(learned.first - learned.names)
        expressions = [_any_spelling(name) for name in self._names]
        self._lengths = [len(name) if name.isascii() and " " not in name else 0 for name in names]
        expressions += [f"{name.capitalize()}|{name.upper()}" for name in first]
        self._names += first
        self._lengths += [len(name.encode()) for name in first]
        self._shapes = [
            None if length else re.compile(f"(?i:{expression})\\Z".encode())
            for length, expression in zip(self._lengths, expressions, strict=True)
        ]
        flags = [hyperscan.HS_FLAG_CASELESS] * len(names) + [0] * len(first)
        self._failure: type[Exception] = hyperscan.error
        self._database = hyperscan.Database(mode=hyperscan.HS_MODE_BLOCK) if flags else None
        if self._database:
            self._database.compile(
                expressions=[one.encode() for one in expressions],
                ids=list(range(len(expressions))),
                flags=flags,
            )

    def find(self, data: bytes, found: Collection[int] = ()) -> Iterator[tuple[int, int, str, str]]:
        """Yield start, end, kind and name of all that stands as a word of its own.

        Names that end at one of the places ``found`` are left out.
        """
        if self._database is None or not data:
            return
        events: list[list[int]] = [[] for _ in self._names]
        add = [ends.append for ends in events]

        def take(number: int, start: int, end: int, flags: int, context: object) -> None:
            add[number](end)

        try:
            self._database.scan(data, match_event_handler=take)
        except self._failure as error:
            raise ScanFailed(f"The pattern engine gave up: {error}") from error
        for number, name in enumerate(self._names):
            glue = b"_" if len(name) >= _SHORTEST_GLUED else b""
            host = "." in name.replace("-", ".") and name not in self._users
            for end in events[number]:
                start = -1 if end in found else self._start(data, end, number)
                if start >= 0 and _is_free(data, start, end, glue):
                    yield start, end, "host" if host else "user", name

    def _start(self, data: bytes, end: int, number: int) -> int:
        """Return where the name begins that ends here; -1 where none does."""
        shape = self._shapes[number]
        if shape is None:
            return end - self._lengths[number]
        found = shape.search(data, max(0, end - 12 * len(self._names[number])), end)
        return found.start() if found else -1


def _is_free(data: bytes, start: int, end: int, glue: bytes) -> bool:
    after = data[end : end + 2]
    if after[:1].isalnum() or (after[:1] == b"_" and not glue) or b"\xc3" <= after[:1] <= b"\xd4":
        return False
    return (glue and data[start - 1 : start] == glue) or stands_free(data, start)


def _any_spelling(name: str) -> str:
    """Return an expression for a name in any case, its gaps and its letters as they get written."""
    if " " in name:
        return _GAP.join(map(_any_spelling, name.split()))
    return "".join(map(_letter, name))


def _letter(char: str) -> str:
    if char in "._":
        return rf"[{char}\-]"
    if char.isascii():
        return char if char.isalnum() else f"\\x{ord(char):02x}"
    forms: list[str] = []
    for one in dict.fromkeys((char, char.upper())):
        forms.append("".join(f"\\x{byte:02x}" for byte in one.encode("utf-8", "surrogatepass")))
        forms += [rf"\\{{1,8}}u{ord(part):04x}" for part in one if ord(part) < 0x10000]
        forms.append(quote(one, errors="replace"))
    return f"(?:{'|'.join(dict.fromkeys(forms))})"
