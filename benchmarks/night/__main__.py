"""A night over given folders, measured; with ``--awmine``, beside awmine on the same files.

    python -m benchmarks.night claude-code=DIR codex=DIR --rounds 5 --awmine VENV/bin/awmine

Each round runs every program once, each time from nothing (a home and a workspace of its own), and
the next round runs them in the other order, so that a machine that warms up or slows down favours
nobody. CPU time and peak memory are the kernel's own account of the process and its children.
"""

from __future__ import annotations

import argparse
import json
import os
import subprocess
import sys
import tempfile
import time
from collections.abc import Sequence
from pathlib import Path
from statistics import median
from typing import Any, Final, NamedTuple

MEGABYTE: Final = 1e6
RSS_UNIT: Final = 1 if sys.platform == "darwin" else 1024
AWMINE_ENDS: Final = (0, 1)
"""awmine ends with 1 where a row failed its redaction; its work is done all the same."""


class Folder(NamedTuple):
    """Transcripts of one agent."""

    agent: str
    path: Path


class Run(NamedTuple):
    """What one run of a program took."""

    wall: float
    cpu: float
    peak: float
    """Megabytes."""
    output: str


def main() -> None:
    """Measure and print."""
    chosen = _parser().parse_args()
    files, size = _warm([one.path for one in chosen.folders])
    print(
        f"{files} files, {size / MEGABYTE:.1f} MB, {chosen.rounds} rounds, {os.cpu_count()} cores"
    )
    programs = ["dreaming", *(["awmine"] if chosen.awmine else [])]
    runs: dict[str, list[Run]] = {name: [] for name in programs}
    for number in range(chosen.rounds):
        for name in programs if number % 2 == 0 else reversed(programs):
            runs[name].append(_run(name, chosen.folders, chosen.awmine))
            _print_run(number + 1, name, runs[name][-1], size)
    print("medians")
    for name in programs:
        _print_run(0, name, _median(runs[name]), size)
    if chosen.awmine:
        _print_ratio(runs["dreaming"], runs["awmine"])
    _print_night([json.loads(one.output) for one in runs["dreaming"]])


def _parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(prog="python -m benchmarks.night", description=__doc__)
    parser.formatter_class = argparse.RawDescriptionHelpFormatter
    parser.add_argument("folders", nargs="+", type=_folder, metavar="AGENT=DIR")
    parser.add_argument("--rounds", type=int, default=3)
    parser.add_argument("--awmine", type=Path, help="the awmine command of its own environment")
    return parser


def _folder(text: str) -> Folder:
    agent, mark, path = text.partition("=")
    if not mark or not Path(path).is_dir():
        raise argparse.ArgumentTypeError(f"{text!r}: write agent=DIR with a folder that is there")
    return Folder(agent, Path(path).resolve())


def _warm(folders: Sequence[Path]) -> tuple[int, int]:
    """Read everything once, so that nobody pays for a cold disk; return files and bytes."""
    files = [one for folder in folders for one in folder.rglob("*") if one.is_file()]
    return len(files), sum(len(one.read_bytes()) for one in files)


def _run(name: str, folders: Sequence[Folder], awmine: Path | None) -> Run:
    with tempfile.TemporaryDirectory(prefix="night-") as made:
        home = Path(made)
        if name == "dreaming":
            return _measured(_dreaming(home, folders), home, (0,))
        return _measured(_awmine(home, folders, awmine), home, AWMINE_ENDS)


def _dreaming(home: Path, folders: Sequence[Folder]) -> list[str]:
    command = [sys.executable, "-m", "dreaming", "nightly", "--workspace", str(home / "workspace")]
    command += ["--backend", "offline", "--since", "all", "--settle", "0", "--json", "--quiet"]
    for one in folders:
        command += ["--transcripts", f"{one.agent}={one.path}"]
    return command


def _awmine(home: Path, folders: Sequence[Folder], program: Path | None) -> list[str]:
    roots = ";".join(str(one.path) for one in folders)
    return [str(program), "run", "--full", "--quiet", "--out", str(home / "out"), "--roots", roots]


def _measured(command: Sequence[str], home: Path, ends: Sequence[int]) -> Run:
    """Run a command in a home of its own; ``wait4`` tells what it and its children took."""
    path = os.environ.get("PATH", "")
    here = str(Path(__file__).parents[2])
    environment = {"PATH": path, "HOME": str(home), "LANG": "C.UTF-8", "PYTHONPATH": here}
    with (home / "stdout").open("w+") as out, (home / "stderr").open("w+") as err:
        began = time.perf_counter()
        process = subprocess.Popen(command, stdout=out, stderr=err, env=environment, cwd=home)
        _, status, used = os.wait4(process.pid, 0)
        wall = time.perf_counter() - began
        process.returncode = os.waitstatus_to_exitcode(status)
        out.seek(0)
        err.seek(0)
        if process.returncode not in ends:
            sys.exit(f"{command[0]} ended with {process.returncode}:\n{err.read()[-2000:]}")
        peak = used.ru_maxrss * RSS_UNIT / MEGABYTE
        return Run(wall, used.ru_utime + used.ru_stime, peak, out.read())


def _median(runs: Sequence[Run]) -> Run:
    return Run(
        median(one.wall for one in runs),
        median(one.cpu for one in runs),
        median(one.peak for one in runs),
        "",
    )


def _print_run(number: int, name: str, run: Run, size: int) -> None:
    print(
        f"{number or '':>3} {name:<9} {run.wall:7.2f} s  {run.cpu:7.2f} s CPU  "
        f"{run.peak:7.1f} MB peak  {size / MEGABYTE / run.wall:6.1f} MB/s"
    )


def _print_ratio(ours: Sequence[Run], theirs: Sequence[Run]) -> None:
    """Pairs of one round meet the same machine; the median of their ratios is what counts."""
    pairs = [one.cpu / other.cpu for one, other in zip(ours, theirs, strict=True)]
    print(
        f"CPU of dreaming by CPU of awmine: median {median(pairs):.2f} "
        f"({min(pairs):.2f} to {max(pairs):.2f} over {len(pairs)} rounds)"
    )


def _print_night(reports: Sequence[dict[str, Any]]) -> None:
    print("time by stage, medians of the nights' own reports")
    for stage in reports[0]["seconds"]:
        print(f"    {stage:<10} {median(one['seconds'][stage] for one in reports):7.2f} s")
    last = reports[-1]
    verdicts = ", ".join(f"{number} {name}" for name, number in sorted(last["verdicts"].items()))
    print(f"{last['found']} files found: {verdicts}")
    print(
        f"{last['new_bytes'] / MEGABYTE:.1f} MB read, {last['sessions']} sessions, "
        f"{last['excerpts']} excerpts, {last['queue']['waiting']} candidates wait, "
        f"{last['queue']['held_back']} held back"
    )


if __name__ == "__main__":
    main()
