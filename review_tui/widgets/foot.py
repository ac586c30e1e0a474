"""The lines that are always there: what waits, what changed, what undo takes back, the keys."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Final

from textual.content import Content

from review_tui.actions import Action
from review_tui.widgets.words import CARE, MUTED, NEW, row, words

DROPPED: Final = ("mark", "filter", "diff", "evidence", "merge", "later", "edit", "undo")
"""What the line of keys gives up first where the window is narrow; the help has all."""


def keys(actions: Iterable[Action], width: int) -> Content:
    """Return as much of the table as fits into a line."""
    shown = list(actions)
    for name in ("", *DROPPED):
        shown = [one for one in shown if one.name != name]
        if sum(len(one.key) + len(one.word) + 3 for one in shown) <= width:
            break
    return Content("  ").join(
        row((one.key, "bold $primary"), (f" {one.word}", "")) for one in shown
    )


def changed(text: str, undo_key: str, undoable: str, width: int, *, failed: bool) -> Content:
    """Return what the last action changed and, always, what undo would take back."""
    undo = f"{undo_key} undoes: {undoable}" if undoable else "nothing to undo"
    room = width - len(text) - 3
    if room < len(undo) and undoable:
        undo = f"{undo_key} undo"
    left = _cut(text, width - len(undo) - 3)
    gap = max(1, width - len(left) - len(undo) - 2)
    return row((left, CARE if failed else NEW), " " * gap, (undo, MUTED))


def head(counts: Sequence[str], width: int) -> Content:
    """Return the line at the top: how much waits, and what is going on with it."""
    text = "  ".join(counts)
    return row(("dreaming review  ", "bold $primary"), words(_cut(text, width - 18), MUTED))


def _cut(text: str, width: int) -> str:
    return text if len(text) <= width else text[: max(0, width - 2)] + " …"
