"""Everything about one candidate, as the right or lower pane shows it."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Final

from textual.containers import VerticalScroll
from textual.content import Content
from textual.widgets import Static

from dreaming.jobs.showing import Detail, Draft, Heard, Item, Near, Passage, essence, word_diff
from dreaming.models.session import Speaker
from review_tui.choices import SPEAKERS
from review_tui.widgets.words import (
    CARE,
    HEADING,
    HUMAN,
    MUTED,
    NEW,
    block,
    diffed,
    lined,
    row,
    words,
)

BRIEF: Final = 240
"""Characters of a quotation in the pane; the evidence page has all of it."""


class DetailPane(VerticalScroll, inherit_bindings=False):
    """Shows one candidate; what is still being looked up says so."""

    can_focus = True

    def __init__(self) -> None:
        super().__init__(Static(id="detail-text"), id="detail")
        self._shown: Item | Detail | None = None
        self._width = 0

    def show(self, shown: Item | Detail | None) -> None:
        """Show a candidate from the top, or complete the one that is shown."""
        before, self._shown = self._shown, shown
        if _id(before) != _id(shown):
            self.scroll_home(animate=False)
        self._draw()

    def on_resize(self) -> None:
        """Wrap anew."""
        if self.scrollable_content_region.width != self._width:
            self._draw()

    def _draw(self) -> None:
        self._width = self.scrollable_content_region.width
        text = Content("")
        if isinstance(self._shown, Detail):
            text = lined(_all(self._shown, self._width))
        elif isinstance(self._shown, Item):
            text = lined([*_head(self._shown, self._width), words("\n  looking it up …", MUTED)])
        self.query_one("#detail-text", Static).update(text)


def _id(shown: Item | Detail | None) -> str:
    if isinstance(shown, Detail):
        return shown.item.id
    return shown.id if shown else ""


def _all(detail: Detail, width: int) -> Iterator[Content]:
    yield from _head(detail.item, width)
    yield from _draft(detail.draft, width)
    if detail.near:
        yield from near(detail.near[:1], detail.item.rule, width)
    yield from heard(detail.heard, width, BRIEF)


def _head(item: Item, width: int) -> Iterator[Content]:
    yield block(words(item.slug, "bold"), width, "", "")
    agents = ", ".join(item.agents)
    seen = item.last_seen if item.first_seen == item.last_seen else _span(item)
    about = f"{item.topic} · {item.sessions} sessions of {agents} · {seen}"
    yield block(words(about, MUTED), width, "", "")
    yield from section("Symptom", words(item.symptom), width)
    yield from section("Rule", words(item.rule, "bold"), width)
    if item.doubts:
        yield words("\nLook twice", f"bold {CARE}")
        for doubt in item.doubts:
            yield block(row((f"! {doubt.word}: ", CARE), doubt.reason), width, "  ", "    ")


def _span(item: Item) -> str:
    return f"{item.first_seen} to {item.last_seen}"


def section(title: str, text: Content, width: int) -> Iterator[Content]:
    """Yield a heading and what stands below it."""
    yield words(f"\n{title}", HEADING)
    yield block(text, width)


def _draft(draft: Draft, width: int) -> Iterator[Content]:
    if draft.problem:
        yield words("\nCannot be written as it is", f"bold {CARE}")
        yield block(words(draft.problem, CARE), width)
        return
    new = ", a new topic" if draft.new_topic else ""
    yield row(("\nWould be written ", HEADING), (f"to {draft.place}{new}", MUTED))
    yield block(words(f"+{draft.line}", NEW), width, "  ", "   ")


def near(several: Sequence[Near], rule: str, width: int) -> Iterator[Content]:
    """Yield what is known, each with the words in which this one differs."""
    yield row(("\nNearest known ", HEADING), ("[-only there-] {+only here+}", MUTED))
    for one in several:
        kind = "a lesson" if one.kind == "lesson" else one.kind
        said = f"{one.place}, {kind}, {round(100 * one.likeness)} % alike"
        yield block(words(said, MUTED), width)
        yield block(diffed(word_diff(essence(one.text), rule)), width)


def heard(several: Sequence[Heard], width: int, most: int = 0) -> Iterator[Content]:
    """Yield what the sessions said, whose words they are, and mark what a person typed."""
    yield words("\nWhat the sessions said", HEADING)
    if not several:
        yield block(words("The evidence is gone: withdrawn, or the state was lost.", MUTED), width)
    for one in several:
        head = f"{one.day}  {one.agent}  session {one.session}"
        yield block(words(head, MUTED), width)
        for passage in one.passages:
            yield _passage(passage, width, most)


def _passage(passage: Passage, width: int, most: int) -> Content:
    text = passage.text
    if most:
        text = " ".join(text.split())
        text = f"{text[:most]} …" if len(text) > most else text
    human = passage.speaker is Speaker.HUMAN
    mark, style = ("  > ", HUMAN) if human else ("    ", MUTED)
    said = row((f"{SPEAKERS[passage.speaker]}: ", style), text)
    return block(said, width, mark, "    ")
