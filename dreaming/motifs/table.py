r"""The form of the tables: entries of a few lines each, for what tools say and what people say.

An entry is its name with options, then lines that begin with a mark::

    git-ignored-{what} git 0.85 any
      / ignored by one of your \.gitignore files:\s+([\w.@-][\w./-]+)
      - What goes wrong, for a person.
      ! What to do instead, one imperative; a part in brackets stands only where its value is known.
      + what it must see ~~ what it must not

The options are its topic (a tool, for linters), how much people keep of such things, and
``roots=3``, how many root sessions it takes. ``MARKS`` say what the lines are. Patterns may be
written in short, see ``SHORT``.

The group of a tool's pattern is ``{what}`` of the name, and a strict shape, so that no sentence
that a tool returned ever becomes one of ours. Such an entry counts where the call failed or a hook
speaks; ``any``: also where it ended well, as programs in a pipe do; ``hook``: only where a hook
speaks, with its fixed policy; ``anywhere``: it is about the agent's own program, not a project.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Collection, Iterable, Iterator, Sequence
from functools import cached_property
from typing import Any, Final, TypeVar

import msgspec

from dreaming.models.finding import Excerpt
from dreaming.motifs.finder import runs
from dreaming.motifs.interface import Told

MARKS: Final = {
    "/": "pattern",  # of an output or remark; of a person's words: at any moment but the first
    "?": "hints",  # texts, one of which must stand elsewhere in the output
    "=": "about",  # the thing that a wish is about, which counts in one of its frames
    ":": "frames",
    "@": "after",  # words that say it in the moment ``in=``
    ">": "review",  # words of a reviewer, whose comments people paste, also as the first prompt
    "#": "pasted",  # lines of output that a person pastes in the moment ``in=``; case counts
    "$": "command",  # what the command must look like
    "-": "symptom",
    "!": "rule",
    "+": "sees",
    "~": "passes",
}
SHORT: Final = {
    "<shell>": r"(?:/?(?:\w+/)*(?:zsh|bash|sh|dash|ksh)|\(eval\))",
    "<word>": r"[A-Za-z_][\w.+-]{1,30}",
    "<relative>": r"(?![A-Z]:)[\w.@-][\w./@-]*",
    "<at>": r":\d+(?::\d+)?:? ",
    "<never>": r"don'?t|do not|never|stop|why did you",
    "<dont>": r"don'?t|do not|never",
    "<stop>": r"don'?t|do not|stop",
    "<nt>": r"(?:n'?t| not)",
    "<fails>": r"(?:fail(?:s|ed|ing|ures?)?|red|broken|blowing up|blew up|errors?|schlägt fehl|"
    r"échoue|falla)",
    **{f"<w{most}>": rf"(?:\w+ ){{0,{most}}}" for most in range(1, 6)},
}
"""What patterns may write in short; ``<w3>`` is up to three words."""
MOST: Final = 6
"""How many names one entry gives to one output."""
_VALUES: Final = {
    "limit": re.compile(
        r"(?:[>≥] ?|\bmax(?:imum)?(?: depth)?(?: allowed)?(?: is| of)?:? |Expected: |"
        r"\blimit(?: is|:)? )(\d+)"
    ),
    "percent": re.compile(r"\(?(\d+)(?:\.\d+)?%?\)?\D*$", re.MULTILINE),
    "port": re.compile(r"(?:port |:)(\d{4,5})\b"),
}
_PARTS: Final = re.compile(r"&&|\|\||[;\n|]|\$\(")
_PROGRAM: Final = re.compile(
    r"(?:^|&&|\|\||[;\n|(])\s*(?!cd\s|export\s|source\s|sleep\s|set\s|\w+=)"
    r"(?:(?:sudo|env|time|timeout \d+\w?|exec)\s+)*([\w.][\w./+-]*)"
)
_CODE: Final = re.compile(r"[A-Z]{1,4}\d{3,5}")


class Entry(msgspec.Struct, frozen=True, dict=True, eq=False, kw_only=True):
    """Something that is said in known words: an entry of a table."""

    name: str
    topic: str = ""
    worth: float = 0.6
    roots: int = 2
    when: str = ""
    anywhere: bool = False
    pattern: str = ""
    command: str = ""
    symptom: str = ""
    rule: str = ""
    sees: str = ""
    passes: str = ""

    def told(self, **words: str) -> Told:
        """Return the words for this entry, some of them replaced."""
        return Told(
            slug=words.get("slug", self.name),
            topic=self.topic,
            symptom=words.get("symptom", self.symptom)[:200],
            rule=words.get("rule", self.rule)[:200],
            worth=self.worth,
            roots=self.roots,
            anywhere=self.anywhere,
        )


Kind = TypeVar("Kind", bound=Entry)


def parse(kind: type[Kind], table: str, topic: str = "") -> tuple[Kind, ...]:
    """Return the entries of a table."""
    return tuple(_entry(kind, text, topic) for text in re.split(r"\n(?=\S)", table.strip("\n")))


def _entry(kind: type[Kind], text: str, topic: str) -> Kind:
    head, *lines = text.split("\n")
    name, *options = head.split()
    values: dict[str, Any] = {"topic": topic}
    for line in lines:
        field = MARKS[line[2]]
        between = " " if field in ("symptom", "rule") else ""
        values[field] = values[field] + between + line[4:] if field in values else line[4:]
    values["sees"], cut, passes = values["sees"].replace("\\n", "\n").partition(" ~~ ")
    values["passes"] = (passes if cut else values["passes"]).replace("\\n", "\n")
    for field in {"pattern", "about", "after", "review"} & values.keys():
        for short, long in SHORT.items():
            values[field] = values[field].replace(short, long)
    for option in options:
        key, _, value = option.rpartition("=")
        if option[0].isdigit():
            values["worth"] = float(option)
        elif key == "roots":
            values["roots"] = int(value)
        elif key == "in" or option in ("any", "hook"):
            values["when"] = value
        elif option == "anywhere":
            values["anywhere"] = True
        else:
            values["topic"] = option.replace("_", " ")
    return kind(name=name, **values)


class Motif(Entry, frozen=True, dict=True, eq=False, kw_only=True):
    """One thing that tools say in known words."""

    hints: str = ""

    @property
    def runs(self) -> Collection[str]:
        """Literal runs: any output that this entry sees has one."""
        return self.hints.split("|") if self.hints else runs(self.pattern)

    @cached_property
    def _pattern(self) -> re.Pattern[str]:
        return re.compile(self.pattern, re.MULTILINE)

    def find(self, text: str, command: str) -> Iterator[tuple[str, str]]:
        """Yield each name of this entry for an output with one of its hints, and the lines that
        tell it first.
        """
        if self.command and not re.search(self.command, command):
            return
        names = set()
        for found in self._pattern.finditer(text):
            what = next(filter(None, found.groups()), "").strip(".")
            what = what.lower() if _CODE.fullmatch(what) else what
            name = self.name.replace("{what}", what)
            if "{program}" in name:
                run = _program_of(what, _lines_of(text, found), command)
                name = name.replace("{program}", run) if run else ""
            if name and name not in names:
                names.add(name)
                yield name, _lines_of(text, found)
            if "{what}" not in self.name or len(names) >= MOST:
                return

    @cached_property
    def _shape(self) -> re.Pattern[str]:
        shape = re.escape(self.name).replace(r"\{what\}", r"(?P<what>\S+)")
        return re.compile(shape.replace(r"\{program\}", r"(?P<program>[^:\s]+)"))

    def tell(self, name: str, members: Sequence[Excerpt]) -> Told | None:
        """Return this entry's words for a name, or ``None`` where the name is not its own."""
        found = self._shape.fullmatch(name)
        if found is None:
            return None
        values = found.groupdict() | {
            key: _usual(shape, members)
            for key, shape in _VALUES.items()
            if f"{{{key}}}" in self.rule
        }

        def part(inside: re.Match[str]) -> str:
            return inside[1] if all(map(values.get, re.findall(r"\{(\w+)\}", inside[1]))) else ""

        rule = re.sub(r"\[([^\]{]*\{\w+\}[^\]]*)\]", part, self.rule)
        symptom = self.symptom.format(**values)
        return self.told(slug=slug(name), symptom=symptom, rule=rule.format(**values))


