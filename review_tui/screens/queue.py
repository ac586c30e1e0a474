"""The queue with the candidate one stands on: where the review begins and ends."""

from __future__ import annotations

from functools import partial
from typing import TYPE_CHECKING, Final

import msgspec
from textual import events
from textual.app import ComposeResult
from textual.containers import Container
from textual.timer import Timer
from textual.widgets import Input, Static

from dreaming.jobs.review import Close, Review
from dreaming.jobs.showing import Detail, Item, Overview, one_line
from review_tui import messages
from review_tui.screens.deciding import DecidingScreen
from review_tui.screens.help import help_text
from review_tui.screens.page import SCROLLS, Page
from review_tui.widgets import foot
from review_tui.widgets.detail import DetailPane
from review_tui.widgets.empty import empty
from review_tui.widgets.field import Line
from review_tui.widgets.queue import QueueList

if TYPE_CHECKING:
    pass

WIDE: Final = 100
"""From this width on the panes stand side by side."""
COLUMNS: Final = 76
"""Below this width, and beside another pane, a row has two lines."""
STACKED: Final = 60
"""Below this width one sees one pane at a time."""


class QueueScreen(DecidingScreen):
    """Queue, detail, and the lines above and below."""

    def __init__(self) -> None:
        super().__init__()
        self._overview = Overview()
        self._looking = ""
        self._filter = ""
        self._changed = ("", False)
        self._rest: Timer | None = None

    @property
    def is_busy(self) -> bool:
        """Whether something that was asked for has still to come."""
        return bool(self._looking or self._deciding) or self._rest is not None

    def compose(self) -> ComposeResult:
        """Show the panes; they fill when the queue was read."""
        yield Static(id="head")
        with Container(id="panes"):
            yield QueueList()
            yield DetailPane()
        yield Static(id="empty")
        yield Line(id="filter", placeholder="words to look for", compact=True)
        yield Static(id="changed")
        yield Static(id="keys")

    def on_mount(self) -> None:
        """Read the queue."""
        self.queue.focus()
        self.query_one("#filter").display = False
        self.query_one("#empty").display = False
        self.load()

    def on_resize(self, event: events.Resize) -> None:
        """Lay the panes out for this width."""
        width = event.size.width
        self.set_class(width >= WIDE, "wide")
        self.set_class(STACKED <= width < WIDE, "stacked")
        self.set_class(width < STACKED, "narrow")
        self.queue.lay(tall=not COLUMNS <= width < WIDE)
        self._lines()

    # -- what the workers bring -------------------------------------------------------------------

    def load(self, select: str = "") -> None:
        """Read the queue anew and stand on a candidate of it."""

        def read(review: Review) -> Overview:
            return review.overview()

        self.review.ask(read, lambda found: messages.Loaded(found, select), self)

    def on_loaded(self, message: messages.Loaded) -> None:
        """Show what waits."""
        before = self.queue.place
        self._overview, self._all = message.overview, message.overview.items
        self.queue.marked &= {one.id for one in self._all}
        self._looking = ""
        self._show(message.select or message.overview.at, before)

    def on_queue_list_moved(self, message: QueueList.Moved) -> None:
        """Look up the candidate one stands on now."""
        self._detail = None
        self.query_one(DetailPane).show(message.item)
        if self._rest is not None:
            self._rest.stop()
        self._rest = self.set_timer(self.review.rest, self._rested)
        self._lines()

    def _rested(self) -> None:
        """Look up the candidate on which one has come to rest."""
        self._rest = None
        if self.item is not None and not self._looking:
            self._look_up(self.item)

    def on_detailed(self, message: messages.Detailed) -> None:
        """Show it, or look up the one that was moved to meanwhile."""
        self._looking = ""
        if self.item is None:
            return
        if message.detail.item.id != self.item.id:
            self._look_up(self.item)
            return
        self._detail = message.detail
        self.query_one(DetailPane).show(message.detail)
        if message.detail.item != self.item:
            self.tell("It changed since the queue was read; this is how it is now.")
            self._replace(message.detail.item)

    def on_decided(self, message: messages.Decided) -> None:
        """Take it out of the queue, say what changed, and go on to the next."""
        said = message.said
        self._deciding.discard(said.id)
        self._overview = msgspec.structs.replace(
            self._overview, undoable=said.undoable, put_off=said.put_off
        )
        self.tell(" ".join([said.text, *said.notes]))
        if said.id not in {one.id for one in self._all}:
            self.load(said.id)
            return
        self.queue.marked.discard(said.id)
        self._all = [one for one in self._all if one.id != said.id]
        self._show("", self.queue.place)

    def on_failed(self, message: messages.Failed) -> None:
        """Say what was not done and why; show how it is now."""
        self._deciding.discard(message.id)
        if isinstance(message.wrong, Close) and message.id:
            self._ask_again(message.id, message.wrong)
            return
        said = [message.wrong.message, message.wrong.remedy]
        self.tell(one_line(" ".join(said)), failed=True)
        if message.id:
            self.load(message.id)
        self._looking = ""

    def _look_up(self, item: Item) -> None:
        self._looking = item.id

        def read(review: Review) -> Detail:
            return review.detail(item.id)

        self.review.ask(read, messages.Detailed, self)

    # -- what is shown ----------------------------------------------------------------------------

    def _show(self, select: str, place: int) -> None:
        shown = [one for one in self._all if self._matches(one)]
        places = {one.id: at for at, one in enumerate(shown)}
        self.query_one("#empty").display = not self._all
        self.query_one("#panes").display = bool(self._all)
        if not self._all:
            self.query_one("#empty", Static).update(empty(self._overview))
        self.queue.show(shown, places.get(select, place))

    def _matches(self, item: Item) -> bool:
        texts = (item.slug, item.topic, item.symptom, item.rule, *(one.word for one in item.doubts))
        text = " ".join(texts).casefold()
        return all(word in text for word in self._filter.casefold().split())

    def _replace(self, item: Item) -> None:
        self._all = [item if one.id == item.id else one for one in self._all]
        self.queue.items = [item if one.id == item.id else one for one in self.queue.items]
        self.queue.refresh()

    def tell(self, text: str, *, failed: bool = False) -> None:
        """Say something where a person looks after each key."""
        self._changed = (text, failed)
        self._lines()

    def _lines(self) -> None:
        width = self.size.width
        text, failed = self._changed
        undo, undoable = self.review.key_of("undo"), self._overview.undoable
        self.query_one("#head", Static).update(foot.head(self._counts(), width - 2))
        self.query_one("#changed", Static).update(
            foot.changed(text, undo, undoable, width - 2, failed=failed)
        )
        self.query_one("#keys", Static).update(foot.keys(self.review.keys.values(), width - 2))

    def _counts(self) -> list[str]:
        flagged = sum(bool(one.doubts) for one in self._all)
        counts = {
            "waiting": len(self._all),
            "to look at twice": flagged,
            "put off": len(self._overview.put_off),
            "held back": self._overview.held_back,
            "marked": len(self.queue.marked),
        }
        said = [f"{number} {word}" for word, number in counts.items() if number]
        if self._filter:
            said.append(f"{len(self.queue.items)} with {one_line(self._filter, 40)!r}")
        return said

    # -- keys -------------------------------------------------------------------------------------

    def on_key(self, event: events.Key) -> None:
        """Move, or do what the table of actions says."""
        if isinstance(self.focused, Input):
            if event.key == "escape":
                event.stop()
                self._search("")
            return
        event.stop()
        key = "space" if event.key == "space" else event.character or event.key
        action = self.review.keys.get(key)
        if action is None:
            self.review.heed(event, partial(self._move, event.key, key), decides=False)
            return
        act = partial(getattr(self, f"do_{action.name}"), self.item)
        self.review.heed(event, act, decides=action.decides)

    def on_paste(self, event: events.Paste) -> None:
        """Pasted text decides nothing."""
        event.stop()
        self.review.pasted()

    def _move(self, name: str, key: str) -> None:
        if name == "tab" or name == "enter":
            self._other_pane()
        elif name == "escape":
            self._back()
        elif self.focused is self.query_one(DetailPane) and name in SCROLLS:
            getattr(self.query_one(DetailPane), SCROLLS[name])(animate=False)
        else:
            page = self.queue.page
            far = len(self.queue.items)
            steps = {"j": 1, "down": 1, "k": -1, "up": -1, "pagedown": page, "pageup": -page}
            steps |= {"g": -far, "home": -far, "G": far, "end": far}
            if key in steps or name in steps:
                self.queue.move(steps.get(key, steps.get(name, 0)))

    def _other_pane(self) -> None:
        here = self.focused is self.queue
        self.set_class(here, "reading")
        (self.query_one(DetailPane) if here else self.queue).focus()

    def _back(self) -> None:
        self.remove_class("reading")
        self.queue.focus()
        self.queue.marked.clear()
        if self._filter:
            self._search("")
        self.queue.refresh()
        self._lines()

    # -- filter, help, leaving ---------------------------------------------------------------------

    def do_filter(self, item: Item | None) -> None:
        """Ask for words."""
        field = self.query_one("#filter", Input)
        field.display = True
        field.focus()

    def do_help(self, item: Item | None) -> None:
        """Show the table of actions."""
        actions = tuple(self.review.keys.values())
        self.app.push_screen(Page("Keys", "help", lambda width: help_text(actions, width)))

    def do_quit(self, item: Item | None) -> None:
        """Leave."""
        self.app.exit()

    def on_input_changed(self, event: Input.Changed) -> None:
        """Show only what has these words."""
        self._filter = event.value
        self._show(self.item.id if self.item else "", 0)

    def on_input_submitted(self, event: Input.Submitted) -> None:
        """Go back to the queue and keep the filter."""
        event.input.display = False
        self.queue.focus()

    def _search(self, text: str) -> None:
        field = self.query_one("#filter", Input)
        field.value = text
        field.display = False
        self.queue.focus()
