"""The real programs, where `make test-clients` has put them; without them its tests are skipped."""

from __future__ import annotations

import os
from pathlib import Path

import pytest

HERE = Path(__file__).parent


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """Skip, and say so, what needs programs that are not there."""
    if not os.environ.get("DREAMING_CLIENTS"):
        skip = pytest.mark.skip(reason="needs the real claude and codex: `make test-clients`")
        for item in items:
            if item.path.is_relative_to(HERE):
                item.add_marker(skip)


@pytest.fixture(scope="session")
def claude() -> str:
    """Claude Code."""
    return str(Path(os.environ["DREAMING_CLIENTS"]) / "claude")


@pytest.fixture(scope="session")
def codex() -> str:
    """Codex."""
    return str(Path(os.environ["DREAMING_CLIENTS"]) / "codex")
