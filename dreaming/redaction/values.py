"""Whether the value given to a secret-sounding name is a secret.

Code says ``password = form.password`` and ``token: Token`` far more often than it holds a
password, so a value must look like nothing a person would write as a word, a path, a number, an
identifier or a reference before it counts.
"""

from __future__ import annotations

import re
from typing import Final

from dreaming.redaction.proofs import Candidate, entropy, is_placeholder, is_poor_password

_STRONG_NAME: Final = re.compile(rb"(?i)pass(?!port|ive|ed|es|ing|age)|pwd|secret")
_NO_SECRET_NAME: Final = re.compile(
    rb"(?i)(?:public|pubkey|csrf|xsrf|nonce|idempotency|cache|sort|primary|foreign|partition|integrity|checksum|"
    rb"commit|digest|etag|fingerprint|cursor|pagination|dedupe?|hash(?!i)|(?:next|page|sync|continuation|cancel|"
    rb"cancellation|resume|skip|pad|mask|bos|eos|sep|stop|special|max|min|num|total|input|output|prompt|"
    rb"completion|cached?|reasoning|thinking|design|color|theme|syntax|lexer|parser)[_-]?tokens?)"
    rb"|tokens$|token_?(?:type|count|id|izer|bucket|usage|limit|budget|expir\\w*|ur[il]|endpoint|name|kind|index|"
    rb"length|address|symbol|in|out)s?$|key_?ids?$|secret_?(?:name|ref|id|arn|version|key_?ref|store)s?$"
    rb"|(?:path|file|dir|folder|ur[il]|name|label|field|env|var|policy|reset|prompt|hint|type|length|regex|"
    rb"pattern|column|placeholder|error|message|title|text|input|form|rules?|strength|visible|changed_at)$"
)
_REFERENCE: Final = re.compile(
    rb"(?i)^(?:true|false|null|none|nil|undefined|required|optional|string|bytes|number|boolean|object|function|"
    rb"async|await|return|new|self|this|process|import|require|settings|config|secrets?|vault|op)(?:[^A-Za-z0-9]|$)"
    rb"|^[$%@/~#&*!+|^=?.:\\-]|^[a-z]:[\\/]|://|^(?:file|arn|sha\d{1,3}|data|urn|oid|md5|blake\w*|algorithm|ssm|aws-sm)[:\-]|->|=>|::|\(|\$\{|"
    rb"\\[.wdsSDW]|\[\^|^\w+\.\w+\.?[a-z]\w*\($|^ssh-|^AAAA[BCE]"
)
_FILE: Final = re.compile(
    rb"(?i)\.(?:py|pyi|m?[jt]sx?|json[l5]?|ya?ml|toml|txt|md|rst|pem|key|crt|env|go|rs|java|rb|php|sh|sql|html?|css|"
    rb"lock|log|cfg|ini|conf|xml|svg|png|swift|kt|c|h|cc|cpp|hpp|cs|vue|svelte|ipynb|local|com|io|org|net|dev)"
    rb"(?::\d+)*$"
)
_UUID: Final = re.compile(rb"[0-9a-fA-F]{8}-(?:[0-9a-fA-F]{4}-){3}[0-9a-fA-F]{12}")
_NUMERIC: Final = re.compile(rb"[\d.,:TZ+/x_-]+")
_DOTTED: Final = re.compile(rb"[A-Za-z_$][\w$]*(?:[?!]?\.[A-Za-z_$][\w$]*)+")
_PART: Final = re.compile(rb"[A-Z]?[a-z]+|[A-Z]+(?![a-z])|\d+|[^A-Za-z0-9]+")


def wordiness(value: bytes) -> float:
    """Return the share of letters and digits that stand in something pronounceable."""
    letters = sum(len(part) for part in _PART.findall(value) if part[:1].isalnum())
    words = sum(len(part) for part in _PART.findall(value) if _is_word(part))
    return words / letters if letters else 1.0


def _is_word(part: bytes) -> bool:
    if len(part) < 3 or not part.isalpha():
        return False
    vowels = sum(byte in b"aeiouyAEIOUY" for byte in part)
    return 0.15 <= vowels / len(part) <= 0.75 and not re.search(rb"(?i)[^aeiouy]{5}", part)


def changes(value: bytes) -> int:
    """Return how often the kind of character changes, a capital before a small letter aside."""
    return max(0, len(_PART.findall(value)) - 1)


def looks_secret(value: bytes, least_bits: float) -> bool:
    """Say whether a value is random enough to be a password or a key."""
    if is_placeholder(value) or is_poor_password(value) or _UUID.fullmatch(value):
        return False
    if _REFERENCE.search(value) or _NUMERIC.fullmatch(value) or _DOTTED.fullmatch(value):
        return False
    if _FILE.search(value) or (value.count(b"/") > 1 and wordiness(value) > 0.4):
        return False
    if entropy(value) < least_bits or wordiness(value) >= 0.6:
        return False
    digits = sum(48 <= byte <= 57 for byte in value)
    return (digits > 0 and digits < len(value) and changes(value) >= 2) or changes(value) >= 4


def assigned(found: Candidate) -> bool:
    """A name that ends in a secret's word was given a value that looks like one."""
    lead = re.search(rb"[A-Za-z0-9_.-]{0,40}\Z", found.before)
    name = (lead[0] if lead else b"") + found.name
    value = found.value.rstrip(b".:!?\\")
    if _NO_SECRET_NAME.search(name):
        return False
    strong = bool(_STRONG_NAME.search(name))
    if len(value) < (8 if strong else 16):
        return False
    if found.after[:1] in (b"(", b"[") or found.after[:2] == b"${":
        return False  # a call or an index: code
    return looks_secret(value, 2.6 if strong else 3.2)


def password_given(found: Candidate) -> bool:
    """A password on a command line, where the position says that it is one."""
    value = found.value
    if is_placeholder(value) or is_poor_password(value) or _REFERENCE.search(value):
        return False
    if _NUMERIC.fullmatch(value) or _FILE.search(value) or found.after[:1] in (b"(", b"["):
        return False
    return entropy(value) >= 2.4 and wordiness(value) < 0.8


def bearer(found: Candidate) -> bool:
    """An opaque token after ``Bearer``."""
    value = found.value
    return not value.startswith(b"eyJ") and len(value) >= 20 and looks_secret(value, 3.3)


def spoken_password(found: Candidate) -> bool:
    """``the password is ...`` in prose, followed by something that is no word."""
    value = found.value.rstrip(b".,:!?)")
    return len(value) >= 8 and looks_secret(value, 2.6)


def encoded_value(found: Candidate) -> bool:
    """A base64 value in a Kubernetes secret."""
    return not is_placeholder(found.value) and entropy(found.value) >= 2.8
