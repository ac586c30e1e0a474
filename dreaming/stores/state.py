"""What this machine knows: cursors, excerpts, findings, usage, runs. SQLite, one writer.

Losing it costs evidence and work, never a decision. Everything one batch came to is written in one
transaction, so that a night killed anywhere and run again ends the same. ``":memory:"`` gives the
twin that tests use.
"""

from __future__ import annotations

import contextlib
import hashlib
import itertools
import json
import os
import sqlite3
from array import array
from collections.abc import Iterable, Iterator, Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final

import msgspec

from dreaming.errors import DiskFull, NotNow, Unusable
from dreaming.models.finding import Excerpt, Finding
from dreaming.models.report import REFUSED, Spent, Verdict, Withdrawn
from dreaming.similarity import term_id
from dreaming.stores import withdrawal
from dreaming.stores.interface import Cursor, Found, Kept, Project, Settlement, Stamp
from dreaming.stores.migrations import STEPS, migrations

if TYPE_CHECKING:
    from sqlite_utils import Database

_REMEDY: Final = "Move the file away; the next night reads everything again. No decision is lost."
_NO_RIGHT: Final = "Give yourself the right to write it and its folder, then run this again."
EVIDENCE: Final = "evidence"
"""Names the count of transactions that changed what candidates are made of."""
_encode = msgspec.msgpack.Encoder().encode
_DERIVED: Final = {
    "findings": "select id, slug || char(10) || topic || char(10) || symptom || char(10) || rule"
    " from findings",
    "kept": "select decision, body from kept",
}
_FORGET: Final = {
    "findings": "delete from findings where id = ?",
    "kept": "delete from kept where decision = ?",
    "requests": "delete from findings where request = ?",
}


