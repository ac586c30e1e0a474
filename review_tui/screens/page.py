"""A page to read: evidence, comparison, help. Any of its ways out leads back to the queue."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from typing import Final

from textual import events
from textual.app import ComposeResult
from textual.containers import Vertical, VerticalScroll
from textual.content import Content
from textual.widgets import Static

from review_tui.screens.dialog import Dialog
from review_tui.widgets.words import lined

SCROLLS: Final = {
    "j": "scroll_down",
    "down": "scroll_down",
    "k": "scroll_up",
    "up": "scroll_up",
    "g": "scroll_home",
    "home": "scroll_home",
    "G": "scroll_end",
    "end": "scroll_end",
    "pagedown": "scroll_page_down",
    "space": "scroll_page_down",
    "pageup": "scroll_page_up",
}


class Page(Dialog[None]):
    """Shows what ``drawn`` makes for a width."""

    def __init__(
        self, heading: str, action: str, drawn: Callable[[int], Iterable[Content]]
    ) -> None:
        super().__init__()
        self._heading, self._action, self._drawn = heading, action, drawn

    def compose(self) -> ComposeResult:
        """Show heading and text."""
        with Vertical(classes="dialog wide-dialog full-dialog"), VerticalScroll(id="page"):
            yield Static(id="text")

    def on_mount(self) -> None:
        """Take the keys that scroll."""
        self.query_one("#page").focus()
        self.frame(self._heading, "j k scroll   Esc back")

    def on_resize(self) -> None:
        """Wrap anew."""
        self.call_after_refresh(self._draw)

    def _draw(self) -> None:
        width = self.query_one("#page").scrollable_content_region.width
        self.query_one("#text", Static).update(lined(self._drawn(width)))

    def pressed(self, event: events.Key) -> None:
        """Scroll, or go back by the key that led here."""
        event.stop()
        if event.key in SCROLLS:
            getattr(self.query_one("#page"), SCROLLS[event.key])(animate=False)
        elif event.key in (self.key_of("quit"), self.key_of(self._action)):
            self.dismiss(None)
