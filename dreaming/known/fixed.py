"""Has the repository dealt with a gotcha since? Lines of its files say so, or they do not.

A line counts where it makes the right form happen, or tells people to use it. A word in common is
not enough: a check that rejects the wrong form all along is the cause of a gotcha, not its end, and
a document may say the opposite. When a line came in, its reader decides with what is asked here.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from functools import lru_cache
from typing import Final

import msgspec

from dreaming.known.habit import PLAIN, Form, called, form, spans, words
from dreaming.known.near import Near, Said
from dreaming.known.opposites import opposite, stance
from dreaming.known.places import LOCKS, Kind, Unit, kind
from dreaming.models.finding import KeptExcerpt, SignalKind
from dreaming.similarity import COMMON, program, telling, tokens

ALIKE: Final = 0.3
"""From this likeness on a sentence says what a rule says, in other words."""
CLOSEST: Final = 3
"""So many sentences are looked at."""

_LINT_ID: Final = re.compile(
    r"\b(?:MD\d{3}|SC\d{4}|DL\d{4}|(?:[A-Z]{1,3}|[A-Z]{4})\d{3,4}|clippy::\w+)\b|"
    r"@?[\w-]+/[a-z]+(?:-[a-z]+)+|\b[A-Z]\w+/[A-Z]\w+\b|\b(?:no|prefer)-[a-z]+(?:-[a-z]+)*\b|"
    r"\((\w+)\)$",
    re.M,
)
"""Names that linters give their rules."""
_TOOLS: Final = re.compile(
    r"markdownlint|eslint|ruff|black|isort|flake8|pylint|prettier|biome|gofmt|gofumpt|goimports|"
    r"golangci|rustfmt|clippy|cargo[ -]fmt|mix[ -]format|credo|rubocop|stylelint|swiftformat|"
    r"ktlint|shfmt|shellcheck|clang-format|terraform[ _]fmt|taplo|dprint|stylua|nixfmt|scalafmt|"
    r"end-of-file|trailing[ -]whitespace|autopep8|standardrb|dart format",
    re.I,
)
_SAME_TOOL: Final = {"cargo fmt": "rustfmt", "gofumpt": "gofmt", "goimports": "gofmt"}
_FAMILY: Final = (
    (re.compile(r"\bMD\d{3}\b", re.I), "markdownlint"),
    (re.compile(r"\b(?:E|F|W|I|UP|RUF|SIM)\d{3}\b"), "ruff"),
    (re.compile(r"clippy::"), "clippy"),
)
"""Whose rules have names of this shape, where the linter itself is not named."""
_MENDS: Final = re.compile(
    r"--fix\b|--write\b|--apply\b|--in-place\b|--auto-?correct|\bgofmt\b.* -w\b|\s-[wiAa]\b|"
    r"\b(?:black|isort|ruff[ -]format|rustfmt|cargo[ -]fmt|mix[ -]format|id: prettier|stylua|"
    r"terraform[ _]fmt|end-of-file-fixer|trailing-whitespace|dart format|nixfmt|scalafmt)\b"
)
"""A linter or formatter that changes the files itself."""
_CHECKS: Final = re.compile(
    r"--check\w*|--dry-run|--list-different|--diff\b|--no-fix|\bgofmt\b.* -l\b|\s-[lc]\b"
)
_OFF: Final = re.compile(
    r"\b(?:off|false|disabled?|ignored?|allow|exclude|skip)\b|[:\[,]\s*[\"']?0\b", re.I
)
_BANS: Final = re.compile(
    r"(?<![A-Za-z])(?:no(?=[-_A-Z])|[Bb]an(?:ned)?\b|(?:[Ff]orbid|[Rr]estrict|[Dd]isallow)\w*|[Dd]eny\b)"
)
_MISSING: Final = re.compile(
    r"(?:missing script|no rule to make target|no module named|cannot find (?:module|package)|"
    r"module not found|no such (?:command|script|task|recipe)|unknown (?:task|command)|"
    r"could not find (?:task|package)|does not contain recipe)\W*(?:called |named )?"
    r"([\w@][\w:./@-]*)",
    re.I,
)
"""Something is called that is not there, and what."""
_ORDERS: Final = re.compile(
    r"\b(?:use|run|pass|set|add|prefer|call|put|write|keep|always|never|must|should|needs?|has to|"
    r"have to|requires?|required|instead|only|make sure|ensure|install|export|prefix|start|import|"
    r"name|scope|include|do not|don['’]t|avoid|before|every|each|all|go through|create|commit|push|"
    r"open|wrap|pin|stick|give|invoke|append)\b",
    re.I,
)
_HEDGES: Final = re.compile(
    r"\b(?:used to|(?:we|i|they|it) used|formerly|previously|no longer|deprecated|was|were|had|"
    r"optional(?:ly)?|may|might|can|could|alternatively|if you (?:prefer|like|want)|todo|"
    r"experiment\w*|planned|propos\w+|"
    r"consider\w*|histor\w+|in the past|we tried|not (?:yet )?(?:supported|needed|required|"
    r"necessary|recommended)|unnecessary|no need|need ?n[o'’]t|(?:don['’]t|not) (?:need|have) to|"
    r"some (?:people|teams))\b|[?❌]",
    re.I,
)
_ASIDE: Final = re.compile(
    r"don['’]?t|do not|avoid|anti-?pattern|deprecat|legacy|\bold\b|former|histor|change ?log|"
    r"release notes|alternativ|rejected|wrong|\bbad\b|ideas?\b|roadmap|migrat\w+ from",
    re.I,
)
"""A heading under which nothing is recommended."""
_REJECTED: Final = ("lint-", "format-", "hook-")
_LACKING: Final = ("missing-module-", "missing-package-", "missing-script-", "missing-target-")
"""How the names of such gotchas begin."""
_VERSION: Final = re.compile(r"(?:([a-z][\w./-]*)@)?v?(\d[\w.]*)")
_RUNNERS: Final = {
    "package.json": ("npm", "pnpm", "yarn", "bun"),
    "mix.exs": ("mix",),
    "pyproject.toml": ("poe", "pdm", "hatch", "task"),
    **dict.fromkeys(("Makefile", "makefile", "GNUmakefile"), ("make", "gmake")),
    **dict.fromkeys(("justfile", "Justfile", ".justfile"), ("just",)),
    **dict.fromkeys(("Taskfile.yml", "Taskfile.yaml"), ("task",)),
    **dict.fromkeys(("mise.toml", ".mise.toml"), ("mise",)),
}
"""Who runs the tasks of a file."""
_OPERATOR: Final = re.compile(r"(?<=.)(?:[@=<>~^/]|::)")
_CLAUSE: Final = re.compile(r"[;.!?]\s|\s[-–—]\s|\bbut\b")


class Gotcha(msgspec.Struct, frozen=True):
    """What is asked of a repository."""

    rule: str
    last: float
    """When it was met last, seconds since 1970 UTC; 0.0 where nobody knows."""
    form: Form | None
    starts: frozenset[str]
    """Programs that the right way starts."""
    called: frozenset[str]
    """Words of the commands that went wrong."""
    rules: frozenset[str]
    """Linter rules it is about, lower case."""
    tools: frozenset[str]
    """Linters and formatters it names."""
    rejected: bool
    """A linter, a formatter or a hook rejects the wrong form already."""
    missing: frozenset[str]
    """What was called and is not there."""


class Place(msgspec.Struct, frozen=True):
    """A line that deals with a gotcha, where it came in after the last evidence."""

    path: str
    number: int
    lines: tuple[str, ...]
    """What came in with it, as extended regular expressions of POSIX: ask when they last did.
    Empty where the file as a whole counts."""
    what: str
    """What it is, for a person."""


def gotcha(excerpts: Sequence[KeptExcerpt], rule: str) -> Gotcha:
    """Return what a group's excerpts and rule ask of a repository."""
    several = [kept.excerpt for kept in excerpts]
    errors = "\n".join(one.error for one in several)
    told = "\n".join([rule, errors, *(f"{one.wrong}\n{one.right}" for one in several)])
    names = {name for one in several for name in one.names}
    said = " ".join([*names, told])
    rejections = [one.kind is SignalKind.REJECTION or _TOOLS.search(one.error) for one in several]
    rejected = 2 * sum(map(bool, rejections)) > len(several) and not names
    rejected |= any(name.startswith(_REJECTED) for name in names)
    found = {(hit[1] or hit[0]).lower() for hit in _LINT_ID.finditer(f"{rule}\n{errors}")}
    found = {re.split("::|/", one)[-1] for one in found if not _TOOLS.fullmatch(one)}
    found |= {name.removeprefix("lint-") for name in names if name.startswith("lint-")}
    missing = {hit[1].lower().strip(".:") for hit in _MISSING.finditer(errors)}
    missing |= {name.split("-", 2)[2] for name in names if name.startswith(_LACKING)}
    tools = {_tool(hit[0]) for hit in _TOOLS.finditer(said)}
    tools |= {tool for shape, tool in _FAMILY if shape.search(said)}
    right, _ = spans(rule)
    actions = [*right, *(one.right for one in several if " => " not in one.right)]
    return Gotcha(
        rule=rule,
        last=max((one.at for one in several), default=0.0),
        form=form(excerpts, rule),
        starts=frozenset(start for action in actions for start in _starts(action)),
        called=called(excerpts),
        rules=frozenset(found) if rejected else frozenset(),
        tools=frozenset(tools),
        rejected=rejected,
        missing=frozenset(missing),
    )


