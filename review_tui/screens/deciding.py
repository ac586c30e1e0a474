"""What the keys that decide do to the candidate one stands on, or to all that are marked."""

from __future__ import annotations

import secrets
from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, cast

from textual import work
from textual.screen import Screen

from dreaming.jobs.review import Close, Edited, Review
from dreaming.jobs.showing import Detail, Item, Said
from review_tui import messages
from review_tui.choices import ANYWAY, DELAYS, REASONS, Choice, until
from review_tui.screens.bulk import Bulk
from review_tui.screens.choose import Choose
from review_tui.screens.edit import Edit
from review_tui.screens.merge import Merge, targets
from review_tui.screens.page import Page
from review_tui.widgets.detail import heard, near
from review_tui.widgets.queue import QueueList

if TYPE_CHECKING:
    from review_tui.app import ReviewApp

Decision = Callable[[Review, Item, str], Said]
"""What to do to one candidate, with the name of the group it is decided in."""


class DecidingScreen(Screen[None]):
    """Asks what a decision needs to know, and hands it to the bench."""

    def __init__(self) -> None:
        super().__init__()
        self._all: Sequence[Item] = ()
        self._detail: Detail | None = None
        self._deciding: set[str] = set()

    @property
    def review(self) -> ReviewApp:
        """The app, as what it is."""
        return cast("ReviewApp", self.app)

    @property
    def queue(self) -> QueueList:
        """The list."""
        return self.query_one(QueueList)

    @property
    def item(self) -> Item | None:
        """The candidate a key is about."""
        return self.queue.current

    def tell(self, text: str, *, failed: bool = False) -> None:
        """Say something where a person looks after each key."""
        raise NotImplementedError

    # -- actions ----------------------------------------------------------------------------------

    def do_accept(self, item: Item | None) -> None:
        """Accept it, or ask about all that are marked."""
        if self.queue.marked:
            self._together("accept", _accept)
        elif item:
            self._decide(item, _accept)

    @work
    async def do_edit(self, item: Item | None) -> None:
        """Ask for words of one's own, then accept."""
        if item is None:
            return
        edited = await self.app.push_screen_wait(Edit(item))
        if edited is not None:
            self._decide(item, lambda review, one, group: review.accept(one, edited, group=group))

    @work
    async def do_reject(self, item: Item | None) -> None:
        """Ask for the reason, then reject."""
        if item is None:
            return
        choose = Choose("Reject: why?", self._about(item), REASONS, own="in words of my own")
        why = await self.app.push_screen_wait(choose)
        if why:
            self._one_or_all(
                "reject", item, lambda review, one, group: review.reject(one, why, group=group)
            )

    @work
    async def do_later(self, item: Item | None) -> None:
        """Ask for how long, then put it off."""
        if item is None:
            return
        chosen = await self.app.push_screen_wait(
            Choose("Put off: until when?", self._about(item), DELAYS)
        )
        if chosen:
            delay = until(chosen, self.review.today())
            self._one_or_all(
                "later", item, lambda review, one, group: review.later(one, delay, group=group)
            )

    @work
    async def do_merge(self, item: Item | None) -> None:
        """Ask what it is the same as, then merge."""
        if item is None:
            return
        known = self._detail.near if self._detail else ()
        found = targets(item, known, self._all)
        if not found:
            self.tell("There is nothing to merge it into.", failed=True)
            return
        target = await self.app.push_screen_wait(Merge(item, found))
        if target:
            self._decide(item, lambda review, one, group: review.merge(one, target))

    def do_undo(self, item: Item | None) -> None:
        """Take the last decision back."""
        self.review.ask(lambda review: review.undo(), messages.Decided, self)

    def do_evidence(self, item: Item | None) -> None:
        """Show everything the sessions said."""
        detail = self._detail
        if detail:
            self.app.push_screen(
                Page(detail.item.slug, "evidence", lambda width: heard(detail.heard, width))
            )

    def do_diff(self, item: Item | None) -> None:
        """Show every neighbour with the words that differ."""
        detail = self._detail
        if detail and detail.near:
            rule = detail.item.rule
            self.app.push_screen(
                Page(detail.item.slug, "diff", lambda width: near(detail.near, rule, width))
            )
        elif detail:
            self.tell("Nothing that is known comes near it.")

    def do_mark(self, item: Item | None) -> None:
        """Mark it, or take the mark away, and go on."""
        if item:
            self.queue.marked ^= {item.id}
            self.queue.move(1)

    # -- deciding ---------------------------------------------------------------------------------

    def _about(self, item: Item) -> str:
        marked = len(self.queue.marked)
        return f"all {marked} that are marked" if marked else item.rule

    def _one_or_all(self, action: str, item: Item, decision: Decision) -> None:
        if self.queue.marked:
            self._together(action, decision)
        else:
            self._decide(item, decision)

    def _decide(self, item: Item, decision: Decision, group: str = "") -> None:
        if item.id in self._deciding:
            return
        self._deciding.add(item.id)
        self.review.ask(
            lambda review: decision(review, item, group), messages.Decided, self, item.id
        )

    @work(exit_on_error=False)
    async def _together(self, action: str, decision: Decision) -> None:
        """Show every final line of what is marked, and decide once its number was typed."""
        chosen = [one for one in self._all if one.id in self.queue.marked]
        clear = [one for one in chosen if not one.doubts]
        out = [f"{one.slug}: {one.doubts[0].word}" for one in chosen if one.doubts]
        lines = [one.rule for one in clear]
        if action == "accept":
            drafts = await self.review.do(
                lambda review: [review.draft(one, Edited()) for one in clear]
            )
            out += [
                f"{one.slug}: {draft.problem}"
                for one, draft in zip(clear, drafts, strict=True)
                if draft.problem
            ]
            pairs = [
                (one, draft.line)
                for one, draft in zip(clear, drafts, strict=True)
                if not draft.problem
            ]
            clear, lines = [one for one, _ in pairs], [line for _, line in pairs]
        if await self.app.push_screen_wait(Bulk(action, lines, out)):
            group = secrets.token_hex(4)
            self.queue.marked.clear()
            for one in clear:
                self._decide(one, decision, group)

    @work
    async def _ask_again(self, id: str, close: Close) -> None:
        """Something known is close: show it, and accept only when a person says so again."""
        item = next((one for one in self._all if one.id == id), None)
        if item is None:
            return
        best = close.near[0] if close.near else None
        about = f"{best.place}: {best.text}" if best else ""
        keys = (
            Choice(self.review.key_of("accept"), "accept it all the same", "accept"),
            Choice(self.review.key_of("merge"), "merge it into that", "merge"),
        )
        answer = await self.app.push_screen_wait(Choose("Nearly known already", about, keys))
        if answer == "accept":
            self._decide(item, _accept_anyway)
        elif answer == "merge" and best and best.target:
            self._decide(item, lambda review, one, group: review.merge(one, best.target))
        else:
            self.tell(f"{item.slug} stays undecided.")


def _accept(review: Review, item: Item, group: str) -> Said:
    return review.accept(item, Edited(), group=group)


def _accept_anyway(review: Review, item: Item, group: str) -> Said:
    return review.accept(item, Edited(), why_anyway=ANYWAY, group=group)
