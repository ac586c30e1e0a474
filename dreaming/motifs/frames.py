"""How people mind something, as data: the turns of phrase around the thing they speak of.

A wish is a thing (tests, a commit, an emoji) in a frame ("you forgot the …", "never …", "… too").
People word the frames alike whatever they want, so frames are shared by all wishes, and a language
is added here once.
"""

from __future__ import annotations

import re
from collections.abc import Iterable
from enum import Flag, auto
from functools import cached_property, reduce
from operator import or_

# The library's own parser, which has no public name: what else would tell a pattern's literals?
from re import _constants, _parser  # type: ignore[attr-defined]
from typing import Any, Final

import msgspec

_LETTER: Final = r"[A-Za-zÀ-ÿА-я]"


class Moment(Flag):
    """What stood right before a person's words."""

    NONE = 0
    FIRST = auto()
    """They open the session: a task, in which only standing rules and unusual orders count."""
    WORK = auto()
    """The model has edited files, or says that it is done."""
    DONE = auto()
    """The model says that it is done."""
    COMMIT = auto()
    """The model committed or pushed, or says so."""
    DOCS = auto()
    """The model's last edit was of a document."""
    STOPPED = auto()
    """The person stopped the model or denied a call."""


class Frame(msgspec.Struct, frozen=True):
    """A turn of phrase: what stands before the thing, and what stands behind it."""

    before: str
    after: str = r"(?!)"


class Wish(msgspec.Struct, frozen=True, kw_only=True):
    """Something that people ask of an agent again and again, or that models admit, in new words.

    All patterns are regular expressions without regard to case. ``MARKS`` say which is which in a
    table.
    """

    name: str
    topic: str = ""
    worth: float = 0.6
    when: Moment = Moment.WORK
    roots: int = 2
    about: str = ""
    """The thing, which counts in one of these ``frames``."""
    frames: str = ""
    said: str = ""
    """Words that say it by themselves, at any moment but the first prompt."""
    after: str = ""
    """Words that say it in the moment ``when``."""
    review: str = ""
    """Words of a reviewer, whose comments people paste, also as the first prompt."""
    pasted: str = ""
    """Lines of output that a person pastes, in the moment ``when``; case counts."""
    command: str = ""
    """What one of the last commands must look like."""
    symptom: str = ""
    rule: str = ""
    sees: str = ""
    """An example it must see, at the moment ``when``."""
    passes: str = ""
    """One it must not."""


MARKS: Final = {
    "=": ("about", ""),
    ":": ("frames", ""),
    "/": ("said", ""),
    "@": ("after", ""),
    ">": ("review", ""),
    "#": ("pasted", ""),
    "$": ("command", ""),
    "-": ("symptom", " "),
    "!": ("rule", " "),
    "+": ("sees", ""),
}
"""What each line of a table's entry is, and what stands between several of a kind."""
SHORT: Final = {
    "<never>": r"don'?t|do not|never|stop|why did you",
    "<dont>": r"don'?t|do not|never",
    "<stop>": r"don'?t|do not|stop",
    "<nt>": r"(?:n'?t| not)",
    "<fails>": r"(?:fail(?:s|ed|ing|ures?)?|red|broken|blowing up|blew up|errors?|schlägt fehl|"
    r"échoue|falla)",
    **{f"<w{most}>": rf"(?:\w+ ){{0,{most}}}" for most in range(1, 6)},
}
"""What patterns may write in short; ``<w3>`` is up to three words."""


def parse(table: str) -> tuple[Wish, ...]:
    """Return the entries of a table: a name with worth, topic and moment, then lines with marks."""
    return tuple(map(_entry, re.split(r"\n(?=\S)", table.strip("\n"))))


