"""A person's decisions. The only holder of the pen.

Accepting is three durable steps: *intent* in the ledger, the line in the knowledge base, *done* in
the ledger. The intent is the commit point: once it is on disk the decision is made, and whatever
was left open by a crash is rolled forward by the next decision. Nobody else ever does that; the
night does not.
"""

from __future__ import annotations

import contextlib
import secrets
from collections.abc import Callable, Iterator, Mapping
from datetime import datetime
from pathlib import Path
from typing import Final

import msgspec

from dreaming.errors import AlreadyKnown, Refused, WrongUse
from dreaming.jobs.queueing import Decided
from dreaming.lessons import format_line, lesson_id, normalised, refusal, rule_hash
from dreaming.models.candidate import Candidate
from dreaming.models.decision import Action, Decision, Phase
from dreaming.models.lesson import KnownLine
from dreaming.redaction.engine import Redactor
from dreaming.stores import files, knowledge_reader, knowledge_writer
from dreaming.stores.ledger import Ledger
from dreaming.stores.pending import Pending
from dreaming.stores.state import State

AGENT_VARIABLES: Final = (
    "CLAUDECODE",
    "CLAUDE_CODE_ENTRYPOINT",
    "CODEX_SANDBOX",
    "CODEX_THREAD_ID",
    "CURSOR_AGENT",
    "GEMINI_CLI",
    "OPENCODE",
    "AIDER_CHAT",
    "COPILOT_CLI",
)
"""Set by agents for the commands they run."""


class Desk(msgspec.Struct):
    """What deciding needs."""

    knowledge_base: Path
    pending: Pending
    ledger: Ledger
    state: State
    lock: Path
    torn: Path
    """Where a torn last line of the ledger is set aside."""
    redactor: Redactor
    reviewer: str
    now: Callable[[], datetime]
    notes: list[str] = msgspec.field(default_factory=list)
    """What a person should be told besides the result."""


class Written(msgspec.Struct, frozen=True):
    """What accepting did, or would do."""

    candidate: Candidate
    path: Path
    line: str
    new_topic: bool
    waiting: int


def refuse_agents(environment: Mapping[str, str]) -> None:
    """Stop a decision that an agent, not a person, is about to make. A guard rail, not a wall.

    Raises ``Refused``.
    """
    found = [name for name in AGENT_VARIABLES if environment.get(name)]
    if found:
        raise Refused(
            f"This runs inside a coding agent ({found[0]} is set). A person decides.",
            remedy="Run it in a terminal of your own, or add --i-am-a-person if you are one.",
        )


def accept(desk: Desk, wanted: str, *, topic: str = "", dry_run: bool = False) -> Written:
    """Make a waiting candidate a line of the knowledge base.

    ``wanted`` is its id or the unambiguous beginning of it. Raises ``WrongUse`` where there is no
    such candidate, ``AlreadyKnown`` where the knowledge base says it, and ``Refused`` where its
    text must not be written; nothing is written then.
    """
    with _deciding(desk, dry_run):
        candidate = _find(desk, wanted, Action.ACCEPT)
        _check_text(desk, candidate)
        _check_known(desk, candidate)
        day = desk.now().date()
        line = format_line(day, candidate.symptom, candidate.rule, lesson_id(candidate.id))
        change = knowledge_writer.plan(desk.knowledge_base, topic or candidate.topic, line)
        waiting = len(desk.pending.all()) - 1
        written = Written(candidate, change.path, line, change.before is None, waiting)
        if not dry_run:
            _write(desk, candidate, change, topic or candidate.topic, line)
            desk.pending.remove(candidate.id)
        return written


def reject(desk: Desk, wanted: str, why: str) -> Candidate:
    """Turn a waiting candidate down; it is not proposed again.

    Raises ``WrongUse`` where there is no such candidate.
    """
    with _deciding(desk, dry_run=False):
        candidate = _find(desk, wanted, Action.REJECT)
        _append(
            desk,
            Action.REJECT,
            Phase.DONE,
            candidate=candidate.id,
            rule_hash=rule_hash(candidate.rule),
            topic=candidate.topic,
            text=candidate.rule,
            why=why,
        )
        desk.pending.remove(candidate.id)
        return candidate


def decided(decisions: list[Decision]) -> Decided:
    """Return what the ledger says in the form that the queue needs."""
    return Decided(
        candidates=frozenset(one.candidate for one in decisions if one.candidate),
        rules=frozenset(one.rule_hash for one in decisions if one.rule_hash),
        texts=tuple(sorted({one.text for one in decisions if one.text})),
    )


def writer_name(state: State, reviewer: str) -> str:
    """Return the name of this machine's and person's chain: a handle and a random number."""
    machine = state.get("machine")
    if machine is None:
        machine = secrets.token_hex(4)
        state.put("machine", machine)
    return f"{reviewer}-{machine}"


@contextlib.contextmanager
def _deciding(desk: Desk, dry_run: bool) -> Iterator[None]:
    """Hold the decision lock, mend what a crash left, and note the ledger's head afterwards."""
    with files.lock(desk.lock, wait=True):
        if not dry_run:
            if desk.ledger.set_torn_tail_aside(desk.torn):
                desk.notes.append(
                    f"The ledger ended in half a line, which was never confirmed. It is in "
                    f"{desk.torn}."
                )
            _check_head(desk)
            files.sweep(desk.knowledge_base)
            _roll_forward(desk)
        yield