class State:
    """The state database of one workspace."""

    def __init__(self, db: Database, path: Path | str = ":memory:") -> None:
        self.db = db
        self._path = path

    @property
    def connection(self) -> sqlite3.Connection:
        """The connection itself, for reading."""
        return self.db.conn

    # -- settings of its own -------------------------------------------------------------------

    def get(self, key: str) -> str | None:
        """Return a remembered value."""
        row = self.connection.execute("select value from meta where key = ?", [key]).fetchone()
        return None if row is None else str(row[0])

    def beginning(self, prefix: str) -> dict[str, str]:
        """Return the remembered values whose key begins so, by the rest of the key."""
        rows = self.connection.execute(
            "select key, value from meta where substr(key, 1, ?) = ?", [len(prefix), prefix]
        )
        return {key[len(prefix) :]: value for key, value in rows}

    def put(self, key: str, value: str) -> None:
        """Remember a value, in a transaction of its own."""
        with self._transaction():
            self._put(key, value)

    def _put(self, key: str, value: str) -> None:
        self.connection.execute("insert or replace into meta values (?, ?)", [key, value])

    @contextlib.contextmanager
    def _transaction(self) -> Iterator[None]:
        """All of the block or nothing of it; what SQLite cannot do is said in our words."""
        with _explained(self._path), self.db.atomic():
            yield

    @contextlib.contextmanager
    def one_moment(self) -> Iterator[None]:
        """Whatever is read in the block is of one moment, though a night may be writing."""
        self.connection.execute("begin")
        try:
            yield
        finally:
            self.connection.execute("rollback")

    # -- transcripts and cursors ---------------------------------------------------------------

    def cursors(self, purpose: str, but: str = "") -> dict[tuple[str, bytes], Cursor]:
        """Return every cursor of a purpose, by agent and path.

        ``but`` leaves out those made with that version of the rules.
        """
        rows = self.connection.execute(
            "select agent, path, transcript, settled, digest, verdict, reason, rules, attempts,"
            " device, inode, size, modified_ns, changed_ns, looked_at"
            " from cursors join transcripts on id = transcript where purpose = ? and rules != ?",
            [purpose, but],
        )
        return {row[:2]: _cursor(row) for row in rows}

    def settle(
        self,
        purpose: str,
        settlements: Sequence[Settlement],
        *,
        now: float,
        findings: Iterable[tuple[str, Finding]] = (),
        requests: Iterable[tuple[str, str, str, Sequence[str], Spent]] = (),
    ) -> Withdrawn:
        """Write everything one batch came to, in one transaction. Return what it took back.

        ``findings`` are (request hash, finding); ``requests`` are (hash, base, outcome, session
        ids, what it used).
        """
        withdrawn = Withdrawn()
        findings = list(findings)
        with self._transaction():
            changes = [self._settle(purpose, one, now, withdrawn) for one in settlements]
            if findings or any(changes):
                self._bump_evidence()
            self._add_requests(requests, now)
            for request, finding in findings:
                self.connection.execute(
                    "insert or ignore into findings (request, session_id, slug, topic, symptom,"
                    " rule, evidence, backend) values (?, ?, ?, ?, ?, ?, ?, ?)",
                    [
                        request,
                        finding.session_id,
                        finding.slug,
                        finding.topic,
                        finding.symptom,
                        finding.rule,
                        json.dumps(finding.evidence),
                        finding.backend,
                    ],
                )
        return withdrawn

    def note_request(
        self, hash_: str, base: str, outcome: str, sessions: Sequence[str], spent: Spent, now: float
    ) -> None:
        """Remember a request that came to nothing, so that it is not paid for without end."""
        with self._transaction():
            self._add_requests([(hash_, base, outcome, sessions, spent)], now)

    def holds(self, excerpt: str, body: bytes) -> bool:
        """Return whether some transcript, wherever it lies, holds this excerpt as it is."""
        found = self.connection.execute(
            "select 1 from excerpts where id = ? and body = ? limit 1", [excerpt, body]
        )
        return found.fetchone() is not None

    def attempts(self, base: str) -> int:
        """Return how often a request was answered or failed."""
        row = self.connection.execute(
            "select count(*) from requests where base = ?"
            " and outcome not in ('asked', 'withdrawn')",
            [base],
        ).fetchone()
        return int(row[0])

    def unsettled_requests(self) -> list[tuple[str, str]]:
        """Return (hash, base) of the requests that were sent and whose answer is not settled."""
        return self.connection.execute(
            "select hash, base from requests where outcome = 'asked' order by hash"
        ).fetchall()

    def look(self, purpose: str, transcripts: Iterable[int], now: float) -> None:
        """Note that a listing found these settled, in one transaction: neighbours at once."""
        with self._transaction():
            self.connection.executemany(
                "update cursors set looked_at = ? where transcript between ? and ? and purpose = ?",
                ((now, first, last, purpose) for first, last in _runs(transcripts)),
            )

    def _settle(self, purpose: str, one: Settlement, now: float, withdrawn: Withdrawn) -> bool:
        """Write one transcript; return whether that may have changed what groups are made of."""
        row, before = self._transcript(one)
        matters = not one.keep and bool(before or one.origin)
        if matters:
            gone, changed = self._replace_excerpts(row, one)
            if one.verdict is not Verdict.FAILED:
                self._count_terms(row, one.terms, before)
                self._replace_deeds(row, one.deeds)
            self._withdraw(row, before, gone, changed, one.verdict, withdrawn)
        if not one.keep and one.verdict is not Verdict.FAILED:
            self._replace_hits(row, one.hits, now)
        stamp = one.stamp
        self.connection.execute(
            "insert or replace into cursors values (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)",
            [
                row, purpose, one.settled, one.digest, one.verdict.value, one.reason, one.rules,
                one.attempts, stamp.device, stamp.inode, stamp.size, stamp.modified_ns,
                stamp.changed_ns, now,
            ],
        )  # fmt: skip
        return matters

    def _transcript(self, one: Settlement) -> tuple[int, str]:
        """Return the transcript's row, and the session it was of until now."""
        path = os.fsencode(one.path)
        self.connection.execute(
            "insert or ignore into transcripts (agent, path) values (?, ?)", [one.agent, path]
        )
        row, before = self.connection.execute(
            "select id, session_id from transcripts where agent = ? and path = ?",
            [one.agent, path],
        ).fetchone()
        if one.origin is not None:
            origin = one.origin
            self.connection.execute(
                "update transcripts set session_agent = ?, session_id = ?, native_id = ?, kind = ?,"
                " version = ?, kin = ? where id = ?",
                [
                    origin.agent, origin.session_id, origin.native_id, origin.kind, origin.version,
                    json.dumps(origin.kin), row,
                ],
            )  # fmt: skip
        return int(row), str(before)

    def _session(self, row: int) -> str:
        (session_id,) = self.connection.execute(
            "select session_id from transcripts where id = ?", [row]
        ).fetchone()
        return str(session_id)

    def _replace_excerpts(self, row: int, one: Settlement) -> tuple[list[str], list[str]]:
        """Put the transcript's excerpts; return the ids of those that are gone or changed."""
        if one.verdict is Verdict.FAILED:
            return [], []
        old = dict(
            self.connection.execute("select id, body from excerpts where transcript = ?", [row])
        )
        for project in one.projects.values():
            self.connection.execute(
                "insert or replace into projects values (?, ?, ?)",
                [project.id, project.identity, project.folder],
            )
        new = {id_: (project, encoded(body)) for id_, project, body in one.excerpts}
        changes = {id_: value for id_, value in new.items() if old.get(id_) != value[1]}
        self.connection.executemany(
            "insert or replace into excerpts values (?, ?, ?, ?)",
            ((row, id_, project, body) for id_, (project, body) in changes.items()),
        )
        gone = sorted(old.keys() - new.keys())
        self.connection.executemany(
            "delete from excerpts where transcript = ? and id = ?", ((row, id_) for id_ in gone)
        )
        return gone, sorted(changes.keys() & old.keys())

    def _withdraw(
        self,
        row: int,
        before: str,
        gone: Sequence[str],
        changed: Sequence[str],
        verdict: Verdict,
        withdrawn: Withdrawn,
    ) -> None:
        """Take back what rests on excerpts that are gone or say something else now.

        A refusal takes back everything of the session this transcript was of, too.
        """
        sessions = {before, self._session(row)} - {""}
        lost = list(gone)
        if verdict in REFUSED:
            for copy in withdrawal.moved_copies(self.connection, row, sessions):
                lost += withdrawal.forget_excerpts(self.connection, copy, verdict)
                self._count_terms(copy, frozenset(), self._session(copy))
                self._replace_deeds(copy, {})
            withdrawn.answers += withdrawal.withdraw_answers(self.connection, sessions)
        withdrawal.withdraw_changed(self.connection, sessions, changed)
        withdrawn.findings += withdrawal.withdraw_findings(self.connection, sessions, lost)
        withdrawn.excerpts += len(lost)
        withdrawn.transcripts += bool(lost)

    def _replace_hits(self, row: int, hits: Iterable[Found], now: float) -> None:
        """Put the transcript's hits; one that was found before keeps its day."""
        kept = self.connection.execute(
            "select fingerprint, min(since) from hits where transcript = ? group by 1", [row]
        )
        since = dict(kept.fetchall())
        self.connection.execute("delete from hits where transcript = ?", [row])
        self.connection.executemany(
            "insert or ignore into hits values (?, ?, ?, ?, ?, ?)",
            (
                (row, hit.record, hit.rule, hit.severity, hit.fingerprint, at)
                for hit in hits
                for at in [since.get(hit.fingerprint, now)]
            ),
        )

    def hits(self) -> dict[int, list[Found]]:
        """Return what redaction found, by the transcript's row, in the order of its records."""
        found: dict[int, list[Found]] = {}
        for row, *hit in self.connection.execute(
            "select transcript, record, rule, severity, fingerprint, since from hits"
            " order by transcript, record, rule"
        ):
            found.setdefault(row, []).append(Found(*hit))
        return found

    def verdicts(self, purpose: str) -> dict[str, int]:
        """Return how many transcripts have each verdict."""
        rows = self.connection.execute(
            "select verdict, count(*) from cursors where purpose = ? group by 1", [purpose]
        )
        return dict(rows.fetchall())

    def excerpts(self) -> Iterator[tuple[int, bytes]]:
        """Yield every kept excerpt with its transcript's row; those of one stand together."""
        yield from self.connection.execute(
            "select transcript, body from excerpts order by transcript, id"
        )

    def derived(self) -> Iterator[tuple[str, str, str]]:
        """Yield what was made of excerpts: (table, key, its texts)."""
        for table, query in _DERIVED.items():
            for key, text in self.connection.execute(query):
                yield table, str(key), text

    def forget_derived(self, table: str, keys: Sequence[str]) -> int:
        """Delete findings, what candidates were when decided, or what requests gave, by their keys.

        A request is marked as withdrawn. Return how many rows went, of requests their findings.
        """
        before = self.connection.total_changes
        with self._transaction():
            self.connection.executemany(_FORGET[table], ([key] for key in keys))
            gone = self.connection.total_changes - before
            if table == "requests":
                self.connection.executemany(
                    "update requests set outcome = 'withdrawn' where hash = ?",
                    ([key] for key in keys),
                )
            if gone:
                self._bump_evidence()
        return gone

    def withdrawn_answers(self) -> list[str]:
        """Return the hashes of answers whose raw text must not be kept any longer."""
        rows = self.connection.execute("select hash from requests where outcome = 'withdrawn'")
        return [str(hash_) for (hash_,) in rows]

    def _add_requests(
        self, requests: Iterable[tuple[str, str, str, Sequence[str], Spent]], now: float
    ) -> None:
        for hash_, base, outcome, sessions, spent in requests:
            self.connection.execute(
                "insert or replace into requests values (?, ?, ?, ?, ?, ?, ?, ?)",
                [
                    hash_, base, now, outcome, json.dumps(sorted(sessions)),
                    spent.input_tokens, spent.output_tokens, spent.cost,
                ],
            )  # fmt: skip

    def refused(self, purpose: str) -> list[tuple[str, bytes]]:
        """Return the transcripts of which nothing may be kept, by agent and path."""
        verdicts = sorted(REFUSED)
        return self.connection.execute(
            "select agent, path from cursors join transcripts on id = transcript"
            f" where purpose = ? and verdict in ({', '.join('?' * len(verdicts))})",
            [purpose, *verdicts],
        ).fetchall()

    def drop_excerpts(self, purpose: str, before: float) -> int:
        """Drop the excerpts of transcripts that last changed before an instant, and their findings.

        What ever stood in a candidate stays. Return how many went.
        """
        with self._transaction():
            rows = self.connection.execute(
                "select transcript, e.id, session_id from excerpts e"
                " join transcripts t on t.id = transcript where transcript in"
                " (select transcript from cursors where purpose = ? and modified_ns < ?) and e.id"
                " not in (select json_each.value from published, json_each(published.members))",
                [purpose, int(before * 1e9)],
            ).fetchall()
            self.connection.executemany(
                "delete from excerpts where transcript = ? and id = ?", (row[:2] for row in rows)
            )
            sessions = {session for _, _, session in rows}
            withdrawal.withdraw_findings(self.connection, sessions, (id_ for _, id_, _ in rows))
            if rows:
                self._bump_evidence()
        return len(rows)

    def _bump_evidence(self) -> None:
        self._put(EVIDENCE, str(int(self.get(EVIDENCE) or 0) + 1))

    # -- document frequencies ------------------------------------------------------------------

    def _count_terms(self, row: int, terms: Iterable[str], before: str) -> None:
        """Count each term once a session, whatever number of transcripts the session has.

        ``before`` is the session this transcript was counted for until now.
        """
        new = {term_id(term) for term in terms}
        kept = self.connection.execute("select terms from vocabulary where transcript = ?", [row])
        old = {term for (blob,) in kept for term in _unpacked(blob)}
        session = self._session(row)
        elsewhere = self._terms_of(session, row)
        if before == session:
            self._bump((term, -1) for term in old - new - elsewhere)
            self._bump((term, 1) for term in new - old - elsewhere)
        else:
            self._bump((term, -1) for term in old - self._terms_of(before, row))
            self._bump((term, 1) for term in new - elsewhere)
        self.connection.execute(
            "insert or replace into vocabulary values (?, ?)",
            [row, array("q", sorted(new)).tobytes()],
        )

    def _terms_of(self, session: str, but: int) -> set[int]:
        """The terms of a session's other transcripts."""
        rows = self.connection.execute(
            "select terms from vocabulary join transcripts on id = transcript"
            " where session_id = ? and transcript != ?",
            [session, but],
        )
        return {term for (blob,) in rows for term in _unpacked(blob)}

    def _bump(self, changes: Iterable[tuple[int, int]]) -> None:
        self.connection.executemany(
            "insert into frequency values (?, ?)"
            " on conflict (term) do update set sessions = sessions + excluded.sessions",
            changes,
        )

    def count_all_terms(self) -> None:
        """Count anew in how many sessions each term occurs."""
        terms: dict[str, set[int]] = {}
        for session, blob in self.connection.execute(
            "select session_id, terms from vocabulary join transcripts on id = transcript"
        ):
            terms.setdefault(session, set()).update(_unpacked(blob))
        with self._transaction():
            self.connection.execute("delete from frequency")
            self._bump((term, 1) for session in terms.values() for term in session)

    def take_over(self, table: str, rows: Sequence[Sequence[Any]]) -> None:
        """Put rows of the same table of another state here, in one transaction."""
        if not rows:
            return
        marks = ", ".join("?" * len(rows[0]))
        with self._transaction():
            self.connection.executemany(f"insert or ignore into {table} values ({marks})", rows)

    # -- what was done -------------------------------------------------------------------------

    def _replace_deeds(self, row: int, deeds: Mapping[str, tuple[float, bytes]]) -> None:
        self.connection.execute("delete from deeds where transcript = ?", [row])
        self.connection.executemany(
            "insert into deeds values (?, ?, ?, ?)",
            ((row, project, at, packed) for project, (at, packed) in deeds.items()),
        )

    # -- runs, projects, what was published ----------------------------------------------------

    def projects(self) -> dict[str, Project]:
        """Return every project seen, by id."""
        rows = self.connection.execute("select id, identity, folder from projects")
        return {row[0]: Project(*row) for row in rows}

    def published(self) -> dict[str, tuple[str, ...]]:
        """Return every candidate that ever waited, with the excerpts it was made of."""
        rows = self.connection.execute("select candidate, members from published")
        return {candidate: tuple(json.loads(members)) for candidate, members in rows}

    def publish(self, candidates: Iterable[tuple[str, Sequence[str]]], now: float) -> None:
        """Remember what waits now, in one transaction."""
        with self._transaction():
            self.connection.executemany(
                "insert into published values (?, ?, ?)"
                " on conflict (candidate) do update set members = excluded.members",
                ((id_, json.dumps(sorted(members)), now) for id_, members in candidates),
            )

    def members(self, candidate: str) -> tuple[str, ...]:
        """Return the excerpts a candidate was made of when it last waited."""
        row = self.connection.execute(
            "select members from published where candidate = ?", [candidate]
        ).fetchone()
        return () if row is None else tuple(json.loads(row[0]))

    def keep(self, decision: str, kept: Kept) -> None:
        """Remember what a candidate was when a decision of that name was made about it."""
        sessions = json.dumps(sorted(kept.sessions))
        with self._transaction():
            self.connection.execute(
                "insert or replace into kept values (?, ?, ?, ?, ?)",
                [decision, kept.candidate, kept.body, kept.excerpts, sessions],
            )

    def kept(self) -> dict[str, Kept]:
        """Return what candidates were when they were decided, by the decision's name."""
        rows = self.connection.execute(
            "select decision, candidate, body, excerpts, sessions from kept"
        )
        return {
            decision: Kept(candidate, body, excerpts, frozenset(json.loads(sessions)))
            for decision, candidate, body, excerpts, sessions in rows
        }

    def kept_of(self, decision: str) -> Kept | None:
        """Return what a candidate was when the decision of that name was made about it."""
        row = self.connection.execute(
            "select candidate, body, excerpts, sessions from kept where decision = ?", [decision]
        ).fetchone()
        if row is None:
            return None
        candidate, body, excerpts, sessions = row
        return Kept(candidate, body, excerpts, frozenset(json.loads(sessions)))

    def drop_kept(self, decision: str) -> None:
        """Forget what a candidate was: it waits again."""
        with self._transaction():
            self.connection.execute("delete from kept where decision = ?", [decision])

    def memory(self) -> bytes:
        """Return what the last grouping left to the next; nothing where none did."""
        row = self.connection.execute("select body from memory where id = 1").fetchone()
        return b"" if row is None else bytes(row[0])

    def remember(self, body: bytes) -> None:
        """Leave this to the next grouping."""
        with self._transaction():
            self.connection.execute("insert or replace into memory values (1, ?)", [body])

    def add_run(self, started: float, outcome: str, report: bytes) -> None:
        """Keep a night's report."""
        with self._transaction():
            self.connection.execute(
                "insert into runs (started, outcome, report) values (?, ?, ?)",
                [started, outcome, report.decode()],
            )

    def last_runs(self, number: int) -> list[dict[str, Any]]:
        """Return the latest reports, newest first."""
        rows = self.connection.execute("select report from runs order by id desc limit ?", [number])
        return [json.loads(report) for (report,) in rows]

    def close(self) -> None:
        """Let go of the file."""
        self.connection.close()


