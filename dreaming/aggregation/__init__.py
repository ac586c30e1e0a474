"""Excerpts and findings of all nights become groups: one gotcha, two root sessions at least.

Everything here is a function of its arguments: the order of the excerpts, hash seeds and clocks
change nothing.
"""

from __future__ import annotations

from collections.abc import Sequence

from dreaming.aggregation.group import Group
from dreaming.aggregation.grouping import Grouping
from dreaming.aggregation.joining import Joined, join
from dreaming.aggregation.places import Places, order
from dreaming.aggregation.scoring import ELIGIBLE
from dreaming.aggregation.vocabulary import Frequencies
from dreaming.models.finding import Finding, KeptExcerpt

__all__ = [
    "ELIGIBLE",
    "Frequencies",
    "Group",
    "Grouping",
    "Joined",
    "aggregate",
    "distinct",
    "join",
    "order",
    "singles",
]


def distinct(excerpts: Sequence[KeptExcerpt]) -> tuple[list[KeptExcerpt], dict[str, str]]:
    """Return the excerpts without a fork's copies, oldest first, and which id stands for which."""
    places = Places(excerpts)
    left, stands_for = places.without_copies(range(len(places)))
    return [excerpts[place] for place in left], stands_for


def aggregate(
    excerpts: Sequence[KeptExcerpt],
    findings: Sequence[Finding],
    frequencies: Frequencies,
    *,
    topics: Sequence[str] = (),
) -> list[Group]:
    """Return the groups of two or more root sessions, best first."""
    return list(Grouping(excerpts, findings, frequencies, topics=topics).groups())


def singles(
    excerpts: Sequence[KeptExcerpt],
    findings: Sequence[Finding],
    frequencies: Frequencies,
    *,
    topics: Sequence[str] = (),
    beside: Sequence[Group] = (),
) -> list[Group]:
    """Return the strongest of what was seen in one root session only and stands in no group."""
    taken = {kept.id for group in beside for kept in group.excerpts}
    return Grouping(excerpts, findings, frequencies, topics=topics).singles(taken)
