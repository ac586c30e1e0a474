"""A person's decisions. The only holder of the pen.

A decision that changes the knowledge base is three durable steps: *intent* in the ledger, the line
in its file, *done* in the ledger. Every other is one line of the ledger. The first of these lines
is the commit point: once it is on disk the decision is made, because it alone says everything that
is needed to finish. What a crash left open is rolled forward by the next decision, and by nobody
else; the night does not.

What a candidate was is remembered in the state *before* that line, and it leaves ``pending/``
*after* it, so that a decision that was not made has changed nothing and one that was made can be
undone.
"""

from __future__ import annotations

import contextlib
from collections.abc import Iterator, Sequence
from datetime import date
from pathlib import Path
from typing import Final

import msgspec

from dreaming.errors import AlreadyKnown, Refused, Unusable, WrongUse
from dreaming.jobs import nearby, past
from dreaming.jobs.agreement import agree, check_ledger, keep, keep_again, restore
from dreaming.jobs.desk import (
    AGENT_VARIABLES,
    Desk,
    NearlyKnown,
    Neighbour,
    Undone,
    Written,
    refuse_agents,
    writer_name,
)
from dreaming.jobs.meant import already, find, lesson_line, lessons, merge_target, to_undo
from dreaming.jobs.past import Past
from dreaming.jobs.queueing import Decided
from dreaming.lessons import format_line, lesson_id, parse_line, refusal, rule_hash, same_key, tidy
from dreaming.models.candidate import Candidate
from dreaming.models.decision import REDACTION, Action, Decision, Phase
from dreaming.stores import files, knowledge_reader, knowledge_writer
from dreaming.stores.ledger import Head, Ledger

__all__ = [
    "AGENT_VARIABLES",
    "Desk",
    "NearlyKnown",
    "Neighbour",
    "Undone",
    "Written",
    "about_hit",
    "accept",
    "accept_own",
    "decided",
    "last",
    "later",
    "mend",
    "merge",
    "neighbours",
    "put_off",
    "refuse_agents",
    "reject",
    "retire",
    "supersede",
    "undo",
    "undo_group",
    "writer_name",
]

_TRIES: Final = 3
"""How often a topic that a person keeps changing is written anew, before the next decision does."""


class _Wording(msgspec.Struct, frozen=True):
    """What a lesson is going to say, and where."""

    topic: str
    symptom: str
    rule: str


# -- decisions about candidates -------------------------------------------------------------------


def accept(
    desk: Desk,
    wanted: str,
    *,
    topic: str = "",
    symptom: str = "",
    rule: str = "",
    force: str = "",
    dry_run: bool = False,
) -> Written:
    """Make a waiting candidate a line of the knowledge base, in its words or in these.

    ``wanted`` is its id or the unambiguous beginning of it. ``force`` is the reason for writing it
    although a line is near. Raises ``WrongUse`` where there is no such candidate, ``AlreadyKnown``
    where the knowledge base says it, ``NearlyKnown`` where it nearly does, and ``Refused`` where
    its text must not be written; nothing is written then.
    """
    with _deciding(desk, dry_run) as before:
        candidate = find(desk, before, wanted)
        wording = _Wording(
            topic or candidate.topic,
            tidy(symptom or candidate.symptom),
            tidy(rule or candidate.rule),
        )
        return _add(desk, before, wording, candidate, force, dry_run)


def accept_own(
    desk: Desk, topic: str, symptom: str, rule: str, *, force: str = "", dry_run: bool = False
) -> Written:
    """Make a lesson of one's own a line of the knowledge base. Raises as ``accept`` does."""
    with _deciding(desk, dry_run) as before:
        wording = _Wording(topic, tidy(symptom), tidy(rule))
        return _add(desk, before, wording, None, force, dry_run)


def reject(desk: Desk, wanted: str, why: str) -> Candidate:
    """Turn a waiting candidate down.

    It comes back only when its evidence has at least doubled and a new session joined. Raises
    ``WrongUse`` where there is no such candidate, ``Refused`` where ``why`` must not be kept.
    """
    _check_reason(desk, why)
    return _set_aside(desk, wanted, Action.REJECT, why=why)


def later(desk: Desk, wanted: str, *, until: date | None = None, sessions: int = 0) -> Candidate:
    """Put a waiting candidate off until a day, or until that many new sessions show it.

    Raises ``WrongUse`` where there is no such candidate, and where not exactly one is said.
    """
    if (until is None) == (sessions < 1):
        raise WrongUse("Say until which day, or until how many new sessions.")
    if until is not None and until <= desk.today:
        raise WrongUse(f"{until} has come already; name a later day.")
    return _set_aside(desk, wanted, Action.LATER, until=str(until or sessions))


