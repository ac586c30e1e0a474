"""``dreaming alert``: tell a person that nights are in trouble."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

import click

from dreaming.cli import options
from dreaming.cli.output import say
from dreaming.errors import DreamingError, NotNow

if TYPE_CHECKING:
    from dreaming.jobs.health import Trouble
    from dreaming.jobs.unattended import Ended
    from dreaming.wiring import Place


@click.command(short_help="Tell a person that nights are in trouble.")
@options.workspace
@click.option("--test", is_flag=True, help="Send a message now, to see that it arrives.")
@click.option("--failed", metavar="UNIT", help="Say that this unit ended; its manager calls it so.")
@options.quiet
def alert(workspace: Path | None, test: bool, failed: str | None, quiet: bool) -> int:
    """Tell what the last night came to, the way [alert] in your config.toml says.

    Your command gets the message on its input; the ping address is called. Never with text of a
    transcript. Each trouble is told once a day. Ends with 1 where something could not be told.
    """
    from dreaming import wiring
    from dreaming.jobs import alerting
    from dreaming.jobs.health import Trouble

    here = wiring.place(wiring.Choices(workspace))
    settings, named = here.person.alert, str(here.workspace.root)
    if test:
        if not (settings.command or settings.ping_url):
            say(f"Nobody is told: {here.config_file} has no [alert] with command or ping_url.")
            return 1
        word = Trouble("test", "This is a test; nothing is wrong.", "There is nothing to do.")
        wrong = alerting.send(settings, word, named)
        wrong += alerting.ping(settings, in_order=True, failed=False)
        return _told(wrong, "Sent.", quiet)
    import os

    ended = alerting.unit_failed(failed, os.environ) if failed else None
    if ended is not None:
        say(f"dreaming: {ended.said} {ended.remedy}")
    return _told(_tell(here, ended), "", quiet)


def after_night(here: Place, ended: Ended) -> None:
    """Tell what a night came to, unless its unit has another that tells: this one is shut in."""
    import os

    from dreaming.jobs.gate import UNIT
    from dreaming.jobs.health import Trouble, meaning

    if os.environ.get(UNIT):
        return
    word = None
    if ended.report is None and ended.code not in (NotNow.EXIT_CODE, 130):
        word = Trouble(
            "failed",
            f"A night failed (exit {ended.code}): {meaning(ended.code)}",
            "`dreaming doctor` says what to do.",
        )
    _told(_tell(here, word), "", quiet=False)


def _tell(here: Place, word: Trouble | None) -> list[str]:
    """Tell of the last run; a word that the state cannot hold is told all the same."""
    import time

    from dreaming import wiring
    from dreaming.jobs import alerting

    settings, named = here.person.alert, str(here.workspace.root)
    if not (settings.command or settings.ping_url):
        return []
    try:
        with wiring.state(here) as state:
            return alerting.after_night(state, settings, named, time.time(), word)
    except (DreamingError, OSError):
        if word is None:
            raise
        return [
            *alerting.send(settings, word, named),
            *alerting.ping(settings, in_order=False, failed=True),
        ]


def _told(wrong: list[str], fine: str, quiet: bool) -> int:
    for one in wrong:
        say(f"dreaming: {one}")
    if fine and not wrong:
        say(fine, quiet=quiet)
    return 1 if wrong else 0
