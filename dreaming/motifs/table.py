r"""What an entry of the tables of tool output is: its form, how it is found, how its words fill.

A table is text, an entry a few lines of it::

    git-ignored-{what} git 0.85 any ? ignored by one of
      / ignored by one of your \.gitignore files:\s+([\w.@-][\w./-]+)
      - What goes wrong, for a person.
      ! What to do instead, one imperative; a part in brackets stands only where its value is known.
      + an output that it must see ~~ one that it must not

First the name, the topic (a tool, for linters), how much people keep of such things, and options;
``?`` parts literal hints by ``|``: one stands in whatever the pattern (``/``) matches. ``$`` is
what the command must look like. The group of a pattern is ``{what}`` of the name, and a strict
shape, so that no sentence that a tool returned ever becomes one of ours. Options say when an entry
counts: where the call failed or a hook speaks; ``any``: also where it ended well, as programs in a
pipe do; ``hook``: only where a hook speaks, with its fixed policy. ``roots=3``: how many root
sessions it takes; ``anywhere``: it is about the agent's own program, not about a project.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from functools import cached_property
from typing import Final

import msgspec

from dreaming.models.finding import Excerpt
from dreaming.motifs.interface import Told

MOST: Final = 6
"""How many names one entry gives to one output."""
SHORTHAND: Final = {
    "<shell>": r"(?:/?(?:\w+/)*(?:zsh|bash|sh|dash|ksh)|\(eval\))",
    "<word>": r"[A-Za-z_][\w.+-]{1,30}",
    "<relative>": r"(?![A-Z]:)[\w.@-][\w./@-]*",
    "<at>": r":\d+(?::\d+)?:? ",
}
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


class Motif(msgspec.Struct, frozen=True, dict=True, eq=False):
    """One thing that tools say in known words: an entry of a table."""

    name: str
    topic: str
    worth: float = 0.0
    when: str = ""
    roots: int = 2
    anywhere: bool = False
    hints: tuple[str, ...] = ()
    pattern: str = ""
    command: str = ""
    symptom: str = ""
    rule: str = ""
    sees: str = ""
    passes: str = ""

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
        return Told(
            slug=slug(name),
            topic=self.topic,
            symptom=self.symptom.format(**values)[:200],
            rule=rule.format(**values)[:200],
            worth=self.worth,
            roots=self.roots,
            anywhere=self.anywhere,
        )


_FIELDS: Final = {
    "?": ("hints", ""),
    "/": ("pattern", ""),
    "$": ("command", ""),
    "-": ("symptom", " "),
    "!": ("rule", " "),
    "+": ("sees", ""),
    "~": ("passes", ""),
}


def parse(table: str) -> tuple[Motif, ...]:
    """Return the entries of a table."""
    entries = re.split(r"\n(?=\S)", table.strip("\n"))
    return tuple(map(_entry, entries))


def _entry(text: str) -> Motif:
    head, *rest = text.split("\n")
    if " ? " in head:
        head, _, hints = head.partition(" ? ")
        rest.insert(0, f"  ? {hints}")
    name, topic, *options = head.split()
    values: dict[str, str] = {}
    for line in rest:
        field, between = _FIELDS[line[2]]
        values[field] = values[field] + between + line[4:] if field in values else line[4:]
    values["sees"], _, passes = values["sees"].replace("\\n", "\n").partition(" ~~ ")
    pattern = values.get("pattern") or re.escape(values["hints"])
    for short, long in SHORTHAND.items():
        pattern = pattern.replace(short, long)
    return Motif(
        name,
        topic.replace("_", " "),
        worth=next((float(one) for one in options if one[0].isdigit()), 0.0),
        when=next((one for one in options if one in ("any", "hook")), ""),
        roots=next((int(one[6:]) for one in options if one.startswith("roots=")), 2),
        anywhere="anywhere" in options,
        hints=tuple(values["hints"].split("|")),
        pattern=pattern,
        command=values.get("command", ""),
        symptom=values.get("symptom", ""),
        rule=values.get("rule", ""),
        sees=values["sees"],
        passes=values.get("passes", passes).replace("\\n", "\n"),
    )


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
