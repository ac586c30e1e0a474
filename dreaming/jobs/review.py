"""What the screen and the plain form may ask for: look at the queue, decide, take back.

``Review`` is the whole of it; ``AtDesk`` answers from a workspace, ``Rehearsal`` from memory. Every
decision goes to ``dreaming.jobs.decide``; here it is only made sure that the candidate is still the
one that was looked at, and said what changed.
"""

from __future__ import annotations

import contextlib
import json
from collections.abc import Iterator, Sequence
from datetime import date
from pathlib import Path
from typing import Final, Protocol

import msgspec

from dreaming.errors import DreamingError
from dreaming.jobs import decide, showing
from dreaming.jobs.desk import Desk, NearlyKnown, Neighbour
from dreaming.jobs.fixing import reasons
from dreaming.jobs.showing import Detail, Draft, Item, Near, Overview, Said, one_line
from dreaming.models.candidate import Candidate
from dreaming.models.decision import Action, Decision
from dreaming.models.finding import KeptExcerpt
from dreaming.stores.history import History

PLACE = "review at"
"""Where the state remembers which candidate was looked at last."""


class Changed(DreamingError):
    """The candidate is no longer the one you looked at; nothing was decided."""


class Close(DreamingError):
    """Something known comes close to it; accept it once more to write it all the same."""

    def __init__(self, near: tuple[Near, ...]) -> None:
        self.near = near
        super().__init__()


class Until(msgspec.Struct, frozen=True):
    """When what is put off comes back: on a day, or when that many new sessions have it."""

    day: date | None = None
    sessions: int = 0

    def words(self) -> str:
        """Say it as a person would."""
        if self.day is not None:
            return f"until {self.day.isoformat()}"
        return f"until {self.sessions} new session{'s' if self.sessions != 1 else ''} have it"


class Edited(msgspec.Struct, frozen=True):
    """Words of a person's own in the place of a candidate's; empty keeps the candidate's."""

    symptom: str = ""
    rule: str = ""
    topic: str = ""


class Review(Protocol):
    """The queue of one workspace, and a person's decisions about it.

    A decision raises a ``DreamingError`` where it was not made: ``Changed`` where the candidate is
    another one now, ``Close`` where something known comes near and ``why_anyway`` is empty.
    """

    def overview(self) -> Overview:
        """Return the queue, best first, and what there is to know about it."""
        ...

    def detail(self, id: str) -> Detail:
        """Return everything about a candidate, and remember that it was looked at."""
        ...

    def draft(self, item: Item, edited: Edited) -> Draft:
        """Return the line that accepting these words would write, or why it would not."""
        ...

    def accept(self, item: Item, edited: Edited, *, why_anyway: str = "", group: str = "") -> Said:
        """Make it a line of the knowledge base."""
        ...

    def reject(self, item: Item, why: str, *, group: str = "") -> Said:
        """Turn it down."""
        ...

    def later(self, item: Item, until: Until, *, group: str = "") -> Said:
        """Put it off."""
        ...

    def merge(self, item: Item, target: str) -> Said:
        """Say that it is the same as a lesson or another candidate."""
        ...

    def undo(self) -> Said:
        """Take the last decision back; decided again and again, the ones before."""
        ...