def _tool(name: str) -> str:
    plain = name.lower().replace("-", " ").replace("_", " ")
    return _SAME_TOOL.get(plain, plain)


def _starts(action: str) -> Iterator[str]:
    for part in re.split(r"&&|\|\||;|\||\n| -- ", action):
        for word in (program(part), *part.split()[1:2]):
            if word and word not in PLAIN:
                yield word.lower()
            if word not in ("npx", "uv", "uvx", "bundle", "mise", "poetry"):
                break


class Repository:
    """The lines of one repository. Made once, asked about many gotchas."""

    def __init__(self, units: Sequence[Unit]) -> None:
        holding = [one for one in units if one.kind is not Kind.DOC or _told(one)]
        self._units = [
            (one, _parts_of(one.text, one.kind), _parts_of(one.whole, one.kind)) for one in holding
        ]
        self._docs = [one for one in holding if one.kind is Kind.DOC]
        self._near = Near([Said(one.text) for one in self._docs])
        self._locks = {LOCKS[one.path] for one in units if one.kind is Kind.LOCK}

    def places(self, asked: Gotcha) -> Iterator[Place]:
        """Yield the lines that deal with a gotcha, the surest kind first."""
        for does, asks in _ASKS.items():
            for unit, own, whole in self._units:
                if unit.kind is does and asks(asked, unit, own, whole):
                    yield _place(asked, unit)
        yield from self._other_lock(asked)
        if asked.form is None:
            yield from self._other_words(asked)

    def _other_lock(self, asked: Gotcha) -> Iterator[Place]:
        """A lock file of the right package manager, and none of the wrong one."""
        form = asked.form
        if form is None or form.wrong & self._locks or not form.wrong & {"pip", *LOCKS.values()}:
            return
        for unit, *_ in self._units:
            if unit.kind is Kind.LOCK and LOCKS[unit.path] in form.right & asked.starts:
                yield Place(unit.path, 0, (), _WHAT[Kind.LOCK])

    def _other_words(self, asked: Gotcha) -> Iterator[Place]:
        """A document that says what the rule says, in other words."""
        rule = stance(asked.rule)
        for place, likeness in self._near.closest("", asked.rule, CLOSEST):
            unit = self._docs[place]
            said = stance(unit.text)
            agreed = (rule.wanted & said.wanted) | (rule.left & said.left)
            shared = (rule.wanted | rule.left) & set(tokens(unit.text))
            mostly = 2 * len(agreed) >= len(rule.wanted | rule.left) and agreed == shared
            if likeness >= ALIKE and mostly and not opposite(asked.rule, unit.text):
                yield _place(asked, unit)


