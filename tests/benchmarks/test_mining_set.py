"""The labelled set of invented sessions and its scorer."""

from __future__ import annotations

import hashlib
import json
import os
import subprocess
import sys
from collections.abc import Sequence
from importlib import import_module
from pathlib import Path
from typing import Any, Final

import pytest

ROOT: Final = Path(__file__).parents[2]
SESSIONS: Final = 40

generate = import_module("benchmarks.mining.generate")
score = import_module("benchmarks.mining.score")


def digests(folder: Path) -> dict[str, str]:
    """The hash of every file, by its place."""
    return {
        str(path.relative_to(folder)): hashlib.sha256(path.read_bytes()).hexdigest()
        for path in folder.rglob("*")
        if path.is_file()
    }


@pytest.fixture(scope="module")
def corpus(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A small set."""
    folder = tmp_path_factory.mktemp("set")
    generate.generate(folder, 3, SESSIONS)
    return folder


def ideal(corpus: Path, fate: str) -> list[dict[str, Any]]:
    """What a queue that knows the truth would hold of the families with this fate."""
    told = json.loads((corpus / "truth.json").read_text(encoding="utf-8"))
    found = []
    for family in (one for one in told["families"] if one["fate"] == fate):
        evidence = []
        for native in family["sessions"]:
            session = told["sessions"][native]
            lines = (corpus / session["file"]).read_text(encoding="utf-8").splitlines()
            labelled = [line for line, label in session["labels"] if label == family["name"]]
            evidence += [{"session_id": native, "quote": words(lines[n - 1])} for n in labelled]
        rule = {"rule": family["rule"], "session_ids": family["sessions"]}
        found.append({**rule, "evidence": evidence})
    return found


def words(line: str) -> str:
    """The longest text of a record."""
    texts: list[str] = []

    def visit(value: object) -> None:
        if isinstance(value, str):
            texts.append(value)
        for one in value.values() if isinstance(value, dict) else ():
            visit(one)
        for one in value if isinstance(value, list) else ():
            visit(one)

    visit(json.loads(line))
    return max(texts, key=len)


def figures(corpus: Path, candidates: Sequence[dict[str, Any]]) -> dict[str, float]:
    """What the scorer says."""
    truth = score.Truth(corpus)
    told: dict[str, float] = score.figures(truth, score.judge(truth, candidates))
    return told


def test_a_seed_gives_the_same_bytes(corpus: Path, tmp_path: Path) -> None:
    """Neither a hash seed nor a clock changes a generated set, and another seed gives another."""
    command = [sys.executable, "-m", generate.__name__, str(tmp_path / "again"), "--seed", "3"]
    subprocess.run(
        [*command, "--sessions", str(SESSIONS)],
        check=True,
        cwd=ROOT,
        env={**os.environ, "PYTHONHASHSEED": "7"},
    )
    generate.generate(tmp_path / "other", 4, SESSIONS)
    assert digests(tmp_path / "again") == digests(corpus)
    assert digests(tmp_path / "other") != digests(corpus)


def test_the_truth_scores_one(corpus: Path) -> None:
    """Who knows the truth finds everything; to say it twice counts as a duplicate."""
    truth = ideal(corpus, "recurring")
    told = figures(corpus, truth)
    assert (told["F1"], told["valid"], told["names the fix"]) == (1.0, 1.0, 1.0)
    twice = figures(corpus, [*truth, truth[0]])
    assert twice["duplicates"] == 1.0
    assert twice["F1"] < 1.0


def test_what_is_not_there_scores_nothing(corpus: Path) -> None:
    """Made-up quotations, one session, known lessons and one big group find nothing."""
    truth = ideal(corpus, "recurring")
    made_up = [
        {
            **one,
            "evidence": [{**said, "quote": "nobody ever said this"} for said in one["evidence"]],
        }
        for one in truth
    ]
    alone = [{**one, "session_ids": one["session_ids"][:1]} for one in truth]
    everybody = sorted({native for one in truth for native in one["session_ids"]})
    evidence = [said for one in truth for said in one["evidence"]]
    big = [{"rule": "Be careful.", "session_ids": everybody, "evidence": evidence}]
    for wrong in (made_up, alone, ideal(corpus, "known"), ideal(corpus, "single"), big):
        assert figures(corpus, wrong)["recall"] == 0.0
    assert figures(corpus, ideal(corpus, "known"))["known"] == 1.0


def test_two_readers_are_read_back(tmp_path: Path) -> None:
    """Shares, agreement beyond chance and lift come from what two readers wrote."""
    blind = import_module("benchmarks.mining.blind")
    key = {
        f"i{number:03}": {"source": source, "project": "tide"}
        for number, source in enumerate(["dreaming"] * 4 + ["at random"] * 4, start=1)
    }
    sheets = []
    for name, said in (
        ("one", "yes yes yes no no no no yes"),
        ("two", "yes yes no no no no no no"),
    ):
        sheets.append(tmp_path / f"{name}.csv")
        lines = [f"{id_},{word},because" for id_, word in zip(key, said.split(), strict=True)]
        sheets[-1].write_text("\n".join(["id,accepted,reason", *lines]), encoding="utf-8")
    told = blind.report(key, *map(blind.answers, sheets))
    assert "| dreaming | 4 | 0.75 | 0.50 | 0.50 |" in told
    assert "kappa 0.50 over 8" in told
    assert "over at random: 5.0." in told
