"""From what is due to what is settled, batch by batch: read, ask, one transaction.

The night and the backfill share it. Killed anywhere and run again it ends the same, since a batch
is settled in one transaction and what was paid for before that is kept.
"""

from __future__ import annotations

import os
import time
from collections.abc import Callable, Iterator, Sequence
from typing import Final

import msgspec

from dreaming.backends.interface import Backend, TransientFailure, Unanswered
from dreaming.errors import BackendUnavailable, DreamingError, NotNow
from dreaming.jobs import archiving, asking, joining
from dreaming.jobs.archiving import Retention
from dreaming.jobs.asking import Asked, Asker, UnusableAnswer, in_words
from dreaming.jobs.limits import Allowance, Limits, Stopped
from dreaming.jobs.listing import PURPOSE, Listed
from dreaming.jobs.progress import Progress, Stopwatch
from dreaming.jobs.reading import Reader, Reading, kept
from dreaming.jobs.unattended import since_boot
from dreaming.models.finding import KeptExcerpt
from dreaming.models.lesson import KnownLine
from dreaming.models.report import REFUSED, Outcome, Report, Verdict, add
from dreaming.stores.accounts import Accounts
from dreaming.stores.answers import Answers
from dreaming.stores.archive import Archive
from dreaming.stores.history import History
from dreaming.stores.interface import Project
from dreaming.stores.state import State, encoded

BATCH_TRANSCRIPTS: Final = 64
BATCH_BYTES: Final = 16 << 20
"""A batch ends with whichever comes first: so much is read again after a crash at most."""

GIVE_UP: Final = 3
"""Batches without an answer, one after the other, from which on nothing is asked in a run."""

_NEXT_RUN: Final = "waits for the next run"

Key = tuple[str, bytes]
"""A transcript by its agent and path."""


def never() -> str:
    """Never say stop."""
    return ""


class Work(msgspec.Struct, kw_only=True):
    """What settling batches needs. Stores and backend are handed in; tests hand in twins."""

    backend: Backend
    state: State
    answers: Answers
    reader: Reader
    lessons: Sequence[KnownLine]
    belongs: Callable[[Project], bool]
    prompt: str
    joining_prompt: str
    tokens_per_mb: int
    archive: Archive
    retention: Retention = Retention()
    progress: Progress = msgspec.field(default_factory=Progress)
    clock: Callable[[], float] = time.time
    stop: Callable[[], str] = never
    """Asked before each batch and each request: a reason to leave the rest for later, or nothing.
    """
    limits: Limits = Limits()
    accounts: Accounts = msgspec.field(default_factory=Accounts)
    timer: Callable[[], float] = since_boot
    """Measures the minutes of the limits."""
    pause: Callable[[float], None] = time.sleep


