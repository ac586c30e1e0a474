"""The one place that writes: data to stdout, narration to stderr, bars only on a terminal."""

from __future__ import annotations

import json
import sys
import time
import unicodedata
from typing import TYPE_CHECKING, Any, Final

import click
import msgspec

from dreaming.jobs.progress import Progress

if TYPE_CHECKING:
    from dreaming.models.report import Report

SOON: Final = 5.0
"""Seconds before which nobody is told how long the rest takes."""


def data(text: str = "", *, dim: bool = False, red: bool = False) -> None:
    """Print a result; what matters less is dim on a terminal, what is in trouble red."""
    shown = visible(text)
    click.echo(click.style(shown, dim=dim, fg="red" if red else None) if dim or red else shown)


def document(value: Any) -> None:
    """Print one JSON document, indented for people, its keys in a fixed order."""
    click.echo(json.dumps(msgspec.to_builtins(value), ensure_ascii=True, indent=2))


def say(text: str, *, quiet: bool = False) -> None:
    """Tell what is going on."""
    if not quiet:
        click.echo(visible(text), err=True)


def line(text: str, most: int = 1000) -> str:
    """Return what somebody else wrote so that it stays on one line and does not fill the screen."""
    folded = " ".join(text.split())
    if len(folded) <= most:
        return folded
    return f"{folded[:most]} [+{len(folded) - most} characters]"


def ask(prompt: str) -> str:
    """Show a prompt and return the line that a person typed.

    Raises ``EOFError`` where there are no more.
    """
    click.echo(visible(prompt), nl=False)
    typed = sys.stdin.readline()
    if not typed:
        raise EOFError
    return typed


def visible(text: str) -> str:
    """Return ``text`` so that nothing in it can steer the terminal; newlines and tabs stay."""
    if text.isascii() and text.replace("\n", "").replace("\t", "").isprintable():
        return text
    return "".join(_visible(char) for char in text)


def _visible(char: str) -> str:
    if char in "\n\t" or unicodedata.category(char) not in {"Cc", "Cf", "Cs", "Co", "Zl", "Zp"}:
        return char
    return f"<U+{ord(char):04X}>"


def size(number: float) -> str:
    """Return a number of bytes as people read it."""
    for unit in ("B", "KB", "MB"):
        if number < 1000:
            return f"{number:.0f} {unit}" if unit == "B" else f"{number:.1f} {unit}"
        number /= 1000
    return f"{number:.1f} GB"


def count(number: int, noun: str, plural: str = "") -> str:
    """Return a number with its noun: ``1 session``, ``3 sessions``."""
    return f"{number} {noun if number == 1 else plural or noun + 's'}"


def spending(report: Report) -> str:
    """Return what a run used, and what that was thought to be before."""
    spent, before = report.spent, report.estimated
    return (
        f"{count(spent.requests, 'request')}, {spent.input_tokens} tokens in, "
        f"{spent.output_tokens} out, ${spent.cost:.4f} "
        f"(about {before.tokens} tokens, ${before.cost:.4f} expected)"
    )


def span(seconds: float) -> str:
    """Return how long something takes as people say it: ``40 s``, ``12 min``, ``3.5 h``."""
    if seconds < 90:
        return f"{seconds:.0f} s"
    return f"{seconds / 60:.0f} min" if seconds < 5400 else f"{seconds / 3600:.1f} h"


def progress(quiet: bool) -> Progress:
    """Return a bar on a terminal, one line a batch elsewhere, nothing when quiet."""
    if quiet:
        return Progress()
    return _Bar() if sys.stderr.isatty() else _Lines()


class _Told(Progress):
    """Knows how far a stage is, and so how long the rest of it takes."""

    def __init__(self) -> None:
        self._stage, self._total, self._done, self._began = "", 0, 0, 0.0

    def begin(self, stage: str, total: int) -> None:
        self._stage, self._total, self._done, self._began = stage, total, 0, time.monotonic()

    def step(self, amount: int) -> None:
        self._done += amount

    def _left(self) -> str:
        """Nothing before there is something to judge by."""
        spent = time.monotonic() - self._began
        if spent < SOON or not 0 < self._done < self._total:
            return ""
        return f", {span(spent * (self._total - self._done) / self._done)} left"


class _Lines(_Told):
    def note(self, line: str) -> None:
        say(f"{line}{self._left()}")


class _Bar(_Told):
    """One line that grows, with what is done of what there is."""

    def begin(self, stage: str, total: int) -> None:
        super().begin(stage, total)
        self._draw()

    def step(self, amount: int) -> None:
        super().step(amount)
        self._draw()

    def _draw(self) -> None:
        share = min(1.0, self._done / self._total) if self._total else 1.0
        filled = int(share * 30)
        line = f"{self._stage:<10} [{'#' * filled}{'.' * (30 - filled)}] {share:4.0%}"
        if self._total:
            line += f" of {size(self._total)}{self._left()}"
        click.echo(f"\r{line}\x1b[K", err=True, nl=share >= 1.0)