def _runs(numbers: Iterable[int]) -> Iterator[tuple[int, int]]:
    """Yield the first and the last of each run of numbers without a gap."""
    for _, one in itertools.groupby(enumerate(sorted(numbers)), lambda two: two[1] - two[0]):
        run = [number for _, number in one]
        yield run[0], run[-1]


_VERDICTS: Final = {one.value: one for one in Verdict}


def _cursor(row: Sequence[Any]) -> Cursor:
    """A row as ``cursors`` selects it; there are as many as transcripts, each night."""
    return Cursor(
        row[2], row[3], row[4], _VERDICTS[row[5]], row[6], row[7], row[8],
        Stamp(*row[9:14]), row[14],
    )  # fmt: skip


def _unpacked(blob: bytes) -> array[int]:
    terms = array("q")
    terms.frombytes(blob)
    return terms


def encoded(excerpt: Excerpt) -> bytes:
    """Return an excerpt as the state keeps it, without its folder."""
    return _encode(excerpt)


@contextlib.contextmanager
def opened(path: Path | str, *, key: bytes, timeout: float = 5.0) -> Iterator[State]:
    """Open the state for the time of the block; make or migrate it first.

    Raises ``Unusable`` where the file is corrupt, newer than this program or made with another
    key, and ``NotNow`` where somebody else keeps it locked.
    """
    state = _open(path, timeout)
    try:
        with _explained(path):
            _check_key(state, key)
        yield state
    finally:
        state.close()


