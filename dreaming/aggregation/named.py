"""Excerpts with a name become groups by counting: no statistics of words, so ten sessions suffice.

A name is about a project (its linter, its commands, a person's wishes) or about the agent's own
program. So its sessions are counted in each home of projects, unless they count anywhere.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from collections.abc import Set as AbstractSet
from math import log2
from typing import Final

import msgspec

from dreaming.aggregation.scoring import ELIGIBLE
from dreaming.models.finding import KeptExcerpt, SignalKind
from dreaming.models.session import Speaker
from dreaming.motifs import Told, tell
from dreaming.similarity import program

SPREAD: Final = 1
"""How many root sessions more it takes where no home of projects has enough of them alone."""
LEAST: Final = 0.75
"""What a name is worth that two root sessions met on one day, of what it is worth at best."""
DOUBLED: Final = (0.12, 3.0)
"""What each doubling of its root sessions adds, and for how many doublings."""
DAYS: Final = (0.06, 2.0)
"""The same for the days on which it was met."""
DETOUR: Final = (0.012, 10.0)
"""What each call adds that was lost on average, and for how many calls."""
PERSON: Final = 0.1
"""What it adds that a person had to say it, in each root session."""
MET: Final = (0.3, 0.4)
"""What it adds that a share of all sessions met it, and the largest share that counts."""
SHARE: Final = 0.25
"""The share of all sessions that must meet what an agent's own program says to everybody."""
FEW: Final = 5
"""In a history of so few sessions, what most of them met is worth a look at once, also if an
agent's own program says it to everybody: nothing else there could tell how often it hurts."""
TELLING: Final = (2.0, 0.7)
"""How many times its worth such a thing then has, and the most."""
VAGUE: Final = 0.7
"""A name worth less says little of the cause: it takes one program or one root session more."""
YIELDS: Final = 0.75
"""A name worth less gives way to a surer group by likeness, whose words name what worked."""
BORNE_OUT: Final = {"lint-before-done": ("lint-", "format-")}
"""Which names bear a wish out where no second session met them: what the linter rejected is why
people want it run."""
RUN: Final = 6
"""Persons' words with this many words in a row in common are one text, sent several times."""
_NAMES: Final = re.compile(r"\S*[\d_/`()=]\S*|\w+\.\w\S*")
"""What varies in a text that is sent again: files, functions, numbers."""
_SPAN: Final = re.compile(r"`[^`]*`")
_SPOKEN: Final = frozenset({SignalKind.CORRECTION, SignalKind.INTERRUPTION, SignalKind.DENIAL})
_DAY: Final = 86400.0


class Named(msgspec.Struct, frozen=True):
    """A group of excerpts that carry one name, or several names for one thing."""

    told: Told
    places: tuple[int, ...]
    """Oldest first."""
    score: float


class _Pool(msgspec.Struct):
    """The excerpts of one name in one home of projects."""

    name: str
    told: Told
    places: list[int]
    """Oldest first."""


