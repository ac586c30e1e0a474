"""The documents say what the program does: every command, setting, exit code, file and link."""

from __future__ import annotations

import ast
import re
import subprocess
import sys
from collections import Counter
from collections.abc import Iterator
from pathlib import Path
from typing import Final

import click
import pytest
from pydantic import BaseModel

from dreaming import config, errors
from dreaming.cli.main import COMMANDS, HIDDEN, program
from dreaming.models.candidate import Flag
from dreaming.models.report import Verdict

ROOT: Final = Path(__file__).parents[2]
DOCUMENTS: Final = sorted(
    one for pattern in ("*.md", "docs/**/*.md", "benchmarks/**/*.md") for one in ROOT.glob(pattern)
)


def text(name: str) -> str:
    """A document."""
    return (ROOT / name).read_text(encoding="utf-8")


def named(path: Path) -> str:
    """A document's name in a test's id."""
    return str(path.relative_to(ROOT))


# -- generated parts ------------------------------------------------------------------------------


def test_generated_parts_are_fresh() -> None:
    """Running cog again would change nothing; `make docs` mends it."""
    cog = Path(sys.executable).with_name("cog")
    files = [str(one) for one in sorted((ROOT / "docs").glob("*.md"))]
    done = subprocess.run(
        [str(cog), "--check", "-I", "docs", *files],
        cwd=ROOT,
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 0, done.stdout + done.stderr


# -- commands, settings, exit codes ---------------------------------------------------------------


def commands() -> dict[str, click.Command]:
    """Every command a person is shown, by the words that call it."""
    found: dict[str, click.Command] = {}
    context = click.Context(program)
    for name in COMMANDS:
        command = program.get_command(context, name)
        assert command is not None
        found[name] = command
        if isinstance(command, click.Group):
            found |= {f"{name} {inner}": one for inner, one in command.commands.items()}
    return found


@pytest.mark.parametrize("name", sorted(commands()))
def test_every_command_is_documented(name: str) -> None:
    """Each command has help that says something, and stands in docs/commands.md."""
    command = commands()[name]
    assert command.help and len(command.help.split()) > 3
    assert f" dreaming {name}\n" in text("docs/commands.md")


@pytest.mark.parametrize("name", sorted(commands()))
def test_every_option_has_help(name: str) -> None:
    """No option is left to guessing."""
    options = [one for one in commands()[name].params if isinstance(one, click.Option)]
    assert [one.name for one in options if not one.help] == []


def test_hidden_commands_stay_hidden() -> None:
    """What `make` calls is no part of the help, and works all the same."""
    context = click.Context(program)
    for name in HIDDEN:
        command = program.get_command(context, name)
        assert command is not None and command.hidden
        assert name not in text("docs/commands.md")


def settings(model: type[BaseModel], prefix: str = "") -> Iterator[str]:
    """Every setting's name, tables with a dot."""
    for name, field in model.model_fields.items():
        if isinstance(field.default, BaseModel):
            yield from settings(type(field.default), f"{prefix}{name}.")
        else:
            yield prefix + name


SETTINGS: Final = Counter([*settings(config.PersonSettings), *settings(config.WorkspaceSettings)])


@pytest.mark.parametrize("name", SETTINGS)
def test_every_setting_is_documented(name: str) -> None:
    """Each setting stands in docs/settings.md with its meaning, once in each file it may be in."""
    rows = re.findall(rf"^\| `{re.escape(name)}` \|.*\| (.+) \|$", text("docs/settings.md"), re.M)
    assert len(rows) == SETTINGS[name] and all(len(row.split()) > 2 for row in rows)


def test_the_template_names_only_settings_there_are() -> None:
    """A new workspace's file teaches keys that work."""
    template = text("dreaming/resources/workspace/dreaming.toml")
    known = {one.rpartition(".")[2] for one in settings(config.WorkspaceSettings)}
    assert set(re.findall(r"^# (\w+) = ", template, re.M)) <= known


def test_every_exit_code_is_documented() -> None:
    """Each number a command can end with stands in docs/exit-codes.md."""
    families: list[type[errors.DreamingError]] = [errors.DreamingError]
    families += errors.DreamingError.__subclasses__()
    codes = {errors.OK, errors.INTERRUPTED, *(one.EXIT_CODE for one in families)}
    said = {int(one) for one in re.findall(r"^\| (\d+) \|", text("docs/exit-codes.md"), re.M)}
    assert codes == said


@pytest.mark.parametrize("word", [*Verdict, *Flag])
def test_every_word_on_a_screen_is_in_the_glossary(word: str) -> None:
    """What becomes of a transcript, and why to look twice, is explained."""
    assert re.search(rf"^\| {word} \||`{word}`", text("docs/glossary.md"), re.M)


def test_every_backend_is_documented() -> None:
    """Each name a person may give stands in docs/backends.md."""
    assert [one for one in config.BACKENDS if f"| `{one}` |" not in text("docs/backends.md")] == []


# -- what documents show --------------------------------------------------------------------------


def blocks(path: Path, *languages: str) -> Iterator[str]:
    """The fenced blocks of a document in these languages."""
    pattern = re.compile(r"^```(\w+)\n(.*?)^```", re.M | re.S)
    for language, block in pattern.findall(path.read_text(encoding="utf-8")):
        if language in languages:
            yield block


def shown(path: Path) -> Iterator[tuple[str, list[str]]]:
    """Every call of the program in a document: what is called, and its words."""
    everything = path.read_text(encoding="utf-8")
    spans = re.findall(r"`([^`\n]+)`", everything)
    lines = [line for block in blocks(path, "sh", "text") for line in block.splitlines()]
    for line in [*spans, *lines]:
        call = re.search(r"(?:^|[\s/])(dreaming|make) ((?:[\w-]+ ?)+.*)$", line.partition("#")[0])
        if call and not line.startswith("import "):
            yield call[1], call[2].split()


HAND_WRITTEN: Final = [one for one in DOCUMENTS if one.name != "commands.md"]


@pytest.mark.parametrize("path", HAND_WRITTEN, ids=named)
def test_commands_that_are_shown_exist(path: Path) -> None:
    """A command, an option or a target that a document shows is there."""
    there = commands()
    targets = set(re.findall(r"^([a-z-]+):", text("Makefile"), re.M))
    for called, words in shown(path):
        if called == "make":
            assert words[0] in targets or "=" in words[0], f"make {' '.join(words)}"
            continue
        name = " ".join(words[:2]) if " ".join(words[:2]) in there else words[0]
        if name.startswith("-"):
            continue
        assert name in there, f"dreaming {' '.join(words)}"
        options = {option for one in there[name].params for option in one.opts} | {"--help"}
        used = {word.partition("=")[0] for word in words if word.startswith("--")}
        assert used <= options, f"dreaming {' '.join(words)}"


@pytest.mark.parametrize("path", DOCUMENTS, ids=named)
def test_links_lead_somewhere(path: Path) -> None:
    """A link inside the repository names a file or folder that is there."""
    links = re.findall(r"\]\(([^)#\s]+)[^)]*\)", path.read_text(encoding="utf-8"))
    inside = [one for one in links if not re.match(r"[a-z]+:", one)]
    assert [one for one in inside if not (path.parent / one).exists()] == []


@pytest.mark.parametrize("path", DOCUMENTS, ids=named)
def test_examples_of_settings_are_accepted(path: Path, tmp_path: Path) -> None:
    """A TOML block in a document is a file that works, for a person or for a workspace."""
    for block in blocks(path, "toml"):
        file = tmp_path / "shown.toml"
        file.write_text(block, encoding="utf-8")
        try:
            config.read_workspace(file)
        except errors.Unusable:
            config.read_person(file)


@pytest.mark.parametrize("name", ["ARCHITECTURE.md", "CONTRIBUTING.md", "README.md"])
def test_files_that_are_named_exist(name: str) -> None:
    """A path in code letters is there; a test that an invariant names is there by that name."""
    top = {"dreaming", "tests", "docs", "benchmarks", ".ci", "Makefile", "pyproject.toml"}
    for span in re.findall(r"`([\w./*-]+(?:::\w+)?)`", text(name)):
        file, _, test = span.partition("::")
        if file.split("/")[0] not in top or "<" in file:
            continue
        assert list(ROOT.glob(file)), span
        if test:
            names = [one.name for one in ast.walk(_tree(file)) if isinstance(one, ast.FunctionDef)]
            assert test in names, span


def _tree(name: str) -> ast.Module:
    return ast.parse(text(name))


def test_every_invariant_names_what_pins_it() -> None:
    """An invariant without a test is a wish."""
    said = re.findall(r"^\*\*Invariant:\*\*.*$", text("ARCHITECTURE.md"), re.M)
    assert len(said) >= 15
    assert [one for one in said if "`tests/" not in one] == []


def test_the_package_is_mapped() -> None:
    """Each folder and module at the top of the package stands in the architecture's map."""
    described = text("ARCHITECTURE.md")
    parts = {one.stem for one in (ROOT / "dreaming").iterdir() if not one.name.startswith("_")}
    assert [one for one in sorted(parts - {"py"}) if one not in described] == []


@pytest.mark.parametrize("path", [one for one in DOCUMENTS if "adr" in one.parts], ids=named)
def test_a_decision_says_why_and_what_follows(path: Path) -> None:
    """An architecture decision has its context, the decision and its consequences, numbered."""
    lines = path.read_text(encoding="utf-8").splitlines()
    assert lines[0].startswith(f"# {int(path.name[:4])}. ")
    assert [one for one in lines if one.startswith("## ")] == [
        "## Context",
        "## Decision",
        "## Consequences",
    ]


def test_every_dependency_has_its_reason() -> None:
    """Each runtime dependency stands in the page about them."""
    declared = re.findall(
        r'^  "([\w-]+)[><=]', text("pyproject.toml").partition("[project.s")[0], re.M
    )
    page = text("docs/adr/0004-dependencies.md")
    assert declared and [one for one in declared if f"| `{one}` |" not in page] == []


def test_readme_stays_readable() -> None:
    """The first page is one page and a bit."""
    assert 60 <= len(text("README.md").splitlines()) <= 125