def _place(asked: Gotcha, unit: Unit) -> Place:
    form = asked.form
    lines: tuple[str, ...]
    if unit.kind is Kind.DOC:
        wanted = frozenset(telling(" ".join(form.right if form else ()) or asked.rule))
        parts = [line.strip() for line in unit.text.split("\n")]
        best = max(parts, key=lambda one: (len(wanted & set(tokens(one))), len(one)))
        lines = (_literal(best),)
    else:  # of a setting, what it stands below decides what it means
        above = unit.above[-1:] if unit.kind is Kind.CONFIG else ()
        lines = tuple(f"^[ \t]*{_literal(line)}[ \t]*$" for line in (unit.text, *above))
    named = [word for word in words(unit.text) if form and word in form.right | form.head]
    shown = f" `{' '.join(dict.fromkeys(named))}`" if named and unit.kind is not Kind.DOC else ""
    return Place(unit.path, unit.number, lines, f"{_WHAT[unit.kind]}{shown}")


def _literal(text: str) -> str:
    return re.sub(r"[.^$*+?()\[\]{}|\\]", r"\\\g<0>", text)


_WHAT: Final = {
    Kind.HOOK: "a hook runs",
    Kind.TASK: "a task does",
    Kind.CONFIG: "a setting of the linter or formatter",
    Kind.PIN: "a pinned tool or setting",
    Kind.NEEDS: "a dependency",
    Kind.LOCK: "a lock file",
    Kind.DOC: "a document says it",
}


