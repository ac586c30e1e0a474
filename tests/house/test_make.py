"""What `make` finds missing it names, and what it made it does not make twice."""

from __future__ import annotations

import re
import shutil
import subprocess
import sys
from pathlib import Path
from typing import Final

import pytest

ROOT: Final = Path(__file__).parents[2]
NEEDED: Final = ("bash", "cat", "cksum", "dirname", "echo", "grep", "mkdir", "rm", "sed")

pytestmark = pytest.mark.skipif(shutil.which("bash") is None, reason="bash is not here")

OLD: Final = """
case "$*" in *--version*) echo "Python 3.9.6" ;; *) exit 1 ;; esac
"""
WITHOUT_VENV: Final = """
case "$*" in
*ensurepip*) echo "ModuleNotFoundError: No module named 'ensurepip'" >&2; exit 1 ;;
*) exit 0 ;;
esac
"""
WHOLE: Final = """
echo "python $*" >>"$CALLS"
case "$*" in
*--version*) echo "Python 3.12.1" ;;
*-m\\ venv*) mkdir -p .venv/bin; cat "$0" >.venv/bin/python; chmod +x .venv/bin/python ;;
*tomllib*) echo "pytest>=9" ;;
*pip\\ install*) [ ! -e broken ] ;;
esac
"""
"""Says of itself that all is well, and notes what it was asked to do."""


class Checkout:
    """A checkout of the installer alone, on a machine with the Pythons one puts there."""

    def __init__(self, folder: Path) -> None:
        self.root = folder / "checkout"
        (self.root / ".ci").mkdir(parents=True)
        shutil.copy(ROOT / ".ci/install", self.root / ".ci/install")
        shutil.copy(ROOT / "pyproject.toml", self.root)
        self.bin = folder / "bin"
        self.bin.mkdir()
        self.calls = folder / "calls"
        for name in (*NEEDED, "chmod"):
            found = shutil.which(name)
            assert found
            (self.bin / name).symlink_to(found)

    def python(self, name: str, script: str) -> None:
        """Put an interpreter on the path."""
        path = self.bin / name
        path.write_text(f"#!{shutil.which('bash')}\n{script}", encoding="utf-8")
        path.chmod(0o755)

    def install(self, what: str, **environment: str) -> subprocess.CompletedProcess[str]:
        """Run the installer."""
        return subprocess.run(
            [str(self.bin / "bash"), ".ci/install", what],
            cwd=self.root,
            env={"PATH": str(self.bin), "CALLS": str(self.calls), **environment},
            capture_output=True,
            text=True,
            check=False,
        )

    def asked(self) -> list[str]:
        """What the interpreters were asked to do since the last time."""
        said = self.calls.read_text(encoding="utf-8") if self.calls.exists() else ""
        self.calls.unlink(missing_ok=True)
        return [line for line in said.splitlines() if "pip install" in line or "-m venv" in line]


@pytest.fixture
def checkout(tmp_path: Path) -> Checkout:
    """A checkout on a machine without any Python."""
    return Checkout(tmp_path)


def test_no_python_is_said_with_the_remedy(checkout: Checkout) -> None:
    """A machine without Python hears which, and how to get it."""
    done = checkout.install("runtime")
    assert done.returncode == 1
    assert "Python 3.11 or newer is needed; found no Python at all" in done.stderr
    assert "apt install python3" in done.stderr and "brew install python" in done.stderr
    assert not (checkout.root / ".venv").exists()


def test_an_old_python_is_named(checkout: Checkout) -> None:
    """What was found is said, so that nobody installs it a second time."""
    checkout.python("python3", OLD)
    done = checkout.install("runtime")
    assert done.returncode == 1
    assert "found Python 3.9.6" in done.stderr


def test_a_missing_module_is_named(checkout: Checkout) -> None:
    """Debian has Python without venv; the package that brings it is said."""
    checkout.python("python3", WITHOUT_VENV)
    done = checkout.install("runtime")
    assert done.returncode == 1
    assert "its module ensurepip is missing" in done.stderr
    assert "apt install python3-venv" in done.stderr


