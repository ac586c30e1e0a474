"""How fast credentials are found, beside other scanners, on the same files in the same run.

    python -m benchmarks.redaction.speed FOLDER... [--tools FOLDER] [--pairs 3] [--json FILE]
        [--plot FILE]

Every run is a process of its own, measured with its start: CPU seconds (user and system) and peak
memory. Runs take turns; what a tool keeps between runs is there from the first one on, which does
not count. The other tools run with one job and without live validation; they are looked for in
``--tools`` and left out where they are not. ``--plot`` draws the speeds as SVG. ``--attack`` times
ours alone, on lines of ten megabytes made to be slow, each with plain text of the same length
right before it; ``--attack RULE`` does it with the look-alikes of one rule, ``all`` of every rule.
"""

from __future__ import annotations

import argparse
import json
import os
import random
import statistics
import string
import subprocess
import sys
import tempfile
from collections.abc import Callable, Iterator
from functools import partial
from pathlib import Path
from typing import Final, NamedTuple

from dreaming.redaction.detector import RULES
from dreaming.redaction.engine import Redactor, ScanFailed
from dreaming.redaction.shapes import sample
from dreaming.stores.compiled import Compiled
from dreaming.stores.workspace import state_home

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
    redactor, found = Redactor(b"a key for this run", kept=Compiled(state_home() / "rules")), 0
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


def plain() -> str:
    """Return some text that holds nothing of interest."""
    return f"the {random.randrange(999)} files of this run are read, "


def attacks() -> Iterator[tuple[str, bytes]]:
    """Yield lines that are made to be slow."""
    numbers = random.Random(1)
    makers: dict[str, Callable[[], str]] = {
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
        yield name, _line(make)


def rule_attacks(wanted: str) -> Iterator[tuple[str, bytes]]:
    """Yield lines full of what looks like the credentials of a rule, or of each."""
    for rule in RULES:
        if wanted not in ("all", rule.name):
            continue
        near = json.dumps(sample(rule.counterexample, rule.name))[1:-1]
        begun = json.dumps(sample(rule.example, rule.name))[1:-1]
        begun = begun[: len(begun) * 2 // 3]
        shuffled = random.Random(rule.name)
        units: dict[str, Callable[[], str]] = {
            "look-alike": partial(str, f"{near} "),
            "changing look-alikes": partial(_changed, f"{near} ", shuffled),
            "beginning": partial(str, begun),
            "changing beginnings": partial(_changed, f"{begun} ", shuffled),
        }
        for kind, make in units.items():
            yield f"{rule.name}: {kind}", _line(make)


def _changed(text: str, numbers: random.Random) -> str:
    """Return the text with three of its last letters and digits changed."""
    places = [at for at, sign in enumerate(text) if sign.isalnum()][-14:]
    signs = list(text)
    for at in numbers.choices(places, k=3):
        kind = string.digits if signs[at].isdigit() else string.ascii_letters
        signs[at] = numbers.choice(kind)
    return "".join(signs)


def _line(make: Callable[[], str]) -> bytes:
    parts, size = [], 0
    while size < _ATTACK // 10:
        parts.append(make())
        size += len(parts[-1])
    return ("".join(parts) * 10).encode()[:_ATTACK]


def attack(lines: Iterator[tuple[str, bytes]]) -> Iterator[tuple[str, float, float]]:
    """Yield for each line its CPU seconds, process start included, and those of plain text."""
    with tempfile.TemporaryDirectory() as scratch:
        folders = [Path(scratch) / name for name in ("plain", "attack")]
        commands_ = []
        for folder in folders:
            folder.mkdir()
            commands_.append(
                [sys.executable, "-m", "benchmarks.redaction.speed", "--ours", str(folder)]
            )
        (folders[0] / "line").write_bytes(_line(plain))
        run(commands_[0])
        for name, line in lines:
            (folders[1] / "line").write_bytes(line)
            peer, cost = (run(command).seconds for command in commands_)
            yield name, cost, peer


def plot(told: dict[str, dict[str, dict[str, float]]]) -> str:
    """Draw megabytes a CPU second as bars: an SVG picture that reads on light and dark ground."""
    rows: list[str] = []
    at = 0
    most = max(of["MB/CPU-s"] for figures in told.values() for of in figures.values())
    for folder, figures in told.items():
        rows.append(f'<text x="0" y="{at + 16}" font-weight="bold">{Path(folder).name}</text>')
        at += 24
        for name, of in figures.items():
            width = 380 * of["MB/CPU-s"] / most
            color = "#2a7ab0" if name == "dreaming" else "#999999"
            rows.append(
                f'<text x="90" y="{at + 14}" text-anchor="end">{name}</text>'
                f'<rect x="98" y="{at + 2}" width="{width:.1f}" height="15" fill="{color}"/>'
                f'<text x="{104 + width:.1f}" y="{at + 14}">{of["MB/CPU-s"]:.1f}</text>'
            )
            at += 22
        at += 10
    head = (
        f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 540 {at}" width="540" '
        'font-family="sans-serif" font-size="12" fill="#777777">'
    )
    title = "<title>Megabytes scanned in a CPU second, more is better</title>"
    return "\n".join((head, title, *rows, "</svg>", ""))


def main() -> None:
    """Print a table."""
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0] if __doc__ else "")
    parser.add_argument("folders", nargs="*")
    parser.add_argument("--tools", type=Path)
    parser.add_argument("--pairs", type=int, default=3)
    parser.add_argument("--json", type=Path)
    parser.add_argument("--ours", action="store_true", help=argparse.SUPPRESS)
    parser.add_argument("--plot", type=Path)
    parser.add_argument("--attack", nargs="?", const="", metavar="RULE")
    asked = parser.parse_args()
    if asked.ours:
        print(scan(asked.folders))
        return
    if asked.attack is not None:
        for name, cost, peer in attack(rule_attacks(asked.attack) if asked.attack else attacks()):
            print(f"{name:40s} {cost:5.2f} s  {cost / peer:5.2f} x plain", flush=True)
        return
    told = {folder: compare(folder, asked.tools, asked.pairs) for folder in asked.folders}
    for folder, figures in told.items():
        print(f"\n{folder}")
        for name, of in figures.items():
            print(f"{name:12s}" + "".join(f"  {key} {value:7.2f}" for key, value in of.items()))
    if asked.json:
        asked.json.write_text(json.dumps(told, indent=1))
    if asked.plot:
        asked.plot.write_text(plot(told))


if __name__ == "__main__":
    main()
