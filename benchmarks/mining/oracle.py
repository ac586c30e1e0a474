"""Puts an oracle in the place of the model: what is lost before and after a model, and where.

    python -m benchmarks.mining.oracle CORPUS... [--budget 1500] [--server]

The oracle knows what was planted in the excerpts that it is sent, and nothing else. It answers as a
model does, by numbers of excerpts; what it says goes through the checks, the state, the second look
and the grouping of real nights, one after the other. It words a gotcha in two ways, by session. So
what is missing from a perfect score was lost by finding or choosing excerpts, cutting requests,
checking or grouping. No live model is measured here.

With ``--server`` it stands behind an OpenAI-compatible server on loopback and sees no more than the
text that arrives there. Then the score is held against the best that any answers to these very
questions could have come to: what is missing was lost behind the model, or on the way to it.
No lesson is known there, since what is taken for one that is known is another matter.

A corpus was written by ``generate.py`` here, or by the one below ``DREAMING_SHARED``.
"""

from __future__ import annotations

import argparse
import json
import os
import re
import subprocess
import sys
import tempfile
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from datetime import datetime
from pathlib import Path
from typing import Any, Final

import msgspec

from benchmarks.mining.score import Truth, figures, judge
from dreaming import wiring
from dreaming.backends.interface import Answer, Backend, Request
from dreaming.backends.openai_api import OpenAI
from dreaming.config import WorkspaceSettings
from dreaming.jobs.nightly import run
from dreaming.jobs.progress import Progress
from dreaming.models.finding import KeptExcerpt
from dreaming.packets import Packet, estimate_tokens
from tests.backends.loopback import MessagesApi, Step, asked_word, chatted

EVERYTHING: Final = 100_000
"""Tokens a megabyte that hold every excerpt."""
_STATEMENT: Final = re.compile(r"^\[(f\d+)\]\n  \| (\S+)", re.MULTILINE)


class Planted:
    """What is planted where in a corpus, in whichever form its truth has."""

    def __init__(self, root: Path) -> None:
        self.root = root
        self.told: dict[str, Any] = json.loads((root / "truth.json").read_text(encoding="utf-8"))
        self.ours = "split" not in self.told
        self.nights = list(self._nights())
        """Of each night, how many bytes of each file are there by then."""
        self.words: dict[str, tuple[str, str, str]] = {}
        """Of each gotcha that a model should report: topic and two ways to put it."""
        for one in self.told["families"]:
            name = one["name"] if self.ours else f"g:{one['id']}"
            other = one["kind"] if self.ours else one["symptom"]
            if one.get("fate", one.get("class")) not in ("known", "kb"):
                topic = one["kind"] if self.ours else one["topic"]
                self.words[name] = (topic, one["rule"], f"{one['rule']} Otherwise: {other}.")
        self._labels = dict(self._labelled())
        self._times: dict[str, list[str]] = {}

    def label(self, kept: KeptExcerpt) -> str:
        """Return what is planted where an excerpt stands; empty where nothing is."""
        excerpt = kept.excerpt
        lines = [excerpt.line, *(quotation.line for quotation in excerpt.quotations)]
        for path, labels in self._labels.items():
            if kept.native_id in path and self._at(path, excerpt.line) == int(excerpt.at):
                votes = Counter(labels[line] for line in lines if line in labels)
                return max(sorted(votes), key=votes.__getitem__, default="")
        return ""

    def _at(self, path: str, line: int) -> int:
        if path not in self._times:
            text = (self.root / path).read_text(encoding="utf-8")
            self._times[path] = text.splitlines()
        lines = self._times[path]
        found = json.loads(lines[line - 1]).get("timestamp") if line <= len(lines) else None
        return int(datetime.fromisoformat(found).timestamp()) if found else 0

    def _labelled(self) -> Iterator[tuple[str, dict[int, str]]]:
        if self.ours:
            for one in self.told["sessions"].values():
                yield one["file"], dict(one["labels"])
            return
        for path, spans in self.told["labels"].items():
            yield path, {line + 1: label for a, b, label in spans for line in range(a, b)}

    def _nights(self) -> Iterator[dict[str, int]]:
        if not self.ours:
            told = json.loads((self.root / "nights.json").read_text(encoding="utf-8"))
            yield from (told[night] for night in sorted(told, key=int))
            return
        sessions = self.told["sessions"].values()
        for night in sorted({one["night"] for one in sessions}):
            there = [one["file"] for one in sessions if one["night"] <= night]
            yield {path: (self.root / path).stat().st_size for path in there}


