"""What a person is shown of the queue, as plain values: the screen and the plain form share it.

Everything in it was written by transcripts and models. ``inert`` and ``one_line`` are the boundary:
behind them no text acts on a terminal, none is endless, and what could not be seen is marked.
"""

from __future__ import annotations

import difflib
import hashlib
import unicodedata
from collections.abc import Iterable, Mapping, Sequence
from datetime import UTC, datetime
from typing import Final

import msgspec

from dreaming.models.candidate import Candidate, Flag
from dreaming.models.finding import KeptExcerpt
from dreaming.models.session import Speaker
from dreaming.packets import visible

MAX_LINE: Final = 1200
"""Longest line shown, in characters. A text of a megabyte takes a screen half a minute."""
MAX_PASSAGE: Final = 2000
PER_SESSION: Final = 4
"""Quotations shown of one session."""
SESSIONS: Final = 12
"""Sessions whose words are shown."""


class Doubt(msgspec.Struct, frozen=True):
    """Why to look twice, in words."""

    word: str
    reason: str


DOUBTS: Final[Mapping[Flag, Doubt]] = {
    Flag.EXTERNAL: Doubt(
        "only tool output",
        "Its evidence stands only in what tools returned: a file or a page may have planted it.",
    ),
    Flag.SAME_SOURCE: Doubt(
        "same source", "Several sessions read one and the same text; it may be a single event."
    ),
    Flag.INSTRUCTION: Doubt(
        "gives orders", "It asks to switch off a check, to fetch, to run or to send something."
    ),
    Flag.URL: Doubt("has an address", "It names an address; agents may follow it."),
    Flag.NEAR_KNOWN: Doubt("near known", "Something much like it is known already."),
    Flag.MAYBE_FIXED: Doubt("maybe fixed", "The repository may have dealt with it since."),
    Flag.MIXED_SCRIPT: Doubt(
        "mixed scripts", "It mixes alphabets: a letter may not be the one it looks like."
    ),
}


class Item(msgspec.Struct, frozen=True):
    """One candidate as the queue shows it. Every text is inert."""

    id: str
    slug: str
    topic: str
    symptom: str
    rule: str
    sessions: int
    agents: tuple[str, ...]
    first_seen: str
    last_seen: str
    score: float
    backend: str
    doubts: tuple[Doubt, ...]
    version: str
    """Changes when anything of the candidate does."""


class Passage(msgspec.Struct, frozen=True):
    """Words that stand in a session, and whose they are."""

    speaker: Speaker
    text: str


class Heard(msgspec.Struct, frozen=True):
    """What one session said."""

    session: str
    day: str
    agent: str
    passages: tuple[Passage, ...]


class Piece(msgspec.Struct, frozen=True):
    """A run of words: in both texts (space), only in the new one (+), only in the known one (-)."""

    sign: str
    text: str


class Near(msgspec.Struct, frozen=True):
    """Something known, decided or waiting that comes close to a candidate."""

    kind: str
    """``lesson``, ``rejected`` or ``waiting``."""
    place: str
    """Where it stands, for a person: ``git.md:12``."""
    text: str
    likeness: float
    target: str = ""
    """What a merge would name: a lesson's anchor or a candidate's id; empty where it cannot."""


class Draft(msgspec.Struct, frozen=True):
    """The line that accepting would write, or why it would not."""

    line: str = ""
    place: str = ""
    new_topic: bool = False
    problem: str = ""


class Detail(msgspec.Struct, frozen=True):
    """Everything about one candidate."""

    item: Item
    heard: tuple[Heard, ...] = ()
    near: tuple[Near, ...] = ()
    draft: Draft = Draft()


class Overview(msgspec.Struct, frozen=True):
    """The queue, and what a person should know when it is empty."""

    items: tuple[Item, ...] = ()
    at: str = ""
    """Id of the candidate that was looked at last."""
    undoable: str = ""
    """The last decision, in words; empty where there is none."""
    put_off: tuple[str, ...] = ()
    seen_once: tuple[str, ...] = ()
    left_out: tuple[str, ...] = ()
    """Why transcripts were not read, with numbers."""
    last_night: str = ""
    held_back: int = 0


class Said(msgspec.Struct, frozen=True):
    """What a decision changed, in one sentence."""

    text: str
    id: str = ""
    """The candidate it was about: gone from the queue, or back in it after an undo."""
    undoable: str = ""
    put_off: tuple[str, ...] = ()
    """All that is put off now."""
    notes: tuple[str, ...] = ()


