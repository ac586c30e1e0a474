"""The text of an answer, taken strictly: its JSON, and texts in it made fit for a line and a name.

Python's own JSON reader is generous: it takes ``NaN``, lets the last of two equal keys win, and
hands on half a character pair that no file can hold. Here all of these are refusals, and nothing
is repaired.
"""

from __future__ import annotations

import json
import re
import unicodedata
from collections.abc import Iterable, Iterator
from enum import StrEnum
from typing import Final, NoReturn

from dreaming.packets import visible

MAX_ANSWER_BYTES: Final = 1_000_000

ASKS: Final = '"read":'
"""Where instructions hold this, they show an answer that says the word of its question back."""

ORDERS: Final = re.compile(
    r"\b(?:ignore|disregard|forget|override)\b.{0,60}"
    r"\b(?:instructions?|prompts?|rules|above|previous|prior|earlier|everything)\b"
    r"|\b(?:answer|respond|reply|output|report)\b.{0,30}"
    r"\b(?:only|exactly|nothing|this|follow(?:s|ing)|empty|no (?:findings?|gotchas?|lessons?))\b"
    r"|\b(?:answer|respond|reply)\b.{0,10}\bwith\b"
    r"|\byou are (?:now|no longer)\b|\b(?:new|updated) instructions?\b|\bsystem ?(?:prompt|:)"
    r"|</?(?:system|instructions?)\b|\"(?:findings|not_lessons|session_id|same)\"",
    re.IGNORECASE | re.DOTALL,
)
"""Words that a model may take for its orders, and not for data: where they stand in a question,
only an answer that says the word back is believed."""

_CONSONANTS: Final = "bdfghjklmnprstvz"
_VOWELS: Final = "aiou"
_FENCED: Final = re.compile(r"```(?:json)?[ \t]*\n(.*)\n?[ \t]*```\Z", re.DOTALL | re.IGNORECASE)
_HALF_PAIR: Final = re.compile("[\ud800-\udfff]")
_NOT_SLUG: Final = re.compile(r"[^a-z0-9]+")


class Reason(StrEnum):
    """Why something in an answer could not be used."""

    TOO_LONG = "the answer is too long"
    BROKEN_TEXT = "broken text"
    NOT_JSON = "not the JSON that was asked for"
    OBEYED = "the word of the question is not said back: it may obey a transcript"
    WRONG_SHAPE = "not a list of findings"
    TOO_MANY = "too many findings"
    NOT_AN_OBJECT = "a finding that is no object"
    MISSING_FIELD = "a field is missing, empty or no text"
    UNKNOWN_SESSION = "a session that was not asked about"
    NO_EVIDENCE = "no evidence that stands"
    UNKNOWN_NUMBER = "an excerpt number that is not this session's"
    NOT_VERBATIM = "a quotation that does not stand in the session"
    SHORT_QUOTE = "a quotation too short to prove anything"
    TOO_MUCH_EVIDENCE = "more evidence than is looked at"
    CUT = "a text was cut"
    REPEATED = "the same finding again"


class NotTaken(Exception):
    """An answer, or one object of it, cannot be taken."""

    def __init__(self, reason: Reason, detail: str = "") -> None:
        super().__init__(reason)
        self.reason = reason
        self.detail = detail


def word(hash_: str, prompt: str) -> str:
    """Return the word that an answer must say back; empty where the instructions do not ask for it.

    It comes of the request's hash, so nobody who wrote a transcript can know it. It can be spoken
    (as a proquint, arXiv:0901.4016), since a small model copies syllables better than digits.
    """
    if ASKS not in prompt:
        return ""
    number = int(hash_[:8], 16)
    return "-".join(_spoken(half) for half in (number >> 16, number & 0xFFFF))


def _spoken(sixteen: int) -> str:
    letters = (
        (_CONSONANTS, 12, 15), (_VOWELS, 10, 3), (_CONSONANTS, 6, 15), (_VOWELS, 4, 3),
        (_CONSONANTS, 0, 15),
    )  # fmt: skip
    return "".join(some[sixteen >> shift & mask] for some, shift, mask in letters)


def parse(text: str, word: str = "", data: Iterable[str] = ()) -> object:
    """Return the JSON in an answer; one fence around it is stripped.

    ``word`` is what the question asked back, ``data`` what it showed. Raises ``NotTaken``, also
    for what only a generous reader would take; for an answer that says another word back; and for
    one that says none where the data gives orders. A model that obeys them forgets ours.
    """
    root = _strictly(text)
    said = root.get("read") if isinstance(root, dict) else None
    if word and said != word and (said is not None or any(map(ORDERS.search, data))):
        raise NotTaken(Reason.OBEYED)
    return root


def _strictly(text: str) -> object:
    if is_broken(text):
        raise NotTaken(Reason.BROKEN_TEXT)
    size = len(text.encode())
    if size > MAX_ANSWER_BYTES:
        raise NotTaken(Reason.TOO_LONG, f"{size} bytes")
    return _parsed(_unfenced(text.strip()))


def is_broken(text: str) -> bool:
    """Say whether ``text`` holds half a character pair, which no file or database can take."""
    return _HALF_PAIR.search(text) is not None


def one_line(text: str) -> str:
    """Return ``text`` as one line that is inert on a screen and in a file.

    White space is folded, hidden characters are shown by their number, comment marks are broken
    and of stacked accents two stay.
    """
    folded = " ".join(visible(unicodedata.normalize("NFC", text)).split())
    unmarked = folded.replace("<!--", "<! --").replace("-->", "-- >")
    return unmarked if unmarked.isascii() else "".join(_unstacked(unmarked))


def slug(text: str, longest: int = 80) -> str:
    """Return ``text`` as a slug of ASCII letters, digits and dashes; empty where none are left."""
    plain = unicodedata.normalize("NFKD", text[:1000]).encode("ascii", "ignore").decode().lower()
    return _NOT_SLUG.sub("-", plain).strip("-")[:longest].strip("-")


def _parsed(text: str) -> object:
    """Parse JSON as strictly as a schema would have it; Python's own reader is generous."""
    try:
        return json.loads(
            text,
            object_pairs_hook=_without_duplicates,
            parse_constant=_refuse,
            parse_int=_bounded_int,
            parse_float=_bounded_float,
        )
    except json.JSONDecodeError as error:
        raise NotTaken(Reason.NOT_JSON, f"{error.msg} at character {error.pos}") from None
    except ValueError as error:
        raise NotTaken(Reason.NOT_JSON, str(error)) from None
    except RecursionError:
        raise NotTaken(Reason.NOT_JSON, "nested too deeply") from None


def _unfenced(text: str) -> str:
    fenced = _FENCED.match(text)
    return fenced[1] if fenced else text


def _without_duplicates(pairs: list[tuple[str, object]]) -> dict[str, object]:
    found = dict(pairs)
    if len(found) < len(pairs):
        raise ValueError("a key stands twice in one object")
    return found


def _refuse(name: str) -> NoReturn:
    raise ValueError(f"{name} is no JSON number")


def _bounded_int(digits: str) -> int:
    if len(digits) > 18:
        raise ValueError("a number is too large")
    return int(digits)


def _bounded_float(digits: str) -> float:
    value = float(digits)
    if value in (float("inf"), float("-inf")):
        raise ValueError("a number is too large")
    return value


def _unstacked(text: str) -> Iterator[str]:
    stacked = 0
    for char in text:
        stacked = stacked + 1 if unicodedata.category(char) in {"Mn", "Me"} else 0
        if stacked <= 2:
            yield char