def merge(desk: Desk, wanted: str, target: str) -> Candidate:
    """Take a waiting candidate as the same as another that waits, or as a lesson there is.

    What is seen of it from now on counts towards that one. Raises ``WrongUse`` where ``wanted`` or
    ``target`` names nothing, or more than one.
    """
    with _deciding(desk) as before:
        candidate = find(desk, before, wanted)
        into, lesson = merge_target(desk, candidate, target)
        return _put_aside(desk, candidate, Action.MERGE, target=into, lesson=lesson)


# -- decisions about lessons ----------------------------------------------------------------------


def retire(desk: Desk, lesson: str, why: str, dry_run: bool = False) -> Written:
    """Take a lesson's line out of the knowledge base; the ledger keeps it.

    Raises ``WrongUse`` where no line, or more than one, has that id.
    """
    _check_reason(desk, why)
    with _deciding(desk, dry_run) as before:
        line = lesson_line(desk, lesson)
        assert line.lesson is not None
        origin = before.by_lesson().get(line.lesson.id)
        change = knowledge_writer.plan(desk.knowledge_base, line.path.stem, "", line.text)
        name = ""
        if not dry_run:
            keep_again(desk, origin)
            name = _carry_out(
                desk, Action.RETIRE, change,
                candidate=origin.candidate if origin else "", rule_hash=rule_hash(line.lesson.rule),
                lesson=line.lesson.id, topic=line.path.stem, was=line.text, why=why,
            )  # fmt: skip
        return _written(desk, change, "", line.lesson.id, was=line.text, decision=name)


def supersede(desk: Desk, lesson: str, symptom: str, rule: str, dry_run: bool = False) -> Written:
    """Put another wording in the place of a lesson's line; the ledger keeps the old one.

    Raises ``WrongUse`` where no line, or more than one, has that id, ``AlreadyKnown`` where another
    line says it, and ``Refused`` where the text must not be written.
    """
    with _deciding(desk, dry_run) as before:
        line = lesson_line(desk, lesson)
        assert line.lesson is not None
        wording = _Wording(line.path.stem, tidy(symptom), tidy(rule))
        _check_text(desk, wording)
        others = [one for one in knowledge_reader.read(desk.knowledge_base) if one != line]
        id_ = lesson_id(f"{line.lesson.id} {wording.symptom} {wording.rule}")
        nearby.refuse_known(nearby.known_line(others, wording.symptom, wording.rule, id_), "")
        new = format_line(desk.today, wording.symptom, wording.rule, id_)
        change = knowledge_writer.plan(desk.knowledge_base, wording.topic, new, line.text)
        origin = before.by_lesson().get(line.lesson.id)
        near = nearby.neighbours(others, before, desk.ledger, wording.symptom, wording.rule)
        name = ""
        if not dry_run:
            keep_again(desk, origin)
            name = _carry_out(
                desk, Action.SUPERSEDE, change,
                candidate=origin.candidate if origin else "", rule_hash=rule_hash(wording.rule),
                lesson=id_, topic=wording.topic, text=new, was=line.text, target=line.lesson.id,
            )  # fmt: skip
        return _written(desk, change, new, id_, was=line.text, near=near, decision=name)


# -- decisions about hits of redaction ------------------------------------------------------------


def about_hit(desk: Desk, action: Action, target: str, fingerprints: str, why: str) -> Decision:
    """Allow a value or release a transcript: one line of the ledger, by keyed hashes alone.

    The next night goes by it. Raises ``AlreadyKnown`` where it stands already, and ``Refused``
    where ``why`` must not be kept.
    """
    _check_reason(desk, why)
    with _deciding(desk) as before:
        for one in before.standing:
            if (one.action, one.target, one.text) == (action, target, fingerprints):
                raise AlreadyKnown(
                    f"That was said on {one.at:%Y-%m-%d} by {one.reviewer}.",
                    remedy=f"`dreaming undo {one.name}` takes it back.",
                )
        return _append(
            desk, action, Phase.DONE, kind=REDACTION, target=target, text=fingerprints, why=why
        )


# -- taking back ----------------------------------------------------------------------------------


