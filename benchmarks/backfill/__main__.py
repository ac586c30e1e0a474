"""How the backfill and a quiet night bear a long history: kills, volume, and nothing new.

    python -m benchmarks.backfill kills  --sessions 5000 --kills 20
    python -m benchmarks.backfill volume --gigabytes 3
    python -m benchmarks.backfill quiet  --sessions 50000

Each runs the installed command in processes and homes of their own, over invented sessions.
"""

from __future__ import annotations

import argparse
import os
import random
import signal
import sqlite3
import subprocess
import sys
import tempfile
import time
from collections.abc import Sequence
from pathlib import Path
from typing import Any, Final

from benchmarks.backfill.sessions import write

MEGABYTE: Final = 1e6
RSS_UNIT: Final = 1 if sys.platform == "darwin" else 1024
TABLES: Final = {
    "cursors": "select path, settled, digest, verdict, reason, attempts from cursors"
    " join transcripts on id = transcript order by path",
    "excerpts": "select id, project, body from excerpts order by id",
    "findings": "select session_id, slug, symptom, rule, evidence from findings"
    " order by session_id, slug, evidence",
}
"""What a state holds whatever the row numbers and times are."""


def main() -> None:
    """Measure and print."""
    chosen = _parser().parse_args()
    with tempfile.TemporaryDirectory(prefix="backfill-", dir=chosen.folder) as made:
        chosen.measure(Path(made), chosen)


def _parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(prog="python -m benchmarks.backfill", description=__doc__)
    parser.formatter_class = argparse.RawDescriptionHelpFormatter
    parser.add_argument("--folder", type=Path, help="where to work; it needs the room")
    several = parser.add_subparsers(required=True)
    one = several.add_parser("kills")
    one.add_argument("--sessions", type=int, default=5000)
    one.add_argument("--kills", type=int, default=20)
    one.set_defaults(measure=_kills)
    one = several.add_parser("volume")
    one.add_argument("--gigabytes", type=float, default=3.0)
    one.set_defaults(measure=_volume)
    one = several.add_parser("quiet")
    one.add_argument("--sessions", type=int, default=50_000)
    one.set_defaults(measure=_quiet)
    return parser


# -- the three measures ---------------------------------------------------------------------------


def _kills(made: Path, chosen: argparse.Namespace) -> None:
    """Kill a backfill again and again; in the end it must be as if nobody had."""
    write(made / "projects", chosen.sessions, size=6000)
    whole, killed = Home(made, "whole"), Home(made, "killed")
    print(f"unkilled: {_told(*whole.run(*BACKFILL))}")
    source = random.Random(1)
    waits = []
    for number in range(chosen.kills):
        first = _until_killed(killed, source.uniform(0.05, 1.5))
        if first is None:
            sys.exit(f"the backfill was done before kill {number + 1}; take more sessions")
        waits.append(first)
    print(f"after {chosen.kills} kills: {_told(*killed.run(*BACKFILL))}")
    print(f"first batch at work after: {_spread(waits)}")
    for name in TABLES:
        same = whole.rows(name) == killed.rows(name)
        print(f"{name}: {len(whole.rows(name))}, {'the same' if same else 'DIFFERENT'}")
    same = whole.queue() == killed.queue()
    print(f"queue: {len(whole.queue())}, {'the same' if same else 'DIFFERENT'}")


def _until_killed(home: Home, after: float) -> float | None:
    """Start a backfill, kill it ``after`` seconds into its reading; return how long that was off.

    ``None`` where it ended by itself.
    """
    began = time.perf_counter()
    process = home.start(*BACKFILL, stdout=subprocess.PIPE)
    assert process.stdout is not None
    process.stdout.readline()  # the estimate: what follows is the first batch
    first = time.perf_counter() - began
    time.sleep(after)
    process.send_signal(signal.SIGKILL)
    process.communicate()
    return first if process.returncode == -signal.SIGKILL else None


def _volume(made: Path, chosen: argparse.Namespace) -> None:
    """Read a long history offline, all in."""
    number = round(chosen.gigabytes * 1000)
    write(made / "projects", number, size=1_000_000)
    size = sum(one.stat().st_size for one in (made / "projects").rglob("*.jsonl"))
    home = Home(made, "home")
    wall, cpu, peak = home.run(*BACKFILL)
    print(f"{size / MEGABYTE:.0f} MB: {_told(wall, cpu, peak)}, {size / MEGABYTE / cpu:.1f} MB/s")


def _quiet(made: Path, chosen: argparse.Namespace) -> None:
    """A night with nothing new over a long history."""
    write(made / "projects", chosen.sessions, size=500, failing=0.02)
    home = Home(made, "home")
    print(f"first night: {_told(*home.run(*NIGHT))}")
    for _ in range(3):
        print(f"nothing new: {_told(*home.run(*NIGHT))}")


# -- a home with a workspace ----------------------------------------------------------------------

BACKFILL: Final = ("backfill", "--yes")
NIGHT: Final = ("nightly", "--since", "all", "--quiet")


class Home:
    """A home of its own, with an agent's folder in it and a workspace."""

    def __init__(self, made: Path, name: str) -> None:
        self._home = made / name
        self._home.mkdir()
        self._source = made / "projects"
        (self._home / "key").write_bytes(bytes(range(32)))  # the same ids in every home
        self.run("init", "--key", "key")

    def start(self, *arguments: str, stdout: int = subprocess.DEVNULL) -> subprocess.Popen[str]:
        """Start a command."""
        here = str(Path(__file__).parents[2])
        environment = {"PATH": os.environ["PATH"], "HOME": str(self._home), "PYTHONPATH": here}
        command = [sys.executable, "-m", "dreaming", *arguments]
        if arguments[0] != "init":
            command += ["--transcripts", f"claude-code={self._source}"]
        return subprocess.Popen(
            command,
            env=environment,
            cwd=self._home,
            stdout=stdout,
            stderr=subprocess.DEVNULL,
            text=True,
        )

    def run(self, *arguments: str) -> tuple[float, float, float]:
        """Run a command to its end; return wall seconds, CPU seconds and peak megabytes."""
        began = time.perf_counter()
        process = self.start(*arguments)
        _, status, used = os.wait4(process.pid, 0)
        process.returncode = os.waitstatus_to_exitcode(status)
        if process.returncode:
            sys.exit(f"{arguments[0]} ended with {process.returncode}")
        peak = used.ru_maxrss * RSS_UNIT / MEGABYTE
        return time.perf_counter() - began, used.ru_utime + used.ru_stime, peak

    def rows(self, table: str) -> list[Any]:
        """Return what the state holds in a table."""
        (path,) = self._home.rglob("state.db")
        with sqlite3.connect(path) as connection:
            return connection.execute(TABLES[table]).fetchall()

    def queue(self) -> dict[str, bytes]:
        """Return what waits."""
        folder = self._home / ".dreaming" / "pending"
        return {one.name: one.read_bytes() for one in folder.glob("*.json")}


def _told(wall: float, cpu: float, peak: float) -> str:
    return f"{wall:.1f} s, {cpu:.1f} s CPU, {peak:.0f} MB peak"


def _spread(seconds: Sequence[float]) -> str:
    ranked = sorted(seconds)
    return f"median {ranked[len(ranked) // 2]:.2f} s, longest {ranked[-1]:.2f} s"


if __name__ == "__main__":
    main()
