"""``pending/``, the ledger and the state brought to agreement, and what a candidate was, kept.

The ledger says what was decided; what waits is what it does not hold back. What a candidate was is
remembered before a decision about it, so that undoing one can put it back.
"""

from __future__ import annotations

from collections.abc import Sequence

from dreaming.jobs import past
from dreaming.jobs.desk import Desk
from dreaming.jobs.past import Past
from dreaming.models.candidate import Candidate
from dreaming.models.decision import Decision
from dreaming.stores.ledger import Head


def check_ledger(desk: Desk) -> None:
    """Stop where confirmed lines are gone, then set a line aside that never was confirmed."""
    kept = desk.state.get(f"head {desk.ledger.path.name}")
    if kept is not None:
        desk.ledger.check_head(Head.parse(kept))
    if desk.ledger.set_torn_tail_aside(desk.torn):
        desk.notes.append(
            f"The ledger ended in half a line, which was never confirmed. It is in {desk.torn}."
        )
    for name, head in desk.ledger.heads().items():
        seen = desk.state.get(f"head {name}")
        if seen is None or Head.parse(seen).lines < head.lines:
            desk.state.put(f"head {name}", str(head))


def agree(desk: Desk, before: Past) -> None:
    """Bring ``pending/`` to what the ledger says."""
    by_candidate = before.by_candidate()
    for id_ in desk.pending.ids():
        if id_ in by_candidate and holding(desk, before, desk.pending.get(id_)):
            desk.pending.remove(id_)
    restore(desk, before, [before.every[name] for name in before.void if name in before.every])


def restore(desk: Desk, after: Past, undone: Sequence[Decision]) -> None:
    """Put candidates back whose decisions were undone, as they were when these were made."""
    for one in undone:
        kept = desk.state.kept_of(one.name)
        if one.name not in after.void or kept is None or kept.candidate != one.candidate:
            continue
        candidate = Candidate.model_validate_json(kept.body)
        clean = desk.redactor.is_clean([candidate.symptom, candidate.rule])
        waits = candidate.id in desk.pending.ids()
        if clean and not waits and holding(desk, after, candidate) is None:
            desk.pending.put(candidate)
        desk.state.drop_kept(one.name)


def holding(desk: Desk, before: Past, candidate: Candidate) -> Decision | None:
    """Return the decision that holds for a candidate today, under any id it had."""
    by_candidate = before.by_candidate()
    excerpts = past.size(desk.state.members(candidate.id), candidate.session_ids)
    for id_ in (candidate.id, *candidate.formerly):
        one = by_candidate.get(id_)
        if one is not None and not past.gives_way(
            one, desk.state.kept_of(one.name), excerpts, candidate.session_ids, desk.today
        ):
            return one
    return None


def keep(desk: Desk, candidate: Candidate, name: str = "") -> None:
    """Remember what a candidate is, for the decision that comes next or one named."""
    kept = past.kept(candidate, desk.state.members(candidate.id))
    desk.state.keep(name or desk.ledger.next_name(), kept)


def keep_again(desk: Desk, origin: Decision | None) -> None:
    """Carry over to the next decision what was remembered with the lesson's first."""
    kept = desk.state.kept_of(origin.name) if origin is not None else None
    if kept is not None:
        desk.state.keep(desk.ledger.next_name(), kept)
