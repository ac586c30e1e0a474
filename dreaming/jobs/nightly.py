"""The night: read what is due, redact or refuse, ask, group, queue; the watermark moves last.

The night writes the state and ``pending/`` and nothing else. Killed anywhere and run again it ends
the same: a batch is settled in one transaction, and every later step is derived from what is
settled.
"""

from __future__ import annotations

import os
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import AbstractContextManager
from datetime import UTC, datetime
from pathlib import Path
from typing import Final

import msgspec

from dreaming.aggregation import Group
from dreaming.backends.interface import Backend
from dreaming.due import MAX_ATTEMPTS, Standing, watermark
from dreaming.errors import BackendUnavailable, DreamingError, NotNow
from dreaming.jobs import joining
from dreaming.jobs.asking import Asked, Asker, room
from dreaming.jobs.fixing import Files, flagged
from dreaming.jobs.listing import PURPOSE, Listed, Waits, is_new_to_wait, look, waiting_settlement
from dreaming.jobs.progress import Progress, Stopwatch
from dreaming.jobs.queueing import Decided, queue, survey
from dreaming.jobs.reading import Reader, Reading, kept
from dreaming.known import Known
from dreaming.models.finding import KeptExcerpt
from dreaming.models.lesson import KnownLine
from dreaming.models.report import REFUSED, Outcome, Report, Verdict
from dreaming.similarity import rarity
from dreaming.stores import withdrawal
from dreaming.stores.answers import Answers
from dreaming.stores.history import History
from dreaming.stores.interface import Cursor, Project
from dreaming.stores.pending import Pending
from dreaming.stores.state import State, encoded
from dreaming.transcripts.interface import NotASession, Source, Transcript

SEEN_ONCE_SHOWN: Final = 10
BATCH_TRANSCRIPTS: Final = 64
BATCH_BYTES: Final = 16 << 20
"""A batch ends with whichever comes first: so much is read again after a crash at most."""


class Night(msgspec.Struct):
    """What a night works with. Stores, sources and backend are handed in; tests hand in twins."""

    folders: Sequence[tuple[Source, Path]]
    backend: Backend
    state: State
    pending: Pending
    answers: Answers
    reader: Reader
    belongs: Callable[[Project], bool]
    lessons: Sequence[KnownLine]
    decided: Callable[[], Decided]
    """What the ledger says, looked up when the queue is made."""
    deciding: Callable[[], AbstractContextManager[None]]
    """Holds the decision lock, so that nobody decides while the queue is made."""
    context: Callable[[Mapping[str, Project]], tuple[list[KnownLine], list[str]]]
    """Reads what agents load anyway in the folders of these projects."""
    repository: Callable[[Project], Files | None]
    """Opens a project's repository, where it is still there."""
    prompt: str
    joining_prompt: str
    tokens_per_mb: int
    waits: Waits
    max_pending: int
    topics: Sequence[str] = ()
    progress: Progress = msgspec.field(default_factory=Progress)
    clock: Callable[[], float] = time.time


def run(night: Night) -> Report:
    """Run a night to its end and return what it did.

    Raises only what makes every further step senseless (an unusable state, no right to the
    backend); everything else is counted in the report.
    """
    watch = Stopwatch()
    now = night.clock()
    report = Report(started=_iso(now), backend=night.backend.identity)
    with watch.stage("list"):
        listed, hidden = _list(night, report, now)
    due = [one for one in listed if one.standing is Standing.DUE]
    settled = _settle_all(night, due, report, watch)
    _queue(night, report, watch, now)
    _move_watermark(night, report, listed, settled, hidden, now)
    report.seconds = {stage: round(spent, 3) for stage, spent in watch.seconds.items()}
    night.state.add_run(now, report.outcome, msgspec.json.encode(report))
    return report


# -- what is there --------------------------------------------------------------------------------


def _list(night: Night, report: Report, now: float) -> tuple[list[Listed], int]:
    """List every folder before anything is read, and remember what is seen but waits.

    Return the transcripts, and in how many places nobody knows what there is.
    """
    listed: list[Listed] = []
    hidden = 0
    for one in look(night.folders, night.state, night.waits, now):
        report.found += 1
        if not isinstance(one, NotASession):
            listed.append(one)
            _count_waiting(report, one)
        elif one.unreadable:
            _count(report, Verdict.FAILED, one.reason)
            hidden += 1
        else:
            _count(report, Verdict.SKIPPED, one.reason)
    if hidden:
        report.failures.append(
            f"{hidden} of the places below the transcripts' folders could not be looked into (the "
            "table says why); what is in them is not read."
        )
        report.exit_code = max(report.exit_code, 1)
    waiting = [one for one in listed if is_new_to_wait(one)]
    night.state.settle(PURPOSE, [waiting_settlement(one, night.waits) for one in waiting], now=now)
    return listed, hidden


