"""Words for a group without a model: one imperative sentence, from what its excerpts share.

It says what to do ("Use `X` instead of `Y`", or a person's own order), then why; or the fact to
remember. No more than twelve words of a transcript stand in a row, no path, no id; what varies
between sessions is left out of commands. Where nothing of that can be said, there is no rule.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from enum import IntEnum
from math import fsum
from typing import Final

import msgspec

from dreaming.models.finding import Excerpt, SignalKind
from dreaming.models.session import Denier, Speaker
from dreaming.similarity import overlap, program, tokens

RULE: Final = 200
"""Longest rule, in characters."""
SYMPTOM: Final = 400
RUN: Final = 12
"""Most words in a row that are taken from a transcript."""
RESTRICTED: Final = (
    "Do not ask a restricted (read-only) agent to run anything: put the output in its prompt."
)
"""The rule of what restricted agents say they cannot do, however each of them words it."""
GAIN: Final = 0.25
"""How much a second part has to add, to be worth its words."""

_CLAUSE_END = re.compile(
    r"(?<=[\w)`'\"])[.!?;:]+(?=\s|$)|\n+|\s[-–—]+\s|[。！？；]|!+|\?+(?=\s|$)|\s\(|\)\s"
)
_PIECE_END = re.compile(
    r",\s+|\s(?=(?:because|since|otherwise|instead|unless|but|so that|so|and|while|which|then)\b)"
)
_OPENERS = re.compile(
    r"^(?:(?:no|nope|nah|whoa|wait|stop|careful|hey|ok|okay|please|pls|hm+|actually|also|and|but|so|"
    r"then|well|again|sorry|right|remember|nein|halt|non|bitte|still|just|btw|fyi|thanks|ah|oh|"
    r"good|great|perfect|note|which|because|since|that means)\b[\s,.!:]*)+",
    re.IGNORECASE,
)
_IMPERATIVE = re.compile(
    r"^(?:never|always|don'?t|do not|use|run|add|set|put|keep|make|take|give|pass|start|ask|check|"
    r"leave|look|write|open|create|push|pull|edit|change|move|remove|delete|revert|restrict|limit|"
    r"scope|select|go|try|call|read|fix|undo|update|build|install|commit|switch|avoid|prefer|"
    r"include|exclude|rename|replace|restart|regenerate|generate|follow|quote|escape|send|point|"
    r"name|show|tell|turn|only|stop|wait|let|paste|bump|sign|pin|import|export)\b(?!(?:\s+\S+){0,2}\s+(?:is|was|are|were|"
    r"has|had|did|failed|fails|does|doesn't|isn't|wasn't|needs|must|only)\b)",
    re.IGNORECASE,
)
_STATEMENT = re.compile(
    r"\b(?:is|are|was|were|isn'?t|aren'?t|has|have|had|needs?|must|can|can'?t|cannot|will|won'?t|"
    r"does|doesn'?t|do|don'?t|should|may|wants?|expects?|takes?|uses?|runs?|lives?|comes?|goes)\b|"
    r"\w'(?:s|re|ll|ve)\b",
    re.IGNORECASE,
)
_FRAGMENT = re.compile(
    r"^(?:is|are|was|were|isn'?t|aren'?t|wasn'?t|weren'?t|has|had|to|of|for|from|with|by|than|or|"
    r"as|at|into|where|who|whose|when|i'?ll|i'?m|i'?ve|i\u2019(?:ll|m|ve))\b",
    re.IGNORECASE,
)
"""A clause that begins like this says little by itself."""
_INSTRUCTIVE = re.compile(
    r"\b(?:must|has to|have to|needs?|never|always|don'?t|do not|instead|only|not|use|without|"
    r"unless|before|rather|should|every|otherwise|expects?|wants|requires?)\b",
    re.IGNORECASE,
)
_FIRST_PERSON = re.compile(
    r"^(?:so |and |but |then |now |next )?(?:i(?:'ll| will| need to| have to| must| should)|let me|"
    r"let's|we(?: need to| have to| must| should)|you(?: need to| have to| must| should))\s+"
    r"(?!have\b|not\b)",
    re.IGNORECASE,
)
_PASSING = re.compile(
    r"^(?:so |and |but |then |now |next )?(?:i(?:['\u2019]ll| will|['\u2019]m going)|let me|"
    r"let['\u2019]s|what|why|how|any|could|would|did|if|unless|although|so far|here['\u2019]s)\b|"
    r"\b(?:maybe|perhaps|i guess|i think|probably|likely|seems?|looks like|now|currently|current|"
    r"already|still|just|yet|passe[sd])\b",
    re.IGNORECASE,
)
"""Plans, questions, guesses, and what is so at the moment."""
_BINDING = re.compile(
    r"\b(?:must|has to|have to|needs?|never|always|requires?|expects?|instead of|"
    r"only (?:after|when|if|with|in|on|works?|accepts?|takes?|runs?|has|have))\b",
    re.IGNORECASE,
)
_COMMAND = re.compile(r"(?:[A-Z_][A-Z0-9_]*=\S+\s+)*(?:\./)?[a-z][\w-]*(?:\s+(?=[a-z])[\w:-]+)?")
"""What a command line begins with: the program and, where there is one, its subcommand."""
_LOOKS = re.compile(
    r"(?:cd \S+ && )?(?:git (?:log|status|diff|show|branch|ls-files|remote|rev-parse|fetch)|ls|cat|"
    r"head|tail|sed -n|rg|grep|find|echo|printf|wc|which|pwd|tree|mkdir|sleep|"
    r"gh \w+ (?:view|list))\b|.*\s--?(?:version|help)$"
)
"""Commands that only look, or prepare: they put nothing right."""
_FAILURES = frozenset({SignalKind.ERROR, SignalKind.ERROR_FIX, SignalKind.ASSUMPTION})
_VAGUE = re.compile(r"^(?:that|this|it|they|these|those|there|otherwise|here)\b", re.IGNORECASE)
"""Nobody knows what is meant when a rule begins like this."""
_POINTS = re.compile(
    r"\b(?:this|that|these|those|they|it|them)\b(?! (?:repo|repository|package|project|code|"
    r"service|branch|folder|machine|file|module|team)\b)",
    re.IGNORECASE,
)
"""A fact that points at something nobody sees any more."""
_PROSE = re.compile(r"\s*(?://|#|\*|--|<!--|\"\"\"|/\*)|(?!.*[=(\[{:<;.]\S?)")
"""A line of an edit that is a comment or plain prose: no code to write."""
_PERSONAL = re.compile(r"^(?:i|you)\b", re.IGNORECASE)
_CODE = re.compile(r"(?:^|\s)--?[a-z]|\w[=_./]\w|`")
_ARTICLE = re.compile(
    r"^(?:The|A|An|This|That|These|Those|It|They|There|You|Your|We|Our|If|When|In|On|For|No|"
    r"Otherwise|Use|Run|Do|Don['\u2019]t|Never|Always)(?=['\u2019\s])"
)
_HIDDEN = re.compile(r"<[a-z][\w-]*(?::[0-9a-z]+)?>")
_URL = re.compile(r"\b[a-z][a-z0-9+.-]*://\S+", re.IGNORECASE)
_DECOR = re.compile(r"\[[0-9;]{1,9}m|^\s*\d+[→|]", re.MULTILINE)
"""Colours of a terminal, line numbers of a reader."""
_EMAIL = re.compile(r"\S+@\S+\.\w+")
_ID = re.compile(r"\b(?=[0-9a-f-]*\d)[0-9a-f]{7,}(?:-[0-9a-f]{4,})*\b", re.IGNORECASE)
_PATH = re.compile(r"(?<![\w./\\:])(?:~|[A-Za-z]:)?[\\/](?:[\w.@+-]+[\\/])*([\w.@+-]+)/?")
_NUMBER = re.compile(r"(?<![\w.])\d{2,6}(?![\w.])")
_WORD = re.compile(r"[\w'-]+")
_BITS = re.compile(r"\"[^\"]*\"|'[^']*'|&&|\|\||[;|\n]|[^\"'&|;\n]+|.")
_SEPARATOR = re.compile(r"&&|\|\||[;|\n]")
_HOME = re.compile(r"[^\s'\"`(]*[\\/](?:home|Users)[\\/][^\s\\/]+(?:[\\/][^\s\\/'\"`]+)*[\\/]?")


class Words(msgspec.Struct, frozen=True):
    """What a person reads of a group."""

    symptom: str
    rule: str
    slug: str
    topic: str


def plain(text: str) -> str:
    """Return a text as one line without paths, addresses, ids, comments or control characters."""
    text = text.replace("<!--", " ").replace("-->", " ")
    if not text.isprintable():
        text = "".join(letter if letter.isprintable() else " " for letter in text)
    text = _URL.sub("…", _DECOR.sub(" ", text))
    text = _EMAIL.sub("…", _HIDDEN.sub("…", text))
    text = _HOME.sub(lambda match: re.split(r"[\\/]", match.group().rstrip("\\/"))[-1], text)
    text = _PATH.sub(lambda match: match.group(1), text)
    return " ".join(_ID.sub("…", text).split())


def clauses(text: str) -> Iterator[str]:
    """Yield the clauses of what somebody said, openers left out, none longer than ``RUN`` words."""
    for sentence in _CLAUSE_END.split(text):
        said = _opened(plain(sentence))
        if _fits(said):
            yield said
            continue
        for piece in _PIECE_END.split(said):
            short = _opened(piece)
            if _fits(short) and len(short.split()) > 2:
                yield short


def _opened(text: str) -> str:
    return _OPENERS.sub("", text.strip(" ,.-*#>\"'…")).strip(" ,.-*#>\"'…")


def _fits(text: str) -> bool:
    if _FRAGMENT.match(text) or text.count("(") != text.count(")") or text.count("`") % 2:
        return False
    return len(text.split()) >= 2 and _words(text) <= RUN and text[:1] not in "{[|<"


def _words(text: str) -> int:
    return len(_WORD.findall(text))


def value(text: str, weights: Mapping[str, float]) -> float:
    """Return how much of the given tokens a text names."""
    return fsum(weights.get(token, 0.0) for token in frozenset(tokens(text)))


def parts(command: str) -> list[str]:
    """Return the commands of a command line; what stands in quotes is not taken apart."""
    found = [""]
    for bit in _BITS.findall(command.split("<<", 1)[0]):
        if _SEPARATOR.fullmatch(bit):
            found.append("")
        else:
            found[-1] += bit
    return [part.strip() for part in found if part.strip()]


def shown(action: str, known: Mapping[str, float]) -> str:
    """Return an action short enough to read: what only one session named becomes ``…``."""
    if " :: " in action and " => " in action:
        return _shown_edit(action, known)
    commands = parts(action)
    if not commands:
        return ""
    best = max(range(len(commands)), key=lambda i: (value(commands[i], known), -i))
    words: list[str] = []
    for place, word in enumerate(plain(commands[best]).split()):
        named = any(token in known for token in _names(word))
        verb = place <= 2 and word.isalpha() and word.islower()
        if place == 0 or named or verb or word.startswith("-"):
            words.append(word)
        elif words[-1] != "…":
            words.append("…")
    return _code(words)


def _shown_edit(action: str, known: Mapping[str, float]) -> str:
    lines = [line.strip() for line in action.split(" => ", 1)[1].split("\n")]
    lines = [line for line in lines if line and not _PROSE.match(line)]
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
    for word in words:
        longer = f"{text} {word}".strip()
        if len(longer) > 72 or _words(longer) > RUN:
            break
        text = longer
    for quote in ('"', "'"):
        if text.count(quote) % 2:
            text = f"{text[: text.rindex(quote)].rstrip()} …"
    text = text.replace("`", "'").rstrip(" …") + (" …" if text.endswith("…") else "")
    return text if _WORD.search(text) else ""


class _Role(IntEnum):
    """What a part can be in a sentence."""

    DO = 0
    """It says what to do: an order or a replacement."""
    FACT = 1
    """It says what is so."""
    SCRAP = 2
    """It has no verb; it explains a little."""


class _Piece(msgspec.Struct, frozen=True):
    """A part that a rule may be made of."""

    text: str
    names: frozenset[str]
    bonus: float
    role: _Role
    deed: bool
    """Whether it shows an action that was seen, none that somebody spoke of."""
    leads: bool
    """Whether a rule may be made of it alone."""


def _pieces(members: Sequence[Excerpt], known: Mapping[str, float]) -> list[_Piece]:
    """Return every part of speech or code that could stand in the rule, in a stable order."""
    pieces: dict[str, _Piece] = {}
    adding = Counter(token for excerpt in members for token in _added(excerpt))
    shared = frozenset(t for t, many in adding.items() if many >= min(2, len(members)))
    known = {**{token: 0.5 for token in shared if token.isdigit()}, **known}
    for excerpt in members:
        if excerpt.words_by is Speaker.HUMAN:
            _say(pieces, excerpt.words, 0.25)
        _say(pieces, excerpt.remark, 0.0)
        if excerpt.kind is SignalKind.DENIAL and excerpt.denier is Denier.RULE:
            _say(pieces, excerpt.error, 0.1)
        shows = _replacement(excerpt, known, shared) if excerpt.right else ""
        if shows:
            pieces[shows] = _Piece(shows, frozenset(_names(shows)), 0.3, _Role.DO, True, True)
    return sorted(pieces.values(), key=lambda piece: piece.text)


def _names(text: str) -> list[str]:
    """Return the tokens of a text, and its numbers: a port may be all that changes."""
    return [*tokens(text), *_NUMBER.findall(text)]


def _added(excerpt: Excerpt) -> frozenset[str]:
    numbers = frozenset(_NUMBER.findall(excerpt.right)) - frozenset(_NUMBER.findall(excerpt.wrong))
    return numbers.union(excerpt.added)


def _say(pieces: dict[str, _Piece], text: str, bonus: float) -> None:
    """Add the clauses of what was said; those that tell somebody what to do are worth more.

    What a model is about to do, asks or sees at the moment is no rule, and whoever says "I" speaks
    of that session. A rule is made of what a model says only where it says what must be.
    """
    for clause in clauses(text):
        clause = clause.strip(" ,.;:()")
        instructive = _INSTRUCTIVE.search(clause) is not None
        said = _FIRST_PERSON.sub("", clause)
        if _PASSING.search(clause) or _PERSONAL.match(said):
            continue
        if said != clause or _IMPERATIVE.match(said):
            role = _Role.DO
        elif _STATEMENT.search(said):
            role = _Role.FACT
        elif instructive or (bonus > 0 and _CODE.search(said)):
            role = _Role.SCRAP
        else:
            continue
        general = bonus > 0 or _BINDING.search(clause) is not None
        vague = _VAGUE.match(said) or (role is _Role.FACT and _POINTS.search(said))
        leads = role is not _Role.SCRAP and general and not vague and "…" not in said
        worth = bonus + 0.2 * instructive
        before = pieces.get(said)
        if before is None or (worth, leads) > (before.bonus, before.leads):
            pieces[said] = _Piece(said, frozenset(tokens(said)), worth, role, False, leads)


def _replacement(excerpt: Excerpt, known: Mapping[str, float], added: frozenset[str]) -> str:
    """Return what was done instead, where it is another try and no next step."""
    right, wrong = shown(excerpt.right, known), shown(excerpt.wrong, known)
    if not right or right == wrong or added.isdisjoint(_names(right)):
        return ""
    edits = " => " in excerpt.right
    if edits == (" => " in excerpt.wrong) and wrong and (edits or _retries(excerpt, added)):
        return f"{'write' if edits else 'use'} `{right}` instead of `{wrong}`"
    if edits:
        return f"write `{right}`"
    new = program(excerpt.right).lower() in added or excerpt.kind not in _FAILURES
    return f"use `{right}`" if new and _COMMAND.match(right) and not _LOOKS.match(right) else ""


def _retries(excerpt: Excerpt, added: frozenset[str]) -> bool:
    """Return whether the right command is another form of the wrong one, or what a person said."""
    if not _COMMAND.match(excerpt.right) or not _COMMAND.match(excerpt.wrong):
        return False
    same = _COMMAND.match(excerpt.right)[0] == _COMMAND.match(excerpt.wrong)[0]  # type: ignore[index]
    by_person = excerpt.kind not in _FAILURES and excerpt.linked > 0
    alike = overlap(tokens(excerpt.right), tokens(excerpt.wrong)) >= 0.4
    if _LOOKS.match(excerpt.right) or _LOOKS.match(excerpt.wrong):
        return same or by_person
    return same or alike or by_person or program(excerpt.right).lower() in added


def rule(members: Sequence[Excerpt], known: Mapping[str, float]) -> str:
    """Return one imperative sentence that names as much of ``known`` as fits.

    Empty where nothing sensible can be said.
    """
    if 2 * sum(excerpt.kind is SignalKind.CANNOT for excerpt in members) > len(members):
        return RESTRICTED
    heaviest = max(known.values(), default=1.0) or 1.0
    weights = {token: weight / heaviest for token, weight in known.items()}
    pieces = _pieces(members, known)
    first = _best([p for p in pieces if p.leads], weights, frozenset(), 0.0)
    first = first or _expected(members, known)
    if first is None:
        return ""
    room = [p for p in pieces if len(first.text) + len(p.text) < RULE - len("Remember that : .")]
    others = [p for p in room if p.text != first.text and not (p.deed and first.deed)]
    second = _best(others, weights, first.names, GAIN)
    parts = sorted(filter(None, (first, second)), key=lambda piece: piece.role)
    lead = parts[0].text if parts[0].role is _Role.DO else f"remember that {_lower(parts[0].text)}"
    text = ": ".join([lead, *(_lower(piece.text) for piece in parts[1:])])
    return f"{text[0].upper()}{text[1:]}".rstrip(" ,;:.") + "."


def _expected(members: Sequence[Excerpt], known: Mapping[str, float]) -> _Piece | None:
    """Return what to expect of a command that failed each time, where nobody did it otherwise."""
    commands = {shown(excerpt.wrong, known) for excerpt in members}
    commands |= {shown(excerpt.right, known) for excerpt in members if excerpt.right}
    if len(commands) > 1 or any(one.kind not in _FAILURES for one in members):
        return None
    command = commands.pop()
    text = f"expect `{command}` to fail"
    found = _Piece(text, frozenset(tokens(text)), 0.0, _Role.DO, deed=True, leads=True)
    return found if command and _COMMAND.match(command) and not _LOOKS.match(command) else None


def _best(
    pieces: Iterable[_Piece], weights: Mapping[str, float], named: frozenset[str], least: float
) -> _Piece | None:
    """Return the part that adds most to what is named already, more than ``least``."""
    best, gain = None, least
    for piece in pieces:
        new = fsum(weights.get(token, 0.0) for token in piece.names - named)
        worth = new + (piece.bonus if new else 0.0) - 0.01 * len(piece.text.split())
        if worth > gain:
            best, gain = piece, worth
    return best


def _lower(text: str) -> str:
    """Return a clause as it stands inside a sentence."""
    return f"{text[0].lower()}{text[1:]}" if _ARTICLE.match(text) else text


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
        token: 0.4 * weight / heaviest + (added.get(token, 0.0) + 0.8 * said.get(token, 0.0)) / done
        for token, weight in key.items()
    }
    return dict(sorted(found.items(), key=lambda item: (-item[1], item[0])))
