"""The door: every command explains itself, and what makes no sense is told so."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import click
import pytest

from dreaming.cli.main import program, run
from tests.acceptance.installed import Dreaming


def commands() -> Iterator[tuple[str, ...]]:
    """Every command and every command of a group, by its words."""
    context = click.Context(program)
    for name in program.list_commands(context):
        found = program.get_command(context, name)
        assert found is not None
        yield (name,)
        if isinstance(found, click.Group):
            yield from ((name, inner) for inner in found.commands)


@pytest.mark.parametrize("words", list(commands()), ids=" ".join)
def test_every_command_explains_itself(
    words: tuple[str, ...], capsys: pytest.CaptureFixture[str]
) -> None:
    """``--help`` and ``-h`` of each end with 0 and say what it does, on stdout."""
    assert run([*words, "--help"]) == 0
    told = capsys.readouterr()
    assert f"Usage: dreaming {' '.join(words)}" in told.out and told.err == ""
    assert len(told.out.splitlines()) >= 4
    assert run([*words, "-h"]) == 0
    assert capsys.readouterr().out == told.out


@pytest.mark.parametrize(
    "words",
    [
        ("nihgtly",),
        ("nightly", "--no-such-option"),
        ("nightly", "--settle", "soon"),
        ("nightly", "--settle", "-1"),
        ("nightly", "--since", "yesterday"),
        ("nightly", "--transcripts", "codex"),
        ("nightly", "extra"),
        ("pending", "lsit"),
        ("accept",),
        ("reject", "0123"),
        ("reveal",),
        ("inspect", "--render"),
        ("inspect", "--file", "no-such-file", "--render"),
    ],
    ids=" ".join,
)
def test_nonsense_is_told_so(
    words: tuple[str, ...], home: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """A wrong command, option or value ends with 2 and one sentence on stderr."""
    assert run(["init", str(home / ".dreaming")]) == 0
    capsys.readouterr()
    assert run(list(words)) == 2
    told = capsys.readouterr()
    assert told.out == "" and told.err.strip()


def test_a_typing_error_gets_a_hint(capsys: pytest.CaptureFixture[str]) -> None:
    """A command that is nearly one is guessed."""
    assert run(["nihgtly"]) == 2
    assert "Did you mean `nightly`?" in capsys.readouterr().err


@pytest.mark.parametrize(
    "words",
    [
        ("accept", "0123456789abcdef"),
        ("reject", "0123456789abcdef", "--why", "x"),
        ("pending", "show", "0123456789abcdef"),
        ("reveal", "0123456789abcdef"),
        ("nightly", "--transcripts", "nobody=."),
        ("nightly", "--backend", "nothing"),
    ],
    ids=" ".join,
)
def test_what_is_not_there_is_told_so(
    words: tuple[str, ...], home: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """A candidate, an agent or a backend that nobody knows ends with 2 and names it."""
    assert run(["init", str(home / ".dreaming")]) == 0
    capsys.readouterr()
    assert run(list(words)) == 2
    assert words[-1].split("=")[0] in capsys.readouterr().err or words[0] == "reject"


@pytest.mark.parametrize("words", [("nightly",), ("status",), ("pending", "list"), ("accept", "0")])
def test_no_workspace_is_told_so(
    words: tuple[str, ...], home: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """Before ``dreaming init`` each command ends with 78 and says how to make a workspace."""
    assert run(list(words)) == 78
    assert "dreaming init" in capsys.readouterr().err
    assert list(home.iterdir()) == []


def test_installed_command_answers(home: Path) -> None:
    """``python -m dreaming`` is the same door: version, help, and a wrong word."""
    dreaming = Dreaming(home)
    assert dreaming.run("--version").out.startswith("dreaming, version ")
    assert "nightly" in dreaming.run("--help").out
    assert dreaming.run("nihgtly").code == 2
    assert list(home.iterdir()) == []
