"""Measures the review over many waiting candidates: opening, moving, deciding, filtering.

    python -m benchmarks.review            2,000 candidates in a workspace of its own
    python -m benchmarks.review NUMBER

Each figure is wall time in this process, from the key to the screen at rest, without the moment
that a key which decides waits on purpose (40 ms).
"""

from __future__ import annotations

import asyncio
import contextlib
import hashlib
import statistics
import sys
import tempfile
import time
from collections.abc import Callable, Iterator
from datetime import UTC, datetime, timedelta
from pathlib import Path

from textual import events

from dreaming.jobs.desk import Desk
from dreaming.jobs.review import AtDesk, Review
from dreaming.models.candidate import Candidate
from dreaming.redaction.engine import Redactor
from dreaming.stores.ledger import Ledger
from dreaming.stores.pending import Pending
from dreaming.stores.state import opened
from dreaming.stores.workspace import Workspace, lay_out
from review_tui.app import ReviewApp
from review_tui.guard import BURST, REPEAT
from review_tui.screens.queue import QueueScreen

KEY = bytes(32)
NOW = datetime(2026, 11, 30, tzinfo=UTC)
TOOLS = "pnpm vitest gradle helm terraform kubectl ruff mypy cargo bazel jq sed rsync".split()

_LETTERS = str.maketrans("0123456789", "rstlnkmopu")


def candidate(place: int) -> Candidate:
    """An invented candidate; no two say the same."""
    tool, flag = TOOLS[place % len(TOOLS)], f"--{hashlib.md5(b'%d' % place).hexdigest()[:7]}"
    return Candidate(
        id=hashlib.sha256(b"%d" % place).hexdigest()[:16],
        slug=f"{tool}-needs-{flag.strip('-')}",
        topic=tool,
        symptom=f"{_words(f'symptom {place}')} stops.",
        rule=f"{_words(f'rule {place}')} instead.",
        session_ids=("0f0f0f0f0f0f0f0f", "1f1f1f1f1f1f1f1f"),
        sessions=2,
        agents=("codex",),
        projects=("2f2f2f2f2f2f2f2f",),
        first_seen=NOW - timedelta(days=9),
        last_seen=NOW - timedelta(days=place % 9),
        score=float(place % 97),
        backend="offline",
    )


def _words(seed: str) -> str:
    """Ten invented words."""
    letters = hashlib.sha512(seed.encode()).hexdigest()
    return " ".join(letters[at : at + 6].translate(_LETTERS) for at in range(0, 60, 6)).capitalize()


@contextlib.contextmanager
def review(place: Workspace) -> Iterator[Review]:
    """A desk over the workspace."""
    with opened(place.database, key=KEY) as state:
        yield AtDesk(
            Desk(
                knowledge_base=place.knowledge_base,
                pending=Pending(place.pending),
                ledger=Ledger(place.ledger, "kim-00000000"),
                state=state,
                lock=place.state / "decide.lock",
                torn=place.state / "torn",
                redactor=Redactor(KEY),
                reviewer="kim",
                now=lambda: NOW,
            )
        )


async def measure(place: Workspace, number: int) -> dict[str, list[float]]:
    """Sit down and press keys."""
    figures: dict[str, list[float]] = {}
    app = ReviewApp(lambda: review(place))
    started = time.perf_counter()
    async with app.run_test(size=(120, 40)):
        screen = app.screen
        assert isinstance(screen, QueueScreen)
        await _until(lambda: len(screen.queue.items) == number)
        figures["open, s"] = [time.perf_counter() - started]
        await _until(lambda: screen._detail is not None)
        figures["open with detail, s"] = [time.perf_counter() - started]

        async def press(key: str, done: Callable[[], bool], less: float = 0.0) -> float:
            painted = asyncio.Event()
            before = time.perf_counter()
            app.post_message(events.Key(key, key if len(key) == 1 else None))
            await _until(done)
            screen.call_after_refresh(painted.set)
            await painted.wait()
            return 1000 * (time.perf_counter() - before - less)

        figures["move to paint, ms"] = []
        for at in range(1, 60):
            moved = await press("j", lambda at=at: screen.queue.place == at)  # type: ignore[misc]
            figures["move to paint, ms"].append(moved)
        figures["end to paint, ms"] = [
            await press("G", lambda: screen.queue.place == number - 1),
            await press("g", lambda: screen.queue.place == 0),
        ]
        figures["decide to paint, ms"] = []
        for turn in range(1, 21):
            await _until(lambda: screen._detail is not None)
            left = number - turn
            less = BURST if turn == 1 else REPEAT
            took = await press("a", lambda left=left: len(screen._all) == left, less)  # type: ignore[misc]
            figures["decide to paint, ms"].append(took)
            await asyncio.sleep(0.15)
    return figures


async def _until(done: Callable[[], bool]) -> None:
    async with asyncio.timeout(20):
        while not done():
            await asyncio.sleep(0)


def main() -> None:
    """Print a table."""
    number = int(sys.argv[1]) if len(sys.argv) > 1 else 2000
    with tempfile.TemporaryDirectory() as folder:
        place = Workspace(Path(folder) / "workspace", Path(folder) / "state")
        lay_out(place, {"dreaming.toml": ""}, KEY)
        pending = Pending(place.pending)
        for one in range(number):
            pending.put(candidate(one))
        figures = asyncio.run(measure(place, number))
    print(f"{number} candidates wait")
    for name, several in figures.items():
        ranked = sorted(several)
        high = ranked[min(len(ranked) - 1, round(0.95 * len(ranked)))]
        print(f"{name:<22} median {statistics.median(ranked):8.2f}   p95 {high:8.2f}")


if __name__ == "__main__":
    main()
