"""Imports go down, and heavy ones wait: in the source by contract, at run time by looking."""

from __future__ import annotations

import re
import shutil
import subprocess
import sys
import tomllib
from pathlib import Path
from typing import Any, Final

import pytest

ROOT: Final = Path(__file__).parents[2]
LINT: Final = Path(sys.executable).with_name("lint-imports")

HEAVY: Final = frozenset(
    "anthropic apscheduler httpx2 hyperscan numpy platformdirs pydantic pydantic_settings regex "
    "sqlite3 sqlite_utils textual tomllib".split()
)
"""Wait inside the function that needs them: `--help` must not pay for what it does not use."""


@pytest.mark.parametrize(
    "program",
    [
        "import dreaming.cli.main",
        "from dreaming.cli.main import run; run(['--help'])",
        "from dreaming.cli.main import run; run(['nightly', '--help'])",
        "from dreaming.cli.main import run; run(['--version'])",
        "from dreaming.cli.main import run; run(['pennding'])",
    ],
)
def test_help_loads_nothing_heavy(program: str) -> None:
    """The door, its help and its complaint about a typing error load no heavy module."""
    after = "; import sys; print('loaded:', *sys.modules)"
    done = subprocess.run(
        [sys.executable, "-c", program + after], capture_output=True, text=True, check=True
    )
    loaded = {name.partition(".")[0] for name in done.stdout.rpartition("loaded:")[2].split()}
    assert "dreaming" in loaded
    assert not loaded & HEAVY


def contracts() -> list[dict[str, Any]]:
    """The contracts in pyproject.toml."""
    table = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))
    found: list[dict[str, Any]] = table["tool"]["importlinter"]["contracts"]
    return found


def lint(folder: Path) -> subprocess.CompletedProcess[str]:
    """Run import-linter over the package in ``folder``."""
    return subprocess.run(
        [str(LINT), "--no-cache"], cwd=folder, capture_output=True, text=True, check=False
    )


def broken(said: str) -> list[str]:
    """The names of the contracts that a report calls broken."""
    return re.findall(r"^(.+) BROKEN\b", said, flags=re.MULTILINE)


@pytest.fixture
def package(tmp_path: Path) -> Path:
    """A copy of the package and its contracts, to break."""
    no_caches = shutil.ignore_patterns("__pycache__")
    for one in ("dreaming", "review_tui"):
        shutil.copytree(ROOT / one, tmp_path / one, ignore=no_caches)
    shutil.copy(ROOT / "pyproject.toml", tmp_path)
    return tmp_path


def test_contracts_are_kept(package: Path) -> None:
    """Every contract holds."""
    done = lint(package)
    assert done.returncode == 0, done.stdout
    assert not broken(done.stdout)


BREAKS: Final = {
    "a rule reaches up": ("due.py", "import dreaming.jobs.nightly", "Imports go down"),
    "a store knows a source": ("stores/files.py", "import dreaming.transcripts.codex", "Imports"),
    "a job knows a command": ("jobs/decide.py", "import dreaming.cli.main", "Imports go down"),
    "a module without a layer": ("helpers.py", "'''A helper.'''", "Imports go down"),
    "the night takes the pen": (
        "jobs/nightly.py",
        "import dreaming.stores.knowledge_writer",
        "Only a person's decision",
    ),
    "wiring takes the pen": (
        "wiring.py",
        "from dreaming.stores import knowledge_writer",
        "Only a person's decision",
    ),
    "a rule reads files": ("known/__init__.py", "import os", "Rules and models"),
    "a rule calls a model": ("signals/__init__.py", "import anthropic", "Rules and models"),
    "a model opens a database": ("models/report.py", "import sqlite3", "Rules and models"),
    "the night opens a screen": ("jobs/nightly.py", "import textual", "The night never"),
    "wiring opens the review": ("wiring.py", "import review_tui.app", "The night never"),
    "the review knows a door": (
        "../review_tui/plain.py",
        "from dreaming.cli import output",
        "The review stands",
    ),
    "the review opens a store": (
        "../review_tui/app.py",
        "from dreaming.stores import pending",
        "The review keeps",
    ),
}


@pytest.mark.parametrize("name", BREAKS)
def test_breaking_a_contract_is_noticed(package: Path, name: str) -> None:
    """One bad import breaks the contract that forbids it, by name, and says what to do instead."""
    file, line, contract = BREAKS[name]
    path = package / "dreaming" / file
    text = path.read_text(encoding="utf-8") if path.exists() else ""
    path.write_text(f"{text}\n{line}\n", encoding="utf-8")
    done = lint(package)
    assert done.returncode != 0
    assert any(one.startswith(contract) for one in broken(done.stdout)), done.stdout
    (advice,) = [
        one["broken_contract_guidance"] for one in contracts() if one["name"].startswith(contract)
    ]
    assert advice in " ".join(done.stdout.split())


def test_every_contract_is_broken_once() -> None:
    """No contract is there without a proof that it can fail."""
    proven = tuple(contract for _, _, contract in BREAKS.values())
    assert [one["name"] for one in contracts() if not one["name"].startswith(proven)] == []


def test_purity_covers_every_rule() -> None:
    """Each module on the layers of rules and models stands in the contract that keeps them pure."""
    layers, _, pure, *_ = contracts()
    at = layers["layers"].index("config")
    rules = " | ".join(layers["layers"][at - 2 : at]).split(" | ")
    assert {f"dreaming.{one}" for one in [*rules, "models"]} - set(pure["source_modules"]) == set()
