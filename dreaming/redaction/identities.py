"""What identifies a person or a machine: where it may stand, what it looks like, what it is not.

Each kind has anchors (found in one pass over many texts) and a reader that looks at one place and
says what stands there, or that nothing does.
"""

from __future__ import annotations

import ipaddress
import re
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


Reader = Callable[[bytes, int, frozenset[bytes]], Span | None]
"""Data, the end of the anchor, known user names (lower case) → what stands there."""

SYSTEM_USERS: Final = frozenset(
    b"admin administrator all app build builder ci circleci claude code codespace codex coder default dev docker "
    b"ec2-user example git guest jenkins jovyan linuxbrew me name node nobody public postgres root runner sandbox "
    b"shared someone somebody test tester ubuntu user username users vagrant vscode work workspace www www-data you "
    b"youruser yourname your-name your-user your-username your_username xxx foo bar debian fedora alpine pi nonroot".split()
)
"""Accounts that are nobody's: their home folders identify no one."""
COMMON_WORDS: Final = SYSTEM_USERS | frozenset(
    b"max mark will grant bill art chase hunter rose may june april august drew pat rob jack drive page case main "
    b"home host local localhost data files source src bin lib tmp temp var opt etc usr server client master agent "
    b"model email phone uuid mac ip robot bot system service support sales office info mail web demo".split()
)
"""Names that are also words: replaced in paths and addresses, never where they stand alone."""

