"""What identifies a person or a machine: where it may stand, what it looks like, what it is not.

Each kind has anchors (found in one pass over many texts) and a reader that looks at one place and
says what stands there, or that nothing does.
"""

from __future__ import annotations

import ipaddress
import re
import string
from bisect import bisect_right
from typing import Final

from dreaming.redaction.homes import (
    SYSTEM_USERS,
    Reader,
    Span,
    around,
    dashed_home,
    home_folder,
    past_colour,
    root_home,
    stands_free,
)

COMMON_WORDS: Final = SYSTEM_USERS | frozenset(
    b"""access account agent agents alpha anonymous api application april archive art assistant
    august author backup banks base beta bill bin bot bush case chase christian claude client
    cloud code cook core cross daemon data database day demo deploy drew drive editor email
    engineer error etc example faith false field fields file files first ford fox function
    gemini general git github gitlab google grace grand grant green group head help hill home
    hope host hunter index info internal ip jack joy june kernel king lake lane last lead lib
    list local localhost long love mac mail main maintainer manager march mark mason master max
    may miller model module monitor name network none null office open openai operator opt
    option owner page park patch person phone pool port power price private process prod product
    production profile program project public python queue ray read real release remote rich
    rivers rob robot rose ruby rust sales scott server service session shell short site small
    source src staff stage staging stone storage string student sue sunny support system table
    team temp terminal time tmp token tool tools total trace track true undefined unknown upload
    usr utils uuid value version violet virtual web white will windows wood word worker write
    young""".split()
)
"""Names that are also words: replaced in paths and addresses, never where they stand alone."""


def past_escape(data: bytes, start: int) -> int:
    """Return ``start``, or one more where the byte there is the letter of an escape.

    Past the rest of a code that colours a terminal as well: ``\\x1b[31mkim@...``.
    """
    coloured = (
        _REST_OF_COLOUR.match(data, start) if data[start - 1 : start] in (b"[", b";") else None
    )
    if coloured and past_colour(data, max(0, start - 24), coloured.end()):
        return coloured.end()
    if data[start - 1 : start] == b"%" and _REST_OF_PERCENT.match(data, start):
        return start + 2
    glued = start > 0 and data[start - 1] == 0x5C and data[start : start + 1] in (b"n", b"r", b"t")
    return start + 1 if glued else start


_REST_OF_PERCENT: Final = re.compile(rb"[0-9A-Fa-f]{2}")
_REST_OF_COLOUR: Final = re.compile(rb"[0-9]{0,3}(?:;[0-9]{1,3}){0,4}[mK]")


_MAIL: Final = re.compile(
    rb"[A-Za-z0-9_](?:[A-Za-z0-9._+-]|%2[bB]){0,63}(?:@|%40)"
    rb"[A-Za-z0-9](?:[A-Za-z0-9-]{0,62}\.){1,6}[A-Za-z]{2,24}(?![A-Za-z0-9_(\[=-])"
)
_MAIL_BYTES: Final = (string.ascii_letters + string.digits + "._+-%@").encode()
_NOBODYS_MAIL: Final = re.compile(
    rb"(?i)(?:@|%40)(?:(?:.*\.)?example\.[a-z]+|.*\.(?:example|invalid|test|localhost)|"
    rb"github\.com|gitlab\.com|bitbucket\.org|ssh\.dev\.azure\.com|"
    rb"(?:test|foo|bar|domain|email)\.com|"
    rb".*\.(?:png|jpe?g|gif|svg|webp|[cm]?[jt]sx?|css|json|py|md|html?|rs|go|rb|sh|ya?ml|toml|lock|"
    rb"service|timer|socket|"
    rb"fixture|mark|route|get|post|put|delete|patch|property|dataclass|setter|param))$"
    rb"|^(?:\d+\+)?(?:copilot|github-actions|dependabot|renovate)@users\.noreply\."
    rb"|^(?:git|hg|svn|no-?reply|donotreply|you|user|username|name|email|foo|bar|test|someone|"
    rb"john\.?doe|jane\.?doe)(?:@|%40)"
)


def is_nobodys_mail(address: bytes) -> bool:
    """Say whether an address is a placeholder's, a program's, or none at all."""
    return bool(_NOBODYS_MAIL.search(address))


