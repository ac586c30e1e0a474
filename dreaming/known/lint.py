"""What is wrong, or worth a look, in the lines of a knowledge base. Lines in, problems out."""

from __future__ import annotations

import re
import unicodedata
from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from enum import StrEnum
from typing import Final

import msgspec

from dreaming.known.near import PRECISE, Near, Said
from dreaming.known.opposites import opposite
from dreaming.lessons import inert, same_key
from dreaming.models.lesson import KnownLine
from dreaming.similarity import cosine, rarity, telling

_SAME_SYMPTOM: Final = 0.5
_SHARED_BY_FEW: Final = 40
"""A word that more lines have than this brings no two of them together."""
_COMPARED: Final = 2000
"""Characters of a line that are compared: five times what accepting lets through."""
_FEWEST_WORDS: Final = 3
"""A hand-written line of fewer says too little to be a lesson."""

_MARKS: Final = re.compile(r"^[\s>*+\-\d.)]*(?:\[\d{4}-\d\d-\d\d\])?\s*|<!--.*?-->")
"""What a hand-written line may begin with, and comments in it."""
_MEANT_AS_OURS: Final = re.compile(
    r"<!--\s*dreaming\b|^(?:[-*+]\s*)?(?:\[[^\]]*\]\s*)?symptom:.*\brule:", re.I
)
_SPAN: Final = re.compile(r"`[^`]*`")
_IMPORT: Final = re.compile(r"(?<![\w.])@[\w.~/][\w./~-]*")


class Kind(StrEnum):
    """What is the matter with a line."""

    DUPLICATE = "duplicate"
    """It says what another says, in other dress."""
    NEAR_DUPLICATE = "near-duplicate"
    OPPOSITE = "opposite"
    """It tells one to do what another, for the same symptom, tells one to leave."""
    TOO_LONG = "too-long"
    """A topic with more lines than agents may load."""
    NOT_PARSED = "not-parsed"
    """It looks like a lesson of ours, but is none."""
    NOT_INERT = "not-inert"
    """Its text would act in the agent that loads it."""
    HIDDEN = "hidden"
    """It holds characters that cannot be seen."""
    ANCHOR_TWICE = "anchor-twice"
    ANCHOR_UNKNOWN = "anchor-unknown"
    """No decision in the ledger knows its anchor."""
    LINE_GONE = "line-gone"
    """The ledger says it stands, and it does not: a person took it out, or it was lost."""


WRONG: Final = frozenset(
    {
        Kind.DUPLICATE,
        Kind.NOT_PARSED,
        Kind.NOT_INERT,
        Kind.HIDDEN,
        Kind.ANCHOR_TWICE,
        Kind.ANCHOR_UNKNOWN,
    }
)
"""Kinds that are wrong whatever a person thinks of it; the others want a look."""


class Beside(msgspec.Struct, frozen=True):
    """The line that another one must be read with."""

    path: str
    number: int
    text: str


class Problem(msgspec.Struct, frozen=True):
    """One thing that lint found."""

    kind: Kind
    wrong: bool
    """False where a person may well want it so."""
    path: str
    number: int
    """1-based; 0 where it concerns the file as a whole."""
    text: str
    """The line, or empty."""
    says: str
    """What is the matter, in words."""
    beside: Beside | None = None
    """The other line, where there is one."""


def lint(lines: Sequence[KnownLine]) -> list[Problem]:
    """Return what can be seen in the lines alone, by file and line."""
    paired: set[tuple[int, int]] = set()
    found = [*_singly(lines), *_twice(lines), *_duplicates(lines, paired)]
    found += _pairs(lines, paired)
    return in_order(found)


def in_order(problems: Sequence[Problem]) -> list[Problem]:
    """Return problems by file, line and kind."""
    return sorted(problems, key=_order)


def _order(one: Problem) -> tuple[str, int, str, int, str]:
    return one.path, one.number, one.kind, one.beside.number if one.beside else 0, one.says


def problem(kind: Kind, line: KnownLine, says: str, other: KnownLine | None = None) -> Problem:
    """Return a problem of one line, or of one beside another."""
    beside = Beside(str(other.path), other.number, other.text) if other else None
    return Problem(kind, kind in WRONG, str(line.path), line.number, line.text, says, beside)


# -- one line -------------------------------------------------------------------------------------


def _singly(lines: Sequence[KnownLine]) -> Iterator[Problem]:
    for line in lines:
        yield from _unparsed(line)
        yield from _hidden(line)
        yield from _not_inert(line)


def _unparsed(line: KnownLine) -> Iterator[Problem]:
    if line.lesson is None:
        if _MEANT_AS_OURS.search(line.text):
            form = "- [YYYY-MM-DD] SYMPTOM: … RULE: …"
            yield problem(Kind.NOT_PARSED, line, f"it looks like a lesson, but is not `{form}`")
    elif "<!--" in line.lesson.symptom + line.lesson.rule:
        said = "its anchor is not `<!-- dreaming:` with 8 hex characters at the end of the line"
        yield problem(Kind.NOT_PARSED, line, said)


def _hidden(line: KnownLine) -> Iterator[Problem]:
    unseen = {char for char in set(line.text) if _cannot_be_seen(char)}
    if unseen:
        names = ", ".join(f"U+{ord(char):04X}" for char in sorted(unseen)[:5])
        one = problem(Kind.HIDDEN, line, f"it holds {names}, which cannot be seen")
        yield msgspec.structs.replace(one, wrong=line.lesson is not None)


