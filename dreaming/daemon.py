"""Starts nights where nothing else does; each is a child, so that this holds no transcript."""

from __future__ import annotations

import logging
import os
import signal
import socket
import subprocess
import threading
from collections.abc import Callable
from datetime import UTC, datetime
from typing import TYPE_CHECKING, Final

from dreaming.errors import NotNow
from dreaming.jobs.schedule import DAEMON_LOCK
from dreaming.schedulers.interface import HOURS, Plan
from dreaming.stores import files

if TYPE_CHECKING:
    from apscheduler.triggers.base import BaseTrigger

WALL: Final = 130 * 60.0
"""Seconds after which a night that did not keep its own limit is ended."""
GRACE: Final = 60.0
"""Seconds between asking a night to end and ending it."""
TICK: Final = 60.0
"""Seconds between looks at the clock: a wait does not notice that the machine slept."""

Note = Callable[[str], None]


class Nights:
    """One child at a time, and its end."""

    def __init__(
        self, command: tuple[str, ...], *, wall: float = WALL, grace: float = GRACE
    ) -> None:
        self._command = command
        self._wall = wall
        self._grace = grace
        self._child: subprocess.Popen[bytes] | None = None
        self._stopping = threading.Event()
        self._starting = threading.Lock()

    def run(self) -> int:
        """Run a night to its end and return how it ended; nothing starts after ``stop``."""
        own = ("NOTIFY_SOCKET", "WATCHDOG_USEC", "WATCHDOG_PID")
        environment = {name: text for name, text in os.environ.items() if name not in own}
        with self._starting:
            if self._stopping.is_set():
                return 0
            self._child = child = subprocess.Popen(
                self._command, stdin=subprocess.DEVNULL, env=environment, start_new_session=True
            )
        try:
            return child.wait(self._wall)
        except subprocess.TimeoutExpired:
            return self._end(child)

    def stop(self) -> None:
        """Start no more nights and end the one that runs."""
        self._stopping.set()
        with self._starting:
            child = self._child
        if child is not None and child.poll() is None:
            self._end(child)

    def _end(self, child: subprocess.Popen[bytes]) -> int:
        for number in (signal.SIGTERM, signal.SIGKILL):
            try:
                os.killpg(child.pid, number)
                return child.wait(self._grace)
            except ProcessLookupError:
                break
            except subprocess.TimeoutExpired:
                continue
        return child.wait()


def serve(plan: Plan, *, once: bool, note: Note) -> int:
    """Start nights until somebody ends this; return the exit code.

    With ``once`` that of one look. Raises ``NotNow`` where another daemon serves this workspace.
    """
    mine = f"process {os.getpid()}, since {datetime.now(UTC).isoformat(timespec='seconds')}"
    nights = Nights(plan.night)
    try:
        with files.lock(plan.state / DAEMON_LOCK, mine):
            return nights.run() if once else _until_ended(nights, note)
    except files.Held as held:
        raise NotNow(
            f"Another daemon serves {plan.workspace}: {held}.",
            remedy="One is enough; end that one first if you want this.",
        ) from None
    finally:
        nights.stop()


def _until_ended(nights: Nights, note: Note) -> int:
    from apscheduler.executors.pool import ThreadPoolExecutor
    from apscheduler.schedulers.background import BackgroundScheduler

    logging.getLogger("apscheduler").setLevel(logging.ERROR)  # a look during a night is in order

    def look() -> None:
        code = nights.run()
        note(f"{datetime.now().astimezone().isoformat(timespec='seconds')} night ended with {code}")

    scheduler = BackgroundScheduler(
        executors={"default": ThreadPoolExecutor(2)},
        job_defaults={"coalesce": True, "max_instances": 1, "misfire_grace_time": None},
    )
    scheduler.add_job(look, looks(), next_run_time=datetime.now(UTC))
    watched = float(os.environ.get("WATCHDOG_USEC", "inf")) / 1e6
    scheduler.add_job(tell, "interval", ["WATCHDOG=1"], seconds=min(TICK, watched / 2))
    tell("READY=1")
    note("Looking each hour whether a night is due. Ctrl-C ends this.")
    try:
        scheduler.start()
        # A signal reaches this thread, and waits here for it: the scheduler would take it for the
        # failure of a job where it came while one was handed out.
        threading.Event().wait()
    except KeyboardInterrupt:
        tell("STOPPING=1")
        note("Ending.")
        nights.stop()
        scheduler.shutdown()
    return 0


def looks() -> BaseTrigger:
    """Return when it is looked whether a night is due, by the clock on the person's wall."""
    from apscheduler.triggers.cron import CronTrigger

    return CronTrigger(hour=f"{HOURS[0]}-{HOURS[-1]}", minute=7)


def tell(word: str) -> None:
    """Tell the service manager that started this, if one did, as sd_notify(3) describes."""
    address = os.environ.get("NOTIFY_SOCKET", "")
    if address:
        with socket.socket(socket.AF_UNIX, socket.SOCK_DGRAM) as manager:
            manager.sendto(word.encode(), f"\0{address[1:]}" if address[0] == "@" else address)
