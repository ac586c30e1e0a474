"""Where the window is too small to see what one decides, nothing is decided."""

from __future__ import annotations

from typing import Final

from textual import events
from textual.app import ComposeResult
from textual.geometry import Size
from textual.screen import ModalScreen
from textual.widgets import Static

from review_tui.widgets.words import words

LEAST: Final = Size(40, 10)


class TooSmall(ModalScreen[None]):
    """Covers everything until the window is large enough."""

    def compose(self) -> ComposeResult:
        """Say what is needed."""
        yield Static(id="too-small")

    def on_resize(self, event: events.Resize) -> None:
        """Say how large it is now."""
        said = (
            f"The window is too small: {event.size.width} x {event.size.height}.\n"
            f"{LEAST.width} x {LEAST.height} is needed. Nothing is decided here."
        )
        self.query_one("#too-small", Static).update(words(said))

    def on_key(self, event: events.Key) -> None:
        """Take every key but the one that leaves."""
        event.stop()
        if event.key in ("q", "ctrl+c"):
            self.app.exit()
