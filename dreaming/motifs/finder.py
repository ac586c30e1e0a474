"""Which of many patterns a text may match, told by one look at it.

Any match of a pattern holds one of a few literal runs ("forgot", "not found"). All runs of a table
are looked for at once; only the patterns that have one in the text are compiled and tried.
"""

from __future__ import annotations

import re
from collections.abc import Collection, Iterable, Iterator
from functools import cache, cached_property
from typing import TYPE_CHECKING, Final, Generic, TypeVar

if TYPE_CHECKING:
    import hyperscan

Owner = TypeVar("Owner")

_LETTER: Final = r"[a-zà-ÿа-я]"
_PIECE: Final = re.compile(
    r"[\w '-]+(?![*+?{\w '-])|\\.|\[\^?\]?(?:\\.|[^\]\\])*\]|\(\?(?:P<\w+>|<?[=!]|:)|[*+?]\??"
    r"|\{\d*,?\d*\}\??|.",
    re.DOTALL,
)
"""What a pattern is made of: literals, an escape, a class, the start of a group, a quantifier."""
_FEW: Final = re.compile(r"\[-?[\w ]+\]")
"""A class that names its characters."""
_EVERYWHERE: Final = frozenset(
    "the to of in on is are was it that this do you i still use not a an".split()
)
"""Words that all texts have tell nothing."""
MOST: Final = 128
"""So many runs are multiplied out, no more."""
_Runs = frozenset[str]
_NONE: Final[_Runs] = frozenset()
_ONE: Final[_Runs] = frozenset([""])
_EMPTY: Final = (_ONE, _NONE)
"""What matches at a place, but no text."""


class Finder:
    """A pattern for folded text, whose match begins where no letter stands before it."""

    def __init__(self, pattern: str, *, whole: bool = False) -> None:
        """``whole`` asks for a word's end behind the match too."""
        self._pattern = pattern
        self._end = rf"(?!{_LETTER})" if whole else ""
        self.runs = runs(pattern)

    @cached_property
    def compiled(self) -> re.Pattern[str]:
        """Compiled when a text first has one of its runs: most never do."""
        return re.compile(rf"(?<!{_LETTER})(?:{self._pattern}){self._end}", re.MULTILINE)


class Index(Generic[Owner]):
    """Whose runs stand in a text; those who have none always count."""

    def __init__(self, owners: Iterable[tuple[Owner, Collection[str]]]) -> None:
        self._owners: list[Owner] = []
        self._places: dict[str, list[int]] = {}
        self._always: list[int] = []
        for place, (owner, some) in enumerate(owners):
            self._owners.append(owner)
            for run in some:
                self._places.setdefault(run, []).append(place)
            if not some:
                self._always.append(place)

    @cached_property
    def _database(self) -> hyperscan.Database:
        import hyperscan  # late: loading it costs 20 ms, and a night without news needs none

        database = hyperscan.Database(mode=hyperscan.HS_MODE_BLOCK)
        expressions = [run.encode() for run in self._places]
        flags = [hyperscan.HS_FLAG_SINGLEMATCH] * len(expressions)
        numbers = [*range(len(expressions))]
        database.compile(expressions=expressions, ids=numbers, flags=flags, literal=True)
        return database

    @cached_property
    def _numbered(self) -> list[list[int]]:
        return [*self._places.values()]

    def near(self, text: str) -> list[Owner]:
        """Return the owners of the runs that stand in a text, in their order."""
        found = set(self._always)
        places = self._numbered

        def note(number: int, *_: object) -> None:
            found.update(places[number])

        self._database.scan(text.encode("utf-8", "replace"), match_event_handler=note)
        return [self._owners[place] for place in sorted(found)]


def folded(text: str) -> str:
    """Return a text in lower case with plain apostrophes, each character in its place."""
    return text.replace("\u2019", "'").replace("\u0130", "i").lower()


def runs(pattern: str) -> frozenset[str]:
    """Return literal runs of which any match of a pattern has one; empty where there is no such.

    Alternatives are multiplied out, so that the runs are long: few texts have a long one.
    """
    _, best = _alternatives(iter([*_PIECE.findall(pattern), ")"]))
    kept: list[str] = []
    for run in sorted(best):
        if not kept or not run.startswith(kept[-1]):
            kept.append(run)
    return frozenset(kept)


def _alternatives(pieces: Iterator[str]) -> tuple[_Runs, _Runs]:
    """Return all texts that the pieces up to a bracket match, and the runs that tell most.

    Either is empty where there is no such set.
    """
    branches: list[tuple[_Runs, _Runs]] = []
    sequence: list[tuple[_Runs, _Runs]] = []
    for piece in pieces:
        if piece in ("|", ")"):
            branches.append(_joined(sequence))
            sequence = []
            if piece == ")":
                break
        elif piece[0] == "?":
            texts, _ = sequence.pop()
            sequence.append((texts | {""} if texts else _NONE, _NONE))
        elif piece[0] in "*+{":
            repeated = sequence.pop()
            absent = piece[0] == "*" or piece.startswith(("{0", "{,"))
            sequence += [] if absent else [repeated]
            sequence.append((_NONE, _NONE))
        else:
            sequence.append(_atom(piece, pieces))
    texts, best = (
        frozenset[str]().union(*some) if all(some) else _NONE
        for some in zip(*branches, strict=True)
    )
    return texts if len(texts) <= MOST else _NONE, best


def _atom(piece: str, pieces: Iterator[str]) -> tuple[_Runs, _Runs]:
    if piece[0] == "(":
        inside = _alternatives(pieces)
        return inside if piece[-1] not in "=!" else _EMPTY
    if piece in ("^", "$", r"\b"):
        return _EMPTY
    if piece[0] == "[":
        known, some = bool(_FEW.fullmatch(piece)), frozenset(piece[1:-1])
    elif piece[0] == "\\":
        known, some = not piece[1].isalnum(), frozenset(piece[1])
    else:
        known, some = piece != ".", frozenset([piece])
    return (some, some) if known else (_NONE, _NONE)


def _joined(sequence: list[tuple[_Runs, _Runs]]) -> tuple[_Runs, _Runs]:
    """Return what pieces in a row match, and the best of the runs in it."""
    found, run = [_NONE], _ONE
    for texts, best in sequence:
        if texts and len(run) * len(texts) <= MOST:
            run = frozenset(one + other for one in run for other in texts)
        else:
            found += [run, best]
            run = texts or _ONE
    if len(found) == 1:
        return run, run if "" not in run else _NONE
    return _NONE, max((one for one in (*found, run) if "" not in one), key=_tells)


def _tells(some: frozenset[str]) -> tuple[bool, int, int]:
    """Return how much it tells that a text has one of these runs."""
    least = min(map(_weight, some), default=0)
    return bool(some), least, -len(some)


@cache
def _weight(run: str) -> int:
    return len(" ".join(set(run.split()) - _EVERYWHERE)) if run.isascii() else 9
