"""What a candidate is the same as: one of its neighbours, or another that waits."""

from __future__ import annotations

from collections.abc import Sequence

import msgspec
from textual import events
from textual.app import ComposeResult
from textual.containers import VerticalScroll
from textual.widgets import OptionList, Static
from textual.widgets.option_list import Option

from dreaming.jobs.showing import Item, Near, essence, word_diff
from review_tui.screens.dialog import Dialog
from review_tui.widgets.words import HEADING, MUTED, diffed, lined, row, words


class Target(msgspec.Struct, frozen=True):
    """Something to merge into."""

    id: str
    label: str
    text: str


def targets(item: Item, near: Sequence[Near], others: Sequence[Item]) -> list[Target]:
    """Return the neighbours that have a name, then what else waits, best first."""
    known = [Target(one.target, one.place, essence(one.text)) for one in near if one.target]
    waits = [
        Target(one.id, f"waiting: {one.slug}", one.rule) for one in others if one.id != item.id
    ]
    return known + waits


class Merge(Dialog[str]):
    """Answers the id of a lesson or of another candidate."""

    def __init__(self, item: Item, found: Sequence[Target]) -> None:
        super().__init__()
        self._item, self._targets = item, found

    def compose(self) -> ComposeResult:
        """Show what there is to merge into, and how it differs."""
        with VerticalScroll(classes="dialog wide-dialog", can_focus=False):
            yield OptionList(
                *(Option(row((f"{one.label}  ", ""), (one.text, MUTED))) for one in self._targets),
                markup=False,
                id="targets",
            )
            yield Static(id="ways")

    def on_mount(self) -> None:
        """Stand on the closest."""
        key = self.key_of("merge")
        self.frame(f"{self._item.slug} is the same as …", f"{key} merge   Esc leave it undecided")
        self.query_one(OptionList).focus()
        self.query_one(OptionList).highlighted = 0

    def on_option_list_option_highlighted(self, event: OptionList.OptionHighlighted) -> None:
        """Show both and what remains."""
        chosen = self._targets[event.option_index]
        ways = lined(
            [
                words("This one", HEADING),
                words(self._item.rule),
                words("What remains", HEADING),
                words(chosen.text),
                words("Differs by  [-only there-] {+only here+}", HEADING),
                diffed(word_diff(chosen.text, self._item.rule)),
            ]
        )
        self.query_one("#ways", Static).update(ways)

    def pressed(self, event: events.Key) -> None:
        """Merge into what is highlighted; Enter does nothing."""
        options = self.query_one(OptionList)
        if event.key == self.key_of("merge") and options.highlighted is not None:
            chosen = self._targets[options.highlighted]
            self.heed(event, lambda: self.dismiss(chosen.id))
        elif event.key in ("j", "k"):
            event.stop()
            (options.action_cursor_down if event.key == "j" else options.action_cursor_up)()