def _entry(text: str) -> Wish:
    head, *lines = text.split("\n")
    name, *options = head.split()
    values: dict[str, str] = {}
    for line in lines:
        field, between = MARKS[line[2]]
        values[field] = values[field] + between + line[4:] if field in values else line[4:]
    for field in ("about", "said", "after", "review"):
        for short, long in SHORT.items():
            if field in values:
                values[field] = values[field].replace(short, long)
    values["sees"], _, values["passes"] = values["sees"].partition(" ~~ ")
    found: dict[str, Any] = {"name": name, **values}
    for option in options:
        if option[0].isdigit():
            found["worth"] = float(option)
        elif option.startswith("roots="):
            found["roots"] = int(option[6:])
        elif option.startswith("in="):
            found["when"] = reduce(or_, (Moment[one.upper()] for one in option[3:].split("+")))
        else:
            found["topic"] = option
    return Wish(**found)


class Finder:
    """A pattern with one of the literal runs that any match has, whatever the case.

    A match begins where no letter stands before it.
    """

    def __init__(self, pattern: str, *, whole: bool = False) -> None:
        """``whole`` asks for a word's end behind the match too."""
        self._pattern = pattern
        self._end = rf"(?!{_LETTER})" if whole else ""
        self.runs = _runs(_parser.parse(pattern))

    @cached_property
    def compiled(self) -> re.Pattern[str]:
        """Compiled when a text first has one of its runs: most never do."""
        flags = re.IGNORECASE | re.MULTILINE
        return re.compile(rf"(?<!{_LETTER})(?:{self._pattern}){self._end}", flags)

    def stands_in(self, text: str) -> bool:
        """Return whether a text has a match."""
        lower = text.lower()
        return any(run in lower for run in self.runs) and self.compiled.search(text) is not None


class Finders:
    """Many patterns: tells which of them a text may hold."""

    def __init__(self, finders: Iterable[Finder | None]) -> None:
        self._by_run: dict[str, list[Finder]] = {}
        for finder in filter(None, finders):
            for run in finder.runs:
                self._by_run.setdefault(run, []).append(finder)

    def near(self, lower: str) -> set[Finder]:
        """Return the patterns of which a literal run stands in a text in lower case."""
        return {one for run, some in self._by_run.items() if run in lower for one in some}


def _runs(tree: Iterable[tuple[Any, Any]]) -> frozenset[str]:
    """Return literal runs of a parsed pattern of which any match has one; empty where unknown."""
    found, run = [], ""
    for kind, value in (*tree, (None, None)):
        if kind is _constants.LITERAL:
            run += chr(value).lower()
            continue
        found.append(frozenset([run] if run else []))
        run = ""
        if kind is _constants.SUBPATTERN:
            found.append(_runs(value[3]))
        elif kind is _constants.BRANCH:
            some = [_runs(branch) for branch in value[1]]
            found.append(frozenset().union(*some) if all(some) else frozenset())
        elif kind is _constants.MAX_REPEAT and value[0] > 0:
            found.append(_runs(value[2]))
    return max(found, key=lambda runs: (bool(runs), min(map(_tells, runs), default=0), -len(runs)))


def _tells(run: str) -> int:
    """Return how much it tells that a text has this run: words that all texts have tell nothing."""
    return len(_EVERYWHERE.sub("", run).strip()) if run.isascii() else 9


_EVERYWHERE = re.compile(
    r"\b(?:the|to|of|in|on|is|are|was|it|that|this|do|you|i|still|use|not|an?)\b"
)

