"""What redaction left out: shown, let in again by a person's word, or withdrawn later.

The state knows each hit by rule, record and keyed fingerprint, so nothing here needs to read a
transcript again. A person's word stands in the ledger; every run goes by it before it lists.
"""

from __future__ import annotations

import codecs
import hashlib
import os
import re
import sys
from collections.abc import Collection, Iterable, Iterator, Sequence
from itertools import groupby
from pathlib import Path
from typing import BinaryIO, Final

import msgspec

from dreaming.errors import Refused, WrongUse
from dreaming.jobs.asking import Asked
from dreaming.jobs.batches import Key, Work, settle
from dreaming.jobs.listing import PURPOSE
from dreaming.jobs.meant import SHORTEST
from dreaming.jobs.progress import Progress
from dreaming.jobs.reading import NOT_SCANNED, WIDE, Reader, Reading
from dreaming.models.decision import Words
from dreaming.models.report import REFUSED, Report, Verdict
from dreaming.redaction.engine import MOST_HITS, Hit, Redactor, ScanFailed, Scanner, Severity
from dreaming.stores.interface import Cursor, Found, Settlement
from dreaming.stores.state import State

_SCANNED: Final = "kept texts scanned"
"""Where the state remembers by which rules and words all that it keeps was scanned."""
_LEFT_OUT: Final = (Verdict.EXCLUDED, Verdict.HELD, Verdict.FAILED)
_CHUNK: Final = 1 << 20
_JOIN: Final = "\n\0\n"
"""Between two texts, so that neither goes on in the other."""

_Refusal = tuple[Verdict, str]

# -- before a run lists ---------------------------------------------------------------------------


def renew(work: Work, words: Words, report: Report) -> None:
    """Withdraw all that rests on what today's words, settings and rules refuse.

    What the state keeps of *all* transcripts is scanned in the first run with new rules or words,
    also of those that are gone; the transcripts themselves follow in slices. Killed anywhere it
    begins anew and ends the same.
    """
    reader, state = work.reader, work.state
    reader.words = words
    refused: dict[int, tuple[_Refusal, tuple[Found, ...]]] = {}
    by = _scanned_by(reader)
    due = state.get(_SCANNED) != by
    if due:
        work.progress.note("scanning what is kept by the rules of today")
        refused = _refused_excerpts(work)
    for one in _judged(state, reader):
        if one.refusal is not None and one.refusal[0] is not one.verdict:
            refused.setdefault(one.row, (one.refusal, one.hits))
    if refused:
        readings = [
            Reading(_settlement(agent, path, cursor, *refused[cursor.transcript]))
            for (agent, path), cursor in state.cursors(PURPOSE).items()
            if cursor.transcript in refused
        ]
        settle(work, readings, Asked(), report)
    if due:
        _forget_derived(work, report)
        state.put(_SCANNED, by)


def _scanned_by(reader: Reader) -> str:
    """Return a hash of all that a refusal of a kept text depends on."""
    words = reader.words
    released = [(id_, sorted(marks)) for id_, marks in sorted(words.released.items())]
    told = (reader.rules, reader.strict, sorted(words.allowed), released)
    return hashlib.sha256(repr(told).encode()).hexdigest()


def again(state: State, reader: Reader) -> set[Key]:
    """Return the refused transcripts that are to be read again: every hit is overruled now.

    Those whose hits an earlier version did not keep are among them.
    """
    judged = _judged(state, reader)
    return {one.key for one in judged if one.refusal is None and one.verdict in REFUSED}


class _Judged(msgspec.Struct):
    """A transcript that is refused or has hits: what it was settled as, what it is today."""

    row: int
    key: Key
    verdict: Verdict
    hits: tuple[Found, ...]
    refusal: _Refusal | None


def _judged(state: State, reader: Reader) -> Iterator[_Judged]:
    known = state.hits()
    for row, agent, path, verdict in state.connection.execute(
        "select id, agent, path, verdict from cursors join transcripts on id = transcript"
        " where purpose = ? and (verdict in (?, ?) or id in (select transcript from hits))",
        [PURPOSE, *REFUSED],
    ).fetchall():
        hits = tuple(known.get(row, ()))
        refusal = reader.refusal(agent, Path(os.fsdecode(path)), hits)
        yield _Judged(row, (agent, path), Verdict(verdict), hits, refusal)


def _refused_excerpts(work: Work) -> dict[int, tuple[_Refusal, tuple[Found, ...]]]:
    """Scan every kept excerpt; return what is refused for one, by the transcript's row."""
    names = {cursor.transcript: key for key, cursor in work.state.cursors(PURPOSE).items()}
    refused: dict[int, tuple[_Refusal, tuple[Found, ...]]] = {}
    for row, kept in groupby(work.state.excerpts(), key=lambda one: one[0]):
        try:
            every = (msgspec.msgpack.decode(body) for _, body in kept)
            hits = work.reader.scan((one["line"], _JOIN.join(_texts(one))) for one in every if one)
        except (ScanFailed, msgspec.DecodeError):
            refused[row] = (Verdict.EXCLUDED, NOT_SCANNED), ()
            continue
        if hits and row in names:
            agent, path = names[row]
            verdict = work.reader.refusal(agent, Path(os.fsdecode(path)), hits)
            if verdict is not None:
                refused[row] = verdict, _found(hits)
    return refused


