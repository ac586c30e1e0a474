"""Home folders, in every spelling a transcript has for them.

Linux, macOS, Windows, WSL and Git Bash paths, percent-encoded ones, and Claude Code's own folder
names (``-Users-alice-code``). The whole prefix goes, the rest of the path stays readable.
"""

from __future__ import annotations

import re
import string
from collections.abc import Callable
from typing import Final, NamedTuple


class Span(NamedTuple):
    """Identifying bytes and what they are."""

    start: int
    end: int
    kind: str
    value: bytes
    """The canonical form: what is the same person or machine has the same one. Of a home folder,
    the user's name, or nothing where it cannot be told."""


PATH: Final = "path"
"""The kind of what would be a home folder, did it not go on a path that stands before it."""


Reader = Callable[[bytes, int, frozenset[bytes]], Span | None]
"""Data, the end of the anchor, known user names (lower case) → what stands there."""

SYSTEM_USERS: Final = frozenset(
    b"""admin administrator all alpine app bar build builder ci circleci claude code coder codespace
    codex debian default dev docker ec2-user example fedora foo git guest jenkins jovyan linuxbrew
    me name node nobody nonroot pi postgres public root runner sandbox shared somebody someone test
    tester testuser ubuntu unknown user username users vagrant vscode work workspace www www-data
    xxx you your-name your-user your-username your_username yourname youruser""".split()
)
"""Accounts that are nobody's: their home folders identify no one."""

WORD: Final = frozenset((string.ascii_letters + string.digits + "_").encode())
_NAME_BYTE: Final = WORD | frozenset(b".-~")

_ESCAPED_LETTER: Final = rb"\\{1,8}u(?!00[0-9aAbB])0[0-5][0-9a-fA-F]{2}"
_LETTER: Final = rb"(?:[A-Za-z0-9_]|[\xc3-\xca\xd0-\xd4][\x80-\xbf]|" + _ESCAPED_LETTER + rb")"
_NAME: Final = _LETTER + rb"(?:" + _LETTER + rb"|[.-]){0,63}"
_ANY_NAME: Final = (
    rb"[^\\/:*?\"<>|'`,;\s\x00]"
    rb"(?:[^\\/:*?\"<>|'`,;\r\n\t\x00]{0,38}[^\\/:*?\"<>|'`,;\s\x00])?(?=\\)"
)
"""On Windows a name may hold spaces and any letter; a following backslash proves where it ends."""
_SLASH: Final = rb"\\{0,8}/"
_HOME: Final = re.compile(
    rb"(?=[/\\%]|[A-Za-z][:%])"  # fails fast where it cannot begin
    rb"(?:(?:/var|/export|/mnt/[a-z]|/cygdrive/[a-z]|/System/Volumes/Data|/[a-z](?=/Users))?"
    + _SLASH
    + rb"(?P<place>Users|home)"
    + _SLASH
    + rb"|(?:(?<![A-Za-z])[A-Za-z]:)?\\{1,8}(?P<windows>(?i:Users|Documents and Settings))\\{1,8}"
    + rb"|(?<![A-Za-z])[A-Za-z]:"
    + _SLASH
    + rb"(?i:Users|Documents and Settings)"
    + _SLASH
    + rb"|(?:[A-Za-z](?:%3[Aa]|:))?(?:%2[Ff]|%5[Cc])(?:Users|home)(?:%2[Ff]|%5[Cc]))"
    + rb"(?P<name>(?(windows)(?:"
    + _ANY_NAME
    + rb"|"
    + _NAME
    + rb")|"
    + _NAME
    + rb"))"
)
_PLAIN_PLACES: Final = (b"/Users/", b"/home/")
_PLAIN_NAME: Final = re.compile(rb"([A-Za-z_][A-Za-z0-9_-]{1,40})/")
_PAGE: Final = re.compile(
    rb"(?i)\.(?:html?|[jt]sx?|css|s[ac]ss|php|vue|svelte|py|rb|go|md|json|png|svg|jpe?g|ya?ml)$"
)
_EDITOR_ADDRESS: Final = re.compile(rb"(?:file|vscode[a-z-]{0,20}|smb|nfs)://[^\s/\"']{0,80}\Z")
_DASHED_PLACES: Final = (b"-Users-", b"-users-", b"-home-")
_FOLDERS: Final = b"|".join(
    b"""apps? claude code codex config desktop dev development documents? downloads? git github go
    library local onedrive personal projects? repos? sites source src tmp work
    workspaces?""".split()
)
_DASHED: Final = re.compile(
    rb"(?i)(?:[a-z]-)?-(?:users|home)-(?P<name>"
    rb"[a-z0-9]{1,40}(?:-(?!(?:" + _FOLDERS + rb")(?![a-z0-9]))[a-z0-9]{1,40})?"
    rb"(?=-{1,2}(?:" + _FOLDERS + rb")(?![a-z0-9]))|[a-z0-9]{1,40})"
)


_COLOUR: Final = re.compile(rb"(?:\x1b|\\{1,8}(?:u001[bB]|x1[bB]|033|e))\[[0-9;]{0,12}[mK]\Z")