def undo(desk: Desk, wanted: str = "") -> Undone:
    """Undo the last decision, or one named by its name, its candidate or its lesson.

    Nothing is erased: undoing is a decision too, and can be undone by its name. A line that was
    added is taken out, one that was taken out is put back; a candidate waits again. Raises
    ``WrongUse`` where there is nothing to undo, ``AlreadyKnown`` where it was undone before, and
    ``Refused`` where the line no longer stands there as it was written.
    """
    with _deciding(desk) as before:
        one = to_undo(desk, before, wanted)
        shared = {
            "kind": one.kind, "candidate": one.candidate, "lesson": one.lesson, "target": one.name,
        }  # fmt: skip
        first, stands = _first(before, one)
        if stands and first.candidate:
            _keep_for_again(desk, before, first)
        path: Path | None = None
        if one.phase is Phase.INTENT:
            change = _plan_undo(desk, one)
            path = change.path
            _carry_out(
                desk, Action.UNDO, change, topic=one.topic, text=one.was, was=one.text, **shared
            )
        else:
            _append(desk, Action.UNDO, Phase.DONE, **shared)
        if stands and first.candidate:
            desk.pending.remove(first.candidate)
        restore(desk, past.read(desk.ledger.decisions()), [first])
        return Undone(
            action=one.action,
            decision=one.name,
            candidate=one.candidate,
            path=path,
            line=one.was if path else "",
            was=one.text if path else "",
            waits_again=one.candidate in desk.pending.ids(),
        )


def undo_group(desk: Desk, group: str) -> list[Undone]:
    """Undo what still stands of one bulk decision, newest first.

    Raises as ``undo`` does; what was undone before that stays undone.
    """
    standing = past.read(desk.ledger.decisions()).standing
    names = [one.name for one in standing if group and one.group == group]
    return [undo(desk, name) for name in reversed(names)]


def mend(desk: Desk) -> None:
    """Finish what a crash left open, as every decision does first."""
    with _deciding(desk):
        pass


# -- looking --------------------------------------------------------------------------------------


def neighbours(desk: Desk, symptom: str, rule: str, limit: int = 5) -> list[Neighbour]:
    """Return the lines closest to a lesson, closest first: lessons, hand-written, and rejected."""
    before = past.read(desk.ledger.decisions())
    lines = knowledge_reader.read(desk.knowledge_base)
    return nearby.neighbours(lines, before, desk.ledger, symptom, rule, limit)


def last(desk: Desk) -> Decision | None:
    """Return what ``undo`` would take back; ``None`` where there is nothing."""
    return past.read(desk.ledger.decisions()).last(desk.ledger.writer)


def put_off(desk: Desk) -> list[Decision]:
    """Return the decisions that keep candidates away until a day or for new sessions."""
    found = past.read(desk.ledger.decisions()).by_candidate().values()
    off = [one for one in found if one.action is Action.LATER]
    return [one for one in off if one.until_day is None or one.until_day > desk.today]


def decided(decisions: Sequence[Decision]) -> Decided:
    """Return what the ledger comes to in the form that the queue needs."""
    found = past.read(decisions)
    rules: dict[str, Decision] = {}
    texts: dict[str, Decision] = {}
    for one in found.standing:
        if one.kind == REDACTION:
            continue
        if one.rule_hash:
            rules[one.rule_hash] = one
        if one.proposed:
            rules[rule_hash(one.proposed)] = one
        if one.text or one.was:
            texts[(one.text or one.was).strip()] = one
    return Decided(found.by_candidate(), rules, texts, found.words())


# -- the frame of every decision ------------------------------------------------------------------


@contextlib.contextmanager
def _deciding(desk: Desk, dry_run: bool = False) -> Iterator[Past]:
    """Hold the decision lock, mend what a crash left, and hand out what was decided before."""
    with files.lock(desk.lock, wait=True):
        if not dry_run:
            files.sweep(desk.knowledge_base)
            for own in _of_this_machine(desk):
                check_ledger(own)
                for intent in own.ledger.unfinished():
                    _finish(own, intent)
                    desk.notes.append(
                        f"Finished what was cut short: {intent.action} {intent.name}."
                    )
        before = past.read(desk.ledger.decisions())
        if not dry_run:
            agree(desk, before)
        yield before


def _of_this_machine(desk: Desk) -> list[Desk]:
    """The desk, and one for each chain that this machine wrote under another handle."""
    machine = desk.ledger.writer.rpartition("-")[2]
    others = [
        Ledger(desk.ledger.folder, writer)
        for writer in desk.ledger.writers()
        if writer.rpartition("-")[2] == machine and writer != desk.ledger.writer
    ]
    return [desk, *(msgspec.structs.replace(desk, ledger=one) for one in others)]


# -- writing --------------------------------------------------------------------------------------