def mail_address(data: bytes, at: int, known: frozenset[bytes]) -> Span | None:
    """An e-mail address of a person; ``user@host.domain`` of a login as well."""
    before = data[max(0, at - 140) : at]
    back = len(before) - len(before.rstrip(_MAIL_BYTES))  # nothing before it is a part of it
    found = around(_MAIL, data, at, back, 200)
    if not found:
        return None
    start = past_escape(data, found.start())
    value = data[start : found.end()]
    if value[:1] in b"@%" or is_nobodys_mail(value):
        return None  # a decorator after an escaped line end has nothing before its @
    plain = value.lower().replace(b"%40", b"@").replace(b"%2b", b"+")
    return Span(start, found.end(), "email", plain)


def uuid(data: bytes, at: int, known: frozenset[bytes]) -> Span | None:
    """A UUID."""
    start = at - 36
    if data[at : at + 1].isalnum() or not stands_free(data, start):
        return None
    if data.startswith(b"00000000-0000-0000-0000-000000000000", start):
        return None
    return Span(start, at, "uuid", data[start:at].lower())


_OCTET: Final = rb"(?:25[0-5]|2[0-4]\d|[01]?\d{1,2})"
_IP4: Final = re.compile(
    rb"(?<![A-Za-z0-9._])(?<![A-Za-z_.]-)" + _OCTET + rb"(?:\." + _OCTET + rb"){3}"
    rb"(?![0-9A-Za-z_]|\.[0-9]|-[A-Za-z])"
)
_VERSION_BEFORE: Final = re.compile(
    rb"(?i)(?:version|ver|v|==|[~^]|oid|section|release|chrome/|firmware|build)[ :=\"'/]{0,3}\Z"
)
_OPEN_4: Final = tuple(
    ipaddress.ip_network(network)
    for network in (
        *("127.0.0.0/8", "0.0.0.0/8", "224.0.0.0/3"),
        *("192.0.2.0/24", "198.51.100.0/24", "203.0.113.0/24"),
    )
)
"""Loopback, no address at all, multicast and beyond; documentation."""
_WELL_KNOWN_4: Final = frozenset(
    b"""1.0.0.1 1.1.1.1 1.2.3.4 8.8.4.4 8.8.8.8 9.9.9.9 10.0.0.0 10.96.0.1 169.254.169.254
    172.16.0.0 192.168.0.0""".split()
)


def address_4(data: bytes, at: int, known: frozenset[bytes]) -> Span | None:
    """An IPv4 address that is no loopback, documentation or public resolver address, no version."""
    found = around(_IP4, data, at, 16, 8)
    if not found or found[0] in _WELL_KNOWN_4:
        return None
    parts = found[0].split(b".")
    if len(parts[0]) == 1 and all(len(part) < 3 for part in parts):
        return None  # a section or a version far more often
    if any(part != b"0" and part[:1] == b"0" for part in parts):
        return None
    if _VERSION_BEFORE.search(data[max(0, found.start() - 14) : found.start()]):
        return None
    if any(ipaddress.IPv4Address(found[0].decode()) in network for network in _OPEN_4):
        return None
    return Span(found.start(), found.end(), "ip", found[0])


_IP6: Final = re.compile(rb"(?<![\w:.])[0-9A-Fa-f:]{6,39}(?![\w:])")


def address_6(data: bytes, at: int, known: frozenset[bytes]) -> Span | None:
    """An IPv6 address of somebody's; no time of day, no ``a::b`` of code."""
    found = around(_IP6, data, at, 45, 45)
    colons = found[0].count(b":") if found else 0
    if not found or colons < 3 or (b"::" not in found[0] and colons != 7):
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
    rb"(?<![0-9A-Fa-f:-])(?:[0-9a-fA-F]{2}([:-]))(?:[0-9a-fA-F]{2}\1){4}[0-9a-fA-F]{2}"
    rb"(?![0-9A-Za-z:]|-[0-9A-Fa-f])"
)


def hardware_address(data: bytes, at: int, known: frozenset[bytes]) -> Span | None:
    """A MAC address; not the empty and the broadcast one, not a longer fingerprint."""
    found = around(_MAC, data, at, 20, 6)
    if not found:
        return None
    value = found[0].lower().replace(b"-", b":")
    if value in (b"00:00:00:00:00:00", b"ff:ff:ff:ff:ff:ff"):
        return None
    return Span(found.start(), found.end(), "mac", value)