def _check_head(desk: Desk) -> None:
    """Refuse to go on where lines are gone from the end of the ledger."""
    kept = desk.state.get(f"head {desk.ledger.path.name}")
    if kept is None:
        return
    count, head = kept.split()
    if not desk.ledger.has(int(count), head):
        raise Refused(
            f"{desk.ledger.path} no longer holds line {count} as it was written: lines are missing "
            "or were changed.",
            remedy="Put the file back as it was (git, backup).",
        )


def _roll_forward(desk: Desk) -> None:
    """Finish what was decided but not yet written when the last decision was cut short."""
    for intent in desk.ledger.unfinished():
        path = desk.knowledge_base / f"{intent.topic}.md"
        mark = f"<!-- dreaming:{intent.lesson} -->".encode()
        before = after = intent.after
        if not path.exists() or mark not in path.read_bytes():
            change = knowledge_writer.plan(desk.knowledge_base, intent.topic, intent.text)
            knowledge_writer.write(change)
            before, after = change.before_hash, change.after_hash
        _append(
            desk,
            Action.ACCEPT,
            Phase.DONE,
            candidate=intent.candidate,
            rule_hash=intent.rule_hash,
            lesson=intent.lesson,
            topic=intent.topic,
            before=before,
            after=after,
        )
        desk.pending.remove(intent.candidate)
        desk.notes.append(f"Finished what was cut short: {intent.candidate} is in {path.name}.")


def _write(
    desk: Desk, candidate: Candidate, change: knowledge_writer.Change, topic: str, line: str
) -> None:
    shared = {
        "candidate": candidate.id,
        "rule_hash": rule_hash(candidate.rule),
        "lesson": lesson_id(candidate.id),
        "topic": topic,
        "before": change.before_hash,
        "after": change.after_hash,
    }
    _append(desk, Action.ACCEPT, Phase.INTENT, text=line, **shared)
    knowledge_writer.write(change)
    _append(desk, Action.ACCEPT, Phase.DONE, **shared)


def _append(desk: Desk, action: Action, phase: Phase, **fields: str) -> None:
    desk.ledger.append(desk.now(), action, phase, reviewer=desk.reviewer, **fields)
    count, head = desk.ledger.head()
    desk.state.put(f"head {desk.ledger.path.name}", f"{count} {head}")


def _find(desk: Desk, wanted: str, action: Action) -> Candidate:
    """The waiting candidate of that id, or of an id it had before."""
    waiting = desk.pending.all()
    found = [
        one
        for one in waiting
        if any(id_.startswith(wanted) for id_ in (one.id, *one.formerly)) and len(wanted) >= 4
    ]
    if len(found) == 1:
        return _undecided(desk, found[0])
    if len(found) > 1:
        raise WrongUse(f"{wanted} is the beginning of {len(found)} ids; write more of it.")
    before = [one for one in desk.ledger.decisions() if one.candidate == wanted]
    if before:
        last = before[-1]
        raise AlreadyKnown(
            f"{wanted} was decided on {last.at:%Y-%m-%d}: {last.action}.",
            remedy="" if last.action == action else "Undoing a decision comes with the review.",
        )
    raise WrongUse(
        f"No candidate {wanted} waits.", remedy="`dreaming pending list` shows what does."
    )


def _undecided(desk: Desk, candidate: Candidate) -> Candidate:
    """Take a file away that outlived its decision, instead of deciding twice."""
    before = desk.ledger.decided().get(candidate.id)
    if before is None:
        return candidate
    desk.pending.remove(candidate.id)
    raise AlreadyKnown(f"{candidate.id} was decided on {before.at:%Y-%m-%d}: {before.action}.")


def _check_text(desk: Desk, candidate: Candidate) -> None:
    for name, text in (("symptom", candidate.symptom), ("rule", candidate.rule)):
        wrong = refusal(text)
        if wrong is not None:
            raise Refused(f"The {name} of {candidate.id} cannot become a lesson: {wrong}.")
    if not desk.redactor.is_clean([candidate.symptom, candidate.rule]):
        raise Refused(f"The text of {candidate.id} holds the shape of a credential.")


def _check_known(desk: Desk, candidate: Candidate) -> None:
    same = known_line(knowledge_reader.read(desk.knowledge_base), candidate)
    if same is not None:
        raise AlreadyKnown(
            f"Known already: {same.path}:{same.number}: {same.text}",
            remedy=f"`dreaming reject {candidate.id[:8]} --why known` takes it off the queue.",
        )


def known_line(lines: list[KnownLine], candidate: Candidate) -> KnownLine | None:
    """Return the line that says the same as a candidate after normalising, hand-written or ours."""
    rule = normalised(candidate.rule)
    both = normalised(f"{candidate.symptom} {candidate.rule}")
    for line in lines:
        if line.lesson is not None:
            if normalised(line.lesson.rule) == rule or line.lesson.id == lesson_id(candidate.id):
                return line
        elif normalised(line.text) in {rule, both}:
            return line
    return None