_PERCENT: Final = re.compile(rb"%(?:25)?[0-9A-Fa-f]{2}\Z")


def past_colour(data: bytes, start: int, end: int) -> bool:
    """Say whether a code that colours a terminal ends at ``end``, none of it before ``start``."""
    return data[end - 1 : end] in (b"m", b"K") and bool(_COLOUR.search(data, start, end))


def stands_free(data: bytes, start: int, word: frozenset[int] = WORD) -> bool:
    """Say whether no word runs into ``start`` from the left; ``\\n`` and ``%20`` are no words."""
    if start == 0 or data[start - 1] not in word:
        return True
    if start > 1 and data[start - 2] == 0x5C and data[start - 1] in b"nrtbf":
        return True
    if b"%" in data[max(0, start - 5) : start] and _PERCENT.search(data, max(0, start - 5), start):
        return True
    return past_colour(data, max(0, start - 28), start)


def around(
    pattern: re.Pattern[bytes], data: bytes, at: int, back: int, ahead: int
) -> re.Match[bytes] | None:
    """Return the match that covers the byte before ``at``."""
    for found in pattern.finditer(data, max(0, at - back), min(len(data), at + ahead)):
        if found.end() >= at:
            return found if found.start() < at else None
    return None


def home_folder(data: bytes, at: int, known: frozenset[bytes]) -> Span | None:
    """A home folder as a path; of a system account only where that is this machine's user."""
    plain = _plain_home(data, at)
    if plain:
        name = plain.value.lower()
        return plain if name not in SYSTEM_USERS or name in known else None
    found = around(_HOME, data, at, 60, 110)
    if not found:
        return None
    name = found["name"].rstrip(b".-")
    start, end = found.start(), found.start("name") + len(name)
    if name.lower() not in known:
        if name.lower() in SYSTEM_USERS or name.isdigit():
            return None
        if found["place"] and _PAGE.search(name) and data[end : end + 1] != b"/":
            return None
        if found["place"] and _is_another_path(data, start):
            return Span(start, end, PATH, _spelled_out(name))
    return Span(start, end, "home", _spelled_out(name))


def _plain_home(data: bytes, at: int) -> Span | None:
    """The usual case, in a quarter of the time: ``/home/alice/`` after a space or a quote."""
    start = at - 8 if data.startswith(b"/Users/", max(0, at - 8)) else at - 7
    before = data[start - 1] if start > 0 else 0
    if before not in b" \n\t\"'`(=," and not (before == 0x6E and data[start - 2] == 0x5C):
        return None
    found = _PLAIN_NAME.match(data, at - 1) if data.startswith(_PLAIN_PLACES, start) else None
    if not found or found[1].isdigit():
        return None
    return Span(start, found.end(1), "home", found[1])


def _spelled_out(name: bytes) -> bytes:
    """Return a name with the letters that JSON escaped."""
    if b"\\" not in name:
        return name
    return re.sub(rb"\\{1,8}u(.{4})", lambda found: chr(int(found[1], 16)).encode(), name)


def _is_another_path(data: bytes, start: int) -> bool:
    """Say whether ``/home/x`` is the middle of a longer path."""
    before = data[max(0, start - 100) : start]
    return not stands_free(data, start, _NAME_BYTE) and not _EDITOR_ADDRESS.search(before)


def dashed_home(data: bytes, at: int, known: frozenset[bytes]) -> Span | None:
    """A home folder as Claude Code spells it in its own folder names: ``-Users-alice-code``."""
    start = max(data.rfind(place, max(0, at - 8), at) for place in _DASHED_PLACES)
    if start >= 2 and data[start - 1] == 0x2D and data[start - 2 : start - 1].isalpha():
        start -= 2  # the letter of a Windows drive
    found = _DASHED.match(data, start) if start >= 0 else None
    if not found:
        return None
    rest = data[found.start("name") : found.start("name") + 64].lower()
    spelled = (name for name in map(dashed, known) if _starts_with_name(rest, name))
    name = max(spelled, key=len, default=found["name"])
    if name.lower() in SYSTEM_USERS and name.lower() not in known:
        return None
    value = b"" if b"-" in name else name
    kind = "home" if stands_free(data, start, _NAME_BYTE) else PATH
    return Span(start, found.start("name") + len(name), kind, value)


def dashed(name: bytes) -> bytes:
    """Return a name as Claude Code spells it in a folder name."""
    return re.sub(rb"[^A-Za-z0-9]", b"-", name)


def _starts_with_name(text: bytes, name: bytes) -> bool:
    return text.startswith(name) and not text[len(name) : len(name) + 1].isalnum()


def root_home(data: bytes, at: int, known: frozenset[bytes]) -> Span | None:
    """The home folder of root."""
    start = at - 6
    if data[max(0, start - 4) : start] == b"/var":
        start -= 4
    before = data[max(0, start - 100) : start]
    if not stands_free(data, start, _NAME_BYTE) or before.endswith((b"}", b")", b">", b"]")):
        return None
    if before.endswith(b"/") and not _EDITOR_ADDRESS.search(before):
        return None
    return Span(start, at - 1, "home", b"root")
