"""A run in a process of its own: watched, ended, and never without a record."""

from __future__ import annotations

import errno
import os
import signal
import subprocess
import sys
from itertools import count

import msgspec
import pytest

from dreaming.errors import BackendUnavailable, DreamingError, Unusable
from dreaming.jobs import unattended
from dreaming.jobs.unattended import Crashed, Ended, apart, begin, finish, record
from dreaming.models.report import Outcome, Report
from dreaming.stores.state import State, opened

from .world import HOUR, KEY, NIGHT

SECRET = "words of a transcript"


def in_order(backend: str) -> Report:
    """A run that ends as it should."""
    return Report(started="2026-11-30T03:00:00+00:00", backend=backend, exit_code=75)


def refuses() -> Report:
    """A run that ends with an error of ours."""
    raise Unusable("The state is odd.", remedy="Mend it.")


def falls() -> Report:
    """A run that meets what nobody expected."""
    raise ValueError(SECRET)


def finds_no_room() -> Report:
    """A run that the system stops."""
    raise OSError(errno.ENOSPC, "No space left on device", "/somewhere/state.db")


def is_killed() -> Report:
    """A run that is gone without a word."""
    os.kill(os.getpid(), signal.SIGKILL)
    raise AssertionError


def is_interrupted() -> Report:
    """A run that a person ends."""
    os.kill(os.getpid(), signal.SIGTERM)
    raise AssertionError


def hangs() -> Report:
    """A run that never ends and listens to nobody."""
    signal.signal(signal.SIGTERM, signal.SIG_IGN)
    while True:
        signal.pause()


def test_the_report_comes_back() -> None:
    """What the child reports is what the parent gets."""
    ended = apart(in_order, ["offline"], limit=HOUR)
    assert ended == Ended(report=in_order("offline"), code=75)


def test_an_error_of_ours_comes_back() -> None:
    """Exit code, sentence and remedy are those of the child's error."""
    wrong = apart(refuses, []).again()
    assert isinstance(wrong, Unusable)
    assert (wrong.EXIT_CODE, wrong.message, wrong.remedy) == (78, "The state is odd.", "Mend it.")


def test_what_nobody_expected_brings_no_text() -> None:
    """Of an unexpected error only its type and its place leave the process that read."""
    ended = apart(falls, [])
    wrong = ended.again()
    assert isinstance(wrong, Crashed) and wrong.kind == "builtins.ValueError"
    assert any("in falls" in one for one in wrong.frames)
    assert SECRET not in msgspec.json.encode(ended).decode()


def test_an_error_of_the_system_comes_back() -> None:
    """A full disk is a full disk in the parent, too."""
    wrong = apart(finds_no_room, []).again()
    assert isinstance(wrong, OSError) and isinstance(wrong.__cause__, Crashed)
    assert (wrong.errno, wrong.filename) == (errno.ENOSPC, "/somewhere/state.db")


def test_a_killed_run_is_noticed() -> None:
    """A child that the kernel took away is an end like any other, and says by what."""
    ended = apart(is_killed, [])
    assert ended.code == 1 and "SIGKILL" in ended.said
    assert type(ended.again()) is DreamingError


def test_a_person_may_end_it() -> None:
    """SIGTERM ends a run as Ctrl-C does."""
    ended = apart(is_interrupted, [])
    assert ended.code == 130 and isinstance(ended.again(), KeyboardInterrupt)


def test_a_run_that_hangs_is_ended() -> None:
    """Past its limit and a minute it is asked to end, and killed when it does not listen."""
    clock = count(step=10_000)
    ended = apart(hangs, [], limit=2 * HOUR, clock=lambda: float(next(clock)), patience=0.01)
    assert ended.code == 1 and "hung" in ended.said


