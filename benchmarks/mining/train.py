"""Fits the three small models on labelled corpora and writes their weights as Python tables.

    pip install scikit-learn msgspec
    python -m benchmarks.mining.train CORPUS...

A corpus is a folder written by the benchmark's ``generate.py``. The features hold no word, only
how rare and how shared words are, so what is learned carries over to other gotchas.
"""

from __future__ import annotations

import argparse
import json
import sys
from collections import Counter
from collections.abc import Sequence
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np
from sklearn.linear_model import LogisticRegression

import dreaming.aggregation as aggregation
from benchmarks.mining.corpus import Corpus, benchmark
from benchmarks.mining.evaluate import as_scored, shared
from dreaming import known as known_rules
from dreaming.aggregation import grouping, linkage, pairs, scoring
from dreaming.aggregation.group import judge, worded
from dreaming.aggregation.memory import Memory
from dreaming.aggregation.packed import Focus, packed
from dreaming.aggregation.profile import profile
from dreaming.aggregation.vocabulary import vocabulary
from dreaming.similarity import Model, rarity

GENERAL = (
    "Ask before adding a dependency. Prefer the standard library.",
    "Reviews: small PRs, one reviewer, squash merge.",
    "Releases are cut on Tuesdays; tag format vX.Y.Z.",
)
"""Lessons that no family of the benchmark is about."""
PRODUCT = Path(aggregation.__file__).parent.parent


def labels(root: Path, corpus: Corpus) -> dict[str, int]:
    """Return the family each excerpt belongs to, 0 for none, by the labelled lines it stands on."""
    truth = json.loads((root / "truth.json").read_text(encoding="utf-8"))
    lines: dict[str, dict[int, int]] = {}
    for file, spans in truth["labels"].items():
        for start, end, label in spans:
            if label.startswith("g:"):
                lines.setdefault(file, {}).update(dict.fromkeys(range(start, end), int(label[2:])))
    found = {}
    for name, place in corpus.places.items():
        here = lines.get(str(place.path.relative_to(root)), {})
        stands_on = {place.excerpt.line, *(q.line for q in place.excerpt.quotations)}
        votes = Counter(here[line - 1] for line in stands_on if line - 1 in here)
        found[name] = votes.most_common(1)[0][0] if votes else 0
    return found


def fit(
    names: Sequence[str], rows: Any, truth: Sequence[int], c: float, wrong: float = 1.0
) -> Model:
    """Return a logistic model with the scaling folded into its weights.

    ``wrong`` is how much worse it is to say yes to what is false than no to what is true.
    """
    x, y = np.array(rows, float), np.array(truth)
    mean, scale = x.mean(0), x.std(0) + 1e-6
    found = LogisticRegression(max_iter=5000, C=c, random_state=0)
    found.fit((x - mean) / scale, y, sample_weight=np.where(y == 1, 1.0, wrong))
    weights = found.coef_[0] / scale
    bias = float(found.intercept_[0] - (found.coef_[0] * mean / scale).sum())
    for name, effect in zip(names, found.coef_[0], strict=True):
        print(f"    {name:20s} {effect:6.2f}")
    print(f"  {len(y)} rows, {int(y.sum())} true")
    return Model(tuple(names), tuple(round(float(w), 5) for w in weights), round(bias, 5))


def write(path: Path, models: dict[str, Model]) -> None:
    """Write models as a Python table."""
    text = '"""Weights made by ``benchmarks/mining/train.py``; do not edit by hand."""\n\n'
    text += "from __future__ import annotations\n\nfrom typing import Final\n\n"
    text += "from dreaming.similarity import Model\n"
    for name, model in models.items():
        text += f"\n{name}: Final = Model(\n    features=(\n"
        text += "".join(f'        "{feature}",\n' for feature in model.features)
        text += "    ),\n    weights=(\n"
        text += "".join(f"        {weight},\n" for weight in model.weights)
        text += f"    ),\n    bias={model.bias},\n)\n"
    path.write_text(text, encoding="utf-8")