def _open(path: Path | str, timeout: float) -> State:
    from sqlite_utils import Database

    with _explained(path), contextlib.ExitStack() as undo:
        db = Database(sqlite3.connect(path, timeout=timeout, isolation_level=None))
        undo.callback(db.conn.close)
        db.conn.execute("pragma journal_mode = wal")
        db.conn.execute("pragma synchronous = full")
        db.conn.execute("pragma foreign_keys = on")
        db.conn.execute("pragma secure_delete = on")
        # A night may write temporary files in no folder that SQLite would choose, which it does
        # once in a process; in memory they are as large as what one statement changes or sorts.
        db.conn.execute("pragma temp_store = memory")
        steps = migrations()
        _refuse_newer(path, {applied.name for applied in steps.applied(db)})
        if steps.pending(db):
            steps.apply(db)
        if path != ":memory:":
            Path(path).chmod(0o600)
        undo.pop_all()
    return State(db, path)


def _refuse_newer(path: Path | str, applied: set[str]) -> None:
    unknown = applied - {step.__name__ for step in STEPS}
    if unknown:
        raise Unusable(
            f"{path} was written by a newer version of dreaming ({', '.join(sorted(unknown))}).",
            remedy="Update dreaming.",
        )


def _check_key(state: State, key: bytes) -> None:
    proof = hashlib.sha256(b"dreaming key " + key).hexdigest()[:16]
    kept = state.get("key")
    if kept is None:
        state.put("key", proof)
    elif kept != proof:
        raise Unusable(
            "The state was made with another key than the one in its folder.",
            remedy="Put the old key back, or move state.db away; ids change with the key.",
        )


@contextlib.contextmanager
def _explained(path: Path | str) -> Iterator[None]:
    """SQLite's errors as ours."""
    try:
        yield
    except sqlite3.OperationalError as wrong:
        if "locked" in str(wrong):
            raise NotNow(
                f"{path} is locked by another program.", remedy="Try again when it has finished."
            ) from wrong
        if "full" in str(wrong) or "disk I/O" in str(wrong):
            raise DiskFull(f"{path}: {wrong}", remedy="Make room, then run this again.") from wrong
        if "readonly" in str(wrong) or "unable to open" in str(wrong):
            raise Unusable(f"{path}: {wrong}", remedy=_NO_RIGHT) from wrong
        raise Unusable(f"{path}: {wrong}", remedy=_REMEDY) from wrong
    except (sqlite3.IntegrityError, sqlite3.ProgrammingError):
        raise
    except sqlite3.DatabaseError as wrong:
        raise Unusable(f"{path} is not usable as a database: {wrong}", remedy=_REMEDY) from wrong