_PHONE: Final = re.compile(
    rb"(?<![A-Za-z0-9+._/=-])(?:\+(?P<country>[1-9]\d{0,2})"
    rb"[ .-]?(?:\(\d{1,4}\)[ .-]?)?\d{1,4}(?:[ .-]?\d{2,8}){1,4}"
    rb"|\(\d{3}\) ?\d{3}[ .-]\d{4}|[2-9]\d{2}(?P<mark>[.-])[2-9]\d{2}(?P=mark)\d{4})"
    rb"(?![A-Za-z0-9_]|[.-]\d)"
)
_COUNTRIES: Final = frozenset(
    b"""20 27 30 31 32 33 34 36 39 40 41 43 44 45 46 47 48 49 51 52 53 54 55 56 57 58 60 61 62 63 64
    65 66 81 82 84 86 90 91 92 93 94 95 98""".split()
)
"""Country codes of two digits; the others have three, 1 and 7 aside."""


def phone_number(data: bytes, at: int, known: frozenset[bytes]) -> Span | None:
    """A telephone number as people write it: international, or North American."""
    found = around(_PHONE, data, at, 26, 20)
    if not found:
        return None
    digits = re.sub(rb"\D", b"", found[0])
    if found["country"] and not _is_international(data, found, digits):
        return None
    return Span(found.start(), found.end(), "phone", digits[-10:])


def _is_international(data: bytes, found: re.Match[bytes], digits: bytes) -> bool:
    """Say whether digits after a plus begin with a country's code and are long enough."""
    if digits == found[0][1:] and (found.start() == 0 or data[found.start() - 1] in b"\n\r"):
        return False  # at the start of a line a plus is a diff's mark
    if digits[:1] == b"1":
        return len(digits) == 11 and digits[1:2] >= b"2"
    if digits[:1] == b"7":
        return len(digits) == 11
    known = digits[:2] in _COUNTRIES or b"0" not in digits[:2]
    return known and 9 <= len(digits) <= 15


_LABEL: Final = rb"[A-Za-z0-9](?:[A-Za-z0-9-]{0,61}[A-Za-z0-9])?"
_PRIVATE: Final = rb"corp|home\.arpa|internal|intra|intranet|lan|local|localdomain"
_DESK: Final = rb"iMac|MacBook(?:-Air|-Pro)?|Mac-mini|Mac-Studio|PC|ThinkPad|desktop|laptop"
_HOST: Final = re.compile(
    rb"(?<![A-Za-z0-9._/\\;-])(?:"
    rb"(?:" + _LABEL + rb"\.){1,5}(?:" + _PRIVATE + rb")"
    rb"|(?:" + _LABEL + rb"\.){1,3}(?:corp|int|internal|intra)(?:\." + _LABEL + rb"){2,3}"
    rb"|\w{2,30}-(?:" + _DESK + rb")(?:-\d{1,3})?(?:\.lan|\.local)?"
    rb"|(?:DESKTOP|LAPTOP)-[A-Z0-9]{7})(?![A-Za-z0-9_(\[=-]|\.[A-Za-z0-9])"
)
_NO_HOST: Final = re.compile(
    rb"(?i)^(?:this|self|cls|env|process|host\.docker|metadata\.google|kubernetes|"
    rb".*\.svc\.cluster|.*\.cluster|jdk|sun|com|org|io|net|go|golang|java|package|module|import|app|"
    rb"[a-z0-9-]*(?:example|settings|config|compose|override)|claude|agents)\."
)
_HOST_BEFORE: Final = re.compile(
    rb"(?i)(?:@|//|(?:host(?:name)?|server|ssh|ping|scp|-h|nslookup|dig)[ =:\"']{1,4})\Z"
)


_DESK_OF: Final = re.compile(rb"(?i)(\w{1,30})-(?:desktop|laptop|pc)\Z")


def _is_known(owner: bytes, known: frozenset[bytes]) -> bool:
    return owner.lower() in known or owner[:-1].lower() in known


def host_name(data: bytes, at: int, known: frozenset[bytes]) -> Span | None:
    """A machine of a private network or on a desk: ``db-1.corp.acme.io``, ``Alices-iMac``."""
    is_desk = data[max(0, at - 9) : at - 1].lower().endswith((b"-desktop", b"-laptop", b"-pc"))
    desk = _DESK_OF.search(data, max(0, at - 40), at - 1) if is_desk else None
    if desk and not _is_known(desk[1], known):
        return None  # "claude-desktop", "gaming-laptop"
    found = around(_HOST, data, at - 1, 130, 70)
    if not found:
        return None
    start = past_escape(data, found.start())
    value = data[start : found.end()]
    if _NO_HOST.search(value):
        return None
    first = value.split(b".")[0]
    desk = _DESK_OF.search(first)
    if desk and not _is_known(desk[1], known):
        return None
    before = data[max(0, start - 16) : start]
    if not any(byte in b"0123456789-" for byte in first) and not _HOST_BEFORE.search(before):
        return None  # a member of an object in code: "self.internal"
    return Span(start, found.end(), "host", value.lower())


