"""The linear form: one candidate after the other, in lines, for screen readers and dumb terminals.

The same review behind it and the same keys; no boxes, no colour, no cursor. A letter decides only
together with Enter, as the terminal works in lines; what is pasted as several lines is refused.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from datetime import date

import msgspec

from dreaming.errors import DreamingError
from dreaming.jobs.review import Close, Edited, Review
from dreaming.jobs.showing import Detail, Heard, Near, Overview, essence, inert, one_line, word_diff
from review_tui.actions import Action, key_of, table
from review_tui.choices import ANYWAY, DELAYS, REASONS, SPEAKERS, Choice, until

Say = Callable[[str], None]
Ask = Callable[[str], str]
"""Shows a prompt and returns the line a person typed; raises ``EOFError`` at the end of input."""


class Plain(msgspec.Struct):
    """One sitting."""

    review: Review
    say: Say
    ask: Ask
    today: date
    keys: dict[str, Action] = msgspec.field(default_factory=table)
    more: Callable[[], bool] = lambda: False
    """Whether further lines are there already: then they were pasted."""
    _overview: Overview = Overview()
    _place: int = 0
    _quit: bool = False


def sit(plain: Plain) -> None:
    """Go through the queue until a person leaves, or nothing waits."""
    _load(plain)
    try:
        while not plain._quit and plain._overview.items:
            _one(plain)
    except EOFError:
        plain.say("")
    if not plain._overview.items:
        for line in nothing(plain._overview):
            plain.say(line)
    plain.say("Everything you decided is kept.")


def nothing(overview: Overview) -> Iterator[str]:
    """Yield what an empty queue has to say."""
    yield "Nothing waits for you."
    if overview.last_night:
        yield f"Last night: {overview.last_night}"
    for heading, lines in (
        ("Seen in one session only, waiting for a second", overview.seen_once),
        ("Put off", overview.put_off),
        ("Left out", overview.left_out),
    ):
        for line in lines[:8]:
            yield f"{heading}: {line}"
    yield "`dreaming nightly` reads what is new; `dreaming status` says what is due."


def _load(plain: Plain, select: str = "") -> None:
    plain._overview = plain.review.overview()
    ids = [one.id for one in plain._overview.items]
    wanted = select or plain._overview.at
    plain._place = ids.index(wanted) if wanted in ids else min(plain._place, max(0, len(ids) - 1))


def _one(plain: Plain) -> None:
    """Show the candidate one stands on, and take one key."""
    item = plain._overview.items[plain._place]
    try:
        detail = plain.review.detail(item.id)
    except DreamingError as wrong:
        _refused(plain, wrong)
        _load(plain)
        return
    for line in shown(detail, plain._place + 1, len(plain._overview.items)):
        plain.say(line)
    while True:
        key = plain.ask(_prompt(plain)).strip()
        if plain.more():
            _swallow(plain)
            continue
        if _step(plain, detail, key):
            return


def _swallow(plain: Plain) -> None:
    while plain.more():
        plain.ask("")
    plain.say("Several lines came at once: taken as pasted, nothing was decided.")


def _prompt(plain: Plain) -> str:
    words = ", ".join(f"{one.key} {one.word}" for one in plain.keys.values() if one.plain)
    return f"{words}, n next, p previous: "


def _step(plain: Plain, detail: Detail, key: str) -> bool:
    """Do what a key says; return whether another candidate is to be shown."""
    if key in ("n", "p") and key not in plain.keys:
        by = 1 if key == "n" else -1
        plain._place = (plain._place + by) % len(plain._overview.items)
        return True
    action = plain.keys.get(key)
    if action is None or not action.plain:
        plain.say("That is no key here; ? lists them." if key else "Enter alone decides nothing.")
        return False
    doing = _DOING[action.name]
    try:
        return doing(plain, detail)
    except DreamingError as wrong:
        _refused(plain, wrong)
        _load(plain, detail.item.id)
        return True


def _refused(plain: Plain, wrong: DreamingError) -> None:
    plain.say(one_line(f"Not done: {wrong.message} {wrong.remedy}"))


def shown(detail: Detail, place: int, number: int) -> Iterator[str]:
    """Yield a candidate in lines."""
    item = detail.item
    yield ""
    yield f"Candidate {place} of {number}: {item.slug}"
    yield f"Topic {item.topic}, {item.sessions} sessions of {', '.join(item.agents)},"
    yield f"seen {item.first_seen} to {item.last_seen}."
    yield f"Symptom: {item.symptom}"
    yield f"Rule: {item.rule}"
    for doubt in item.doubts:
        yield f"Look twice, {doubt.word}: {doubt.reason}"
    draft = detail.draft
    if draft.problem:
        yield f"Cannot be written as it is: {draft.problem}"
    else:
        new = ", a new topic" if draft.new_topic else ""
        yield f"Would be written to {draft.place}{new}: {draft.line}"
    for near in detail.near[:1]:
        yield _neighbour(near)
    spoken = sum(len(one.passages) for one in detail.heard)
    yield f"Evidence: {spoken} quotations of {len(detail.heard)} sessions."


def _neighbour(near: Near) -> str:
    return f"Nearest known, {near.kind} at {near.place}, {near.likeness:.0%} alike: {near.text}"


def evidence(several: Sequence[Heard]) -> Iterator[str]:
    """Yield what the sessions said, whose words they are."""
    for one in several:
        yield f"Session {one.session}, {one.day}, {one.agent}:"
        for passage in one.passages:
            for line in passage.text.split("\n"):
                yield f"{SPEAKERS[passage.speaker]}: {line}"
    if not several:
        yield "The evidence is gone: withdrawn, or the state was lost."


# -- what the keys do -----------------------------------------------------------------------------


def _accept(plain: Plain, detail: Detail, edited: Edited | None = None) -> bool:
    edited = edited or Edited()
    try:
        said = plain.review.accept(detail.item, edited)
    except Close as close:
        for near in close.near:
            plain.say(_neighbour(near))
        key = key_of(plain.keys, "accept")
        if plain.ask(f"Nearly known already. {key} accepts it all the same: ").strip() != key:
            plain.say("It stays undecided.")
            return False
        said = plain.review.accept(detail.item, edited, why_anyway=ANYWAY)
    return _said(plain, said.text, said.notes)


def _edit(plain: Plain, detail: Detail) -> bool:
    item = detail.item
    plain.say("Write the new text, or Enter to keep what is there.")
    texts = [
        one_line(plain.ask(f"{name} [{text}]: "))
        for name, text in (("Symptom", item.symptom), ("Rule", item.rule), ("Topic", item.topic))
    ]
    edited = Edited(*texts)
    draft = plain.review.draft(item, edited)
    if draft.problem:
        plain.say(f"Cannot be written: {draft.problem}")
        return False
    plain.say(f"Would be written to {draft.place}: {draft.line}")
    key = key_of(plain.keys, "accept")
    if plain.ask(f"{key} accepts this: ").strip() != key:
        plain.say("It stays undecided.")
        return False
    return _accept(plain, detail, edited)


def _reject(plain: Plain, detail: Detail) -> bool:
    for one in REASONS:
        plain.say(f"{one.key} {one.label}")
    why = _chosen(plain.ask("A number, or the reason in your words: "), REASONS, own=True)
    if not why:
        plain.say("It stays undecided.")
        return False
    said = plain.review.reject(detail.item, why)
    return _said(plain, said.text, said.notes)


def _later(plain: Plain, detail: Detail) -> bool:
    for one in DELAYS:
        plain.say(f"{one.key} {one.label}")
    chosen = _chosen(plain.ask("A number: "), DELAYS)
    if not chosen:
        plain.say("It stays undecided.")
        return False
    said = plain.review.later(detail.item, until(chosen, plain.today))
    return _said(plain, said.text, said.notes)


def _merge(plain: Plain, detail: Detail) -> bool:
    near = [(one.target, f"{one.place}: {one.text}") for one in detail.near if one.target]
    others = [(one.id, one.rule) for one in plain._overview.items if one.id != detail.item.id]
    found = (near + others)[:20]
    for place, (_, text) in enumerate(found, start=1):
        plain.say(f"{place} {text}")
    answer = plain.ask("The number of what it is the same as: ").strip()
    if not answer.isascii() or not answer.isdigit() or not 1 <= int(answer) <= len(found):
        plain.say("It stays undecided.")
        return False
    said = plain.review.merge(detail.item, found[int(answer) - 1][0])
    return _said(plain, said.text, said.notes)


def _undo(plain: Plain, detail: Detail) -> bool:
    said = plain.review.undo()
    plain.say(one_line(said.text))
    _load(plain, said.id)
    return True


def _evidence(plain: Plain, detail: Detail) -> bool:
    for line in evidence(detail.heard):
        plain.say(line)
    return False


def _diff(plain: Plain, detail: Detail) -> bool:
    for near in detail.near:
        plain.say(_neighbour(near))
        for piece in word_diff(essence(near.text), detail.item.rule):
            if piece.sign != " ":
                plain.say(f"{'only here' if piece.sign == '+' else 'only there'}: {piece.text}")
    if not detail.near:
        plain.say("Nothing that is known comes near it.")
    return False


def _help(plain: Plain, detail: Detail) -> bool:
    for one in plain.keys.values():
        if one.plain:
            plain.say(f"{one.key}: {one.meaning}")
    return False


def _leave(plain: Plain, detail: Detail) -> bool:
    plain._quit = True
    return True


def _said(plain: Plain, text: str, notes: Sequence[str]) -> bool:
    for line in (text, *notes):
        plain.say(inert(line))
    place = plain._place
    _load(plain)
    plain._place = min(place, max(0, len(plain._overview.items) - 1))
    return True


def _chosen(answer: str, choices: Sequence[Choice], *, own: bool = False) -> str:
    answer = one_line(answer)
    for one in choices:
        if answer == one.key:
            return one.value
    return answer if own and len(answer) > 2 else ""


_DOING: Mapping[str, Callable[[Plain, Detail], bool]] = {
    "accept": _accept,
    "edit": _edit,
    "reject": _reject,
    "merge": _merge,
    "later": _later,
    "undo": _undo,
    "evidence": _evidence,
    "diff": _diff,
    "help": _help,
    "quit": _leave,
}