def _add(
    desk: Desk,
    before: Past,
    wording: _Wording,
    candidate: Candidate | None,
    force: str,
    dry_run: bool,
) -> Written:
    about = candidate.id if candidate else ""
    id_ = lesson_id(about or f"own {same_key(wording.symptom)} {same_key(wording.rule)}")
    _check_text(desk, wording)
    _check_reason(desk, force)
    lines = knowledge_reader.read(desk.knowledge_base)
    same = nearby.known_line(lines, wording.symptom, wording.rule, id_)
    nearby.refuse_known(same, about)
    near = nearby.neighbours(lines, before, desk.ledger, wording.symptom, wording.rule)
    if not force:
        nearby.refuse_near(near)
    line = format_line(desk.today, wording.symptom, wording.rule, id_)
    change = knowledge_writer.plan(desk.knowledge_base, wording.topic, line)
    _warn_when_long(desk, change)
    name = ""
    if not dry_run:
        action, proposed = _accepting(wording, candidate)
        if candidate is not None:
            keep(desk, candidate)
        name = _carry_out(
            desk, action, change,
            candidate=about, rule_hash=rule_hash(wording.rule), lesson=id_, topic=wording.topic,
            text=line, proposed=proposed, why=force,
        )  # fmt: skip
        if candidate is not None:
            desk.pending.remove(candidate.id)
    written = _written(desk, change, line, id_, near=near, decision=name, candidate=candidate)
    gone = 1 if dry_run and candidate is not None else 0
    return msgspec.structs.replace(written, waiting=written.waiting - gone)


def _accepting(wording: _Wording, candidate: Candidate | None) -> tuple[Action, str]:
    """Whether it is accepted as proposed, and else the rule that was proposed."""
    if candidate is None:
        return Action.ACCEPT, ""
    proposed = _Wording(candidate.topic, tidy(candidate.symptom), tidy(candidate.rule))
    if wording == proposed:
        return Action.ACCEPT, ""
    return Action.EDIT, candidate.rule if wording.rule != proposed.rule else ""


def _set_aside(desk: Desk, wanted: str, action: Action, **fields: str) -> Candidate:
    with _deciding(desk) as before:
        return _put_aside(desk, find(desk, before, wanted), action, **fields)


def _put_aside(desk: Desk, candidate: Candidate, action: Action, **fields: str) -> Candidate:
    keep(desk, candidate)
    _append(
        desk, action, Phase.DONE,
        candidate=candidate.id, rule_hash=rule_hash(candidate.rule), topic=candidate.topic,
        text=candidate.rule, group=desk.group, **fields,
    )  # fmt: skip
    desk.pending.remove(candidate.id)
    return candidate


def _carry_out(desk: Desk, action: Action, change: knowledge_writer.Change, **fields: str) -> str:
    """Write the intent, the file, and that it is done; return the decision's name."""
    intent = _append(
        desk, action, Phase.INTENT,
        before=change.before_hash, after=change.after_hash, group=desk.group, **fields,
    )  # fmt: skip
    _finish(desk, intent)
    return intent.name


def _finish(desk: Desk, intent: Decision) -> None:
    """Do what an intent says, as far as it is not done, and close it."""
    phase, before, after = Phase.DONE, intent.before, intent.after
    for left in reversed(range(_TRIES)):
        try:
            change = _left_to_write(desk, intent)
            if change is not None:
                knowledge_writer.write(change)
                before, after = change.before_hash, change.after_hash
            break
        except knowledge_writer.NotThere as wrong:
            phase = Phase.DROPPED
            desk.notes.append(f"{intent.name} was dropped: {wrong.message}")
            break
        except knowledge_writer.ChangedMeanwhile:
            if not left:
                raise
    _append(
        desk, intent.action, phase,
        candidate=intent.candidate, rule_hash=intent.rule_hash, lesson=intent.lesson,
        topic=intent.topic, target=intent.target, before=before, after=after,
    )  # fmt: skip


def _left_to_write(desk: Desk, intent: Decision) -> knowledge_writer.Change | None:
    """What of an intent is not in its file yet; ``None`` where everything is.

    A line that a person changed after it was written is written: its anchor tells.
    """
    folder, topic = desk.knowledge_base, intent.topic
    if knowledge_writer.current_hash(folder, topic) == intent.after:
        return None
    if intent.text and knowledge_writer.holds_anchor(folder, topic, intent.lesson, intent.text):
        return None
    if not intent.text and not knowledge_writer.stands(folder, topic, intent.was):
        return None
    return knowledge_writer.plan(folder, topic, intent.text, intent.was)


