"""What aggregation keeps of each excerpt is little, and says the same as the excerpt itself."""

from __future__ import annotations

import random
import tracemalloc
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from itertools import combinations
from math import fsum, sqrt
from typing import overload

import msgspec
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from dreaming.aggregation import Grouping, aggregate
from dreaming.aggregation.bags import bag
from dreaming.aggregation.linkage import families, groups
from dreaming.aggregation.memory import Memory
from dreaming.aggregation.packed import Focus, Packed, packed
from dreaming.aggregation.pairs import FEATURES, Alike, Neighbours, features
from dreaming.aggregation.tally import Tally
from dreaming.aggregation.vocabulary import (
    SETTLED,
    STEP,
    WHOLE_HISTORY,
    Vocabulary,
    first,
    vocabulary,
)
from dreaming.models.finding import Excerpt, KeptExcerpt
from dreaming.similarity import RAREST, stem, term_id
from tests.rules.session_samples import Counted, history, kept


def everything() -> tuple[list[KeptExcerpt], Packed, Vocabulary]:
    """The excerpts of the sample history, and what they share."""
    talks = history()
    found = [one for talk in talks for one in kept(talk)]
    known = packed(found, Memory(b""))
    words = vocabulary(known, Counted([talk.session for talk in talks], padding=80))
    known.weigh(words.rarities)
    return found, known, words


def told(one: Excerpt, other: Excerpt, words: Vocabulary) -> dict[str, float]:
    """Some features of a pair, from the excerpts themselves and without any packing."""
    a, b = bag(one), bag(other)

    def rare(token: int) -> float:
        return words.rarities.get(token, RAREST)

    def ids(weights: Mapping[str, float]) -> dict[int, float]:
        found: dict[int, float] = {}
        for token, weight in weights.items():
            id_ = term_id(stem(token))
            found[id_] = max(weight, found.get(id_, 0.0))
        return found

    def rarest(this: Iterable[str], that: Iterable[str]) -> float:
        both = ids(dict.fromkeys(this, 1.0)).keys() & ids(dict.fromkeys(that, 1.0)).keys()
        return max(map(rare, both), default=0.0)

    def dot(this: dict[int, float], that: dict[int, float]) -> float:
        return fsum(this[n] * that[n] * rare(n) ** 2 for n in this.keys() & that.keys())

    def cosine(this: dict[int, float], that: dict[int, float]) -> float:
        return dot(this, that) / (sqrt(dot(this, this)) * sqrt(dot(that, that)) or 1.0)

    deeds, wholes = (ids(a.deed), ids(b.deed)), (ids(a.whole), ids(b.whole))
    shared = sorted(
        min(deed[n] for deed in deeds) * rare(n) for n in deeds[0].keys() & deeds[1].keys()
    )
    return {
        "cosine": cosine(*wholes),
        "deed_cosine": cosine(*deeds),
        "deed_first": [0.0, *shared][-1],
        "any_first": rarest(a.whole, b.whole),
        "done_and_done": rarest(a.added, b.added),
        "done_and_said": max(rarest(a.added, b.said), rarest(b.added, a.said)),
        "said_and_said": rarest(a.said, b.said),
        "error_and_error": rarest(a.error, b.error),
        "wrong_and_wrong": rarest(a.wrong, b.wrong),
        "error_and_said": max(rarest(a.error, b.said), rarest(b.error, a.said)),
        "left_and_said": max(rarest(a.removed, b.said), rarest(b.removed, a.said)),
        "both_errors": float(bool(one.error and other.error)),
        "weaker": min(one.strength, other.strength),
    }


def test_packed_excerpts_tell_what_the_excerpts_tell() -> None:
    """What a pair is judged by is the same, packed or not."""
    found, known, words = everything()
    alike = 0
    for one, other in combinations(range(len(found)), 2):
        values = dict(zip(FEATURES, features(Focus(known[one]), known[other]), strict=True))
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
        known = packed(Invented(size), Memory(b""))
        known.weigh(vocabulary(known, Counted([], padding=80)).rarities)
        return tracemalloc.get_traced_memory()[1] - before

    tracemalloc.start()
    try:
        peak(500)  # every token is remembered now
        assert peak(500) - peak(100) < 2048 * 400
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


def grouped(found: Sequence[KeptExcerpt], remembered: bytes = b"") -> Grouping:
    """The groups of some of the sample history."""
    sessions = [talk.session for talk in history()]
    return Grouping(found, (), Counted(sessions, padding=80), remembered=remembered)


@given(st.randoms(use_true_random=False), st.integers(0, 99))
@settings(max_examples=20)
def test_memory_saves_work_and_decides_nothing(chance: random.Random, share: int) -> None:
    """However a history was cut into nights, in any order, it comes to the same groups."""
    found = [one for talk in history() for one in kept(talk)]
    chance.shuffle(found)
    before = grouped(found[: len(found) * share // 100]).memory()
    for remembered in (before, before[:-9], b"not a memory"):
        one, other = grouped(found, remembered), grouped(found)
        assert list(one.groups()) == list(other.groups())
        assert one.memory() == other.memory()


def test_what_comes_later_changes_no_pair_before() -> None:
    """The first excerpts are compared with each other alike, whatever follows them."""
    _, known, words = everything()
    pairs = list(Neighbours(known, words).pairs())
    for size in range(len(known)):
        beginning = Neighbours(known, words)
        here = [(other, one) for one in range(size) for other in beginning.following()]
        assert here == [pair for pair in pairs if pair[1] < size]


@given(st.integers(0, 200_000))
def test_little_that_is_new_leaves_the_rarities_alone(size: int) -> None:
    """All of a short history says how rare a token is, of a longer one all but the latest part."""
    told = first(size)
    assert told == size or WHOLE_HISTORY <= told <= max(WHOLE_HISTORY, SETTLED * size)
    assert size <= WHOLE_HISTORY or told > size * SETTLED / STEP - 1 or told == WHOLE_HISTORY
    assert first(size + 1) >= told


def test_large_family_is_taken_apart() -> None:
    """No family is larger than it may be, and no excerpt stands in two."""
    _, known, words = everything()
    alike = Alike(known, words, Memory(b""))
    whole = [place for family, _ in alike.families(0.0, ()) for place in family]
    parts = [family for family, _ in alike.families(0.0, (), largest=2)]
    assert max(len(family) for family in parts) == 2
    places = [place for family in parts for place in family]
    assert len(places) == len(set(places)) and set(places) <= set(whole)