class Oracle(Backend):
    """Answers from the truth about what it is sent."""

    name = "oracle"
    leaves_the_machine = False
    free = True

    def __init__(self, planted: Planted) -> None:
        self._planted = planted
        self.tokens = 0
        """Tokens of excerpts that it was sent."""
        self.sent: dict[str, KeptExcerpt] = {}
        """Excerpts that it was sent, by id."""

    @property
    def identity(self) -> str:
        """There is one oracle a corpus."""
        return f"{self.name}:{self._planted.root.name}"

    @property
    def context_tokens(self) -> int:
        """As much as a real model is given."""
        return 60_000

    def ask(self, request: Request) -> Answer:
        """Return every gotcha planted in the excerpts, or the statements about one gotcha."""
        if not request.packets:
            named: dict[str, list[str]] = {}
            for number, slug in _STATEMENT.findall(request.prompt):
                named.setdefault(slug, []).append(number)
            same = [some for some in named.values() if some[1:]]
            return Answer(json.dumps({"read": request.word, "same": same}))
        self.tokens += estimate_tokens([request.prompt])
        self.sent.update((kept.id, kept) for one in request.packets for _, kept in one.excerpts)
        findings: list[dict[str, Any]] = []
        others: list[str] = []
        for packet in request.packets:
            found: dict[str, list[str]] = {}
            for number, kept in packet.excerpts:
                label = self._planted.label(kept)
                if label in self._planted.words:
                    found.setdefault(label, []).append(number)
                else:
                    others.append(number)
            for label, numbers in found.items():
                topic, *ways = self._planted.words[label]
                rule = ways[int(packet.session_id, 16) % len(ways)]
                said = {"topic": topic, "symptom": f"Seen again: {topic}.", "rule": rule}
                slug = re.sub(r"\W+", "-", label)
                findings.append(
                    {"session_id": packet.session_id, "slug": slug, **said, "evidence": numbers}
                )
        said = {"read": request.word, "findings": findings, "not_lessons": others}
        return Answer(json.dumps(said))

    def best(self) -> list[dict[str, Any]]:
        """Return the queue of whoever knows all excerpts that were sent, and what is planted."""
        groups: dict[str, list[KeptExcerpt]] = {}
        for kept in self.sent.values():
            groups.setdefault(self._planted.label(kept), []).append(kept)
        found = []
        for label, (topic, rule, _) in self._planted.words.items():
            some = groups.get(label, [])
            natives = sorted({kept.native_id for kept in some})
            if len({kept.session_id for kept in some}) > 1:
                quotes = [
                    {"session_id": kept.native_id, "quote": quotation.text}
                    for kept in some
                    for quotation in kept.excerpt.quotations[:1]
                ]
                told = {"slug": re.sub(r"\W+", "-", label), "topic": topic, "symptom": rule}
                found.append({**told, "rule": rule, "session_ids": natives, "evidence": quotes})
        return found


class Served(OpenAI):
    """Asks an oracle behind a server, which answers about what its text holds and nothing else."""

    def __init__(self, oracle: Oracle) -> None:
        self._oracle = oracle
        self._server = MessagesApi(self._answer)
        super().__init__("oracle", self._server.url, context_tokens=oracle.context_tokens)

    def __enter__(self) -> Served:
        self._server.__enter__()
        return self

    def __exit__(self, *about: Any) -> None:
        self._server.__exit__(*about)

    def ask(self, request: Request) -> Answer:
        """Put the question; the server is told only which corpus excerpt a number stands for."""
        self._asked = request
        return super().ask(request)

    def _answer(self, body: dict[str, Any]) -> Step:
        text = body["messages"][-1]["content"]
        packets = tuple(
            Packet(one.session_id, tuple(e for e in one.excerpts if f"\n[{e[0]}] " in text))
            for one in self._asked.packets
            if f"<session {one.session_id}>" in text
        )
        seen = {"packets": packets, "prompt": text, "word": asked_word(text)}
        return chatted(self._oracle.ask(msgspec.structs.replace(self._asked, **seen)).text)


