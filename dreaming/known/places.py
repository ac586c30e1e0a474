"""The files of a repository that enforce or say something, line by line. Text in, units out.

Which file is of which kind is a table. YAML, TOML, JSON and Makefiles are read alike, by
indentation: a line stands below the less indented lines before it.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from enum import StrEnum
from typing import Final

import msgspec


class Kind(StrEnum):
    """What a line of a repository does."""

    HOOK = "hook"
    """Runs by itself: when somebody commits, edits or installs."""
    TASK = "task"
    """Runs when it is called by its name."""
    CONFIG = "config"
    """Settles what a linter, a formatter or an editor does."""
    PIN = "pin"
    """Settles a version, a package manager or an environment variable."""
    NEEDS = "needs"
    """Names a dependency."""
    LOCK = "lock"
    DOC = "doc"


class Unit(msgspec.Struct, frozen=True):
    """A line, or a sentence of a document."""

    kind: Kind
    path: str
    number: int
    """1-based."""
    text: str
    above: tuple[str, ...] = ()
    """The lines it stands below, outermost first; of a sentence its heading."""
    code: bool = False
    """A sentence that is a command, or a line of a fenced block."""

    @property
    def whole(self) -> str:
        """The line with all that it stands below."""
        return " ".join([*self.above, self.text])

    @property
    def name(self) -> str:
        """What the entry is called that the line belongs to."""
        lines = [*self.above, self.text]
        place = 1 if len(lines) > 1 and _HOLDER.match(lines[0]) else 0
        named = _NAME.search(lines[place])
        return next(filter(None, named.groups())).lower() if named else ""


_HOLDER: Final = re.compile(
    r"^[\"']?(?:scripts|tasks|\[tasks\]|\[tool\.[\w.]*tasks[\w.]*\])(?!\w)", re.I
)
_NAME: Final = re.compile(
    r"^\[tasks\.\"?([\w:.-]+)|^[\"']([^\"']+)[\"']\s*[:=]|^@?([\w./:-]*[\w/-])\s*[:=(]|^([\w.-]+)"
)

FILES: Final[tuple[tuple[str, Kind], ...]] = (
    (r"\.husky/[\w-]+|\.githooks/[\w-]+|\.git/hooks/[\w-]+", Kind.HOOK),
    (r"\.pre-commit-config\.ya?ml|\.?lefthook\.(?:ya?ml|toml)|\.lintstagedrc(?:\.\w+)?", Kind.HOOK),
    (r"\.claude/settings\.json", Kind.HOOK),
    (r"(?:GNU)?[Mm]akefile|\.?[Jj]ustfile|Taskfile\.ya?ml", Kind.TASK),
    (r"package\.json|pyproject\.toml|\.?mise\.toml|Cargo\.toml|mix\.exs|deno\.jsonc?", Kind.NEEDS),
    (r"go\.mod|Gemfile|requirements[\w-]*\.txt|composer\.json", Kind.NEEDS),
    (r"\.tool-versions|\.nvmrc|\.(?:node|python|ruby)-version|rust-toolchain(?:\.toml)?", Kind.PIN),
    (
        r"\.golangci\.(?:ya?ml|toml|json)|clippy\.toml|rustfmt\.toml|\.credo\.exs|\.formatter\.exs",
        Kind.CONFIG,
    ),
    (
        r"\.?eslint(?:rc|\.config)[\w.]*|biome\.jsonc?|\.prettierrc[\w.]*|\.stylelintrc[\w.]*",
        Kind.CONFIG,
    ),
    (
        r"\.?ruff\.toml|\.flake8|\.pylintrc|setup\.cfg|\.rubocop\.yml|\.editorconfig|tsconfig\.json",
        Kind.CONFIG,
    ),
    (
        r"\.markdownlint[\w.-]*|\.shellcheckrc|\.hadolint\.ya?ml|\.yamllint[\w.]*|\.gitattributes",
        Kind.CONFIG,
    ),
    (
        r"(?:pnpm-lock\.yaml|package-lock\.json|yarn\.lock|bun\.lockb?|uv\.lock|poetry\.lock)",
        Kind.LOCK,
    ),
    (r"(?:Pipfile|Cargo|Gemfile|mix|flake|composer)\.lock|go\.sum", Kind.LOCK),
    (
        r"(?:CLAUDE|AGENTS|CONTRIBUTING|README|DEVELOPMENT|HACKING)\.md|\.github/[\w-]+\.md",
        Kind.DOC,
    ),
    (r"\.claude/CLAUDE\.md|\.claude/rules/[\w-]+\.md|docs/[\w./-]+\.md", Kind.DOC),
)
"""Which file, from the repository's root, does what. Nothing else is ever opened."""

