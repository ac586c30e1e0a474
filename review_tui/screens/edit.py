"""Words of one's own for a candidate, with the line they would make."""

from __future__ import annotations

from textual import events
from textual.app import ComposeResult
from textual.containers import Vertical, VerticalScroll
from textual.widgets import Label, Static, TextArea

from dreaming.jobs.review import Edited, Review
from dreaming.jobs.showing import Draft, Item
from review_tui.screens.dialog import Dialog
from review_tui.widgets.field import Field
from review_tui.widgets.words import CARE, HEADING, MUTED, NEW, lined, row, words

MOST = 400


class Preview(Vertical, can_focus=True):
    """Where the keys decide: one gets here out of the fields."""


class Edit(Dialog[Edited]):
    """Answers the words to accept."""

    def __init__(self, item: Item) -> None:
        super().__init__()
        self._item = item
        self._asking = self._stale = False

    def compose(self) -> ComposeResult:
        """Show the fields and the line."""
        with VerticalScroll(classes="dialog wide-dialog", can_focus=False):
            for name, text in (
                ("symptom", self._item.symptom),
                ("rule", self._item.rule),
                ("topic", self._item.topic),
            ):
                yield Label(id=f"{name}-label", markup=False)
                yield Field(text, id=name)
            with Preview(id="preview"):
                yield Static(id="line")

    def on_mount(self) -> None:
        """Begin in the rule: it is what people change."""
        self.frame(f"Edit {self._item.slug}", "")
        self.query_one("#rule", Field).focus()
        self._changed()

    @property
    def edited(self) -> Edited:
        """What the fields hold."""
        texts = [self.query_one(f"#{name}", Field).text.strip() for name in _NAMES]
        return Edited(*(" ".join(text.split()) for text in texts))

    def on_text_area_changed(self, event: TextArea.Changed) -> None:
        """Bring lengths and line up to date."""
        self._changed()

    def on_descendant_focus(self) -> None:
        """Say what the keys do here."""
        self._hint()

    def _changed(self) -> None:
        for name, text in zip(_NAMES[:2], (self.edited.symptom, self.edited.rule), strict=True):
            over = len(text) > MOST
            label = row(
                (name.title(), HEADING), (f"  {len(text)} of {MOST}", CARE if over else MUTED)
            )
            self.query_one(f"#{name}-label", Label).update(label)
        self.query_one("#topic-label", Label).update(words("Topic", HEADING))
        if self._asking:
            self._stale = True
        else:
            self._asking = True
            self.run_worker(self._draft(), group="job", exit_on_error=False)

    async def _draft(self) -> None:
        item, edited = self._item, self.edited

        def ask(review: Review) -> Draft:
            return review.draft(item, edited)

        draft = await self.review.do(ask)
        self._asking = False
        if self._stale:
            self._stale = False
            self._changed()
        self._show(draft)

    def _show(self, draft: Draft) -> None:
        head = row(("Would be written ", HEADING), (f"to {draft.place}", MUTED))
        text = lined([head, words(f"+{draft.line}", NEW)])
        if draft.problem:
            text = lined([words("Cannot be written as it is", CARE), words(draft.problem)])
        self.query_one("#line", Static).update(text)

    def _hint(self) -> None:
        accept, edit = self.key_of("accept"), self.key_of("edit")
        text = f"{accept} accept this   {edit} go on editing   Esc leave it undecided"
        if isinstance(self.focused, Field):
            text = "Tab next field   Esc done editing"
        self.tell_keys(text)

    def pressed(self, event: events.Key) -> None:
        """Decide only outside the fields."""
        if isinstance(self.focused, Field):
            return
        if event.key == self.key_of("accept"):
            self.heed(event, lambda: self.dismiss(self.edited))
        elif event.key == self.key_of("edit"):
            self.heed(event, self.query_one("#rule", Field).focus, decides=False)

    def leave(self) -> None:
        """Leave the field first, then the dialog."""
        if isinstance(self.focused, Field):
            self.query_one(Preview).focus()
        else:
            super().leave()


_NAMES = ("symptom", "rule", "topic")