def _append(desk: Desk, action: Action, phase: Phase, **fields: str) -> Decision:
    """Add a line to the ledger and remember its head."""
    one = desk.ledger.append(desk.now(), action, phase, reviewer=desk.reviewer, **fields)
    count, head = desk.ledger.head()
    desk.state.put(f"head {desk.ledger.path.name}", str(Head(count, head)))
    return one


def _written(
    desk: Desk,
    change: knowledge_writer.Change,
    line: str,
    lesson: str,
    *,
    was: str = "",
    near: Sequence[Neighbour] = (),
    decision: str = "",
    candidate: Candidate | None = None,
) -> Written:
    return Written(
        candidate=candidate,
        path=change.path,
        line=line,
        new_topic=change.before is None,
        waiting=len(desk.pending.ids()),
        lesson=lesson,
        was=was,
        neighbours=tuple(near),
        decision=decision,
    )


def _plan_undo(desk: Desk, one: Decision) -> knowledge_writer.Change:
    """What taking back would change. Raises ``Refused`` where the line is not as it was."""
    if one.was and not one.text:
        lesson = parse_line(one.was)
        if lesson is not None and lessons(desk, lesson.id):
            raise Refused(f"A line of the lesson {lesson.id} stands in the knowledge base.")
    try:
        return knowledge_writer.plan(desk.knowledge_base, one.topic, one.was, one.text)
    except knowledge_writer.NotThere as wrong:
        there = ", ".join(f"{line.path}:{line.number}" for line in lessons(desk, one.lesson))
        changed = f" It was changed since: {there}." if there else ""
        raise Refused(f"{wrong.message}{changed}", remedy=wrong.remedy) from wrong


def _warn_when_long(desk: Desk, change: knowledge_writer.Change) -> None:
    if change.lines > desk.max_topic_lines:
        desk.notes.append(
            f"{change.path} has {change.lines} lines, more than {desk.max_topic_lines}: agents cut "
            "off files that they load at start. Retire or split what is in it."
        )


def _first(before: Past, one: Decision) -> tuple[Decision, bool]:
    """What a chain of undos is about, and whether it stands once ``one`` is undone."""
    stands = False
    seen = {one.name}
    while one.action is Action.UNDO and one.target in before.every:
        one, stands = before.every[one.target], not stands
        if one.name in seen:
            raise Unusable(
                f"{one.name} undoes itself by a detour: no program wrote that.",
                remedy="Put that writer's ledger back as it was (git, backup).",
            )
        seen.add(one.name)
    return one, stands


def _keep_for_again(desk: Desk, before: Past, first: Decision) -> None:
    """Remember anew what waits, for a decision about it that is going to stand again.

    Raises ``AlreadyKnown`` where the candidate was decided otherwise meanwhile.
    """
    since = before.by_candidate().get(first.candidate)
    if since is not None and first.action not in (Action.RETIRE, Action.SUPERSEDE):
        raise already(since)
    if first.candidate in desk.pending.ids():
        keep(desk, desk.pending.get(first.candidate), first.name)


def _check_reason(desk: Desk, why: str) -> None:
    """Raise ``Refused`` where a reason must not be kept in the ledger."""
    wrong = refusal(why) if why else None
    if wrong is not None:
        raise Refused(f"The reason cannot be kept: {wrong}.")
    if not desk.redactor.is_clean([why]):
        raise Refused("The reason holds the shape of a credential.")
    _check_names_nobody(desk, "reason", why)


def _check_names_nobody(desk: Desk, name: str, text: str) -> None:
    """Raise ``Refused`` where a text tells a person or a machine; the redactor would replace it."""
    (told,) = desk.redactor.redact([text])
    if told != text:
        raise Refused(
            f"The {name} names a person, a machine or a home folder.",
            remedy=f"Say it without, such as: {told}",
        )


def _check_text(desk: Desk, wording: _Wording) -> None:
    """Raise ``Refused`` naming the place where a text must not become part of a lesson."""
    for name, text in (("symptom", wording.symptom), ("rule", wording.rule)):
        wrong = refusal(text)
        if wrong is not None:
            raise Refused(f"The {name} cannot become a lesson: {wrong}.")
        if not desk.redactor.is_clean([text]):
            raise Refused(
                f"The {name} holds the shape of a credential.",
                remedy="Say it without; if it is a real one, it is time to change it.",
            )
        _check_names_nobody(desk, name, text)
    if not desk.redactor.is_clean([wording.symptom, wording.rule]):
        raise Refused("Symptom and rule together hold the shape of a credential.")
