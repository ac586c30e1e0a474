"""What aggregation keeps of each excerpt is little, and says the same as the excerpt itself."""

from __future__ import annotations

import tracemalloc
from collections import Counter
from collections.abc import Iterable, Sequence
from itertools import combinations
from math import fsum, sqrt
from typing import overload

import msgspec
import pytest
from hypothesis import given
from hypothesis import strategies as st

from dreaming.aggregation import Grouping, aggregate
from dreaming.aggregation.bags import bag
from dreaming.aggregation.linkage import families, groups
from dreaming.aggregation.packed import Focus, packed
from dreaming.aggregation.pairs import FEATURES, features
from dreaming.aggregation.tally import Tally
from dreaming.aggregation.vocabulary import Vocabulary, vocabulary
from dreaming.models.finding import Excerpt, KeptExcerpt
from tests.rules.session_samples import Counted, history, kept


def everything() -> tuple[list[KeptExcerpt], Vocabulary]:
    """The excerpts of the sample history, and what they share."""
    talks = history()
    found = sorted((one for talk in talks for one in kept(talk)), key=lambda one: one.root)
    return found, vocabulary(found, Counted([talk.session for talk in talks], padding=80))


def told(one: Excerpt, other: Excerpt, words: Vocabulary) -> dict[str, float]:
    """Some features of a pair, from the excerpts themselves and without any packing."""
    a, b = bag(one), bag(other)

    def known(weights: dict[str, float]) -> dict[int, float]:
        found: dict[int, float] = {}
        for token, weight in weights.items():
            number = words.number(token)
            if number is not None:
                found[number] = max(weight, found.get(number, 0.0))
        return found

    def numbers(tokens: Iterable[str]) -> set[int]:
        return set(known(dict.fromkeys(tokens, 1.0)))

    def first(this: Iterable[str], that: Iterable[str]) -> float:
        return max((words.rarities[n] for n in numbers(this) & numbers(that)), default=0.0)

    def length(weights: dict[str, float]) -> float:
        return sqrt(fsum((weight * words.of(token)) ** 2 for token, weight in weights.items()))

    def dot(this: dict[int, float], that: dict[int, float]) -> float:
        both = this.keys() & that.keys()
        return fsum(this[n] * that[n] * words.rarities[n] ** 2 for n in both)

    deeds, wholes = (known(a.deed), known(b.deed)), (known(a.whole), known(b.whole))
    shared = sorted(
        min(deed[n] for deed in deeds) * words.rarities[n]
        for n in deeds[0].keys() & deeds[1].keys()
    )
    whole = sqrt(dot(wholes[0], wholes[0])) * sqrt(dot(wholes[1], wholes[1]))
    return {
        "cosine": dot(*wholes) / (whole or 1.0),
        "deed_cosine": dot(*deeds) / ((length(a.deed) * length(b.deed)) or 1.0),
        "deed_first": [0.0, *shared][-1],
        "any_first": first(a.whole, b.whole),
        "done_and_done": first(a.added, b.added),
        "done_and_said": max(first(a.added, b.said), first(b.added, a.said)),
        "said_and_said": first(a.said, b.said),
        "error_and_error": first(a.error, b.error),
        "wrong_and_wrong": first(a.wrong, b.wrong),
        "error_and_said": max(first(a.error, b.said), first(b.error, a.said)),
        "left_and_said": max(first(a.removed, b.said), first(b.removed, a.said)),
        "both_errors": float(bool(one.error and other.error)),
        "weaker": min(one.strength, other.strength),
    }


def test_packed_excerpts_tell_what_the_excerpts_tell() -> None:
    """What a pair is judged by is the same, packed or not."""
    found, words = everything()
    known = packed(found, words)
    alike = 0
    for one, other in combinations(range(len(found)), 2):
        values = dict(zip(FEATURES, features(Focus(known[one]), known[other], words), strict=True))
        expected = told(found[one].excerpt, found[other].excerpt, words)
        assert {name: values[name] for name in expected} == pytest.approx(expected)
        alike += values["any_first"] > 0.0
    assert alike


