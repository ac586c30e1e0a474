"""What this machine knows: one transaction a batch, and nothing twice."""

import sqlite3
from collections.abc import Iterator
from pathlib import Path

import msgspec
import pytest

from dreaming.errors import NotNow, Unusable
from dreaming.models.finding import Excerpt, Finding, SignalKind
from dreaming.models.report import Spent, Verdict
from dreaming.stores.history import History
from dreaming.stores.interface import Origin, Project, Settlement, Stamp
from dreaming.stores.state import State, opened

KEY = b"k" * 32
STAMP = Stamp(1, 2, 3, 4, 5)
PROJECT = Project("p" * 16, "example.org/tide/api", "/home/robin/tide")


@pytest.fixture
def state() -> Iterator[State]:
    """The twin in memory."""
    with opened(":memory:", key=KEY) as found:
        yield found


def _excerpt(text: str = "tests never end", line: int = 3) -> Excerpt:
    return Excerpt(kind=SignalKind.CORRECTION, line=line, record="", at=1.0, folder="", words=text)


def _settlement(name: str = "a", session: str = "s1", **changes: object) -> Settlement:
    fields: dict[str, object] = {
        "agent": "codex",
        "path": Path(f"/x/{name}.jsonl"),
        "stamp": STAMP,
        "verdict": Verdict.PROCESSED,
        "settled": 10,
        "digest": "d",
        "rules": "r",
        "origin": Origin("codex", session, f"native-{session}", (f"kin-{session}",), "", "1"),
        "excerpts": ((f"e-{name}", PROJECT.id, _excerpt()),),
        "terms": frozenset({"vitest", "watch"}),
        "projects": {PROJECT.id: PROJECT},
    }
    return Settlement(**{**fields, **changes})  # type: ignore[arg-type]


def _dump(state: State) -> str:
    return "\n".join(state.connection.iterdump())


def test_excerpts_are_read_when_asked_for(state: State) -> None:
    """What a history hands out stays in the state, and equals a list of the same excerpts."""
    kept = tuple((f"e-{n}", PROJECT.id, _excerpt(f"text {n}", line=n)) for n in range(9))
    state.settle("mining", [_settlement(excerpts=kept)], now=1.0)
    found = History(state).excerpts()
    read: list[str] = []
    state.connection.set_trace_callback(read.append)
    assert (found[4].excerpt, found[-1].id, len(read)) == (kept[4][2], "e-8", 2)
    assert found == [*found]
    assert found[2:4] == [found[2], found[3]]
    assert found != [*found][:-1]


def test_the_better_copy_of_an_excerpt_counts(state: State) -> None:
    """Where copies of a transcript differ in an excerpt, the stronger one is handed out."""
    weak = _excerpt()
    strong = msgspec.structs.replace(weak, strength=2.0)
    state.settle(
        "mining",
        [
            _settlement(name, excerpts=(("e", PROJECT.id, excerpt),))
            for name, excerpt in (("a", weak), ("b", strong), ("c", weak))
        ],
        now=1.0,
    )
    assert [one.excerpt for one in History(state).excerpts()] == [strong]


def test_settling_twice_is_settling_once(state: State) -> None:
    """A night that is run again finds what it wrote, not twice of it."""
    finding = Finding("s1", "slug", "topic", "symptom", "rule", ("e-a",), "replay")
    for _ in range(2):
        state.settle("mining", [_settlement()], now=1.0, findings=[("q", finding)])
        state.connection.execute("update transcripts set version = version")
    history = History(state)
    assert [one.id for one in history.excerpts()] == ["e-a"]
    assert history.findings() == [finding]
    assert history.frequencies().of("vitest") == 1


def test_a_batch_is_one_transaction(state: State) -> None:
    """Where one part of a batch cannot be written, nothing of it is."""
    before = _dump(state)
    broken = _settlement("b", excerpts=(("e-b", "p", "not an excerpt"), ("e-b", None, _excerpt())))
    with pytest.raises(sqlite3.IntegrityError):
        state.settle("mining", [_settlement(), broken], now=1.0)
    assert _dump(state) == before


def test_a_cursor_says_what_was_settled(state: State) -> None:
    """Bytes, their hash, the verdict and the stamp come back as they were."""
    state.settle("mining", [_settlement(verdict=Verdict.HELD, reason="rule")], now=7.0)
    cursor = state.cursors("mining")["codex", b"/x/a.jsonl"]
    assert (cursor.settled, cursor.digest, cursor.verdict) == (10, "d", Verdict.HELD)
    assert (cursor.reason, cursor.stamp, cursor.looked_at) == ("rule", STAMP, 7.0)
    assert state.cursors("episodes") == {}


def test_a_session_counts_a_term_once_however_many_transcripts_it_has(state: State) -> None:
    """Frequencies are of sessions; a subagent's transcript is not another session."""
    state.settle("mining", [_settlement("a"), _settlement("b"), _settlement("c", "s2")], now=1.0)
    frequencies = History(state).frequencies()
    assert (frequencies.sessions, frequencies.of("watch"), frequencies.of("other")) == (2, 2, 0)


