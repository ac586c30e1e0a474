"""What turns a shape into a hit: a checksum, a structure, or that it is no placeholder.

A proof is a function of a ``Candidate``. The strongest one there is decides: a token whose
checksum fails is documentation, however random it looks.
"""

from __future__ import annotations

import base64
import binascii
import json
import math
import re
import string
import zlib
from collections import Counter
from collections.abc import Callable
from typing import Final, NamedTuple


class Candidate(NamedTuple):
    """A shape that was found, with what stands around it."""

    value: bytes
    """What would be secret."""
    whole: bytes
    """The whole match: name, separator and value."""
    name: bytes = b""
    """The name the value was given to, as far as it was matched."""
    before: bytes = b""
    """Up to 80 bytes left of the match."""
    after: bytes = b""
    """Up to 40 bytes right of the match."""


Proof = Callable[[Candidate], bool]

BASE62: Final = (string.digits + string.ascii_uppercase + string.ascii_lowercase).encode()
_PLACEHOLDER: Final = re.compile(
    rb"example|placeholder|your(?=[_-]|key|token|secret|pass|api)|dummy|redacted|change[_-]?me|replace|"
    rb"sample|insert|fake|not[_-]?real|my(?=[_-]?(?:token|secret|key|pass))|abcdef|qwerty|foobar|lorem|"
    rb"deadbeef|cafebabe|0123456|1234567|7654321|[_-]here$|xxxx|\*\*\*|\.\.\.|\xe2\x80[\xa2\xa6]|[<>]|\$[({]|\{\{|"
    rb"(.)\1{5,}"
)


def entropy(value: bytes) -> float:
    """Return Shannon's entropy in bits a byte."""
    total = len(value)
    return -sum(n / total * math.log2(n / total) for n in Counter(value).values()) if total else 0.0


def is_placeholder(value: bytes) -> bool:
    """Say whether somebody wrote this in place of a secret.

    People write a word in one case; chance in random letters hardly ever does.
    """
    for found in _PLACEHOLDER.finditer(value.lower()):
        written = value[found.start() : found.end()]
        if written == written.lower() or written == written.upper() or written.istitle():
            return True
    return False


def random_looking(bits: float = 3.0, skip: int = 0) -> Proof:
    """Make a proof: no placeholder, and at least this entropy after the first ``skip`` bytes."""

    def proof(found: Candidate) -> bool:
        body = found.value[skip:]
        return not is_placeholder(body) and entropy(body) >= bits

    return proof


def mixed(bits: float = 3.0, skip: int = 0) -> Proof:
    """Make a proof as ``random_looking`` that also wants a digit: for short, common prefixes."""
    plain = random_looking(bits, skip)

    def proof(found: Candidate) -> bool:
        return plain(found) and any(48 <= byte <= 57 for byte in found.value[skip:])

    return proof


def always(found: Candidate) -> bool:
    """The shape alone is proof."""
    return True


def base62_checksum(body: bytes) -> bytes:
    """Return the six characters that GitHub and npm put after thirty random ones."""
    number, out = zlib.crc32(body), b""
    while number:
        number, rest = divmod(number, 62)
        out = BASE62[rest : rest + 1] + out
    return out.rjust(6, b"0")


def github_checksum(found: Candidate) -> bool:
    """Forty characters end in a checksum; longer forms have none and must look random."""
    body = found.value[4:]
    if len(body) > 36:
        return not is_placeholder(body) and entropy(body) >= 3.5
    return body[30:] == base62_checksum(body[:30])  # no placeholder has a checksum that is right


_GIVEN: Final = re.compile(
    rb"(?:[\"'`=]|://|://[\w.-]{1,40}:|\w:\s?|(?i:bearer|authorization: token)\s)\Z"
)


def given_without_checksum(found: Candidate) -> bool:
    """The checksum fails, yet it was given as a value: scrambled, mistyped, or another maker's."""
    grafana = found.value.startswith(b"glsa_")
    body = found.value.partition(b"_")[2][:32]
    if (grafana_checksum if grafana else github_checksum)(found) or is_placeholder(body):
        return False
    return mixed(3.8)(found) and bool(_GIVEN.search(found.before))


def seal_github(token: str) -> str:
    """Return the token with its checksum made right (for examples)."""
    return token[:-6] + base62_checksum(token[4:-6].encode()).decode()


def grafana_checksum(found: Candidate) -> bool:
    """The part after the last underscore is the CRC32 of the part before."""
    _, body, check = found.value.split(b"_")
    return zlib.crc32(body) == int(check, 16)


def seal_grafana(token: str) -> str:
    """Return the token with its checksum made right (for examples)."""
    return f"{token[:-8]}{zlib.crc32(token[5:-9].encode()):08x}"


