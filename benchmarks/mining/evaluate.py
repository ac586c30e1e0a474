"""Prints the figures of the offline miner on benchmark corpora and on real reference lists.

    python -m benchmarks.mining.evaluate CORPUS... [--verbose]
    python -m benchmarks.mining.evaluate --real [--show 30]

``DREAMING_SHARED`` names the folder with ``mining_bench``, ``real_reference`` and ``corpus``.
A corpus is a folder written by the benchmark's ``generate.py``.
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
from typing import Any

from benchmarks.mining.corpus import Corpus, benchmark, load
from dreaming.aggregation import Group, Grouping, aggregate
from dreaming.known import SURE, Known, statements
from dreaming.similarity import rarity
from dreaming.transcripts.claude_code import ClaudeCode
from dreaming.transcripts.codex import Codex

MOST = 30
FIGURES = (
    "F1 recall recall_cross_night precision_strict candidates duplicates_per_gotcha "
    "kb_leak_rate evidence_valid session_precision session_recall rule_ok P@10"
).split()


def shared() -> Path:
    """Return the folder with the benchmarks."""
    return Path(os.environ["DREAMING_SHARED"])


def knowledge(folder: Path, corpus: Corpus) -> Known:
    """Return what a folder of lessons says."""
    files = sorted(folder.rglob("*.md")) if folder.is_dir() else []
    lines = [line for file in files for line in statements(file.read_text(encoding="utf-8"))]
    frequencies = corpus.frequencies
    return Known(lines, (), lambda token: rarity(frequencies.of(token), frequencies.sessions))


def candidates(corpus: Corpus, known: Known) -> list[Group]:
    """Return the eligible groups that are not known, best first."""
    found = []
    for group in Grouping(corpus.kept, (), corpus.frequencies).groups(eligible=True):
        told = known.match(group.texts(), group.deeds())
        if group.eligible and (told is None or told[1] < SURE):
            found.append(group)
    return found[:MOST]


def as_scored(group: Group) -> dict[str, Any]:
    """Return a group as the scorers read it."""
    evidence: list[dict[str, str]] = []
    for kept in sorted(group.excerpts, key=lambda k: -k.excerpt.strength):
        for quotation in kept.excerpt.quotations[:2]:
            if sum(one["session_id"] == kept.native_id for one in evidence) < 2:
                evidence.append({"session_id": kept.native_id, "quote": quotation.text})
    return {
        "session_ids": sorted({kept.native_id for kept in group.excerpts}),
        "slug": group.slug,
        "topic": group.topic,
        "symptom": group.symptom,
        "rule": group.rule,
        "evidence": evidence,
        "score": group.score,
    }


def score(root: Path, groups: Sequence[Group], *, verbose: bool) -> dict[str, Any]:
    """Return the scorer's figures for one corpus."""
    with tempfile.TemporaryDirectory() as folder:
        pending, figures = Path(folder) / "pending.json", Path(folder) / "figures.json"
        pending.write_text(json.dumps([as_scored(group) for group in groups]), encoding="utf-8")
        scorer = shared() / "mining_bench" / "score.py"
        told = subprocess.run(
            [sys.executable, scorer, root, pending, "--json", figures]
            + (["--verbose"] if verbose else []),
            check=True,
            capture_output=True,
            text=True,
        )
        if verbose:
            print(told.stdout)
        return dict(json.loads(figures.read_text(encoding="utf-8")))


def on_benchmarks(roots: Sequence[Path], *, verbose: bool) -> None:
    """Print a line of figures for each corpus, and the mean."""
    rows = []
    print("corpus".ljust(12), " ".join(name[:11].rjust(11) for name in FIGURES))
    for root in roots:
        started = time.process_time()
        corpus = benchmark(root)
        read = time.process_time()
        groups = candidates(corpus, knowledge(root / "kb", corpus))
        done = time.process_time()
        result = score(root, groups, verbose=verbose)
        if verbose:
            for group, judged in zip(groups, result["candidates"], strict=True):
                mark = "ok " if judged["rule_ok"] else "-- "
                print(f"{'TP' if judged['tp'] else '  '} {group.score:.2f} {mark}{group.rule}")
        figures = [result["metrics"][name] or 0.0 for name in FIGURES]
        rows.append(figures)
        print(root.name.ljust(12), " ".join(f"{value:11.2f}" for value in figures), end="")
        spent = f"read {read - started:.1f} s, mine {done - read:.1f} s"
        print(f"  {len(corpus.kept)} excerpts, {spent}")
    means = [sum(column) / len(rows) for column in zip(*rows, strict=True)]
    print("mean".ljust(12), " ".join(f"{value:11.2f}" for value in means))


def on_real(show: int) -> None:
    """Print what comes out of the real corpus, and how much of the reference lists is found."""
    root = shared() / "corpus"
    claude, codex = ClaudeCode(), Codex()
    everything = load([(claude, root / "claude-code"), (codex, root / "codex")])
    groups = [g for g in aggregate(everything.kept, (), everything.frequencies) if g.eligible]
    print(
        f"all: {everything.sessions} sessions, {len(everything.kept)} excerpts, "
        f"{len(groups)} eligible candidates, left out {dict(everything.left_out)}"
    )
    for group in groups[:show]:
        flagged = " ".join(group.flags)
        print(f"  {group.score:.2f} {len(group.roots)} {flagged} {group.rule}")
        print(f"       {group.symptom}")
    for reference in sorted((shared() / "real_reference").glob("*.json")):
        listed = json.loads(reference.read_text(encoding="utf-8"))
        folders = listed.get("folders") or [listed["folder"]]
        corpus = load([(codex if f.startswith("codex") else claude, root / f) for f in folders])
        found = candidates(corpus, Known(()))
        with tempfile.TemporaryDirectory() as folder:
            pending = Path(folder) / "pending.json"
            pending.write_text(json.dumps([as_scored(g) for g in found]), encoding="utf-8")
            scorer = shared() / "real_reference" / "score.py"
            subprocess.run([sys.executable, scorer, reference, root, pending], check=True)


def main() -> None:
    """Read the arguments and print."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("corpora", nargs="*", type=Path)
    parser.add_argument("--real", action="store_true")
    parser.add_argument("--show", type=int, default=0)
    parser.add_argument("--verbose", action="store_true")
    arguments = parser.parse_args()
    if arguments.corpora:
        on_benchmarks(arguments.corpora, verbose=arguments.verbose)
    if arguments.real:
        on_real(arguments.show)


if __name__ == "__main__":
    main()
