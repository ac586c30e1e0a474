"""The units: what they say, what systemd makes of them, and what is made of its answers."""

from __future__ import annotations

import json
import os
import re
import shutil
import subprocess
from collections.abc import Callable
from datetime import UTC, datetime
from pathlib import Path

import pytest

from dreaming.errors import Unusable
from dreaming.schedulers.interface import Plan, SchedulerSilent, Status, Told
from dreaming.schedulers.systemd import NETWORK, PROGRAM, SERVICE
from tests.schedulers.plans import System, plan, systemd, templates

LEVELS = pytest.mark.parametrize("level", ["user", "system"])
analyses = pytest.mark.skipif(
    shutil.which("systemd-analyze") is None, reason="systemd-analyze is not here"
)


def written(folder: Path, level: str, made: Plan) -> Path:
    """The units of a plan, as files."""
    for name, text in systemd(folder, System(), level).files(made).items():
        (folder / name).parent.mkdir(parents=True, exist_ok=True)
        (folder / name).write_text(text, encoding="utf-8")
    return folder


def analyse(verb: str, level: str, *words: object) -> subprocess.CompletedProcess[str]:
    """Ask systemd-analyze; of a person's units it wants a runtime folder, and ours is the home."""
    flag = ["--user"] if level == "user" else []
    return subprocess.run(
        ["systemd-analyze", *flag, verb, *map(str, words)],
        env={**os.environ, "XDG_RUNTIME_DIR": os.environ["HOME"]},
        capture_output=True,
        text=True,
        check=False,
    )


@LEVELS
def test_the_service_reads_as_expected(level: str, golden: Callable[[str, str], None]) -> None:
    """The whole of what is installed, for a person to read."""
    files = systemd(Path("/units"), System(), level).files(
        plan(remote=True, program=True, logins=(Path("/srv/login"),), tells=True)
    )
    golden("\n".join(f"==> {name}\n{text}" for name, text in files.items()), "txt")


@analyses
@LEVELS
@pytest.mark.parametrize(
    ("remote", "program"),
    [(False, False), (True, False), (True, True)],
    ids=["offline", "remote", "program"],
)
def test_systemd_has_nothing_to_say(
    level: str, remote: bool, program: bool, tmp_path: Path
) -> None:
    """``systemd-analyze verify`` prints nothing about what is installed."""
    environment = {"CODEX_HOME": '/srv/of "robin" 100% $HOME \\'}
    made = plan(remote=remote, program=program, tells=True, environment=environment)
    folder = written(tmp_path, level, made)
    done = analyse("verify", level, *(folder / name for name in (SERVICE, "dreaming.timer")))
    told = [one for one in done.stderr.splitlines() if str(folder) in one or "dreaming" in one]
    assert (done.returncode, told, done.stdout) == (0, [], "")


@analyses
@pytest.mark.parametrize(
    ("level", "remote", "most"),
    [("user", False, 5), ("user", True, 15), ("system", False, 5), ("system", True, 15)],
)
def test_little_is_exposed(level: str, remote: bool, most: int, tmp_path: Path) -> None:
    """By systemd's own measure at most 0.5 of 10 without and 1.5 with a network."""
    folder = written(tmp_path, level, plan(remote=remote))
    words = ("--offline=true", f"--threshold={most}", folder / SERVICE)
    done = analyse("security", level, *words)
    assert done.returncode == 0, done.stdout + done.stderr
    assert analyse(
        "security", level, "--offline=true", "--threshold=1", folder / SERVICE
    ).returncode


def test_the_network_opens_for_a_backend_elsewhere_only() -> None:
    """Without one there is no drop-in, and the unit has no network and no sockets."""
    one = systemd(Path("/units"), System())
    offline, remote = one.files(plan()), one.files(plan(remote=True))
    assert NETWORK not in offline and "PrivateNetwork=no" in remote[NETWORK]
    assert "--wait-network" not in offline[SERVICE] and "--wait-network 5m" in remote[SERVICE]
    for text in ("PrivateNetwork=yes", "RestrictAddressFamilies=none", "IPAddressDeny=any"):
        assert text in offline[SERVICE].splitlines()


