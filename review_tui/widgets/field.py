"""A field a person writes in: one paragraph, wrapped; what is pasted arrives inert."""

from __future__ import annotations

from typing import ClassVar

from textual import events
from textual.binding import BindingType
from textual.widgets import Input, TextArea

from dreaming.jobs.showing import one_line


class Field(TextArea):
    """Enter goes on to the next field; it decides nothing."""

    BINDINGS: ClassVar[list[BindingType]] = []

    def __init__(self, text: str, id: str) -> None:
        super().__init__(
            text, id=id, soft_wrap=True, show_line_numbers=False, tab_behavior="focus", compact=True
        )
        self.highlight_cursor_line = False

    def on_mount(self) -> None:
        """Begin where people go on writing."""
        self.move_cursor(self.document.end)

    async def _on_key(self, event: events.Key) -> None:
        if event.key == "enter":
            event.stop()
            event.prevent_default()
            self.screen.focus_next()
            return
        await super()._on_key(event)

    async def _on_paste(self, event: events.Paste) -> None:
        """Take pasted text as one inert line: Textual would show its control bytes raw."""
        event.stop()
        event.prevent_default()
        self.insert(one_line(event.text))


class Line(Input):
    """A line a person writes in; what is pasted arrives inert."""

    def _on_paste(self, event: events.Paste) -> None:
        event.stop()
        event.prevent_default()
        self.insert_text_at_cursor(one_line(event.text))
