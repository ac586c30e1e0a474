"""A group: what several sessions ran into, scored and worded."""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence
from typing import Final

import msgspec

from dreaming.aggregation import wording
from dreaming.aggregation.flags import flags
from dreaming.aggregation.joining import Joined
from dreaming.aggregation.named import counts
from dreaming.aggregation.places import order
from dreaming.aggregation.profile import Profile
from dreaming.aggregation.scoring import ELIGIBLE
from dreaming.aggregation.terms import Shared, shared
from dreaming.aggregation.vocabulary import Vocabulary
from dreaming.models.candidate import Flag
from dreaming.models.finding import Excerpt, Finding, KeptExcerpt
from dreaming.motifs import Told
from dreaming.similarity import telling

ALIKE: Final = 0.6
"""Two groups say the same where they share this part of their rules' code and of their sessions."""
ALIKE_TOKENS: Final = 3
"""Less code than this in a rule tells nothing."""
UNSAID: Final = "Look at the evidence before doing this again."
"""Stands in for the rule of a group that nothing sensible can be said of; it is held back."""


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
    shared: str
    """What its excerpts share, in plain words."""
    eligible: bool
    """Sure enough to wait for a person."""

    @property
    def roots(self) -> tuple[str, ...]:
        """The distinct root sessions, sorted."""
        return tuple(sorted({kept.root for kept in self.excerpts}))

    @property
    def why(self) -> str:
        """Why it is proposed, in plain words: from counts alone."""
        met = counts(self.excerpts)
        days = f" on {met.days} days" if met.days > 1 else ""
        said = [f"{met.roots} {'sessions' if met.roots > 1 else 'session'}{days} met this"]
        if met.lost >= 2.0:
            said.append(f"each lost about {met.lost:.0f} calls")
        if met.said:
            said.append(f"a person had to say it in {met.said}")
        return "; ".join([*said, self.shared] if self.shared else said)

    def says(self, other: Group) -> bool:
        """Return whether another group says the same: one rule, or mostly its code and sessions."""
        if self.rule == other.rule:
            return True
        one, two = (_code(group.rule) for group in (self, other))
        least = min(len(one), len(two))
        together = len({*self.roots} & {*other.roots})
        return (
            least >= ALIKE_TOKENS
            and len(one & two) >= ALIKE * least
            and together >= ALIKE * min(len(self.roots), len(other.roots))
        )

    def and_also(self, other: Group) -> Group:
        """Return this group with the evidence of another that says the same."""
        excerpts = {kept.id: kept for kept in (*self.excerpts, *other.excerpts)}
        ordered = tuple(sorted(excerpts.values(), key=order))
        return msgspec.structs.replace(
            self,
            excerpts=ordered,
            findings=(*self.findings, *other.findings),
            flags=flags([kept.excerpt for kept in ordered], self.rule),
        )

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


class Judged(msgspec.Struct, frozen=True):
    """What is to be said of the members of a group before anything is worded."""

    common: Shared
    said: tuple[Joined, ...]
    score: float

    @property
    def eligible(self) -> bool:
        """Sure enough to wait for a person."""
        return self.score >= ELIGIBLE and self.common.roots >= 2

    @property
    def model(self) -> Joined | None:
        """What most models said."""
        return _most(self.said)


def judge(
    members: Sequence[Profile], vocabulary: Vocabulary, score: float, joined: Sequence[Joined]
) -> Judged:
    """Return how sure a group is; what several sessions' models said makes it surer."""
    common = shared(members, vocabulary)
    ids = {member.kept.id for member in members}
    said = tuple(one for one in joined if ids & set(one.excerpts))
    judged = Judged(common, said, score)
    if judged.model is not None and len(judged.model.sessions) >= 2:
        return msgspec.structs.replace(judged, score=0.5 + judged.score / 2)
    return judged


def worded(members: Sequence[Profile], judged: Judged, topics: Sequence[str]) -> Group:
    """Return a group in its words: those of a model where there are some."""
    words = _words(members, judged.common, topics)
    kept = [member.kept for member in members]
    named = ", ".join(list(judged.common.key)[:3])
    return _group(
        kept,
        words if words.rule else msgspec.structs.replace(words, rule=UNSAID),
        judged.said,
        score=judged.score,
        shared=f"they share: {named}" if named else "",
        eligible=judged.eligible and bool(words.rule or judged.model),
    )


def told(
    members: Sequence[KeptExcerpt],
    what: Told,
    score: float,
    said: Sequence[Joined],
    topics: Sequence[str],
) -> Group:
    """Return a group of excerpts with one name, in the words of the name.

    What a model said of it is preferred where it saw it in several sessions.
    """
    topic = next((one for one in topics if one in what.slug.split("-")), what.topic)
    words = wording.Words(what.symptom, what.rule, what.slug, topic)
    several = [one for one in said if len(one.sessions) >= 2]
    shared = f"each time the same: {what.slug}"
    return _group(members, words, several, score=score, shared=shared, eligible=True)


def _group(
    members: Sequence[KeptExcerpt],
    words: wording.Words,
    said: Sequence[Joined],
    *,
    score: float,
    shared: str,
    eligible: bool,
) -> Group:
    model = _most(said)
    if model is not None:
        words = wording.Words(model.symptom, model.rule, model.slug, model.topic)
    return Group(
        excerpts=tuple(members),
        findings=tuple(finding for one in said for finding in one.findings),
        score=round(score, 4),
        symptom=words.symptom,
        rule=words.rule,
        slug=words.slug,
        topic=words.topic,
        flags=flags([kept.excerpt for kept in members], words.rule),
        backend=model.backend if model is not None else "offline",
        shared=shared,
        eligible=eligible,
    )


def _most(said: Sequence[Joined]) -> Joined | None:
    """Return what most models said."""
    return max(said, key=lambda one: (len(one.sessions), one.rule), default=None)


def _words(members: Sequence[Profile], common: Shared, topics: Sequence[str]) -> wording.Words:
    excerpts = [member.excerpt for member in members]
    weights = wording.weights(common.key, common.added, common.said)
    return wording.Words(
        symptom=wording.symptom(excerpts, weights),
        rule=wording.rule(excerpts, weights),
        slug=wording.slug(weights),
        topic=wording.topic(excerpts, weights, topics),
    )


def _code(rule: str) -> frozenset[str]:
    """Return the telling tokens of the code in a rule."""
    return frozenset(telling(" ".join(re.findall(r"`([^`]*)`", rule))))
