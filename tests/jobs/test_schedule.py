"""Putting a scheduler's files in place: nobody else's are touched, and nothing is left behind."""

from __future__ import annotations

import json
import sys
from pathlib import Path

import pytest

from dreaming.errors import Refused
from dreaming.jobs import schedule
from dreaming.jobs.schedule import Standing
from dreaming.schedulers.interface import Scheduler, Told
from dreaming.schedulers.launchd import Launchd
from dreaming.stores import files
from tests.schedulers.plans import System, plan, systemd


def tree(folder: Path) -> dict[str, bytes | None]:
    """Every name below a folder with its bytes; folders have none."""
    return {
        str(one.relative_to(folder)): one.read_bytes() if one.is_file() else None
        for one in folder.rglob("*")
    }


def both(folder: Path) -> list[Scheduler]:
    """A scheduler of each kind that writes files."""
    return [systemd(folder, System()), Launchd(folder, 501, System())]


@pytest.mark.parametrize("kind", [0, 1], ids=["systemd", "launchd"])
@pytest.mark.parametrize("before", [".", "config", "config/systemd/user"])
def test_installed_twice_and_removed_leaves_nothing(kind: int, before: str, tmp_path: Path) -> None:
    """Install, install, remove: every byte and folder is as before, however much was there."""
    (tmp_path / before / "kept").mkdir(parents=True)
    (tmp_path / before / "own.service").write_text("[Unit]\n")
    start = tree(tmp_path)
    folder = tmp_path / "config/systemd/user"
    one = both(folder)[kind]
    written, removed = schedule.install(one, plan(remote=True), folder)
    assert written and not removed
    once = tree(tmp_path)
    assert schedule.install(one, plan(remote=True), folder) == ([], [])
    assert tree(tmp_path) == once
    assert schedule.remove(one, plan(), folder) == ([], written)
    assert tree(tmp_path) == start
    assert schedule.remove(one, plan(), folder) == ([], [])


def test_a_changed_backend_changes_the_files(tmp_path: Path) -> None:
    """What a plan needs no more goes, and the folder made for it."""
    one = systemd(tmp_path, System())
    schedule.install(one, plan(remote=True), tmp_path)
    assert schedule.is_current(one, plan(remote=True), tmp_path)
    assert not schedule.is_current(one, plan(), tmp_path)
    written, removed = schedule.install(one, plan(), tmp_path)
    assert [path.name for path in written] == ["dreaming.service"]
    assert [path.name for path in removed] == ["network.conf"]
    assert not (tmp_path / "dreaming.service.d").exists()
    assert schedule.is_current(one, plan(), tmp_path)


def test_a_persons_drop_in_stays(tmp_path: Path) -> None:
    """Removing leaves a folder that holds something of a person's."""
    one = systemd(tmp_path / "new", System())
    schedule.install(one, plan(remote=True), one.folder)
    own = one.folder / "dreaming.service.d/own.conf"
    own.write_text("[Service]\n")
    schedule.remove(one, plan(), one.folder)
    assert tree(tmp_path).keys() == {
        "new",
        "new/dreaming.service.d",
        "new/dreaming.service.d/own.conf",
    }


@pytest.mark.parametrize("kind", [0, 1], ids=["systemd", "launchd"])
@pytest.mark.parametrize("verb", ["install", "remove"])
@pytest.mark.parametrize("whose", [Standing.EDITED, Standing.FOREIGN])
def test_what_is_not_ours_is_refused(kind: int, verb: str, whose: Standing, tmp_path: Path) -> None:
    """A file that was edited or never ours stops everything, before anything is written."""
    one = both(tmp_path)[kind]
    if whose is Standing.EDITED:
        schedule.install(one, plan(), tmp_path)
    path = tmp_path / one.names[0]
    path.write_text("# mine\n" + (path.read_text() if path.exists() else ""))
    assert schedule.look(one, tmp_path)[one.names[0]].standing is whose
    start = tree(tmp_path)
    with pytest.raises(Refused, match="nothing was touched") as wrong:
        getattr(schedule, verb)(one, plan(), tmp_path)
    assert str(path) in wrong.value.message and "--force" in wrong.value.remedy
    assert tree(tmp_path) == start
    getattr(schedule, verb)(one, plan(), tmp_path, force=True)
    assert path.exists() == (verb == "install")
    assert verb == "remove" or schedule.is_current(one, plan(), tmp_path)


def test_another_workspaces_nights_are_refused(tmp_path: Path) -> None:
    """One workspace does not take the timer of another."""
    one = systemd(tmp_path, System())
    schedule.install(one, plan(), tmp_path)
    other = plan(state=Path("/state/fedcba9876543210"))
    start = tree(tmp_path)
    for verb in (schedule.install, schedule.remove):
        with pytest.raises(Refused, match="another workspace"):
            verb(one, other, tmp_path)
    assert tree(tmp_path) == start
    assert not schedule.overview(one, other).installed


def test_the_overview_says_what_was_opened(tmp_path: Path) -> None:
    """A drop-in of ours says in its first line what it lets through and for what."""
    one = systemd(tmp_path, System(show=Told(1, error="No medium found")))
    assert schedule.overview(one, plan()).opened == ()
    schedule.install(one, plan(remote=True, program=True), tmp_path)
    network, program = schedule.overview(one, plan()).opened
    assert "may connect" in network and "may compile what it runs" in program


def test_the_overview_says_what_is_not_known(tmp_path: Path) -> None:
    """A scheduler that cannot be asked is installed all the same, and the reason stands there."""
    one = systemd(tmp_path, System(show=Told(1, error="no bus")))
    assert schedule.overview(one, plan()) == schedule.Overview(kind="systemd")
    schedule.install(one, plan(), tmp_path)
    found = schedule.overview(one, plan(remote=True))
    assert (found.installed, found.active, found.differs) == (True, False, True)
    assert "no bus" in found.note


def test_a_running_daemon_is_seen(tmp_path: Path) -> None:
    """By the lock it holds, with what it says of itself; one that ended is gone."""
    made = plan(state=tmp_path)
    lock = tmp_path / schedule.DAEMON_LOCK
    assert not schedule.overview(None, made).active
    with files.lock(lock, "process 7"):
        found = schedule.overview(None, made)
    assert found.active and found.note == "process 7"
    assert not schedule.overview(None, made).active


SHOW = """
import json, os
print(json.dumps(sorted(os.environ)))
print(os.getcwd())
raise SystemExit(3)
"""


def test_the_rehearsal_has_the_schedulers_environment(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Nothing of this shell is in it; places and keys are."""
    monkeypatch.setenv("DREAMING_BACKEND", "anthropic")
    keys = tmp_path / "environment"
    keys.write_text("# NO=1\n\n KEY='a b'\nnonsense\n")
    made = plan(command=(sys.executable, "-c", SHOW), keys=keys, environment={"CODEX_HOME": "/c"})
    told = schedule.rehearse(made)
    assert told.code == 3
    names, place = told.out.splitlines()
    wanted = ["CODEX_HOME", "HOME", "KEY", "LOGNAME", "PATH", "USER"]
    assert [one for one in json.loads(names) if not one.startswith(("LC_", "__"))] == wanted
    assert place == "/"
