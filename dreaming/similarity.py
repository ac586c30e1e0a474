"""How alike two texts are: code-aware tokens and how rare they are. Pure functions of text.

Sessions word one gotcha differently each time. What they share is rarely the error text; it is the
one rare thing that the fix adds or the person names (a flag, a tool, a file). So texts become
tokens that keep such names whole *and* in parts, and rarity over the whole history decides.
"""

from __future__ import annotations

import hashlib
import re
from collections.abc import Collection, Iterable, Mapping, Sequence
from functools import lru_cache
from itertools import chain
from math import exp, fsum, log, sqrt
from operator import mul
from typing import Final

import msgspec

RAREST: Final = 4.0
"""No token weighs more than this, however rare it is."""

_LONG = 90
"""From this many sessions on, a history is long."""
_EVERYWHERE = log(2)
_RANGE = log(1 + _LONG / 2) - _EVERYWHERE
_TOKEN = re.compile(r"[^\W\d][\w@.+-]*|@\w[\w./-]*|--?[A-Za-z][\w-]*")
_PLAIN = re.compile(_TOKEN.pattern.replace(r"[^\W\d]", "[A-Za-z_]"), re.ASCII)
"""The same for ASCII, where it is twice as fast."""
_PART = re.compile(r"[_.\-/:@+]+|(?<=[a-z])(?=[A-Z])")
_PLACEHOLDER = re.compile(r"<[a-z][a-z_-]{1,20}:[0-9a-z]{2,16}>|<(?:home|user|host|redacted)>")
_WIDE = re.compile(r"[\u3040-\u30ff\u3400-\u9fff\uac00-\ud7af]")

_COMMON = """the a an and or of to in on for is are was were be been it its this that these those
with as at by from not no do does did don't dont you your we our i me my so if then than but have
has had will would can can't could should must need needs use used using let's lets just all any
there here what which when where who how one two first again file files line run running error
errors failed fail found cannot code exit command updated successfully true false null none self
return import def string new old repo home work src it's that's isn't i'll let instead now only also
because before after into out up over them they he she s t re ll ve d m im i'm ok yes please"""
COMMON: Final = frozenset(_COMMON.split())
"""Words too common to tell anything, in any session."""


@lru_cache(maxsize=32768)
def _forms(raw: str) -> tuple[str, ...]:
    """Return a token's whole form and its parts, lower case; nothing for what is no word."""
    whole = raw.strip("-.").lower()
    if not 2 <= len(whole) <= 40:
        return ()
    if raw.isalnum() and (raw[1:].islower() or raw.isupper()) and raw.isascii():
        return (whole,)
    if _WIDE.search(whole):
        return tuple(dict.fromkeys(whole[i : i + 2] for i in range(len(whole) - 1)))
    parts = [part.lower() for part in _PART.split(raw) if len(part) > 2]
    return tuple(dict.fromkeys([whole, *parts])) if len(parts) > 1 else (whole,)


def tokens(text: str) -> list[str]:
    """Return the tokens of a text in order, repeats included; placeholders give none."""
    return [*chain.from_iterable(map(_forms, _raw(text)))]


def distinct(texts: Iterable[str]) -> frozenset[str]:
    """Return the distinct tokens of some texts: several times as fast as ``tokens`` of each."""
    chunks = set(chain.from_iterable(map(str.split, texts)))
    words = set(filter(str.isalpha, chunks))
    chunks -= words
    plain = set(filter(str.isascii, chunks))
    words.update(_raw(" ".join(plain)), _raw(" ".join(chunks - plain)))
    return frozenset(chain.from_iterable(map(_forms, words)))


def _raw(text: str) -> list[str]:
    if "<" in text:
        text = _PLACEHOLDER.sub(" ", text)
    return (_PLAIN if text.isascii() else _TOKEN).findall(text)


def telling(text: str) -> list[str]:
    """Return the distinct tokens of a text that are not common words, in order."""
    return [token for token in dict.fromkeys(tokens(text)) if token not in COMMON]


def rarity(occurrences: int, sessions: int) -> float:
    """Return how much a token tells: least where it is everywhere, at most ``RAREST``.

    A short history is stretched to the range of a long one, so that what is rare in twelve sessions
    counts as much as what is rare in a hundred. A longer history is not compressed: what stands in
    one session of a hundred is rare, however many there are.
    """
    size = max(3, sessions)
    told = log(1 + size / (1 + occurrences))
    if size < _LONG:
        told = _EVERYWHERE + (told - _EVERYWHERE) * _RANGE / (log(1 + size / 2) - _EVERYWHERE)
    return max(0.0, min(RAREST, told))


@lru_cache(maxsize=32768)
def stem(token: str) -> str:
    """Return a plain word without its ending: ``await`` and ``awaited`` are one; names stay."""
    if len(token) < 5 or not (token.isascii() and token.isalpha()):
        return token
    for ending in ("ings", "ing", "ed", "es", "s"):
        if token.endswith(ending) and len(token) - len(ending) >= 4:
            token = token.removesuffix(ending)
            break
    return token.removesuffix("e") if len(token) > 4 else token


@lru_cache(maxsize=16384)
def term_id(term: str) -> int:
    """Return the number a term is counted under, the same in every process: 63 bits of its hash."""
    digest = hashlib.blake2b(term.encode("utf-8", "replace"), digest_size=8).digest()
    return int.from_bytes(digest) >> 1


def overlap(one: Collection[str], other: Collection[str]) -> float:
    """Return the share of distinct tokens that two token sets have in common, 0 to 1."""
    a, b = frozenset(one), frozenset(other)
    return len(a & b) / (len(a | b) or 1)


@lru_cache(maxsize=65536)
def grams(text: str, size: int = 3) -> frozenset[str]:
    """Return the character n-grams of a text, its beginning and end among them."""
    whole = f" {text} "
    return frozenset(whole[at : at + size] for at in range(max(1, len(whole) - size + 1)))


def length(vector: Mapping[str, float]) -> float:
    """Return the Euclidean length of a sparse vector."""
    return sqrt(fsum(weight * weight for weight in vector.values()))


def cosine(one: Mapping[str, float], other: Mapping[str, float]) -> float:
    """Return the cosine of two sparse vectors."""
    if len(one) > len(other):
        one, other = other, one
    dot = fsum(weight * other[key] for key, weight in one.items() if key in other)
    return dot / ((length(one) * length(other)) or 1.0)


_SEPARATOR = re.compile(r"&&|\|\||;|\||\n")
_WRAPPING = "sudo env time nohup command exec bash sh zsh -lc -c setsid source cd"
_WRAPPERS = frozenset(_WRAPPING.split())


@lru_cache(maxsize=2048)
def program(command: str) -> str:
    """Return the program a command line starts, wrappers and assignments left aside."""
    for part in _SEPARATOR.split(command[:400]):
        words = [word for word in part.split() if "=" not in word]
        if words and words[0] in ("cd", "export", "source"):
            continue
        while words and words[0] in _WRAPPERS:
            words = words[1:]
        if words:
            return words[0].rsplit("/", 1)[-1]
    return ""


class Model(msgspec.Struct, frozen=True):
    """A small logistic model: numbers in, how sure out. The numbers are data, made by a benchmark.

    The names of the features keep data and code from drifting apart.
    """

    features: tuple[str, ...]
    weights: tuple[float, ...]
    bias: float

    def sure(self, values: Sequence[float]) -> float:
        """Return how sure the model is, 0 to 1."""
        total = self.bias + fsum(map(mul, self.weights, values))
        return 1.0 / (1.0 + exp(-max(-30.0, min(30.0, total))))
