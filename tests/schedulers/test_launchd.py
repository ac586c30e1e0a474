"""launchd's property list, and what is made of its answers."""

from __future__ import annotations

import plistlib
from collections.abc import Callable
from pathlib import Path

import pytest

from dreaming.schedulers.interface import SchedulerSilent, Status, Told
from dreaming.schedulers.launchd import LABEL, Launchd
from tests.schedulers.plans import System, plan

FOLDER = Path("/Users/robin/Library/LaunchAgents")
MADE = plan(Path("/Users/robin"), environment={"CODEX_HOME": "/Users/robin/a & <b>"})


def agent() -> dict[str, object]:
    """The agent, as a program reads it."""
    (text,) = Launchd(FOLDER, 501, System()).files(MADE).values()
    read: dict[str, object] = plistlib.loads(text.encode())
    return read


def test_the_agent_reads_as_expected(golden: Callable[[str, str], None]) -> None:
    """The whole of what is installed, for a person to read."""
    (text,) = Launchd(FOLDER, 501, System()).files(MADE).values()
    golden(text, "plist")


def test_the_agent_says_what_it_should() -> None:
    """It looks at each hour but the last of a day, and when loaded; it stays out of the way."""
    read = agent()
    assert read["Label"] == LABEL and read["ProgramArguments"] == list(MADE.night)
    assert read["EnvironmentVariables"] == MADE.environment
    hours = [{"Hour": hour, "Minute": 0} for hour in range(1, 21)]
    assert (read["StartCalendarInterval"], read["RunAtLoad"]) == (hours, True)
    assert (read["ProcessType"], read["LowPriorityIO"], read["Umask"]) == ("Background", True, 63)
    assert not {"KeepAlive", "ThrottleInterval"} & set(read)


def test_it_is_loaded_anew() -> None:
    """A loaded agent keeps what it was loaded with, so it is unloaded first."""
    system = System(bootout=Told(3, error="No such process"))
    Launchd(FOLDER, 501, system).start()
    assert system.asked == [
        f"launchctl bootout gui/501/{LABEL}",
        f"launchctl bootstrap gui/501 {FOLDER / LABEL}.plist",
    ]


def test_an_agent_that_cannot_be_loaded_is_told() -> None:
    """What launchctl said stands in the sentence."""
    system = System(bootstrap=Told(5, error="Bootstrap failed: 5: Input/output error"))
    with pytest.raises(SchedulerSilent, match="Input/output error"):
        Launchd(FOLDER, 501, system).start()


@pytest.mark.parametrize(
    ("told", "status"),
    [
        (Told(0, "\tlast exit code = 0\n"), Status(active=True, last_result="success")),
        (Told(0, "\tlast exit code = 75\n"), Status(active=True, last_result="success")),
        (Told(0, "\tlast exit code = 78\n"), Status(active=True, last_result="ended with 78")),
        (Told(0, "\tlast exit code = (never exited)\n"), Status(active=True)),
        (Told(113, error="Could not find service"), Status()),
    ],
    ids=["fine", "not now", "failed", "never", "not loaded"],
)
def test_how_the_last_night_ended(told: Told, status: Status) -> None:
    """Whether it is loaded, and its last exit code; nothing is made up."""
    assert Launchd(FOLDER, 501, System(print=told)).status() == status