# -- what each kind of line must say --------------------------------------------------------------


def _parts_of(text: str, kind: Kind) -> frozenset[str]:
    """Words, and the parts of ``pnpm@9`` or ``clippy::x``; of a document what it names besides."""
    found = words(text)
    named = tokens(text) if kind is Kind.DOC else ()
    return frozenset(found).union(named, *(_OPERATOR.split(word) for word in found))


def _runs(asked: Gotcha, own: frozenset[str], whole: frozenset[str]) -> bool:
    """The line runs the right form."""
    form = asked.form
    if form is None or not form.right or not form.right <= whole or not form.right & own:
        return False
    if "echo" in own or (form.wrong and form.wrong <= own):
        return False
    return bool(form.right & asked.starts or not form.head or form.head & asked.starts <= whole)


def _hook(asked: Gotcha, unit: Unit, own: frozenset[str], whole: frozenset[str]) -> bool:
    if not asked.rejected:
        return _runs(asked, own, whole) or _bans(asked, unit)
    if _CHECKS.search(unit.whole):
        return False
    tools = {_tool(hit[0]) for hit in _TOOLS.finditer(unit.whole)} & asked.tools
    mends = (
        tools
        and _MENDS.search(unit.whole)
        and (_MENDS.search(unit.text) or _TOOLS.search(unit.text))
    )
    return bool(mends) or (not asked.rules and _runs(asked, own, whole))


def _task(asked: Gotcha, unit: Unit, own: frozenset[str], whole: frozenset[str]) -> bool:
    """What was called does the right thing itself now, or is there now."""
    form = asked.form
    if not any(one in asked.called for one in _RUNNERS.get(unit.path.rsplit("/", 1)[-1], ())):
        return False
    if unit.name in asked.missing:
        return not unit.above or unit.text.lower().strip("\"'@").startswith(unit.name)
    if form is None or not form.right or asked.rejected or unit.name in COMMON:
        return False
    return unit.name in asked.called and form.right <= own


def _config(asked: Gotcha, unit: Unit, own: frozenset[str], whole: frozenset[str]) -> bool:
    """The linter no longer minds; or, where a person minded, it does now."""
    off = _OFF.search(unit.whole) is not None
    if asked.rejected:
        return off and bool(asked.rules & own)
    if off or _bans(asked, unit):
        return not off
    has, wanted = _pieces(unit.whole), _wanted(asked.rule)
    return len(has & wanted) >= 2 and bool(
        _pieces(re.split("[:=]", unit.text)[-1]) & wanted or "true" in has
    )