def _count_waiting(report: Report, one: Listed) -> None:
    """Count what is not due tonight; what is due is counted when it was read."""
    if one.standing is Standing.DUE:
        return
    if one.standing in (Standing.SETTLED, Standing.SET_ASIDE) and one.cursor is not None:
        _count(report, one.cursor.verdict, one.cursor.reason)
        return
    _count(report, Verdict.SKIPPED, one.standing.value)
    if one.standing is Standing.OLDER:
        report.older += 1
        report.older_bytes += one.transcript.size


# -- batches --------------------------------------------------------------------------------------


def _settle_all(
    night: Night, due: Sequence[Listed], report: Report, watch: Stopwatch
) -> set[tuple[str, bytes]]:
    """Read, ask and settle every batch; return the transcripts that are settled now."""
    asker = Asker(
        night.backend,
        night.state,
        night.answers,
        night.prompt,
        [line.text for line in night.lessons],
    )
    settled: set[tuple[str, bytes]] = set()
    sessions: set[str] = set()
    failed_before = report.verdicts.get(Verdict.FAILED, 0)
    night.progress.begin("reading", sum(one.transcript.size for one in due))
    for number, batch in enumerate(_batches(due), start=1):
        with watch.stage("read"):
            readings = [_read(night, one) for one in batch]
        try:
            with watch.stage("ask"):
                budget = room(sum(one.new_bytes for one in readings), night.tokens_per_mb)
                asked = asker.ask(_new_excerpts(night, readings), night.clock(), budget)
        except DreamingError as wrong:
            settled |= _batch_failed(night, readings, report, wrong)
            if isinstance(wrong, NotNow | BackendUnavailable):
                _leave_rest(report, len(due) - report.read)
                break
            continue
        with watch.stage("settle"):
            _settle(night, readings, asked, report)
        settled |= {_key(one.transcript) for one in batch}
        sessions |= _count_readings(report, readings, asked)
        night.progress.note(
            f"batch {number}: {len(batch)} transcripts, "
            f"{sum(len(one.settlement.excerpts) for one in readings)} excerpts"
        )
    else:
        _second_look(night, asker, report, watch)
    report.sessions = len(sessions)
    report.spent = asker.spent
    failed = report.verdicts.get(Verdict.FAILED, 0) - failed_before
    if failed:
        report.failures.append(
            f"{failed} of the transcripts could not be read or scanned (the table says why); "
            "they are tried again."
        )
        report.exit_code = max(report.exit_code, 1)
    return settled


def _second_look(night: Night, asker: Asker, report: Report, watch: Stopwatch) -> None:
    """Let a model say which findings of all nights are one; without an answer they stay apart."""
    if not night.backend.words:
        return
    history = History(night.state, night.belongs)
    try:
        with watch.stage("ask"):
            asked = joining.second_look(
                asker, night.state, joining.live(history), night.joining_prompt, night.clock()
            )
    except DreamingError as wrong:
        report.failures.append(wrong.message)
        report.exit_code = max(report.exit_code, wrong.EXIT_CODE)
        return
    if asked is not None:
        _settle(night, [], asked, report)
        _count_readings(report, [], asked)
        joining.remember(night.state, joining.live(history))


def _batches(due: Sequence[Listed]) -> Iterator[list[Listed]]:
    """Cut what is due in the order of the listing, so that a second try makes the same batches."""
    batch: list[Listed] = []
    size = 0
    for one in due:
        if batch and (len(batch) == BATCH_TRANSCRIPTS or size + one.transcript.size > BATCH_BYTES):
            yield batch
            batch, size = [], 0
        batch.append(one)
        size += one.transcript.size
    if batch:
        yield batch


def _read(night: Night, one: Listed) -> Reading:
    reading = night.reader.read(one.source, one.transcript, one.cursor)
    night.progress.step(one.transcript.size)
    return reading


def _new_excerpts(night: Night, readings: Sequence[Reading]) -> list[KeptExcerpt]:
    """The excerpts no backend was asked about yet: new ones, and those that changed.

    Each once, though copies of its transcript exist or it was moved.
    """
    every = {one.id: one for reading in readings for one in kept(reading.settlement)}
    return [one for one in every.values() if not night.state.holds(one.id, encoded(one.excerpt))]


def _settle(night: Night, readings: Sequence[Reading], asked: Asked, report: Report) -> None:
    """Write everything the batch came to, in one transaction; then delete what must go."""
    withdrawn = night.state.settle(
        PURPOSE,
        [reading.settlement for reading in readings],
        now=night.clock(),
        findings=asked.findings,
        requests=asked.requests,
    )
    withdrawal.add(report.withdrawn, withdrawn)
    for hash_ in night.state.withdrawn_answers():
        night.answers.forget(hash_)


