"""The review screen: a queue in the morning, five minutes, every decision by one key.

It keeps no rules. Jobs run on a bench of their own and answer with messages; keys that decide go
through a guard against pasted and held ones.
"""

from __future__ import annotations

import os
from collections.abc import Callable, Mapping
from datetime import UTC, date, datetime
from typing import ClassVar, TypeVar

from textual import events
from textual.app import App
from textual.binding import BindingType
from textual.message import Message
from textual.screen import Screen
from textual.timer import Timer

from dreaming.errors import DreamingError
from dreaming.jobs.review import Review
from review_tui import themes
from review_tui.actions import Action, key_of, table
from review_tui.bench import Bench, Opening
from review_tui.guard import Guard, Verdict
from review_tui.messages import Failed
from review_tui.screens.queue import QueueScreen
from review_tui.screens.small import LEAST, TooSmall

_T = TypeVar("_T")

REST = 0.06
"""Seconds on one candidate after which it is looked up: moving on must not wait for that."""
PASTED = "Nothing was decided: keys came faster than anybody types."


class ReviewApp(App[None]):
    """A person's review of one queue."""

    CSS_PATH = "review.tcss"
    TITLE = "dreaming review"
    ENABLE_COMMAND_PALETTE = False
    BINDINGS: ClassVar[list[BindingType]] = [("ctrl+c", "quit", "quit")]

    def __init__(
        self,
        opening: Opening,
        *,
        keys: Mapping[str, str] | None = None,
        theme: str = "auto",
        rest: float = REST,
        today: Callable[[], date] = lambda: datetime.now(UTC).date(),
    ) -> None:
        # Textual takes NO_COLOR out of the environment, and turns true colours to black for it.
        environment = dict(os.environ)
        super().__init__(ansi_color=True if environment.get("NO_COLOR") else None)
        self.keys: dict[str, Action] = table(keys)
        self.bench = Bench(opening)
        self.today = today
        self.rest = rest
        self.guard = Guard()
        self._moment: Timer | None = None
        self.broken: Exception | None = None
        """Why the screen had to close; the door tells it."""
        for one in (themes.DARK, themes.LIGHT):
            self.register_theme(one)
        self.theme = themes.theme(theme, environment)

    def get_default_screen(self) -> Screen[None]:
        """Begin with the queue."""
        return QueueScreen()

    def key_of(self, name: str) -> str:
        """Return the key that asks for an action."""
        return key_of(self.keys, name)

    async def on_unmount(self) -> None:
        """Finish what was asked for."""
        await self.bench.close()

    def on_resize(self, event: events.Resize) -> None:
        """Cover everything where the window is too small to see what one decides."""
        small = event.size.width < LEAST.width or event.size.height < LEAST.height
        covered = isinstance(self.screen, TooSmall)
        if small and not covered:
            self.push_screen(TooSmall())
        elif covered and not small:
            self.pop_screen()

    # -- work -------------------------------------------------------------------------------------

    def ask(
        self,
        job: Callable[[Review], _T],
        answer: Callable[[_T], Message],
        whom: Screen[None],
        id: str = "",
    ) -> None:
        """Do a job on the bench; the answer, or why there is none, comes as a message."""
        self.run_worker(self._ask(job, answer, whom, id), group="job", exit_on_error=False)

    async def do(self, job: Callable[[Review], _T]) -> _T:
        """Do a job on the bench; what nobody expected closes the screen."""
        try:
            return await self.bench.do(job)
        except DreamingError as wrong:
            if not self.bench.is_open:
                self._break(wrong)
            raise
        except Exception as wrong:
            self._break(wrong)
            raise

    def _break(self, wrong: Exception) -> None:
        self.broken = wrong
        self.exit()

    async def _ask(
        self,
        job: Callable[[Review], _T],
        answer: Callable[[_T], Message],
        whom: Screen[None],
        id: str,
    ) -> None:
        try:
            result = await self.do(job)
        except DreamingError as wrong:
            whom.post_message(Failed(wrong, id))
        else:
            whom.post_message(answer(result))

    # -- keys -------------------------------------------------------------------------------------

    def heed(self, event: events.Key, act: Callable[[], object], *, decides: bool) -> None:
        """Act on a key; one that decides waits a moment and counts if nothing came with it."""
        verdict = self.guard.press(event.key, event.time, decides=decides)
        if verdict is Verdict.FREE:
            act()
        elif verdict is Verdict.BURST:
            self.pasted()
        elif verdict is Verdict.WAIT:
            self._stop_waiting()
            self._moment = self.set_timer(self.guard.moment, lambda: self._due(act))

    def pasted(self) -> None:
        """Say that what was pasted decided nothing."""
        self._stop_waiting()
        for screen in self.screen_stack:
            if isinstance(screen, QueueScreen):
                screen.tell(PASTED, failed=True)

    def _due(self, act: Callable[[], object]) -> None:
        if self.guard.due() and not isinstance(self.screen, TooSmall):
            act()

    def _stop_waiting(self) -> None:
        if self._moment is not None:
            self._moment.stop()
            self._moment = None