def test_the_newest_whole_python_is_taken(checkout: Checkout) -> None:
    """A newer one that lacks something does not hide one that works, and PYTHON names another."""
    checkout.python("python3.13", WITHOUT_VENV)
    checkout.python("python3.12", OLD)
    checkout.python("python3.11", WHOLE)
    assert checkout.install("runtime").returncode == 0
    assert (checkout.root / ".venv/installed").exists()
    shutil.rmtree(checkout.root / ".venv")
    checkout.python("mine", WITHOUT_VENV)
    assert checkout.install("runtime", PYTHON="mine").returncode == 1


def test_the_second_time_does_nothing(checkout: Checkout) -> None:
    """What is installed stays installed, and the tests' needs include those of a night."""
    checkout.python("python3", WHOLE)
    assert checkout.install("runtime").returncode == 0
    assert [line.partition("-m ")[2].split()[0] for line in checkout.asked()] == ["venv", "pip"]
    assert checkout.install("runtime").returncode == 0
    assert checkout.asked() == []
    assert checkout.install("dev").returncode == 0
    (line,) = checkout.asked()
    assert line.endswith("--editable . --requirement .venv/dev-group.txt")
    for what in ("dev", "runtime"):
        done = checkout.install(what)
        assert (done.returncode, done.stdout, done.stderr) == (0, "", "")
    assert checkout.asked() == []


def test_a_failed_install_does_not_count(checkout: Checkout) -> None:
    """Where pip fails nothing is stamped, and the next run tries again in the same .venv."""
    checkout.python("python3", WHOLE)
    (checkout.root / "broken").touch()
    done = checkout.install("dev")
    assert done.returncode == 1 and "Installing failed" in done.stderr
    assert not (checkout.root / ".venv/installed").exists()
    (checkout.root / "broken").unlink()
    checkout.asked()
    assert checkout.install("dev").returncode == 0
    assert len(checkout.asked()) == 1


def test_other_needs_and_another_place_install_anew(checkout: Checkout) -> None:
    """A changed pyproject.toml is installed; a moved folder gets a .venv of its own."""
    checkout.python("python3", WHOLE)
    checkout.install("runtime")
    checkout.asked()
    with (checkout.root / "pyproject.toml").open("a", encoding="utf-8") as file:
        file.write("# changed\n")
    assert checkout.install("runtime").returncode == 0
    assert len(checkout.asked()) == 1
    checkout.root = checkout.root.rename(checkout.root.with_name("moved"))
    assert checkout.install("runtime").returncode == 0
    assert len(checkout.asked()) == 2


def test_the_development_group_is_read_from_pyproject(checkout: Checkout) -> None:
    """Also with a pip that knows no dependency groups: the requirements are written out."""
    script = f'exec "{sys.executable}" "$@"\n'
    checkout.python("python3", WHOLE.replace('*tomllib*) echo "pytest>=9"', f"*tomllib*) {script}"))
    assert checkout.install("dev").returncode == 0
    listed = (checkout.root / ".venv/dev-group.txt").read_text(encoding="utf-8").split()
    assert {re.split(r"[<>=]", one)[0] for one in listed} >= {"pytest", "ruff", "hatchling"}


def test_every_target_is_listed() -> None:
    """`make` alone lists each target with what it does."""
    text = (ROOT / "Makefile").read_text(encoding="utf-8")
    targets = re.findall(r"^([a-z-]+):", text, re.M)
    assert targets[0] == "help"
    assert re.findall(r"^([a-z-]+):.*## .+", text, re.M) == targets
    assert set(re.findall(r"^\.PHONY: (.+)$", text, re.M)[0].split()) == set(targets)
    if shutil.which("make"):
        said = subprocess.check_output(["make", "-C", str(ROOT), "--no-print-directory"], text=True)
        assert re.findall(r"^  make ([a-z-]+) ", said, re.M) == targets


@pytest.mark.parametrize("name", [".ci/clients", ".ci/install", ".ci/run"])
def test_scripts_are_whole(name: str) -> None:
    """A script can be run, stops at the first failure, and its syntax is right."""
    path = ROOT / name
    assert path.stat().st_mode & 0o111
    assert "set -euo pipefail" in path.read_text(encoding="utf-8")
    subprocess.run(["bash", "-n", str(path)], check=True)
