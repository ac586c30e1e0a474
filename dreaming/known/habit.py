"""Has the right form become the habit? Deeds of the sessions after the last evidence say so.

A deed is the set of words of one command, or of all edits of one kind of file. Only numbers made of
the words are kept (CRC-32 of each): enough to ask whether a form was used, too little to read.
"""

from __future__ import annotations

import re
import zlib
from array import array
from collections.abc import Iterable, Sequence
from collections.abc import Set as AbstractSet
from functools import lru_cache
from typing import Final

import msgspec

from dreaming.known.opposites import stance
from dreaming.models.finding import KeptExcerpt
from dreaming.models.session import Tool, Turn, TurnKind
from dreaming.similarity import COMMON, program, tokens

IN_A_ROW: Final = 5
"""So many sessions must have used the right form, and none the wrong one since the evidence."""
COMMAND: Final = 24
"""Most words kept of a command."""
EDITS: Final = 400
"""Most words kept of a session's edits of one kind of file."""
COMMANDS: Final = 400
"""Most different commands kept of a session."""

_HIDDEN: Final = re.compile(r"<[^<>\s]{1,40}>")
_WORD: Final = re.compile(r"[^\s'\"`;|&()<>{}\[\],]+")
_SPAN: Final = re.compile(r"`([^`]+)`")
_WITH: Final = re.compile(
    r"\b(?:use|run|with|pass|through|via|call|import|from|by|add|set|install|prefer|of|than|not|never|"
    r"and|or)\s*$",
    re.I,
)
"""What stands before a code span that tells what to do, not what it is about."""
_ASSIGNED: Final = re.compile(r"(--?[\w-]+|\w+)=([^=]*)")
_EDIT: Final = re.compile(r"^(?P<path>.*?) :: (?P<before>.*?) => (?P<after>.*)", re.S)

PLAIN: Final = COMMON | frozenset(
    "install add dev get test tests build format lint check commit push clean start".split()
)
"""Words of so many commands that they tell nothing of a form alone."""

Deed = frozenset[int]


class Form(msgspec.Struct, frozen=True):
    """What tells the right way of doing a thing from the wrong one, as words."""

    head: frozenset[str]
    """What both ways have: the program and its verb, or the kind of file."""
    right: frozenset[str]
    wrong: frozenset[str]
    edit: bool = False


def words(text: str) -> list[str]:
    """Return the words of a command or of code, in order, without folders; ``A=b`` is two."""
    shown = _HIDDEN.sub(" ", text) if "<" in text else text
    return [word for raw in _WORD.findall(shown) for word in _plain(raw)]


@lru_cache(maxsize=8192)
def _plain(raw: str) -> tuple[str, ...]:
    word = raw.rstrip(".,:").lstrip("$")
    if not any(map(str.isalnum, word)):
        return ()
    assigned = _ASSIGNED.match(word)
    if assigned:
        name = assigned[1] if word.startswith("-") else f"{assigned[1]}="
        return (name.lower(), *_plain(assigned[2]))
    if "://" not in word and not word.startswith("@"):
        word = word.rstrip("/").rsplit("/", 1)[-1]
    return (word if len(word) == 2 and word[0] == "-" else word.lower(),)


# -- what a session did ---------------------------------------------------------------------------


def deeds(turns: Iterable[Turn]) -> bytes:
    """Return what these turns did, packed; empty where they did nothing."""
    commands: dict[frozenset[str], None] = {}
    edits: dict[str, dict[str, None]] = {}
    for turn in turns:
        if turn.kind is not TurnKind.CALL:
            continue
        if turn.tool is Tool.SHELL and len(commands) < COMMANDS:
            commands[frozenset(words(turn.action[:400])[:COMMAND])] = None
        elif turn.tool in (Tool.EDIT, Tool.WRITE):
            kept = edits.setdefault(_kind(turn.action), {})
            if len(kept) < EDITS:
                kept.update(dict.fromkeys(words(turn.after[:1000])))
    sets = [*commands, *(frozenset({kind, *list(kept)[:EDITS]}) for kind, kept in edits.items())]
    numbers = array("I")
    for one in filter(None, sets):
        numbers.extend(sorted(map(_number, one)))
        numbers.append(0)
    return zlib.compress(numbers.tobytes()) if numbers else b""


@lru_cache(maxsize=512)
def unpacked(packed: bytes) -> tuple[Deed, ...]:
    """Return the deeds that were packed."""
    numbers = array("I")
    numbers.frombytes(zlib.decompress(packed))
    found: list[Deed] = []
    deed: list[int] = []
    for number in numbers:
        if number:
            deed.append(number)
        else:
            found.append(frozenset(deed))
            deed = []
    return tuple(found)


@lru_cache(maxsize=8192)
def _number(word: str) -> int:
    return zlib.crc32(word.encode("utf-8", "replace")) or 1


