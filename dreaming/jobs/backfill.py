"""The backfill: all the history that no night reads, in slices a person can afford.

It settles with the same batches, lock and cursors as a night, so that each transcript is settled
once, in any order with nights and after any stop. Its plan is a record for people: the cursors are
what it goes by. The watermark is left to the nights.
"""

from __future__ import annotations

import contextlib
import math
import time
from collections import Counter
from collections.abc import Callable, Sequence
from typing import Final

import msgspec

from dreaming.due import Standing
from dreaming.errors import DreamingError
from dreaming.jobs import archiving, refusals
from dreaming.jobs.batches import settle_all
from dreaming.jobs.limits import Limits
from dreaming.jobs.listing import PURPOSE, Listed
from dreaming.jobs.nightly import Night, Stock, broke_off, queue_up, take_stock
from dreaming.jobs.progress import Stopwatch
from dreaming.jobs.retention import Loss, lost_at, note
from dreaming.models.report import Outcome, Report, iso
from dreaming.stores.state import State

BYTES_PER_SECOND: Final = 8e6
"""How fast transcripts are read where this machine was not measured yet."""
_EVERYTHING: Final = frozenset({Standing.DUE, Standing.OLDER, Standing.STALE})
_KEY: Final = "backfill"
_RUNS: Final = 20
"""Of how many nights the speed is taken."""


class Plan(msgspec.Struct):
    """How the backfill stands: what slices did so far, and how the last one ended."""

    started: str
    doomed_first: bool = False
    limits: Limits = Limits()
    backend: str = ""
    slices: int = 0
    done: int = 0
    """Transcripts settled by all slices."""
    bytes: int = 0
    seconds: float = 0.0
    """Spent on reading, asking and settling these bytes."""
    left: int = 0
    left_bytes: int = 0
    tokens: int = 0
    money: float = 0.0
    running: bool = False
    """A slice is at work; or it was killed, where nobody holds the run's lock."""
    failed: bool = False
    why: str = ""
    """Why the last slice ended."""
    ended: str | None = None
    """When; ``None`` where the last slice has not ended."""


class Estimate(msgspec.Struct):
    """What is left to read, and what that takes. Tokens, dollars and seconds are estimates."""

    transcripts: int
    bytes: int
    agents: dict[str, int]
    tokens: int
    money: float
    """US dollars at list price, answers of a tenth of the length included."""
    price_source: str
    seconds: float
    losses: dict[str, Loss]
    """What agents will delete soon, by agent."""


class Backfill(msgspec.Struct):
    """A slice that is ready to run. Making it writes nothing."""

    night: Night
    limits: Limits
    doomed_first: bool
    report: Report
    stock: Stock
    estimate: Estimate
    now: float
    watch: Stopwatch


class Backfilled(msgspec.Struct):
    """What a slice did, and how the whole stands."""

    plan: Plan
    report: Report


def plan(state: State) -> Plan | None:
    """Return how the backfill stands, ``None`` where there never was one."""
    kept = state.get(_KEY)
    return None if kept is None else msgspec.json.decode(kept, type=Plan)


def prepare(night: Night, limits: Limits, *, doomed_first: bool) -> Backfill:
    """List what is left and estimate what reading it takes: newest first, or doomed first."""
    now = night.clock()
    watch = Stopwatch()
    report = Report(started=iso(now), backend=night.backend.identity)
    night.reader.words = night.decided().words
    with watch.stage("list"):
        stock = take_stock(night, report, now, _EVERYTHING)
    stock.due.sort(key=_doomed if doomed_first else _newest)
    estimate = _estimate(night, stock.due, now)
    return Backfill(night, limits, doomed_first, report, stock, estimate, now, watch)


