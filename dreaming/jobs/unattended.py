"""A night that nobody watches: in a process of its own, ended at its limit, and never unrecorded.

The parent holds no text of a transcript: what comes back is a report, or what went wrong in words
of our own. So it may tell others about it, outside the sandbox of its child.
"""

from __future__ import annotations

import multiprocessing
import os
import signal
import sys
import time
import traceback
from collections.abc import Callable, Sequence
from datetime import UTC, datetime
from multiprocessing.connection import Connection, wait
from multiprocessing.process import BaseProcess
from pathlib import Path
from typing import Any, Final

import msgspec

from dreaming.errors import INTERRUPTED, DreamingError, NotNow, kind_of
from dreaming.models.report import Outcome, Report
from dreaming.stores import sandbox
from dreaming.stores.state import State

GRACE: Final = 60.0
"""Seconds a night may take beyond its limit to stop by itself."""
PATIENCE: Final = 10.0
"""Seconds a process gets to end after it was asked to."""
_NAP: Final = 5.0
"""Seconds between looks at the clock: what waits does not see that the machine slept."""
_RUNNING: Final = "running"
"""Where the state keeps when the run started that has not ended."""


class Crashed(Exception):
    """Something unexpected happened in another process."""

    def __init__(self, kind: str, frames: Sequence[str]) -> None:
        super().__init__(kind)
        self.kind = kind
        self.frames = frames


class Ended(msgspec.Struct):
    """How a run in a process of its own ended."""

    report: Report | None = None
    code: int = 0
    said: str = ""
    remedy: str = ""
    system: tuple[int, str, str | None] | None = None
    """Number, words and file of an error of the system."""
    kind: str = ""
    """Type of the error that nobody expected."""
    frames: list[str] = []
    """Where it happened."""

    def again(self) -> BaseException:
        """Return what went wrong as an exception for the door to explain."""
        if self.code == INTERRUPTED:
            return KeyboardInterrupt()
        crashed = Crashed(self.kind, self.frames)
        if self.system is not None:
            wrong = OSError(*self.system)
            wrong.__cause__ = crashed
            return wrong
        if self.kind:
            return crashed
        return kind_of(self.code)(self.said, remedy=self.remedy)


def since_boot() -> float:
    """Return seconds that also pass while the machine sleeps."""
    return time.clock_gettime(getattr(time, "CLOCK_BOOTTIME", time.CLOCK_MONOTONIC))


def stop_after(limit: float | None, clock: Callable[[], float] = since_boot) -> Callable[[], str]:
    """Return what says, once ``limit`` seconds of ``clock`` have passed, why to stop."""
    until = None if limit is None else clock() + limit
    said = f"its limit of {(limit or 0.0) / 60:.0f} minutes has passed"
    return lambda: "" if until is None or clock() < until else said


def frames(wrong: BaseException) -> list[str]:
    """Return where an error happened, and nothing of what was being read."""
    return [
        f"  {Path(one.filename).name}:{one.lineno} in {one.name}"
        for one in traceback.extract_tb(wrong.__traceback__)
    ]


# -- in a process of its own ----------------------------------------------------------------------


def apart(
    work: Callable[..., Report],
    arguments: Sequence[Any],
    *,
    limit: float | None = None,
    clock: Callable[[], float] = since_boot,
    patience: float = PATIENCE,
) -> Ended:
    """Run ``work`` in a child and return how that ended, also when it was killed.

    ``limit`` is in seconds of ``clock``; a child that is at work ``GRACE`` seconds after it is
    ended. ``work`` is a function of a module, and ``arguments`` can be pickled.
    """
    receiver, sender = multiprocessing.Pipe(duplex=False)
    child = _process(target=_child, args=(work, arguments, sender, os.getpid()))
    until = None if limit is None else clock() + limit + GRACE
    child.start()
    sender.close()
    try:
        return _ending(receiver, child, until, clock, patience)
    except KeyboardInterrupt:
        return Ended(code=INTERRUPTED, said="interrupted")
    finally:
        receiver.close()
        child.terminate()  # one that has said its word does not listen any more, and goes by itself
        child.join(patience)
        child.kill()
        child.join()
        child.close()


def _process(**how: Any) -> BaseProcess:
    """Make a process: a fork needs no second start, but macOS's own libraries do not survive it."""
    if sys.platform == "darwin":
        return multiprocessing.get_context("spawn").Process(**how)
    return multiprocessing.get_context("fork").Process(**how)


