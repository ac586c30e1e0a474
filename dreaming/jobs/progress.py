"""How long work says where it is. Jobs call it; only a door decides whether anybody sees it."""

from __future__ import annotations

import contextlib
import time
from collections.abc import Iterator


class Progress:
    """Says nothing. A door hands in a subclass that does."""

    def begin(self, stage: str, total: int) -> None:
        """A stage begins; ``total`` is what ``step`` will add up to, 0 where nobody knows."""

    def step(self, amount: int) -> None:
        """Some of it is done."""

    def note(self, line: str) -> None:
        """A line worth keeping in a journal."""


class Stopwatch:
    """Wall seconds by stage."""

    def __init__(self) -> None:
        self.seconds: dict[str, float] = {}

    @contextlib.contextmanager
    def stage(self, name: str) -> Iterator[None]:
        """Count the time of the block to ``name``."""
        start = time.perf_counter()
        try:
            yield
        finally:
            self.seconds[name] = self.seconds.get(name, 0.0) + time.perf_counter() - start
