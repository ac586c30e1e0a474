"""How fast credentials are found, beside other scanners, on the same files in the same run.

    python -m benchmarks.redaction.speed FOLDER... [--tools FOLDER] [--pairs 3] [--json FILE]

Every run is a process of its own, measured with its start: CPU seconds (user and system) and peak
memory. Runs take turns. The other tools run with one job and without live validation; they are
looked for in ``--tools`` and left out where they are not. ``--attack`` times ours alone, on lines
of ten megabytes made to be slow.
"""

from __future__ import annotations

import argparse
import json
import os
import random
import statistics
import subprocess
import sys
import tempfile
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Final, NamedTuple

from dreaming.redaction.engine import Redactor, ScanFailed

_BLOCK: Final = 4 << 20
_ATTACK: Final = 10_000_000


class Run(NamedTuple):
    """What one process cost."""

    seconds: float
    """Of the processor, user and system."""
    peak: float
    """MiB."""


def scan(folders: list[str]) -> int:
    """Scan every file below the folders as a night does; return how many are not clean."""
    redactor, found = Redactor(b"a key for this run only"), 0
    for folder in folders:
        for path in sorted(Path(folder).rglob("*")):
            if path.is_file():
                found += _not_clean(redactor, path)
    return found


def _not_clean(redactor: Redactor, path: Path) -> bool:
    scanner, line = redactor.scanner(), 1
    try:
        with path.open("rb") as file:
            while data := file.read(_BLOCK):
                scanner.feed(data, line)
                line += data.count(b"\n")
        return bool(scanner.finish())
    except ScanFailed:
        return True


def commands(tools: Path | None, folder: str, out: Path) -> dict[str, list[str]]:
    """Return what is run, by name."""
    all_of_them = {
        "dreaming": [sys.executable, "-m", "benchmarks.redaction.speed", "--ours", folder]
    }
    others = {
        "kingfisher": "scan {folder} -j1 --no-validate --no-update-check --no-dedup "
        "-f jsonl -o {out}",
        "betterleaks": "{folder} -o {out}.json --exit-code 0 --no-banner -s",
        "gitleaks": "dir --no-banner -f json -r {out} --exit-code 0 {folder}",
    }
    for name, options in others.items():
        if tools and (tools / name).exists():
            words = options.format(folder=folder, out=out).split()
            all_of_them[name] = [str(tools / name), *words]
    return all_of_them


def run(command: list[str]) -> Run:
    """Run a command and say what it cost. Raises ``OSError`` where it cannot be started."""
    process = subprocess.Popen(
        command,
        stdout=subprocess.DEVNULL,
        stderr=subprocess.DEVNULL,
        env=os.environ | {"GOMAXPROCS": "1"},
    )
    _, _, used = os.wait4(process.pid, 0)
    return Run(used.ru_utime + used.ru_stime, used.ru_maxrss / 1024)


def compare(folder: str, tools: Path | None, pairs: int) -> dict[str, dict[str, float]]:
    """Return the figures of every tool: the median of ``pairs`` runs after one to warm up."""
    size = sum(path.stat().st_size for path in Path(folder).rglob("*") if path.is_file()) / 1e6
    with tempfile.TemporaryDirectory() as scratch:
        todo = commands(tools, folder, Path(scratch) / "found")
        runs: dict[str, list[Run]] = {name: [] for name in todo}
        for _ in range(pairs + 1):
            for name, command in todo.items():
                runs[name].append(run(command))
    out = {}
    for name, of in runs.items():
        seconds = statistics.median(one.seconds for one in of[1:])
        peak = max(one.peak for one in of[1:])
        out[name] = {"seconds": seconds, "MB/CPU-s": size / seconds, "peak MiB": peak}
    for figures in out.values():
        figures["of kingfisher"] = (
            figures["seconds"] / out["kingfisher"]["seconds"] if "kingfisher" in out else 0.0
        )
    return out


def attacks() -> Iterator[tuple[str, bytes]]:
    """Yield lines that are made to be slow, the first one plain."""
    numbers = random.Random(1)
    makers: dict[str, Callable[[], str]] = {
        "plain": lambda: f"the {numbers.randrange(999)} files of this run are read, ",
        "escapes": lambda: r"\u0041",
        "escapes of all kinds": lambda: rf"\u00{numbers.randrange(33, 126):02x}",
        "deep escapes": lambda: r"\\\\\\\\u0041",
        "percent": lambda: "%41",
        "colours": lambda: r"ab\u001b[01;31mcdefghij\u001b[m",
        "invisible": lambda: r"a\u200bb",
        "base64": lambda: "QUJDREVGR0hJSktMTU5PUFFSU1RVVldYWVphYmNkZWZnaGlqa2w ",
        "names without values": lambda: "password= ",
        "names with words": lambda: f'password="word{numbers.randrange(10**6)}", ',
        "addresses": lambda: "://a:",
        "signed tokens": lambda: "ey" + "J",
    }
    for name, make in makers.items():
        parts, size = [], 0
        while size < _ATTACK:
            parts.append(make())
            size += len(parts[-1])
        yield name, "".join(parts).encode()[:_ATTACK]


def attack() -> Iterator[tuple[str, float, str]]:
    """Yield for each attack its CPU seconds, process start included, and what came of it."""
    with tempfile.TemporaryDirectory() as scratch:
        for name, line in attacks():
            folder = Path(scratch) / name.replace(" ", "-")
            folder.mkdir()
            (folder / "line").write_bytes(line)
            cost = run([sys.executable, "-m", "benchmarks.redaction.speed", "--ours", str(folder)])
            yield name, cost.seconds, f"{cost.peak:.0f} MiB"


def main() -> None:
    """Print a table."""
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0] if __doc__ else "")
    parser.add_argument("folders", nargs="*")
    parser.add_argument("--tools", type=Path)
    parser.add_argument("--pairs", type=int, default=3)
    parser.add_argument("--json", type=Path)
    parser.add_argument("--ours", action="store_true", help=argparse.SUPPRESS)
    parser.add_argument("--attack", action="store_true")
    asked = parser.parse_args()
    if asked.ours:
        print(scan(asked.folders))
        return
    if asked.attack:
        for name, seconds, peak in attack():
            print(f"{name:24s} {seconds:6.2f} s  {peak}")
        return
    told = {folder: compare(folder, asked.tools, asked.pairs) for folder in asked.folders}
    for folder, figures in told.items():
        print(f"\n{folder}")
        for name, of in figures.items():
            print(f"{name:12s}" + "".join(f"  {key} {value:7.2f}" for key, value in of.items()))
    if asked.json:
        asked.json.write_text(json.dumps(told, indent=1))


if __name__ == "__main__":
    main()
