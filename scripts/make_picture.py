"""Makes docs/review.svg, the picture in the README, from the real screen on its invented sample.

    python scripts/make_picture.py            writes docs/review.svg
    python scripts/make_picture.py FILE       writes there

The same screen always gives the same bytes.
"""

from __future__ import annotations

import asyncio
import contextlib
import re
import sys
from datetime import date
from pathlib import Path

from review_tui.app import ReviewApp
from review_tui.sample import rehearsal

TARGET = Path(__file__).parent.parent / "docs" / "review.svg"
SIZE = (112, 38)
FRAMES = 400
"""Turns of the screen's loop that it is given to settle."""


async def picture() -> str:
    """Open the screen, go one candidate down, and take its picture when everything is there."""
    app = ReviewApp(
        lambda: contextlib.nullcontext(rehearsal()),
        theme="dark",
        today=lambda: date(2026, 11, 30),
    )
    async with app.run_test(size=SIZE) as pilot:
        await pilot.press("j")
        for _ in range(FRAMES):
            await pilot.pause(0.005)
            shown = app.export_screenshot(title="dreaming review")
            if "5e2a90c1" in shown or "workflow.md:7" in shown:
                break
        await pilot.pause()
        return re.sub(r"terminal-\d+", "terminal", app.export_screenshot(title="dreaming review"))


if __name__ == "__main__":
    target = Path(sys.argv[1]) if len(sys.argv) > 1 else TARGET
    target.write_text(asyncio.run(picture()), encoding="utf-8")
