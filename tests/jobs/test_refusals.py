"""What redaction left out, and a person's word about it: the next night goes by it, both ways."""

from __future__ import annotations

import os
import re
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

import msgspec
import pytest

from dreaming.backends.replay import Replay
from dreaming.errors import AlreadyKnown, Refused, WrongUse
from dreaming.jobs import backfill, decide, refusals
from dreaming.jobs.archiving import Retention
from dreaming.jobs.limits import Limits
from dreaming.jobs.listing import PURPOSE
from dreaming.jobs.nightly import Night, run
from dreaming.jobs.progress import Progress
from dreaming.models.decision import Action, Words
from dreaming.models.report import Outcome, Report, Verdict
from dreaming.redaction.detector import RULES, Trace
from dreaming.redaction.engine import Redactor, ScanFailed
from dreaming.stores.ledger import Ledger
from dreaming.stores.state import State, opened

from ..rules.redaction_samples import REDACTOR, example, github_token
from .world import GOTCHAS, HOUR, KEY, NIGHT, World, recorded, report_text, session

BOTH = {"watch-gotcha", "push-gotcha"}
_ASSIGNED = next(rule for rule in RULES if rule.name == "assigned-secret")


class _Paid(Replay):
    free = False


def _medium(seed: str) -> str:
    """A line that gives a name a value of medium severity."""
    return f"{example(_ASSIGNED, seed)}"


def _value(seed: str) -> str:
    """The value itself."""
    return str(max(re.findall(r"[A-Za-z0-9]+", _medium(seed)), key=len))


def _says(text: str) -> dict[str, str]:
    return {"kind": "result", "speaker": "tool", "tool": "shell", "text": text}


@pytest.fixture
def world(tmp_path: Path) -> World:
    """Two sessions that share two gotchas; in the second stands a value of medium severity."""
    made = World(tmp_path)
    session(made.sessions, "alpha", ["watch", "push"])
    _beta(made, _medium("1"))
    made.backend = Replay(recorded())
    return made


def _beta(world: World, *said: str, after: float = -24 * HOUR) -> Path:
    extra = [_says(one) for one in said]
    return session(world.sessions, "beta", ["watch", "push"], extra=extra, modified=NIGHT + after)


def _next(world: World, **changes: Any) -> Report:
    world.now += 24 * HOUR
    with opened(world.place.database, key=KEY) as state:
        return run(_made(world, state, **changes))


def _made(world: World, state: State, strict: bool = False, slice_: int | None = None) -> Night:
    night = world.made(state)
    night.reader.strict = strict
    if slice_ is not None:
        night.waits = msgspec.structs.replace(night.waits, stale_bytes=slice_)
    return night


def _overview(world: World, *, strict: bool = False) -> refusals.Overview:
    with opened(world.place.database, key=KEY) as state:
        reader = _made(world, state, strict).reader
        return refusals.overview(state, reader)


def _release(world: World, wanted: str = "", *, strict: bool = False) -> str:
    found = _overview(world, strict=strict)
    wanted = wanted or found.left_out[0].id
    one, marks = refusals.releasable(found, wanted, strict=strict)
    with world.desk() as desk:
        return decide.about_hit(desk, Action.RELEASE, one.id, marks, "it is invented").name


def _allow(world: World, mark: str) -> str:
    with world.desk() as desk:
        return decide.about_hit(desk, Action.ALLOW, mark, "", "it is invented").name


def _undo(world: World, name: str = "") -> None:
    with world.desk() as desk:
        decide.undo(desk, name)


def _everything(world: World, *folders: Path) -> bytes:
    return b"".join(
        one.read_bytes()
        for folder in folders or (world.place.root, world.place.state)
        for one in sorted(folder.rglob("*"))
        if one.is_file()
    )


# -- what is known --------------------------------------------------------------------------------


def test_a_hit_is_known_by_rule_record_and_fingerprint(world: World) -> None:
    """The state tells which rule, where and since when; the value stands nowhere."""
    report = world.night()
    assert report.verdicts == {Verdict.PROCESSED: 1, Verdict.HELD: 1}
    (one,) = _overview(world).left_out
    path = world.sessions / "beta.jsonl"
    assert (one.verdict, one.reason, one.path) == (Verdict.HELD, "assigned-secret", str(path))
    (hit,) = one.hits
    lines = path.read_text().splitlines()
    assert _value("1") in lines[hit.record - 1]
    assert (one.since, one.bytes) == (NIGHT, path.stat().st_size)
    assert _value("1").encode() not in _everything(world)


