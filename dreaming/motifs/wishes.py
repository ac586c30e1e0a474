"""Which standing wishes a person's words voice, and the words of a lesson for each."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from functools import cache
from typing import Final

import msgspec

from dreaming.motifs.frames import FRAMES, STANDING, Finder, Finders, Moment, Wish
from dreaming.motifs.interface import Told
from dreaming.motifs.swaps import makers, swaps
from dreaming.motifs.wishes_checks import PROOF, TESTING
from dreaming.motifs.wishes_code import CODE, GIT
from dreaming.motifs.wishes_talk import SAFETY, SCREEN, TEXT, TOGETHER

TOPICS: Final[Mapping[str, tuple[Wish, ...]]] = {
    "testing": TESTING,
    "verification": PROOF,
    "code": CODE,
    "git": GIT,
    "writing": TEXT,
    "workflow": TOGETHER,
    "ui": SCREEN,
    "safety": SAFETY,
}
TYPED: Final = 700
"""Longer words are a task, a paste or a review: only rules and reviewers' words count in them."""
LONGEST: Final = 6000
"""Nothing is searched beyond so many characters."""
MOST: Final = 3
"""Words that voice more wishes than this are a list of requirements: the first ones count."""

_BEFORE, _RIGHT_BEFORE, _AFTER = 45, 10, 30
_SENTENCE = re.compile(r"(?<=[.?!;])\s+|\.\.+|[。！？；\n]+")
_CODE = re.compile(r"`[^`\n]+`|\b[a-z]+[A-Z]\w*|\b[A-Z][a-z]+[A-Z]\w*|\b[a-z]+_\w+|\w\(\)")
_REVIEW_LEAST = 80
_Window = tuple[str, int, int]
"""A frame, and the first and last place for the thing."""


class _Ready(msgspec.Struct, frozen=True):
    """A wish with its patterns ready: those that count at any moment, and those that do not."""

    wish: Wish
    about: Finder | None
    frames: frozenset[str]
    said: Finder | None
    in_time: Finder | None
    review: Finder | None
    when: int
    """Bits of the wish's moment: flags are slow to compare."""


def _finder(*patterns: str, whole: bool = False) -> Finder | None:
    some = "|".join(filter(None, patterns))
    return Finder(some, whole=whole) if some else None


@cache
def _ready() -> tuple[_Ready, ...]:
    return tuple(
        _Ready(
            wish,
            _finder(wish.about, whole=True),
            frozenset(wish.frames.split()),
            _finder(wish.said),
            _finder(wish.said, wish.after),
            _finder(wish.review),
            wish.when.value,
        )
        for wishes in TOPICS.values()
        for wish in wishes
    )


@cache
def _index() -> Finders:
    spoken = [finder for one in _ready() for finder in (one.about, one.in_time)]
    return Finders([*spoken, *(finder for pair in _frames().values() for finder in pair)])


@cache
def _reviews() -> Finders:
    return Finders(one.review for one in _ready())


@cache
def _frames() -> Mapping[str, tuple[Finder, Finder]]:
    return {
        name: (Finder(one.before, whole=True), Finder(one.after, whole=True))
        for name, one in FRAMES.items()
    }


@cache
def known() -> Mapping[str, tuple[str, Wish]]:
    """Return every wish with its topic, by name."""
    return {wish.name: (topic, wish) for topic, wishes in TOPICS.items() for wish in wishes}


def told(name: str) -> Told | None:
    """Return the words of a wish; ``None`` where there is none of that name."""
    if name not in known():
        return None
    topic, wish = known()[name]
    return Told(
        slug=name,
        topic=topic,
        symptom=wish.symptom,
        rule=wish.rule,
        worth=wish.worth,
        roots=wish.roots,
    )


def heard(text: str, moment: Moment) -> dict[str, str]:
    """Return the names of the wishes that a person's words voice, each with the words that do.

    Words at the first prompt, and long ones, count only as standing rules ("never …"), as orders
    that few people give at all, and as a reviewer's comments that the person handed on.
    """
    verbatim, text = text[:LONGEST], text[:LONGEST].replace("\u2019", "'")
    typed = len(text) <= TYPED
    sentences = [one.strip() for one in _SENTENCE.split(text) if one and one.strip()]
    orders = sentences if typed else []
    if Moment.FIRST in moment or not typed:
        sentences = [one for one in sentences if STANDING.search(one) and len(one) < TYPED / 2]
    found: dict[str, str] = {}
    for sentence in dict.fromkeys([*sentences, *orders]):
        for name in _voiced(sentence, moment):
            if sentence in sentences or Moment.FIRST in known()[name][1].when:
                found.setdefault(name, sentence)
    for run in [text] if typed and Moment.FIRST not in moment else sentences:
        found |= dict(swaps(run))
    if len(text) >= _REVIEW_LEAST and _CODE.search(text):
        found = dict(_reviewed(text)) | found
    if Moment.FIRST not in moment:
        found = dict(_pasted(text, moment)) | dict(makers(text)) | found
    return {name: _verbatim(verbatim, text, said) for name, said in [*found.items()][:MOST]}


def _verbatim(verbatim: str, text: str, said: str) -> str:
    start = text.find(said)
    return verbatim[start : start + len(said)]


def _voiced(sentence: str, moment: Moment) -> Iterator[str]:
    near = _index().near(sentence.lower())
    behind, ahead = _windows(sentence, near)
    present = {name for name, _, _ in (*behind, *ahead)}
    for one in _ready():
        said = one.in_time if one.when & moment.value else one.said
        if said is not None and one.in_time in near and said.compiled.search(sentence):
            yield one.wish.name
        elif one.about is not None and one.about in near and not one.frames.isdisjoint(present):
            for thing in one.about.compiled.finditer(sentence):
                start, end = thing.span()
                if any(n in one.frames and low <= start <= high for n, low, high in behind) or any(
                    n in one.frames and low <= end <= high for n, low, high in ahead
                ):
                    yield one.wish.name
                    break


def _windows(sentence: str, near: set[Finder]) -> tuple[list[_Window], list[_Window]]:
    """Return where a thing must begin, and where it must end, to stand in each frame."""
    behind: list[_Window] = []
    ahead: list[_Window] = []
    for name, (before, after) in _frames().items():
        reach = _RIGHT_BEFORE if name == "no" else _BEFORE
        ends = [m.end() for m in before.compiled.finditer(sentence)] if before in near else []
        starts = [m.start() for m in after.compiled.finditer(sentence)] if after in near else []
        for one in ("never", "excess") if name == "no" else (name,):
            behind += [(one, end, end + reach) for end in ends]
            ahead += [(one, start - _AFTER, start) for start in starts]
    return behind, ahead


def _reviewed(text: str) -> Iterator[tuple[str, str]]:
    near = _reviews().near(text.lower())
    for one in _ready():
        said = one.review.compiled.search(text) if one.review in near else None
        if said is not None:
            yield one.wish.name, _line(text, said.start())


def _pasted(text: str, moment: Moment) -> Iterator[tuple[str, str]]:
    """Yield what a pasted failure says of work that was just called done."""
    for one in _ready():
        if one.wish.pasted and one.when & moment.value:
            said = re.search(one.wish.pasted, text, re.MULTILINE)
            if said is not None:
                yield one.wish.name, _line(text, said.start())


def _line(text: str, place: int) -> str:
    start, end = text.rfind("\n", 0, place) + 1, text.find("\n", place)
    return text[start : end if end >= 0 else len(text)].strip()
