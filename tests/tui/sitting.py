"""A person at the screen: the app over a rehearsal, and keys that are waited for."""

from __future__ import annotations

import contextlib
from collections.abc import AsyncIterator, Callable
from datetime import date
from typing import Any

from textual import events
from textual.pilot import Pilot

from dreaming.jobs.rehearsal import Rehearsal
from dreaming.jobs.review import Review
from review_tui.app import ReviewApp
from review_tui.sample import rehearsal
from review_tui.screens.queue import QueueScreen

TODAY = date(2026, 11, 30)
PATIENCE = 12_000
"""Turns of the screen's loop that a key is given to show what it did: a minute and more."""


class Sitting:
    """One person, one screen, one rehearsal."""

    def __init__(self, app: ReviewApp, pilot: Pilot[None], review: Rehearsal) -> None:
        self.app, self.pilot, self.review = app, pilot, review

    @property
    def queue(self) -> QueueScreen:
        """The screen at the bottom."""
        (found,) = [one for one in self.app.screen_stack if isinstance(one, QueueScreen)]
        return found

    @property
    def slug(self) -> str:
        """The candidate one stands on."""
        return self.queue.item.slug if self.queue.item else ""

    @property
    def waiting(self) -> list[str]:
        """What waits, best first."""
        return [one.slug for one in self.review.overview().items]

    async def press(self, *keys: str) -> None:
        """Press keys as a person does, one after the other."""
        for key in keys:
            self.app.guard._at -= 1.0  # a second has passed, without anybody waiting for it
            await self.pilot.press(key)
            await self.quiet()

    async def quiet(self) -> None:
        """Wait until nothing is going on."""
        for _ in range(PATIENCE):
            await self.pilot.pause(0.005)
            busy = [one for one in self.app.workers if not one.is_finished and one.group == "job"]
            if not (self.app.guard.waits or busy or self._is_busy()):
                await self.pilot.pause()
                return
        raise AssertionError("the screen does not come to rest")

    def _is_busy(self) -> bool:
        return bool(self.app.is_running and self.queue.is_busy)

    async def burst(self, *keys: str) -> None:
        """Send keys as a terminal does with pasted text: all at once."""
        for key in keys:
            event = events.Key(key, key if len(key) == 1 else None)
            self.app.post_message(event)
        await self.quiet()

    def text(self) -> str:
        """Everything that can be read on the screen."""
        screen = self.app.screen
        return "\n".join(strip.text.rstrip() for strip in screen._compositor.render_strips())


@contextlib.asynccontextmanager
async def sitting(
    review: Rehearsal | None = None,
    *,
    size: tuple[int, int] = (120, 34),
    rest: float = 0.001,
    **more: Any,
) -> AsyncIterator[Sitting]:
    """Sit down at a screen of this size."""
    found = review if review is not None else rehearsal()
    app = ReviewApp(opening(found), rest=rest, today=lambda: TODAY, **more)
    async with app.run_test(size=size) as pilot:
        one = Sitting(app, pilot, found)
        await one.quiet()
        yield one


def opening(review: Review) -> Callable[[], contextlib.AbstractContextManager[Review]]:
    """Open a review that is there already."""
    return lambda: contextlib.nullcontext(review)