def run(ready: Backfill, clock: Callable[[], float] = time.monotonic) -> Backfilled:
    """Settle one slice and make the queue; resumes by itself what was stopped anywhere.

    Ends with exit code 75 where a limit leaves something for the next slice. ``clock`` measures the
    minutes. Raises what a night raises; the plan then says that it failed and what it spent.
    """
    night, report = ready.night, ready.report
    record = _begun(ready)
    before = msgspec.structs.replace(record)
    night.limits, night.timer, began = ready.limits, clock, clock()

    def keep(batch: Sequence[Listed] = ()) -> None:
        size = sum(one.transcript.size for one in batch)
        record.done += len(batch)
        record.left -= len(batch)
        record.bytes += size
        record.left_bytes -= size
        record.seconds = before.seconds + clock() - began
        record.tokens = before.tokens + report.spent.tokens
        record.money = before.money + report.spent.cost
        night.state.put(_KEY, msgspec.json.encode(record).decode())

    keep()
    try:
        night.state.settle(PURPOSE, ready.stock.waiting, now=ready.now)
        archiving.withdraw(night.archive, night.state)
        refusals.renew(night, night.reader.words, report)
        settle_all(night, ready.stock.due, report, ready.watch, after=keep)
        queue_up(night, report, ready.watch, ready.now)
        if report.outcome is not Outcome.FAILED and not report.why and not report.failures:
            report.outcome, report.why = Outcome.ADVANCED, _all_settled(len(ready.stock.open))
    except BaseException as wrong:
        broke_off(report, wrong)
        raise
    finally:
        record.running, record.failed = False, report.outcome is Outcome.FAILED
        record.why = report.why or next(iter(report.failures), "")
        record.ended = iso(night.clock())
        report.seconds = {stage: round(spent, 3) for stage, spent in ready.watch.seconds.items()}
        with contextlib.suppress(DreamingError):  # what broke the slice is said instead
            keep()
    return Backfilled(record, report)


def _all_settled(writing: int) -> str:
    said = "everything that was there is settled"
    return f"{said}, but {writing} still being written, left to the nights" if writing else said


def _begun(ready: Backfill) -> Plan:
    """The plan that goes on, or a new one where there is none or the last one was finished."""
    night, due = ready.night, ready.stock.due
    kept = plan(night.state)
    started = iso(ready.now)
    record = kept if kept is not None and kept.left else Plan(started=started)
    record.doomed_first, record.limits = ready.doomed_first, ready.limits
    record.backend = night.backend.identity
    record.slices += 1
    record.left, record.left_bytes = len(due), ready.estimate.bytes
    record.running, record.failed, record.why, record.ended = True, False, "", None
    return record


def _newest(one: Listed) -> tuple[float, bytes]:
    return -one.transcript.modified_ns, one.transcript.place


def _doomed(one: Listed) -> tuple[float, float, bytes]:
    lost = lost_at(one.transcript, one.keeps_days)
    return (math.inf if lost is None else lost, *_newest(one))


def _estimate(night: Night, due: Sequence[Listed], now: float) -> Estimate:
    """Estimate from the settings and from what this machine did so far; its speed is a constant
    where it did nothing yet."""
    size = sum(one.transcript.size for one in due)
    losses: dict[str, Loss] = {}
    for one in due:
        note(losses, one.transcript, one.keeps_days, settled=False, now=now)
    unasked = sum(one.transcript.size for one in due if one.standing is not Standing.STALE)
    tokens = round(unasked * night.tokens_per_mb / 1e6)
    return Estimate(
        transcripts=len(due),
        bytes=size,
        agents=dict(sorted(Counter(one.transcript.agent for one in due).items())),
        tokens=tokens,
        money=night.backend.price.estimate(tokens),
        price_source=night.backend.price.source,
        seconds=round(size / _speed(night), 1),
        losses=losses,
    )


def _speed(night: Night) -> float:
    """Bytes a second of the last runs with this backend that read a megabyte or more."""
    size = seconds = 0.0
    for one in night.state.last_runs(_RUNS):
        read = one.get("new_bytes", 0)
        if one.get("backend") == night.backend.identity and read >= 1e6:
            size += read
            seconds += sum(one["seconds"].get(stage, 0.0) for stage in ("read", "ask", "settle"))
    kept = plan(night.state)
    if kept is not None and kept.backend == night.backend.identity:
        size, seconds = size + kept.bytes, seconds + kept.seconds
    return size / seconds if size and seconds else BYTES_PER_SECOND
