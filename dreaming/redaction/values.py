"""Whether the value given to a secret-sounding name is a secret.

Code says ``password = form.password`` and ``token: Token`` far more often than it holds a
password, so a value must look like nothing a person would write as a word, a path, a number, an
identifier or a reference before it counts.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from functools import cache, lru_cache
from typing import Final

from dreaming.redaction.proofs import Candidate, Proof, entropy, is_placeholder, is_poor_password

_STRONG_NAME: Final = re.compile(rb"(?i)pass(?!port|ive|ed|es|ing|age)|pwd|secret")
_OPEN_WORDS: Final = b"|".join(
    b"""cache checksum commit csrf cursor dedupe? digest etag fingerprint foreign hash(?!i)
    idempotency integrity nonce pagination partition primary pubkey public sort xsrf""".split()
)
_COUNTED_TOKENS: Final = b"|".join(
    b"""bos cached? cancel cancellation color completion continuation cursor design eos input lexer
    mask max min next num output pad page parser prompt reasoning resume sep skip special stop sync
    syntax theme thinking total""".split()
)
_OPEN_ENDINGS: Final = b"|".join(
    b"""changed_at column dir env error field file folder form hint input label length message name
    path pattern placeholder policy prompt regex reset rules? strength text title type ur[il] var
    visible""".split()
)
_TOKEN_PARTS: Final = b"|".join(
    rb"""address bucket budget count endpoint expir\w* id in index izer kind length limit name
    out symbol type ur[il] usage""".split()
)
_NO_SECRET_NAME: Final = re.compile(
    rb"(?i)" + _OPEN_WORDS + rb"|(?:" + _COUNTED_TOKENS + rb")[_-]?tokens?|tokens$"
    rb"|token_?(?:" + _TOKEN_PARTS + rb")s?$|key_?ids?$"
    rb"|secret_?(?:arn|id|key_?ref|name|ref|store|version)s?$|(?:" + _OPEN_ENDINGS + rb")$"
)
_CODE_WORDS: Final = b"|".join(
    b"""async await boolean bytes config false function import new nil none null number object op
    optional process require required return secrets? self settings string this true undefined
    vault""".split()
)
_SCHEMES: Final = rb"algorithm|arn|aws-sm|blake\w*|data|file|md5|oid|sha\d{1,3}|ssm|urn"
_REFERENCE: Final = re.compile(
    rb"(?i)^(?:" + _CODE_WORDS + rb")(?:[^A-Za-z0-9]|$)"
    rb"|^[$@/~&+|=?.:\\-]|^[a-z]:[\\/]|^(?:" + _SCHEMES + rb")[:\-]|^ssh-|^AAAA[BCE]"
    rb"|://|->|=>|::|\(|\$\{|\\[.wdsSDW]|\[\^"
)
_FILE: Final = re.compile(
    rb"(?i)\.(?:py|pyi|m?[jt]sx?|json[l5]?|ya?ml|toml|txt|md|rst|pem|key|crt|env|go|rs|java|rb|php|sh|sql|html?|css|"
    rb"lock|log|cfg|ini|conf|xml|svg|png|swift|kt|c|h|cc|cpp|hpp|cs|vue|svelte|ipynb|local|com|io|org|net|dev)"
    rb"(?::\d+)*$"
)
_UUID: Final = re.compile(rb"[0-9a-fA-F]{8}(?:-[0-9a-fA-F]{4}){3}-[0-9a-fA-F]{12}")
_UUID_NAME: Final = re.compile(
    rb"(?i)(?:access|api|auth|encryption|license|private|secret|signing)[_.-]?(?:key|token)"
    rb"|(?:api|app|client|webhook)[_.-]?secret|cred"
)
_KNOWN_ID: Final = re.compile(
    rb"(?:call|chatcmpl|cus|evt|fc|item|msg|req|resp|rs|run|srvtoolu|thread|toolu)[_-]"
)
_NUMERIC: Final = re.compile(rb"[\d.,:TZ+/x_-]+")
_DOTTED: Final = re.compile(rb"[A-Za-z_$][\w$]*(?:[?!]?\.[A-Za-z_$][\w$]*)+")
_KINDS: Final = (re.compile(rb"[a-z]"), re.compile(rb"[A-Z]"), re.compile(rb"[0-9]"))
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
    if is_placeholder(value) or is_poor_password(value) or _KNOWN_ID.match(value):
        return False
    if _UUID.fullmatch(value):
        return False
    if _REFERENCE.search(value) or _NUMERIC.fullmatch(value):
        return False
    words = 0.0 if _one_case(value) else wordiness(value)
    if _DOTTED.fullmatch(value) and words > 0.35:
        return False
    if _FILE.search(value) or (value.count(b"/") > 1 and words > 0.4):
        return False
    if entropy(value) < least_bits or words >= 0.6:
        return False
    if value[:1] in b"!#%^*" and not all(re.search(kind, value) for kind in _KINDS):
        return False  # a negation, a colour, a format, a pointer
    digits = sum(48 <= byte <= 57 for byte in value)
    return (digits > 0 and digits < len(value) and changes(value) >= 2) or changes(value) >= 4


def _one_case(value: bytes) -> bool:
    """Say whether letters of one case and digits are mixed as no name mixes them."""
    one = value.isalnum() and (value.islower() or value.isupper())
    return one and len(value) >= 20 and changes(value) >= 4


_KEY_OF_SOMETHING: Final = re.compile(
    rb"(?i)(?:access|ad|arrow|asset|batch|blob|block|bucket|call|category|composite|config|data|dict|"
    rb"entity|entry|event|field|file|group|hot|i18n|image|index|item|job|lang|list|locale|lock|lookup|map|"
    rb"message|meta|model|msg|node|object|option|page|param|path|project|query|queue|react|record|redis|"
    rb"registry|route|row|rule|s3|schema|session|setting|shard|short|span|state|storage|store|string|tab|"
    rb"table|tag|task|thread|tool|trace|translation|turn|unique|user|widget|work)s?[_.-]?key\Z"
)
_HASH: Final = re.compile(rb"(?i)[0-9a-f]{40}|[0-9a-f]{64}|[0-9a-f]{96,}")


def named_key(found: Candidate) -> bool:
    """``SOMETHING_KEY`` was given a value that is random, of a key's length, and no hash."""
    lead = re.search(rb"[A-Za-z0-9_.-]{0,40}\Z", found.before)
    name = (lead[0] if lead else b"") + found.name
    value = found.value
    if _NO_SECRET_NAME.search(name) or _KEY_OF_SOMETHING.search(name) or _HASH.fullmatch(value):
        return False
    if len(value) > 90 or sum(48 <= byte <= 57 for byte in value) < 2 or found.after[:1] in b"([$":
        return False
    return looks_secret(value, 3.3)


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
    if _UUID.fullmatch(value):
        return bool(_UUID_NAME.search(name)) and entropy(value) >= 3.0
    return looks_secret(value, 2.6 if strong else 3.0)


