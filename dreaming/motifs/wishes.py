"""Which standing wishes a person's words voice, and the words of a lesson for each."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from functools import cache
from typing import Final

import msgspec

from dreaming.motifs.frames import FRAMES, STANDING, Moment, Wish
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
_LETTER = r"[A-Za-zÀ-ÿА-я]"


class _Ready(msgspec.Struct, frozen=True):
    """A wish with its patterns compiled."""

    wish: Wish
    about: re.Pattern[str] | None
    frames: tuple[str, ...]
    said: re.Pattern[str] | None
    after: re.Pattern[str] | None
    review: re.Pattern[str] | None


def _word(pattern: str) -> re.Pattern[str]:
    return re.compile(rf"(?<!{_LETTER})(?:{pattern})(?!{_LETTER})", re.IGNORECASE)


def _free(pattern: str) -> re.Pattern[str] | None:
    flags = re.IGNORECASE | re.MULTILINE
    return re.compile(rf"(?<!{_LETTER})(?:{pattern})", flags) if pattern else None


@cache
def _ready() -> tuple[_Ready, ...]:
    return tuple(
        _Ready(
            wish,
            _word(wish.about) if wish.about else None,
            tuple(wish.frames.split()),
            _free(wish.said),
            _free(wish.after),
            _free(wish.review),
        )
        for wishes in TOPICS.values()
        for wish in wishes
    )


@cache
def _frames() -> Mapping[str, tuple[re.Pattern[str], re.Pattern[str]]]:
    return {name: (_word(one.before), _word(one.after)) for name, one in FRAMES.items()}


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

    Words at the first prompt, and long ones, count only as standing rules ("never …") and as a
    reviewer's comments that the person handed on.
    """
    verbatim, text = text[:LONGEST], text[:LONGEST].replace("\u2019", "'")
    typed = len(text) <= TYPED
    sentences = [one.strip() for one in _SENTENCE.split(text) if one and one.strip()]
    if Moment.FIRST in moment or not typed:
        sentences = [one for one in sentences if STANDING.search(one) and len(one) < TYPED / 2]
    found: dict[str, str] = {}
    for sentence in sentences:
        for name in _voiced(sentence, moment):
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
    framed = {
        name: (
            [m.end() for m in before.finditer(sentence)],
            [m.start() for m in after.finditer(sentence)],
        )
        for name, (before, after) in _frames().items()
    }
    for one in _ready():
        in_time = bool(one.wish.when & moment)
        if (
            (one.said is not None and one.said.search(sentence))
            or (in_time and one.after is not None and one.after.search(sentence))
            or _in_frame(one, sentence, framed)
        ):
            yield one.wish.name


def _in_frame(
    one: _Ready, sentence: str, framed: Mapping[str, tuple[list[int], list[int]]]
) -> bool:
    ends = [end for name in one.frames for end in framed[name][0]]
    starts = [start for name in one.frames for start in framed[name][1]]
    nearest = framed["no"][0] if {"never", "excess"} & {*one.frames} else []
    if one.about is None or not (ends or starts or nearest):
        return False
    return any(
        any(0 <= thing.start() - end <= _BEFORE for end in ends)
        or any(0 <= thing.start() - end <= _RIGHT_BEFORE for end in nearest)
        or any(0 <= start - thing.end() <= _AFTER for start in starts)
        for thing in one.about.finditer(sentence)
    )


def _reviewed(text: str) -> Iterator[tuple[str, str]]:
    for one in _ready():
        said = one.review.search(text) if one.review is not None else None
        if said is not None:
            yield one.wish.name, _line(text, said.start())


def _pasted(text: str, moment: Moment) -> Iterator[tuple[str, str]]:
    """Yield what a pasted failure says of work that was just called done."""
    for one in _ready():
        if one.wish.pasted and one.wish.when & moment:
            said = re.search(one.wish.pasted, text, re.MULTILINE)
            if said is not None:
                yield one.wish.name, _line(text, said.start())


def _line(text: str, place: int) -> str:
    start, end = text.rfind("\n", 0, place) + 1, text.find("\n", place)
    return text[start : end if end >= 0 else len(text)].strip()