def _count_readings(report: Report, readings: Sequence[Reading], asked: Asked) -> set[str]:
    for reading in readings:
        one = reading.settlement
        _count(report, one.verdict, one.reason)
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
    night: Night, readings: Sequence[Reading], report: Report, wrong: DreamingError
) -> set[tuple[str, bytes]]:
    """Count a batch nobody answered for; what is refused in it is settled all the same.

    A refusal waits for no backend: what came from the transcript before is withdrawn tonight.
    """
    refused = [one for one in readings if one.settlement.verdict in REFUSED]
    _settle(night, refused, Asked(), report)
    _count_readings(report, refused, Asked())
    left = len(readings) - len(refused)
    report.read += left
    for _ in range(left):
        _count(report, Verdict.SKIPPED, f"not asked yet: {type(wrong).__name__}")
    remedy = f" {wrong.remedy}" if wrong.remedy else ""
    report.failures.append(f"{wrong.message}{remedy}")
    report.exit_code = max(report.exit_code, wrong.EXIT_CODE)
    if not isinstance(wrong, NotNow):
        report.outcome = Outcome.FAILED
    return {(one.settlement.agent, os.fsencode(one.settlement.path)) for one in refused}


def _leave_rest(report: Report, left: int) -> None:
    for _ in range(left):
        _count(report, Verdict.SKIPPED, "waits for the backend")


# -- the end of the night -------------------------------------------------------------------------


def _queue(night: Night, report: Report, watch: Stopwatch, now: float) -> None:
    """Group the evidence of all nights and bring ``pending/`` to it."""
    night.progress.begin("grouping", 0)
    with night.deciding():
        decided = night.decided()
        with watch.stage("aggregate"):
            history = History(night.state, night.belongs)
            known, unreadable = _known(night, decided, history)
            report.failures += unreadable
            today = datetime.fromtimestamp(now, UTC).date()
            found = survey(night.state, history, known, decided, today=today, topics=night.topics)
            found.eligible = flagged(night.state, history, found.eligible, night.repository)
        with watch.stage("pending"):
            report.queue = queue(
                night.state, night.pending, found, max_pending=night.max_pending, now=now
            )
    night.state.put("seen once", _seen_once(found.seen_once))


def _known(night: Night, decided: Decided, history: History) -> tuple[Known, list[str]]:
    projects = {id_: one for id_, one in night.state.projects().items() if night.belongs(one)}
    context, unreadable = night.context(projects)
    lessons = [line.text for line in night.lessons]
    frequencies = history.frequencies()
    known = Known(
        [*lessons, *decided.texts],
        [line.text for line in context],
        lambda token: rarity(frequencies.of(token), frequencies.sessions),
    )
    return known, unreadable


def _seen_once(groups: Sequence[Group]) -> str:
    """The best of what waits for a second session, for ``status`` to show."""
    best = [{"slug": one.slug, "rule": one.rule} for one in groups[:SEEN_ONCE_SHOWN]]
    return msgspec.json.encode(best).decode()


def _move_watermark(
    night: Night,
    report: Report,
    listed: Sequence[Listed],
    settled: set[tuple[str, bytes]],
    hidden: int,
    now: float,
) -> None:
    """Move the watermark over what is settled: one record of its own, written last."""
    before = night.state.get("watermark")
    cursors = night.state.cursors(PURPOSE)
    untouched = [one for one in listed if one.standing is Standing.SETTLED and one.cursor]
    night.state.look(PURPOSE, [one.cursor.transcript for one in untouched if one.cursor], now)
    unsettled = [
        _settled_at(one)
        for one in listed
        if _holds_watermark(one, cursors.get(_key(one.transcript)), settled)
    ]
    unsettled += [None] * hidden
    moved = watermark(float(before) if before else None, now, unsettled)
    if moved is not None and (before is None or moved > float(before)):
        night.state.put("watermark", repr(moved))
    report.watermark = _iso(moved) if moved is not None else None
    if not unsettled and report.outcome is not Outcome.FAILED:
        report.outcome, report.why = Outcome.ADVANCED, "everything that was there is settled"
    elif report.failures and not report.why:
        report.why = report.failures[0]
    elif not report.why:
        report.why = f"{len(unsettled)} transcripts are not settled yet"


def _holds_watermark(one: Listed, cursor: Cursor | None, settled: set[tuple[str, bytes]]) -> bool:
    """Whether something in this transcript is left that a later night must come back for."""
    if one.standing is Standing.OPEN:
        return True
    if one.standing is not Standing.DUE:
        return False
    if _key(one.transcript) not in settled:
        return True
    return (
        cursor is not None and cursor.verdict is Verdict.FAILED and cursor.attempts < MAX_ATTEMPTS
    )


def _settled_at(one: Listed) -> float | None:
    cursor = one.cursor
    return cursor.looked_at if cursor is not None and cursor.settled else None


def _key(transcript: Transcript) -> tuple[str, bytes]:
    return transcript.agent, os.fsencode(transcript.path)


def _count(report: Report, verdict: Verdict, reason: str) -> None:
    report.verdicts[verdict] = report.verdicts.get(verdict, 0) + 1
    name = f"{verdict}: {reason}" if reason else str(verdict)
    report.reasons[name] = report.reasons.get(name, 0) + 1


def _iso(seconds: float) -> str:
    return datetime.fromtimestamp(seconds, UTC).isoformat(timespec="seconds")
