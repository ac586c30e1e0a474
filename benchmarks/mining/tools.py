"""Puts other tools beside the offline miner, on the same generated corpora and with one scorer.

    python -m venv PLACE && PLACE/bin/pip install . scikit-learn matplotlib palinode awmine
    PLACE/bin/python -m benchmarks.mining.tools CORPUS... [--plot docs/mining.svg]

Neither tool looks for what recurs: each proposes corrections or lessons of single sessions. So
what they propose is grouped across sessions, by TF-IDF and average linkage, at the distance that
gives each of them its best F1 here. The baseline does the same with our excerpts. No tool is given
a model. None of this is needed to run or to test the product.
"""

from __future__ import annotations

import argparse
import json
import os
import subprocess
import sys
import tempfile
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from importlib.metadata import version
from pathlib import Path
from typing import Any, Final

import numpy as np
from sklearn.cluster import AgglomerativeClustering
from sklearn.feature_extraction.text import TfidfVectorizer

from benchmarks.mining.corpus import Corpus, benchmark
from benchmarks.mining.evaluate import as_scored, candidates, knowledge
from benchmarks.mining.score import Truth, figures, judge
from dreaming.models.finding import KeptExcerpt

DISTANCES: Final = [step / 20 for step in range(6, 20)]
SCORES: Final = [step / 20 for step in range(19)]
FAR_BACK: Final = "100000"
"""Days that palinode looks back; it stops after a week by itself."""
BEST: Final = ("candidates", "recall", "recall apart", "precision", "F1", "known", "names the fix")

Candidates = list[dict[str, Any]]


@dataclass(frozen=True)
class Item:
    """What a tool says about one session."""

    session: str
    text: str
    """What it is compared by."""
    rule: str
    quotes: tuple[str, ...]


def excerpts(every: Sequence[KeptExcerpt]) -> list[Item]:
    """Return our excerpts as items, for the baseline."""
    found = []
    for kept in every:
        one = kept.excerpt
        text = " ".join((one.wrong, one.error, one.remark, one.words, one.right))
        quotes = tuple(quotation.text for quotation in one.quotations[:2])
        found.append(Item(kept.native_id, text, one.words or one.right or one.remark, quotes))
    return found


def palinode(folders: Sequence[Path]) -> list[Item]:
    """Return the correction candidates of palinode; it reads Claude Code only."""
    with tempfile.TemporaryDirectory() as place:
        paths = json.dumps([str(folder) for folder in folders])
        settings = (
            "capture:\n  transcripts:\n    enabled: true\n    max_candidates: 100000\n"
            f"    harness_paths: {{claude-code: {paths}}}\n"
        )
        Path(place, "palinode.config.yaml").write_text(settings, encoding="utf-8")
        told = _run(
            ["palinode", "corrections", "--scan", "--since", FAR_BACK, "--format", "json"],
            {"HOME": place, "PALINODE_DIR": place},
        )
    return [
        Item(one["session_id"], one["span"], one["span"], (one["span"],))
        for one in json.loads(told)["candidates"]
    ]


def awmine(folders: Sequence[Path]) -> list[Item]:
    """Return the lessons of awmine; its procedures are no lessons and are left out."""
    with tempfile.TemporaryDirectory() as place:
        roots = ";".join(map(str, folders))
        _run(["awmine", "run", "--full", "--quiet", "--out", place, "--roots", roots], {})
        lines = Path(place, "lessons.jsonl").read_text(encoding="utf-8").splitlines()
    return [
        Item(
            one["source"]["top_session_id"],
            f"{one['claim']} {one['correction']}",
            one["correction"],
            (one["claim"], one["correction"]),
        )
        for one in map(json.loads, lines)
    ]


def _run(command: Sequence[str], more: dict[str, str]) -> str:
    program = Path(sys.executable).with_name(command[0])
    done = subprocess.run(
        [program, *command[1:]],
        env={**os.environ, **more},
        check=True,
        capture_output=True,
        text=True,
    )
    return done.stdout


