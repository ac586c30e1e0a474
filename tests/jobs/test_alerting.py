"""Who is told that nights fail: once a day, without a shell, without a word of what was read."""

from __future__ import annotations

import json
import os
import select
import shlex
import sys
import threading
from collections.abc import Iterator
from http.server import BaseHTTPRequestHandler, HTTPServer
from pathlib import Path
from typing import Any

import msgspec
import pytest

from dreaming.config import AlertSettings, read_person
from dreaming.errors import Unusable
from dreaming.jobs import alerting
from dreaming.jobs.health import Trouble
from dreaming.models.report import Outcome, Report
from dreaming.stores.state import State, opened

from .world import HOUR, KEY, NIGHT

WORD = Trouble("failed", "It failed.", "Look.")
WORKSPACE = "/srv/tide"
LONG = 60.0
"""Seconds after which what is waited for does not come."""
NOTES = """
import json, os, sys
with open(sys.argv[1], "a") as file:
    file.write(json.dumps([sys.stdin.read(), sys.argv[2:], dict(os.environ)]) + "\\n")
"""


class Person:
    """Somebody whose alert command writes down what it gets."""

    def __init__(self, folder: Path) -> None:
        self.notes = folder / "notes"
        words = [sys.executable, "-c", NOTES, str(self.notes), "$HOME", "; touch x"]
        self.settings = AlertSettings(command=shlex.join(words))

    def heard(self) -> list[Any]:
        """Message, arguments and environment of each call."""
        if not self.notes.exists():
            return []
        return [json.loads(line) for line in self.notes.read_text().splitlines()]


@pytest.fixture
def person(tmp_path: Path) -> Person:
    """Somebody who wants to be told."""
    return Person(tmp_path)


@pytest.fixture
def state() -> Iterator[State]:
    """A state without nights."""
    with opened(":memory:", key=KEY) as made:
        yield made


def night(state: State, hours: float, code: int = 0, outcome: str = "advanced") -> None:
    """Add a night some hours after NIGHT."""
    report = Report(
        started=f"night {hours}",
        backend="offline",
        outcome=Outcome(outcome),
        exit_code=code,
        why="words of a transcript",
    )
    state.add_run(NIGHT + hours * HOUR, report.outcome, msgspec.json.encode(report))


def test_a_command_gets_the_message_three_ways(person: Person) -> None:
    """On its input, in its environment, and with the workspace beside it; no shell reads it."""
    assert alerting.send(person.settings, WORD, WORKSPACE) == []
    ((said, arguments, environment),) = person.heard()
    assert said == f"dreaming: It failed. Look.\nWorkspace: {WORKSPACE}\n"
    assert arguments == ["$HOME", "; touch x"]
    assert environment["DREAMING_ALERT_MESSAGE"] == "dreaming: It failed. Look."
    assert environment["DREAMING_ALERT_KIND"] == "failed"
    assert environment["DREAMING_ALERT_WORKSPACE"] == WORKSPACE


def test_a_command_gets_no_key(person: Person, monkeypatch: pytest.MonkeyPatch) -> None:
    """What finds programs and a desktop is passed on, and nothing else."""
    monkeypatch.setenv("ANTHROPIC_API_KEY", "made-up")
    monkeypatch.setenv("DISPLAY", ":7")
    alerting.send(person.settings, WORD, WORKSPACE)
    ((*_, environment),) = person.heard()
    assert "ANTHROPIC_API_KEY" not in environment and environment["DISPLAY"] == ":7"


@pytest.mark.parametrize(
    ("command", "said"),
    [
        ("/nowhere/at/all", "/nowhere/at/all: No such file"),
        (f"{sys.executable} -c 'raise SystemExit(3)'", "ended with 3"),
    ],
)
def test_a_command_that_fails_is_named(command: str, said: str) -> None:
    """A message that did not arrive is no silence."""
    (wrong,) = alerting.send(AlertSettings(command=command), WORD, WORKSPACE)
    assert said in wrong


def test_a_command_that_hangs_is_ended(monkeypatch: pytest.MonkeyPatch) -> None:
    """A message may take so long and no longer."""
    monkeypatch.setattr(alerting, "COMMAND_SECONDS", 0.01)
    hangs = f"{sys.executable} -c 'import signal; signal.pause()'"
    (wrong,) = alerting.send(AlertSettings(command=hangs), WORD, WORKSPACE)
    assert "took longer" in wrong


def test_what_a_command_that_hangs_started_goes_with_it(monkeypatch: pytest.MonkeyPatch) -> None:
    """No process is left from each night: nobody holds what it could complain to."""
    monkeypatch.setattr(alerting, "COMMAND_SECONDS", 0.5)
    hangs = shlex.join(["sh", "-c", "sleep 1000 & sleep 1000"])
    reader, writer = os.pipe()
    before = os.dup(2)
    os.dup2(writer, 2)
    try:
        (wrong,) = alerting.send(AlertSettings(command=hangs), WORD, WORKSPACE)
    finally:
        os.dup2(before, 2)
        for one in (before, writer):
            os.close(one)
    assert "took longer" in wrong
    ready, _, _ = select.select([reader], [], [], LONG)
    assert ready and os.read(reader, 1) == b""
    os.close(reader)


