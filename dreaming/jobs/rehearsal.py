"""A review in memory: the same answers as at a desk, and nothing outside the process is touched.

Tests hand it in, and ``python -m review_tui`` opens on it.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from datetime import date

import msgspec

from dreaming.errors import AlreadyKnown, Refused, WrongUse
from dreaming.jobs import showing
from dreaming.jobs.review import Changed, Close, Edited, Until
from dreaming.jobs.showing import Detail, Draft, Heard, Item, Near, Overview, Said, one_line
from dreaming.lessons import format_line, lesson_id, normalised, refusal
from dreaming.models.candidate import Candidate

CLOSE = 0.8
"""From this likeness on, a neighbour makes accepting ask once more."""


class Step(msgspec.Struct, frozen=True):
    """A decision, as the rehearsal remembers it."""

    action: str
    candidate: Candidate
    detail: str = ""
    line: str = ""
    group: str = ""


class Rehearsal:
    """A queue of invented candidates."""

    def __init__(
        self,
        candidates: Sequence[Candidate],
        *,
        heard: Mapping[str, tuple[Heard, ...]] | None = None,
        near: Mapping[str, tuple[Near, ...]] | None = None,
        today: date = date(2026, 11, 30),
        overview: Overview | None = None,
    ) -> None:
        self.waiting = {one.id: one for one in candidates}
        self.steps: list[Step] = []
        self.lines: dict[str, list[str]] = {}
        """Lines by topic: the knowledge base."""
        self.at = ""
        self._heard, self._near = heard or {}, near or {}
        self._today = today
        self._overview = overview or Overview()

    def overview(self) -> Overview:
        """Return what waits, best first."""
        ranked = sorted(self.waiting.values(), key=lambda one: (-one.score, one.id))
        return msgspec.structs.replace(
            self._overview,
            items=tuple(showing.item(one) for one in ranked),
            at=self.at,
            undoable=self._undoable(),
            put_off=self._put_off(),
        )

    def detail(self, id: str) -> Detail:
        """Return a candidate with its invented evidence and neighbours."""
        candidate = self._one(id)
        self.at = id
        item = showing.item(candidate)
        return Detail(
            item, self._heard.get(id, ()), self._near.get(id, ()), self.draft(item, Edited())
        )

    def draft(self, item: Item, edited: Edited) -> Draft:
        """Return the line, or why there would be none."""
        try:
            topic, line = self._line(self._one(item.id), edited)
        except (AlreadyKnown, Refused) as wrong:
            return Draft(problem=one_line(wrong.message))
        return Draft(one_line(line), f"{topic}.md", topic not in self.lines)

    def accept(self, item: Item, edited: Edited, *, why_anyway: str = "", group: str = "") -> Said:
        """Write the line into memory."""
        candidate = self._same(item)
        topic, line = self._line(candidate, edited)
        close = [one for one in self._near.get(item.id, ()) if one.likeness >= CLOSE]
        if close and not why_anyway and not edited.rule:
            raise Close(tuple(close))
        new = "" if topic in self.lines else " (a new topic)"
        self.lines.setdefault(topic, []).append(line)
        text = f"accepted {item.slug}: one line more in {topic}.md{new}"
        return self._decide(Step("accepted", candidate, topic, line, group), text)

    def reject(self, item: Item, why: str, *, group: str = "") -> Said:
        """Turn it down."""
        step = Step("rejected", self._same(item), why, group=group)
        return self._decide(step, f"rejected {item.slug} ({one_line(why, 60)})")

    def later(self, item: Item, until: Until, *, group: str = "") -> Said:
        """Put it off."""
        step = Step("put off", self._same(item), until.words(), group=group)
        return self._decide(step, f"put off {item.slug} {until.words()}")

    def merge(self, item: Item, target: str) -> Said:
        """Merge it into a candidate that waits or a neighbour."""
        candidate = self._same(item)
        known = {one.target for one in self._near.get(item.id, ())} | set(self.waiting)
        if target not in known or target == item.id:
            raise WrongUse(f"There is nothing {one_line(target[:16])} to merge into.")
        step = Step("merged", candidate, target)
        return self._decide(step, f"merged {item.slug} into {target[:8]}")

    def undo(self) -> Said:
        """Take the last decision back, or all of a bulk one."""
        if not self.steps:
            raise WrongUse("There is nothing to take back.")
        last = self.steps.pop()
        gone = [last]
        while last.group and self.steps and self.steps[-1].group == last.group:
            gone.append(self.steps.pop())
        for step in gone:
            self.waiting[step.candidate.id] = step.candidate
            if step.line:
                self.lines[step.detail].remove(step.line)
                if not self.lines[step.detail]:
                    del self.lines[step.detail]
        number = f" and {len(gone) - 1} more" if len(gone) > 1 else ""
        slug = one_line(last.candidate.slug)
        text = f"took back: {last.action} {slug}{number}; it waits again"
        return Said(text, last.candidate.id, self._undoable(), self._put_off())

    # -- what stands behind it --------------------------------------------------------------------

    def _one(self, id: str) -> Candidate:
        if id not in self.waiting:
            raise Changed("It no longer waits: it was decided elsewhere.")
        return self.waiting[id]

    def _same(self, item: Item) -> Candidate:
        candidate = self._one(item.id)
        if showing.version(candidate) != item.version:
            raise Changed(
                "It changed while you looked at it; nothing was decided. This is how it is now."
            )
        return candidate

    def _line(self, candidate: Candidate, edited: Edited) -> tuple[str, str]:
        symptom = edited.symptom or candidate.symptom
        rule = edited.rule or candidate.rule
        for name, text in (("symptom", symptom), ("rule", rule)):
            wrong = refusal(text)
            if wrong is not None:
                raise Refused(f"The {name} cannot become a lesson: {wrong}.")
        topic = edited.topic or candidate.topic
        line = format_line(self._today, symptom, rule, lesson_id(candidate.id))
        for name, lines in self.lines.items():
            if any(normalised(rule) in normalised(one) for one in lines):
                raise AlreadyKnown(f"Known already: {name}.md")
        return topic, line

    def _decide(self, step: Step, text: str) -> Said:
        del self.waiting[step.candidate.id]
        self.steps.append(step)
        return Said(text, step.candidate.id, self._undoable(), self._put_off())

    def _put_off(self) -> tuple[str, ...]:
        return tuple(
            f"{one_line(step.candidate.slug)} {step.detail}"
            for step in self.steps
            if step.action == "put off"
        )

    def _undoable(self) -> str:
        if not self.steps:
            return ""
        return f"{self.steps[-1].action} {one_line(self.steps[-1].candidate.slug)}"
