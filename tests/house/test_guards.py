"""The guards of tests/conftest.py hold."""

from __future__ import annotations

import os
import socket
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

import platformdirs
import pytest

pytest_plugins = ["pytester"]

REAL_HOME = Path(os.path.expanduser("~"))  # noqa: PTH111 - read before any fixture is at work


def test_home_is_empty_and_not_the_persons(home: Path) -> None:
    """A test sees an empty home of its own, and so does every program it starts."""
    assert Path.home() == home != REAL_HOME
    assert not list(home.iterdir())
    for place in (platformdirs.user_state_path("x"), platformdirs.user_config_path("x")):
        assert place.is_relative_to(home)
    said = subprocess.check_output(
        [sys.executable, "-c", "import pathlib; print(pathlib.Path.home())"], text=True
    )
    assert Path(said.strip()) == home


def test_homes_are_not_shared(home: Path, _homes: object) -> None:
    """What one test leaves in its home no other test finds."""
    (home / "left-behind").touch()
    assert [one.name for one in home.parent.glob("*/left-behind")] == ["left-behind"]


def test_agents_and_settings_are_away() -> None:
    """No variable of a coding agent, no setting of ours and no colour switch reaches a test."""
    prefixes = ("CLAUDE", "CODEX_", "ANTHROPIC_", "OPENAI_", "GEMINI_", "CURSOR_", "DREAMING_")
    assert [one for one in os.environ if one.startswith(prefixes)] in ([], ["DREAMING_SHARED"])
    assert not {"NO_COLOR", "FORCE_COLOR"} & os.environ.keys()


def _connect() -> None:
    with socket.socket() as one:
        one.connect(("192.0.2.1", 80))


def _connect_ex() -> None:
    with socket.socket(socket.AF_INET6) as one:
        one.connect_ex(("2001:db8::1", 80))


def _resolve() -> None:
    socket.getaddrinfo("example.org", 443)


def _create() -> None:
    socket.create_connection(("example.org", 443), timeout=0.1)


@pytest.mark.parametrize("reach", [_connect, _connect_ex, _resolve, _create])
def test_network_is_out_of_reach(reach: Callable[[], None]) -> None:
    """Reaching for anything but loopback fails the test, also under ``except Exception``."""
    with pytest.raises(pytest.fail.Exception, match="only loopback"):
        try:
            reach()
        except Exception:  # noqa: BLE001 - as careless code would
            return


def test_loopback_is_open() -> None:
    """A server of the test's own can be talked to, by address and by name."""
    with socket.create_server(("127.0.0.1", 0)) as server:
        port = server.getsockname()[1]
        for host in ("127.0.0.1", "localhost"):
            with socket.create_connection((host, port), timeout=5):
                server.accept()[0].close()


INNER = """
import pytest

@pytest.mark.shared
def test_marked():
    "A law."

def test_asking(shared):
    "A law."
    assert shared.is_dir()

def test_golden(golden):
    "A law."
    golden("what a person gets", "txt")
"""


@pytest.fixture
def inner(pytester: pytest.Pytester) -> pytest.Pytester:
    """A folder with our conftest and tests of its own."""
    conftest = Path(__file__).parents[1] / "conftest.py"
    pytester.makeconftest(conftest.read_text(encoding="utf-8"))
    pytester.makeini("[pytest]\nmarkers = shared: needs benchmarks\n")
    pytester.makepyfile(test_inner=INNER)
    return pytester


def test_benchmarks_are_optional(
    inner: pytest.Pytester, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    """Without DREAMING_SHARED both forms of asking skip and are counted; with it both run."""
    monkeypatch.delenv("DREAMING_SHARED", raising=False)
    inner.runpytest_inprocess("-k", "marked or asking").assert_outcomes(skipped=2, deselected=1)
    monkeypatch.setenv("DREAMING_SHARED", str(tmp_path))
    inner.runpytest_inprocess("-k", "marked or asking").assert_outcomes(passed=2, deselected=1)


def test_golden_files_are_written_on_demand_only(inner: pytest.Pytester) -> None:
    """A missing or differing golden file fails; ``--golden-update`` writes it."""
    run = ("-k", "golden")
    inner.runpytest_inprocess(*run).assert_outcomes(failed=1, deselected=2)
    inner.runpytest_inprocess(*run, "--golden-update").assert_outcomes(passed=1, deselected=2)
    file = inner.path / "golden" / "inner" / "golden.txt"
    assert file.read_text() == "what a person gets"
    inner.runpytest_inprocess(*run).assert_outcomes(passed=1, deselected=2)
    file.write_text("something else")
    inner.runpytest_inprocess(*run).assert_outcomes(failed=1, deselected=2)
