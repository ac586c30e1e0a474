"""From everything the state holds to what waits in ``pending/``.

Grouping looks at all nights each time, so that it makes no difference on which night a piece of
evidence came. What waits stays while it still stands; the rest is topped up, best first.
"""

from __future__ import annotations

from collections.abc import Sequence

import msgspec

from dreaming.aggregation import Group, Grouping, order
from dreaming.errors import Unusable
from dreaming.known import NEAR, SURE, Known
from dreaming.lessons import rule_hash
from dreaming.models.candidate import Candidate, Flag, when
from dreaming.models.report import Queue
from dreaming.stores.history import History
from dreaming.stores.pending import Pending
from dreaming.stores.state import State


class Decided(msgspec.Struct, frozen=True):
    """What people decided before."""

    candidates: frozenset[str] = frozenset()
    rules: frozenset[str] = frozenset()
    """Hashes of normalised rules."""
    texts: tuple[str, ...] = ()


class Standing(msgspec.Struct):
    """The groups of tonight, sorted by what they are."""

    eligible: list[tuple[Group, Candidate]] = msgspec.field(default_factory=list)
    known: list[tuple[Group, str]] = msgspec.field(default_factory=list)
    """With the line that says it already."""
    decided: list[Group] = msgspec.field(default_factory=list)
    seen_once: list[Group] = msgspec.field(default_factory=list)


def survey(
    state: State,
    history: History,
    known: Known,
    decided: Decided,
    *,
    backend: str | None = None,
    topics: Sequence[str] = (),
) -> Standing:
    """Group everything and say what may be proposed, what is known, decided, or seen once."""
    grouping = Grouping(
        history.excerpts(), history.findings(backend), history.frequencies(), topics=topics
    )
    published = state.published()
    answered = _excerpts_of(published, decided.candidates)
    standing = Standing()
    taken: set[str] = set()
    for group in grouping.groups(eligible=True):
        candidate = _candidate(group, published)
        said = known.match(group.texts(), group.deeds())
        if _is_decided(group, candidate, decided, answered):
            standing.decided.append(group)
        elif said is not None and said[1] >= SURE:
            standing.known.append((group, said[0]))
        elif candidate.id not in taken:
            taken.add(candidate.id)
            if said is not None and said[1] >= NEAR:
                flags = tuple(dict.fromkeys((*candidate.flags, Flag.NEAR_KNOWN)))
                candidate = candidate.model_copy(update={"flags": flags})
            standing.eligible.append((group, candidate))
    standing.seen_once = grouping.singles(grouping.grouped())
    return standing


def queue(
    state: State, pending: Pending, standing: Standing, *, max_pending: int, now: float
) -> Queue:
    """Bring ``pending/`` to what stands: topped up to ``max_pending``, best first.

    Writes only what differs. What no longer stands is taken out.
    """
    pending.sweep()
    waiting = {one.id: one for one in pending.all()}
    formerly = {old: one.id for _, one in standing.eligible for old in one.formerly}
    stays = {formerly.get(id_, id_) for id_ in waiting}
    ranked = sorted(standing.eligible, key=lambda pair: pair[1].id not in stays)
    chosen = ranked[:max_pending]
    state.publish(((one.id, [kept.id for kept in group.excerpts]) for group, one in chosen), now)
    result = Queue(
        held_back=len(ranked) - len(chosen),
        known=len(standing.known),
        decided=len(standing.decided),
        seen_once=len(standing.seen_once),
        waiting=len(chosen),
    )
    for _, candidate in chosen:
        is_new = candidate.id not in waiting
        if pending.put(candidate):
            result.new += is_new
            result.updated += not is_new
    for id_ in sorted(set(waiting) - {one.id for _, one in chosen}):
        pending.remove(id_)
        result.removed += 1
    return result


def _candidate(group: Group, published: dict[str, tuple[str, ...]]) -> Candidate:
    first = min(group.excerpts, key=order)
    times = [kept.excerpt.at for kept in group.excerpts if kept.excerpt.at > 0]
    roots = sorted({kept.root for kept in group.excerpts})
    if len(roots) < 2:
        raise Unusable(f"A group of {len(roots)} session reached the queue; the floor is two.")
    return Candidate(
        id=first.id,
        formerly=tuple(
            sorted(
                kept.id for kept in group.excerpts if kept.id in published and kept.id != first.id
            )
        ),
        slug=group.slug,
        topic=group.topic,
        symptom=group.symptom,
        rule=group.rule,
        session_ids=tuple(roots),
        sessions=len(roots),
        agents=tuple(sorted({kept.agent for kept in group.excerpts})),
        projects=tuple(sorted({kept.project for kept in group.excerpts})),
        first_seen=when(min(times, default=0.0)),
        last_seen=when(max(times, default=0.0)),
        score=round(group.score, 4),
        backend=group.backend,
        flags=group.flags,
    )


def _excerpts_of(
    published: dict[str, tuple[str, ...]], candidates: frozenset[str]
) -> dict[str, int]:
    """The excerpts that decided candidates were made of, with the size of that candidate."""
    return {
        member: len(published[candidate])
        for candidate in sorted(candidates & published.keys())
        for member in published[candidate]
    }


def _is_decided(
    group: Group, candidate: Candidate, decided: Decided, answered: dict[str, int]
) -> bool:
    """Whether this group, under any id or wording it had, was decided before.

    It was where its own or a former id was, where its rule was, or where most of what it is made
    of is what a decided candidate was made of.
    """
    ids = {kept.id for kept in group.excerpts}
    if ids & decided.candidates or rule_hash(candidate.rule) in decided.rules:
        return True
    shared = [answered[id_] for id_ in ids if id_ in answered]
    return bool(shared) and 2 * len(shared) >= min(max(shared), len(ids))
