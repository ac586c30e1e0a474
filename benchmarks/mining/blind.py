"""Makes a sheet that two readers judge without knowing what comes from where, and reads it back.

    PLACE/bin/python -m benchmarks.mining.blind make FOLDER [--seed 1]
    python -m benchmarks.mining.blind read FOLDER/key.json READER.csv READER.csv

``make`` runs a night without a model over each project below ``DREAMING_SHARED`` that has a
reference list, and mixes what it proposes with groups of a TF-IDF baseline, with what palinode
finds in the same transcripts, and with groups made at random, which show how much a reader accepts
of anything. It needs the packages that ``tools.py`` names. ``FOLDER`` gets ``sheet.md``, which a
reader sees, and ``key.json``, which none does. All excerpts are worded by the same rules, so that
the words do not tell the source.

A reader writes a line for each item: id, yes or no, reason.
"""

from __future__ import annotations

import argparse
import csv
import json
import random
import tempfile
from collections.abc import Iterator, Sequence
from itertools import groupby
from pathlib import Path
from typing import Any, Final

from benchmarks.mining.evaluate import shared
from dreaming.aggregation.group import UNSAID, judge, worded
from dreaming.aggregation.profile import profile
from dreaming.aggregation.vocabulary import vocabulary
from dreaming.jobs.evidence import quotes, ranked
from dreaming.models.finding import Excerpt, KeptExcerpt
from dreaming.packets import holds
from dreaming.stores.history import History

FIRST: Final = {"dreaming": 12, "TF-IDF": 6, "palinode": 6, "at random": 3}
"""Items of each source and project."""
DISTANCE: Final = {"TF-IDF": 0.85, "palinode": 0.85}
"""Where ``tools.py`` finds the best F1."""
SESSIONS, PER_SESSION, LONGEST = 6, 2, 300
"""What is shown of an item: sessions, quotations of each, characters of each."""
ASKED: Final = """# Would you keep it?

Each item is said to be one gotcha that at least two sessions of one project ran into.
Say **yes** where all of this holds, else **no**:

1. Quotations of two sessions or more show the same gotcha: something went wrong, or a person had to
   say something, for one reason.
2. It would help to tell the next agent in this project.
   What any agent knows anyway would not, nor what held for one task only.
3. The rule says what to do about it.
   It may be worded badly, as long as you could mend it by changing some words.

Judge each item by itself, also where two say the same.
Write a line for each: `id,yes or no,reason in a few words`.
"""

Item = dict[str, Any]


def made(seed: int) -> list[Item]:
    """Return the items of all projects, each with its source."""
    rng = random.Random(f"blind {seed}")
    items = []
    for reference in sorted((shared() / "real_reference").glob("*.json")):
        listed = json.loads(reference.read_text(encoding="utf-8"))
        folders = [shared() / "corpus" / one for one in listed.get("folders") or [listed["folder"]]]
        for source, found in _of_project(folders, rng):
            some = found[: FIRST[source]]
            items += [{**one, "source": source, "project": reference.stem} for one in some]
    rng.shuffle(items)
    return items


def _of_project(folders: Sequence[Path], rng: random.Random) -> Iterator[tuple[str, list[Item]]]:
    """Run a night over a project, and yield what each source makes of it, best first."""
    from benchmarks.mining.oracle import workshop
    from dreaming import wiring
    from dreaming.jobs.evidence import reveal
    from dreaming.jobs.nightly import run
    from dreaming.jobs.progress import Progress
    from dreaming.stores.pending import Pending

    named = [("codex" if one.parent.name == "codex" else "claude-code", one) for one in folders]
    with tempfile.TemporaryDirectory() as place:
        choices = workshop(Path(place), named)
        here = wiring.place(choices)
        with wiring.night(here, choices, Progress()) as night:
            run(night)
        with wiring.state(here) as state:
            ours = reveal(Pending(here.workspace.pending).all(), state)
            told = [
                _item(one.rule, [(q.session_id, q.speaker, q.quote) for q in one.evidence])
                for one in ours
            ]
            yield "dreaming", told
            yield from _others(History(state), [one for who, one in named if who != "codex"], rng)


def _others(
    history: History, folders: Sequence[Path], rng: random.Random
) -> Iterator[tuple[str, list[Item]]]:
    """Yield what the others make of the excerpts, or of the transcripts they came from."""
    from benchmarks.mining.tools import excerpts, grouped, palinode

    every = sorted(history.excerpts(), key=lambda kept: (kept.root, kept.id))
    rarities = vocabulary(every, history.frequencies())

    def rule(members: Sequence[KeptExcerpt]) -> str:
        profiles = [profile(kept, rarities) for kept in members]
        return worded(profiles, judge(profiles, rarities, 0.0, ()), ()).rule

    def item(members: Sequence[KeptExcerpt]) -> Item:
        # Of what has nothing in common the strongest that can be worded speaks: an item without
        # a rule would tell its source.
        ways = [members, *([kept] for kept in ranked(members))]
        told = next((told for told in map(rule, ways) if told != UNSAID), "")
        told = told or next(
            (_words(kept.excerpt) for kept in members if _words(kept.excerpt)), UNSAID
        )
        return _item(told, [(one.session_id, one.speaker, one.quote) for one in quotes(members)])

    def members(group: dict[str, Any]) -> list[KeptExcerpt]:
        said = [(one["session_id"], one["quote"]) for one in group["evidence"]]
        return [
            kept
            for kept in every
            if any(kept.native_id == id_ and holds(kept.excerpt, quote) for id_, quote in said)
        ]

    yield "TF-IDF", [item(members(one)) for one in grouped(excerpts(every), DISTANCE["TF-IDF"])]
    others = []
    for group in grouped(palinode(folders), DISTANCE["palinode"]):
        found = members(group)
        told = [(one["session_id"], "human", one["quote"]) for one in group["evidence"]]
        several = len({kept.root for kept in found}) > 1
        others.append(item(found) if several else _item(group["rule"], told))
    yield "palinode", others
    roots = {root: list(some) for root, some in groupby(every, key=lambda kept: kept.root)}
    drawn = [rng.sample(sorted(roots), rng.choice((2, 3))) for _ in range(FIRST["at random"])]
    yield "at random", [item([rng.choice(roots[root]) for root in some]) for some in drawn]


