"""The help page: made of the table of actions, with a few sentences that no table has."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from importlib import resources

from textual.content import Content

from review_tui.actions import MOVES, Action
from review_tui.widgets.words import HEADING, block, row, words


def help_text(actions: Iterable[Action], width: int) -> Iterator[Content]:
    """Yield every key with its meaning, then what there is to know."""
    for one in actions:
        yield _key(one.key, one.meaning, width)
    yield words("")
    for keys, meaning in MOVES:
        yield _key(keys, meaning, width)
    for part in notes():
        yield words("")
        yield block(words(part), width)


def notes() -> list[str]:
    """Return the paragraphs of help.md."""
    text = resources.files("review_tui").joinpath("help.md").read_text("utf-8")
    return [" ".join(part.split()) for part in text.split("\n\n")]


def _key(keys: str, meaning: str, width: int) -> Content:
    return block(row((f"{keys:<11}", HEADING), meaning), width, "  ", " " * 13)
