"""Prints how much of what really recurs would reach a model within its budget.

    python -m benchmarks.mining.coverage [--budget 1500] [--missed]

``DREAMING_SHARED`` names the folder with ``real_reference`` and ``corpus``. A gotcha of the
reference lists is covered where excerpts of two of its sessions are chosen, and something of each
stands within three records of an anchor in that session. Batches and choice are those of a night;
nothing is redacted here, and nothing is asked.
"""

from __future__ import annotations

import argparse
import importlib.util
import json
from collections.abc import Iterator, Sequence
from pathlib import Path
from types import ModuleType
from typing import Any

import msgspec

from benchmarks.mining.corpus import Corpus, load
from benchmarks.mining.evaluate import shared
from dreaming.config import WorkspaceSettings
from dreaming.jobs.asking import room
from dreaming.jobs.batches import BATCH_BYTES, BATCH_TRANSCRIPTS
from dreaming.models.finding import KeptExcerpt
from dreaming.packets import best, estimate_tokens, number, render
from dreaming.transcripts.claude_code import ClaudeCode
from dreaming.transcripts.codex import Codex
from dreaming.transcripts.interface import Transcript

CONTEXT = 60_000
"""Tokens of packets in one request."""


class Reference(msgspec.Struct):
    """One project: what was read, and what readers found in it."""

    name: str
    gotchas: list[dict[str, Any]]
    corpus: Corpus
    files: dict[Path, int]
    """Bytes of each transcript, in the order in which a night reads them."""
    texts: dict[str, dict[str, list[str]]]
    """Of each gotcha, by session: the folded records around its anchors."""


def scorer() -> ModuleType:
    """Return the scorer of the reference lists, which decides what stands where."""
    place = importlib.util.spec_from_file_location(
        "scorer", shared() / "real_reference" / "score.py"
    )
    assert place is not None and place.loader is not None
    module = importlib.util.module_from_spec(place)
    place.loader.exec_module(module)
    return module


def references() -> Iterator[Reference]:
    """Yield every project that has a reference list."""
    root, judge = shared() / "corpus", scorer()
    files = judge.Corpus(root)
    for path in sorted((shared() / "real_reference").glob("*.json")):
        listed = json.loads(path.read_text(encoding="utf-8"))
        folders = listed.get("folders") or [listed["folder"]]
        read = [(Codex() if f.startswith("codex") else ClaudeCode(), root / f) for f in folders]
        texts: dict[str, dict[str, list[str]]] = {}
        for gotcha in listed["gotchas"]:
            near: dict[str, list[str]] = {session: [] for session in gotcha["sessions"]}
            for anchor in gotcha["anchors"]:
                where = files.find(anchor["file"], folders)
                whose = [one for one in near if judge.same(one, anchor["sessionId"])]
                for session in whose:
                    near[session] += files.near(where, anchor["line"])
            texts[gotcha["id"]] = near
        sizes = {
            one.path: one.size
            for source, folder in read
            for one in source.list(folder)
            if isinstance(one, Transcript)
        }
        yield Reference(path.stem, listed["gotchas"], load(read), sizes, texts)


def batches(reference: Reference) -> Iterator[tuple[int, list[KeptExcerpt]]]:
    """Yield bytes and excerpts of each batch that one night over everything would make."""
    mine: dict[Path, list[KeptExcerpt]] = {path: [] for path in reference.files}
    for kept in reference.corpus.kept:
        mine[reference.corpus.places[kept.id].path].append(kept)
    batch: list[KeptExcerpt] = []
    size = count = 0
    for path, excerpts in mine.items():
        more = reference.files[path]
        if count and (count == BATCH_TRANSCRIPTS or size + more > BATCH_BYTES):
            yield size, batch
            batch, size, count = [], 0, 0
        batch = batch + excerpts
        size, count = size + more, count + 1
    yield size, batch


def sent(reference: Reference, tokens_per_mb: int) -> tuple[list[KeptExcerpt], int]:
    """Return the excerpts that a model would be sent, and the tokens they take."""
    chosen: list[KeptExcerpt] = []
    tokens = 0
    for size, excerpts in batches(reference):
        some = best(excerpts, room(size, tokens_per_mb))
        tokens += sum(estimate_tokens([render(one)]) for one in number(some, CONTEXT))
        chosen += some
    return chosen, tokens


def covered(reference: Reference, chosen: Sequence[KeptExcerpt], judge: ModuleType) -> set[str]:
    """Return the gotchas that show in excerpts of two of their sessions."""
    by_session: dict[str, list[KeptExcerpt]] = {}
    for kept in chosen:
        by_session.setdefault(kept.native_id, []).append(kept)
    return {
        gotcha
        for gotcha, near in reference.texts.items()
        if sum(
            any(
                any(judge.stands(text, texts) for text in _texts(kept))
                for native, some in by_session.items()
                if judge.same(session, native)
                for kept in some
            )
            for session, texts in near.items()
        )
        >= 2
    }


def _texts(kept: KeptExcerpt) -> Iterator[str]:
    excerpt = kept.excerpt
    yield from (quotation.text for quotation in excerpt.quotations)
    yield from (excerpt.wrong, excerpt.error, excerpt.remark, excerpt.words, excerpt.right)


def main() -> None:
    """Print a line for each project, and what all of them make."""
    options = argparse.ArgumentParser(description=__doc__)
    options.add_argument("--budget", type=int, default=WorkspaceSettings().tokens_per_mb)
    options.add_argument("--missed", action="store_true", help="Name what no model would see.")
    asked = options.parse_args()
    judge = scorer()
    every = shown = within = tokens = size = 0
    for reference in references():
        chosen, took = sent(reference, asked.budget)
        sure = {one["id"] for one in reference.gotchas if one["confidence"] == "high"}
        at_all = covered(reference, reference.corpus.kept, judge) & sure
        some = covered(reference, chosen, judge) & sure
        print(
            f"{reference.name}: {len(some)} of {len(sure)} in {took} tokens of "
            f"{reference.corpus.bytes / 1e6:.1f} MB, {len(chosen)} of {len(reference.corpus.kept)} "
            f"excerpts; {len(at_all)} with all of them"
        )
        if asked.missed:
            print("  not chosen:", " ".join(sorted(at_all - some)))
            print("  no excerpts:", " ".join(sorted(sure - at_all)))
        every, shown, within = every + len(sure), shown + len(at_all), within + len(some)
        tokens, size = tokens + took, size + reference.corpus.bytes
    print(
        f"all: {within} of {every} = {within / every:.2f}, {tokens / (size / 1e6):.0f} tokens/MB; "
        f"with every excerpt {shown} = {shown / every:.2f}"
    )


if __name__ == "__main__":
    main()
