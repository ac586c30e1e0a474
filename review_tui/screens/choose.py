"""One question with a few answers, each a key; with room for words of one's own."""

from __future__ import annotations

from collections.abc import Sequence
from functools import partial

from textual import events
from textual.app import ComposeResult
from textual.containers import VerticalScroll
from textual.widgets import Static

from review_tui.choices import Choice
from review_tui.screens.dialog import Dialog
from review_tui.widgets.field import Field
from review_tui.widgets.words import HEADING, MUTED, lined, row, words

OWN = "o"
LEAVE = "Esc leave it undecided"


class Choose(Dialog[str]):
    """Answers the value of a choice, or a person's own words."""

    def __init__(
        self, question: str, about: str, choices: Sequence[Choice], *, own: str = ""
    ) -> None:
        super().__init__()
        self._question, self._about = question, about
        self._choices, self._own = choices, own

    def compose(self) -> ComposeResult:
        """Show question and answers."""
        answers = [row((one.key, HEADING), f"  {one.label}") for one in self._choices]
        if self._own:
            answers.append(row((OWN, HEADING), f"  {self._own}"))
        with VerticalScroll(classes="dialog", can_focus=False):
            yield Static(words(self._about, MUTED), classes="about")
            yield Static(lined(answers), id="answers")
            if self._own:
                field = Field("", id="own")
                field.display = False
                yield field

    def on_mount(self) -> None:
        """Say what is asked."""
        self.frame(self._question, LEAVE)

    def pressed(self, event: events.Key) -> None:
        """Answer by key; words of one's own need the action's key once more."""
        for one in self._choices:
            if event.character == one.key and not self._writing:
                self.heed(event, partial(self._answer, one.value))
                return
        if self._own and event.character == OWN and not self._writing:
            self.heed(event, self._write, decides=False)
        elif self._written and event.character == self.key_of("reject"):
            self.heed(event, lambda: self._answer(self._written))

    @property
    def _writing(self) -> bool:
        return isinstance(self.focused, Field)

    @property
    def _written(self) -> str:
        return self.query_one(Field).text.strip() if self._own else ""

    def _write(self) -> None:
        field = self.query_one(Field)
        field.display = True
        field.focus()
        self.tell_keys("Esc done writing")

    def leave(self) -> None:
        """Leave the field first, then the dialog."""
        if self._writing:
            self.set_focus(None)
            self.tell_keys(f"{self.key_of('reject')} reject for this reason   {LEAVE}")
        else:
            super().leave()

    def on_descendant_blur(self) -> None:
        """Say what to do with the words that were written."""
        if self._written:
            self.tell_keys(f"{self.key_of('reject')} reject for this reason   {LEAVE}")

    def _answer(self, value: str) -> None:
        self.dismiss(value)
