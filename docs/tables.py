"""What cog puts into docs/*.md, taken from the program itself; `make docs` calls it."""

from __future__ import annotations

import ast
import inspect
from collections.abc import Iterator
from typing import Any

import click
from pydantic import BaseModel

from dreaming import config, errors
from dreaming.cli.main import COMMANDS, program

WIDTH = 80


# -- commands.md ----------------------------------------------------------------------------------


def commands() -> str:
    """Return the help of every command, as the program prints it."""
    return "\n".join(_command(path, one) for path, one in walk())


def walk() -> Iterator[tuple[str, click.Command]]:
    """Yield every command a person is shown, with the words that call it."""
    yield "dreaming", program
    context = click.Context(program, info_name="dreaming")
    for name in COMMANDS:
        command = program.get_command(context, name)
        if command is None:
            raise LookupError(name)
        yield f"dreaming {name}", command
        if isinstance(command, click.Group):
            for inner in command.list_commands(context):
                yield f"dreaming {name} {inner}", command.commands[inner]


def _command(path: str, command: click.Command) -> str:
    context = click.Context(command, info_name=path, terminal_width=WIDTH, max_content_width=WIDTH)
    level = "##" if path.count(" ") < 2 else "###"
    return f"{level} {path}\n\n```text\n{command.get_help(context)}\n```\n"


# -- settings.md ----------------------------------------------------------------------------------


def settings(model: type[BaseModel], prefix: str = "") -> str:
    """Return a table of a model's settings: name, default, and what its docstring says."""
    rows = "\n".join(
        f"| `{name}` | {default} | {text} |" for name, default, text in _rows(model, prefix)
    )
    return f"| setting | default | meaning |\n|---|---|---|\n{rows}\n"


def _rows(model: type[BaseModel], prefix: str) -> Iterator[tuple[str, str, str]]:
    said = _docstrings(model)
    for name, field in model.model_fields.items():
        if isinstance(field.default, BaseModel):
            yield from _rows(type(field.default), f"{prefix}{name}.")
        else:
            yield f"{prefix}{name}", _default(field.default), said[name]


def _docstrings(model: type[BaseModel]) -> dict[str, str]:
    """The string under each field, which Python itself does not keep."""
    (body,) = ast.parse(inspect.cleandoc("\n" + inspect.getsource(model))).body
    assert isinstance(body, ast.ClassDef)
    found: dict[str, str] = {}
    for field, below in zip(body.body, body.body[1:], strict=False):
        if isinstance(field, ast.AnnAssign) and isinstance(below, ast.Expr):
            assert isinstance(field.target, ast.Name)
            found[field.target.id] = " ".join(ast.literal_eval(below.value).split()).replace(
                "``", "`"
            )
    return found


def _default(value: Any) -> str:
    if value is None or value == () or value == {}:
        return ""
    return f'`"{value}"`' if isinstance(value, str) else f"`{value}`"


def person() -> str:
    """Return the table of what only a person may set."""
    return settings(config.PersonSettings)


def workspace() -> str:
    """Return the table of what a workspace may set."""
    return settings(config.WorkspaceSettings)


# -- exit-codes.md --------------------------------------------------------------------------------


def exit_codes() -> str:
    """Return the table of exit codes, from the errors that carry them."""
    rows = [(errors.OK, "Done, also when nothing was new.", "")]
    rows += [(one.EXIT_CODE, _sentence(one), f"`{one.__name__}`") for one in _families()]
    rows.append((errors.INTERRUPTED, "Ended by the person; nothing is half-written.", ""))
    lines = "\n".join(f"| {code} | {text} | {name} |" for code, text, name in sorted(rows))
    return f"| exit | what happened | class |\n|---|---|---|\n{lines}\n"


def _families() -> list[type[errors.DreamingError]]:
    return [
        one
        for one in vars(errors).values()
        if isinstance(one, type) and issubclass(one, errors.DreamingError)
    ]


def _sentence(error: type[errors.DreamingError]) -> str:
    return (error.__doc__ or "").strip().splitlines()[0]