def _bans(asked: Gotcha, unit: Unit) -> bool:
    """The line forbids the wrong form by its name."""
    if not _BANS.search(unit.whole) or asked.form is None:
        return False
    named = [one for one in asked.form.wrong if one not in PLAIN or f"`{one}`" in asked.rule]
    return any(_pieces(one) & _pieces(unit.text) for one in named)


@lru_cache(maxsize=64)
def _wanted(rule: str) -> frozenset[str]:
    told = stance(rule)
    return _pieces(" ".join(told.wanted)) - _pieces(" ".join(told.left)) - _COMMON


def _pieces(text: str) -> frozenset[str]:
    """The parts of names, without the ending of a plural."""
    found = re.findall(r"[A-Z]?[a-z]+|[A-Z]+(?![a-z])|\d+", text)
    return frozenset(
        one.lower().removesuffix("s") for one in found if len(one) > 2 or one.isdigit()
    )


_COMMON: Final = frozenset(one.removesuffix("s") for one in COMMON)


def _pin(asked: Gotcha, unit: Unit, own: frozenset[str], whole: frozenset[str]) -> bool:
    """The tool, version or variable that the right form names is settled for all."""
    form = asked.form
    if asked.rejected or form is None:
        return False
    settled = own | frozenset(
        re.findall(r"[a-z]+", unit.path) if kind(unit.path) is Kind.PIN else ()
    )
    settled |= {"nvm", "fnm"} if settled & {"node", "nodejs", "nvmrc"} else set()
    versions = {word.lstrip("v^~>=") for word in words(unit.text)}
    found = [_VERSION.fullmatch(word) for word in form.right]
    wanted = [(one[1] or "", one[2]) for one in found if one]
    if wanted:
        named = {
            one for one in settled & (form.right | form.head | asked.called) if not one[0].isdigit()
        }
        return all(
            (name in settled if name else bool(named))
            and any(
                one.split("@")[-1] == v or one.split("@")[-1].startswith(f"{v}.")
                for one in versions
            )
            for name, v in wanted
        )
    manager = form.right & asked.starts & frozenset(LOCKS.values())
    variable = any(word.endswith("=") for word in form.right)
    return (bool(form.wrong) and bool(manager & own)) or (
        variable and {word.rstrip("=") for word in form.right} <= own
    )


def _needs(asked: Gotcha, unit: Unit, own: frozenset[str], whole: frozenset[str]) -> bool:
    """What could not be found is a dependency now."""
    names = {re.split(r"[<>=~!\[ ;]", word)[0].replace("_", "-") for word in own if len(word) > 2}
    return any(one.replace("_", "-").split(".")[0] in names for one in asked.missing)


def _doc(asked: Gotcha, unit: Unit, own: frozenset[str], whole: frozenset[str]) -> bool:
    """The sentence tells people to use the right form."""
    if asked.rules & own:
        return not _OFF.search(unit.text)
    form = asked.form
    if form is None or not form.right:
        return False
    needed = [word for word in form.right if word not in COMMON] or list(form.right)
    if not all(word in own or own.intersection(tokens(word)[:1]) for word in needed):
        return False
    wanted = frozenset(telling(" ".join(needed)))
    against = frozenset(telling(" ".join(form.wrong))) - wanted
    if unit.code:
        if form.wrong and form.wrong <= own:
            return False
    elif not any(
        wanted <= told.wanted and not (against and against <= told.wanted)
        for told in map(stance, _CLAUSE.split(unit.text))
    ):
        return False
    own_flag = any(len(word) > 8 and "-" in word.strip("-") for word in needed)
    return own_flag or bool(asked.starts & whole)


def _told(unit: Unit) -> bool:
    """The sentence is an order that holds today."""
    if _ASIDE.search(" ".join(unit.above)) or _HEDGES.search(unit.text):
        return False
    return unit.code or _ORDERS.search(unit.text) is not None


_ASKS: Final = {
    Kind.HOOK: _hook,
    Kind.TASK: _task,
    Kind.PIN: _pin,
    Kind.NEEDS: _needs,
    Kind.CONFIG: _config,
    Kind.DOC: _doc,
}