class Names:
    """What the named excerpts of a history come to.

    ``named`` maps places, oldest first, to the excerpts that carry a name; ``homes`` maps a project
    to the one that it is a worktree or a copy of; ``sessions`` is how many the history holds.
    """

    def __init__(
        self, named: Mapping[int, KeptExcerpt], homes: Mapping[str, str], sessions: int
    ) -> None:
        self._named = named
        self._sessions = max(1, sessions)
        self._homes = _where(named.values(), homes)
        self.groups: tuple[Named, ...] = ()
        """Sure enough to wait for a person; no two share an excerpt."""
        self.silent: AbstractSet[int] = frozenset()
        """Excerpts about the agent's own program: they say nothing but their names."""
        pools = self._pools()
        self.silent = frozenset(p for pool in pools if pool.told.anywhere for p in pool.places)
        self.groups = tuple(self._one_each(self._parted(pools)))
        self.of = {place: at for at, group in enumerate(self.groups) for place in group.places}
        """Which group an excerpt is in."""

    def score(self, told: Told, places: Collection[int]) -> float:
        """Return how sure it is that a person would keep this; 0 for too few root sessions."""
        least = max(2.0, told.roots, SHARE * self._sessions if told.anywhere else 0.0)
        roots, worth = self._roots(places), told.worth
        if told.anywhere and self._sessions <= FEW and 2 * roots > self._sessions:
            least, worth = 2.0, max(worth, min(TELLING[1], worth * TELLING[0]))
        elif told.worth < VAGUE and not told.anywhere and not self._one_program(places):
            least += 1.0
        if roots < least:
            return 0.0
        return score(worth, [self._named[place] for place in places], self._sessions)

    def _one_program(self, places: Iterable[int]) -> bool:
        """Return whether one program is what failed in two root sessions."""
        members = [self._named[place] for place in places]
        met = {(program(kept.excerpt.wrong), kept.root) for kept in members}
        return any(many > 1 for name, many in Counter(name for name, _ in met).items() if name)

    def _pools(self) -> list[_Pool]:
        by_name: dict[str, list[int]] = {}
        for place, kept in self._named.items():
            for name in kept.excerpt.names:
                by_name.setdefault(name, []).append(place)
        for wish, prefixes in BORNE_OUT.items():
            for name in [name for name in by_name if name.startswith(prefixes)]:
                if wish in by_name and name != wish and self._roots(by_name[name]) == 1:
                    by_name[wish] = sorted({*by_name[wish], *by_name[name]})
        found = []
        for name, places in sorted(by_name.items()):
            told = self._tell(name, places)
            if told is not None:
                found += [
                    _Pool(name, self._tell(name, some) or told, some)
                    for some in self._at_home(told, places)
                    if any(name in self._named[place].excerpt.names for place in some)
                ]
        return found

    def _tell(self, name: str, places: Iterable[int]) -> Told | None:
        return tell(name, [self._named[place].excerpt for place in places])

    def _at_home(self, told: Told, places: Sequence[int]) -> list[list[int]]:
        """Return the excerpts of each home that has enough root sessions, else all together."""
        homes: dict[str, list[int]] = {}
        for place in places:
            homes.setdefault(self._homes[self._named[place].root], []).append(place)
        if told.anywhere or len(homes) == 1:
            return [list(places)]
        enough = [some for _, some in sorted(homes.items()) if self._roots(some) >= told.roots]
        apart = self._roots(places) >= told.roots + SPREAD
        return enough or ([list(places)] if apart else [])

    def _roots(self, places: Iterable[int]) -> int:
        return len({self._named[place].root for place in places})

    def _parted(self, pools: Iterable[_Pool]) -> Iterator[Named]:
        """Give each excerpt to one name: the fewer sessions met it, the more it says.

        A name that is left with too little by that and is mostly what another has is another word
        for the same: what it has left joins the other as evidence.
        """
        ranked = sorted(pools, key=lambda p: (self._roots(p.places), -p.told.worth, p.name))
        taken: dict[int, int] = {}
        held: list[tuple[_Pool, list[int], list[int]]] = []
        for pool in ranked:
            if self.score(pool.told, pool.places) < ELIGIBLE:
                continue
            free = [place for place in pool.places if place not in taken]
            others = Counter(taken[place] for place in pool.places if place in taken)
            if self.score(pool.told, free) >= ELIGIBLE:
                taken |= dict.fromkeys(free, len(held))
                held.append((pool, free, []))
            elif 2 * others.total() >= len(pool.places):
                most = max(others, key=lambda number: (others[number], -number))
                taken |= dict.fromkeys(free, most)
                held[most][2].extend(free)
        for pool, own, joined in held:
            yield Named(pool.told, tuple(sorted([*own, *joined])), self.score(pool.told, own))

    def _one_each(self, groups: Iterable[Named]) -> Iterator[Named]:
        """Make one of those that tell the same rule, in the words of the surest.

        Rules that show one fix first and differ only in what it is for are the same.
        """
        by_rule: dict[tuple[str, ...], list[Named]] = {}
        for one in sorted(groups, key=lambda g: (-g.score, g.places)):
            spans = _SPAN.findall(one.told.rule)
            same = (spans[0], _SPAN.sub("`", one.told.rule)) if spans[1:] else (one.told.rule,)
            by_rule.setdefault(same, []).append(one)
        for several in by_rule.values():
            places = tuple(sorted(place for one in several for place in one.places))
            told = several[0].told
            kept = [self._named[place] for place in places]
            yield Named(
                told, places, max(several[0].score, score(told.worth, kept, self._sessions))
            )


