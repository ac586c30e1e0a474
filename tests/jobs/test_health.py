"""What is wrong with the nights, and the one thing to do next."""

from __future__ import annotations

from typing import Any

import msgspec
import pytest

from dreaming.config import AlertSettings
from dreaming.jobs import health
from dreaming.jobs.backfill import Plan
from dreaming.jobs.health import advice, nights, troubles
from dreaming.jobs.listing import Preview
from dreaming.jobs.retention import Loss
from dreaming.models.report import Outcome, Report, Spent, Verdict
from dreaming.stores.state import State, opened

from .world import KEY, NIGHT

DAY = 86400.0
SETTINGS = AlertSettings()


def run(code: int = 0, outcome: str = "advanced", **more: Any) -> dict[str, Any]:
    """A run as the state gives it back."""
    report = Report(
        started="2026-11-30T03:00:00+00:00",
        backend="offline",
        outcome=Outcome(outcome),
        exit_code=code,
        **more,
    )
    return dict(msgspec.json.decode(msgspec.json.encode(report)))


FAILED = run(69, "failed", why="words of a transcript")
LATER = run(75, "stayed")


@pytest.mark.parametrize(
    ("runs", "days", "kinds"),
    [
        ([], 0, []),
        ([run()], 0, []),
        ([run(0, "stayed")] * 5, 0, []),
        ([FAILED], 0, ["failed"]),
        ([run(1, "stayed")], 0, ["failed"]),
        ([LATER], 0, []),
        ([run(130, "stayed")], 0, []),
        ([run(), FAILED], 0, []),
        ([LATER, LATER], 0, []),
        ([LATER, LATER, LATER], 0, ["stayed"]),
        ([LATER, LATER, FAILED], 0, []),
        ([FAILED, LATER, LATER, LATER], 0, ["failed"]),
        ([run()], 3, []),
        ([run()], 3.1, ["old"]),
        ([FAILED] * 3, 9, ["failed", "old"]),
    ],
)
def test_what_is_a_trouble(runs: list[Any], days: float, kinds: list[str]) -> None:
    """A failed night, nights that cannot settle what is due, a watermark that does not move."""
    found = troubles(runs, NIGHT - days * DAY, SETTINGS, NIGHT)
    assert [one.kind for one in found] == kinds
    assert all(one.remedy and one.said.endswith((".", ")")) for one in found)


@pytest.mark.parametrize(
    ("excluded", "processed", "surprising"),
    [(9, 0, False), (10, 20, True), (10, 21, False), (40, 10, True)],
)
def test_many_excluded_are_a_trouble(excluded: int, processed: int, surprising: bool) -> None:
    """Ten and a third of what could be read: more likely a false alarm than so many leaks."""
    verdicts = {Verdict.EXCLUDED: excluded, Verdict.PROCESSED: processed}
    found = troubles([run(verdicts=verdicts)], NIGHT, SETTINGS, NIGHT)
    assert [one.kind for one in found] == (["excluded"] if surprising else [])


def test_a_trouble_says_nothing_that_was_read() -> None:
    """Its words are ours alone: why a night failed may stand in `status`, not in a message."""
    (found,) = troubles([FAILED], NIGHT, SETTINGS, NIGHT)
    assert "words of a transcript" not in found.said + found.remedy
    assert "exit 69" in found.said and "backend cannot be reached" in found.said


def test_before_there_is_a_watermark_the_first_night_counts() -> None:
    """A machine on which no night ever settled everything is not in order for ever."""
    with opened(":memory:", key=KEY) as state:
        assert health.settled_since(state, NIGHT) is None
        _add(state, NIGHT - 4 * DAY, LATER)
        _add(state, NIGHT, LATER)
        assert [one.kind for one in nights(state, SETTINGS, NIGHT).troubles] == ["old"]
        state.put("watermark", repr(NIGHT - DAY))
        found = nights(state, SETTINGS, NIGHT)
    assert found.troubles == [] and found.watermark == "2026-11-29T00:53:20+00:00"


def test_a_watermark_in_the_future_does_not_silence() -> None:
    """A clock that was ahead once leaves a mark nobody reaches; nights that fail are told of."""
    with opened(":memory:", key=KEY) as state:
        _add(state, NIGHT - 4 * DAY, run())
        _add(state, NIGHT + 900 * DAY, run())
        state.put("watermark", repr(NIGHT + 900 * DAY))
        assert [one.kind for one in nights(state, SETTINGS, NIGHT).troubles] == ["old"]
        _add(state, NIGHT - DAY, run())
        assert nights(state, SETTINGS, NIGHT).troubles == []


def test_five_nights_are_shown_and_what_they_met() -> None:
    """Newest first, with outcome, reason and time; unknown kinds of record add up."""
    with opened(":memory:", key=KEY) as state:
        for number in range(7):
            report = run(unknown_records={"codex 9: odd": 2}, seconds={"read": 1.0, "ask": number})
            _add(state, NIGHT + number, report)
        found = nights(state, SETTINGS, NIGHT)
    assert [one["seconds"] for one in found.last] == [7.0, 6.0, 5.0, 4.0, 3.0]
    assert set(found.last[0]) == {"started", "outcome", "why", "exit_code", "seconds"}
    assert found.unknown_records == {"codex 9: odd": 10}


def test_what_was_spent_in_thirty_days() -> None:
    """Requests of the last thirty days that cost something."""
    with opened(":memory:", key=KEY) as state:
        for number, at in enumerate((NIGHT - 31 * DAY, NIGHT - DAY, NIGHT - DAY)):
            spent = Spent(input_tokens=100, output_tokens=10, cost=0.5)
            state.note_request(f"h{number}", f"b{number}", "failed", [], spent, at)
        state.note_request("free", "free", "asked", [], Spent(), NIGHT)
        assert nights(state, SETTINGS, NIGHT).spent == Spent(2, 200, 20, 1.0)


def test_the_most_urgent_comes_first() -> None:
    """Troubles, what goes unread, candidates, what is due, a timer; else nothing."""
    quiet = health.Nights(None, [], Spent(), {}, [])
    bad = health.Nights(None, [], Spent(), {}, troubles([FAILED], None, SETTINGS, NIGHT))
    due, none = Preview(transcripts=3), Preview(losses={"codex": Loss(30, transcripts=4)})
    lost = Preview(losses={"codex": Loss(30, transcripts=4, unread=2)})
    assert "doctor" in advice(bad, 3, lost, None, scheduled=False)
    assert "backfill --doomed-first`: 2 unread" in advice(quiet, 3, lost, None, scheduled=False)
    broken = Plan(started="", left=3, failed=True)
    assert "last slice failed" in advice(quiet, 3, lost, broken, scheduled=False)
    assert "review" in advice(quiet, 3, due, None, scheduled=False)
    assert "nightly" in advice(quiet, 0, due, None, scheduled=False)
    assert "schedule" in advice(quiet, 0, none, None, scheduled=False)
    assert "nothing to do" in advice(quiet, 0, none, None, scheduled=True)


def _add(state: State, started: float, report: dict[str, Any]) -> None:
    state.add_run(started, report["outcome"], msgspec.json.encode(report))
