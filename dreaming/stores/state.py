"""What this machine knows: cursors, excerpts, findings, usage, runs. SQLite, one writer.

Losing it costs evidence and work, never a decision. Everything one batch came to is written in one
transaction, so that a night killed anywhere and run again ends the same. ``":memory:"`` gives the
twin that tests use.
"""

from __future__ import annotations

import contextlib
import hashlib
import json
import os
import sqlite3
from array import array
from collections.abc import Iterable, Iterator, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final

import msgspec

from dreaming.errors import DiskFull, NotNow, Unusable
from dreaming.models.finding import Excerpt, Finding
from dreaming.models.report import REFUSED, Spent, Verdict, Withdrawn
from dreaming.similarity import term_id
from dreaming.stores import withdrawal
from dreaming.stores.interface import Cursor, Kept, Project, Settlement, Stamp
from dreaming.stores.migrations import STEPS, migrations

if TYPE_CHECKING:
    from sqlite_utils import Database

_REMEDY: Final = "Move the file away; the next night reads everything again. No decision is lost."
_NO_RIGHT: Final = "Give yourself the right to write it and its folder, then run this again."
_encode = msgspec.msgpack.Encoder().encode


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

    def cursors(self, purpose: str) -> dict[tuple[str, bytes], Cursor]:
        """Return every cursor of a purpose, by agent and path."""
        rows = self.connection.execute(
            "select agent, path, transcript, settled, digest, verdict, reason, rules, attempts,"
            " device, inode, size, modified_ns, changed_ns, looked_at"
            " from cursors join transcripts on id = transcript where purpose = ?",
            [purpose],
        )
        return {(row[0], row[1]): _cursor(row) for row in rows}

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
        with self._transaction():
            for one in settlements:
                self._settle(purpose, one, now, withdrawn)
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

    def look(self, purpose: str, transcripts: Iterable[int], now: float) -> None:
        """Note that a listing found these settled, in one transaction."""
        with self._transaction():
            self.connection.executemany(
                "update cursors set looked_at = ? where transcript = ? and purpose = ?",
                ((now, transcript, purpose) for transcript in transcripts),
            )

    def _settle(self, purpose: str, one: Settlement, now: float, withdrawn: Withdrawn) -> None:
        row, before = self._transcript(one)
        if not one.keep:
            gone, changed = self._replace_excerpts(row, one)
            if one.verdict is not Verdict.FAILED:
                self._count_terms(row, one.terms, before)
            self._withdraw(row, before, gone, changed, one.verdict, withdrawn)
        stamp = one.stamp
        self.connection.execute(
            "insert or replace into cursors values (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)",
            [
                row, purpose, one.settled, one.digest, one.verdict.value, one.reason, one.rules,
                one.attempts, stamp.device, stamp.inode, stamp.size, stamp.modified_ns,
                stamp.changed_ns, now,
            ],
        )  # fmt: skip

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
                "insert or ignore into projects values (?, ?, ?)",
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
            withdrawn.answers += withdrawal.withdraw_answers(self.connection, sessions)
        withdrawal.withdraw_changed(self.connection, sessions, changed)
        withdrawn.findings += withdrawal.withdraw_findings(self.connection, sessions, lost)
        withdrawn.excerpts += len(lost)
        withdrawn.transcripts += bool(lost)

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


def _cursor(row: Sequence[Any]) -> Cursor:
    return Cursor(
        transcript=row[2],
        settled=row[3],
        digest=row[4],
        verdict=Verdict(row[5]),
        reason=row[6],
        rules=row[7],
        attempts=row[8],
        stamp=Stamp(*row[9:14]),
        looked_at=row[14],
    )


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
