"""Excerpts of all nights are compared and sorted into groups; few of them are held at a time."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from collections.abc import Set as AbstractSet
from functools import cached_property
from heapq import nsmallest
from itertools import combinations
from typing import Final

import msgspec

from dreaming.aggregation import scoring
from dreaming.aggregation.group import Group, judge, told, worded
from dreaming.aggregation.joining import Joined, dismissed, join
from dreaming.aggregation.linkage import groups
from dreaming.aggregation.memory import Memory, stored
from dreaming.aggregation.named import YIELDS, Names
from dreaming.aggregation.packed import packed
from dreaming.aggregation.pairs import MADE_BY, Alike
from dreaming.aggregation.places import Places
from dreaming.aggregation.profile import profile
from dreaming.aggregation.vocabulary import Frequencies, Vocabulary, vocabulary
from dreaming.models.finding import Finding, KeptExcerpt
from dreaming.motifs import Told

LEAST_ALIKE: Final = 0.3
"""Groups join as long as their members are on average this sure to show one gotcha."""
SINGLES: Final = 50
"""How many groups of one root session are worth showing."""


class Outline(msgspec.Struct, frozen=True):
    """A group before it is worded."""

    members: tuple[int, ...]
    """Where they stand among the distinct excerpts: oldest first."""
    structure: float
    """How sure it is that a person would keep this, by structure alone; 0 where a name is what
    they share."""
    score: float
    eligible: bool
    told: Told | None = None
    """The words of their name, where they share one."""


class Moved(msgspec.Struct):
    """What names come to, and what likeness changes about it."""

    names: Names
    gained: dict[int, list[int]] = msgspec.field(default_factory=dict)
    """By name, what is alike to it without carrying it."""
    lost: set[int] = msgspec.field(default_factory=set)
    """What a surer group took from a name."""


class Grouping:
    """The groups of two or more root sessions, and what stands in none.

    ``excerpts`` may be read from a store as they are asked for. Findings of models name excerpts
    by id: what they join stays joined, and their words are preferred. Excerpts with a name are
    joined by it (``homes`` tells which projects belong together); all other groups are found by
    likeness and worded by templates.
    """

    def __init__(
        self,
        excerpts: Sequence[KeptExcerpt],
        findings: Sequence[Finding],
        frequencies: Frequencies,
        *,
        topics: Sequence[str] = (),
        homes: Mapping[str, str] = {},
        remembered: bytes = b"",
    ) -> None:
        """``remembered`` is what the last grouping left in ``memory``: it only saves work."""
        self._excerpts = excerpts
        self._findings = findings
        self._frequencies = frequencies
        self._topics = topics
        self._places = Places(excerpts)
        chosen, stands_for = self._places.without_copies(range(len(excerpts)))
        no_lesson = dismissed(findings, stands_for)
        self._chosen = [place for place in chosen if self._places.ids[place] not in no_lesson]
        self._joined = join(findings, stands_for)
        moved = Moved(self._by_name(homes))
        self._told = {id_ for one in self._joined for id_ in one.excerpts}
        memory = Memory(MADE_BY, remembered)
        self._known = packed(self._read(self._chosen), memory)
        self._vocabulary = vocabulary(self._known, frequencies)
        self._known.weigh(self._vocabulary.rarities)
        self._alike = Alike(self._known, self._vocabulary, memory)
        self._outlines = self._outline(moved)

    def memory(self) -> bytes:
        """Return what spares the next grouping most of its work."""
        return stored(MADE_BY, self._known, self._alike)

    def groups(self, *, eligible: bool = False) -> Iterator[Group]:
        """Yield the groups, best first; or the eligible ones, those that say the same as one."""
        worded = (self._group(one) for one in self._outlines if one.eligible or not eligible)
        if not eligible:
            yield from worded
            return
        found: list[Group] = []
        for group in worded:
            same = next((at for at, one in enumerate(found) if one.says(group)), None)
            if same is not None:
                found[same] = found[same].and_also(group)
            elif group.eligible:
                found.append(group)
        yield from found

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

    def _by_name(self, homes: Mapping[str, str]) -> Names:
        named = self._places.named
        members = (m for m, place in enumerate(self._chosen) if place in named)
        excerpts = {m: self._excerpts[self._chosen[m]] for m in members}
        return Names(excerpts, homes, self._frequencies.sessions)

    def _group(self, outline: Outline) -> Group:
        places = [self._chosen[member] for member in outline.members]
        if outline.told is None:
            return self._worded(places, self._vocabulary, self._joined, outline.structure)
        ids = {self._places.ids[place] for place in places}
        said = [one for one in self._joined if ids & set(one.excerpts)]
        return told(list(self._read(places)), outline.told, outline.score, said, self._topics)

    def _worded(
        self,
        places: Sequence[int],
        shared: Vocabulary,
        joined: Sequence[Joined],
        score: float,
    ) -> Group:
        members = [profile(kept, shared) for kept in self._read(places)]
        return worded(members, judge(members, shared, score, joined), self._topics)

    def _outline(self, moved: Moved) -> list[Outline]:
        """Return what the groups will be, best first."""
        scorer = scoring.Scorer(self._known, self._alike.holders)
        found: list[Outline] = []
        apart = moved.names.silent
        for family, pairs in self._alike.families(LEAST_ALIKE, self._together(), apart):
            for pair in self._told_apart(family):
                pairs.pop(pair, None)
            found += self._parted(family, pairs, scorer, moved)
        found += self._named(moved)
        return sorted(found, key=lambda one: (-one.score, one.members[0]))

    def _named(self, moved: Moved) -> Iterator[Outline]:
        """Yield what names come to, with what likeness added to them or took away."""
        for number, one in enumerate(moved.names.groups):
            own = [member for member in one.places if member not in moved.lost]
            score = moved.names.score(one.told, own) if len(own) < len(one.places) else one.score
            if score >= scoring.ELIGIBLE:
                members = tuple(sorted({*own, *moved.gained.get(number, ())}))
                yield Outline(members, 0.0, round(score, 4), True, one.told)

    def _parted(
        self,
        family: Sequence[int],
        alike: dict[tuple[int, int], float],
        scorer: scoring.Scorer,
        moved: Moved,
    ) -> Iterator[Outline]:
        """Part a family into groups and yield those of several roots.

        The pairs in ``alike`` are numbered within the family. What has a name is no part of them,
        and where it is half of a group that is worth a look, the rest follows the name. Only a name
        that says little gives way.
        """
        of, names = moved.names.of, moved.names.groups
        for numbers in groups(len(family), alike, LEAST_ALIKE):
            held = {n: of[family[n]] for n in numbers if family[n] in of}
            strong = Counter(name for name in held.values() if names[name].told.worth >= YIELDS)
            weak = {n: names[name].score for n, name in held.items() if name not in strong}
            free = [n for n in numbers if n not in held]
            leading = max(strong, key=lambda name: (strong[name], -name), default=-1)
            if free and 2 * strong[leading] >= len(numbers):
                if self._outlined(family, numbers, alike, scorer).eligible:
                    moved.gained.setdefault(leading, []).extend(family[n] for n in free)
                continue
            if weak:
                open_ = [n for n in numbers if n not in held or n in weak]
                outline = self._outlined(family, open_, alike, scorer)
                surer = outline.eligible and outline.score > max(weak.values())
                if surer and self._group(outline).eligible:
                    moved.lost.update(family[n] for n in weak)
                    free = open_
            if self._several(family[n] for n in free):
                yield self._outlined(family, free, alike, scorer)

    def _several(self, members: Iterable[int]) -> bool:
        return len({self._places.roots[self._chosen[member]] for member in members}) > 1

    def _outlined(
        self,
        family: Sequence[int],
        numbers: Sequence[int],
        alike: dict[tuple[int, int], float],
        scorer: scoring.Scorer,
    ) -> Outline:
        members = tuple(family[number] for number in numbers)
        places = [self._chosen[member] for member in members]
        structure = score = scorer.score(members, scoring.links(numbers, alike))
        if not self._told.isdisjoint(self._places.ids[place] for place in places):
            profiles = [profile(kept, self._vocabulary) for kept in self._read(places)]
            score = judge(profiles, self._vocabulary, structure, self._joined).score
        eligible = score >= scoring.ELIGIBLE and self._several(members)
        return Outline(members, structure, round(score, 4), eligible)

    def _told_apart(self, family: Sequence[int]) -> Iterator[tuple[int, int]]:
        """Yield the pairs, numbered within the family, that a model gave different names."""
        of = {number: self._said_by.get(self._chosen[m]) for number, m in enumerate(family)}
        said = [(number, bundles) for number, bundles in of.items() if bundles]
        for (one, some), (other, more) in combinations(said, 2):
            if some.isdisjoint(more):
                yield one, other

    @cached_property
    def _said_by(self) -> dict[int, frozenset[int]]:
        """Which bundles of findings rest on each excerpt, by place."""
        bundles: dict[str, set[int]] = {}
        for number, one in enumerate(self._joined):
            for id_ in one.excerpts:
                bundles.setdefault(id_, set()).add(number)
        return {
            place: frozenset(bundles[id_])
            for place, id_ in enumerate(self._places.ids)
            if id_ in bundles
        }

    def _together(self) -> dict[tuple[int, int], None]:
        """Return the pairs that findings of models join."""
        ids = (self._places.ids[place] for place in self._chosen)
        at = {id_: member for member, id_ in enumerate(ids) if id_ in self._told}
        several = [sorted(at[id_] for id_ in one.excerpts if id_ in at) for one in self._joined]
        return dict.fromkeys(pair for members in several for pair in combinations(members, 2))