FRAMES: Final = {
    "forgot": Frame(
        r"you(?:'ve| have)? (?:just |again |also )?(?:forgot(?:ten)?|missed|skipped|omitted|"
        r"left out|ignored)|you (?:still )?(?:did(?:n'?t| not)|have(?:n'?t| not)|never|"
        r"are(?:n'?t| not))|forgot(?:ten)?|(?:i|we) (?:still )?(?:do(?:n'?t| not)|can(?:'?t|not)) "
        r"(?:see|find)|there(?:'?s| is| are) (?:still )?no|where(?:'?s| is| are)|why (?:is|are|do|"
        r"does|did|have|has) (?:there|we|you|it|this) (?:no|not)|why (?:no|not|(?:did|do|are|is|"
        r"have|has)n'?t)(?: you| there| we)?|missing|(?:still|has|have) no|vergessen|wo sind|"
        r"warum kein\w*|oublié|où sont|pourquoi (?:il n'y a )?pas|olvidaste|faltan?|"
        r"dónde están|esqueceu|faltam?|onde estão|cadê|забыла?|где|忘了|忘记|没有?|缺",
        r"(?:is|are|was|were)? ?(?:still )?(?:missing|forgotten|not (?:updated|added|there|run)|"
        r"out of date|outdated|stale)|fehl(?:t|en)|vergessen|manquent?|забыл|呢|忘|没|"
        r"が(?:ない|抜け)|を忘れ|は(?:どこ|ない)|(?:이|가)? ?(?:없|빠졌)|(?:은|는) ?어디",
    ),
    "must": Frame(
        r"always|every time|each time|from now on|going forward|in (?:the )?future|remember to|"
        r"don'?t forget(?: to)?|immer|ab jetzt|künftig|toujours|désormais|siempre|"
        r"a partir de ahora|sempre|daqui em diante|всегда|обязательно|впредь|每次|一定要|必须|以后|"
        r"必ず|今後|항상|반드시|앞으로",
        r"every time|each time|from now on|going forward|必ず",
    ),
    "never": Frame(
        r"never|don'?t(?! forget)(?! think)(?! know)(?! see)|dont|do not|stop|quit|no more|"
        r"please no|must(?:n'?t| not)|should(?:n'?t| not)|not allowed to|niemals|nie|bitte kein\w*|"
        r"nicht(?: mehr)?|jamais|ne(?= \w+ pas)|arrête|plus de|nunca|deja de|pare de|никогда|"
        r"хватит|перестань|не надо|不要|别|不许|禁止|不准",
        r"(?:bitte )?nicht|しないで|(?:を|は)?やめて|禁止|하지 ?(?:마|말)|쓰지 ?마|금지",
    ),
    "why": Frame(
        r"why (?:did|do|are|would|have|was|is|were) (?:you|there|it|we|this)|who (?:told|asked) you"
        r"|i (?:did(?:n'?t| not)|never) (?:ask|tell|want|say)\w*|you should(?:n'?t| not) have|"
        r"warum hast du|wieso|pourquoi (?:as-tu|tu as)|por qu[eé] (?:has|você)|зачем|почему ты|"
        r"为什么|なんで|なぜ|왜",
    ),
    "again": Frame(
        r"again|still|once more|(?:second|third) time|you (?:keep|always|constantly)|"
        r"i(?:'ve| have)? (?:already )?(?:told|said|asked)|as i said|wieder|immer noch|encore|"
        r"otra vez|de novo|опять|снова|всё ещё|又|还是|また|まだ|또|아직",
        r"again|schon wieder|otra vez|de novo|опять|снова",
    ),
    "excess": Frame(
        r"(?:do(?:es)?(?:n'?t| not)|no longer) (?:really )?(?:need|want)|no need (?:for|to)|"
        r"unnecessary|useless|pointless|too (?:much|many)|get rid of|remove(?: all| the| those|"
        r" these)+|way too|(?:keine?|unnötige?) \w*|pas besoin|no (?:hace falta|necesit\w+)|"
        r"não precis\w+|не нужн\w*|не надо|不需要|不用|不必|删掉|去掉|要らない|"
        r"いらない|필요 ?없",
        r"(?:is|are) (?:not|un)\s?(?:needed|necessary)|不需要|いらない|필요 ?없",
    ),
    "no": Frame(r"no|zero|keine?|sans|sin|sem|без|无|無"),
}
"""``no`` goes with ``never`` and ``excess`` and stands right before the thing."""

STANDING: Final = re.compile(
    r"\balways\b|\bnever\b|from now on|going forward|in (?:the )?future|(?:please|as always).{0,12}"
    r"remember|remember to\b|every time|start by\b|i(?:'ve| have) noticed you\b|"
    r"without (?:asking|being asked)|under no circumstances|\b(?:immer|niemals|ab jetzt|"
    r"künftig|toujours|jamais|désormais|siempre|nunca|a partir de ahora|sempre|всегда|никогда|"
    r"впредь)\b|每次|以后|永远|一律|必ず|今後|絶対に|항상|절대|반드시|앞으로",
    re.IGNORECASE,
)
"""Somebody states a rule that is to hold beyond this task."""