def test_hits_go_when_the_file_is_clean_and_keep_their_day_while_they_stay(world: World) -> None:
    """A value that was found on the first night is known since then, wherever it moves to."""
    world.night()
    (first,) = _overview(world).left_out[0].hits
    _beta(world, "nothing", _medium("1"), after=HOUR)
    _next(world)
    (moved,) = _overview(world).left_out[0].hits
    assert (moved.record, moved.since) == (first.record + 1, first.since)
    _beta(world, after=30 * HOUR)
    _next(world)
    assert _overview(world).left_out == []
    with opened(world.place.database, key=KEY) as state:
        assert state.hits() == {}


def test_what_cannot_be_scanned_has_failed_with_its_reason(
    world: World, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A scan that gives up and text that no rule could see are failures, never clean."""
    wide = world.sessions / "wide.jsonl"
    wide.write_bytes((world.sessions / "alpha.jsonl").read_text().encode("utf-16"))
    os.utime(wide, (NIGHT - 24 * HOUR, NIGHT - 24 * HOUR))

    def gives_up(self: object, *_: object) -> list[Trace]:
        raise ScanFailed("The rule invented took too long on one place.")

    with monkeypatch.context() as patch:
        patch.setattr("dreaming.redaction.engine.Scanner.finish", gives_up)
        report = world.night()
    assert report.verdicts == {Verdict.FAILED: 3}
    assert world.waiting() == {}
    reasons = {Path(one.path).stem: one.reason for one in _overview(world).left_out}
    assert "took too long" in reasons["alpha"]
    assert reasons["wide"] == "cannot be scanned for credentials: It is not in UTF-8."


def test_what_is_meant_is_found_by_id_path_and_fingerprint(world: World) -> None:
    """The beginning of an id or fingerprint is enough; what names nothing is said."""
    world.night()
    found = _overview(world).left_out
    (one,) = found
    for wanted in (one.id[:4], one.path, one.hits[0].fingerprint[:8]):
        assert refusals.named(found, wanted) == [one]
    for wanted in ("abc", "nothing at all"):
        with pytest.raises(WrongUse):
            refusals.named(found, wanted)


def test_a_hit_in_decoded_text_is_known_by_its_record(world: World) -> None:
    """Lines inside one text are no records."""
    with opened(world.place.database, key=KEY) as state:
        texts = [(7, f"a\nb\n{github_token()}"), (9, "x"), (11, f"a\nb {github_token()}")]
        hits = world.made(state).reader.scan(texts)
    assert [hit.record for hit in hits] == [7, 11]


# -- release --------------------------------------------------------------------------------------


def test_what_is_released_is_read_the_next_night(world: World) -> None:
    """Its medium hits stand; the ledger names neither path nor value, and is whole."""
    world.night()
    assert world.waiting() == {}
    _release(world)
    report = _next(world)
    assert report.verdicts == {Verdict.PROCESSED: 2}
    assert set(world.waiting()) == BOTH
    ledger = _everything(world, world.place.ledger)
    assert b"beta" not in ledger and os.fsencode(world.sessions) not in ledger
    assert _value("1").encode() not in ledger
    assert Ledger(world.place.ledger, "reader").verify({}) == []
    assert _next(world).read == 0


def test_a_release_holds_for_the_values_that_were_there(world: World) -> None:
    """Growth without a new credential passes; another one holds the transcript again."""
    world.night()
    _release(world)
    _next(world)
    _beta(world, _medium("1"), "more of the same", after=30 * HOUR)
    assert _next(world).verdicts == {Verdict.PROCESSED: 2}
    _beta(world, _medium("1"), _medium("2"), after=60 * HOUR)
    report = _next(world)
    assert report.verdicts == {Verdict.PROCESSED: 1, Verdict.HELD: 1}
    assert report.withdrawn.transcripts == 1
    assert world.waiting() == {}
    _release(world)
    assert _next(world).verdicts == {Verdict.PROCESSED: 2}


def test_nothing_with_a_high_hit_is_released(world: World) -> None:
    """Neither where both severities stand in it nor what is excluded anyway."""
    _beta(world, _medium("1"), github_token())
    world.night()
    with pytest.raises(Refused, match="only what is held"):
        _release(world)
    assert list(world.place.ledger.glob("reviewed-*")) == []


def test_undoing_a_release_withdraws(world: World) -> None:
    """What came in by it goes the next night, also when the agent deleted the transcript."""
    world.night()
    _release(world)
    _next(world)
    assert set(world.waiting()) == BOTH
    _undo(world)
    (world.sessions / "beta.jsonl").unlink()
    report = _next(world)
    assert report.withdrawn.transcripts == 1
    assert world.waiting() == {}
    _undo(world, Ledger(world.place.ledger, "reader").decisions()[-1].name)  # and back
    _beta(world, _medium("1"))
    assert _next(world).verdicts == {Verdict.PROCESSED: 2}


# -- allow ----------------------------------------------------------------------------------------


@pytest.mark.parametrize("value", [_medium("1"), github_token()], ids=["medium", "high"])
def test_an_allowed_value_is_no_hit(world: World, value: str) -> None:
    """Whatever its severity, in every transcript; taken back, all that came of it goes."""
    _beta(world, value)
    session(world.sessions, "gamma", ["watch"], extra=[_says(value)])
    world.night()
    marks = {hit.fingerprint for one in _overview(world).left_out for hit in one.hits}
    assert len(marks) == 1
    _allow(world, marks.pop())
    assert _next(world).verdicts == {Verdict.PROCESSED: 3}
    assert set(world.waiting()) == BOTH
    _undo(world)
    report = _next(world)
    assert report.verdicts[Verdict.PROCESSED] == 1
    assert report.withdrawn.transcripts == 2
    assert world.waiting() == {}


def test_an_allowed_value_may_stand_in_an_excerpt(world: World) -> None:
    """What is no credential is none in the excerpts either; another value beside it still is."""
    words = f"No, not like that: use {_medium('1')} here."
    wrong = {"kind": "call", "speaker": "model", "tool": "shell", "action": GOTCHAS["lint"][0]}
    _beta(world)
    session(
        world.sessions, "gamma", ["watch"],
        extra=[wrong, {"kind": "user", "speaker": "human", "text": words}],
    )  # fmt: skip
    assert world.night().verdicts[Verdict.HELD] == 1
    for hit in _overview(world).left_out[0].hits:
        _allow(world, hit.fingerprint)
    assert _next(world).verdicts == {Verdict.PROCESSED: 3}


def test_one_word_is_said_once(world: World) -> None:
    """A second time is said to be known; a word of another workspace is none here."""
    world.night()
    mark = _overview(world).left_out[0].hits[0].fingerprint
    _allow(world, mark)
    with pytest.raises(AlreadyKnown):
        _allow(world, mark)
    other = World(world.place.root.parent / "other")
    session(other.sessions, "alpha", ["watch"], extra=[_says(_medium("1"))])
    assert other.night().verdicts == {Verdict.HELD: 1}


def test_a_night_that_is_killed_goes_by_the_word_when_it_runs_again(
    world: World, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The ledger is the commit point: what was said before the kill holds after it, both ways."""
    world.night()
    _release(world)

    def killed(*_: object, **__: object) -> None:
        raise KeyboardInterrupt

    for says, settled in ((None, 2), (_undo, 1)):
        if says is not None:
            says(world)
        with monkeypatch.context() as patch:
            patch.setattr(State, "settle", killed)
            with pytest.raises(KeyboardInterrupt):
                _next(world)
        assert _next(world).verdicts[Verdict.PROCESSED] == settled


def test_more_hits_than_are_listed_cannot_be_overruled(world: World) -> None:
    """Nobody can have seen them all."""
    with opened(world.place.database, key=KEY) as state:
        reader = world.made(state).reader
        reader.words = Words(frozenset({"f" * 16}))
        hits = [msgspec.structs.replace(_hit(), record=number) for number in range(1000)]
        path = Path("/srv/x.jsonl")
        assert reader.refusal("codex", path, hits[:999]) is None
        assert reader.refusal("codex", path, hits) == (
            Verdict.EXCLUDED,
            "more hits than are listed",
        )


def _hit() -> Any:
    from dreaming.stores.interface import Found

    return Found(1, "assigned-secret", "medium", "f" * 16)


# -- medium = "exclude" ---------------------------------------------------------------------------


def test_the_strict_exclude_what_is_medium(world: World) -> None:
    """No release holds then, also one that was given before; allowing a value does."""
    world.night()
    _release(world)
    assert _next(world).verdicts == {Verdict.PROCESSED: 2}
    report = _next(world, strict=True)
    assert report.verdicts == {Verdict.PROCESSED: 1, Verdict.EXCLUDED: 1}
    assert report.withdrawn.transcripts == 1
    with pytest.raises(Refused, match="exclude"):
        _release(world, strict=True)
    _allow(world, _overview(world).left_out[0].hits[0].fingerprint)
    assert _next(world, strict=True).verdicts == {Verdict.PROCESSED: 2}


# -- new rules ------------------------------------------------------------------------------------


class _Sharper:
    """Rules that find a word which passed before."""

    def __init__(self, word: bytes) -> None:
        self._word = word

    def find(
        self, data: bytes, low: int = 0, high: int | None = None, depth: int = 0
    ) -> Sequence[Trace]:
        high = len(data) + 1 if high is None else high
        end = data.find(self._word) + len(self._word)
        rule = next(one for one in RULES if one.name == "github-token")
        return (
            [Trace(rule, self._word, end)] if end >= len(self._word) and low <= end < high else []
        )


def _sharpen(world: World, word: str) -> None:
    world.redactor = Redactor(KEY)
    world.redactor.__dict__["_detector"] = _Sharper(word.encode())
    world.rules = "sharper"


@pytest.fixture
def quiet(tmp_path: Path) -> World:
    """Six clean sessions, all settled, each newer than the one before."""
    made = World(tmp_path)
    for number in range(6):
        session(made.sessions, f"s{number}", ["watch"], modified=NIGHT - (30 - number) * HOUR)
    made.night()
    return made


def test_new_rules_read_a_slice_each_night(quiet: World) -> None:
    """The newest first, never more than fits; what waits is counted and holds no watermark."""
    quiet.rules = "new"
    size = (quiet.sessions / "s0.jsonl").stat().st_size
    read = []
    for waiting in (4, 2, 0, 0):
        report = _next(quiet, slice_=2 * size)
        assert (report.stale, report.outcome) == (waiting, Outcome.ADVANCED)
        assert report.verdicts == {Verdict.PROCESSED: 6}
        assert report.found == 6
        read.append(report.read)
        assert report.watermark is not None and report.watermark.startswith("2026-1")
    assert read == [2, 2, 2, 0]
    with opened(quiet.place.database, key=KEY) as state:
        assert float(state.get("watermark") or 0) == quiet.now


def test_what_is_larger_than_a_slice_gets_its_night(quiet: World) -> None:
    """Nothing waits for ever."""
    quiet.rules = "new"
    assert [_next(quiet, slice_=1).read for _ in range(7)] == [1, 1, 1, 1, 1, 1, 0]


def test_rules_that_change_again_begin_with_what_waited_longest(quiet: World) -> None:
    """A slice that never came is the first after the next change."""
    size = (quiet.sessions / "s0.jsonl").stat().st_size
    for rules in ("new", "newer", "newest"):
        quiet.rules = rules
        _next(quiet, slice_=2 * size)
    with opened(quiet.place.database, key=KEY) as state:
        versions = [cursor.rules for cursor in state.cursors(PURPOSE).values()]
        assert len(set(versions)) == 3


def test_what_changed_does_not_wait_for_its_slice(quiet: World) -> None:
    """New bytes are read at once, by the new rules."""
    quiet.rules = "new"
    session(quiet.sessions, "s0", ["watch", "push"], modified=NIGHT + HOUR)
    size = (quiet.sessions / "s5.jsonl").stat().st_size
    report = _next(quiet, slice_=size)
    assert (report.read, report.stale) == (2, 4)


def test_a_backfill_reads_all_that_waits_for_the_new_rules(quiet: World) -> None:
    """It has limits of its own."""
    quiet.rules = "new"
    quiet.now += 24 * HOUR
    with opened(quiet.place.database, key=KEY) as state:
        night = _made(quiet, state, slice_=1)
        done = backfill.run(backfill.prepare(night, Limits(), doomed_first=False))
    assert (done.report.read, done.report.stale) == (6, 0)


def test_new_rules_withdraw_at_once_what_waits_for_its_slice(world: World) -> None:
    """All that is kept of every transcript is scanned on the first night, though it is not read."""
    _beta(world)
    world.night()
    assert set(world.waiting()) == BOTH
    _sharpen(world, "upstreamset")
    report = _next(world, slice_=1)
    assert report.stale == 1
    assert report.withdrawn.transcripts == 2
    assert "push-gotcha" not in world.waiting()
    assert b"upstreamset" not in _everything(world, world.place.state, world.place.pending)


@pytest.mark.parametrize("archived", [False, True])
def test_new_rules_reach_what_is_gone(world: World, archived: bool) -> None:
    """Excerpts, findings, answers and copies of deleted transcripts are scanned as well."""
    world.retention = Retention(sessions=90 * 24 * HOUR if archived else 0.0)
    _beta(world)
    world.backend = _Paid(recorded())
    world.night()
    assert set(world.waiting()) == BOTH
    assert len(list(world.place.answers.iterdir())) == 2
    for name in ("alpha", "beta"):
        (world.sessions / f"{name}.jsonl").unlink()
    _sharpen(world, "upstreamset")
    report = _next(world)
    assert report.withdrawn.transcripts == 2
    assert world.waiting() == {}
    for folder in (world.place.answers, world.place.archive):
        assert not folder.exists() or list(folder.iterdir()) == []
    assert b"upstreamset" not in _everything(world, world.place.state)
    assert "upstreamset" not in report_text(report)
    left = _overview(world).left_out
    assert [(one.verdict, one.reason) for one in left] == [
        (Verdict.EXCLUDED, "github-token"), (Verdict.EXCLUDED, "github-token"),
    ]  # fmt: skip
    assert _next(world).withdrawn.transcripts == 0


def test_a_finding_whose_words_are_a_hit_goes_alone(world: World) -> None:
    """What a model said by itself is withdrawn with its raw answer; the excerpts stand."""
    _beta(world)
    world.backend = _Paid(
        [msgspec.structs.replace(one, rule=f"Zanzibarian {one.rule}") for one in recorded()]
    )
    world.night()
    assert set(world.waiting()) == BOTH
    _sharpen(world, "Zanzibarian")
    report = _next(world)
    assert (report.withdrawn.transcripts, report.withdrawn.findings) == (0, 4)
    assert len(list(world.place.answers.iterdir())) == 1  # which of them are one, in numbers
    assert b"Zanzibarian" not in _everything(world, world.place.state, world.place.pending)
    assert report.verdicts == {Verdict.PROCESSED: 2}


# -- scanning anything ----------------------------------------------------------------------------


def _check(*paths: object) -> dict[str, refusals.Scanned]:
    found = refusals.check([str(one) for one in paths], REDACTOR, Progress())
    return {one.path: one for one in found}


def _written(path: Path, data: bytes) -> Path:
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_bytes(data)
    return path


MAKES: dict[str, Callable[[str], bytes]] = {
    "plain": lambda token: f"a\nb\nkey {token}\n".encode(),
    "windows": lambda token: f"a\r\nb\r\nkey {token}".encode(),
    "two bytes": lambda token: f"a\nb\n{token}\n".encode("utf-16"),
    "four bytes": lambda token: f"a\nb\n{token}\n".encode("utf-32"),
    "binary": lambda token: b"\x00\xff\n\n" + token.encode(),
    "long": lambda token: b"\n\n" + b"x" * 3_000_000 + f" {token} ".encode() + b"y" * 3_000_000,
}


@pytest.mark.parametrize("make", MAKES.values(), ids=MAKES)
def test_a_credential_is_found_in_any_file(tmp_path: Path, make: Callable[[str], bytes]) -> None:
    """By its line, whatever the ends of lines, the width of characters and the size."""
    path = _written(tmp_path / "deep" / "er" / "x", make(github_token()))
    (one,) = _check(tmp_path).values()
    assert one.path == str(path)
    assert [(hit.rule, hit.record) for hit in one.hits] == [("github-token", 3)]


def test_what_cannot_be_scanned_is_named(tmp_path: Path) -> None:
    """Missing, unreadable, half a character, binary, no file: none of them is called clean."""
    empty = _written(tmp_path / "empty", b"")
    half = _written(tmp_path / "half", "a".encode("utf-16") + b"x")
    binary = _written(tmp_path / "binary", b"a\0b")
    fifo = tmp_path / "fifo"
    os.mkfifo(fifo)
    (tmp_path / "link").symlink_to(tmp_path / "nowhere")
    found = _check(tmp_path, tmp_path / "missing")
    wrong = {Path(one.path).name: one.wrong for one in found.values() if one.wrong}
    assert found[str(empty)] == refusals.Scanned(str(empty))
    assert wrong == {
        half.name: "cannot be decoded",
        binary.name: "is binary: only its raw bytes were scanned",
        "fifo": "is no regular file",
        "link": "cannot be read: No such file or directory",
        "missing": "cannot be read: No such file or directory",
    }