def _kind(path: str) -> str:
    name = path.strip().rsplit("/", 1)[-1]
    return f"*.{name.rsplit('.', 1)[-1].lower()}" if "." in name else f"*{name.lower()}"


# -- what is right --------------------------------------------------------------------------------


def form(excerpts: Sequence[KeptExcerpt], rule: str) -> Form | None:
    """Return what tells right from wrong: what two roots' actions share, else what the rule says.

    ``None`` where neither names anything to do.
    """
    shared, told = _shared(excerpts), spans(rule)
    named = frozenset(words(rule)) - PLAIN | {word for span in told[0] for word in words(span)}
    if shared is None or not shared.right & named:
        return _told(*told, called(excerpts))
    wrong = shared.wrong & frozenset(words(rule)) or shared.wrong
    return msgspec.structs.replace(shared, right=shared.right & named, wrong=wrong)


def spans(rule: str) -> tuple[list[str], list[str]]:
    """Return the actions in a rule's code spans: what it is for, and what it is against."""
    told = stance(rule)
    right: list[str] = []
    wrong: list[str] = []
    for span in _SPAN.finditer(rule):
        said = frozenset(tokens(span[1]))
        if said & told.left and not said & told.wanted:
            wrong.append(span[1])
        elif _WITH.search(rule[: span.start()]):
            right.append(span[1])
    return right, wrong


def called(excerpts: Sequence[KeptExcerpt]) -> frozenset[str]:
    """Return the words that all commands which went wrong have."""
    tried = [frozenset(words(k.excerpt.wrong)) for k in excerpts if " => " not in k.excerpt.wrong]
    return frozenset.intersection(*tried) if tried else frozenset()


def _told(right: Sequence[str], wrong: Sequence[str], went_wrong: frozenset[str]) -> Form | None:
    good = frozenset(word for span in right for word in words(span)) - went_wrong
    bad = frozenset(word for span in wrong for word in words(span))
    if not good - bad and not bad - good:
        return None
    return Form(good & bad, good - bad, bad - good)


def _shared(excerpts: Sequence[KeptExcerpt]) -> Form | None:
    """What the pairs of a wrong and a right action have in common over root sessions."""
    by_root: dict[tuple[str, bool], list[Form]] = {}
    for kept in excerpts:
        one = kept.excerpt
        if one.wrong and one.right:
            found = _between(one.wrong, one.right)
            by_root.setdefault((kept.root, found.edit), []).append(found)
    edits = sum(edit for _, edit in by_root)
    edit = edits * 2 > len(by_root)
    roots = [forms for (_, edited), forms in by_root.items() if edited is edit]
    if len(roots) < 2:
        return None
    head, right, wrong = (
        _common([[getattr(one, side) for one in forms] for forms in roots])
        for side in ("head", "right", "wrong")
    )
    return Form(head, right - wrong, wrong - right, edit)


def _between(wrong: str, right: str) -> Form:
    """The form of one pair of actions."""
    edited, before = _EDIT.match(right), _EDIT.match(wrong)
    if edited:
        head = frozenset({_kind(edited["path"])})
        has = frozenset(words(edited["after"]))
        had = frozenset(words(before["after"] if before else ""))
        return Form(head, has - had, had - has, edit=True)
    has, had = frozenset(words(right)), frozenset(() if before else words(wrong))
    names = [name for one in (right, wrong) if (name := program(one).lower()) in had & has]
    verbs = [one for one in words(right) if one not in names and one in had and one[:1] != "-"]
    head = frozenset([*names[:1], *verbs[:1]] if names else [])
    return Form(head & has, has - had, had - has)


def _common(roots: Sequence[Sequence[frozenset[str]]]) -> frozenset[str]:
    """Words that half of the roots, two at least, have."""
    counts: dict[str, int] = {}
    for several in roots:
        for word in frozenset[str]().union(*several):
            counts[word] = counts.get(word, 0) + 1
    return frozenset(w for w, n in counts.items() if n >= 2 and 2 * n >= len(roots))


# -- the habit ------------------------------------------------------------------------------------


def habit(told: Form, sessions: Iterable[Sequence[Deed]]) -> int:
    """Return how many of the sessions used the right form; 0 where one of them used the wrong one.

    ``sessions`` are those after the last evidence. Sessions that did not do the thing do not count.
    """
    seen = told.wrong or (not told.edit and told.head)
    if not told.right or not seen:
        return 0  # nothing would show that it was done wrongly
    right, wrong = _numbers(told.right | told.head), _numbers(told.wrong | told.head)
    count = 0
    for session in sessions:
        if any(wrong <= deed and (told.wrong or not right <= deed) for deed in session):
            return 0
        count += any(right <= deed for deed in session)
    return count


def _numbers(these: AbstractSet[str]) -> Deed:
    return frozenset(map(_number, these))