class AtDesk:
    """A review of a real workspace. Belongs to the thread that opened the desk."""

    def __init__(self, desk: Desk) -> None:
        self._desk = desk
        self._history: History | None = None
        self._members: dict[str, tuple[str, ...]] = {}
        self._names: dict[str, str] = {}
        """Slugs of what was seen in this sitting: what is decided has left the queue."""

    def overview(self) -> Overview:
        """Read the queue anew."""
        self._history = None
        items = tuple(showing.item(one) for one in self._desk.pending.all())
        self._names |= {one.id: one.slug for one in items}
        state = self._desk.state
        once = json.loads(state.get("seen once") or "[]")
        last = (state.last_runs(1) or [{}])[0]
        return Overview(
            items=items,
            at=state.get(PLACE) or "",
            undoable=self._undoable(),
            put_off=self._put_off(),
            seen_once=tuple(one_line(one["rule"]) for one in once),
            left_out=_left_out(last),
            last_night=_night(last),
            held_back=last.get("queue", {}).get("held_back", 0),
        )

    def detail(self, id: str) -> Detail:
        """Join a candidate with its evidence, its neighbours and its line."""
        candidate = self._waiting(id)
        self._desk.state.put(PLACE, id)
        item = showing.item(candidate, reasons(self._desk.state).get(id, ""))
        return Detail(
            item=item,
            heard=showing.heard(self._excerpts(id)),
            near=self._near(candidate.symptom, candidate.rule),
            draft=self.draft(item, Edited()),
        )

    def draft(self, item: Item, edited: Edited) -> Draft:
        """Ask the decision itself, and stop it before its first effect."""
        try:
            written = decide.accept(
                self._desk,
                item.id,
                topic=edited.topic,
                symptom=edited.symptom,
                rule=edited.rule,
                force="look only",
                dry_run=True,
            )
        except DreamingError as wrong:
            return Draft(problem=one_line(wrong.message))
        return Draft(one_line(written.line), _place(written.path), written.new_topic)

    def accept(self, item: Item, edited: Edited, *, why_anyway: str = "", group: str = "") -> Said:
        """Accept it, with a person's own words where they changed any."""
        self._same(item)
        with self._grouped(group):
            try:
                written = decide.accept(
                    self._desk,
                    item.id,
                    topic=edited.topic,
                    symptom=edited.symptom,
                    rule=edited.rule,
                    force=why_anyway,
                )
            except NearlyKnown as close:
                raise Close(tuple(_shown(one) for one in close.neighbours)) from close
        place = _place(written.path)
        new = " (a new topic)" if written.new_topic else ""
        return self._said(item, f"accepted {item.slug}: one line more in {place}{new}")

    def reject(self, item: Item, why: str, *, group: str = "") -> Said:
        """Reject it."""
        self._same(item)
        with self._grouped(group):
            decide.reject(self._desk, item.id, why)
        return self._said(item, f"rejected {item.slug} ({one_line(why, 60)})")

    def later(self, item: Item, until: Until, *, group: str = "") -> Said:
        """Put it off."""
        self._same(item)
        with self._grouped(group):
            decide.later(self._desk, item.id, until=until.day, sessions=until.sessions)
        return self._said(item, f"put off {item.slug} {until.words()}")

    def merge(self, item: Item, target: str) -> Said:
        """Merge it."""
        self._same(item)
        decide.merge(self._desk, item.id, target)
        return self._said(item, f"merged {item.slug} into {target[:8]}")

    def undo(self) -> Said:
        """Undo the last decision that stands."""
        group = getattr(decide.last(self._desk), "group", "")
        undone = decide.undo(self._desk)
        more = 0
        while group and getattr(decide.last(self._desk), "group", "") == group:
            undone = decide.undo(self._desk)
            more += 1
        others = f" and {more} more" if more else ""
        text = f"took back: {_DONE[undone.action]} {self._name(undone.candidate)}{others}"
        if undone.path is not None:
            text += f"; {_place(undone.path)} is as it was"
        if undone.waits_again:
            text += "; it waits again"
        return Said(
            text,
            undone.candidate if undone.waits_again else "",
            self._undoable(),
            self._put_off(),
            self._notes(),
        )

    # -- what stands behind it --------------------------------------------------------------------

    def _waiting(self, id: str) -> Candidate:
        if id not in self._desk.pending.ids():
            raise Changed(
                "It no longer waits: it was decided elsewhere, or a night took it out meanwhile."
            )
        return self._desk.pending.get(id)

    def _same(self, item: Item) -> None:
        if showing.version(self._waiting(item.id)) != item.version:
            raise Changed(
                "It changed while you looked at it; nothing was decided. This is how it is now."
            )

    def _excerpts(self, id: str) -> Sequence[KeptExcerpt]:
        if self._history is None:
            self._history = History(self._desk.state)
            self._members = self._desk.state.published()
        return self._history.some(self._members.get(id, ()))

    def _near(self, symptom: str, rule: str) -> tuple[Near, ...]:
        return tuple(_shown(one) for one in decide.neighbours(self._desk, symptom, rule))

    @contextlib.contextmanager
    def _grouped(self, group: str) -> Iterator[None]:
        self._desk.group = group
        try:
            yield
        finally:
            self._desk.group = ""

    def _said(self, item: Item, text: str) -> Said:
        return Said(text, item.id, self._undoable(), self._put_off(), self._notes())

    def _notes(self) -> tuple[str, ...]:
        notes = tuple(one_line(note) for note in self._desk.notes)
        self._desk.notes.clear()
        return notes

    def _undoable(self) -> str:
        last = decide.last(self._desk)
        return f"{_DONE[last.action]} {self._name(last.candidate)}" if last else ""

    def _name(self, candidate: str) -> str:
        if candidate in self._desk.pending.ids():
            return one_line(self._desk.pending.get(candidate).slug)
        return self._names.get(candidate) or candidate[:8] or "a lesson"

    def _put_off(self) -> tuple[str, ...]:
        return tuple(f"{one_line(one.text)} ({_until(one)})" for one in decide.put_off(self._desk))


_DONE: Final = {
    Action.ACCEPT: "accepted",
    Action.EDIT: "accepted in other words",
    Action.MERGE: "merged",
    Action.REJECT: "rejected",
    Action.LATER: "put off",
    Action.RETIRE: "retired",
    Action.SUPERSEDE: "superseded",
    Action.UNDO: "taken back",
}


def _until(one: Decision) -> str:
    day = one.until_day
    return Until(day).words() if day else Until(sessions=int(one.until or 0)).words()


def _shown(one: Neighbour) -> Near:
    return Near(
        kind=one.kind,
        place=f"{_place(one.path)}:{one.number}",
        text=one_line(one.text),
        likeness=one.likeness,
        target=one.lesson,
    )


def _place(path: Path) -> str:
    return one_line(path.name)


def _left_out(last: dict[str, object]) -> tuple[str, ...]:
    reasons = last.get("reasons")
    if not isinstance(reasons, dict):
        return ()
    told = tuple(
        f"{number} {one_line(reason)}"
        for reason, number in sorted(reasons.items())
        if not reason.startswith(("processed", "skipped"))
    )
    if any(reason.startswith("held") for reason in reasons):
        return ("what is held waits for a word: dreaming redaction held", *told)
    return told


def _night(last: dict[str, object]) -> str:
    if not last:
        return ""
    return one_line(f"{last.get('started')}: {last.get('outcome')}, {last.get('why')}")
