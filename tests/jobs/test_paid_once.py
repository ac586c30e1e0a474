"""Paid for once, and never too much: quota, limits, tries, and what becomes of every failure."""

from __future__ import annotations

import sqlite3
from pathlib import Path

import pytest

from dreaming.backends.interface import (
    Answer,
    AnswerRefused,
    BudgetReached,
    LetInRefused,
    NotReadOnly,
    QuotaReached,
    Request,
    TimedOut,
    TooBig,
    TransientFailure,
    Unanswered,
    Unreachable,
    Usage,
    Window,
)
from dreaming.backends.replay import Replay, Step
from dreaming.errors import DreamingError
from dreaming.jobs import batches, gate
from dreaming.jobs.limits import Limits
from dreaming.jobs.nightly import run
from dreaming.models.report import Outcome, Report
from dreaming.stores.answers import Answers
from dreaming.stores.state import opened
from dreaming.stores.workspace import Workspace, lay_out

from .world import GOTCHAS, HOUR, KEY, NIGHT, World, recorded, session

NAMES = list(GOTCHAS)
SOME = Answer('[{"session_id": "half an ans', Usage(90, 10, 0.25), complete=False)


class Paid(Replay):
    """A replay of which each answer costs 1000 tokens and a dollar.

    It takes the given steps first, one a question, and ``None`` as an answer in order; where a
    question holds one of the ``declined`` words it declines.
    """

    free = False
    identity = "replay:paid"
    account = "paid"

    def __init__(
        self,
        *steps: Step | None,
        rest: Step | None = None,
        declined: str = "",
        windows: tuple[Window, ...] = (),
    ) -> None:
        super().__init__(recorded())
        self._steps, self._rest = list(steps), rest
        self._declined, self._windows = declined, windows
        self.answered: list[Request] = []

    def ask(self, request: Request) -> Answer:
        """Take the next step."""
        step = self._steps.pop(0) if self._steps else self._rest
        answer = super().ask(request)
        if self._declined and self._declined in request.prompt:
            raise AnswerRefused(partial=Answer("I would rather not.", Usage(100, 5, 0.1)))
        if isinstance(step, DreamingError):
            raise step
        if isinstance(step, Answer):
            return step
        self.answered.append(request)
        text = answer.text if step is None else step
        return Answer(text, Usage(800, 200, 1.0), windows=self._windows)


class Small(Paid):
    """Puts some ten sessions into a question."""

    context_tokens = 1000


@pytest.fixture
def world(tmp_path: Path) -> World:
    """Three sessions, two of which share a gotcha."""
    made = World(tmp_path)
    for name, gotcha in (("alpha", "watch"), ("beta", "watch"), ("gamma", "push")):
        session(made.sessions, name, [gotcha])
    return made


def told(backend: Replay) -> list[str]:
    """The excerpts that a backend was asked about, one for each time."""
    return [
        kept.id for one in backend.asked for packet in one.packets for _, kept in packet.excerpts
    ]


def kept_texts(world: World) -> list[str]:
    """What is in quarantine."""
    return [kept.text for _, kept, _ in Answers(world.place.answers).unusable()]


# -- three nights ---------------------------------------------------------------------------------


def test_a_quota_in_the_middle_costs_nights_and_nothing_else(tmp_path: Path) -> None:
    """200 sessions, a quota, three nights: each session mined once, none paid for twice, and a look
    before the quota starts anew asks nothing."""
    world = World(tmp_path)
    for number in range(200):
        session(world.sessions, f"s{number:03}", [NAMES[number % 12]])
    world.limits = Limits(money=14.0)
    quota = QuotaReached("used up", not_before=NIGHT + 5 * HOUR)
    codes: list[int] = []
    mined: list[str] = []
    for night, steps in enumerate(([None] * 8 + [quota], [], [])):
        world.now = NIGHT + 24 * night * HOUR
        world.backend = backend = Small(*steps)
        report = world.night()
        codes.append(report.exit_code)
        mined += [id_ for one in backend.answered for id_ in one.sessions if one.packets]
        assert report.spent.cost <= 14.0
        assert sum(report.verdicts.values()) == report.found == 200
        if not night:
            assert report.not_before == "2026-11-30T05:53:20+00:00"
            world.now += HOUR
            world.backend = early = Small()
            again = world.night()
            assert (again.exit_code, again.not_before) == (75, report.not_before)
            assert early.asked == [] and report.not_before in again.why
    assert codes == [75, 75, 0]
    assert len(mined) == len(set(mined)) == 200
    assert len(world.waiting()) == 12


