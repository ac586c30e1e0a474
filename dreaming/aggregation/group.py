"""A group: what several sessions ran into, scored and worded."""

from __future__ import annotations

from collections.abc import Callable, Sequence

import msgspec

from dreaming.aggregation import wording
from dreaming.aggregation.flags import flags
from dreaming.aggregation.joining import Joined
from dreaming.aggregation.profile import Profile
from dreaming.aggregation.scoring import ELIGIBLE
from dreaming.aggregation.terms import Shared, shared
from dreaming.aggregation.vocabulary import Vocabulary
from dreaming.models.candidate import Flag
from dreaming.models.finding import Excerpt, Finding, KeptExcerpt


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
        return max(self.said, key=lambda one: (len(one.sessions), one.rule), default=None)


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
    words, model = _words(members, judged.common, topics), judged.model
    if model is not None:
        words = msgspec.structs.replace(
            words, symptom=model.symptom, rule=model.rule, slug=model.slug, topic=model.topic
        )
    return Group(
        excerpts=tuple(member.kept for member in members),
        findings=tuple(finding for one in judged.said for finding in one.findings),
        score=round(judged.score, 4),
        symptom=words.symptom,
        rule=words.rule,
        slug=words.slug,
        topic=words.topic,
        flags=flags([member.excerpt for member in members], words.rule),
        backend=model.backend if model is not None else "offline",
        why=_why(members, judged.common),
        eligible=judged.eligible,
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
