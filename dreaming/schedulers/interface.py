"""What a scheduler is: files that say when a night starts, and a program that reads them.

The files are made of a ``Plan`` alone, so that they can be shown, compared and checked on any
machine; only ``start``, ``stop`` and ``status`` talk to the program.
"""

from __future__ import annotations

import subprocess
from abc import ABC, abstractmethod
from collections.abc import Callable, Mapping, Sequence
from datetime import datetime
from pathlib import Path
from typing import Any, ClassVar, Final

import msgspec

from dreaming.errors import DreamingError

HOURS: Final = range(1, 21)
"""The hours of the day, local time, in which it is looked whether a night is due.

A night that is due 20 hours after the last would begin four hours earlier each day for ever if
every hour counted; without the last hours of the day it comes to rest at the first.
"""

EVERY: Final = "20h"
LIMIT: Final = "2h"


class Plan(msgspec.Struct, frozen=True):
    """What a scheduled night needs to know; every path is absolute."""

    command: tuple[str, ...]
    """What stands for ``dreaming``: an interpreter by its path, with what makes it run this."""
    workspace: Path
    owned: tuple[Path, ...]
    """What the night may never write: knowledge base and ledger."""
    state: Path
    pending: Path
    readable: tuple[Path, ...]
    """Where the program, its settings and the transcripts are."""
    home: Path
    user: str
    environment: Mapping[str, str]
    """Variables that decide where things are."""
    keys: Path
    """A file with ``NAME=value`` lines, for the keys of a backend elsewhere; it may be missing."""
    remote: bool
    """Whether the backend is on somebody else's computer."""
    program: bool
    """Whether the backend is a program of its own."""
    logins: tuple[Path, ...]
    """Files that such a program renews by itself."""
    tells: bool
    """Whether somebody wants to hear of each night, not only of one that failed."""

    @property
    def night(self) -> tuple[str, ...]:
        """The command that starts a night when one is due."""
        wait = ("--wait-network", "5m") if self.remote else ()
        asked = ("--workspace", str(self.workspace), "--if-due", EVERY, "--limit", LIMIT)
        return (*self.command, "nightly", *asked, *wait)

    @property
    def alert(self) -> tuple[str, ...]:
        """The command that tells a person how a night ended, without the name of its unit."""
        return (*self.command, "alert", "--workspace", str(self.workspace), "--failed")

    @property
    def doctor(self) -> tuple[str, ...]:
        """The command that checks whether a night can work."""
        return (*self.command, "doctor", "--workspace", str(self.workspace), "--as-scheduled")


class Status(msgspec.Struct, frozen=True):
    """What a scheduler says of its nights."""

    active: bool = False
    next_look: datetime | None = None
    """When it is looked next whether a night is due, UTC; none where the scheduler is silent."""
    last_start: datetime | None = None
    last_result: str = ""
    """Empty where there was none, ``success``, or what went wrong in the scheduler's words."""
    lingers: bool | None = None
    """Whether nights also start when the person is logged out; none where that is no question."""


class Told(msgspec.Struct, frozen=True):
    """How a command of the system ended."""

    code: int
    out: str = ""
    error: str = ""


Run = Callable[[Sequence[str]], Told]


def run(command: Sequence[str], seconds: float = 60.0, **more: Any) -> Told:
    """Run a command and return how it ended; one that is not there ends with 127.

    ``more`` is for ``subprocess.run``. One that takes longer ends with 124.
    """
    try:
        done = subprocess.run(
            command, stdin=subprocess.DEVNULL, capture_output=True, timeout=seconds, **more
        )
    except FileNotFoundError:
        return Told(127, error=f"{command[0]} is not here")
    except subprocess.TimeoutExpired:
        return Told(124, error=f"{command[0]} did not end within {seconds:.0f} seconds")
    out, error = (text.decode("utf-8", "replace") for text in (done.stdout, done.stderr))
    return Told(done.returncode, out, error.strip())


class SchedulerSilent(DreamingError):
    """The scheduler did not do what it was asked to."""


class Scheduler(ABC):
    """One kind of scheduler on this machine."""

    kind: ClassVar[str]
    comment: ClassVar[tuple[str, str]]
    """What begins and ends a comment in its files."""
    names: ClassVar[tuple[str, ...]]
    """Every file it may ever write, below ``folder``; the first is always there."""
    folder: Path
    """Where the program looks for its files."""

    @abstractmethod
    def files(self, plan: Plan) -> dict[str, str]:
        """Return the files of a plan by name.

        Raises ``Unusable`` where a path cannot stand in such a file.
        """

    @abstractmethod
    def start(self) -> None:
        """Let what stands in ``folder`` take effect. Raises ``SchedulerSilent``."""

    @abstractmethod
    def stop(self) -> None:
        """Start no more nights; one that runs goes on. Raises ``SchedulerSilent``."""

    def forget(self) -> None:
        """Take note that the files are gone."""
        return

    @abstractmethod
    def status(self) -> Status:
        """Return what the program says of its nights."""