_LETTER: Final = rb"(?:[A-Za-z0-9_]|[\xc3-\xca\xd0-\xd4][\x80-\xbf])"
_NAME: Final = _LETTER + rb"(?:" + _LETTER + rb"|[.-]){0,63}"
_ANY_NAME: Final = rb"[^\\/:*?\"<>|'`,;\s\x00](?:[^\\/:*?\"<>|'`,;\r\n\t\x00]{0,38}[^\\/:*?\"<>|'`,;\s\x00])?(?=\\)"
"""On Windows a name may hold spaces and any letters; a following backslash proves where it ends."""
_SLASH: Final = rb"\\{0,8}/"
_HOME: Final = re.compile(
    rb"(?:(?:/var|/export|/mnt/[a-z]|/cygdrive/[a-z]|/System/Volumes/Data|/[a-z](?=/Users))?"
    + _SLASH
    + rb"(?P<place>Users|home)"
    + _SLASH
    + rb"|(?:[A-Za-z]:)?\\{1,8}(?P<windows>(?i:Users|Documents and Settings))\\{1,8}"
    + rb"|[A-Za-z]:"
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
_FOLDER_WORDS: Final = (
    rb"code|src|source|work|dev|projects?|repos?|git|github|documents?|desktop|downloads?|workspace|workspaces|"
    rb"go|tmp|sites|apps?|development|personal|claude|codex|config|local|library|onedrive"
)
_DASHED: Final = re.compile(
    rb"(?i)(?P<root>(?:[a-z]-)?-(?:users|home)-)(?P<name>[a-z0-9]{1,40}(?:-[a-z0-9]{1,40})?"
    rb"(?=-{1,2}(?:" + _FOLDER_WORDS + rb")(?![a-z0-9]))|[a-z0-9]{1,40})"
)
_PAGE: Final = re.compile(
    rb"(?i)\.(?:html?|[jt]sx?|css|s[ac]ss|php|vue|svelte|py|rb|go|md|json|png|svg|jpe?g|ya?ml)$"
)
_EDITOR_ADDRESS: Final = re.compile(rb"(?:file|vscode[a-z-]{0,20}|smb|nfs)://[^\s/\"']{0,80}\Z")
_WORD: Final = frozenset(b"ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789_")
_NAME_BYTE: Final = _WORD | frozenset(b".-~")


def stands_free(data: bytes, start: int, also: frozenset[int] = _WORD) -> bool:
    """Say whether no word runs into ``start`` from the left; the letter of ``\\n`` is no word."""
    if start == 0 or data[start - 1] not in also:
        return True
    return start > 1 and data[start - 2] == 0x5C and data[start - 1] in b"nrt"


def past_escape(data: bytes, start: int) -> int:
    """Return ``start``, or one more where the byte there is the letter of an escape."""
    glued = start > 0 and data[start - 1] == 0x5C and data[start : start + 1] in (b"n", b"r", b"t")
    return start + 1 if glued else start


def _around(
    pattern: re.Pattern[bytes], data: bytes, at: int, back: int, ahead: int
) -> re.Match[bytes] | None:
    """Return the match that covers the byte before ``at``."""
    for found in pattern.finditer(data, max(0, at - back), min(len(data), at + ahead)):
        if found.end() >= at:
            return found if found.start() < at else None
    return None


def home_folder(data: bytes, at: int, known: frozenset[bytes]) -> Span | None:
    """A home folder of Linux, macOS, Windows, WSL or Git Bash, plain or percent-encoded."""
    plain = _plain_home(data, at)
    if plain and plain.value.lower() not in SYSTEM_USERS:
        return plain
    found = _around(_HOME, data, at, 60, 110)
    if not found:
        return None
    name = found["name"].rstrip(b".-")
    start, end = found.start(), found.start("name") + len(name)
    if name.lower() not in known:
        if name.lower() in SYSTEM_USERS or name.isdigit():
            return None
        if found["place"]:
            if _PAGE.search(name) and data[end : end + 1] != b"/":
                return None
            if not stands_free(data, start, _NAME_BYTE) and not _EDITOR_ADDRESS.search(
                data[max(0, start - 100) : start]
            ):
                return None
    return Span(start, end, "home", name)


def _plain_home(data: bytes, at: int) -> Span | None:
    """The usual case, in a quarter of the time: ``/home/alice/`` after a space or a quote."""
    start = at - 8 if data.startswith(b"/Users/", at - 8) else at - 7
    if start < 1 or data[start - 1] not in b" \n\t\"'`(=," or not data.startswith(_PLACES, start):
        return None
    found = _WHOLE_NAME.match(data, at - 1)
    if not found or found[1].isdigit():
        return None
    return Span(start, found.end(1), "home", found[1])


_PLACES: Final = (b"/Users/", b"/home/")
_WHOLE_NAME: Final = re.compile(rb"([A-Za-z_][A-Za-z0-9_-]{1,40})/")


def dashed_home(data: bytes, at: int, known: frozenset[bytes]) -> Span | None:
    """A home folder as Claude Code spells it in its own folder names: ``-Users-alice-code``."""
    start = max(data.rfind(place, max(0, at - 8), at) for place in _DASHED_PLACES)
    if start >= 2 and data[start - 1] == 0x2D and data[start - 2 : start - 1].isalpha():
        start -= 2
    found = _DASHED.match(data, start) if start >= 0 else None
    if not found or not stands_free(data, start, _NAME_BYTE):
        return None
    rest = data[found.start("name") : found.start("name") + 64].lower()
    name = max(
        (n for n in map(_dashed, known) if _starts_with_name(rest, n)),
        key=len,
        default=found["name"],
    )
    if name.lower() in SYSTEM_USERS and name.lower() not in known:
        return None
    return Span(start, found.start("name") + len(name), "home", b"" if b"-" in name else name)


_DASHED_PLACES: Final = (b"-Users-", b"-users-", b"-home-")


def _dashed(name: bytes) -> bytes:
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


_MAIL: Final = re.compile(
    rb"[A-Za-z0-9_](?:[A-Za-z0-9._+-]|%2[bB]){0,63}(?:@|%40)[A-Za-z0-9](?:[A-Za-z0-9-]{0,62}\.){1,6}[A-Za-z]{2,24}(?![A-Za-z0-9_(\[=-])"
)
_NOBODYS_MAIL: Final = re.compile(
    rb"(?i)(?:@|%40)(?:(?:.*\.)?example\.[a-z]+|.*\.(?:example|invalid|test|localhost)|users\.noreply\.github\.com|"
    rb"github\.com|gitlab\.com|bitbucket\.org|ssh\.dev\.azure\.com|test\.com|foo\.com|bar\.com|domain\.com|email\.com|"
    rb"acme\.test|.*\.(?:png|jpe?g|gif|svg|webp|[cm]?[jt]sx?|css|json|py|md|html?|rs|go|rb|sh|service|timer|socket|"
    rb"fixture|mark|route|get|post|put|delete|property|dataclass|setter|patch|param|ya?ml|toml|lock))$"
    rb"|^(?:git|hg|svn|no-?reply|donotreply|you|user|username|name|email|foo|bar|test|someone|john\.?doe|jane\.?doe)(?:@|%40)"
)


def mail_address(data: bytes, at: int, known: frozenset[bytes]) -> Span | None:
    """An e-mail address of a person; ``user@host.domain`` of a login as well."""
    found = _around(_MAIL, data, at, 140, 200)
    if not found:
        return None
    start = past_escape(data, found.start())
    value = data[start : found.end()]
    if _NOBODYS_MAIL.search(value):
        return None
    return Span(
        start, found.end(), "email", value.lower().replace(b"%40", b"@").replace(b"%2b", b"+")
    )


def uuid(data: bytes, at: int, known: frozenset[bytes]) -> Span | None:
    """A UUID."""
    start = at - 36
    if (
        data[at : at + 1].isalnum()
        or not stands_free(data, start)
        or data[start:at].count(b"0") == 32
    ):
        return None
    return Span(start, at, "uuid", data[start:at].lower())


_IP4: Final = re.compile(
    rb"(?<![A-Za-z0-9._])(?<![A-Za-z_.]-)(?:(?:25[0-5]|2[0-4]\d|1?\d?\d)\.){3}"
    rb"(?:25[0-5]|2[0-4]\d|1?\d?\d)(?![0-9A-Za-z_]|\.[0-9]|-[A-Za-z])"
)
_VERSION_BEFORE: Final = re.compile(
    rb"(?i)(?:version|ver|v|==|[~^]|oid|section|release|chrome/|firmware|build)[ :=\"'/]{0,3}\Z"
)
_OPEN_4: Final = tuple(
    ipaddress.ip_network(n)
    for n in (
        "127.0.0.0/8",
        "0.0.0.0/8",
        "192.0.2.0/24",
        "198.51.100.0/24",
        "203.0.113.0/24",
        "224.0.0.0/3",
    )
)
_WELL_KNOWN_4: Final = frozenset(
    b"169.254.169.254 8.8.8.8 8.8.4.4 1.1.1.1 1.0.0.1 9.9.9.9 1.2.3.4 10.0.0.0 172.16.0.0 192.168.0.0 10.96.0.1".split()
)


def address_4(data: bytes, at: int, known: frozenset[bytes]) -> Span | None:
    """An IPv4 address that is no loopback, documentation or public resolver address, no version."""
    found = _around(_IP4, data, at, 16, 8)
    if not found:
        return None
    value = found[0]
    parts = value.split(b".")
    if (
        value in _WELL_KNOWN_4
        or all(len(part) == 1 for part in parts)
        or any(p[:1] == b"0" != p for p in parts)
    ):
        return None
    if _VERSION_BEFORE.search(data[max(0, found.start() - 14) : found.start()]):
        return None
    if any(ipaddress.IPv4Address(value.decode()) in network for network in _OPEN_4):
        return None
    return Span(found.start(), found.end(), "ip", value)


_IP6: Final = re.compile(
    rb"(?<![A-Za-z0-9:.])(?:[0-9a-fA-F]{1,4}:){2,7}(?::?[0-9a-fA-F]{1,4}){0,6}(?![A-Za-z0-9:])"
)


def address_6(data: bytes, at: int, known: frozenset[bytes]) -> Span | None:
    """An IPv6 address that is no loopback or documentation address, no time, no ``a::b`` of code."""
    found = _around(_IP6, data, at, 45, 45)
    if (
        not found
        or found[0].count(b":") < 3
        or (b"::" not in found[0] and found[0].count(b":") != 7)
    ):
        return None
    try:
        address = ipaddress.IPv6Address(found[0].decode())
    except ValueError:
        return None  # looks alike, is none
    if address.is_loopback or address.is_unspecified or address in _DOCUMENTATION_6:
        return None
    return Span(found.start(), found.end(), "ip", address.exploded.encode())


_DOCUMENTATION_6: Final = ipaddress.ip_network("2001:db8::/32")
_MAC: Final = re.compile(
    rb"(?<![0-9A-Fa-f:-])(?:[0-9a-fA-F]{2}([:-]))(?:[0-9a-fA-F]{2}\1){4}[0-9a-fA-F]{2}(?![0-9A-Za-z:]|-[0-9A-Fa-f])"
)


def hardware_address(data: bytes, at: int, known: frozenset[bytes]) -> Span | None:
    """A MAC address; not the empty and the broadcast one, not a longer fingerprint."""
    found = _around(_MAC, data, at, 20, 6)
    if not found:
        return None
    value = found[0].lower().replace(b"-", b":")
    if value in (b"00:00:00:00:00:00", b"ff:ff:ff:ff:ff:ff"):
        return None
    return Span(found.start(), found.end(), "mac", value)


_PHONE: Final = re.compile(
    rb"(?<![A-Za-z0-9+._/=-])(?:\+(?P<country>[1-9]\d{0,2})(?P<rest>[ .-]?(?:\(\d{1,4}\)[ .-]?)?\d{1,4}(?:[ .-]?\d{2,8}){1,4})"
    rb"|\(\d{3}\) ?\d{3}[ .-]\d{4}|[2-9]\d{2}([.-])[2-9]\d{2}\3\d{4})(?![A-Za-z0-9_]|[.-]\d)"
)
_TWO_DIGITS: Final = frozenset(
    b"20 27 30 31 32 33 34 36 39 40 41 43 44 45 46 47 48 49 51 52 53 54 55 56 57 58 60 61 62 63 64 65 66 81 82 84 86 90 91 92 93 94 95 98".split()
)


def phone_number(data: bytes, at: int, known: frozenset[bytes]) -> Span | None:
    """A telephone number as people write it: international, or North American."""
    found = _around(_PHONE, data, at, 26, 20)
    if not found:
        return None
    digits = re.sub(rb"\D", b"", found[0])
    if found["country"] and not _is_international(data, found, digits):
        return None
    return Span(found.start(), found.end(), "phone", digits[-10:])


def _is_international(data: bytes, found: re.Match[bytes], digits: bytes) -> bool:
    """Say whether the digits after a plus begin with a country's code and are of a number's length."""
    if digits[:1] == b"1":
        right = len(digits) == 11 and digits[1:2] >= b"2"
    elif digits[:1] == b"7":
        right = len(digits) == 11
    else:
        right = (
            digits[:2] in _TWO_DIGITS or digits[:1] in b"23456789" and digits[1:2] in b"123456789"
        )
        right = right and 9 <= len(digits) <= 15
    plain = digits == found[0][1:]
    at_line_start = found.start() == 0 or data[found.start() - 1] in b"\n\r"
    return right and not (plain and at_line_start)  # there a plus is a diff's mark


_HOST: Final = re.compile(
    rb"(?<![A-Za-z0-9._/\\;-])(?:[A-Za-z0-9](?:[A-Za-z0-9-]{0,62}\.){1,5}(?:local|lan|internal|corp|intra|intranet|localdomain|home\.arpa)"
    rb"|(?:[A-Za-z0-9-]{1,63}\.){1,3}(?:corp|internal|intra|int)\.[A-Za-z0-9-]{2,63}(?:\.[A-Za-z]{2,12}){1,2}"
    rb"|[A-Za-z0-9_]{2,30}-(?:MacBook(?:-Pro|-Air)?|iMac|Mac-mini|Mac-Studio|ThinkPad|laptop|desktop|PC)(?:-\d{1,3})?(?:\.(?:local|lan))?"
    rb"|(?:DESKTOP|LAPTOP)-[A-Z0-9]{7})(?![A-Za-z0-9_(\[=-]|\.[A-Za-z0-9])"
)
_NO_HOST: Final = re.compile(
    rb"(?i)^(?:this|self|cls|env|process|settings|config|compose|override|docker-compose|host\.docker|metadata\.google|"
    rb"kubernetes|.*\.svc\.cluster|.*\.cluster|jdk|sun|com|org|io|net|go|golang|java|package|module|import|app|"
    rb"[a-z0-9-]*(?:example|settings|config|compose|override)|claude|agents)\."
)
_HOST_BEFORE: Final = re.compile(
    rb"(?i)(?:@|//|(?:host(?:name)?|server|ssh|ping|scp|-h|nslookup|dig)[ =:\"']{1,4})\Z"
)


def host_name(data: bytes, at: int, known: frozenset[bytes]) -> Span | None:
    """A machine of a private network or a desk: ``db-1.corp.acme.io``, ``Alices-MacBook-Pro.local``."""
    found = _around(_HOST, data, at - 1, 130, 70)
    if not found:
        return None
    start = past_escape(data, found.start())
    value = data[start : found.end()]
    if _NO_HOST.search(value):
        return None
    first = value.split(b".")[0]
    if first.lower().endswith((b"-laptop", b"-desktop", b"-pc")):
        owner = first.rsplit(b"-", 1)[0].lower()
        if owner not in known and owner[:-1] not in known:
            return None  # "claude-desktop", "gaming-laptop"
    telling = any(byte in b"0123456789-" for byte in first) or _HOST_BEFORE.search(
        data[max(0, start - 16) : start]
    )
    return Span(start, found.end(), "host", value.lower()) if telling else None


ANCHORS: Final[tuple[tuple[str, Reader], ...]] = (
    (r"[0-9a-fA-F]{8}-[0-9a-fA-F]{4}-[0-9a-fA-F]{4}-[0-9a-fA-F]{4}-[0-9a-fA-F]{12}", uuid),
    (
        r"(?:/|\\|%2[fF]|%5[cC])(?:[Uu]sers|home|Documents and Settings)(?:/|\\{1,8}/?|%2[fF]|%5[cC])[A-Za-z0-9_\x80-\xff]",
        home_folder,
    ),
    (r"-(?:Users|users|home)-[A-Za-z0-9]", dashed_home),
    (r"/root[^A-Za-z0-9_.-]", root_home),
    (r"[A-Za-z0-9_+-](?:@|%40)[A-Za-z0-9][A-Za-z0-9-]{0,62}\.[A-Za-z]", mail_address),
    (r"[0-9]\.[0-9]{1,3}\.[0-9]{1,3}\.[0-9]", address_4),
    (r"[0-9a-fA-F]{1,4}:[0-9a-fA-F]{0,4}:[0-9a-fA-F]{0,4}:", address_6),
    (r"(?:[0-9a-fA-F]{2}[:-]){5}[0-9a-fA-F]{2}", hardware_address),
    (r"\+[1-9][0-9 ().-]{8}", phone_number),
    (r"\([0-9]{3}\) ?[0-9]{3}[ .-][0-9]{4}", phone_number),
    (r"[0-9]{3}[.-][0-9]{3}[.-][0-9]{4}", phone_number),
    (r"\.(?:local|lan|internal|corp|intra|intranet|localdomain|arpa|int)[^A-Za-z0-9_(]", host_name),
    (r"-(?:MacBook|iMac|Mac-mini|Mac-Studio|ThinkPad|laptop|desktop|PC)[^A-Za-z0-9]", host_name),
    (r"(?:DESKTOP|LAPTOP)-[A-Z0-9]{7}[^A-Za-z0-9]", host_name),
)
"""Hyperscan expressions and who reads what stands there."""
