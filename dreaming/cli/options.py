"""Options that mean the same in every command."""

from __future__ import annotations

import re
from collections.abc import Callable
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import click

from dreaming.errors import WrongUse

Function = Callable[..., Any]


class _Workspace(click.ParamType[Path | None]):
    """A folder, ``~`` being the home. Nothing but blanks names none."""

    name = "path"

    def convert(self, value: Any, param: Any, ctx: Any) -> Path | None:
        if isinstance(value, Path):
            return value
        try:
            named = Path(value).expanduser() if str(value).strip() else None
            if named is not None:
                named.exists()
        except RuntimeError:
            self.fail(f"{value!r}: nobody knows that home.")
        except OSError as wrong:
            self.fail(f"{str(value)[:80]!r}: {wrong.strerror}.")
        return named


workspace = click.option(
    "--workspace",
    type=_Workspace(),
    envvar="DREAMING_WORKSPACE",
    help="The workspace. Else: the nearest parent with dreaming.toml, else ~/.dreaming.",
)
as_json = click.option("--json", "as_json", is_flag=True, help="Print one JSON document.")
quiet = click.option("--quiet", "-q", is_flag=True, help="Say nothing but results and errors.")
dry_run = click.option("--dry-run", is_flag=True, help="Show what would be done; change nothing.")
person = click.option(
    "--i-am-a-person", is_flag=True, help="Decide although this runs inside a coding agent."
)


class _Folder(click.ParamType[tuple[str, Path]]):
    """``agent=DIR``."""

    name = "AGENT=DIR"

    def convert(self, value: Any, param: Any, ctx: Any) -> tuple[str, Path]:
        if isinstance(value, tuple):
            return value[0], value[1]
        agent, mark, folder = str(value).partition("=")
        if not mark or not folder:
            self.fail(f"{value!r}: write it as agent=DIR, such as codex=~/.codex/sessions.")
        try:
            return agent, Path(folder).expanduser().absolute()
        except RuntimeError:
            self.fail(f"{folder!r}: nobody knows that home.")


class _Since(click.ParamType[float]):
    """``all``, a number of days, or a day."""

    name = "all|14d|2026-11-30"

    def convert(self, value: Any, param: Any, ctx: Any) -> float:
        if isinstance(value, float):
            return value
        text = str(value).strip().lower()
        if text == "all":
            return 0.0
        days = re.fullmatch(r"(\d{1,5})d", text)
        now = datetime.now(UTC).timestamp()
        if days:
            return now - int(days[1]) * 24 * 3600
        try:
            return datetime.fromisoformat(text).replace(tzinfo=UTC).timestamp()
        except ValueError:
            self.fail(f"{value!r}: write all, a number of days (14d), or a day (2026-11-30).")


class _Duration(click.ParamType[float]):
    """Seconds, written as ``90s``, ``5m``, ``20h`` or ``3d``."""

    name = "20h|90m"

    def convert(self, value: Any, param: Any, ctx: Any) -> float:
        if isinstance(value, float):
            return value
        written = re.fullmatch(r"(\d{1,6})\s*([smhd])", str(value).strip().lower())
        if written is None:
            self.fail(f"{value!r}: write a number with s, m, h or d, such as 20h.")
        return int(written[1]) * {"s": 1.0, "m": 60.0, "h": 3600.0, "d": 86400.0}[written[2]]


duration: click.ParamType[float] = _Duration()
"""Seconds, written with a unit."""
transcripts = click.option(
    "--transcripts",
    multiple=True,
    type=_Folder(),
    help="Read this folder instead of the agents' own places. May be repeated.",
)
since = click.option(
    "--since", type=_Since(), help="How far back to read what nobody has read yet."
)


def check_limits(**said: float | None) -> None:
    """Refuse what would be no limit at all, such as ``nan``. Raises ``WrongUse``."""
    from dreaming.config import MOST

    for name, one in said.items():
        if one is not None and not one <= MOST:
            raise WrongUse(f"--{name}: {one} is no limit.", remedy=f"Name one up to {MOST:,}.")


money = click.option(
    "--money", type=click.FloatRange(min=0, min_open=True), help="Stop after so many $."
)
backend = click.option(
    "--backend",
    help="What answers: offline (the default), anthropic, claude-code, codex, openai, command.",
)
