"""The night: read what is due, redact or refuse, ask, group, queue; the watermark moves last.

The night writes the state and ``pending/`` and nothing else. Killed anywhere and run again it ends
the same: a batch is settled in one transaction, and every later step is derived from what is
settled.
"""

from __future__ import annotations

import contextlib
import hashlib
import math
from array import array
from collections import Counter
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import AbstractContextManager
from datetime import UTC, date, datetime
from pathlib import Path
from typing import Final

import msgspec

from dreaming import __version__
from dreaming.aggregation import Group
from dreaming.due import MAX_ATTEMPTS, Standing, watermark
from dreaming.errors import INTERRUPTED, DreamingError
from dreaming.jobs import archiving, refusals
from dreaming.jobs.batches import Key, Work, count, settle_all
from dreaming.jobs.fixing import Files, flagged
from dreaming.jobs.listing import PURPOSE, Listed, Waits, is_new_to_wait, look, waiting_settlement
from dreaming.jobs.progress import Stopwatch
from dreaming.jobs.queueing import Decided, queue, survey
from dreaming.known import Known
from dreaming.models.lesson import KnownLine
from dreaming.models.report import Outcome, Queue, Report, Verdict, iso
from dreaming.signals import MINING_VERSION
from dreaming.similarity import rarity
from dreaming.stores.history import History
from dreaming.stores.interface import Cursor, Project, Settlement
from dreaming.stores.pending import Pending
from dreaming.stores.state import EVIDENCE, State
from dreaming.transcripts.interface import NotASession, Source

SEEN_ONCE_SHOWN: Final = 10


class Night(Work, kw_only=True):
    """What a night works with. Stores, sources and backend are handed in; tests hand in twins."""

    folders: Sequence[tuple[Source, Path]]
    pending: Pending
    decided: Callable[[], Decided]
    """What the ledger says, looked up when the queue is made."""
    deciding: Callable[[], AbstractContextManager[None]]
    """Holds the decision lock, so that nobody decides while the queue is made."""
    context: Callable[[Mapping[str, Project]], tuple[list[KnownLine], list[str]]]
    """Reads what agents load anyway in the folders of these projects."""
    repository: Callable[[Project], Files | None]
    """Opens a project's repository, where it is still there."""
    waits: Waits
    max_pending: int
    topics: Sequence[str] = ()


def run(night: Night) -> Report:
    """Run a night to its end and return what it did.

    Raises only what makes every further step senseless (an unusable state, no right to the
    backend); everything else is counted in the report.
    """
    watch = Stopwatch()
    now = night.clock()
    report = Report(started=iso(now), backend=night.backend.identity)
    with watch.stage("list"):
        refusals.renew(night, night.decided().words, report)
        found = take_stock(night, report, now, frozenset({Standing.DUE}))
        night.state.settle(PURPOSE, found.waiting, now=now)
        archiving.withdraw(night.archive, night.state)
    try:
        settled = settle_all(night, found.due, report, watch)
        queue_up(night, report, watch, now)
        archiving.prune(night.retention, night.archive, night.answers, night.state, now)
        _move_watermark(night, report, found, settled, now)
    except BaseException as wrong:
        broke_off(report, wrong)
        with contextlib.suppress(DreamingError):
            keep_report(night, report, watch, now)
        raise
    keep_report(night, report, watch, now)
    return report


def broke_off(report: Report, wrong: BaseException) -> None:
    """Let the report say that the run ended before its end; what it spent stands in it."""
    interrupted = isinstance(wrong, KeyboardInterrupt)
    report.outcome = Outcome.STAYED if interrupted else Outcome.FAILED
    code = INTERRUPTED if interrupted else 1
    report.exit_code = wrong.EXIT_CODE if isinstance(wrong, DreamingError) else code
    said = wrong.message if isinstance(wrong, DreamingError) else type(wrong).__name__
    report.why = "it was interrupted" if interrupted else f"it broke off: {said}"


def keep_report(night: Night, report: Report, watch: Stopwatch, started: float) -> None:
    """Keep the report of a run that has ended."""
    report.seconds = {stage: round(spent, 3) for stage, spent in watch.seconds.items()}
    night.state.add_run(started, report.outcome, msgspec.json.encode(report))


# -- what is there --------------------------------------------------------------------------------


