"""Excerpts of all nights are compared and sorted into groups; few of them are held at a time."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from collections.abc import Set as AbstractSet
from heapq import nsmallest
from itertools import combinations
from typing import Final

import msgspec

from dreaming.aggregation import scoring
from dreaming.aggregation.group import Group, judge, worded
from dreaming.aggregation.joining import Joined, join
from dreaming.aggregation.linkage import groups
from dreaming.aggregation.memory import Memory, stored
from dreaming.aggregation.packed import packed
from dreaming.aggregation.pairs import MADE_BY, Alike
from dreaming.aggregation.places import Places
from dreaming.aggregation.profile import profile
from dreaming.aggregation.vocabulary import Frequencies, Vocabulary, vocabulary
from dreaming.models.finding import Finding, KeptExcerpt

LEAST_ALIKE: Final = 0.3
"""Groups join as long as their members are on average this sure to show one gotcha."""
SINGLES: Final = 50
"""How many groups of one root session are worth showing."""


class Outline(msgspec.Struct, frozen=True):
    """A group before it is worded."""

    members: tuple[int, ...]
    """Where they stand among the distinct excerpts: oldest first."""
    structure: float
    """How sure it is that a person would keep this, by structure alone."""
    score: float
    eligible: bool


class Grouping:
    """The groups of two or more root sessions, and what stands in none.

    ``excerpts`` may be read from a store as they are asked for. Findings of models name excerpts
    by id: what they join stays joined, and their words are preferred. All other groups are found
    by likeness and worded by templates.
    """

    def __init__(
        self,
        excerpts: Sequence[KeptExcerpt],
        findings: Sequence[Finding],
        frequencies: Frequencies,
        *,
        topics: Sequence[str] = (),
        remembered: bytes = b"",
    ) -> None:
        """``remembered`` is what the last grouping left in ``memory``: it only saves work."""
        self._excerpts = excerpts
        self._findings = findings
        self._frequencies = frequencies
        self._topics = topics
        self._places = Places(excerpts)
        self._chosen, stands_for = self._places.without_copies(range(len(excerpts)))
        self._joined = join(findings, stands_for)
        self._told = {id_ for one in self._joined for id_ in one.excerpts}
        memory = Memory(MADE_BY, remembered)
        self._known = packed(self._read(self._chosen), memory)
        self._vocabulary = vocabulary(self._known, frequencies)
        self._known.weigh(self._vocabulary.rarities)
        self._alike = Alike(self._known, self._vocabulary, memory)
        self._outlines = self._outline()

    def memory(self) -> bytes:
        """Return what spares the next grouping most of its work."""
        return stored(MADE_BY, self._known, self._alike)

    def groups(self, *, eligible: bool = False) -> Iterator[Group]:
        """Yield the groups (or the eligible ones), best first; each is worded when asked for."""
        for outline in self._outlines:
            if outline.eligible or not eligible:
                places = [self._chosen[member] for member in outline.members]
                yield self._worded(places, self._vocabulary, self._joined, outline.structure)

    def grouped(self) -> set[str]:
        """Return the ids of all that stands in a group."""
        members = (member for outline in self._outlines for member in outline.members)
        return {self._places.ids[self._chosen[member]] for member in members}

    def singles(self, taken: AbstractSet[str]) -> list[Group]:
        """Return the strongest of what was seen in one root session only and is not taken."""
        known = self._places
        left, stands_for = known.without_copies(
            place for place, id_ in enumerate(known.ids) if id_ not in taken
        )
        strongest = nsmallest(SINGLES, left, key=lambda p: (-known.strengths[p], known.order(p)))
        alone = packed(self._read(strongest), Memory(MADE_BY))
        shared = vocabulary(alone, self._frequencies)
        joined = join(self._findings, stands_for)
        return [self._worded([place], shared, joined, 0.0) for place in strongest]

    def _read(self, places: Iterable[int]) -> Iterator[KeptExcerpt]:
        return (self._excerpts[place] for place in places)

    def _worded(
        self,
        places: Sequence[int],
        shared: Vocabulary,
        joined: Sequence[Joined],
        score: float,
    ) -> Group:
        members = [profile(kept, shared) for kept in self._read(places)]
        return worded(members, judge(members, shared, score, joined), self._topics)

    def _outline(self) -> list[Outline]:
        """Return what the groups will be, best first."""
        scorer = scoring.Scorer(self._known, self._alike.holders)
        found: list[Outline] = []
        for family, pairs in self._alike.families(LEAST_ALIKE, self._together()):
            found += self._parted(family, pairs, scorer)
        return sorted(found, key=lambda one: (-one.score, one.members[0]))

    def _parted(
        self, family: Sequence[int], alike: dict[tuple[int, int], float], scorer: scoring.Scorer
    ) -> Iterator[Outline]:
        """Part a family into groups and yield those of several roots.

        The pairs in ``alike`` are numbered within the family.
        """
        for numbers in groups(len(family), alike, LEAST_ALIKE):
            members = tuple(family[number] for number in numbers)
            places = [self._chosen[member] for member in members]
            if len({self._places.roots[place] for place in places}) < 2:
                continue
            structure = score = scorer.score(members, scoring.links(numbers, alike))
            if not self._told.isdisjoint(self._places.ids[place] for place in places):
                profiles = [profile(kept, self._vocabulary) for kept in self._read(places)]
                score = judge(profiles, self._vocabulary, structure, self._joined).score
            yield Outline(members, structure, round(score, 4), score >= scoring.ELIGIBLE)

    def _together(self) -> dict[tuple[int, int], None]:
        """Return the pairs that findings of models join."""
        ids = (self._places.ids[place] for place in self._chosen)
        at = {id_: member for member, id_ in enumerate(ids) if id_ in self._told}
        several = [sorted(at[id_] for id_ in one.excerpts if id_ in at) for one in self._joined]
        return dict.fromkeys(pair for members in several for pair in combinations(members, 2))
