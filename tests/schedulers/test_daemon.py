"""The daemon: one night at a time, each a child that it can end, and an end without leftovers."""

from __future__ import annotations

import json
import os
import signal
import socket
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

from dreaming.daemon import Nights, serve
from dreaming.errors import NotNow
from dreaming.jobs.schedule import DAEMON_LOCK
from dreaming.stores import files
from tests.schedulers.plans import plan

ROOT = Path(__file__).parents[2]


def night(program: str) -> tuple[str, ...]:
    """A night that is a small program."""
    return (sys.executable, "-c", program)


HANGS = "import time; time.sleep(600)"


def test_a_night_ends_as_its_command() -> None:
    """The code comes through, and what is meant for the daemon's manager does not."""
    assert Nights(night("raise SystemExit(75)")).run() == 75


def test_a_managers_socket_is_not_passed_on(monkeypatch: pytest.MonkeyPatch) -> None:
    """A night does not speak for the daemon."""
    monkeypatch.setenv("NOTIFY_SOCKET", "/nowhere")
    monkeypatch.setenv("WATCHDOG_USEC", "1")
    assert Nights(night("import os; raise SystemExit('NOTIFY_SOCKET' in os.environ)")).run() == 0


def test_a_night_that_hangs_is_ended() -> None:
    """At the wall it is asked, then killed, with what it started."""
    before = signal.signal(signal.SIGTERM, signal.SIG_IGN)  # what is started takes that over
    try:
        assert Nights(night(HANGS), wall=0.5, grace=0.2).run() == -signal.SIGKILL
    finally:
        signal.signal(signal.SIGTERM, before)


def test_a_night_that_listens_is_asked_only() -> None:
    """One that ends on SIGTERM is not killed."""
    assert Nights(night(HANGS), wall=0.5, grace=60).run() == -signal.SIGTERM


def test_nothing_starts_after_the_end(tmp_path: Path) -> None:
    """A look that comes when the daemon ends starts no night."""
    nights = Nights(night(f"open({str(tmp_path / 'ran')!r}, 'w')"))
    nights.stop()
    assert nights.run() == 0 and not (tmp_path / "ran").exists()


def test_one_daemon_a_workspace(tmp_path: Path) -> None:
    """A second one is told who serves already; the first is not disturbed."""
    made = plan(command=night("raise SystemExit(7)"), state=tmp_path)
    with files.lock(tmp_path / DAEMON_LOCK, "process 7"), pytest.raises(NotNow, match="process 7"):
        serve(made, once=True, note=print)
    assert serve(made, once=True, note=print) == 7


SERVES = """
import signal, sys
from pathlib import Path
from dreaming.cli.main import _interrupt
from dreaming.daemon import serve
from tests.schedulers.plans import plan
signal.signal(signal.SIGTERM, _interrupt)
made = plan(command=(sys.executable, "-c", sys.argv[1]), state=Path(sys.argv[2]))
sys.exit(serve(made, once=False, note=lambda text: print(text, flush=True)))
"""


@pytest.fixture
def manager(home: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[socket.socket]:
    """The socket of a service manager that hears what is told."""
    address = home / "notify"
    with socket.socket(socket.AF_UNIX, socket.SOCK_DGRAM) as one:
        one.bind(str(address))
        one.settimeout(60)
        monkeypatch.setenv("NOTIFY_SOCKET", str(address))
        yield one


@pytest.mark.parametrize("number", [signal.SIGTERM, signal.SIGINT])
def test_it_ends_with_its_night(
    number: signal.Signals, manager: socket.socket, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Ready, alive, stopping: ended by a signal it ends its night, waits for it, and is content."""
    monkeypatch.setenv("WATCHDOG_USEC", "400000")
    pipe = tmp_path / "held by the night"
    os.mkfifo(pipe)
    hangs = f"import time; held = open({str(pipe)!r}, 'w'); time.sleep(600)"
    words = [sys.executable, "-c", SERVES, hangs, str(tmp_path)]
    with subprocess.Popen(words, cwd=ROOT, stdout=subprocess.DEVNULL) as daemon:
        try:
            held = pipe.open()  # returns when the night has opened its end
            heard = [manager.recv(100).decode(), manager.recv(100).decode()]
            daemon.send_signal(number)
            while heard[-1] != "STOPPING=1":
                heard.append(manager.recv(100).decode())
            assert daemon.wait(60) == 0
        finally:
            daemon.kill()
    assert heard[:2] == ["READY=1", "WATCHDOG=1"]
    with held, files.lock(tmp_path / DAEMON_LOCK):
        assert held.read() == ""  # nobody is left who holds the other end


LOOKS = """
import json
from datetime import datetime
from dreaming.daemon import looks
at, found = datetime.fromisoformat("2026-11-01T00:00:00+00:00"), []
for _ in range(60):
    at = looks().get_next_fire_time(at, at)
    found.append(at.isoformat())
print(json.dumps(found))
"""


def test_it_looks_by_the_clock_on_the_wall() -> None:
    """From one to eight in the evening where the person lives, also when the clock is put back."""
    done = subprocess.run(
        [sys.executable, "-c", LOOKS],
        env={**os.environ, "TZ": "America/New_York"},
        capture_output=True,
        text=True,
        check=True,
    )
    found = json.loads(done.stdout)
    assert {int(one[11:13]) for one in found} == set(range(1, 21))
    assert {one[-6:] for one in found} == {"-04:00", "-05:00"}