def test_a_program_may_compile_what_it_runs() -> None:
    """And start more threads; any other backend may not, and its first line says why."""
    one = systemd(Path("/units"), System())
    before, files = one.files(plan(remote=True)), one.files(plan(remote=True, program=True))
    assert PROGRAM not in before and files == {**before, PROGRAM: files[PROGRAM]}
    assert "may compile what it runs" in files[PROGRAM].splitlines()[0]
    changed = [one for one in files[PROGRAM].splitlines() if "=" in one]
    assert changed == ["MemoryDenyWriteExecute=no", "TasksMax=512", "MemoryMax=4G"]
    login = Path("/home/robin/.codex/auth.json")
    renewed = one.files(plan(remote=True, program=True, logins=(login,)))[PROGRAM]
    assert renewed.endswith(f"\nReadWritePaths=-{login}\n")


def test_a_night_in_order_is_told_of_where_somebody_wants_it() -> None:
    """A failure always is."""
    one = systemd(Path("/units"), System())
    assert "\nOnSuccess=" not in one.files(plan())[SERVICE]
    assert "\nOnSuccess=dreaming-failed@%n.service\n" in one.files(plan(tells=True))[SERVICE]
    assert "\nOnFailure=dreaming-failed@%n.service\n" in one.files(plan())[SERVICE]


@LEVELS
def test_only_state_and_queue_can_be_written(level: str) -> None:
    """Of the paths in a unit these two alone are writable, and what people own is named."""
    text = systemd(Path("/units"), System(), level).files(plan())[SERVICE]
    made = plan()
    assert re.findall(r"^ReadWritePaths=(.*)$", text, re.M) == [f"{made.state} {made.pending}"]
    assert f"ReadOnlyPaths={made.owned[0]} {made.owned[1]}" in text
    assert "InaccessiblePaths=-/home/robin/.ssh " in text
    assert "\nBindReadOnlyPaths=-/home/robin\n" in text


def test_hidden_folders_are_shown_again() -> None:
    """A program or a workspace in a folder that units see empty is bound, the rest is not."""
    places = (
        Path("/home/robin"),
        Path("/root/py"),
        Path("/tmp/w"),
        Path("/opt/x"),
        Path("/rooted"),
    )
    text = systemd(Path("/units"), System()).files(plan(readable=places))[SERVICE]
    assert "\nBindReadOnlyPaths=-/home/robin -/root/py -/tmp/w\n" in text


def test_every_path_survives_quoting() -> None:
    """Blanks, quotes, percent and dollar signs mean themselves."""
    text = systemd(Path("/units"), System()).files(plan(Path('/home/r "b" 5% $X')))[SERVICE]
    assert '--workspace "/home/r \\"b\\" 5%% $$X/.dreaming"' in text
    assert 'ReadWritePaths="/home/r \\"b\\" 5%% $X/.local/' in text


@pytest.mark.parametrize("name", ["a\nExecStart=x", "a:b", "a\x07"])
def test_what_a_unit_cannot_hold_is_refused(name: str) -> None:
    """A newline, a colon or a control character in a path is refused with the way out."""
    with pytest.raises(Unusable, match="cannot stand in a systemd unit") as wrong:
        systemd(Path("/units"), System()).files(plan(Path("/home", name)))
    assert "dreaming daemon" in wrong.value.remedy


@LEVELS
def test_every_blank_is_filled(level: str) -> None:
    """No unit keeps a blank, and none has a setting without a reason above or beside it."""
    made = plan(remote=True, program=True)
    for text in systemd(Path("/units"), System(), level).files(made).values():
        assert not re.search(r"@[A-Z]+@", text)
    assert set(templates(level)) >= {SERVICE, NETWORK, PROGRAM}


def test_the_two_levels_differ_in_little() -> None:
    """The machine's unit runs as the person; all else that matters is the same."""
    user, system = (set(templates(level)[SERVICE].splitlines()) for level in ("user", "system"))
    changed = {one for one in user ^ system if not one.startswith("#")}
    assert changed == {"User=@USER@", "RemoveIPC=yes"}


