"""The one thread that talks to the jobs: what is asked for is done in order, one at a time.

A desk belongs to the thread that opened it, because its database does.
"""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from contextlib import AbstractContextManager, ExitStack
from typing import TypeVar

from dreaming.jobs.review import Review

Opening = Callable[[], AbstractContextManager[Review]]
"""Opens a review for the time of a block."""
_T = TypeVar("_T")


class Bench:
    """A review, opened in a thread of its own."""

    def __init__(self, opening: Opening) -> None:
        self._opening = opening
        self._thread = ThreadPoolExecutor(1, "review")
        self._stack = ExitStack()
        self._review: Review | None = None

    @property
    def is_open(self) -> bool:
        """Whether the review could be opened."""
        return self._review is not None

    async def do(self, job: Callable[[Review], _T]) -> _T:
        """Do one job; what it raises is raised here."""
        loop = asyncio.get_running_loop()
        return await loop.run_in_executor(self._thread, self._do, job)

    async def close(self) -> None:
        """Finish what was asked for and let go of the review."""
        loop = asyncio.get_running_loop()
        await loop.run_in_executor(self._thread, self._stack.close)
        self._thread.shutdown()

    def _do(self, job: Callable[[Review], _T]) -> _T:
        if self._review is None:
            self._review = self._stack.enter_context(self._opening())
        return job(self._review)
