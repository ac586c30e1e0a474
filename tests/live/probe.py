"""What a night could do to the machine, tried from where a unit puts it.

Prints nothing; writes what was allowed into the state folder, and one line a start.
"""

from __future__ import annotations

import contextlib
import ctypes
import json
import mmap
import os
import signal
import socket
import sqlite3
import subprocess
import sys
import threading
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

CLONE_NEWUSER = 0x10000000


def main(state: Path, workspace: Path, home: Path) -> None:
    """Try everything, or work until it is done, or hang for ever, as the environment says."""
    with (state / "starts").open("a") as file:
        file.write(f"{os.getpid()}\n")
    wish = os.environ.get("PROBE", "")
    if wish == "hang":
        signal.signal(signal.SIGTERM, signal.SIG_IGN)
    if wish in ("hang", "work"):
        end = time.monotonic() + 3600
        while time.monotonic() < end and (wish == "hang" or not (state / "done").exists()):
            time.sleep(0.1)
        return
    allowed = {name: attempt(one) for name, one in attempts(state, workspace, home).items()}
    (state / "probe.json").write_text(json.dumps(allowed))


def attempts(state: Path, workspace: Path, home: Path) -> dict[str, Callable[[], Any]]:
    """Everything that is tried, by name."""
    known = workspace / "knowledge_base"
    return {
        "read knowledge base": lambda: (known / "README.md").read_text(),
        "read transcripts": lambda: next((home / ".claude").rglob("*.jsonl")).read_bytes(),
        "write state": lambda: (state / "written").write_text("x"),
        "write pending": lambda: (workspace / "pending/written").write_text("x"),
        "use a database": lambda: database(state / "probe.db"),
        "use a thread": lambda: threads(),
        "use temporary files": lambda: Path("/tmp/dreaming-probe").write_text("x"),
        "add to knowledge base": lambda: (known / "README.md").open("a"),
        "create in knowledge base": lambda: (known / "new.md").write_text("x"),
        "move into knowledge base": lambda: (state / "written").rename(known / "moved.md"),
        "link into knowledge base": lambda: through_link(state / "link", known / "README.md"),
        "mode of knowledge base": lambda: known.chmod(0o777),
        "write ledger": lambda: (workspace / "ledger/new").write_text("x"),
        "write settings": lambda: (workspace / "dreaming.toml").open("a"),
        "write transcripts": lambda: next((home / ".claude").rglob("*.jsonl")).open("a"),
        "write home": lambda: (home / "new").write_text("x"),
        "write etc": lambda: Path("/etc/dreaming-probe").write_text("x"),
        "read keys": lambda: (home / ".ssh/id_ed25519").read_text(),
        "read another's home": lambda: Path("/home/kim/notes").read_text(),
        "connect": lambda: socket.create_connection(("127.0.0.1", 9999), 3).close(),
        "make a socket": lambda: socket.socket(socket.AF_INET, socket.SOCK_DGRAM).close(),
        "run what it wrote": lambda: run_own(state / "own"),
        "write and run memory": lambda: mmap.mmap(-1, 4096, prot=7).close(),
        "make a namespace": lambda: unshare(),
        "run as another user": lambda: os.setuid(1),
    }


def attempt(one: Callable[[], Any]) -> str:
    """``yes``, or why not."""
    try:
        one()
    except (OSError, StopIteration, sqlite3.Error) as wrong:
        return getattr(wrong, "strerror", None) or type(wrong).__name__
    return "yes"


def database(path: Path) -> None:
    """Use SQLite as the state does."""
    with contextlib.closing(sqlite3.connect(path)) as one:
        one.execute("pragma journal_mode = wal")
        one.execute("create table if not exists t (x)")
        one.commit()


def threads() -> None:
    """Start a thread."""
    one = threading.Thread(target=int)
    one.start()
    one.join()


def through_link(link: Path, target: Path) -> None:
    """Open a file by a link that stands in the state."""
    link.unlink(missing_ok=True)
    link.symlink_to(target)
    link.open("a")


def run_own(path: Path) -> None:
    """Write a program and run it."""
    path.write_text("#!/bin/sh\n")
    path.chmod(0o755)
    subprocess.run([path], check=True)


def unshare() -> None:
    """Make a user namespace."""
    kernel = ctypes.CDLL(None, use_errno=True)
    if kernel.unshare(CLONE_NEWUSER):
        raise OSError(ctypes.get_errno(), os.strerror(ctypes.get_errno()))


if __name__ == "__main__":
    main(*map(Path, sys.argv[1:]))
