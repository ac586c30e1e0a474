"""The command as a person runs it: in a home of its own, seen from outside only."""

from __future__ import annotations

import ctypes
import hashlib
import io
import json
import shutil
import subprocess
import sys
from collections.abc import Callable, Mapping
from contextlib import chdir, redirect_stderr, redirect_stdout
from importlib import resources
from pathlib import Path
from typing import Any, Final, NamedTuple

from dreaming.cli import main

MAKE_SAMPLE: Final = Path(__file__).parent.parent.parent / "scripts" / "make_sample"
STORIES: Final = Path(__file__).parent / "stories"
_DROP_FROM_BOUNDING_SET: Final = 24
_READS_AND_WRITES_EVERYTHING: Final = (1, 2)


class Ran(NamedTuple):
    """How a command ended."""

    code: int
    out: str
    err: str

    @property
    def said(self) -> str:
        """Everything it printed."""
        return self.out + self.err

    def document(self) -> Any:
        """The one JSON document it printed, after an end as it should be."""
        assert self.code == 0, self.said
        return json.loads(self.out)


class Dreaming:
    """A person's home and the installed command in it."""

    def __init__(self, home: Path) -> None:
        self.home = home
        self.workspace = home / ".dreaming"

    @property
    def state(self) -> Path:
        """The folder of the machine's own things."""
        (key,) = self.home.glob("xdg_state_home/dreaming/workspaces/*/key")
        return key.parent

    def run(self, *arguments: object, before: Callable[[], None] | None = None) -> Ran:
        """Run the command in the home, with nothing to read on its input."""
        done = subprocess.run(
            [sys.executable, "-m", "dreaming", *map(str, arguments)],
            cwd=self.home,
            stdin=subprocess.DEVNULL,
            capture_output=True,
            text=True,
            timeout=120,
            check=False,
            preexec_fn=before,
        )
        assert "Traceback" not in done.stderr, done.stderr
        return Ran(done.returncode, done.stdout, done.stderr)

    def night(self, *more: object) -> Any:
        """Run a night over everything that lies in the agents' own places; return its report."""
        return self.run("nightly", "--since", "all", "--settle", "0", "--json", *more).document()

    def revealed(self) -> Any:
        """Return what waits, with its evidence."""
        return self.run("reveal", "--all", "--json").document()

    def pending(self) -> dict[str, bytes]:
        """Return what lies in the queue, byte for byte."""
        return {path.stem: path.read_bytes() for path in self.workspace.glob("pending/*.json")}


class Here(Dreaming):
    """The same door without a process of its own: half a second less for each command."""

    def run(self, *arguments: object, before: Callable[[], None] | None = None) -> Ran:
        """Run the command in this process, unless something must be done to its process first."""
        if before is not None:
            return super().run(*arguments, before=before)
        out, err = io.StringIO(), io.StringIO()
        with redirect_stdout(out), redirect_stderr(err), chdir(self.home):
            code = main.run([str(one) for one in arguments])
        return Ran(code, out.getvalue(), err.getvalue())


def copy_sample(home: Path) -> None:
    """Lay the bundled sessions out in a home."""
    with resources.as_file(resources.files("dreaming.resources")) as folder:
        shutil.copytree(folder / "sample" / "home", home, dirs_exist_ok=True)


def tell(home: Path, story: str, values: Mapping[str, str], scratch: Path) -> None:
    """Add the session of one story to a home; words in capitals become the given values."""
    text = (STORIES / f"{story}.txt").read_text("utf-8")
    for word, value in values.items():
        assert word in text
        text = text.replace(word, value)
    told = scratch / story
    told.mkdir()
    (told / f"{story}.txt").write_text(text, encoding="utf-8")
    make_sample(home, told)


def make_sample(home: Path, *stories: Path) -> None:
    """Run the script that turns stories into transcripts."""
    subprocess.run([sys.executable, MAKE_SAMPLE, home, *stories], check=True)


def folder_hash(folder: Path) -> str:
    """Return a hash over the names and the contents of everything in a folder."""
    parts = [
        f"{path.relative_to(folder)}\0{hashlib.sha256(path.read_bytes()).hexdigest()}"
        for path in sorted(folder.rglob("*"))
        if path.is_file()
    ]
    return hashlib.sha256("\n".join(parts).encode()).hexdigest()


def like_anybody() -> None:
    """Before a command starts: let the rights of files hold for it, also where root runs tests."""
    kernel = ctypes.CDLL(None, use_errno=True)
    for capability in _READS_AND_WRITES_EVERYTHING:
        kernel.prctl(_DROP_FROM_BOUNDING_SET, capability, 0, 0, 0)