ANCHORS: Final[tuple[tuple[str, Reader], ...]] = (
    (r"[0-9a-fA-F]{8}(?:-[0-9a-fA-F]{4}){3}-[0-9a-fA-F]{12}", uuid),
    (
        r"(?:/|\\|%2[fF]|%5[cC])(?:[Uu]sers|home|Documents and Settings)"
        r"(?:/|\\{1,8}/?|%2[fF]|%5[cC])(?:[A-Za-z0-9_\x80-\xff]|\\{1,8}u0[0-5][0-9a-fA-F]{2})",
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
    (r"\.(?:arpa|corp|int|internal|intra|intranet|lan|local|localdomain)[^A-Za-z0-9_(]", host_name),
    (r"-(?:iMac|MacBook|Mac-mini|Mac-Studio|PC|ThinkPad|desktop|laptop)[^A-Za-z0-9]", host_name),
    (r"(?:DESKTOP|LAPTOP)-[A-Z0-9]{7}[^A-Za-z0-9]", host_name),
)
"""Hyperscan expressions and who reads what stands there."""

_PLAIN_WORD: Final = r"[A-Za-z0-9._@/:%+-]"
_CODE: Final = r"\[[0-9;]{0,12}[mK]"
_ESCAPE_BYTE: Final = r"(?:u001[bB]|x1[bB]|033)"
_UNSEEN_CHARACTER: Final = r"u(?:00[aA][dD]|200[b-fB-F]|2060|[fF][eE][fF][fF])"
_LETTERS_CODE: Final = r"u00(?:2[bBdDeEfF]|3[0-9aA]|4[0-9a-fA-F]|5[0-9aAfF]|6[1-9a-fA-F]|7[0-9aA])"
_COLOURS: Final = rf"(?:(?:\x1b|\\{{1,8}}{_ESCAPE_BYTE}){_CODE})"
_UNSEEN: Final = (
    r"(?:\xc2\xad|\xe2\x80[\x8b-\x8f]|\xe2\x81\xa0|\xef\xbb\xbf"
    rf"|\\{{1,8}}{_UNSEEN_CHARACTER})"
)
WRAPPED: Final = (
    rf"{_PLAIN_WORD}{_COLOURS}{{1,3}}{_PLAIN_WORD}",
    rf"{_PLAIN_WORD}{_UNSEEN}{{1,3}}{_PLAIN_WORD}",
    rf"\\{{1,8}}{_LETTERS_CODE}",
)
"""Hyperscan expressions: what hides an identity from the other anchors."""
_WRAPPING: Final = re.compile(
    # A set of bytes first: so it is searched for fast.
    (
        r"[\x1b\\\xc2\xe2\xef](?:("
        rf"(?<=\x1b){_CODE}|(?<=\xc2)\xad|(?<=\xe2)(?:\x80[\x8b-\x8f]|\x81\xa0)|(?<=\xef)\xbb\xbf"
        rf"|(?<=\\)\\{{0,7}}(?:{_ESCAPE_BYTE}{_CODE}|{_UNSEEN_CHARACTER}))"
        rf"|(?<=\\)\\{{0,7}}{_LETTERS_CODE})"
    ).encode("latin-1")
)


def unwrapped(data: bytes) -> tuple[bytes, list[tuple[int, int]]]:
    """Return bytes as they read, and from which place on they stood how much further right."""
    parts: list[bytes] = []
    cuts: list[tuple[int, int]] = []
    position = size = 0
    for found in _WRAPPING.finditer(data):
        parts.append(data[position : found.start()])
        size += found.start() - position
        if found[1] is None:
            parts.append(bytes((int(found[0][-2:], 16),)))
            size += 1
        position = found.end()
        cuts.append((size, position - size))
    parts.append(data[position:])
    return b"".join(parts), cuts


def before_unwrapping(cuts: list[tuple[int, int]], at: int) -> int:
    """Return where a byte stood; what was escaped, with its backslash."""
    place = bisect_right(cuts, (at, 1 << 62))
    return at + cuts[place - 1][1] if place else at
