"""Each check sees what is wrong, says it in a sentence, and names the remedy."""

from __future__ import annotations

import os
import shutil
import socket
from collections.abc import Callable
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import msgspec
import pytest

from dreaming.backends.interface import LetInRefused
from dreaming.backends.offline import Offline
from dreaming.config import AlertSettings, PersonSettings, SandboxSettings
from dreaming.jobs import doctor, gate
from dreaming.jobs.doctor import Check, Level, Patient, examine
from dreaming.jobs.listing import Preview
from dreaming.jobs.retention import Loss
from dreaming.jobs.schedule import Overview
from dreaming.models.report import Outcome, Report
from dreaming.stores import files, mounts
from dreaming.stores.state import State, opened
from dreaming.transcripts.jsonl import Jsonl

from .world import HOUR, KEY, NIGHT, World, session


class Sick(World):
    """A world in which everything is in order until something is done to it."""

    def __init__(self, root: Path) -> None:
        super().__init__(root)
        session(self.sessions, "alpha", ["watch"])
        self.night()
        with self.state() as state:
            gate.keep(state, gate.Held(rings=["landlock"], network="TCP closed"), "")
        alert = AlertSettings(command="mail kim")
        self.patient = Patient(
            workspace=self.place,
            person=PersonSettings.model_construct(alert=alert, sandbox=SandboxSettings()),
            folders=lambda: [(Jsonl(), self.sessions)],
            due=Preview,
            state=self.state,
            backend=Offline,
            away=None,
            program=lambda: None,
            scheduled=lambda: Overview(active=True, kind="systemd"),
            now=NIGHT + HOUR,
        )

    def state(self) -> Any:
        """Open the state."""
        return opened(self.place.database, key=KEY)

    def kept(self, change: Callable[[State], object]) -> None:
        """Do something to what the state holds."""
        with self.state() as state:
            change(state)

    def found(self, name: str) -> Check:
        """What one check says."""
        (one,) = [one for one in examine(self.patient) if one.name == name]
        return one


@pytest.fixture
def sick(tmp_path: Path) -> Sick:
    """A workspace after its first night."""
    return Sick(tmp_path)


def test_nothing_is_wrong(sick: Sick) -> None:
    """After a night in order every check says ok, in a sentence."""
    found = examine(sick.patient)
    assert [one for one in found if one.level is not Level.OK] == []
    assert len(found) == len(doctor._CHECKS) and all(one.said.endswith(".") for one in found)


def _forget_queue(sick: Sick) -> None:
    (sick.place.pending / "README.md").unlink(missing_ok=True)
    sick.place.pending.rmdir()


def _lose_key(sick: Sick) -> None:
    sick.place.key_file.unlink()


def _open_state(sick: Sick) -> None:
    sick.place.state.chmod(0o755)


def _open_key(sick: Sick) -> None:
    sick.place.key_file.chmod(0o644)


def _break_database(sick: Sick) -> None:
    sick.place.database.write_bytes(b"no database" * 1000)


def _cut_ledger(sick: Sick) -> None:
    sick.kept(lambda state: state.put("head reviewed-kim.jsonl", f"3 {'a' * 64}"))


def _fail(sick: Sick) -> None:
    report = Report(started=_at(NIGHT), backend="x", outcome=Outcome.FAILED, exit_code=69)
    sick.kept(lambda state: state.add_run(NIGHT + 1, "failed", msgspec.json.encode(report)))


def _meet_unknown(sick: Sick) -> None:
    report = Report(started=_at(NIGHT), backend="x", unknown_records={"codex 9.1: odd": 4})
    sick.kept(lambda state: state.add_run(NIGHT + 1, "advanced", msgspec.json.encode(report)))


def _no_ring(sick: Sick) -> None:
    sick.kept(lambda state: gate.keep(state, gate.Held(why="no Landlock"), ""))


def _need_ring(sick: Sick) -> None:
    _no_ring(sick)
    sick.patient.person = PersonSettings.model_construct(sandbox=SandboxSettings(required=True))


def _no_agents(sick: Sick) -> None:
    sick.patient.folders = list


def _soon_gone(sick: Sick) -> None:
    sick.patient.due = lambda: Preview(losses={"claude-code": Loss(30, transcripts=9, unread=4)})


def _no_key(sick: Sick) -> None:
    def refused() -> Any:
        raise LetInRefused("The anthropic backend needs a key.", remedy="Set it.")

    sick.patient.backend = refused


def _no_answer(sick: Sick) -> None:
    with socket.create_server(("127.0.0.1", 0)) as server:
        sick.patient.away = ("127.0.0.1", server.getsockname()[1])


def _no_timer(sick: Sick) -> None:
    sick.patient.scheduled = lambda: Overview(kind="daemon", note="nobody runs it")


def _other_timer(sick: Sick) -> None:
    sick.patient.scheduled = lambda: Overview(active=True, kind="systemd", differs=True)


def _logged_out(sick: Sick) -> None:
    sick.patient.scheduled = lambda: Overview(active=True, kind="systemd", lingers=False)


def _nobody_told(sick: Sick) -> None:
    sick.patient.person = PersonSettings.model_construct(alert=AlertSettings())


def _clock_back(sick: Sick) -> None:
    sick.patient.now = NIGHT - 24 * HOUR


def _clock_reset(sick: Sick) -> None:
    sick.patient.now = 0.0