def test_frequencies_do_not_depend_on_how_history_was_cut(state: State) -> None:
    """Growing in two steps counts as growing in one, and what is gone is not counted."""
    state.settle("mining", [_settlement(terms=frozenset({"vitest"}))], now=1.0)
    state.settle("mining", [_settlement(terms=frozenset({"vitest", "watch"}))], now=2.0)
    state.settle("mining", [_settlement(terms=frozenset({"watch"}))], now=3.0)
    frequencies = History(state).frequencies()
    assert (frequencies.of("vitest"), frequencies.of("watch")) == (0, 1)


def test_a_refused_transcript_takes_back_everything(state: State) -> None:
    """Excerpts, findings, frequencies and answers of a session go when it gains a credential."""
    finding = Finding("s1", "slug", "topic", "symptom", "rule", ("e-a",), "anthropic")
    asked = [("q" * 64, "base", "answered", ["s1"], Spent(1, 5, 5, 0.1))]
    state.settle("mining", [_settlement()], now=1.0, findings=[("q", finding)], requests=asked)
    refused = _settlement(verdict=Verdict.EXCLUDED, excerpts=(), terms=frozenset(), projects={})
    withdrawn = state.settle("mining", [refused], now=2.0)
    assert (withdrawn.excerpts, withdrawn.findings, withdrawn.answers) == (1, 1, 1)
    assert state.withdrawn_answers() == ["q" * 64]
    history = History(state)
    assert (history.excerpts(), history.findings(), history.frequencies().of("vitest")) == (
        [],
        [],
        0,
    )


def test_a_failed_reading_takes_nothing_back(state: State) -> None:
    """What cannot be read tonight was read before; its evidence stands."""
    state.settle("mining", [_settlement()], now=1.0)
    failed = _settlement(verdict=Verdict.FAILED, excerpts=(), terms=frozenset(), origin=None)
    state.settle("mining", [failed], now=2.0)
    history = History(state)
    assert len(history.excerpts()) == 1
    assert history.frequencies().of("vitest") == 1


def test_a_copy_keeps_the_findings_of_what_was_withdrawn(state: State) -> None:
    """An excerpt that another copy of the transcript still holds stands."""
    same = (("e", PROJECT.id, _excerpt()),)
    finding = Finding("s1", "slug", "topic", "symptom", "rule", ("e",), "replay")
    state.settle(
        "mining",
        [_settlement("a", excerpts=same), _settlement("b", excerpts=same)],
        now=1.0,
        findings=[("q", finding)],
    )
    state.settle("mining", [_settlement("a", excerpts=())], now=2.0)
    assert History(state).findings() == [finding]
    assert len(History(state).excerpts()) == 1


@pytest.mark.parametrize("order", [(0, 1, 2), (2, 1, 0), (1, 2, 0)])
def test_a_family_has_one_root_whatever_was_read_first(order: tuple[int, ...]) -> None:
    """A fork, a fork of the fork and their original count once."""
    family = [
        _settlement("a", "s2", origin=Origin("codex", "s2", "n2", ("k1",), "", "")),
        _settlement("b", "s3", origin=Origin("codex", "s3", "n3", ("k1", "k2"), "", "")),
        _settlement("c", "s1", origin=Origin("codex", "s1", "n1", ("k2",), "", "")),
    ]
    with opened(":memory:", key=KEY) as state:
        for place in order:
            state.settle("mining", [family[place]], now=1.0)
        assert History(state).roots == {"s1": "s1", "s2": "s1", "s3": "s1"}


def test_other_projects_are_not_seen(state: State) -> None:
    """A workspace's history holds its projects, also of what was derived earlier."""
    state.settle("mining", [_settlement()], now=1.0)
    assert History(state, lambda project: project.identity != PROJECT.identity).excerpts() == []


def test_another_key_is_refused(tmp_path: Path) -> None:
    """Ids of two keys never mix."""
    path = tmp_path / "state.db"
    with opened(path, key=KEY):
        pass
    with pytest.raises(Unusable, match="another key"), opened(path, key=b"x" * 32):
        pass


def test_a_newer_database_is_refused_in_a_sentence(tmp_path: Path) -> None:
    """A schema step nobody here knows stops the program before it reads."""
    path = tmp_path / "state.db"
    with opened(path, key=KEY) as state:
        state.connection.execute(
            "insert into _sqlite_migrations (migration_set, name) values ('dreaming', 'm999_later')"
        )
    with pytest.raises(Unusable, match="newer version"), opened(path, key=KEY):
        pass


@pytest.mark.parametrize("damage", [b"not a database at all" * 200, b"SQLite format 3\0" * 300])
def test_a_corrupt_database_is_named(tmp_path: Path, damage: bytes) -> None:
    """The file and the way out are said."""
    path = tmp_path / "state.db"
    path.write_bytes(damage)
    with pytest.raises(Unusable, match=r"state\.db"), opened(path, key=KEY):
        pass


def test_a_locked_database_is_not_now(tmp_path: Path) -> None:
    """Somebody else's lock is no corruption."""
    path = tmp_path / "state.db"
    with opened(path, key=KEY):
        pass
    other = sqlite3.connect(path, isolation_level=None)
    try:
        other.execute("pragma locking_mode = exclusive")
        other.execute("begin exclusive")
        with pytest.raises(NotNow, match="locked"), opened(path, key=KEY, timeout=0.01) as state:
            state.put("a", "b")
    finally:
        other.close()
