"""Excerpts and findings of all nights become groups: one gotcha, two root sessions at least.

Everything here is a function of its arguments: the order of the excerpts, hash seeds and clocks
change nothing.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Final

import msgspec

from dreaming.aggregation import scoring, wording
from dreaming.aggregation.flags import flags
from dreaming.aggregation.joining import Joined, join
from dreaming.aggregation.linkage import groups
from dreaming.aggregation.pairs import likeness
from dreaming.aggregation.profile import Frequencies, Profile, Rarities, profiles
from dreaming.aggregation.scoring import ELIGIBLE
from dreaming.aggregation.terms import Shared, shared
from dreaming.models.candidate import Flag
from dreaming.models.finding import Excerpt, Finding, KeptExcerpt

__all__ = ["ELIGIBLE", "Frequencies", "Group", "aggregate", "distinct", "order", "singles"]

LEAST_ALIKE: Final = 0.25
"""Groups join as long as their members are on average this sure to show one gotcha."""
SINGLES: Final = 50
"""How many groups of one root session are worth showing."""


class Group(msgspec.Struct, frozen=True):
    """What several sessions ran into, worded."""

    excerpts: tuple[KeptExcerpt, ...]
    """Oldest first."""
    findings: tuple[Finding, ...]
    """What models said about them."""
    score: float
    """How sure it is that a person would keep this, 0 to 1."""
    symptom: str
    rule: str
    slug: str
    topic: str
    flags: tuple[Flag, ...]
    backend: str
    """Whose words these are."""
    why: str
    """Why it is proposed, in plain words."""
    eligible: bool
    """Sure enough to wait for a person."""

    @property
    def roots(self) -> tuple[str, ...]:
        """The distinct root sessions, sorted."""
        return tuple(sorted({kept.root for kept in self.excerpts}))

    def texts(self) -> list[str]:
        """Return what each root session says of it, one text a root, for ``known``."""
        return self._told(
            lambda e: (e.words, e.remark, " ".join(e.added), e.error, e.wrong, e.right)
        )

    def deeds(self) -> list[str]:
        """Return what each root session did or was told to do, one text a root, for ``known``."""
        return self._told(lambda e: (e.words, e.remark, " ".join(e.added), " ".join(e.removed)))

    def _told(self, parts: Callable[[Excerpt], tuple[str, ...]]) -> list[str]:
        told: dict[str, list[str]] = {}
        for kept in self.excerpts:
            told.setdefault(kept.root, []).extend(parts(kept.excerpt))
        return ["\n".join(texts) for _, texts in sorted(told.items())]


def order(kept: KeptExcerpt) -> tuple[float, str, int, str]:
    """Return the key that sorts excerpts from the oldest; unknown times come last."""
    at = kept.excerpt.at if kept.excerpt.at > 0.0 else float("inf")
    return at, kept.native_id, kept.excerpt.line, kept.id


def distinct(excerpts: Sequence[KeptExcerpt]) -> tuple[list[KeptExcerpt], dict[str, str]]:
    """Return the excerpts without a fork's copies, oldest first, and which id stands for which."""
    ranked = sorted(excerpts, key=lambda k: (k.native_id, k.excerpt.line, k.id))
    first: dict[tuple[str, str, str], KeptExcerpt] = {}
    stands_for: dict[str, str] = {}
    kept_ones: list[KeptExcerpt] = []
    for kept in ranked:
        key = (kept.root, kept.excerpt.record, kept.excerpt.kind.value)
        if kept.excerpt.record and key in first:
            stands_for[kept.id] = first[key].id
            continue
        if kept.excerpt.record:
            first[key] = kept
        stands_for[kept.id] = kept.id
        kept_ones.append(kept)
    return sorted(kept_ones, key=order), stands_for


def aggregate(
    excerpts: Sequence[KeptExcerpt],
    findings: Sequence[Finding],
    frequencies: Frequencies,
    *,
    topics: Sequence[str] = (),
) -> list[Group]:
    """Return the groups of two or more root sessions, best first.

    Findings of models name excerpts by id: what they join stays joined, and their words are
    preferred. All other groups are found by likeness and worded by templates.
    """
    kept_ones, stands_for = distinct(excerpts)
    joined = join(findings, stands_for)
    known, rarities = profiles(kept_ones, frequencies)
    alike = likeness(known, rarities)
    places = {kept.id: place for place, kept in enumerate(kept_ones)}
    for one in joined:
        together = sorted(places[i] for i in one.excerpts if i in places)
        alike.update({(a, b): 1.0 for n, a in enumerate(together) for b in together[n + 1 :]})
    found: list[Group] = []
    for members in groups(len(known), alike, LEAST_ALIKE):
        if len({kept_ones[place].root for place in members}) >= 2:
            found.append(_group(members, known, rarities, alike, joined, topics))
    return sorted(found, key=lambda group: (-group.score, order(group.excerpts[0])))


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
    kept_ones, stands_for = distinct([kept for kept in excerpts if kept.id not in taken])
    strongest = sorted(kept_ones, key=lambda k: (-k.excerpt.strength, order(k)))[:SINGLES]
    known, rarities = profiles(strongest, frequencies)
    joined = join(findings, stands_for)
    return [_group([place], known, rarities, {}, joined, topics) for place in range(len(known))]


def _group(
    places: Sequence[int],
    known: Sequence[Profile],
    rarities: Rarities,
    alike: Mapping[tuple[int, int], float],
    joined: Sequence[Joined],
    topics: Sequence[str],
) -> Group:
    members = [known[place] for place in places]
    common = shared(members, rarities)
    ids = {member.kept.id for member in members}
    said = [one for one in joined if ids & set(one.excerpts)]
    model = max(said, key=lambda one: (len(one.sessions), one.rule), default=None)
    score = scoring.score(members, common, scoring.coherence(places, alike))
    if model is not None and len(model.sessions) >= 2:
        score = 0.5 + score / 2
    words = _words(members, common, topics)
    if model is not None:
        words = msgspec.structs.replace(
            words, symptom=model.symptom, rule=model.rule, slug=model.slug, topic=model.topic
        )
    return Group(
        excerpts=tuple(member.kept for member in members),
        findings=tuple(finding for one in said for finding in one.findings),
        score=round(score, 4),
        symptom=words.symptom,
        rule=words.rule,
        slug=words.slug,
        topic=words.topic,
        flags=flags([member.excerpt for member in members], words.rule),
        backend=model.backend if model is not None else "offline",
        why=_why(members, common),
        eligible=score >= ELIGIBLE and common.roots >= 2,
    )


def _words(members: Sequence[Profile], common: Shared, topics: Sequence[str]) -> wording.Words:
    excerpts = [member.excerpt for member in members]
    weights = wording.weights(common.key, common.added, common.said)
    return wording.Words(
        symptom=wording.symptom(excerpts, weights),
        rule=wording.rule(excerpts, weights),
        slug=wording.slug(weights),
        topic=wording.topic(excerpts, weights, topics),
    )


def _why(members: Sequence[Profile], common: Shared) -> str:
    """Return why these excerpts stand together, in plain words."""
    counts: dict[str, int] = {}
    for member in members:
        kind = member.excerpt.kind.value
        counts[kind] = counts.get(kind, 0) + 1
    kinds = ", ".join(f"{count} {kind}" for kind, count in sorted(counts.items()))
    names = ", ".join(list(common.key)[:3])
    told = f"; they share: {names}" if names else ""
    return f"seen in {common.roots} sessions ({kinds}){told}"
