"""A decision about all that are marked: every final line is shown, and their number is typed."""

from __future__ import annotations

from collections.abc import Sequence

from textual import events
from textual.app import ComposeResult
from textual.containers import VerticalScroll
from textual.content import Content
from textual.widgets import Static

from review_tui.screens.dialog import Dialog
from review_tui.widgets.words import CARE, NEW, block, lined, row, words


class Bulk(Dialog[bool]):
    """Answers yes when the number was typed and the action's key pressed once more."""

    def __init__(self, action: str, lines: Sequence[str], left_out: Sequence[str]) -> None:
        super().__init__()
        self._action, self._lines, self._left_out = action, lines, left_out
        self._typed = ""

    def compose(self) -> ComposeResult:
        """Show every line, and what is left out and why."""
        with VerticalScroll(classes="dialog wide-dialog full-dialog", can_focus=False):
            with VerticalScroll(id="lines"):
                yield Static(id="all")
            yield Static(id="typed")

    def on_mount(self) -> None:
        """Draw when the width is known."""
        self.frame(f"{self._action.title()} {len(self._lines)} at once", "Esc leave them undecided")
        self.query_one("#lines").focus()
        self._draw()

    def on_resize(self) -> None:
        """Wrap anew."""
        self._draw()

    def _draw(self) -> None:
        width = self.query_one("#lines").scrollable_content_region.width
        sign, style = ("+", NEW) if self._action == "accept" else ("", "")
        shown = [block(words(sign + line, style), width, "  ", "   ") for line in self._lines]
        shown += [block(words(f"! left out: {one}", CARE), width) for one in self._left_out]
        self.query_one("#all", Static).update(lined(shown))
        self.query_one("#typed", Static).update(self._ask())

    def _ask(self) -> Content:
        key = self.key_of(self._action)
        wanted = str(len(self._lines))
        if not self._lines:
            return words("Nothing is left: decide flagged ones one by one.", CARE)
        if self._typed == wanted:
            return row(f"{wanted} it is: ", (key, "bold $primary"), f"  {self._action} them")
        return row(f"Type {wanted} to go on: ", (self._typed or "_", "bold"))

    @property
    def _is_right(self) -> bool:
        return bool(self._lines) and self._typed == str(len(self._lines))

    def pressed(self, event: events.Key) -> None:
        """Take digits; the action's key counts only once the number is right."""
        if event.character and event.character.isdigit():
            event.stop()
            self._typed = (self._typed + event.character)[-4:]
        elif event.key == "backspace":
            event.stop()
            self._typed = self._typed[:-1]
        elif event.key == self.key_of(self._action) and self._is_right:
            self.heed(event, lambda: self.dismiss(True))
        self._draw()