class Stock(msgspec.Struct):
    """What a listing found."""

    due: list[Listed] = msgspec.field(default_factory=list)
    """What is to be read. Of the others there may be too many to keep them all."""
    open: list[Listed] = msgspec.field(default_factory=list)
    """What is still being written."""
    untouched: array[int] = msgspec.field(default_factory=lambda: array("q"))
    """Rows of those that are settled and did not change."""
    waiting: list[Settlement] = msgspec.field(default_factory=list)
    """What the state must remember of transcripts that were seen and wait."""
    hidden: int = 0
    """In how many places nobody knows what there is."""


def take_stock(night: Night, report: Report, now: float, due: frozenset[Standing]) -> Stock:
    """List every folder before anything is read. Writes nothing.

    ``due`` says which standings are to be read; these are counted when they were. Of those that
    only the rules made due, where ``due`` does not name them, there is one slice.
    """
    stock = Stock()
    as_before: Counter[tuple[Verdict, str]] = Counter()
    stale = list(archiving.outlived(night.state, night.archive, night.waits.rules))
    report.found += len(stale)
    again = refusals.again(night.state, night.reader)
    for one in look(night.folders, night.state, night.waits, now, again):
        report.found += 1
        if not isinstance(one, NotASession):
            if one.standing is Standing.SETTLED and one.cursor is not None:  # all, on most nights
                stock.untouched.append(one.cursor.transcript)
                as_before[one.cursor.verdict, one.cursor.reason] += 1
                continue
            if one.standing is Standing.STALE:
                stale.append(one)
            elif one.standing in due:
                stock.due.append(one)
            else:
                _count_waiting(report, one)
            if one.standing is Standing.OPEN:
                stock.open.append(one)
            if is_new_to_wait(one):
                stock.waiting.append(waiting_settlement(one, night.waits))
        elif one.unreadable:
            count(report, Verdict.FAILED, one.reason)
            stock.hidden += 1
        else:
            count(report, Verdict.SKIPPED, one.reason)
    most = math.inf if Standing.STALE in due else night.waits.stale_bytes
    for cursor in _slice(stale, most, stock, report):
        as_before[cursor.verdict, cursor.reason] += 1
    for (verdict, reason), number in as_before.items():
        count(report, verdict, reason, number)
    if stock.hidden:
        report.failures.append(
            f"{stock.hidden} of the places below the transcripts' folders could not be looked into "
            "(the table says why); what is in them is not read."
        )
        report.exit_code = max(report.exit_code, 1)
    return stock


def _slice(stale: list[Listed], most: float, stock: Stock, report: Report) -> Iterator[Cursor]:
    """Take what one night reads of what waits for the new rules; yield the cursors of the rest.

    What was looked at longest ago comes first, of that the newest: the rules may change again
    before all is done, and nothing is passed over for ever.
    """
    known = [(one, one.cursor) for one in stale if one.cursor is not None]
    known.sort(key=lambda pair: (pair[1].looked_at, -pair[0].transcript.modified_ns))
    taken = 0
    for number, (one, cursor) in enumerate(known):
        taken += one.transcript.size
        if taken <= most or number == 0:
            stock.due.append(one)
        else:
            report.stale += 1
            report.stale_bytes += one.transcript.size
            yield cursor


def _count_waiting(report: Report, one: Listed) -> None:
    """Count what is not read this time."""
    if one.standing is Standing.SET_ASIDE and one.cursor is not None:
        count(report, one.cursor.verdict, one.cursor.reason)
        return
    count(report, Verdict.SKIPPED, one.standing.value)
    if one.standing is Standing.OLDER:
        report.older += 1
        report.older_bytes += one.transcript.size


# -- the end of the night -------------------------------------------------------------------------


def queue_up(night: Night, report: Report, watch: Stopwatch, now: float) -> None:
    """Group the evidence of all nights and bring ``pending/`` to it.

    Where nothing changed that the queue depends on it is left as it is: grouping looks at every
    excerpt there is, and that takes its time.
    """
    night.progress.begin("grouping", 0)
    with night.deciding(), watch.stage("aggregate"):
        decided = night.decided()
        projects = {id_: one for id_, one in night.state.projects().items() if night.belongs(one)}
        context, unreadable = night.context(projects)
        report.failures += unreadable
        today = datetime.fromtimestamp(now, UTC).date()
        rests_on = _rests_on(night, decided, projects, context, today)
        before = _Made.of(night.state)
        if before.rests_on == rests_on + _stamps(night.pending):
            report.queue = before.queue
            return
        history = History(night.state, night.belongs)
        known = _known(night, decided, context, history)
        found = survey(night.state, history, known, decided, today=today, topics=night.topics)
        found.eligible = flagged(night.state, history, found.eligible, night.repository)
        with watch.stage("pending"):
            report.queue = queue(
                night.state, night.pending, found, max_pending=night.max_pending, now=now
            )
        night.state.put("seen once", _seen_once(found.seen_once))
        quiet = msgspec.structs.replace(report.queue, new=0, updated=0, removed=0)
        _Made(rests_on + _stamps(night.pending), quiet).keep(night.state)