def program(command: str) -> str:
    """Return the program that a command line runs first, folders and settings left aside."""
    found = _PROGRAM.search(command)
    return found[1].rpartition("/")[2][:24] if found else ""


def _program_of(what: str, line: str, command: str) -> str:
    """Return the program that does not know ``what``: the one that says so, or was given it."""
    if not what:
        return program(command)
    says = re.match(r"([a-z][\w.-]{1,20}): (?:\w+ )?(?:unknown|un|in|illegal)", line)
    if says and says[1] not in ("error", "fatal", "usage"):
        return says[1]
    given = re.compile(rf"(?<!\S)(?:--?)?{re.escape(what)}(?![\w-])")
    parts = filter(given.search, _PARTS.split(command))
    return next(filter(None, map(program, parts)), "")


def _lines_of(text: str, found: re.Match[str]) -> str:
    """Return the whole lines that a match stands in."""
    start = text.rfind("\n", 0, found.start() + 1) + 1
    end = text.find("\n", max(found.end() - 1, start))
    return text[start : end if end >= 0 else len(text)].strip()


def _usual(shape: re.Pattern[str], members: Iterable[Excerpt]) -> str:
    return most(shape.search(words(member)) for member in members)


def most(found: Iterable[re.Match[str] | None]) -> str:
    """Return what most of the matches have in their group; empty where there is none."""
    counts = Counter(match[1] for match in found if match)
    return min(counts, key=lambda text: (-counts[text], text)) if counts else ""


def words(excerpt: Excerpt) -> str:
    """Return what came back, as the excerpt keeps it."""
    return "\n".join([*(quotation.text for quotation in excerpt.quotations), excerpt.error])


def slug(name: str) -> str:
    """Return a name as a slug."""
    return re.sub(r"[^a-z0-9]+", "-", name.lower()).strip("-")[:64].strip("-")
