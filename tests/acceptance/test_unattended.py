"""Nights that nobody watches, as the installed command runs them."""

from __future__ import annotations

import errno
import json
import os
import socket
import subprocess
import sys
from pathlib import Path
from typing import Any

import freezegun.api
import pytest
from freezegun import freeze_time

from dreaming.jobs import gate
from dreaming.stores import files, sandbox
from tests.acceptance.installed import Dreaming, Here, Ran, copy_sample, folder_hash
from tests.backends.loopback import MessagesApi, failure
from tests.jobs.world import session

MORNING = "2026-11-30T03:00:00+00:00"
LONG = 120.0
"""Seconds after which what is waited for does not come."""
FAR_AWAY = "http://127.0.0.1:9"


@pytest.fixture(autouse=True)
def _clock_of_children(monkeypatch: pytest.MonkeyPatch) -> None:
    """Freeze the clock in the process of a night, too, but not for those that wait.

    freezegun leaves alone whatever is called a few frames below multiprocessing or threading: there
    the whole night is. With one frame it is the waits of these alone, which would else never end.
    """
    monkeypatch.setattr(freezegun.api, "call_stack_inspection_limit", 1)


@pytest.fixture
def person(home: Path) -> Dreaming:
    """A workspace and two sessions that share a gotcha."""
    for name in ("alpha", "beta"):
        session(home / "sessions", name, ["watch"])
    made = Here(home)
    assert made.run("init").code == 0
    return made


def settings(person: Dreaming, text: str) -> Path:
    """Write the person's settings."""
    file = person.home / "xdg_config_home" / "dreaming" / "config.toml"
    file.parent.mkdir(parents=True, exist_ok=True)
    file.write_text(text)
    return file


def night(person: Dreaming, *more: str, at: str = MORNING) -> Ran:
    """Run a night over the sessions at a time."""
    sessions = f"jsonl={person.home / 'sessions'}"
    with freeze_time(at):
        return person.run("nightly", "--transcripts", sessions, "--since", "all", *more)


def status(person: Dreaming, at: str = MORNING) -> Any:
    """What `status --json` says."""
    with freeze_time(at):
        return json.loads(person.run("status", "--json").out)


def test_a_night_is_due_twenty_hours_after_one_in_order(person: Dreaming) -> None:
    """Asked every hour, it runs once a day, and says in one line why not."""
    ran = night(person, "--if-due", "20h")
    assert ran.code == 0 and "watermark: 2026-11-30T03:00:00" in ran.out
    ran = night(person, "--if-due", "20h", at="2026-11-30T04:00:00+00:00")
    assert (ran.code, ran.out, len(ran.err.splitlines())) == (0, "", 1)
    assert "No night is due" in ran.err and "19.0 h" in ran.err
    ran = night(person, "--if-due", "20h", at="2026-11-30T23:05:00+00:00")
    assert "watermark" in ran.out
    assert len(status(person)["nights"]) == 2


def test_a_failed_night_is_tried_again_ever_later(person: Dreaming) -> None:
    """One hour, two, four …; the count of failures is remembered, also by another process."""
    settings(person, "backend = 'replay'\n")
    hours = []
    for hour in range(3, 19):
        ran = night(person, "--if-due", "20h", at=f"2026-11-30T{hour:02}:30:00+00:00")
        assert ran.code in (0, 78)
        if ran.code:
            hours.append(hour - 3)
    assert hours == [0, 1, 3, 7, 15]
    last = status(person)["nights"][0]
    assert (last["outcome"], last["exit_code"]) == ("failed", 78)
    assert "no recorded answers" in last["why"]


def test_a_clock_that_went_back_makes_a_night_due(person: Dreaming) -> None:
    """A night in the future holds nobody up."""
    night(person, at="2027-01-01T00:00:00+00:00")
    assert "watermark" in night(person, "--if-due", "20h").out