# -- asking systemctl -----------------------------------------------------------------------------


def test_it_is_started_and_stopped(tmp_path: Path) -> None:
    """Loaded before it is started, stopped before it goes."""
    system = System()
    one = systemd(tmp_path, system)
    one.start()
    one.stop()
    one.forget()
    assert system.asked == [
        "systemctl --user daemon-reload",
        "systemctl --user enable --now dreaming.timer",
        "systemctl --user disable --now dreaming.timer",
        "systemctl --user daemon-reload",
    ]


@LEVELS
def test_a_command_is_shut_in_as_a_night_is(level: str, tmp_path: Path) -> None:
    """Every property of the unit and its drop-ins, in their order; what is about nights is not."""
    system = System(**{"systemd-run": Told(7, "said")})
    made = plan(remote=True, program=True, keys=Path("/srv/keys"))
    one = systemd(tmp_path, system, level)
    assert one.shut_in(made, ("login", "codex")) == Told(7, "said")
    asked = system.asked[0]
    assert asked.startswith("systemd-run " + "--user " * (level == "user"))
    assert asked.endswith(" /usr/bin/python3 -P -m dreaming login codex")
    for name in (SERVICE, NETWORK, PROGRAM):
        for line in one.files(made)[name].splitlines():
            key = line.partition("=")[0]
            kept = f"--property={line} " in asked
            about_nights = key in ("Type", "ExecStart", "SuccessExitStatus", "Description")
            about_nights |= key in ("OnFailure", "TimeoutStartSec", "TimeoutStopSec")
            assert kept != about_nights or not re.match(r"\w+=", line), line
    properties = re.findall("MemoryDenyWriteExecute=(yes|no)", asked)
    assert properties == ["yes", "no"]


def test_a_manager_that_cannot_be_asked_is_told(tmp_path: Path) -> None:
    """What systemctl said stands in the sentence, and another way beside it."""
    system = System(enable=Told(1, error="Failed to connect to bus: No medium found"))
    with pytest.raises(SchedulerSilent, match="No medium found") as wrong:
        systemd(tmp_path, system).start()
    assert "dreaming daemon" in wrong.value.remedy


SHOWN = "Result={}\nExecMainStatus={}\nExecMainStartTimestamp=@1796000000\n"


@pytest.mark.parametrize(
    ("result", "code", "said"),
    [("success", 0, "success"), ("exit-code", 78, "ended with 78"), ("timeout", 9, "timeout")],
)
def test_how_the_last_night_ended(result: str, code: int, said: str, tmp_path: Path) -> None:
    """Next look, last start and result come from systemctl; lingering from logind's file."""
    system = System(
        **{
            "list-timers": Told(0, json.dumps([{"next": 1796086800 * 10**6, "last": 0}])),
            "dreaming.service": Told(0, SHOWN.format(result, code)),
            "dreaming.timer": Told(0, "ActiveState=active\n"),
        }
    )
    expected = Status(
        active=True,
        next_look=datetime(2026, 12, 1, 1, 0, tzinfo=UTC),
        last_start=datetime(2026, 11, 30, 0, 53, 20, tzinfo=UTC),
        last_result=said,
        lingers=False,
    )
    assert systemd(tmp_path, system).status() == expected
    (tmp_path / "linger").touch()
    assert systemd(tmp_path, system).status().lingers
    assert systemd(tmp_path, system, "system").status().lingers is None


def test_before_the_first_night_nothing_is_claimed(tmp_path: Path) -> None:
    """A timer nobody loaded and a service that never ran give no times and no result."""
    system = System(
        **{
            "list-timers": Told(0, "[]"),
            "dreaming.service": Told(
                0, "Result=success\nExecMainStatus=0\nExecMainStartTimestamp=\n"
            ),
            "dreaming.timer": Told(0, "ActiveState=inactive\n"),
        }
    )
    assert systemd(tmp_path, system).status() == Status(lingers=False)