class Invented(Sequence[KeptExcerpt]):
    """A long history: each excerpt is made when it is asked for."""

    def __init__(self, size: int) -> None:
        self.size = size
        self.model = kept(history()[0])[0]

    def __len__(self) -> int:
        return self.size

    @overload
    def __getitem__(self, place: int) -> KeptExcerpt: ...

    @overload
    def __getitem__(self, place: slice) -> Sequence[KeptExcerpt]: ...

    def __getitem__(self, place: int | slice) -> KeptExcerpt | Sequence[KeptExcerpt]:
        if isinstance(place, slice):
            return [self[one] for one in range(*place.indices(self.size))]
        if not 0 <= place < self.size:
            raise IndexError(place)
        own = " ".join(f"w{place}x{number}" for number in range(30))
        common = " ".join(f"v{place * number % 211}" for number in range(1, 8))
        excerpt = msgspec.structs.replace(
            self.model.excerpt,
            error=f"{own} {common}",
            remark=f"{common} {own}",
            line=place,
            record=str(place),
        )
        return msgspec.structs.replace(
            self.model, id=f"{place:016x}", root=f"{place // 8:016x}", excerpt=excerpt
        )


def test_memory_follows_little_of_an_excerpt() -> None:
    """What is kept to compare them all takes two kilobytes an excerpt at most."""

    def peak(size: int) -> int:
        before, _ = tracemalloc.get_traced_memory()
        tracemalloc.reset_peak()
        found = Invented(size)
        packed(found, vocabulary(found, Counted([], padding=80)))
        return tracemalloc.get_traced_memory()[1] - before

    tracemalloc.start()
    try:
        peak(400)  # what is remembered of tokens is full now
        assert peak(600) - peak(200) < 2048 * 400
    finally:
        tracemalloc.stop()


roots = st.lists(st.dictionaries(st.integers(-(2**63), 2**63 - 1), st.integers(0, 9)), max_size=6)


@given(roots, st.integers(-(2**63), 2**63 - 1))
def test_tally_counts_like_counters(found: list[dict[int, int]], other: int) -> None:
    """Counting in little room comes to what counting in a dict comes to."""
    spread = Counter(key for one in found for key in one)
    stands = Counter(key for one in found for key, number in one.items() if number)
    tally = Tally()
    for one in found:
        tally.add(one)
    assert tally.spread() == {key: n for key, n in spread.items() if n > 1}
    repeats = tally.repeats()
    for key in {*spread, other}:
        times = sum(one.get(key, 0) for one in found)
        assert repeats.get(key, 1.0) == (times / stands[key] if times else 1.0)


hundredths = st.integers(1, 100).map(lambda number: number / 100)
likenesses = st.dictionaries(
    st.tuples(st.integers(0, 11), st.integers(0, 11)).filter(lambda p: p[0] < p[1]),
    hundredths,
    max_size=30,
)


@given(likenesses, hundredths)
def test_families_group_by_themselves(alike: dict[tuple[int, int], float], least: float) -> None:
    """Groups of several are the same, whether all places are grouped or each family alone."""
    found = []
    for family in families(12, (pair for pair, value in alike.items() if value >= least)):
        local = {place: number for number, place in enumerate(family)}
        near = {
            (local[a], local[b]): value for (a, b), value in alike.items() if {a, b} <= {*family}
        }
        found += [[family[n] for n in one] for one in groups(len(family), near, least)]
    several = [one for one in groups(12, alike, least) if len(one) > 1]
    assert sorted(one for one in found if len(one) > 1) == several


def test_eligible_groups_are_worded_when_asked_for() -> None:
    """Asked for what may wait for a person, grouping gives just that, in the same words."""
    talks = history()
    frequencies = Counted([talk.session for talk in talks], padding=80)
    found = [one for talk in talks for one in kept(talk)]
    grouping = Grouping(found, (), frequencies)
    recurring = aggregate(found, (), frequencies)
    assert list(grouping.groups(eligible=True)) == [one for one in recurring if one.eligible]
    assert grouping.grouped() == {kept.id for one in recurring for kept in one.excerpts}