def settle_all(
    work: Work,
    due: Sequence[Listed],
    report: Report,
    watch: Stopwatch,
    *,
    room: Callable[[], int] | None = None,
    after: Callable[[Sequence[Listed]], None] = lambda _: None,
) -> set[Key]:
    """Read, ask and settle every batch; return the transcripts that are settled now.

    ``report.spent`` is right at every moment, also when this raises. ``room`` says how many
    transcripts the next batch may have, else the limits do; ``after`` is told of each batch that
    is settled.
    """
    allowance = _allowance(work, report)
    asker = Asker(
        work.backend,
        work.state,
        work.answers,
        work.prompt,
        work.reader.sendable([line.text for line in work.lessons]),
        allowance,
        is_clean=work.reader.is_clean,
        pause=work.pause,
    )
    unanswered: list[DreamingError] = []
    settled: set[Key] = set()
    sessions: set[str] = set()
    failed_before = report.verdicts.get(Verdict.FAILED, 0)
    work.progress.begin("reading", sum(one.transcript.size for one in due))
    for number, batch in enumerate(_batches(due, room or allowance.room), start=1):
        reason = allowance.reached()
        if reason:
            report.why, report.exit_code = reason, max(report.exit_code, Stopped.EXIT_CODE)
            _leave_rest(report, len(due) - report.read, _NEXT_RUN)
            break
        with watch.stage("read"):
            readings = [_read(work, one) for one in batch]
        asked = Asked()
        try:
            with watch.stage("ask"):
                budget = asking.room(sum(one.new_bytes for one in readings), work.tokens_per_mb)
                asker.ask(_new_excerpts(work, readings), work.clock(), budget, asked)
        except DreamingError as wrong:
            settled |= _batch_failed(work, readings, report, wrong, asked)
            if isinstance(wrong, Unanswered | UnusableAnswer):
                unanswered.append(wrong)
            if len(unanswered) >= GIVE_UP:
                _give_up(report, unanswered)
                _leave_rest(report, len(due) - report.read, "waits for the backend")
                break
            if isinstance(wrong, NotNow | BackendUnavailable):
                left = _NEXT_RUN if isinstance(wrong, Stopped) else "waits for the backend"
                _leave_rest(report, len(due) - report.read, left)
                break
            continue
        unanswered.clear()
        with watch.stage("settle"):
            settle(work, readings, asked, report)
        settled |= {one.transcript.key for one in batch}
        sessions |= _count_readings(report, readings, asked)
        report.sessions = len(sessions)
        after(batch)
        work.progress.note(
            f"batch {number}: {len(batch)} transcripts, "
            f"{sum(len(one.settlement.excerpts) for one in readings)} excerpts"
        )
    else:
        _second_look(work, asker, allowance, report, watch)
    failed = report.verdicts.get(Verdict.FAILED, 0) - failed_before
    if failed:
        report.failures.append(
            f"{failed} of the transcripts could not be read or scanned (the table says why); "
            "they are tried again."
        )
        report.exit_code = max(report.exit_code, 1)
    return settled


def _allowance(work: Work, report: Report) -> Allowance:
    return Allowance(
        work.limits,
        report,
        work.backend.account,
        accounts=work.accounts,
        stop=work.stop,
        clock=work.clock,
        timer=work.timer,
        progress=work.progress,
    )


def _give_up(report: Report, unanswered: Sequence[DreamingError]) -> None:
    """Ask no more in a run in which nothing is answered: the next batches would fare no better."""
    silent = all(isinstance(one, TransientFailure) for one in unanswered)
    said = "does not answer" if silent else "gives no answer that can be used"
    report.failures.append(
        f"The backend {said}: {len(unanswered)} batches in a row. Nothing more was asked."
    )
    if silent:
        report.exit_code = max(report.exit_code, BackendUnavailable.EXIT_CODE)


def _second_look(
    work: Work, asker: Asker, allowance: Allowance, report: Report, watch: Stopwatch
) -> None:
    """Let a model say which findings of all nights are one; without an answer they stay apart."""
    if not work.backend.words or allowance.reached():
        return
    history = History(work.state, work.belongs)
    try:
        with watch.stage("ask"):
            asked = joining.second_look(
                asker, work.state, joining.live(history), work.joining_prompt, work.clock()
            )
    except DreamingError as wrong:
        _tell(report, wrong)
        return
    if asked is not None:
        settle(work, [], asked, report)
        _count_readings(report, [], asked)
        joining.remember(work.state, joining.live(history))


def count(report: Report, verdict: Verdict, reason: str, number: int = 1) -> None:
    """Count what became of one transcript, or of so many."""
    report.verdicts[verdict] = report.verdicts.get(verdict, 0) + number
    name = f"{verdict}: {reason}" if reason else str(verdict)
    report.reasons[name] = report.reasons.get(name, 0) + number


def _batches(due: Sequence[Listed], room: Callable[[], int]) -> Iterator[list[Listed]]:
    """Cut what is due in the order it comes, so that a second try makes the same batches."""
    at = 0
    while at < len(due):
        most = min(BATCH_TRANSCRIPTS, max(1, room()))
        batch: list[Listed] = []
        size = 0
        for one in due[at : at + most]:
            if batch and size + one.transcript.size > BATCH_BYTES:
                break
            batch.append(one)
            size += one.transcript.size
        at += len(batch)
        yield batch