def _cannot_be_seen(char: str) -> bool:
    return char != "\t" and unicodedata.category(char) in {"Cc", "Cf", "Cs", "Co", "Zl", "Zp"}


def _not_inert(line: KnownLine) -> Iterator[Problem]:
    """Ours must be words throughout; of hand-written lines only an import is worth a look."""
    if line.lesson is None:
        found = _IMPORT.search(_SPAN.sub(" ", line.text))
        if found:
            said = f"{found.group()} outside a code span makes some agents load that file"
            yield msgspec.structs.replace(problem(Kind.NOT_INERT, line, said), wrong=False)
        return
    for text in (line.lesson.symptom, line.lesson.rule):
        safe = inert(text)
        if safe != text and "<!--" not in text:
            word = next((a for a, b in zip(text.split(), safe.split(), strict=False) if a != b), "")
            yield problem(Kind.NOT_INERT, line, f"{word} would act as markdown or as an import")
            return


# -- lines beside each other ----------------------------------------------------------------------


def _twice(lines: Sequence[KnownLine]) -> Iterator[Problem]:
    first: dict[str, KnownLine] = {}
    for line in lines:
        if line.lesson is not None and line.lesson.id:
            before = first.setdefault(line.lesson.id, line)
            if before is not line:
                yield problem(
                    Kind.ANCHOR_TWICE, line, "its anchor stands a second time, after", before
                )


def _duplicates(lines: Sequence[KnownLine], paired: set[tuple[int, int]]) -> Iterator[Problem]:
    """Each line that says what an earlier one says, once case, marks and stop words are gone."""
    first: dict[str, int] = {}
    for place, line in enumerate(lines):
        keys = _keys(line)
        before = min((first[key] for key in keys if key in first), default=None)
        for key in keys:
            first.setdefault(key, place)
        if before is not None:
            paired.add((before, place))
            yield problem(Kind.DUPLICATE, line, "it says the same as", lines[before])


def _keys(line: KnownLine) -> list[str]:
    """What a line says, so that equal means the same: by its rule alone, and as a whole."""
    if line.lesson is not None:
        return [same_key(_rule(line)), same_key(_said(line))]
    said = same_key(_said(line))
    return [said] if len(said.split()) >= _FEWEST_WORDS else []


def _pairs(lines: Sequence[KnownLine], paired: set[tuple[int, int]]) -> Iterator[Problem]:
    """Near duplicates and opposites among the lines that share a telling word."""
    words = [_telling(line) for line in lines]
    weight = _weights(words)
    near = Near([_compared(line) for line in lines])
    for a, b in _sharing(words):
        if (a, b) in paired:
            continue
        one, other = lines[a], lines[b]
        if _same_symptom(one, other, weight) and opposite(_rule(one), _rule(other), weight):
            said = "for one symptom it tells the opposite of"
            yield problem(Kind.OPPOSITE, other, said, one)
        elif near.between(a, b) >= PRECISE:
            yield problem(Kind.NEAR_DUPLICATE, other, "it is nearly the same as", one)


def _sharing(words: Sequence[frozenset[str]]) -> list[tuple[int, int]]:
    """The pairs of lines that have two telling words in common, or the only one that either has."""
    holders: dict[str, list[int]] = {}
    for place, held in enumerate(words):
        for word in held:
            holders.setdefault(word, []).append(place)
    shared: Counter[tuple[int, int]] = Counter()
    for places in holders.values():
        if len(places) <= _SHARED_BY_FEW:
            shared.update((a, b) for at, b in enumerate(places) for a in places[:at])
    return sorted(pair for pair, number in shared.items() if number >= _needed(words, pair))


def _needed(words: Sequence[frozenset[str]], pair: tuple[int, int]) -> int:
    return min(2, len(words[pair[0]]), len(words[pair[1]]))


def _weights(words: Sequence[frozenset[str]]) -> Callable[[str], float]:
    counts = Counter(word for held in words for word in held)
    size = max(20, len(words))
    return lambda word: rarity(counts[word], size)


def _same_symptom(one: KnownLine, other: KnownLine, weight: Callable[[str], float]) -> bool:
    a, b = _symptom(one), _symptom(other)
    return cosine(_vector(a, weight), _vector(b, weight)) >= _SAME_SYMPTOM


def _vector(text: str, weight: Callable[[str], float]) -> dict[str, float]:
    return {word: weight(word) for word in telling(text)}


def _telling(line: KnownLine) -> frozenset[str]:
    return frozenset(telling(_said(line)))


def _compared(line: KnownLine) -> Said:
    if line.lesson is None:
        return Said(_said(line))
    return Said(_said(line), _symptom(line), _rule(line))


def _said(line: KnownLine) -> str:
    if line.lesson is None:
        return _MARKS.sub("", line.text[:_COMPARED])
    return f"{_symptom(line)} {_rule(line)}"


def _rule(line: KnownLine) -> str:
    return line.lesson.rule[:_COMPARED] if line.lesson is not None else _said(line)


def _symptom(line: KnownLine) -> str:
    return line.lesson.symptom[:_COMPARED] if line.lesson is not None else _said(line)