def test_a_trouble_is_told_once_a_day(person: Person, state: State) -> None:
    """At once, again after twenty hours, and at once when it came back after it was gone."""
    for hours, code, outcome, heard in (
        (0, 0, "advanced", 0),
        (1, 69, "failed", 1),
        (2, 69, "failed", 1),
        (20, 69, "failed", 1),
        (21, 69, "failed", 2),
        (22, 0, "advanced", 2),
        (23, 69, "failed", 3),
    ):
        night(state, hours, code, outcome)
        alerting.after_night(state, person.settings, WORKSPACE, NIGHT + hours * HOUR)
        assert len(person.heard()) == heard, hours
    assert "words of a transcript" not in person.notes.read_text()


def test_a_clock_that_went_back_does_not_silence(person: Person, state: State) -> None:
    """Told in the future means nothing: it is told again."""
    night(state, 0, 1, "failed")
    for hours in (1000, 0):
        alerting.after_night(state, person.settings, WORKSPACE, NIGHT + hours * HOUR)
    kinds = [environment["DREAMING_ALERT_KIND"] for *_, environment in person.heard()]
    assert kinds == ["failed", "old", "failed"]


def test_a_run_that_left_no_record_is_told(person: Person, state: State) -> None:
    """What the state does not know is told in the words of whoever saw it."""
    night(state, 0)
    alerting.after_night(state, person.settings, WORKSPACE, NIGHT, WORD)
    ((said, *_),) = person.heard()
    assert "It failed." in said


# -- a service that misses a sign -----------------------------------------------------------------


class Service:
    """A dead-man service on loopback."""

    def __init__(self) -> None:
        called = self.called = list[str]()

        class Answer(BaseHTTPRequestHandler):
            def do_GET(self) -> None:
                called.append(self.path)
                self.send_response(302 if "away" in self.path else 200)
                self.send_header("Location", "/elsewhere")
                self.end_headers()

            def log_message(self, *_: Any) -> None:
                pass

        self._server = HTTPServer(("127.0.0.1", 0), Answer)
        self.url = f"http://127.0.0.1:{self._server.server_port}/ping/uuid?rid=1"
        self._thread = threading.Thread(target=self._server.serve_forever, args=(0.01,))

    def __enter__(self) -> Service:
        self._thread.start()
        return self

    def __exit__(self, *_: object) -> None:
        self._server.shutdown()
        self._thread.join()
        self._server.server_close()


@pytest.mark.parametrize(
    ("code", "outcome", "called"),
    [
        (0, "advanced", ["/ping/uuid?rid=1"]),
        (0, "stayed", ["/ping/uuid?rid=1"]),
        (1, "failed", ["/ping/uuid/fail?rid=1"]),
        (75, "stayed", []),
    ],
)
def test_a_service_is_called_once_a_night(
    state: State, code: int, outcome: str, called: list[str]
) -> None:
    """A sign of life after a night in order, of failure after one that failed, else none."""
    night(state, 0, code, outcome)
    with Service() as service:
        settings = AlertSettings(ping_url=service.url)
        assert alerting.after_night(state, settings, WORKSPACE, NIGHT) == []
        assert alerting.after_night(state, settings, WORKSPACE, NIGHT) == []
        assert service.called == called


def test_a_service_does_not_send_elsewhere() -> None:
    """A redirect is not followed, and the sign that was not given is named."""
    with Service() as service:
        settings = AlertSettings(ping_url=service.url.replace("uuid", "away"))
        (wrong,) = alerting.ping(settings, in_order=True, failed=False)
        assert "was not told" in wrong and len(service.called) == 1


@pytest.mark.parametrize(
    "url",
    ["http://hc.example/x", "ftp://hc.example", "file:///etc/passwd", "hc.example/x", "https:x"],
)
def test_only_private_addresses_are_called(tmp_path: Path, url: str) -> None:
    """https, or this machine; anything else is refused where it stands."""
    (tmp_path / "config.toml").write_text(f"[alert]\nping_url = '{url}'\n")
    with pytest.raises(Unusable, match=r"config\.toml:2: .*no https address"):
        read_person(tmp_path / "config.toml")


def test_a_command_that_cannot_be_read_is_refused(tmp_path: Path) -> None:
    """A quotation without its end is seen before the first failure, not at it."""
    (tmp_path / "config.toml").write_text('[alert]\ncommand = "mail \'kim"\n')
    with pytest.raises(Unusable, match=r"config\.toml:2: .*No closing quotation"):
        read_person(tmp_path / "config.toml")


# -- what a service manager says ------------------------------------------------------------------


def test_a_unit_that_failed_is_named() -> None:
    """Which, how, and where to look; one that ended in order is nothing to tell."""
    monitor = {"MONITOR_SERVICE_RESULT": "oom-kill", "MONITOR_EXIT_STATUS": "KILL"}
    word = alerting.unit_failed("dreaming.service", monitor)
    assert word is not None and "dreaming.service failed (result oom-kill, exit KILL)" in word.said
    assert "journalctl" in word.remedy and "-u dreaming.service" in word.remedy
    assert alerting.unit_failed("dreaming.service", {"MONITOR_SERVICE_RESULT": "success"}) is None
    assert alerting.unit_failed("dreaming.service", {}) is not None
