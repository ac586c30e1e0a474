"""Text written by others is inert wherever it is shown: on every surface, in both forms."""

from __future__ import annotations

import asyncio
import html
from typing import Any, Final

import pytest
from textual import events

from dreaming.errors import Refused
from dreaming.jobs.rehearsal import Rehearsal
from dreaming.jobs.showing import Heard, Near, Overview, Passage, inert, one_line
from dreaming.models.candidate import Candidate
from dreaming.models.session import Speaker
from review_tui.messages import Failed
from review_tui.plain import Plain, sit
from review_tui.sample import candidates
from tests.tui.hostile import PAYLOADS, steering
from tests.tui.sitting import TODAY, Sitting, sitting

SURFACES: Final[dict[str, tuple[tuple[str, ...], tuple[str, ...]]]] = {
    "queue and detail": ((), ()),
    "detail, scrolled": (("tab", "G"), ("escape",)),
    "evidence": (("v",), ("escape",)),
    "comparison": (("d",), ("escape",)),
    "reasons": (("x",), ("escape",)),
    "delays": (("s",), ("escape",)),
    "editing": (("e",), ("escape", "escape")),
    "merging": (("m",), ("escape",)),
    "bulk": (("space", "space", "x", "1"), ("escape", "escape")),
    "close": (("a",), ("escape",)),
    "decided": (("x", "1"), ()),
    "undone": (("u",), ()),
    "filtered": (("slash", "a", "enter"), ("escape",)),
}
"""Where text of others stands: the keys that lead there, and the keys that lead back."""


def hostile(payload: str) -> Rehearsal:
    """A queue in which every text of others is the payload."""
    several = [_hostile(one, payload) for one in candidates()[:3]]
    heard = Heard("1f0c9a2b", "2026-11-20", one_line(payload, 40), _passages(payload))
    near = Near("lesson", one_line(payload, 80), one_line(payload), 0.9, "1f0c9a2b")
    told = (one_line(payload),)
    return Rehearsal(
        several,
        heard={one.id: (heard, heard) for one in several},
        near={one.id: (near, near) for one in several},
        overview=Overview(seen_once=told, left_out=told, last_night=one_line(payload)),
    )


def _hostile(one: Candidate, payload: str) -> Candidate:
    """A candidate as no check would let it in."""
    fields: dict[str, Any] = {name: getattr(one, name) for name in type(one).model_fields}
    text = dict.fromkeys(("slug", "topic", "symptom", "rule", "backend"), payload)
    return Candidate.model_construct(**(fields | text | {"agents": (payload,), "flags": ()}))


def _passages(payload: str) -> tuple[Passage, ...]:
    return tuple(Passage(speaker, inert(payload)) for speaker in Speaker)


@pytest.mark.parametrize("name", PAYLOADS)
def test_nothing_steers_the_terminal(name: str) -> None:
    """On no surface does a control, hidden or half character reach a cell of the screen."""

    async def scene() -> dict[str, list[str]]:
        found: dict[str, list[str]] = {}
        async with sitting(hostile(PAYLOADS[name]), size=(100, 30)) as one:
            for surface, (there, back) in SURFACES.items():
                await one.press(*there)
                found[surface] = steering(one.text() + html.unescape(one.app.export_screenshot()))
                await one.press(*back)
        return found

    assert asyncio.run(scene()) == {surface: [] for surface in SURFACES}


def test_markup_is_shown_as_it_is() -> None:
    """Square brackets of others are square brackets."""

    async def scene() -> None:
        async with sitting(hostile(PAYLOADS["markup"])) as one:
            assert "[bold red on white]loud[/]" in one.text()

    asyncio.run(scene())


@pytest.mark.parametrize("name", PAYLOADS)
def test_errors_and_empty_pages_are_inert(name: str) -> None:
    """What an error quotes, and what the empty queue tells, is inert too."""
    payload = PAYLOADS[name]

    async def scene() -> None:
        empty = Rehearsal([], overview=hostile(payload)._overview)
        async with sitting(empty) as one:
            assert steering(one.text()) == []
            one.queue.post_message(Failed(Refused(payload, remedy=payload)))
            await one.quiet()
            assert steering(one.text()) == []

    asyncio.run(scene())


@pytest.mark.parametrize("name", sorted(set(PAYLOADS) - {"megabyte"}))
def test_pasting_into_a_field_is_inert(name: str) -> None:
    """What is pasted into a field arrives with its hidden characters marked, on one line."""

    async def scene(one: Sitting) -> None:
        await one.press("e")
        one.app.screen.focused.post_message(events.Paste(PAYLOADS[name]))  # type: ignore[union-attr]
        await one.quiet()
        assert steering(one.text()) == []
        await one.press("escape", "escape", "slash")
        one.queue.focused.post_message(events.Paste(PAYLOADS[name]))  # type: ignore[union-attr]
        await one.quiet()
        assert steering(one.text()) == []

    async def run() -> None:
        async with sitting() as one:
            await scene(one)

    asyncio.run(run())


SCRIPTS: Final = {
    "look": ("v", "d", "?", "n", "p", "q"),
    "decide": ("x", "1", "u", "s", "2", "q"),
    "edit": ("e", "", "", "", "q"),
    "merge": ("m", "9", "m", "1", "q"),
    "close": ("a", "no", "a", "a", "q"),
    "nonsense": ("\x1b[31mx", "", "\u202e", "q"),
}


@pytest.mark.parametrize("script", SCRIPTS)
@pytest.mark.parametrize("name", PAYLOADS)
def test_the_plain_form_is_inert(name: str, script: str) -> None:
    """No line and no prompt of the linear form holds a character that acts."""
    said: list[str] = []
    answers = iter(SCRIPTS[script])

    def ask(prompt: str) -> str:
        said.append(prompt)
        try:
            return next(answers)
        except StopIteration:
            raise EOFError from None

    sit(Plain(hostile(PAYLOADS[name]), said.append, ask, TODAY))
    assert steering("".join(said)) == []
    assert all("\n" not in line for line in said)
