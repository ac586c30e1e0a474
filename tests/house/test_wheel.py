"""What is installed is the program with its resources, and nothing of a person's."""

from __future__ import annotations

import subprocess
import sys
import tomllib
import zipfile
from pathlib import Path
from typing import Final

import pytest

ROOT: Final = Path(__file__).parents[2]
PACKAGES: Final = ("dreaming", "review_tui")


@pytest.fixture(scope="module")
def names(tmp_path_factory: pytest.TempPathFactory) -> frozenset[str]:
    """The names of the files in a wheel built from this checkout, without a network."""
    folder = tmp_path_factory.mktemp("wheel")
    build = [sys.executable, "-m", "hatchling", "build", "-t", "wheel", "-d", str(folder)]
    subprocess.run(build, cwd=ROOT, capture_output=True, check=True)
    (wheel,) = folder.glob("*.whl")
    with zipfile.ZipFile(wheel) as archive:
        return frozenset(archive.namelist())


def test_wheel_holds_every_module_and_resource(names: frozenset[str]) -> None:
    """What stands in the package arrives: modules, the type marker, templates, prompts, sample."""
    there = {
        str(one.relative_to(ROOT))
        for package in PACKAGES
        for one in (ROOT / package).rglob("*")
        if one.is_file() and "__pycache__" not in one.parts
    }
    assert there - names == set()
    assert {one.partition("/resources/")[2].partition("/")[0] for one in names} >= {
        "prompts",
        "workspace",
    }


def test_wheel_holds_the_units(names: frozenset[str]) -> None:
    """The folder of units at the top of the checkout arrives as one of the resources."""
    there = {
        f"dreaming/resources/systemd/{one.relative_to(ROOT / 'systemd')}"
        for one in (ROOT / "systemd").rglob("*")
        if one.is_file()
    }
    assert there and there - names == set()


def test_wheel_holds_nothing_else(names: frozenset[str]) -> None:
    """The three data folders, tests and documents stay outside."""
    tops = {one.partition("/")[0] for one in names}
    assert {one for one in tops if not one.endswith(".dist-info")} == set(PACKAGES)


def test_dependencies_stay_few() -> None:
    """At most sixteen direct runtime dependencies."""
    table = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))
    assert len(table["project"]["dependencies"]) <= 16