def _words(excerpt: Excerpt) -> str:
    return excerpt.words or excerpt.remark or excerpt.right


def _item(rule: str, said: Sequence[tuple[str, str, str]]) -> Item:
    """Return what is shown of a candidate: its sessions are letters."""
    by_session: dict[str, list[tuple[str, str]]] = {}
    for native, speaker, quote in said:
        by_session.setdefault(native, []).append((speaker, " ".join(quote.split())[:LONGEST]))
    letters = zip("ABCDEF", list(by_session.values())[:SESSIONS], strict=False)
    return {
        "rule": " ".join(rule.split())[:LONGEST],
        "quotations": [
            (letter, speaker, quote)
            for letter, some in letters
            for speaker, quote in some[:PER_SESSION]
        ],
        "sessions": len(by_session),
    }


def sheet(items: Sequence[Item]) -> str:
    """Return what a reader sees."""
    parts = [ASKED]
    for number, one in enumerate(items, start=1):
        lines = [f"## i{number:03}", "", f"{one['sessions']} sessions. Rule: {one['rule']}", ""]
        lines += [f"- {letter} ({who}): {said}" for letter, who, said in one["quotations"]]
        parts.append("\n".join(lines) + "\n")
    return "\n".join(parts)


def answers(path: Path) -> dict[str, bool]:
    """Return what a reader wrote, by id. Raises ``ValueError`` for anything but yes and no."""
    found = {}
    with path.open(encoding="utf-8", newline="") as lines:
        for row in csv.reader(lines):
            if len(row) < 2 or not row[0].strip().startswith("i"):
                continue
            said = row[1].strip().casefold()
            if said not in ("yes", "no"):
                if row[0].strip() == "id":
                    continue
                raise ValueError(f"{path}: {row[0]}: {row[1]!r} is neither yes nor no")
            found[row[0].strip()] = said == "yes"
    return found


def kappa(one: Sequence[bool], other: Sequence[bool]) -> float:
    """Return Cohen's kappa (1960): agreement beyond chance; 1.0 where both always say the same."""
    both = len(one)
    same = sum(a == b for a, b in zip(one, other, strict=True)) / both
    yes, also = sum(one) / both, sum(other) / both
    chance = yes * also + (1 - yes) * (1 - also)
    return 1.0 if chance == 1.0 else (same - chance) / (1 - chance)


def report(key: dict[str, dict[str, str]], first: dict[str, bool], other: dict[str, bool]) -> str:
    """Return a table of what was accepted of each source, agreement, and lift over chance.

    Raises ``KeyError`` where a reader left an item out.
    """
    ids = sorted(key)
    lines = ["| source | items | one reader | the other | both |", "|---|---|---|---|---|"]
    shares = {}
    for source in FIRST:
        own = [id_ for id_ in ids if key[id_]["source"] == source]
        if not own:
            continue
        told = (
            sum(first[i] for i in own),
            sum(other[i] for i in own),
            sum(first[i] and other[i] for i in own),
        )
        shares[source] = (told[0] + told[1]) / (2 * len(own))
        said = " | ".join(f"{count / len(own):.2f}" for count in told)
        lines.append(f"| {source} | {len(own)} | {said} |")
    agreed = kappa([first[i] for i in ids], [other[i] for i in ids])
    lines.append(f"\nCohen's kappa {agreed:.2f} over {len(ids)} items.")
    for source, share in shares.items():
        if source != "dreaming":
            lift = f"{shares['dreaming'] / share:.1f}" if share else "none accepted"
            lines.append(f"dreaming over {source}: {lift}.")
    return "\n".join(lines)


def main() -> None:
    """Make a sheet, or read two back."""
    options = argparse.ArgumentParser(description=__doc__)
    verbs = options.add_subparsers(dest="verb", required=True)
    make = verbs.add_parser("make")
    make.add_argument("folder", type=Path)
    make.add_argument("--seed", type=int, default=1)
    read = verbs.add_parser("read")
    read.add_argument("key", type=Path)
    read.add_argument("readers", type=Path, nargs=2)
    asked = options.parse_args()
    if asked.verb == "read":
        key = json.loads(asked.key.read_text(encoding="utf-8"))
        print(report(key, *(answers(one) for one in asked.readers)))
        return
    items = made(asked.seed)
    asked.folder.mkdir(parents=True, exist_ok=True)
    (asked.folder / "sheet.md").write_text(sheet(items), encoding="utf-8")
    key = {
        f"i{number:03}": {"source": one["source"], "project": one["project"]}
        for number, one in enumerate(items, start=1)
    }
    (asked.folder / "key.json").write_text(json.dumps(key, indent=1), encoding="utf-8")
    print(f"{len(items)} items in {asked.folder / 'sheet.md'}")


if __name__ == "__main__":
    main()