def _texts(value: object) -> Iterator[str]:
    """Yield every text in what was kept, whatever version kept it."""
    if isinstance(value, str):
        yield value
    elif isinstance(value, list | dict):
        for one in value.values() if isinstance(value, dict) else value:
            yield from _texts(one)


def _forget_derived(work: Work, report: Report) -> None:
    """Delete findings, what was decided, and raw answers in whose words the rules find something.

    What a person's word is about stands.
    """
    words = work.reader.words
    said = words.allowed.union(*words.released.values())

    def holds_one(text: str) -> bool:
        try:
            return any(hit.fingerprint not in said for hit in work.reader.scan([(1, text)]))
        except ScanFailed:
            return True

    derived = list(work.state.derived())
    for table in ("findings", "kept"):
        bad = [key for name, key, text in derived if name == table and holds_one(text)]
        gone = work.state.forget_derived(table, bad)
        report.withdrawn.findings += gone if table == "findings" else 0
    answers = [
        hash_
        for hash_ in work.answers.all()
        if (answer := work.answers.get(hash_)) is not None and holds_one(answer.text)
    ]
    report.withdrawn.findings += work.state.forget_derived("requests", answers)
    report.withdrawn.answers += len(answers)
    for hash_ in answers:
        work.answers.forget(hash_)


def _settlement(
    agent: str, path: bytes, cursor: Cursor, verdict: _Refusal, hits: tuple[Found, ...]
) -> Settlement:
    """The refusal of a transcript nobody opened: how far it was read, and by what, stands."""
    return Settlement(
        agent=agent,
        path=Path(os.fsdecode(path)),
        stamp=cursor.stamp,
        verdict=verdict[0],
        reason=verdict[1],
        settled=cursor.settled,
        digest=cursor.digest,
        rules=cursor.rules,
        attempts=cursor.attempts,
        hits=hits,
    )


def _found(hits: Iterable[Hit]) -> tuple[Found, ...]:
    return tuple(Found(hit.record, hit.rule, hit.severity, hit.fingerprint) for hit in hits)


# -- looking --------------------------------------------------------------------------------------


class LeftOut(msgspec.Struct, frozen=True):
    """A transcript that was left out. Its path is for this machine's screen only."""

    id: str
    """By which a person releases it."""
    agent: str
    path: str
    verdict: Verdict
    reason: str
    bytes: int
    since: float | None
    """When the first of its hits was found; ``None`` where none is known."""
    hits: tuple[Found, ...]


class Overview(msgspec.Struct, frozen=True):
    """What was left out, and of how much. How many excerpts that cost nobody can know."""

    left_out: list[LeftOut]
    """Excluded, held, failed; in each the latest first."""
    transcripts: int
    """Of all that are sessions of this workspace."""
    bytes: int


def overview(state: State, reader: Reader) -> Overview:
    """Return what was left out, as the last run knew it."""
    known = state.hits()
    found, number, size = [], 0, 0
    for (agent, path), cursor in state.cursors(PURPOSE).items():
        if cursor.verdict is Verdict.SKIPPED:
            continue
        number += 1
        size += cursor.stamp.size
        if cursor.verdict in _LEFT_OUT:
            hits = tuple(known.get(cursor.transcript, ()))
            place = os.fsdecode(path)
            found.append(
                LeftOut(
                    id=reader.id(agent, Path(place)),
                    agent=agent,
                    path=place,
                    verdict=cursor.verdict,
                    reason=cursor.reason,
                    bytes=cursor.stamp.size,
                    since=min((hit.since for hit in hits), default=None),
                    hits=hits,
                )
            )
    found.sort(key=lambda one: (_LEFT_OUT.index(one.verdict), -(one.since or 0.0), one.path))
    return Overview(found, number, size)


def named(found: Sequence[LeftOut], wanted: str) -> list[LeftOut]:
    """Return what a person means by an id, a path or a fingerprint; the first two may be begun.

    Raises ``WrongUse`` where that is nothing.
    """
    path = str(Path(wanted).absolute())
    chosen = [one for one in found if one.path in (wanted, path)]
    if not chosen and len(wanted) >= SHORTEST:
        chosen = [one for one in found if one.id.startswith(wanted)] or [
            one for one in found if any(hit.fingerprint.startswith(wanted) for hit in one.hits)
        ]
    if not chosen:
        raise WrongUse(
            f"Nothing that was left out is called {wanted!r}.",
            remedy="`dreaming redaction list` shows ids, paths and fingerprints.",
        )
    return chosen


# -- a person's word ------------------------------------------------------------------------------


