"""From everything the state holds to what waits in ``pending/``.

Grouping looks at all nights each time, so that it makes no difference on which night a piece of
evidence came. What waits stays while it still stands; the rest is topped up, best first.
"""

from __future__ import annotations

from collections.abc import Sequence
from datetime import date
from typing import Final

import msgspec

from dreaming.aggregation import Group, Grouping, order
from dreaming.errors import Unusable
from dreaming.jobs.past import gives_way, size
from dreaming.known import NEAR, SURE, Known
from dreaming.lessons import rule_hash
from dreaming.models.candidate import Candidate, Flag, when
from dreaming.models.decision import Action, Decision, Words
from dreaming.models.report import Queue
from dreaming.stores.history import History
from dreaming.stores.interface import Kept
from dreaming.stores.pending import Pending
from dreaming.stores.projects import home
from dreaming.stores.state import State

_ASIDE: Final = (Action.REJECT, Action.LATER, Action.MERGE, Action.RETIRE)


class Decided(msgspec.Struct, frozen=True):
    """The decisions that stand, by what a group may share with one."""

    candidates: dict[str, Decision] = {}
    rules: dict[str, Decision] = {}
    """By the hash of the normalised rule."""
    texts: dict[str, Decision] = {}
    """By the line as written, or the rule that was turned down, put off or merged."""

    words: Words = Words()

    def set_aside(self, text: str) -> Decision | None:
        """Return the decision that kept these words out of the knowledge base."""
        found = self.texts.get(text)
        return found if found is not None and found.action in _ASIDE else None


class Standing(msgspec.Struct):
    """The groups of tonight, sorted by what they are."""

    eligible: list[tuple[Group, Candidate]] = msgspec.field(default_factory=list)
    known: list[tuple[Group, str]] = msgspec.field(default_factory=list)
    """With the line that says it already."""
    decided: list[Group] = msgspec.field(default_factory=list)
    seen_once: list[Group] = msgspec.field(default_factory=list)
    memory: bytes = b""
    """What spares the next grouping most of its work."""


def survey(
    state: State,
    history: History,
    known: Known,
    decided: Decided,
    *,
    today: date,
    topics: Sequence[str] = (),
) -> Standing:
    """Group everything and say what may be proposed, what is known, decided, or seen once.

    ``today`` decides whether what was put off to a day comes back.
    """
    grouping = Grouping(
        history.excerpts(),
        history.findings(),
        history.frequencies(),
        topics=topics,
        homes={id_: home(project.identity) for id_, project in state.projects().items()},
        remembered=state.memory(),
    )
    published = state.published()
    judge = _Judge(decided, state.kept(), _made_of(published, decided), today)
    standing = Standing()
    merged: list[tuple[Group, Candidate, Decision]] = []
    taken: set[str] = set()
    for group in grouping.groups(eligible=True):
        candidate = _candidate(group, published)
        said = known.match(group.texts(), group.deeds())
        decision = judge.of(group, candidate, said)
        if decision is not None and decision.action is Action.MERGE and not decision.lesson:
            merged.append((group, candidate, decision))
        elif decision is not None:
            standing.decided.append(group)
        elif said is not None and said[1] >= SURE and not decided.set_aside(said[0]):
            standing.known.append((group, said[0]))
        elif candidate.id not in taken:
            taken.add(candidate.id)
            if said is not None and said[1] >= NEAR:
                flags = tuple(dict.fromkeys((*candidate.flags, Flag.NEAR_KNOWN)))
                candidate = candidate.model_copy(update={"flags": flags})
            standing.eligible.append((group, candidate))
    _join(standing, merged, decided)
    standing.seen_once = grouping.singles(grouping.grouped())
    standing.memory = grouping.memory()
    return standing


class _Judge(msgspec.Struct, frozen=True):
    """Finds the decision that keeps a group away, under any id or wording it had."""

    decided: Decided
    kept: dict[str, Kept]
    made_of: dict[str, list[tuple[str, int]]]
    """By excerpt, the decided candidates it was part of, each with its size."""
    today: date

    def of(
        self, group: Group, candidate: Candidate, said: tuple[str, float] | None
    ) -> Decision | None:
        """Return a decision that holds for this group today, ``None`` where none does.

        One is about it where its own or a former id was decided, its rule, nearly its words, or
        most of what it is made of.
        """
        ids = {kept.id for kept in group.excerpts}
        named = [self.decided.candidates[id_] for id_ in sorted(ids & set(self.decided.candidates))]
        worded = [self.decided.rules.get(rule_hash(candidate.rule))]
        if said is not None and said[1] >= SURE:
            worded.append(self.decided.set_aside(said[0]))
        for one in [*named, *worded]:
            if one is not None and self._holds(one, candidate, ids):
                return one
        return self._mostly(candidate, ids)

    def _mostly(self, candidate: Candidate, ids: set[str]) -> Decision | None:
        """The largest decided candidate it is made of, where those that hold are most of it."""
        sizes = {id_: size for one in ids for id_, size in self.made_of.get(one, ())}
        holding = {
            id_ for id_ in sizes if self._holds(self.decided.candidates[id_], candidate, ids)
        }
        if not holding:
            return None
        shared = sum(any(id_ in holding for id_, _ in self.made_of.get(one, ())) for one in ids)
        largest = max(holding, key=lambda id_: (sizes[id_], id_))
        if 2 * shared < min(sizes[largest], len(ids)):
            return None
        return self.decided.candidates[largest]

    def _holds(self, decision: Decision, candidate: Candidate, ids: set[str]) -> bool:
        before = self.kept.get(decision.name)
        excerpts = size(ids, candidate.session_ids)
        return not gives_way(decision, before, excerpts, candidate.session_ids, self.today)


def _made_of(
    published: dict[str, tuple[str, ...]], decided: Decided
) -> dict[str, list[tuple[str, int]]]:
    found: dict[str, list[tuple[str, int]]] = {}
    for id_ in sorted(published.keys() & decided.candidates.keys()):
        for member in published[id_]:
            found.setdefault(member, []).append((id_, len(published[id_])))
    return found


def _join(
    standing: Standing, merged: Sequence[tuple[Group, Candidate, Decision]], decided: Decided
) -> None:
    """Count what was merged towards the candidate it was merged into, where that still stands."""
    for group, candidate, decision in merged:
        place = next(
            (
                number
                for number, (_, one) in enumerate(standing.eligible)
                if decision.target in (one.id, *one.formerly)
            ),
            None,
        )
        if place is not None:
            target, one = standing.eligible[place]
            standing.eligible[place] = (target, _both(one, candidate))
            standing.decided.append(group)
        elif decision.target in decided.candidates:
            standing.decided.append(group)
        else:
            standing.eligible.append((group, candidate))


def _both(one: Candidate, merged: Candidate) -> Candidate:
    """A candidate with the sessions of another that a person merged into it."""
    roots = tuple(sorted({*one.session_ids, *merged.session_ids}))
    days = [day for day in (one.first_seen, merged.first_seen) if day]
    latest = [day for day in (one.last_seen, merged.last_seen) if day]
    return one.model_copy(
        update={
            "session_ids": roots,
            "sessions": len(roots),
            "agents": tuple(sorted({*one.agents, *merged.agents})),
            "projects": tuple(sorted({*one.projects, *merged.projects})),
            "first_seen": min(days, default=None),
            "last_seen": max(latest, default=None),
        }
    )


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
    ranked = sorted(
        standing.eligible, key=lambda p: (Flag.MAYBE_FIXED in p[1].flags, p[1].id not in stays)
    )
    chosen = ranked[:max_pending]
    state.remember(standing.memory)
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