def aws_key_id(found: Candidate) -> bool:
    """Not the documentation's key, and not the id inside a signed address."""
    if found.value.endswith(b"EXAMPLE") or is_placeholder(found.value[4:]):
        return False
    return entropy(found.value[4:]) >= 2.6 and not _SIGNED.search(found.before)


def aws_key_id_in_signed_address(found: Candidate) -> bool:
    """An access key id in a signed address: not secret by itself."""
    return entropy(found.value[4:]) >= 2.6 and bool(_SIGNED.search(found.before))


_SIGNED: Final = re.compile(rb"(?:X-Amz-Credential|AWSAccessKeyId|GoogleAccessId)(?:=|%3D)$")


def aws_secret(found: Candidate) -> bool:
    """Forty mixed characters that are no hash, no path and no placeholder."""
    value = found.value
    if (
        re.fullmatch(rb"[a-f0-9]{40}", value)
        or value.endswith(b"EXAMPLEKEY")
        or is_placeholder(value)
    ):
        return False
    return entropy(value) >= 3.7 and value.count(b"/") < 6


def key_material(found: Candidate) -> bool:
    """Forty base64 characters after the header are a key; a header alone is prose."""
    return entropy(found.value) >= 3.4 and not is_placeholder(found.value[:40])


def base64_json(part: bytes) -> object:
    """Return the JSON of a base64url part, or None where it is none."""
    try:
        return json.loads(base64.urlsafe_b64decode(part + b"=" * (-len(part) % 4)))
    except (ValueError, RecursionError):
        return None


_KNOWN_SAMPLES: Final = (b"1516239022", b"supabase-demo")


def jwt(found: Candidate) -> bool:
    """Header and payload are JSON, it is signed, and it is no published sample or public key."""
    head, payload, signature = found.value.split(b".")[:3]
    header = base64_json(head)
    if not isinstance(header, dict) or str(header.get("alg", "none")).lower() == "none":
        return False
    claims = base64_json(payload)
    if isinstance(claims, dict) and claims.get("role") == "anon":
        return False  # made to be published
    if claims is None or is_placeholder(signature):
        return False
    text = base64.urlsafe_b64decode(payload + b"=" * (-len(payload) % 4))
    if any(sample in text for sample in _KNOWN_SAMPLES):
        return False
    return len(signature) >= 20 and entropy(signature) >= 3.5


def unread_jwt(found: Candidate) -> bool:
    """The header is no JSON: the token is damaged, scrambled or cut, and may still be known."""
    return base64_json(found.value.split(b".")[0]) is None and mixed(4.0)(found)


def discord_bot(found: Candidate) -> bool:
    """The first part is the base64 of the bot's number."""
    head = found.value.split(b".")[0]
    try:
        number = base64.urlsafe_b64decode(head + b"=" * (-len(head) % 4))
    except (ValueError, binascii.Error):
        return False
    return number.isdigit() and not is_placeholder(found.value[len(head) :])


_POOR_PASSWORDS: Final = re.compile(
    rb"(?i)(?:my|your|the|some|db|user|test|super)?[_-]?(?:pass(?:word|wd|phrase|w)?|pw|pwd|secret|token|apikey|key|"
    rb"credentials?|postgres(?:ql)?|mysql|mariadb|mongo(?:db)?|redis|rabbit(?:mq)?|root|admin|guest|user(?:name)?|"
    rb"test(?:ing)?|demo|dev|local(?:host)?|docker|changeme|change_me|letmein|default|foo|bar|baz|abc|x+|\*+|-+|_+|\.+)"
    rb"[_-]?\d{0,4}!?"
)


def is_poor_password(value: bytes) -> bool:
    """Say whether this is a password that everybody's test set-up has."""
    return bool(_POOR_PASSWORDS.fullmatch(value))


def url_password(found: Candidate) -> bool:
    """A password in an address that is not a placeholder, a variable or everybody's default."""
    user, password = found.name, found.value
    if len(password) < 4 or is_poor_password(password) or is_placeholder(password):
        return False
    if user and user.lower() == password.lower():
        return False
    if re.search(rb"[$%<{(\[|\\^*]", password[:1]) or b"${" in password or b"]+" in password:
        return False
    return not re.match(rb"(?i)[a-z_]+[.(]|\d{1,5}(?:/|$)", password)


def basic_credentials(found: Candidate) -> bool:
    """Base64 that decodes to ``user:password``, both printable, no placeholder."""
    value = found.value.rstrip(b"=")
    try:
        text = base64.b64decode(value + b"=" * (-len(value) % 4))
    except (ValueError, binascii.Error):
        return False
    user, colon, password = text.partition(b":")
    if not colon or not user or any(not 32 <= byte < 127 for byte in text):
        return False
    return len(password) >= 4 and not is_poor_password(password) and not is_placeholder(password)