def test_a_limit_leaves_the_rest_for_later(person: Dreaming) -> None:
    """Before a batch the limit is looked at: nothing is lost, the exit says not now, and why."""
    ran = night(person, "--limit", "0s")
    assert ran.code == 75 and "limit" in ran.said
    assert status(person)["nights"][0]["outcome"] == "stayed"
    assert night(person, "--limit", "1h").code == 0


@pytest.mark.skipif(not sandbox.version(), reason="NOT TESTED: no Landlock here")
def test_a_night_is_shut_in_and_says_so(person: Dreaming) -> None:
    """What holds is tried by each night; what people own stays byte for byte."""
    assert status(person)["sandbox"] is None
    before = folder_hash(person.workspace / "knowledge_base")
    assert night(person).code == 0
    held = status(person)["sandbox"]
    assert held["rings"] == ["landlock"] and held["at"].startswith("2026-11-30")
    assert held["network"] == ("TCP closed" if sandbox.version() >= 4 else "open")
    assert folder_hash(person.workspace / "knowledge_base") == before
    assert "sandbox     landlock" in person.run("status").out


@pytest.mark.skipif(sandbox.version() < 4, reason="NOT TESTED: no Landlock for TCP here")
def test_a_night_with_a_model_reaches_its_address_alone(
    person: Dreaming, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The port of the backend is open, and no other."""
    monkeypatch.setenv("ANTHROPIC_API_KEY", "made-up")
    with MessagesApi(failure(401, "authentication_error")) as api:
        settings(person, f"backend = 'anthropic'\n[anthropic]\nbase_url = '{api.url}'\n")
        made = Dreaming(person.home)  # a process of its own: here a thread serves
        ran = made.run("nightly", "--transcripts", f"jsonl={person.home / 'sessions'}")
        assert ran.code == 69 and len(api.seen) == 1
    port = api.url.rpartition(":")[2].rstrip("/")
    assert status(person)["sandbox"]["network"] == f"TCP only to port {port}"


def test_a_network_that_is_not_there_is_waited_for_and_named(
    person: Dreaming, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Only for a backend elsewhere; then the night tries all the same."""
    monkeypatch.setenv("ANTHROPIC_API_KEY", "made-up")
    assert "did not answer" not in night(person, "--wait-network", "1s").err
    settings(person, f"backend = 'anthropic'\n[anthropic]\nbase_url = '{FAR_AWAY}'\n")
    waited: list[tuple[object, ...]] = []
    monkeypatch.setattr(gate, "wait_for_network", lambda *asked: waited.append(asked))
    ran = night(person, "--wait-network", "5m")
    assert ran.code == 0 and "127.0.0.1 did not answer; trying all the same" in ran.err
    assert [one[:3] for one in waited] == [("127.0.0.1", 9, 300.0)]


@pytest.mark.parametrize("required", [False, True])
def test_a_required_sandbox(
    person: Dreaming, required: bool, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Without Landlock and without a unit a night runs, unless one is required: then 78."""
    monkeypatch.setattr(sandbox, "version", lambda: 0)
    settings(person, f"[sandbox]\nrequired = {str(required).lower()}\n")
    ran = night(person)
    assert ran.code == (78 if required else 0)
    assert ("No sandbox holds" in ran.err) is required
    if not required:
        assert status(person)["sandbox"]["rings"] == []


def test_who_wants_to_know_is_told(person: Dreaming, tmp_path: Path) -> None:
    """Outside the sandbox of the night, with the kind of failure, and nothing else of it."""
    notes = tmp_path / "notes"
    writes = "import sys; open(sys.argv[1], 'a').write(sys.stdin.read())"
    settings(
        person,
        f"""backend = 'replay'
        [alert]
        command = '''{sys.executable} -c "{writes}" {notes}'''""",
    )
    assert night(person).code == 78
    assert "exit 78" in notes.read_text() and str(person.workspace) in notes.read_text()
    assert person.run("alert", "--test").code == 0
    assert "This is a test" in notes.read_text()


def test_a_unit_leaves_the_telling_to_another(
    person: Dreaming, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A night that its unit shuts in tells nobody; what its manager starts afterwards does."""
    notes = tmp_path / "notes"
    settings(person, f"backend = 'replay'\n[alert]\ncommand = 'touch {notes}'\n")
    monkeypatch.setenv("DREAMING_UNIT", "dreaming.service")
    assert night(person).code == 78 and not notes.exists()
    monkeypatch.delenv("DREAMING_UNIT")
    monkeypatch.setenv("MONITOR_SERVICE_RESULT", "exit-code")
    monkeypatch.setenv("MONITOR_EXIT_STATUS", "78")
    ran = person.run("alert", "--failed", "dreaming.service")
    assert ran.code == 0 and notes.exists()
    assert "dreaming.service failed (result exit-code, exit 78)" in ran.err


def test_a_state_that_cannot_be_used_is_told_of(person: Dreaming, tmp_path: Path) -> None:
    """Where no record can be kept somebody is told all the same, also when it asks if it is due."""
    notes = tmp_path / "notes"
    settings(person, f"[alert]\ncommand = 'touch {notes}'\n")
    (person.state / "state.db").write_bytes(b"no database" * 1000)
    ran = night(person, "--if-due", "20h")
    assert ran.code == 78 and "not usable as a database" in ran.err
    assert notes.exists()


def test_a_folder_that_cannot_be_written_is_told_of(
    person: Dreaming, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A disk that became read-only silences nobody, also when it is asked if a night is due."""

    def refuses(_: object) -> None:
        raise OSError(errno.EROFS, os.strerror(errno.EROFS), "state.db")

    notes = tmp_path / "notes"
    settings(person, f"[alert]\ncommand = 'touch {notes}'\n")
    monkeypatch.setattr("dreaming.wiring.state", refuses)
    ran = night(person, "--if-due", "20h")
    assert ran.code == 78 and "state.db: Read-only file system" in ran.err
    assert notes.exists()


def test_a_run_that_finds_another_at_work_is_none(person: Dreaming) -> None:
    """It ends with 75 and stands among no nights, and the one at work keeps its own record."""
    assert night(person).code == 0
    with files.lock(person.state / "run.lock", "process 4711"):
        ran = night(person)
    assert ran.code == 75 and "process 4711" in ran.err
    assert len(status(person)["nights"]) == 1


def test_an_alert_that_cannot_be_sent_is_said(person: Dreaming) -> None:
    """Nobody named is 1 with the file to name one in; a command that fails is 1 with its name."""
    ran = person.run("alert", "--test")
    assert ran.code == 1 and "config.toml" in ran.err
    settings(person, "[alert]\ncommand = '/nowhere/mail kim'\n")
    ran = person.run("alert", "--test")
    assert ran.code == 1 and "/nowhere/mail" in ran.err


def test_an_unexpected_end_is_reported_and_recorded(
    person: Dreaming, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The report of a crash names the place in the night, not in the one who watched it."""
    monkeypatch.setattr("dreaming.jobs.nightly.look", lambda *_: 1 / 0)
    ran = night(person)
    assert ran.code == 1 and "something unexpected: builtins.ZeroDivisionError" in ran.err
    (report,) = person.home.glob("xdg_state_home/dreaming/crash-*.txt")
    assert "ZeroDivisionError" in report.read_text() and "in one_night" in report.read_text()
    (last,) = status(person)["nights"]
    assert last["outcome"] == "failed" and "ZeroDivisionError" in last["why"]


@pytest.mark.skipif(sys.platform != "linux", reason="NOT TESTED: only Linux ends the child")
def test_a_night_that_was_killed_is_recorded_by_the_next(
    person: Dreaming, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Killed while its backend thinks: the child goes too, the lock is free, the record comes."""
    monkeypatch.setenv("ANTHROPIC_API_KEY", "made-up")
    sessions = f"jsonl={person.home / 'sessions'}"
    with socket.create_server(("127.0.0.1", 0)) as thinks:
        url = f"http://127.0.0.1:{thinks.getsockname()[1]}"
        settings(person, f"backend = 'anthropic'\n[anthropic]\nbase_url = '{url}'\n")
        words = [sys.executable, "-m", "dreaming", "nightly", "--transcripts", sessions]
        with subprocess.Popen(words, cwd=person.home) as parent:
            thinks.settimeout(LONG)
            talk, _ = thinks.accept()
            parent.kill()
        talk.settimeout(LONG)
        with talk:
            while talk.recv(65536):
                pass  # ends when nobody holds the other end any more
    settings(person, "")
    ran = person.run("nightly", "--transcripts", sessions)
    assert ran.code == 0, ran.said
    last, killed = status(person)["nights"]
    assert (last["outcome"], killed["outcome"]) == ("advanced", "failed")
    assert "without a word" in killed["why"]


def test_status_is_red_when_the_watermark_is_old(person: Dreaming) -> None:
    """After three days without a night in order, and it says what to do."""
    assert night(person).code == 0
    later = "2026-12-04T03:00:00+00:00"
    found = status(person, at=later)
    assert [one["kind"] for one in found["troubles"]] == ["old"]
    assert "dreaming nightly" in found["next"]
    with freeze_time(later):
        assert "has not moved for 4 days" in person.run("status").out


# -- the doctor -----------------------------------------------------------------------------------


def test_the_doctor_ends_with_0_or_1(person: Dreaming, monkeypatch: pytest.MonkeyPatch) -> None:
    """0 while nothing is bad; 1 with the remedy, also as one document."""
    assert night(person).code == 0
    with freeze_time(MORNING):
        ran = person.run("doctor")
        assert ran.code == 0 and "Nothing is bad." in ran.out
        settings(person, "backend = 'anthropic'\n")
        ran = person.run("doctor", "--as-scheduled", "--json")
    assert ran.code == 1
    (bad,) = [one for one in json.loads(ran.out)["checks"] if one["level"] == "bad"]
    assert bad["name"] == "backend" and "ANTHROPIC_API_KEY" in bad["said"] and bad["remedy"]


def test_the_doctor_looks_at_settings_that_cannot_be_read(person: Dreaming) -> None:
    """Where there is no workspace or a file is wrong, that is the finding."""
    settings(person, "bakcend = 1\n")
    ran = person.run("doctor")
    assert ran.code == 1 and "did you mean `backend`" in ran.out


def test_a_state_is_made_anew(person: Dreaming) -> None:
    """Broken, it is put aside; the new one brings the same queue, and the next night goes on."""
    assert night(person).code == 0
    waiting = person.pending()
    database = person.state / "state.db"
    database.write_bytes(b"no database" * 1000)
    with freeze_time(MORNING):
        assert person.run("doctor").code == 1
        ran = person.run("doctor", "--rebuild")
    assert ran.code == 0, ran.said
    kept = Path(ran.out.rpartition("The old state is kept: ")[2].strip())
    assert kept.read_bytes().startswith(b"no database") and person.pending() == waiting
    assert night(person).code == 0 and person.run("doctor").code == 0


def test_the_self_test_finds_and_refuses(home: Path) -> None:
    """Known gotchas are found, a planted credential excludes and leaves nothing; nothing stays."""
    before = sorted(home.iterdir())
    ran = Here(home).run("doctor", "--self-test", "--json")
    assert ran.code == 0, ran.said
    assert [one["name"] for one in json.loads(ran.out)["checks"]] == ["mining", "refusal", "leaks"]
    assert sorted(home.iterdir()) == before


def test_the_self_test_can_fail(home: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """A redaction that lets the planted credential through is bad, and ends with 1."""
    monkeypatch.setattr("dreaming.redaction.proofs.seal_github", lambda text: "nothing-at-all")
    ran = Here(home).run("doctor", "--self-test")
    assert ran.code == 1 and "bad   refusal" in ran.out


def test_nothing_is_told_of_a_sample(home: Path) -> None:
    """A home full of sessions and no settings: nobody is told, nothing is sent."""
    copy_sample(home)
    made = Here(home)
    assert made.run("init").code == 0
    assert made.run("nightly", "--since", "all").code == 0
    assert made.run("alert").code == 0