class _Made(msgspec.Struct):
    """The queue as it was made last, with a hash of all that it rested on."""

    rests_on: str = ""
    queue: Queue = msgspec.field(default_factory=Queue)

    @classmethod
    def of(cls, state: State) -> _Made:
        return msgspec.json.decode(state.get("queue made") or "{}", type=cls)

    def keep(self, state: State) -> None:
        state.put("queue made", msgspec.json.encode(self).decode())


def _rests_on(
    night: Night,
    decided: Decided,
    projects: Mapping[str, Project],
    context: Sequence[KnownLine],
    today: date,
) -> str:
    """Return a hash of all that the queue depends on but ``pending/`` itself."""
    back = [
        one.until_day is not None and one.until_day <= today for one in decided.candidates.values()
    ]
    parts: list[object] = [__version__, MINING_VERSION, night.state.get(EVIDENCE), decided, back]
    parts += [sorted(projects), night.max_pending, list(night.topics)]
    parts += [[line.text for line in lines] for lines in (night.lessons, context)]
    parts += [one.stamp() for one in map(night.repository, projects.values()) if one is not None]
    return hashlib.sha256(repr(parts).encode("utf-8", "surrogatepass")).hexdigest()


def _stamps(pending: Pending) -> str:
    """Return a hash of which candidates wait and when each was written."""
    stats = [(id_, (pending.folder / f"{id_}.json").stat()) for id_ in pending.ids()]
    told = [(id_, one.st_size, one.st_mtime_ns) for id_, one in stats]
    return hashlib.sha256(repr(told).encode()).hexdigest()


def _known(night: Night, decided: Decided, context: Sequence[KnownLine], history: History) -> Known:
    lessons = [line.text for line in night.lessons]
    frequencies = history.frequencies()
    return Known(
        [*lessons, *decided.texts],
        [line.text for line in context],
        lambda token: rarity(frequencies.of(token), frequencies.sessions),
    )


def _seen_once(groups: Sequence[Group]) -> str:
    """The best of what waits for a second session, for ``status`` to show."""
    best = [{"slug": one.slug, "rule": one.rule} for one in groups[:SEEN_ONCE_SHOWN]]
    return msgspec.json.encode(best).decode()


def _move_watermark(
    night: Night, report: Report, stock: Stock, settled: set[Key], now: float
) -> None:
    """Move the watermark over what is settled: one record of its own, written last."""
    before = night.state.get("watermark")
    cursors = night.state.cursors(PURPOSE) if stock.due else {}
    night.state.look(PURPOSE, stock.untouched, now)
    unsettled = [
        _settled_at(one)
        for one in [*stock.due, *stock.open]
        if _holds_watermark(one, cursors.get(one.transcript.key), settled)
    ]
    unsettled += [None] * stock.hidden
    moved = watermark(float(before) if before else None, now, unsettled)
    if moved is not None and (before is None or moved > float(before)):
        night.state.put("watermark", repr(moved))
    report.watermark = iso(moved) if moved is not None else None
    if not unsettled and report.outcome is not Outcome.FAILED:
        report.outcome, report.why = Outcome.ADVANCED, "everything that was there is settled"
    elif report.failures and not report.why:
        report.why = report.failures[0]
    elif not report.why:
        report.why = f"{len(unsettled)} transcripts are not settled yet"


def _holds_watermark(one: Listed, cursor: Cursor | None, settled: set[Key]) -> bool:
    """Whether something in this transcript is left that a later night must come back for."""
    if one.standing is Standing.OPEN:
        return True
    if one.transcript.key not in settled:
        return one.standing is not Standing.STALE  # it was settled before, by the old rules
    return (
        cursor is not None and cursor.verdict is Verdict.FAILED and cursor.attempts < MAX_ATTEMPTS
    )


def _settled_at(one: Listed) -> float | None:
    cursor = one.cursor
    return cursor.looked_at if cursor is not None and cursor.settled else None
