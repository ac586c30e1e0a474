"""Whether two rules tell one to do opposite things. Words only: it points, a person judges.

A rule is cut into what it tells one to do and what it tells one to leave. Two rules are opposite
where one wants most of what the other leaves.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator
from math import fsum
from typing import Final

import msgspec

from dreaming.similarity import overlap, telling

_CLAUSE: Final = re.compile(r"[.;:,!?()]+(?:\s|$)|\s[-–—]+\s|\bbut\b|\baber\b|\bmais\b|\bpero\b")
_AGAINST: Final = re.compile(
    r"\b(?:never|not|avoid|stop \w+ing|skip\w*|omit\w*|without|instead of|rather than|no longer|"
    r"cannot|"
    r"(?:do|does|must|should|ca|wo)n['’]t|"
    r"nie|niemals|nicht|kein\w*|ohne|statt|jamais|pas|éviter|sans|nunca|sin)\b",
    re.I,
)
_PREFERRED: Final = re.compile(r"(\bprefer\b[^.;]*?)\sover\s", re.I)
_OMITTED: Final = re.compile(
    r"\s+(?:be )?(?:forget\w*|skip\w*|omit\w*|neglect\w*|miss\w*|leave out)\b(?: to\b)?", re.I
)
_SCOPE_ENDS: Final = re.compile(
    r"\b(?:when|if|while|because|since|so that|in order|instead|"
    r"wenn|weil|quand|si|cuando|porque)\b",
    re.I,
)
_CONDITION: Final = re.compile(
    r"\b(?:without|unless|until|before|except|ohne|bevor|sans|avant|sin|antes)\b", re.I
)
_ANTONYMS: Final = tuple(
    (re.compile(rf"\b(?:{one})\b", re.I), re.compile(rf"\b(?:{other})\b", re.I))
    for one, other in (
        (r"enabl\w+|turn(?:ed|ing)? on|switch(?:ed|ing)? on", r"disabl\w+|(?:turn|switch)\w* off"),
        (r"before", r"after"),
        (r"add\w*|includ\w+", r"remov\w+|drop\w*|delet\w+|exclud\w+"),
        (r"keep\w*|retain\w*", r"clear\w*|delet\w+|remov\w+|drop\w*"),
        (r"first", r"last"),
        (r"increas\w+|rais\w+", r"decreas\w+|reduc\w+|lower\w*"),
        (r"allow\w*", r"forbid\w*|den(?:y|ies|ied)|block\w*"),
        (r"true|yes", r"false|no"),
        (r"with", r"without"),
        (r"always", r"never"),
    )
)
_ALIKE: Final = 0.5
"""Share of telling words from which on rules that differ by an antonym speak of one thing."""
_MOST: Final = 0.6
"""More of what one leaves must be wanted by the other."""


class Stance(msgspec.Struct, frozen=True):
    """What a rule wants done and what it wants left, as telling words."""

    wanted: frozenset[str]
    left: frozenset[str]


def stance(rule: str) -> Stance:
    """Return what a rule is for and what it is against. A word it uses both ways is neither."""
    wanted: set[str] = set()
    left: set[str] = set()
    plain = _PREFERRED.sub(r"\1 instead of ", rule.replace("`", " "))
    for clause in _CLAUSE.split(plain):
        for words, side in _sides(clause, wanted, left):
            side.update(telling(words))
    return Stance(frozenset(wanted - left), frozenset(left - wanted))


def _sides(clause: str, wanted: set[str], left: set[str]) -> Iterator[tuple[str, set[str]]]:
    """The pieces of a clause with the side they are on."""
    against = _AGAINST.search(clause)
    if against is None:
        yield clause, wanted
        return
    yield clause[: against.start()], wanted
    rest = clause[against.end() :]
    twice = _OMITTED.match(rest)
    if twice is not None:  # "never skip a backup" is for the backup
        yield rest[twice.end() :], wanted
        return
    condition = _CONDITION.search(rest)
    if condition is not None:  # so is "never deploy without a backup"
        yield rest[condition.end() :], wanted
        return
    end = _SCOPE_ENDS.search(rest)
    yield (rest[: end.start()] if end else rest), left


def opposite(one: str, other: str, weight: Callable[[str], float] = lambda _: 1.0) -> bool:
    """Whether one rule wants most of what the other leaves.

    ``weight`` says how much a word tells. Ask it of rules for one symptom only.
    """
    a, b = stance(one), stance(other)
    wanted = max(_share(a.wanted, b.left, weight), _share(b.wanted, a.left, weight))
    return wanted > _MOST or _by_antonym(one, other)


def _share(wanted: frozenset[str], left: frozenset[str], weight: Callable[[str], float]) -> float:
    """How much of what is left the other side wants, 0 to 1."""
    return fsum(map(weight, sorted(wanted & left))) / (fsum(map(weight, sorted(left))) or 1.0)


def _by_antonym(one: str, other: str) -> bool:
    """Whether the rules say the same of one thing but for a word and its opposite."""
    for this, that in _ANTONYMS:
        for first, second in ((this, that), (that, this)):
            crossed = first.search(one) and second.search(other)
            if crossed and not second.search(one) and not first.search(other):
                rest = telling(first.sub(" ", one)), telling(second.sub(" ", other))
                if all(rest) and overlap(*rest) >= _ALIKE:
                    return True
    return False
