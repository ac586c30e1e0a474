"""A reworded lesson is found again, and a new one is not taken for it."""

from benchmarks.dedup.__main__ import ALLOWED, blocks, dressed, new, reworded
from dreaming.known.near import PRECISE, SHOWN, Near, Said
from dreaming.lessons import same_key

LESSONS = blocks("lessons.txt")
OTHERS = [said for block in blocks("new.txt") for said in block]


def test_the_labelled_set_is_large_enough() -> None:
    """At least a hundred and fifty pairs of wordings, and as many new ones."""
    assert sum(len(one) * (len(one) - 1) // 2 for one in LESSONS) >= 150
    assert len(OTHERS) >= 100


def test_the_same_in_other_dress_is_the_same() -> None:
    """Every rule of the set, in every dress."""
    rules = [said.rule for one in LESSONS for said in one]
    assert all(same_key(rule) == same_key(other) for rule in rules for other in dressed(rule))


def test_a_reworded_lesson_is_among_those_shown() -> None:
    """The true one is among five in at least 95 of 100."""
    ranks = [rank for rank, _ in reworded(LESSONS, OTHERS)]
    assert sum(rank < SHOWN for rank in ranks) >= 0.95 * len(ranks)


def test_a_new_lesson_is_hardly_ever_stopped() -> None:
    """At most two of a hundred are taken for one that is there."""
    closest = list(new(LESSONS, OTHERS))
    assert sum(likeness >= PRECISE for likeness in closest) <= ALLOWED * len(closest)


def test_nothing_is_near_nothing() -> None:
    """Without lines, without words and without a word in common there is no neighbour."""
    assert Near([]).closest("It fails.", "Wait.") == []
    assert Near([Said("!!"), Said("")]).closest("...", "?") == []
    assert Near([Said("xylophone")]).closest("", "quark") == []
    assert Near([Said("", "It fails.", "Wait.")]).closest("It fails.", "Wait.") == [(0, 1.0)]