def grouped(items: Sequence[Item], distance: float) -> Candidates:
    """Return groups of items from two sessions at least, those of most sessions first."""
    texts = [item.text for item in items]
    if len(texts) < 2:
        return []
    vectors = TfidfVectorizer(sublinear_tf=True, token_pattern=r"[\w./-]{2,}").fit_transform(texts)
    labels = AgglomerativeClustering(
        n_clusters=None, distance_threshold=distance, metric="cosine", linkage="average"
    ).fit_predict(vectors.toarray())
    found = []
    for label in sorted(set(labels)):
        members = np.flatnonzero(labels == label)
        sessions = sorted({items[place].session for place in members})
        if len(sessions) < 2:
            continue
        alike = (vectors[members] @ vectors[members].T).toarray()
        speaks = items[members[int(alike.sum(axis=0).argmax())]]
        evidence = [
            {"session_id": items[place].session, "quote": quote}
            for place in members
            for quote in items[place].quotes
        ]
        found.append(
            {
                "session_ids": sessions,
                "rule": speaks.rule,
                "symptom": speaks.text,
                "evidence": evidence,
                "score": len(sessions) + float(alike.mean()),
            }
        )
    return sorted(found, key=lambda one: -one["score"])


def _native(truth: Truth, items: Sequence[Item]) -> list[Item]:
    """Return the items with the ids of the truth; a tool may put a file's name around them."""
    return [
        Item(native, item.text, item.rule, item.quotes)
        for item in items
        for native in truth.sessions
        if native in item.session
    ]


def measured(roots: Sequence[Path]) -> dict[str, list[dict[str, float]]]:
    """Return, for each tool, the mean figures at each setting."""
    tools: dict[str, Callable[[Path, Corpus], list[Item]]] = {
        "TF-IDF over our excerpts": lambda _, corpus: excerpts(corpus.kept),
        f"palinode {version('palinode')}": lambda root, _: palinode([root / "claude/projects"]),
        f"awmine {version('awmine')}": lambda root, _: awmine(
            [root / "claude/projects", root / "codex/sessions"]
        ),
    }
    rows: dict[str, list[list[dict[str, float]]]] = {}
    for root in roots:
        truth, corpus = Truth(root), benchmark(root)
        ours = [as_scored(one) for one in candidates(corpus, knowledge(root / "kb", corpus))]
        each = [[one for one in ours if one["score"] >= least] for least in SCORES]
        rows.setdefault("dreaming (offline)", []).append([_judged(truth, one) for one in each])
        for name, read in tools.items():
            items = _native(truth, read(root, corpus))
            each = [grouped(items, distance) for distance in DISTANCES]
            rows.setdefault(name, []).append([_judged(truth, one) for one in each])
    return {
        name: [_mean(column) for column in zip(*each, strict=True)] for name, each in rows.items()
    }


def _judged(truth: Truth, some: Candidates) -> dict[str, float]:
    return figures(truth, judge(truth, some))


def _mean(some: Sequence[dict[str, float]]) -> dict[str, float]:
    return {name: sum(one[name] for one in some) / len(some) for name in some[0]}


def best(settings: Sequence[dict[str, float]]) -> int:
    """Return the place of the setting with the best F1."""
    return max(range(len(settings)), key=lambda place: settings[place]["F1"])


def plot(results: dict[str, list[dict[str, float]]], target: Path) -> None:
    """Draw precision over recall, a line a tool; precision over all corpora taken together."""
    import matplotlib as mpl

    mpl.use("svg")
    mpl.rcParams |= {"svg.hashsalt": "mining", "svg.fonttype": "none", "font.size": 10}
    from matplotlib import pyplot

    figure, axes = pyplot.subplots(figsize=(6.4, 4.2), layout="constrained")
    for (name, settings), mark in zip(results.items(), "os^D", strict=True):
        some = [one for one in settings if one["candidates"]]
        points = [(one["recall"], one["found"] / one["candidates"]) for one in some]
        axes.plot(*zip(*points, strict=True), marker=mark, markersize=4, linewidth=1.4, label=name)
    axes.set(xlim=(0, 1), ylim=(0, 1), xlabel="recall", ylabel="precision, duplicates wrong")
    axes.grid(alpha=0.3)
    axes.legend(frameon=False)
    figure.savefig(target, metadata={"Date": None})


def main() -> None:
    """Print the table, and draw."""
    options = argparse.ArgumentParser(description=__doc__)
    options.add_argument("corpora", nargs="+", type=Path)
    options.add_argument("--plot", type=Path)
    asked = options.parse_args()
    results = measured(asked.corpora)
    print("| tool | at | " + " | ".join(BEST) + " |")
    print("|---" * (len(BEST) + 2) + "|")
    for name, settings in results.items():
        ours = name.startswith("dreaming")
        place = 0 if ours else best(settings)
        at = "as it comes" if ours else f"distance {DISTANCES[place]:.2f}"
        told = [f"{settings[place][figure]:.2f}".removeprefix("0") for figure in BEST]
        print(f"| {name} | {at} | " + " | ".join(told) + " |")
    if asked.plot:
        plot(results, asked.plot)


if __name__ == "__main__":
    main()