DAMAGES: dict[str, tuple[Callable[[Sick], None], str, Level, str]] = {
    "no queue": (_forget_queue, "places", Level.BAD, "lacks pending"),
    "no key": (_lose_key, "places", Level.BAD, "key is missing"),
    "open state": (_open_state, "rights", Level.BAD, "seen by others"),
    "open key": (_open_key, "rights", Level.BAD, "seen by others"),
    "broken database": (_break_database, "database", Level.BAD, "not usable as a database"),
    "cut ledger": (_cut_ledger, "ledger", Level.BAD, "3 lines are gone"),
    "failed night": (_fail, "nights", Level.BAD, "exit 69"),
    "unknown records": (_meet_unknown, "records", Level.WARN, "codex 9.1: odd (4)"),
    "no sandbox": (_no_ring, "sandbox", Level.WARN, "without a sandbox: none (no Landlock)"),
    "no sandbox though required": (_need_ring, "sandbox", Level.BAD, "without a sandbox"),
    "no agents": (_no_agents, "agents", Level.WARN, "No agent left transcripts"),
    "soon gone": (_soon_gone, "retention", Level.WARN, "delete 4 transcripts within a week"),
    "no credential": (_no_key, "backend", Level.BAD, "needs a key"),
    "no answer": (_no_answer, "backend", Level.BAD, "cannot be reached"),
    "no timer": (_no_timer, "scheduler", Level.WARN, "Nothing starts nights by itself (nobody"),
    "another timer": (_other_timer, "scheduler", Level.WARN, "not what the settings say"),
    "only while logged in": (_logged_out, "scheduler", Level.WARN, "only while you are logged in"),
    "nobody is told": (_nobody_told, "alert", Level.WARN, "Nobody is told"),
    "clock back": (_clock_back, "clock", Level.WARN, "the clock says 2026-11-29"),
    "clock reset": (_clock_reset, "clock", Level.BAD, "1970-01-01"),
}


@pytest.mark.parametrize("name", DAMAGES)
def test_what_is_wrong_is_seen(sick: Sick, name: str) -> None:
    """The check that is there for it says so, with a remedy; the others go on."""
    damage, check, level, said = DAMAGES[name]
    damage(sick)
    found = sick.found(check)
    assert (found.level, bool(found.remedy)) == (level, True)
    assert said in found.said


def test_a_broken_database_is_said_once(sick: Sick) -> None:
    """Six checks need the state; a person reads one sentence, and the rest is still checked."""
    _break_database(sick)
    bad = [one for one in examine(sick.patient) if one.level is Level.BAD]
    assert len(bad) == 1
    assert sick.found("scheduler").level is Level.OK


def test_a_full_disk_is_seen(sick: Sick, monkeypatch: pytest.MonkeyPatch) -> None:
    """Little room is a warning, next to none is bad."""
    for free, level in ((5 << 30, Level.OK), (500 << 20, Level.WARN), (1 << 20, Level.BAD)):
        usage = type("Usage", (), {"free": free})
        monkeypatch.setattr(shutil, "disk_usage", lambda _, usage=usage: usage)
        assert sick.found("disk").level is level


def test_a_state_on_a_network_is_bad(sick: Sick, monkeypatch: pytest.MonkeyPatch) -> None:
    """Locks over a network promise too little."""
    monkeypatch.setattr(mounts, "network", lambda _: "nfs4")
    found = sick.found("file system")
    assert found.level is Level.BAD and "nfs4" in found.said and "XDG_STATE_HOME" in found.remedy


def test_who_holds_the_lock_is_named(sick: Sick) -> None:
    """A run at work is no defect; who and since when stands there."""
    with files.lock(sick.place.run_lock, "process 4711, since 2026-11-30T02:00:00+00:00"):
        found = sick.found("lock")
    assert found.level is Level.WARN and "process 4711, since 2026-11-30T02:00" in found.said


def test_a_backend_elsewhere_is_connected_to_and_asked_nothing(sick: Sick) -> None:
    """No byte is sent: what is there is a credential and somebody who answers."""
    with socket.create_server(("127.0.0.1", 0)) as server:
        sick.patient.away = ("127.0.0.1", server.getsockname()[1])
        assert sick.found("backend").level is Level.OK
        talk, _ = server.accept()
        with talk:
            assert talk.recv(10) == b""


def test_as_scheduled_looks_only_at_what_an_environment_decides(sick: Sick) -> None:
    """A night that failed or a timer that is not there yet do not stop its installation."""
    _fail(sick)
    _no_timer(sick)
    names = [one.name for one in examine(sick.patient, as_scheduled=True)]
    assert {"places", "rights", "agents", "backend"} <= set(names)
    assert not {"scheduler", "nights", "ledger", "clock", "alert"} & set(names)
    _no_key(sick)
    assert any(one.level is Level.BAD for one in examine(sick.patient, as_scheduled=True))


def test_looking_changes_nothing(sick: Sick) -> None:
    """The doctor writes neither what people own nor a transcript."""
    before = {folder: sick.snapshot(folder) for folder in ("pending", "ledger", "knowledge_base")}
    examine(sick.patient)
    assert {folder: sick.snapshot(folder) for folder in before} == before
    assert os.access(sick.sessions / "alpha.jsonl", os.R_OK)


def _at(seconds: float) -> str:
    return datetime.fromtimestamp(seconds, UTC).isoformat(timespec="seconds")