_SAYS_SECRET: Final = re.compile(rb"(?i)auth|cred|key|pass|pat(?![a-z])|pwd|secret|sk(?![a-z])|tok")
_SAYS_ID: Final = re.compile(
    rb"(?i)\b(?:md5|rev|sha)|(?:sha\d*|sum|[^a-z]rev|revision|version|build|account|app|channel|domain|email|host|"
    rb"hostname|(?<!andro)(?<!pla)ids?|identifier|image|model|org|owner|project|ref|region|tag|team|uri|url|user|username|"
    rb"workspace|zone)[\s\"\'`\])]{0,4}\Z"
)


_CLIENT_ID: Final = re.compile(
    rb"(?i)(?:access|api|app|application|auth|client|consumer|key|oauth|token)"
    rb"[\s_.-]?s?id[\s\"'`\])]{0,4}\Z"
)


_GIVEN_TO: Final = re.compile(
    rb"([\w .-]{3,60})[\"'`\])]{0,3}\s{0,4}(?::=|=>|\|\||[=:,(>\s])[\s\"'`(=]{0,6}\Z"
)


_HEX: Final = re.compile(rb"(?:0x)?[0-9a-fA-F-]+")
_PADDING: Final = re.compile(rb"A{10,}")
"""Some vendors begin with numbers, and the first digits of those are nought."""