LOCKS: Final = {
    "pnpm-lock.yaml": "pnpm", "package-lock.json": "npm", "yarn.lock": "yarn", "bun.lock": "bun",
    "bun.lockb": "bun", "uv.lock": "uv", "poetry.lock": "poetry", "Pipfile.lock": "pipenv",
    "Cargo.lock": "cargo", "Gemfile.lock": "bundle", "mix.lock": "mix", "flake.lock": "nix",
    "composer.lock": "composer", "go.sum": "go",
}  # fmt: skip
"""Who wrote a lock file."""

_BELOW: Final[tuple[tuple[str, Kind], ...]] = (
    (r"^\"(?:lint-staged|husky|simple-git-hooks)\": \{", Kind.HOOK),
    (r"^\"scripts\": \{ \"(?:(?:pre|post)\w+|prepare)\"\s*:", Kind.HOOK),
    (r"^\"?scripts\b|tasks|aliases", Kind.TASK),
    (r"^\[tool\.(?:ruff|black|isort|pylint|mypy|flake8)|^\"eslintConfig|^\[lints", Kind.CONFIG),
    (r"^\"(?:packageManager|engines|volta)|requires-python|^\[tools\]|^\[env\]", Kind.PIN),
)
"""What a line of a file with many purposes does, by itself and the lines it stands below."""

_AGENT, _HOOKS = ".claude/settings.json", '"hooks"'
_COMMENT: Final = re.compile(r"^\s*(?:#(?!!)|//|;|<!--|--\s|REM\b)")
_HIDDEN: Final = re.compile(r"<!--.*?-->", re.S)
_FENCE: Final = re.compile(r"^\s*(?:```|~~~)")
_ITEM: Final = re.compile(r"^\s*(?:[-*+]|\d+[.)])\s+")
_ONLY_CODE: Final = re.compile(r"`[^`]+`[.:;]?")
_SENTENCE: Final = re.compile(r"(?<=[.!?])[)\"'*]*\s+(?=[\"'(*_`]*[A-Z0-9`])|(?<=[。！？])")


def kind(path: str) -> Kind | None:
    """Return what the file at ``path``, from the repository's root, does; ``None`` for others."""
    return next((one for pattern, one in FILES if re.fullmatch(pattern, path)), None)


def units(path: str, text: str) -> Iterator[Unit]:
    """Yield what stands in a file; comments are left out."""
    does = kind(path)
    if does is Kind.DOC:
        yield from _sentences(path, _HIDDEN.sub(lambda hit: "\n" * hit[0].count("\n"), text))
    elif does is Kind.LOCK:
        yield Unit(Kind.LOCK, path, 1, "")
    elif does is not None:
        for number, above, line in _lines(text):
            if path != _AGENT or any(_HOOKS in one for one in above):
                whole = " ".join([*above, line])
                yield Unit(_does(does, whole), path, number, line, above)


def _does(does: Kind, whole: str) -> Kind:
    if does is not Kind.NEEDS:
        return does
    return next((one for rule, one in _BELOW if re.search(rule, whole)), does)


def _lines(text: str) -> Iterator[tuple[int, tuple[str, ...], str]]:
    stack: list[tuple[int, str]] = []
    for number, raw in enumerate(text.split("\n"), 1):
        line = raw.strip()
        if not line or _COMMENT.match(raw) or not re.search(r"\w", line):
            continue
        depth = 2 * (len(raw) - len(raw.lstrip())) + (line[:2] == "- ")
        if re.match(r"\[[\w\".-]+\]", line):  # a section of TOML holds lines as deep as itself
            depth = -1
        while stack and stack[-1][0] >= depth:
            stack.pop()
        yield number, tuple(above for _, above in stack), line
        stack.append((depth, line))


def _sentences(path: str, text: str) -> Iterator[Unit]:
    heading, fenced = "", False
    start, paragraph = 1, ""
    for number, line in enumerate([*text.split("\n"), ""], 1):
        is_heading = not fenced and line.lstrip().startswith("#")
        ends = fenced or is_heading or not line.strip() or _FENCE.match(line) or _ITEM.match(line)
        if ends and paragraph:
            yield from _cut(path, start, paragraph, heading)
            paragraph = ""
        if _FENCE.match(line):
            fenced = not fenced
        elif fenced and line.strip() and not _COMMENT.match(line):
            yield Unit(Kind.DOC, path, number, line.strip(), (heading,), code=True)
        elif is_heading:
            heading = line.strip("# ")
        elif line.strip() and not fenced:
            start = start if paragraph else number
            paragraph = f"{paragraph}\n{line}" if paragraph else line


def _cut(path: str, start: int, paragraph: str, heading: str) -> Iterator[Unit]:
    at = 0
    for end in [*(one.end() for one in _SENTENCE.finditer(paragraph)), len(paragraph)]:
        number = start + paragraph.count("\n", 0, at)
        if said := _ITEM.sub("", paragraph[at:end]).strip():
            yield Unit(Kind.DOC, path, number, said, (heading,), bool(_ONLY_CODE.fullmatch(said)))
        at = end
