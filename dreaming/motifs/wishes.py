"""Which standing wishes a person's words voice, and the words of a lesson for each."""

from __future__ import annotations

import re
from collections.abc import Iterator
from functools import cache
from typing import Final, NamedTuple

from dreaming.motifs.admissions import ADMISSIONS, LIMITS
from dreaming.motifs.finder import Finder, Index, folded, runs
from dreaming.motifs.frames import FRAMES, STANDING, Moment, Wish
from dreaming.motifs.interface import Told
from dreaming.motifs.swaps import makers, swaps
from dreaming.motifs.wishes_checks import PROOF, TESTING
from dreaming.motifs.wishes_code import CODE, GIT
from dreaming.motifs.wishes_talk import SAFETY, SCREEN, TEXT, TOGETHER

WISHES: Final = (*TESTING, *PROOF, *CODE, *GIT, *TEXT, *TOGETHER, *SCREEN, *SAFETY)
_WORDED: Final = {one.name: one for one in (*LIMITS, *ADMISSIONS, *WISHES) if one.rule}
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
_Window = tuple[int, int, int]
"""Whether the beginning (0) or the end (1) of the thing counts, its first and its last place."""


class _Part(NamedTuple):
    """One way in which a wish is voiced."""

    wish: Wish
    about: bool
    """It is the thing, which counts in a frame only."""
    when: Moment | None
    finder: Finder


class _Side(NamedTuple):
    """What stands on one side of the thing in a frame."""

    name: str
    before: bool
    finder: Finder


def _parts() -> Iterator[_Part]:
    for wish in WISHES:
        for pattern, about, when in (
            (wish.pattern, False, None),
            (wish.after, False, wish.moment),
            (wish.about, True, None),
        ):
            if pattern:
                yield _Part(wish, about, when, Finder(pattern, whole=about))


@cache
def _spoken() -> Index[_Part]:
    return Index((part, part.finder.runs) for part in _parts())


@cache
def _sides() -> Index[_Side]:
    sides = [
        _Side(name, one is frame.before, Finder(one, whole=True))
        for name, frame in FRAMES.items()
        for one in (frame.before, frame.after)
        if one
    ]
    return Index((side, side.finder.runs) for side in sides)


@cache
def _reviewers() -> Index[tuple[str, Finder]]:
    said = [(wish.name, Finder(wish.review)) for wish in WISHES if wish.review]
    return Index((one, one[1].runs) for one in said)


@cache
def _pastes() -> Index[Wish]:
    return Index((wish, runs(wish.pasted)) for wish in WISHES if wish.pasted)


def told(name: str) -> Told | None:
    """Return the words of a wish or an admission; ``None`` where there is none of that name."""
    return _WORDED[name].told() if name in _WORDED else None


def in_words(text: str, moment: Moment = Moment.NONE) -> dict[str, str]:
    """Return the names of the wishes that a person's words voice, each with the words that do.

    ``moment`` says what stood before them: some words are wishes only after work was done.
    Words at the first prompt, and long ones, count only as standing rules ("never …"), as orders
    that few people give at all, and as a reviewer's comments that the person handed on.
    """
    verbatim = text[:LONGEST]
    text = folded(verbatim)
    typed = len(text) <= TYPED
    sentences = [one.strip() for one in _SENTENCE.split(text) if one and one.strip()]
    orders = sentences if typed else []
    if Moment.FIRST in moment or not typed:
        sentences = [one for one in sentences if len(one) < TYPED / 2 and STANDING.search(one)]
    found: dict[str, str] = {}
    for sentence in dict.fromkeys([*sentences, *orders]):
        for wish in _voiced(sentence, moment):
            if sentence in sentences or Moment.FIRST in wish.moment:
                found.setdefault(wish.name, sentence)
    for run in [text] if typed and Moment.FIRST not in moment else sentences:
        found |= dict(swaps(run))
    if len(text) >= _REVIEW_LEAST:
        found = dict(_reviewed(text, verbatim)) | found
    if Moment.FIRST not in moment:
        found = dict(_pasted(verbatim, moment)) | dict(makers(verbatim)) | found
    return {name: _verbatim(verbatim, text, said) for name, said in [*found.items()][:MOST]}


def _verbatim(verbatim: str, text: str, said: str) -> str:
    start = text.find(folded(said))
    return verbatim[start : start + len(said)]


def _voiced(sentence: str, moment: Moment) -> Iterator[Wish]:
    near = _spoken().near(sentence)
    windows = _windows(sentence) if any(part.about for part in near) else {}
    for part in near:
        if part.when is not None and not part.when & moment:
            continue
        if not part.about:
            if part.finder.compiled.search(sentence):
                yield part.wish
        elif some := [one for name in part.wish.frames.split() for one in windows.get(name, ())]:
            things = [found.span() for found in part.finder.compiled.finditer(sentence)]
            if any(low <= thing[end] <= high for thing in things for end, low, high in some):
                yield part.wish


def _windows(sentence: str) -> dict[str, list[_Window]]:
    """Return, for each frame that stands there, where a thing must begin or end to be in it."""
    found: dict[str, list[_Window]] = {}
    for side in _sides().near(sentence):
        reach = _RIGHT_BEFORE if side.name == "no" else _BEFORE
        for match in side.finder.compiled.finditer(sentence):
            start, end = match.span()
            window = (0, end, end + reach) if side.before else (1, start - _AFTER, start)
            for name in ("never", "excess") if side.name == "no" else (side.name,):
                found.setdefault(name, []).append(window)
    return found


def _reviewed(text: str, verbatim: str) -> Iterator[tuple[str, str]]:
    near = _reviewers().near(text)
    if near and _CODE.search(verbatim):
        for name, finder in near:
            if said := finder.compiled.search(text):
                yield name, _line(text, said.start())


def _pasted(text: str, moment: Moment) -> Iterator[tuple[str, str]]:
    """Yield what a pasted failure says of work that was just called done."""
    for wish in _pastes().near(text):
        said = re.search(wish.pasted, text, re.MULTILINE) if wish.moment & moment else None
        if said is not None:
            yield wish.name, _line(text, said.start())


def _line(text: str, place: int) -> str:
    start, end = text.rfind("\n", 0, place) + 1, text.find("\n", place)
    return text[start : end if end >= 0 else len(text)].strip()