def releasable(found: Overview, wanted: str, *, strict: bool) -> tuple[LeftOut, str]:
    """Return the held transcript that is meant, and the fingerprints a release holds for.

    Exactly these: another value in the grown file holds it again. Raises ``WrongUse`` where not one
    transcript is meant, and ``Refused`` for one with a hit of high severity.
    """
    chosen = named(found.left_out, wanted)
    if len(chosen) > 1:
        raise WrongUse(f"{wanted} means {len(chosen)} transcripts; name one by its id.")
    one = chosen[0]
    if one.verdict is not Verdict.HELD or strict:
        why = ', and medium = "exclude" holds' if strict else ""
        raise Refused(
            f"{one.id[:8]} is {one.verdict}{why}; only what is held can be released.",
            remedy=f"`dreaming redaction explain {one.id[:8]}` says what can be done.",
        )
    marks = {hit.fingerprint for hit in one.hits if hit.severity == Severity.MEDIUM}
    if not marks or len(one.hits) >= MOST_HITS:
        raise Refused(
            f"Not every hit in {one.id[:8]} is known.",
            remedy="Let the next night scan it again; with a thousand hits it stays left out.",
        )
    return one, " ".join(sorted(marks))


def fingerprint(told: str) -> str:
    """Return what is a whole fingerprint. Raises ``WrongUse``."""
    if not re.fullmatch("[0-9a-f]{16}", told):
        raise WrongUse(
            f"{told!r} is no fingerprint: it has 16 characters, 0-9 and a-f.",
            remedy="`dreaming redaction list` shows them.",
        )
    return told


# -- scanning anything ----------------------------------------------------------------------------


class Scanned(msgspec.Struct, frozen=True):
    """What came of one file."""

    path: str
    hits: tuple[Hit, ...] = ()
    wrong: str = ""
    """Why it is not known to be clean though nothing was found."""


def check(
    paths: Sequence[str], redactor: Redactor, progress: Progress, allowed: Collection[str] = ()
) -> Iterator[Scanned]:
    """Scan files, folders with all that is in them, and the standard input, which is ``-``.

    A fingerprint that is ``allowed`` is told once a file.

    Links to folders are not followed. Never raises for what a file is like.
    """
    files = [one for path in paths for one in _files(path)]
    progress.begin("scanning", sum(size for _, size, _ in files))
    for path, size, wrong in files:
        yield Scanned(path, wrong=wrong) if wrong else _check(path, redactor.scanner(allowed))
        progress.step(size)


def _files(path: str) -> Iterator[tuple[str, int, str]]:
    """Yield each file with its size, and what is wrong where it cannot be one."""
    if path == "-":
        yield path, 0, ""
        return
    if not os.path.isdir(path):  # noqa: PTH112 -- text in, text out, a hundred thousand times
        yield _sized(path)
        return
    problems: list[OSError] = []
    for folder, below, names in os.walk(path, onerror=problems.append):
        below.sort()
        yield from (_sized(os.path.join(folder, name)) for name in sorted(names))  # noqa: PTH118
    for wrong in problems:
        yield str(wrong.filename), 0, f"cannot be read: {wrong.strerror}"


def _sized(path: str) -> tuple[str, int, str]:
    try:
        found = os.stat(path)  # noqa: PTH116
    except OSError as wrong:
        return path, 0, f"cannot be read: {wrong.strerror}"
    regular = (found.st_mode & 0o170000) == 0o100000
    return path, found.st_size, "" if regular else "is no regular file"


def _check(path: str, scanner: Scanner) -> Scanned:
    try:
        if path == "-":
            return _scan(path, sys.stdin.buffer, scanner)
        with Path(path).open("rb") as file:
            return _scan(path, file, scanner)
    except UnicodeDecodeError:
        return Scanned(path, wrong="cannot be decoded")
    except ScanFailed as wrong:
        return Scanned(path, wrong=f"{NOT_SCANNED}: {wrong.message}")
    except OSError as wrong:
        return Scanned(path, wrong=f"cannot be read: {wrong.strerror}")


def _scan(path: str, file: BinaryIO, scanner: Scanner) -> Scanned:
    line, binary = 1, False
    data = file.read(_CHUNK)
    decode = _decoder(data)
    while data:
        if decode is not None:
            data = decode.decode(data).encode("utf-8", "surrogatepass")
        binary = binary or b"\0" in data
        scanner.feed(data, line)
        line += data.count(b"\n")
        data = file.read(_CHUNK)
    if decode is not None:
        decode.decode(b"", final=True)
    hits = scanner.finish()
    return Scanned(path, hits, "is binary: only its raw bytes were scanned" if binary else "")


def _decoder(data: bytes) -> codecs.IncrementalDecoder | None:
    """Text in two or four bytes a character says so at its beginning; other bytes stay."""
    if not data.startswith(WIDE):
        return None
    four = data.startswith((codecs.BOM_UTF32_LE, codecs.BOM_UTF32_BE))
    return codecs.getincrementaldecoder("utf-32" if four else "utf-16")()
