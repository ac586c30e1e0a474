"""What dialogs share: Escape leaves them, and keys that decide are guarded as on the queue."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, TypeVar, cast

from textual import events
from textual.screen import ModalScreen

from review_tui.widgets.words import words

if TYPE_CHECKING:
    from review_tui.app import ReviewApp

Answer = TypeVar("Answer")


class Dialog(ModalScreen[Answer | None]):
    """A dialog that answers a typed value, or nothing where a person left it."""

    AUTO_FOCUS = ""

    @property
    def review(self) -> ReviewApp:
        """The app, as what it is."""
        return cast("ReviewApp", self.app)

    def key_of(self, name: str) -> str:
        """Return the key that asks for an action."""
        return self.review.key_of(name)

    def heed(self, event: events.Key, act: Callable[[], object], *, decides: bool = True) -> None:
        """Act on a key unless it was pasted or is held down."""
        event.stop()
        event.prevent_default()
        self.review.heed(event, act, decides=decides)

    def on_key(self, event: events.Key) -> None:
        """Leave on Escape; other keys are the dialog's."""
        if event.key == "escape":
            event.stop()
            self.leave()
        else:
            self.pressed(event)

    def frame(self, title: str, keys: str) -> None:
        """Put a title and what the keys do here on the frame, where neither scrolls away."""
        frame = self.query_one(".dialog")
        frame.border_title = words(f" {title} ", "bold")
        self.tell_keys(keys)

    def tell_keys(self, keys: str) -> None:
        """Say what the keys do here now."""
        self.query_one(".dialog").border_subtitle = words(f" {keys} ")

    def leave(self) -> None:
        """Close without an answer."""
        self.dismiss(None)

    def pressed(self, event: events.Key) -> None:
        """Do what a key means here."""

    def on_paste(self, event: events.Paste) -> None:
        """Pasted text outside a field does nothing."""
        event.stop()
        self.review.pasted()
