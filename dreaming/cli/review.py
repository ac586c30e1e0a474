"""``dreaming review``: look at what waits and decide, on a screen or in lines."""

from __future__ import annotations

import os
import sys
from pathlib import Path
from typing import TYPE_CHECKING

import click

from dreaming.cli import options
from dreaming.cli.output import ask, data, say

if TYPE_CHECKING:
    from dreaming.wiring import Place


@click.command(short_help="Decide about what waits, one by one.")
@click.option("--plain", is_flag=True, help="In lines, for screen readers and dumb terminals.")
@options.workspace
@options.person
def review(plain: bool, workspace: Path | None, i_am_a_person: bool) -> int:
    """Go through the queue: symptom, rule, evidence, what is known already; decide by one key.

    Every decision is kept at once and can be undone, today or later.
    """
    from dreaming import wiring
    from dreaming.jobs import decide

    if not i_am_a_person:
        decide.refuse_agents(os.environ)
    here = wiring.place(wiring.Choices(workspace))
    if plain or _is_dumb():
        _in_lines(here, told=plain)
        return 0
    return _on_a_screen(here)


def _is_dumb() -> bool:
    """Whether there is no terminal to draw on."""
    term = os.environ.get("TERM", "dumb")
    return term in ("", "dumb") or not (sys.stdin.isatty() and sys.stdout.isatty())


def _on_a_screen(here: Place) -> int:
    # The screen costs a third of a second to import; lines do not need it.
    from dreaming import wiring
    from review_tui.app import ReviewApp

    app = ReviewApp(lambda: wiring.review(here), keys=here.person.keys, theme=here.person.theme)
    app.run()
    if app.broken is not None:
        raise app.broken
    return app.return_code or 0


def _in_lines(here: Place, *, told: bool) -> None:
    from datetime import UTC, datetime

    from dreaming import wiring
    from review_tui.actions import table
    from review_tui.plain import Plain, sit

    if not told:
        say("There is no terminal to draw on, so this goes line by line.")
    with wiring.review(here) as found:
        today = datetime.now(UTC).date()
        sit(Plain(found, data, ask, today, table(here.person.keys), more=_has_more))


def _has_more() -> bool:
    """Whether a terminal holds lines that were typed before anybody could read the answer."""
    if not sys.stdin.isatty():
        return False
    import select

    return bool(select.select([sys.stdin], [], [], 0)[0])