def _read(work: Work, one: Listed) -> Reading:
    if one.source is not None:
        reading = work.reader.read(one.source, one.transcript, one.cursor)
    else:
        reading = archiving.read(work.archive, work.reader, one)
    if not work.retention.sessions:
        reading.redacted = None
    work.progress.step(one.transcript.size)
    return reading


def _new_excerpts(work: Work, readings: Sequence[Reading]) -> list[KeptExcerpt]:
    """The excerpts no backend was asked about yet: new ones, and those that changed.

    Each once, though copies of its transcript exist or it was moved.
    """
    every = {one.id: one for reading in readings for one in kept(reading.settlement)}
    return [one for one in every.values() if not work.state.holds(one.id, encoded(one.excerpt))]


def settle(work: Work, readings: Sequence[Reading], asked: Asked, report: Report) -> None:
    """Write everything the batch came to, in one transaction; then delete what must go."""
    archiving.keep(work.archive, readings)
    withdrawn = work.state.settle(
        PURPOSE,
        [reading.settlement for reading in readings],
        now=work.clock(),
        findings=asked.findings,
        requests=asked.requests,
    )
    add(report.withdrawn, withdrawn)
    for hash_ in work.state.withdrawn_answers():
        work.answers.forget(hash_)
    archiving.withdraw(work.archive, work.state, readings)


def _count_readings(report: Report, readings: Sequence[Reading], asked: Asked) -> set[str]:
    for reading in readings:
        one = reading.settlement
        count(report, one.verdict, one.reason)
        report.read += 1
        report.new_bytes += reading.new_bytes
        report.unreadable_lines += reading.unreadable_lines
        report.excerpts += len(one.excerpts)
        for kind, number in reading.unknown_records.items():
            report.unknown_records[kind] = report.unknown_records.get(kind, 0) + number
    report.findings += len(asked.findings)
    report.set_aside += asked.set_aside
    for complaint in asked.complaints:
        reason = str(complaint.reason)
        report.complaints[reason] = report.complaints.get(reason, 0) + 1
    return {
        reading.settlement.origin.session_id
        for reading in readings
        if reading.settlement.origin is not None
    }


def _batch_failed(
    work: Work, readings: Sequence[Reading], report: Report, wrong: DreamingError, asked: Asked
) -> set[Key]:
    """Count a batch nobody answered for; what is refused in it is settled all the same.

    A refusal waits for no backend: what came from the transcript before is withdrawn tonight.
    """
    refused = [one for one in readings if one.settlement.verdict in REFUSED]
    settle(work, refused, Asked(), report)
    # What else was answered is kept, and told by the night that settles it.
    unusable = [one for one in asked.complaints if one.whole]
    _count_readings(report, refused, Asked(complaints=unusable))
    left = len(readings) - len(refused)
    report.read += left
    for _ in range(left):
        count(report, Verdict.SKIPPED, f"not asked yet: {in_words(type(wrong))}")
    _tell(report, wrong)
    if not isinstance(wrong, NotNow):
        report.outcome = Outcome.FAILED
    return {(one.settlement.agent, os.fsencode(one.settlement.path)) for one in refused}


def _tell(report: Report, wrong: DreamingError) -> None:
    """Let the report say what was in the way of a question."""
    if isinstance(wrong, Stopped):
        report.why = wrong.message
    else:
        ends = wrong.message.endswith((".", "!", "?")) or not wrong.remedy
        parts = (wrong.message + ("" if ends else "."), wrong.remedy)
        report.failures.append(" ".join(parts).rstrip())
    report.exit_code = max(report.exit_code, wrong.EXIT_CODE)


def _leave_rest(report: Report, left: int, reason: str) -> None:
    for _ in range(left):
        count(report, Verdict.SKIPPED, reason)