@pytest.mark.parametrize(
    ("limits", "asked"),
    [
        (Limits(calls=1), 1),
        (Limits(tokens=1500), 2),
        (Limits(money=0.5), 1),
        (Limits(minutes=1), 0),
    ],
)
def test_a_night_ends_at_a_persons_limit(
    world: World, monkeypatch: pytest.MonkeyPatch, limits: Limits, asked: int
) -> None:
    """It says which, keeps what it has, and the next comes as after a night in order."""
    monkeypatch.setattr(batches, "BATCH_TRANSCRIPTS", 1)
    world.limits, world.backend = limits, (backend := Paid())
    with opened(world.place.database, key=KEY) as state:
        night = world.made(state)
        ticks = iter(range(0, 6000, 31))
        night.timer = lambda: float(next(ticks))
        report = run(night)
        assert (report.exit_code, report.outcome) == (75, Outcome.STAYED)
        assert len(backend.asked) == asked and "limit of" in report.why
        assert gate.due_at(state.last_runs(2), 20 * HOUR) >= NIGHT + 20 * HOUR
    world.limits = Limits()
    assert world.night().exit_code == 0
    assert len(told(backend)) == len(set(told(backend)))


# -- windows --------------------------------------------------------------------------------------


def test_a_window_beyond_the_share_is_left_to_the_person(
    world: World, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """What an answer told stops the next question, in each workspace of the account, until then."""
    monkeypatch.setattr(batches, "BATCH_TRANSCRIPTS", 1)
    resets = NIGHT + 3 * HOUR
    world.limits = Limits(window=0.5)
    world.backend = backend = Paid(windows=(Window("five_hour", 0.62, resets),))
    report = world.night()
    assert (report.exit_code, len(backend.asked)) == (75, 1)
    assert report.why == (
        "62% of the five_hour window of paid is used, and the rest is left to you; it goes on at "
        "2026-11-30T03:53:20+00:00"
    )
    with opened(world.place.database, key=KEY) as state:
        assert gate.due_at(state.last_runs(1), 20 * HOUR) == resets
        assert gate.due_at(state.last_runs(1), 2 * HOUR) < NIGHT + 3 * HOUR
    other = World(tmp_path / "other")
    other.place = Workspace(other.place.root, tmp_path / "state")
    lay_out(other.place, {"dreaming.toml": ""}, KEY)
    for number in range(2):
        session(other.sessions, f"o{number}", ["lint"])
    other.limits, other.backend = Limits(window=0.5), (second := Paid())
    assert (other.night().exit_code, second.asked) == (75, [])
    world.now = resets + 1
    assert world.night().exit_code == 0


# -- tries ----------------------------------------------------------------------------------------


def test_what_cost_nothing_is_tried_again_in_a_moment(world: World) -> None:
    """Three tries, a minute at most; then the night has its answer."""
    away = TransientFailure("overloaded")
    world.backend = backend = Paid(away, away)
    report = world.night()
    assert (report.exit_code, report.outcome) == (0, Outcome.ADVANCED)
    assert len(backend.asked) == 4  # the last is about the findings
    assert len(world.pauses) == 2 and sum(world.pauses) <= 60
    assert world.pauses[0] < world.pauses[1]


@pytest.mark.parametrize(
    "failure",
    [TimedOut("silence"), TransientFailure("broke off", partial=SOME)],
    ids=["time", "paid"],
)
def test_what_may_have_cost_something_is_not_tried_again_at_once(
    world: World, failure: TransientFailure
) -> None:
    """A question that ran into its time, or that tokens came of, waits for the next night."""
    world.backend = backend = Paid(failure)
    assert (world.night().exit_code, len(backend.asked), world.pauses) == (1, 1, [])


def test_an_unusable_answer_is_told_also_where_another_failure_ends_the_night(world: World) -> None:
    """Nothing is swallowed: the night that paid for it counts it."""
    world.backend = Paid("Let me plan.", QuotaReached("used up"))
    report = world.night()
    assert (report.exit_code, report.spent.cost) == (75, 1.0)
    assert report.complaints == {"not the JSON that was asked for": 1}
    assert report.reasons == {"skipped: not asked yet: quota reached": 3}


@pytest.mark.parametrize(
    ("step", "code", "said"),
    [
        (TransientFailure("overloaded"), 69, "does not answer"),
        ("Let me plan.", 1, "gives no answer that can be used"),
    ],
    ids=["away", "prose"],
)
def test_a_night_gives_up_a_backend_that_is_of_no_use(
    world: World, monkeypatch: pytest.MonkeyPatch, step: Step, code: int, said: str
) -> None:
    """200 batches do not fail one by one: after three in a row nothing more is asked."""
    monkeypatch.setattr(batches, "BATCH_TRANSCRIPTS", 2)
    for number in range(16):
        session(world.sessions, f"s{number}", ["lint"])
    world.backend = backend = Paid(rest=step)
    report = world.night()
    assert (report.exit_code, report.outcome, report.watermark) == (code, Outcome.FAILED, None)
    assert said in report.failures[-1]
    assert len(backend.asked) <= 10
    assert sum(report.verdicts.values()) == report.found
    world.backend = Paid()
    world.now += 24 * HOUR
    assert world.night().exit_code == 0


def test_a_night_without_an_answer_says_what_the_backend_said(world: World) -> None:
    """Its own words stand in the report, not only in what is kept of the answer."""
    world.backend = Paid(rest=Unanswered("it ended with 3: no such model"))
    report = world.night()
    assert report.exit_code == 1
    assert "it ended with 3: no such model" in report.failures[-1]


def test_what_was_wrong_and_the_remedy_are_two_sentences(world: World) -> None:
    """Also where the words of another program end without a stop."""
    world.backend = Paid(rest=LetInRefused("name not known", remedy="Look at the network."))
    assert world.night().failures == ["name not known. Look at the network."]


# -- what becomes of every failure ----------------------------------------------------------------

STOPPING = {
    "quota": (QuotaReached("used up", partial=SOME), 75),
    "budget": (BudgetReached("enough", partial=SOME), 75),
    "not let in": (LetInRefused("no key", partial=SOME), 69),
    "unreachable": (Unreachable("nobody there", partial=SOME), 69),
    "not read-only": (NotReadOnly("used a tool", partial=SOME), 69),
}
FAILING: dict[str, Step] = {
    "timed out": TimedOut("silence", partial=SOME),
    "transient, with text": TransientFailure("broke off", partial=SOME),
    "too big": TooBig("too long", partial=SOME),
    "refused": AnswerRefused(partial=SOME),
    "no form": Unanswered("did not keep to the form", partial=SOME),
    "cut short": SOME,
    "prose": Answer("Let me plan.", Usage(90, 10, 0.25)),
    "null": Answer("null", Usage(90, 10, 0.25)),
}


@pytest.mark.parametrize("name", STOPPING)
def test_a_failure_that_ends_the_night_is_no_attempt(world: World, name: str) -> None:
    """Its raw text is kept, cursors and watermark stay, and it is asked again however often."""
    failure, code = STOPPING[name]
    world.now = NIGHT
    for night in range(1, 4):
        world.backend = backend = Paid(failure)
        report = world.night()
        assert (report.exit_code, report.watermark) == (code, None)
        assert [len(one.packets) for one in backend.asked] == [3]
        assert SOME.text in kept_texts(world)
        assert report.spent.cost == 0.25
        with opened(world.place.database, key=KEY) as state:
            assert state.cursors("mining") == {}
        world.now += 24 * HOUR
        if name == "budget" and night == 2:  # that one was paid for twice
            break
    world.backend = backend = Paid()
    assert world.night().outcome is Outcome.ADVANCED
    assert len(told(backend)) == len(set(told(backend))) == 6
    assert set(world.waiting()) == {"watch-gotcha"}


@pytest.mark.parametrize("name", FAILING)
def test_no_failure_is_in_the_way_for_good(world: World, name: str) -> None:
    """Paid for twice at most, then session by session, then set aside; every raw text is kept."""
    reports: list[Report] = []
    asked: list[Request] = []
    while not reports or reports[-1].outcome is not Outcome.ADVANCED:
        world.backend = backend = Paid(rest=FAILING[name])
        reports.append(world.night())
        asked += backend.asked
        world.now += 24 * HOUR
        assert len(reports) < 10
    assert sum(one.set_aside for one in reports) == 3
    hashes = [one.hash for one in asked if one.packets]
    assert len(hashes) == len(set(hashes)) <= 2 + 3 * 2
    assert len(kept_texts(world)) == len(hashes)
    with opened(world.place.database, key=KEY) as state:
        assert len(state.cursors("mining")) == 3


def test_one_question_that_always_fails_is_told_from_a_backend_that_is_away(
    world: World, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Where others are answered a failure that costs nothing counts; where none is it does not."""
    monkeypatch.setattr(batches, "BATCH_TRANSCRIPTS", 1)
    away = TransientFailure("overloaded")
    for _ in range(3):
        world.backend = Paid(rest=away)
        assert world.night().exit_code == 69
        world.now += 24 * HOUR
    for number, last in enumerate((False, False, True)):
        session(world.sessions, f"later-{number}", ["lint"], modified=world.now - 5 * HOUR)
        world.backend = Paid() if last else Paid(away, away, away)
        report = world.night()
        assert (report.outcome is Outcome.ADVANCED, report.set_aside) == (last, int(last))
        world.now += 24 * HOUR


def test_a_declined_transcript_is_found_and_set_aside(world: World) -> None:
    """The others of its question are mined the same night; a second refusal is not paid for."""
    world.backend = backend = Paid(declined=GOTCHAS["push"][1])
    report = world.night()
    assert (report.exit_code, report.outcome, report.set_aside) == (0, Outcome.ADVANCED, 1)
    assert len([one for one in backend.asked if one.packets]) == 4
    assert set(world.waiting()) == {"watch-gotcha"}
    assert report.complaints == {"the model declined to answer": 2}


@pytest.mark.parametrize("name", ["prose", "cut short", "no form"])
def test_an_answer_of_no_use_is_asked_for_again_the_same_night(world: World, name: str) -> None:
    """One bad answer costs an answer, not a night; it is kept and counted."""
    world.backend = backend = Paid(FAILING[name])
    report = world.night()
    assert (report.exit_code, report.outcome) == (0, Outcome.ADVANCED)
    assert sum(report.complaints.values()) == len(kept_texts(world)) == 1
    assert set(world.waiting()) == {"watch-gotcha"} and len(backend.asked) == 3


def test_a_whole_answer_beyond_the_budget_is_used(world: World) -> None:
    """A program that stops at its budget after the answer has answered; then the night ends."""

    class Over(Paid):
        def ask(self, request: Request) -> Answer:
            raise BudgetReached("$1 is spent", partial=super().ask(request))

    world.backend = backend = Over()
    report = world.night()
    assert len(backend.asked) == 1 and report.findings == 3
    assert report.outcome is Outcome.ADVANCED


def test_a_failure_is_not_paid_for_twice_after_a_crash(world: World) -> None:
    """Killed between its raw text and the note of it, the next night does not ask that again."""
    world.backend = first = Paid(TransientFailure("broke off", partial=SOME))
    with opened(world.place.database, key=KEY) as state:
        state.connection.execute(
            "create trigger plug before insert on requests when new.outcome != 'asked'"
            " begin select raise(abort, 'pulled the plug'); end"
        )
        with pytest.raises(sqlite3.IntegrityError):
            run(world.made(state))
        state.connection.execute("drop trigger plug")
    world.backend = second = Paid()
    assert world.night().outcome is Outcome.ADVANCED
    assert first.asked[0].hash not in {one.hash for one in second.asked}
    assert kept_texts(world) == [SOME.text]


def test_a_credential_that_a_model_makes_up_is_kept_nowhere(world: World) -> None:
    """Such an answer counts as paid for and unusable; its text reaches no file."""
    secret = "AKIA" + "Q3EGRIA7P5VWXYZ2"
    world.backend = Paid(f"The key is {secret}.")
    report = world.night()
    assert report.outcome is Outcome.ADVANCED
    every = b"".join(path.read_bytes() for path in world.place.answers.iterdir())
    assert secret.encode() not in every
    ((_, kept, _),) = Answers(world.place.answers).unusable()
    assert kept.why.startswith("it holds the shape of a credential")