# -- the boundary ---------------------------------------------------------------------------------


def inert(text: str, most: int = MAX_PASSAGE) -> str:
    """Return ``text`` so that it cannot act on a terminal; long ones are cut and say so.

    Hidden characters become ``<U+202E>``, control bytes their pictures, and of marks that pile up
    on one letter two remain.
    """
    cut = text[:most]
    rest = len(text) - len(cut)
    shown = visible(cut).replace("\t", "    ")
    if not shown.isascii():
        shown = _unpiled(shown)
    return f"{shown} [+{rest} characters]" if rest else shown


def one_line(text: str, most: int = MAX_LINE) -> str:
    """Return ``text`` inert and on one line."""
    return " ".join(inert(text, most).split())


def _unpiled(text: str) -> str:
    kept: list[str] = []
    pile = 0
    for char in text:
        pile = pile + 1 if unicodedata.combining(char) else 0
        if pile <= 2:
            kept.append(char if unicodedata.category(char) != "Cn" else "\ufffd")
    return "".join(kept)


# -- from what is kept to what is shown -----------------------------------------------------------


def item(candidate: Candidate, fixed: str = "") -> Item:
    """Return a candidate as the queue shows it; ``fixed`` says why it may be fixed."""
    return Item(
        id=candidate.id,
        slug=one_line(candidate.slug),
        topic=one_line(candidate.topic),
        symptom=one_line(candidate.symptom),
        rule=one_line(candidate.rule),
        sessions=candidate.sessions,
        agents=tuple(one_line(agent, 40) for agent in candidate.agents),
        first_seen=day(candidate.first_seen),
        last_seen=day(candidate.last_seen),
        score=candidate.score,
        backend=one_line(candidate.backend, 80),
        doubts=tuple(_doubt(flag, fixed) for flag in candidate.flags),
        version=version(candidate),
    )


def _doubt(flag: Flag, fixed: str) -> Doubt:
    doubt = DOUBTS[flag]
    if flag is not Flag.MAYBE_FIXED or not fixed:
        return doubt
    return Doubt(doubt.word, f"{doubt.reason[:-1]}: {one_line(fixed)}.")


def version(candidate: Candidate) -> str:
    """Return what changes when anything a person judges by does."""
    return hashlib.sha256(repr(candidate).encode("utf-8", "backslashreplace")).hexdigest()[:16]


def heard(excerpts: Iterable[KeptExcerpt]) -> tuple[Heard, ...]:
    """Return the words of each root session, oldest first; within it the strongest excerpts'."""
    groups: dict[str, list[KeptExcerpt]] = {}
    for kept in sorted(excerpts, key=lambda kept: (-kept.excerpt.strength, kept.id)):
        groups.setdefault(kept.root, []).append(kept)
    ordered = sorted(groups.values(), key=lambda group: (_first(group), group[0].root))
    return tuple(_heard(group) for group in ordered[-SESSIONS:])


def _first(group: Sequence[KeptExcerpt]) -> float:
    return min((kept.excerpt.at for kept in group if kept.excerpt.at > 0), default=0.0)


def _heard(group: Sequence[KeptExcerpt]) -> Heard:
    passages = dict.fromkeys(
        Passage(quotation.speaker, inert(quotation.text.strip()))
        for kept in group
        for quotation in kept.excerpt.quotations
    )
    at = _first(group)
    return Heard(
        session=group[0].root[:8],
        day=day(datetime.fromtimestamp(at, UTC) if at else None),
        agent=one_line(group[0].agent, 40),
        passages=tuple(passages)[:PER_SESSION],
    )


def day(instant: datetime | None) -> str:
    """Return a day as everything here writes it."""
    return f"{instant:%Y-%m-%d}" if instant else "unknown"


def essence(line: str) -> str:
    """Return what a known line says, without what only a lesson's grammar adds."""
    text = line.partition(" RULE: ")[2] or line
    return text.partition(" <!-- dreaming:")[0]


def word_diff(known: str, new: str) -> tuple[Piece, ...]:
    """Return what a person has to see to tell two texts apart, word by word."""
    before, after = known.split(), new.split()
    found: list[Piece] = []
    for tag, a, b, c, d in difflib.SequenceMatcher(None, before, after, False).get_opcodes():
        if tag == "equal":
            found.append(Piece(" ", " ".join(before[a:b])))
            continue
        if a < b:
            found.append(Piece("-", " ".join(before[a:b])))
        if c < d:
            found.append(Piece("+", " ".join(after[c:d])))
    return tuple(found)