def test_the_child_dies_with_its_parent() -> None:
    """Nobody is left at work when the one who watches is gone."""
    if sys.platform != "linux":
        pytest.skip("NOT TESTED: only Linux ends a child with its parent")
    program = (
        "import os\n"
        "from dreaming.jobs.unattended import apart\n"
        "from tests.jobs.test_unattended import hangs\n"
        "def tells():\n"
        "    print('at work', flush=True)\n"
        "    return hangs()\n"
        "apart(tells, [])\n"
    )
    with subprocess.Popen([sys.executable, "-c", program], stdout=subprocess.PIPE) as parent:
        assert parent.stdout is not None
        assert parent.stdout.readline() == b"at work\n"
        parent.kill()
        assert parent.stdout.read() == b""  # comes to its end when the child has let go of it


def test_a_limit_says_why() -> None:
    """Before its time a limit says nothing, after it a reason; none never says anything."""
    now = 100.0
    stop = unattended.stop_after(2 * HOUR, lambda: now)
    assert stop() == ""
    now += 2 * HOUR
    assert stop() == "its limit of 120 minutes has passed"
    assert unattended.stop_after(None)() == ""


# -- every run is recorded, once ------------------------------------------------------------------


def outcomes(state: State) -> list[tuple[str, int, str]]:
    """What stands among the runs, oldest first."""
    runs = reversed(state.last_runs(10))
    return [(run["outcome"], run["exit_code"], run["why"]) for run in runs]


def test_a_run_without_a_word_is_recorded_by_the_next() -> None:
    """Killed with its parent, or by a power cut: the next run says so, once."""
    with opened(":memory:", key=KEY) as state:
        begin(state, NIGHT, "offline")
        begin(state, NIGHT + HOUR, "offline")
        finish(state)
        begin(state, NIGHT + 2 * HOUR, "offline")
        ((outcome, code, why),) = outcomes(state)
    assert (outcome, code) == (Outcome.FAILED, 1) and "without a word" in why


def test_a_run_stands_there_once() -> None:
    """What reported itself before it was killed, or was recorded by its parent, is not repeated."""
    with opened(":memory:", key=KEY) as state:
        begin(state, NIGHT, "offline")
        report = Report(started="2026-11-30T00:53:20+00:00", backend="offline")
        state.add_run(NIGHT + 1, Outcome.ADVANCED, msgspec.json.encode(report))
        record(state, NIGHT, "offline", Ended(code=1, said="killed"))
        begin(state, NIGHT + HOUR, "offline")
        assert len(outcomes(state)) == 1


def test_a_run_in_the_future_hides_no_failure() -> None:
    """After a clock that was ahead every run is recorded all the same, and is the last one."""
    with opened(":memory:", key=KEY) as state:
        report = Report(started="2036-01-01T00:00:00+00:00", backend="offline")
        state.add_run(NIGHT + 10_000 * HOUR, Outcome.ADVANCED, msgspec.json.encode(report))
        record(state, NIGHT, "offline", Ended(code=78, said="No settings."))
        begin(state, NIGHT + HOUR, "offline")
        begin(state, NIGHT + 2 * HOUR, "offline")
        assert [one[1] for one in outcomes(state)] == [0, 78, 1]


@pytest.mark.parametrize(
    ("code", "outcome"),
    [(1, "failed"), (69, "failed"), (78, "failed"), (75, "stayed"), (130, "stayed")],
)
def test_a_run_without_a_report_stayed_or_failed(code: int, outcome: str) -> None:
    """What may simply go on stayed; everything else failed; the reason stands there."""
    with opened(":memory:", key=KEY) as state:
        record(state, NIGHT, "offline", Ended(code=code, said="It was so."), took=12.5)
        assert outcomes(state) == [(outcome, code, "It was so.")]
        assert state.last_runs(1)[0]["seconds"] == {"all": 12.5}


def test_kinds_of_errors_keep_their_code() -> None:
    """Every code an error ends with comes back as an error that ends with it."""
    kinds: list[type[DreamingError]] = [DreamingError, *DreamingError.__subclasses__()]
    for kind in kinds:
        again = Ended(code=kind.EXIT_CODE, said="so").again()
        assert isinstance(again, DreamingError) and again.EXIT_CODE == kind.EXIT_CODE
    assert isinstance(Ended(code=69, said="x").again(), BackendUnavailable)