def _where(members: Iterable[KeptExcerpt], homes: Mapping[str, str]) -> dict[str, str]:
    """Return the home of each root session: that of most of its excerpts."""
    found: dict[str, Counter[str]] = {}
    for kept in members:
        home = homes.get(kept.project, kept.project)
        found.setdefault(kept.root, Counter())[home] += 1
    return {root: min(many, key=lambda h: (-many[h], h)) for root, many in found.items()}


class Counts(msgspec.Struct, frozen=True):
    """How often, when and at what cost something was met."""

    roots: int
    days: int
    """Distinct days, UTC; 0 where no time is known."""
    lost: float
    """Calls between what went wrong and what worked, the most of each root session, on average."""
    said: int
    """Root sessions in which a person said it."""
    again: int
    """Root sessions in which it is the same text as in another: sent by a script, or pasted."""


def counts(members: Sequence[KeptExcerpt]) -> Counts:
    """Return the counts of some excerpts."""
    lost: dict[str, int] = {}
    for kept in members:
        lost[kept.root] = max(lost.get(kept.root, 0), kept.excerpt.cost)
    quoted = [(kept, quotation) for kept in members for quotation in kept.excerpt.quotations]
    said = {kept.root for kept, one in quoted if one.speaker is Speaker.HUMAN}
    words = {text for kept in members if (text := _spoken(kept))}
    return Counts(
        roots=len(lost),
        days=len({kept.excerpt.at // _DAY for kept in members if kept.excerpt.at > 0.0}),
        lost=sum(lost.values()) / len(lost),
        said=len(said),
        again=max(0, len({k.root for k in members if _spoken(k)}) - _distinct(sorted(words))),
    )


def score(worth: float, members: Sequence[KeptExcerpt], sessions: int) -> float:
    """Return how sure it is that a person would keep a name: what it is worth, and counts."""
    met = counts(members)
    own = met.roots - met.again
    if own < 2:
        return 0.0
    counted = (
        LEAST
        + DOUBLED[0] * min(DOUBLED[1], log2(own) - 1.0)
        + DAYS[0] * min(DAYS[1], log2(max(1, met.days)))
        + DETOUR[0] * min(DETOUR[1], met.lost)
        + PERSON * met.said / met.roots
        + MET[0] * min(MET[1], own / sessions)
    )
    return min(0.98, worth * counted * min(1.0, 2.0 * own / met.roots))


def _spoken(kept: KeptExcerpt) -> str:
    """Return the words that gave the excerpt, empty where it was no words that did."""
    if kept.excerpt.kind is SignalKind.ASSUMPTION:
        return kept.excerpt.remark
    return kept.excerpt.words if kept.excerpt.kind in _SPOKEN else ""


def _distinct(texts: Iterable[str]) -> int:
    """Return how many of these texts have no run of words in common with one before."""
    seen: set[tuple[str, ...]] = set()
    own = 0
    for text in texts:
        words = re.findall(r"[\w'#]+", _NAMES.sub("#", text.lower()))
        runs = {tuple(words[at : at + RUN]) for at in range(max(1, len(words) - RUN + 1))}
        own += seen.isdisjoint(runs)
        seen |= runs
    return own
