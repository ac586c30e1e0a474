"""Words for a group without a model: one imperative sentence, from what its excerpts share.

No more than twelve words of a transcript stand in a row, no path, no id; what varies between
sessions is left out of commands. A rule names the fix, because that is what a reader needs.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import Final

import msgspec

from dreaming.models.finding import Excerpt, SignalKind
from dreaming.models.session import Speaker
from dreaming.similarity import program, tokens

RULE: Final = 200
"""Longest rule, in characters."""
SYMPTOM: Final = 400
RUN: Final = 10
"""Most words in a row that are taken from a transcript."""

_CLAUSE_END = re.compile(r"(?<=[\w)`'\"])[.!?;:]+(?=\s|$)|\n+|\s[-–—]\s|[。！？；]|!+|\?+(?=\s|$)")
_OPENERS = re.compile(
    r"^(?:(?:no|nope|nah|whoa|wait|stop|careful|hey|ok|okay|please|pls|hm+|actually|also|and|but|so|"
    r"then|well|again|sorry|right|remember|nein|halt|non|bitte|still|just)\b[\s,.!:]*)+",
    re.IGNORECASE,
)
_IMPERATIVE = re.compile(
    r"^(?:never|always|don'?t|do not|please|use|run|add|set|put|keep|make|take|give|pass|start|"
    r"stop|ask|check|leave|look|write|open|create|push|pull|edit|change|move|remove|delete|revert|"
    r"restrict|limit|scope|select|go|try|do|call|read|wait|let|fix|undo|update|build|install|"
    r"test|commit|switch|avoid|prefer|include|exclude|rename|replace|restart|regenerate|generate|"
    r"follow|quote|escape|cd|git|follow|send|point|name|show|tell|turn|only)\b",
    re.IGNORECASE,
)
_HIDDEN = re.compile(r"<[a-z][\w-]*(?::[0-9a-z]+)?>")
_URL = re.compile(r"\b[a-z][a-z+.-]*://\S+", re.IGNORECASE)
_EMAIL = re.compile(r"\S+@\S+\.\w+")
_ID = re.compile(r"\b(?=[0-9a-f-]*\d)[0-9a-f]{7,}(?:-[0-9a-f]{4,})*\b", re.IGNORECASE)
_PATH = re.compile(r"(?<![\w.])(?:~|[A-Za-z]:)?[\\/](?:[\w.@+-]+[\\/])*([\w.@+-]+)/?")
_CONTROL = re.compile(r"[\x00-\x1f\x7f-\x9f\u200b-\u200f\u2028-\u202e\u2066-\u2069]+")


class Words(msgspec.Struct, frozen=True):
    """What a person reads of a group."""

    symptom: str
    rule: str
    slug: str
    topic: str


def plain(text: str) -> str:
    """Return a text as one line without paths, addresses, ids, comments or control characters."""
    text = _CONTROL.sub(" ", text.replace("<!--", " ").replace("-->", " "))
    text = _URL.sub("…", text)
    text = _EMAIL.sub("…", _HIDDEN.sub("…", text))
    text = _PATH.sub(lambda match: match.group(1), text)
    return " ".join(_ID.sub("…", text).split())


def clauses(text: str) -> Iterator[str]:
    """Yield the clauses of what somebody said, openers left out, none longer than ``RUN`` words."""
    for sentence in _CLAUSE_END.split(text):
        sentence = _OPENERS.sub("", plain(sentence).strip(" ,.-*#>\"'")).strip()
        words = sentence.split()
        if len(words) < 2:
            continue
        if len(words) <= RUN:
            yield " ".join(words)
            continue
        pieces = [piece.strip() for piece in re.split(r",\s|\s\(|\)\s|\s(?=because|since|otherwise|"
                                                     r"instead|unless|but|so that|and)\b", sentence)]
        for piece in pieces:
            few = _OPENERS.sub("", piece).split()
            if 2 <= len(few) <= RUN:
                yield " ".join(few)
        for start in range(0, len(words), RUN // 2):
            yield " ".join(words[start : start + RUN])


def value(text: str, weights: Mapping[str, float]) -> float:
    """Return how much of the given tokens a text names."""
    return sum(weights.get(token, 0.0) for token in frozenset(tokens(text)))


_FIRST_PERSON = re.compile(
    r"^(?:so |and |but |then )?(?:i(?:'ll| will| need to| have to| must| should)|let me|let's|"
    r"we(?: need to| have to| must| should)|you(?: need to| have to| must| should))\s+(?!have\b|not\b)",
    re.IGNORECASE,
)
_PARTS = re.compile(r"\s*(?:&&|\|\||;|\n|(?<!\|)\|(?!\|))\s*")


def shown(action: str, known: Mapping[str, float]) -> str:
    """Return an action short enough to read: what only one session named becomes ``…``."""
    if " :: " in action and " => " in action:
        return _shown_edit(action, known)
    parts = [part for part in _PARTS.split(action) if part.strip()]
    if not parts:
        return ""
    best = max(range(len(parts)), key=lambda i: (value(parts[i], known), -i))
    words: list[str] = []
    for place, word in enumerate(plain(parts[best]).split()):
        named = any(token in known for token in tokens(word))
        if place == 0 or named or (place == 1 and word.isalpha()) or word.startswith("-"):
            words.append(word)
        elif words[-1] != "…":
            words.append("…")
    return _code(words)


def _shown_edit(action: str, known: Mapping[str, float]) -> str:
    lines = [line.strip() for line in action.split(" => ", 1)[1].split("\n") if line.strip()]
    if not lines:
        return ""
    line = max(lines, key=lambda text: (value(text, known), -len(text)))
    if value(line, known) <= 0.0:
        return ""
    words = plain(line).split()
    first = next((i for i, w in enumerate(words) if any(t in known for t in tokens(w))), 0)
    return _code(words[max(0, first - 3) :])


def _code(words: Sequence[str]) -> str:
    text = ""
    for word in words[:RUN]:
        longer = f"{text} {word}".strip()
        if len(longer) > 72:
            break
        text = longer
    return text.replace("`", "'").rstrip(" …") + (" …" if text.endswith("…") else "")


class _Piece(msgspec.Struct, frozen=True):
    """A part that a rule may be made of."""

    text: str
    names: frozenset[str]
    bonus: float


def _pieces(members: Sequence[Excerpt], known: Mapping[str, float]) -> list[_Piece]:
    """Return every part of speech or code that could stand in the rule, in a stable order."""
    pieces: dict[str, float] = {}
    for excerpt in members:
        if excerpt.words and excerpt.words_by is Speaker.HUMAN:
            for clause in clauses(excerpt.words):
                pieces.setdefault(_instruction(clause), 0.25)
        for clause in clauses(excerpt.remark):
            pieces.setdefault(_instruction(clause), 0.0)
        if excerpt.right:
            pieces.setdefault(_replacement(excerpt, known), 0.15)
        if excerpt.kind is SignalKind.DENIAL:
            for clause in clauses(excerpt.error):
                pieces.setdefault(_instruction(clause), 0.1)
    found = [
        _Piece(text, frozenset(tokens(text)), bonus) for text, bonus in pieces.items() if text
    ]
    return sorted(found, key=lambda piece: piece.text)


def _instruction(clause: str) -> str:
    clause = clause.strip(" ,.;:()")
    said = _FIRST_PERSON.sub("", clause)
    if said != clause or _IMPERATIVE.match(said):
        return said
    return f"mind that {said}"


def _replacement(excerpt: Excerpt, known: Mapping[str, float]) -> str:
    right, wrong = shown(excerpt.right, known), shown(excerpt.wrong, known)
    if not right or right == wrong:
        return ""
    verb = "write" if " => " in excerpt.right else "use"
    same_form = (" => " in excerpt.right) == (" => " in excerpt.wrong)
    if wrong and same_form:
        return f"{verb} `{right}` instead of `{wrong}`"
    return f"{verb} `{right}`"


def rule(members: Sequence[Excerpt], known: Mapping[str, float]) -> str:
    """Return one imperative sentence that names as much of ``known`` as fits."""
    heaviest = max(known.values(), default=1.0) or 1.0
    weights = {token: weight / heaviest for token, weight in known.items()}
    text, named = "", frozenset[str]()
    pieces = _pieces(members, known)
    for joint in ("", "; also ", "; and "):
        best, gain = "", 0.15
        for piece in pieces:
            longer = f"{text}{joint}{piece.text}"
            new = sum(weights.get(token, 0.0) for token in piece.names - named)
            worth = new + (piece.bonus if new else 0.0) - 0.01 * len(piece.text.split())
            if len(longer) < RULE and worth > gain:
                best, gain = piece.text, worth
        if not best:
            break
        text, named = f"{text}{joint}{best}", named | frozenset(tokens(best))
    if not text:
        text = pieces[0].text[: RULE - 2] if pieces else "look at the evidence before doing this again"
    return f"{text[0].upper()}{text[1:]}".rstrip(" ,;:.") + "."


def symptom(members: Sequence[Excerpt], known: Mapping[str, float]) -> str:
    """Return what went wrong, in one line."""
    ranked = sorted(members, key=lambda e: (not e.error, -e.strength, e.at, e.line))
    excerpt = ranked[0]
    did = shown(excerpt.wrong, known) or shown(excerpt.right, known)
    what = f"`{did}`" if did else "An action"
    told = next(clauses(excerpt.error or excerpt.words or excerpt.remark), "")
    how = {
        SignalKind.DENIAL: "was denied",
        SignalKind.CORRECTION: "was corrected by a person",
        SignalKind.INTERRUPTION: "was interrupted by a person",
        SignalKind.ASSUMPTION: "did not do what was assumed",
        SignalKind.CANNOT: "was asked of an agent that cannot do it",
    }.get(excerpt.kind, "failed")
    return (f"{what} {how}" + (f": {told}" if told else ""))[: SYMPTOM - 1].rstrip(" ,;:.") + "."


def slug(known: Iterable[str]) -> str:
    """Return a name made of the heaviest tokens."""
    parts = [re.sub(r"[^a-z0-9]+", "-", token.lower()).strip("-") for token in known]
    chosen: list[str] = []
    for part in parts:
        if part and not any(part in other or other in part for other in chosen):
            chosen.append(part)
        if len(chosen) == 4:
            break
    return "-".join(chosen)[:60].strip("-") or "recurring"


def topic(members: Sequence[Excerpt], known: Mapping[str, float], topics: Sequence[str]) -> str:
    """Return the given topic that the group names, else the program it is mostly about."""
    for name in topics:
        if name in known or all(part in known for part in name.split("-")):
            return name
    counts: dict[str, int] = {}
    for excerpt in members:
        for name in {program(excerpt.wrong), program(excerpt.right)}:
            if re.fullmatch(r"[a-z][a-z0-9-]{1,30}", name):
                counts[name] = counts.get(name, 0) + 1
    best = min(counts, key=lambda name: (-counts[name], name), default="")
    return best if best and counts[best] * 2 > len(members) else "workflow"


def weights(
    key: Mapping[str, float], added: Mapping[str, float], said: Mapping[str, float]
) -> dict[str, float]:
    """Return how much a rule should name each shared token: what was done or said counts most."""
    heaviest = max(key.values(), default=1.0) or 1.0
    done = max((*added.values(), *said.values()), default=1.0) or 1.0
    found = {
        token: 0.4 * weight / heaviest
        + (added.get(token, 0.0) + 0.8 * said.get(token, 0.0)) / done
        for token, weight in key.items()
    }
    return dict(sorted(found.items(), key=lambda item: (-item[1], item[0])))