def _own_id(value: bytes, vendors: Sequence[re.Match[bytes]]) -> bool:
    """Say whether nothing but ``id`` follows the vendor in the name, and the value is no number."""
    if not vendors or not value.isalnum() or value.isdigit():
        return False
    name = vendors[-1]
    return bool(re.fullmatch(rb"(?i)[_.-]?id\W*", name.string[name.end() :]))


def vendor_value(rows: Sequence[tuple[str, str, str, str]]) -> Proof:
    """Make a proof: the value that was given to a vendor's name has the shape of its keys.

    A row holds expressions: words of the name; values that count for themselves; values that count
    where the name also says that they are secret; values that count as the id of a client.
    """

    @cache
    def words() -> re.Pattern[bytes]:  # late: this one takes a tenth of a second
        named = (f"(?P<r{n}>{row[0]})" for n, row in enumerate(rows))
        return re.compile("|".join(named).encode(), re.IGNORECASE)

    @lru_cache(maxsize=1024)
    def vendors(name: bytes) -> list[re.Match[bytes]]:  # two milliseconds, and names repeat
        return list(words().finditer(name))

    shapes = {f"r{n}": [part.encode() for part in row[1:]] for n, row in enumerate(rows)}

    def proof(found: Candidate) -> bool:
        value = found.value.rstrip(b".:%")
        digits = sum(48 <= byte <= 57 for byte in value)
        if entropy(value) < 2.4 or not (digits or (changes(value) > 5 and wordiness(value) < 0.5)):
            return False
        if is_placeholder(_PADDING.sub(b"", value)):
            return False
        given = _GIVEN_TO.search(found.before)
        if not given:
            return False
        named = vendors(given[1])
        if _CLIENT_ID.search(given[1]) or _own_id(value, named):
            kinds = slice(2, 3)
        elif _SAYS_ID.search(given[1]) or _NO_SECRET_NAME.search(given[1]):
            return False
        else:
            kinds = slice(0, 2 if _SAYS_SECRET.search(given[1]) else 1)
        if kinds.start == 0 and (digits == len(value) or entropy(value) < 2.8):
            return False
        return any(
            shape and re.fullmatch(shape, value)
            for word in named
            for shape in shapes[word.lastgroup or ""][kinds]
        ) and (wordiness(value) < 0.8 or bool(_HEX.fullmatch(value)))

    return proof


def password_given(found: Candidate) -> bool:
    """A password on a command line, where the position says that it is one."""
    value = found.value
    if is_placeholder(value) or is_poor_password(value) or _REFERENCE.search(value):
        return False
    if _NUMERIC.fullmatch(value) or _FILE.search(value) or found.after[:1] in (b"(", b"["):
        return False
    return entropy(value) >= 2.4 and wordiness(value) < 0.8


_AFTER_LOGIN: Final = frozenset(
    b"a an and as by for in my or our the their to using via with your".split()
)


def login_password(found: Candidate) -> bool:
    """A password after a login's name; in prose a small word follows the word login."""
    return found.name.lower() not in _AFTER_LOGIN and password_given(found)


def bearer(found: Candidate) -> bool:
    """An opaque token after ``Bearer``."""
    value = found.value
    return not value.startswith(b"eyJ") and len(value) >= 20 and looks_secret(value, 3.3)


def authorization(found: Candidate) -> bool:
    """A key after a scheme of the vendor's own; the schemes of RFC 7617 have other proofs."""
    if re.search(rb"(?i)\b(?:basic|bearer|digest|negotiate)\s", found.whole):
        return False
    return bool(_UUID.fullmatch(found.value)) or looks_secret(found.value, 3.0)


def spoken_password(found: Candidate) -> bool:
    """``the password is ...`` in prose, followed by something that is no word."""
    value = found.value.rstrip(b".,:!?)")
    return len(value) >= 8 and looks_secret(value, 2.6)


def encoded_value(found: Candidate) -> bool:
    """A base64 value in a Kubernetes secret."""
    return not is_placeholder(found.value) and entropy(found.value) >= 2.8
