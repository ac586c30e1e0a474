"""What a person sees, as pictures: at 80x24 and 120x34, dark and light, and without colour."""

from __future__ import annotations

import asyncio
import re
from collections.abc import Callable
from typing import Final

import pytest

from tests.tui.sitting import sitting

SCENES: Final = {
    "queue-120x34": ((120, 34), (), "dark"),
    "queue-80x24": ((80, 24), ("j",), "dark"),
    "queue-60x20": ((60, 20), ("j", "a", "escape", "x", "2"), "dark"),
    "light-120x34": ((120, 34), ("j", "space", "j", "j", "j", "j"), "light"),
    "edit-80x24": ((80, 24), ("e", "escape"), "dark"),
    "merge-80x24": ((80, 24), ("j", "m"), "dark"),
    "bulk-80x24": ((80, 24), ("space", "space", "space", "a", "2"), "dark"),
    "evidence-80x24": ((80, 24), ("v",), "dark"),
    "help-120x34": ((120, 34), ("question_mark",), "dark"),
}
"""Size, keys, theme."""
STILL: Final = 8
"""Looks in a row that have to show the same before it counts as the picture."""


async def picture(size: tuple[int, int], keys: tuple[str, ...], theme: str) -> str:
    """Press keys and take a picture whose ids do not change."""
    async with sitting(size=size, theme=theme, rest=0.06) as one:
        await one.press(*keys)
        shown, same = "", 0
        while same < STILL:
            await one.pilot.pause(0.01)
            before, shown = shown, one.app.export_screenshot()
            same = same + 1 if shown == before else 0
        return re.sub(r"terminal-\d+", "terminal", shown)


@pytest.mark.parametrize("scene", SCENES)
def test_picture(scene: str, golden: Callable[[str, str], None]) -> None:
    """The screen looks as it did; a change is looked at in review."""
    golden(asyncio.run(picture(*SCENES[scene])), "svg")


@pytest.mark.parametrize("light", ["0;15", "15;0", ""])
def test_without_colour_there_is_none(light: str, monkeypatch: pytest.MonkeyPatch) -> None:
    """NO_COLOR leaves the terminal's own two colours; bold and reverse tell things apart."""
    monkeypatch.setenv("NO_COLOR", "1")
    monkeypatch.setenv("COLORFGBG", light)

    async def colours() -> set[str]:
        async with sitting() as one:
            await one.press("j")
            strips = one.app.screen._compositor.render_strips()
            styles = [segment.style for strip in strips for segment in strip if segment.style]
            shown = {style.color for style in styles} | {style.bgcolor for style in styles}
            return {colour.name for colour in shown if colour and not colour.is_default}

    assert asyncio.run(colours()) == set()