def _ending(
    receiver: Connection,
    child: BaseProcess,
    until: float | None,
    clock: Callable[[], float],
    patience: float,
) -> Ended:
    """Wait for a word of the child, its end, or the end of its time."""
    how = "hung, and was ended a minute after its limit"
    while until is None or (left := until - clock()) > 0:
        if wait([receiver, child.sentinel], None if until is None else min(left, _NAP)):
            try:
                return msgspec.json.decode(receiver.recv_bytes(), type=Ended)
            except EOFError:
                child.join(patience)
                code = child.exitcode or 0
                by = f"by {signal.Signals(-code).name}" if code < 0 else f"with {code}"
                how = f"was ended from outside {by}, without a word"
                break
    kept = "What was settled is kept; the next night goes on from there."
    return Ended(code=1, said=f"The night {how}.", remedy=kept)


def _child(work: Callable[..., Report], arguments: Any, sender: Connection, parent: int) -> None:
    signal.signal(signal.SIGTERM, _interrupt)
    sandbox.die_with_parent(signal.SIGKILL)
    if os.getppid() != parent:
        return
    ended = _outcome(work, arguments)
    signal.signal(signal.SIGTERM, signal.SIG_IGN)
    sender.send_bytes(msgspec.json.encode(ended))
    sender.close()


def _outcome(work: Callable[..., Report], arguments: Any) -> Ended:
    try:
        report = work(*arguments)
    except DreamingError as wrong:
        return Ended(code=wrong.EXIT_CODE, said=wrong.message, remedy=wrong.remedy)
    except KeyboardInterrupt:
        return Ended(code=INTERRUPTED, said="interrupted")
    except Exception as wrong:  # the unexpected end: handed on without a word of its message
        if os.environ.get("DREAMING_DEBUG"):
            raise
        ended = Ended(code=1, kind=f"{type(wrong).__module__}.{type(wrong).__name__}")
        ended.said, ended.frames = f"something unexpected: {ended.kind}", frames(wrong)
        if isinstance(wrong, OSError) and wrong.errno is not None:
            name = wrong.filename
            file = os.fsdecode(name) if isinstance(name, (str, bytes)) else None
            ended.system = (wrong.errno, wrong.strerror or "", file)
        return ended
    return Ended(report=report, code=report.exit_code)


def _interrupt(number: int, frame: object) -> None:
    raise KeyboardInterrupt


# -- every run is recorded, once ------------------------------------------------------------------


class _Begun(msgspec.Struct, array_like=True):
    """A run that has not ended."""

    started: float
    backend: str
    before: int = 0
    """How many runs were recorded before it."""

    @classmethod
    def of(cls, state: State) -> _Begun | None:
        kept = state.get(_RUNNING)
        return msgspec.json.decode(kept, type=cls) if kept else None


def begin(state: State, started: float, backend: str) -> None:
    """Note that a run began; if the one before ended without a word, record that. Hold the lock."""
    if earlier := _Begun.of(state):
        said = "it ended without a word: it was killed, or the power failed"
        record(state, earlier.started, earlier.backend, Ended(code=1, said=said))
    begun = _Begun(started, backend, _recorded(state))
    state.put(_RUNNING, msgspec.json.encode(begun).decode())


def finish(state: State) -> None:
    """Note that the run has ended and stands among the runs. Hold the lock."""
    state.put(_RUNNING, "")


def record(state: State, started: float, backend: str, ended: Ended, took: float = 0.0) -> None:
    """Put a run among the runs, unless it stands there: it stayed if it may go on, else failed.

    ``took`` is in seconds. Hold the lock.
    """
    begun = _Begun.of(state)
    stands = begun is not None and begun.started >= started and begun.before < _recorded(state)
    if not stands:
        goes_on = ended.code in (NotNow.EXIT_CODE, INTERRUPTED)
        report = Report(
            started=datetime.fromtimestamp(started, UTC).isoformat(timespec="seconds"),
            backend=backend,
            outcome=Outcome.STAYED if goes_on else Outcome.FAILED,
            why=ended.said,
            exit_code=ended.code,
            seconds={"all": round(took, 3)},
            failures=[ended.said],
        )
        state.add_run(started, report.outcome, msgspec.json.encode(report))
    finish(state)


def _recorded(state: State) -> int:
    return int(state.connection.execute("select count(*) from runs").fetchone()[0])