class Read:
    """One corpus with its labels and compared pairs."""

    def __init__(self, root: Path) -> None:
        self.root, self.corpus = root, benchmark(root)
        self.kept, _ = aggregation.distinct(self.corpus.kept)
        family = labels(root, self.corpus)
        self.family = [family[one.id] for one in self.kept]
        self.packed = packed(self.kept, Memory(b""))
        self.vocabulary = vocabulary(self.packed, self.corpus.frequencies)
        self.packed.weigh(self.vocabulary.rarities)
        self.pairs = list(pairs.Neighbours(self.packed, self.vocabulary).pairs())
        self.rows = np.array([self._row(a, b) for a, b in self.pairs], np.float32)
        self.same = [int(self.family[a] == self.family[b] != 0) for a, b in self.pairs]

    def _row(self, a: int, b: int) -> list[float]:
        return pairs.features(Focus(self.packed[b]), self.packed[a])

    def groups(self) -> list[tuple[list[int], scoring.Links]]:
        """Return the groups of several roots, by the pair model as it stands."""
        found = []
        compared = pairs.Alike(self.packed, self.vocabulary, Memory(b""))
        self.scorer = scoring.Scorer(self.packed, compared.holders)
        for family, alike in compared.families(grouping.LEAST_ALIKE, ()):
            for numbers in linkage.groups(len(family), alike, grouping.LEAST_ALIKE):
                members = [family[number] for number in numbers]
                if len({self.kept[member].root for member in members}) > 1:
                    found.append((members, scoring.links(numbers, alike)))
        return found


def train_pairs(read: Sequence[Read]) -> Model:
    """Fit: do two excerpts show the same gotcha?"""
    rows = np.concatenate([one.rows for one in read])
    return fit(pairs.FEATURES, rows, [same for one in read for same in one.same], 0.3)


def judge_groups(read: Sequence[Read]) -> tuple[Model, list[Any]]:
    """Fit: is a group worth a look? What is known counts as a gotcha: that is judged apart.

    The groups of one half are made by pairs fitted on the other half, as a new history's are.
    """
    sys.path.insert(0, str(shared() / "mining_bench"))
    import score as scorer

    rows, truth, made = [], [], []
    for half, others in ((read[::2], read[1::2]), (read[1::2], read[::2])):
        pairs.PAIR = train_pairs(others)  # type: ignore[misc]
        for one in half:
            teller = scorer.Truth(str(one.root))
            for members, hang in one.groups():
                chosen = [profile(one.kept[member], one.vocabulary) for member in members]
                found = worded(chosen, judge(chosen, one.vocabulary, 0.0, ()), ())
                judged = scorer.judge(as_scored(found), teller)
                known = judged["class"] == "kb" and judged["true_named"] >= 2
                good = judged["tp"] or (known and judged["purity"] >= 0.5)
                rows.append(one.scorer.features(members, hang))
                truth.append(int(good))
                made.append((one, found, judged))
    return fit(scoring.FEATURES, rows, truth, 0.1, wrong=1.6), made


def _rarity(corpus: Corpus, token: str) -> float:
    return rarity(corpus.frequencies.of(token), corpus.frequencies.sessions)


def train_known(made: Sequence[Any]) -> Model:
    """Fit: does a line of the knowledge base say what a group says?"""
    sys.path.insert(0, str(shared() / "mining_bench"))
    import families_public

    owner = {line: f.id for f in families_public.FAMILIES for line in f.kb}
    lines = [*owner, *GENERAL]
    rows, truth = [], []
    for one, group, judged in made:
        rarity_of = partial(_rarity, one.corpus)
        known = known_rules.Known(lines, (), rarity_of)
        told = known_rules.Said(group.texts(), group.deeds(), rarity_of)
        for place, line in enumerate(known.lines):
            rows.append(known.features(place, told))
            truth.append(int(judged["family"] is not None and owner.get(line) == judged["family"]))
    return fit(known_rules.FEATURES, rows, truth, 0.3)


def main() -> None:
    """Fit on the corpora named and write the tables into the product."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("corpora", nargs="+", type=Path)
    read = [Read(root) for root in parser.parse_args().corpora]
    print("groups")
    group, made = judge_groups(read)
    print("pairs")
    pair = train_pairs(read)
    print("known")
    known = train_known(made)
    write(PRODUCT / "aggregation" / "weights.py", {"PAIR": pair, "GROUP": group})
    write(PRODUCT / "known" / "weights.py", {"KNOWN": known})


if __name__ == "__main__":
    main()
