"""What every test may count on: an empty home, no agent around it, no network but loopback.

``golden`` compares with a file under ``tests/golden``; ``shared`` is the folder of benchmarks.
"""

from __future__ import annotations

import os
import re
import socket
from collections.abc import Callable, Iterator
from itertools import count
from pathlib import Path
from typing import Any, Final

import pytest
from hypothesis import settings

SHARED: Final = "DREAMING_SHARED"
"""Names the folder with corpus and benchmarks; without it the tests that need them are skipped."""

FOREIGN_VARIABLES: Final = re.compile(
    r"(CLAUDE|CODEX|ANTHROPIC|OPENAI|GEMINI|CURSOR|COPILOT|OPENCODE|AIDER|GOOSE|AMP|DREAMING)"
    r"(CODE)?(_.*)?$"
)
"""What coding agents set for the commands they run, and what a person sets for ours."""

NO_HOME: Final = ("XDG_CONFIG_HOME", "XDG_DATA_HOME", "XDG_STATE_HOME", "XDG_CACHE_HOME")

# Machines that run tests are busy; a property that is slow there is no failure. Where CI is set
# hypothesis already does this, and repeats the same examples each time.
if not os.environ.get("CI"):
    settings.register_profile("unhurried", deadline=None)
    settings.load_profile("unhurried")


def pytest_addoption(parser: pytest.Parser) -> None:
    """Add ``--golden-update``."""
    parser.addoption(
        "--golden-update", action="store_true", help="Write the golden files anew; then read them."
    )


def pytest_report_header() -> str:
    """Say where the benchmarks are looked for."""
    return f"benchmarks: {os.environ.get(SHARED) or f'none, {SHARED} is not set'}"


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """Skip what is marked ``shared`` where there is no such folder."""
    if _shared() is not None:
        return
    for item in items:
        if item.get_closest_marker("shared"):
            item.add_marker(pytest.mark.skip(reason=f"{SHARED} names no folder"))


# -- guards ---------------------------------------------------------------------------------------


@pytest.fixture(scope="session")
def _homes(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Path]:
    """Numbered homes, made one a test."""
    base = tmp_path_factory.mktemp("homes")
    return (base / str(number) for number in count())


@pytest.fixture(autouse=True)
def home(_homes: Iterator[Path], monkeypatch: pytest.MonkeyPatch) -> Path:
    """Return the empty home this test has, for itself and the programs it starts."""
    folder = next(_homes)
    folder.mkdir()
    monkeypatch.setenv("HOME", str(folder))
    for name in NO_HOME:
        monkeypatch.setenv(name, str(folder / name.lower()))
    monkeypatch.setenv("GIT_CONFIG_NOSYSTEM", "1")
    return folder


@pytest.fixture(autouse=True)
def _no_agent_around(monkeypatch: pytest.MonkeyPatch) -> None:
    """Take away what an agent, a person's settings or a terminal would add to a result."""
    for name in list(os.environ):
        if FOREIGN_VARIABLES.match(name) and name != SHARED:
            monkeypatch.delenv(name)
    monkeypatch.delenv("NO_COLOR", raising=False)
    monkeypatch.delenv("FORCE_COLOR", raising=False)


@pytest.fixture(autouse=True)
def _loopback_only(monkeypatch: pytest.MonkeyPatch) -> None:
    """End a test that reaches for the network; no ``except Exception`` can hide it."""
    for verb in ("connect", "connect_ex"):
        monkeypatch.setattr(socket.socket, verb, _guarded(getattr(socket.socket, verb)))
    look_up = socket.getaddrinfo

    def guarded_look_up(host: Any, *args: Any, **named: Any) -> Any:
        _require_loopback(host)
        return look_up(host, *args, **named)

    monkeypatch.setattr(socket, "getaddrinfo", guarded_look_up)


def _guarded(verb: Callable[[socket.socket, Any], Any]) -> Callable[[socket.socket, Any], Any]:
    def guarded(self: socket.socket, address: Any) -> Any:
        if self.family in (socket.AF_INET, socket.AF_INET6):
            _require_loopback(address[0])
        return verb(self, address)

    return guarded


def _require_loopback(host: str | bytes | None) -> None:
    name = host.decode() if isinstance(host, bytes) else host
    if name not in (None, "", "localhost", "::1") and not str(name).startswith("127."):
        pytest.fail(f"a test reached for {name}; only loopback is allowed")


# -- what tests ask for ---------------------------------------------------------------------------


@pytest.fixture
def shared() -> Path:
    """Return the folder with corpus and benchmarks, or skip the test."""
    folder = _shared()
    if folder is None:
        pytest.skip(f"{SHARED} names no folder")
    return folder


def _shared() -> Path | None:
    named = os.environ.get(SHARED, "")
    return Path(named) if named and Path(named).is_dir() else None


@pytest.fixture
def golden(request: pytest.FixtureRequest) -> Callable[[str, str], None]:
    """Return ``golden(text, extension)``: the text must be what the test's golden file holds.

    The file is ``tests/golden/<module>/<test>.<extension>``, as a person would get it.
    ``--golden-update`` writes it; the change is then read in review.
    """
    module = request.path.stem.removeprefix("test_")
    test = re.sub(r"[^\w.-]+", "-", request.node.name.removeprefix("test_")).strip("-")
    folder = Path(__file__).parent / "golden" / module

    def compare(text: str, extension: str) -> None:
        path = folder / f"{test}.{extension}"
        if request.config.getoption("--golden-update"):
            folder.mkdir(parents=True, exist_ok=True)
            path.write_text(text, encoding="utf-8")
        if not path.exists():
            pytest.fail(f"{path} is missing; pytest --golden-update writes it")
        assert text == path.read_text(encoding="utf-8"), f"{path} differs (--golden-update)"

    return compare