def nights(
    planted: Planted, tokens_per_mb: int, backend: Backend, lessons: bool = True
) -> list[Any]:
    """Return what waits after all nights of a corpus."""
    with tempfile.TemporaryDirectory() as place:
        home = Path(place)
        for agent in ("claude", "codex"):
            (home / agent).mkdir()
        folders = (("claude-code", home / "claude"), ("codex", home / "codex"))
        choices = workshop(home, folders, f"tokens_per_mb = {tokens_per_mb}\n")
        work = home / "workspace"
        for topic in (planted.root / "kb").glob("*.md") if lessons else ():
            (work / "knowledge_base" / topic.name).write_bytes(topic.read_bytes())
        for there in planted.nights:
            _lay_out(planted.root, home, there)
            with wiring.night(wiring.place(choices), choices, Progress()) as night:
                night.backend = backend
                report = run(night)
            if report.exit_code:
                raise SystemExit("\n".join(report.failures))
        told = subprocess.run(
            [sys.executable, "-m", "dreaming", "reveal", "--workspace", work, "--all", "--json"],
            check=True,
            capture_output=True,
            text=True,
            cwd=Path(__file__).parents[2],
        )
    return list(json.loads(told.stdout))


def workshop(home: Path, folders: Sequence[tuple[str, Path]], settings: str = "") -> wiring.Choices:
    """Make a workspace in a home of its own, in which nights read these folders whole."""
    os.environ |= {"HOME": str(home)} | {
        f"XDG_{kind}_HOME": str(home / kind) for kind in ("CONFIG", "STATE", "DATA", "CACHE")
    }
    choices = wiring.Choices(home / "workspace", folders, None, 0.0, 0)
    wiring.lay_out(wiring.place(choices, must_exist=False).workspace)
    (home / "workspace" / "dreaming.toml").write_text(settings, encoding="utf-8")
    return choices


def _lay_out(root: Path, home: Path, there: Mapping[str, int]) -> None:
    for name, size in there.items():
        target = home / name
        if not target.is_file() or target.stat().st_size != size:
            target.parent.mkdir(parents=True, exist_ok=True)
            target.write_bytes((root / name).read_bytes()[:size])


def scored(planted: Planted, found: Sequence[dict[str, Any]]) -> tuple[float, float, float]:
    """Return F1, recall and strict precision."""
    if planted.ours:
        truth = Truth(planted.root)
        told = figures(truth, judge(truth, found))
        return told["F1"], told["recall"], told["precision"]
    with tempfile.TemporaryDirectory() as place:
        pending, out = Path(place, "pending.json"), Path(place, "figures.json")
        pending.write_text(json.dumps(found), encoding="utf-8")
        scorer = Path(os.environ["DREAMING_SHARED"], "mining_bench", "score.py")
        subprocess.run(
            [sys.executable, scorer, planted.root, pending, "--json", out],
            check=True,
            capture_output=True,
        )
        told = json.loads(out.read_text(encoding="utf-8"))["metrics"]
    return told["F1"], told["recall"], told["precision_strict"]


def serve(corpora: Sequence[Path]) -> None:
    """Print a line a corpus: what there was to be had, what came, and what was lost."""
    lost = []
    for root in corpora:
        planted = Planted(root.resolve())
        oracle = Oracle(planted)
        with Served(oracle) as backend:
            found = nights(planted, EVERYTHING, backend, lessons=False)
        (_, could, precise), (_, recall, precision) = (
            scored(planted, one) for one in (oracle.best(), found)
        )
        lost.append((could - recall, precise - precision))
        print(
            f"{root.name}: recall {recall:.3f} of {could:.3f}, "
            f"strict precision {precision:.3f} of {precise:.3f}"
        )
    means = [sum(one) / len(lost) for one in zip(*lost, strict=True)]
    print(f"lost: recall {means[0]:.3f}, strict precision {means[1]:.3f}")


def main() -> None:
    """Print a line a corpus and budget, and the means."""
    options = argparse.ArgumentParser(description=__doc__)
    options.add_argument("corpora", nargs="+", type=Path)
    options.add_argument("--budget", type=int, default=WorkspaceSettings().tokens_per_mb)
    options.add_argument("--server", action="store_true")
    asked = options.parse_args()
    if asked.server:
        serve(asked.corpora)
        return
    for budget in (asked.budget, EVERYTHING):
        rows = []
        for root in asked.corpora:
            planted = Planted(root.resolve())
            oracle = Oracle(planted)
            found = nights(planted, budget, oracle)
            size = sum(planted.nights[-1].values()) / 1e6
            rows.append((*scored(planted, found), oracle.tokens / size))
            print(f"{root.name}: F1 {rows[-1][0]:.2f}, recall {rows[-1][1]:.2f}", file=sys.stderr)
        f1, recall, precision, sent = (sum(one) / len(rows) for one in zip(*rows, strict=True))
        said = "every excerpt" if budget == EVERYTHING else f"{budget} tokens/MB"
        print(
            f"{said}: F1 {f1:.2f}, recall {recall:.2f}, strict precision {precision:.2f}, "
            f"{sent:.0f} tokens/MB sent"
        )


if __name__ == "__main__":
    main()
