"""Judges candidates by what was planted; no model and no reader is asked.

    python -m benchmarks.mining.score FOLDER CANDIDATES.json [--show]

``FOLDER`` was written by ``generate.py``; ``CANDIDATES.json`` is what ``dreaming reveal --all
--json`` prints: a list, best first, of ``session_ids``, ``rule`` and ``evidence`` with
``session_id`` and ``quote``.

A quotation counts where it stands, white space and case folded, in records of the session it
names; what was planted there is what it speaks for. A candidate is *right* where most of its
quotations speak for one gotcha that recurs and is not known, and at least two and half of the
sessions it names had it. The second right candidate of one gotcha is a duplicate, and wrong in the
strict precision.
"""

from __future__ import annotations

import argparse
import json
import re
from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Final

_GAP: Final = re.compile(r"<[A-Za-z][^<>]{0,40}>|…|\.\.\.")
SHORTEST: Final = 8
"""Characters that a quotation needs beside its gaps."""


@dataclass(frozen=True)
class Verdict:
    """What can be said about one candidate."""

    family: str
    """What most of its quotations speak for; empty where they speak for nothing planted."""
    fate: str
    right: bool
    duplicate: bool
    valid: int
    quotations: int
    names_fix: bool


class Truth:
    """A generated corpus."""

    def __init__(self, folder: Path) -> None:
        told = json.loads((folder / "truth.json").read_text(encoding="utf-8"))
        self.families: dict[str, dict[str, Any]] = {one["name"]: one for one in told["families"]}
        self.sessions: dict[str, dict[str, Any]] = told["sessions"]
        self.records = {
            native: [
                _folded("\n".join(_strings(json.loads(line))))
                for line in (folder / one["file"]).read_text(encoding="utf-8").splitlines()
            ]
            for native, one in self.sessions.items()
        }
        self.labels = {native: dict(one["labels"]) for native, one in self.sessions.items()}
        self.wanted = {name for name, one in self.families.items() if one["fate"] == "recurring"}

    def apart(self) -> set[str]:
        """Return the gotchas that recur, but never in two sessions of one night."""
        return {
            name
            for name in self.wanted
            if max(Counter(self.sessions[one]["night"] for one in self.having(name)).values()) < 2
        }

    def having(self, family: str) -> set[str]:
        """Return the sessions that ran into it."""
        return set(self.families[family]["sessions"])

    def spoken_for(self, native: str, quote: str) -> set[str] | None:
        """Return the labels of the records a quotation stands in; ``None`` where in none."""
        pieces = [piece for piece in map(_folded, _GAP.split(quote)) if piece]
        if sum(map(len, pieces)) < SHORTEST:
            return None
        lines = [
            number
            for number, text in enumerate(self.records.get(native, ()), start=1)
            if all(piece in text for piece in pieces)
        ]
        labels = self.labels.get(native, {})
        return {labels[number] for number in lines if number in labels} if lines else None


def judge(truth: Truth, candidates: Sequence[dict[str, Any]]) -> list[Verdict]:
    """Return the verdict of each candidate."""
    verdicts: list[Verdict] = []
    found: set[str] = set()
    for candidate in candidates:
        votes: Counter[str] = Counter()
        evidence = candidate["evidence"]
        valid = 0
        for one in evidence:
            labels = truth.spoken_for(one["session_id"], one["quote"])
            valid += labels is not None
            votes.update(labels or ())
        family = max(sorted(votes), key=votes.__getitem__, default="")
        planted = truth.families.get(family)
        named = set(candidate["session_ids"])
        true = named & truth.having(family) if planted else set()
        right = family in truth.wanted and len(true) >= 2 and 2 * len(true) >= len(named)
        fixes = planted["fix"] if planted else ()
        verdicts.append(
            Verdict(
                family=family,
                fate=planted["fate"] if planted else "",
                right=right,
                duplicate=right and family in found,
                valid=valid,
                quotations=len(evidence),
                names_fix=bool(planted)
                and all(re.search(fix, candidate["rule"], re.IGNORECASE) for fix in fixes),
            )
        )
        found |= {family} if right else set()
    return verdicts


def figures(truth: Truth, verdicts: Sequence[Verdict]) -> dict[str, float]:
    """Return the figures that a table shows."""
    right = [one for one in verdicts if one.right]
    found = {one.family for one in right}
    apart = truth.apart()
    known = {name for name, one in truth.families.items() if one["fate"] == "known"}
    recall, precision = _share(found, truth.wanted), len(found) / max(1, len(verdicts))
    return {
        "candidates": len(verdicts),
        "found": len(found),
        "recall": recall,
        "recall apart": _share(found & apart, apart),
        "precision": precision,
        "F1": 2 * recall * precision / (recall + precision) if found else 0.0,
        "duplicates": sum(one.duplicate for one in verdicts),
        "known": _share({one.family for one in verdicts} & known, known),
        "one session": sum(one.fate == "single" for one in verdicts),
        "valid": sum(one.valid for one in verdicts) / max(1, sum(o.quotations for o in verdicts)),
        "names the fix": sum(one.names_fix for one in right) / max(1, len(right)),
    }


def _share(some: set[str], all_: set[str]) -> float:
    return len(some) / max(1, len(all_))


def _folded(text: str) -> str:
    return " ".join(text.split()).casefold()


def _strings(value: object) -> Iterator[str]:
    """Yield every text in a record, also those in JSON that a text holds."""
    if isinstance(value, str):
        yield value
        if value[:1] in ("{", "["):
            try:
                yield from _strings(json.loads(value))
            except ValueError:
                return
    elif isinstance(value, dict):
        for one in value.values():
            yield from _strings(one)
    elif isinstance(value, list):
        for one in value:
            yield from _strings(one)


def main() -> None:
    """Print the figures."""
    options = argparse.ArgumentParser(description=__doc__)
    options.add_argument("folder", type=Path)
    options.add_argument("candidates", type=Path)
    options.add_argument("--show", action="store_true")
    asked = options.parse_args()
    truth = Truth(asked.folder)
    given = json.loads(asked.candidates.read_text(encoding="utf-8"))
    verdicts = judge(truth, given)
    if asked.show:
        for candidate, one in zip(given, verdicts, strict=True):
            mark = "right" if one.right else "wrong"
            print(f"{mark:6}{one.family or '-':26}{one.fate:10}{candidate['rule']}")
    for name, value in figures(truth, verdicts).items():
        print(f"{name:14}{value:.2f}")


if __name__ == "__main__":
    main()
