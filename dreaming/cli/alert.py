"""``dreaming alert``: tell a person that nights are in trouble."""

from __future__ import annotations

import os
import time
from pathlib import Path
from typing import TYPE_CHECKING

import click

from dreaming.cli import options
from dreaming.cli.output import say
from dreaming.errors import DreamingError

if TYPE_CHECKING:
    from dreaming.jobs.health import Trouble
    from dreaming.wiring import Place


@click.command(short_help="Tell a person that nights are in trouble.")
@options.workspace
@click.option("--test", is_flag=True, help="Send a message now, to see that it arrives.")
@click.option("--failed", metavar="UNIT", help="Say that this unit ended; its manager calls it so.")
def alert(workspace: Path | None, test: bool, failed: str | None) -> int:
    """Tell what the last night came to, the way [alert] in your config.toml says.

    Your command gets the message on its input; the ping address is called. Never with text of a
    transcript. Each trouble is told once a day. Ends with 1 where something could not be told.
    """
    from dreaming import wiring
    from dreaming.jobs import alerting

    here = wiring.place(wiring.Choices(workspace))
    if test:
        settings = here.person.alert
        if not settings.asked_for:
            say(f"Nobody is told: {here.config_file} has no [alert] with command or ping_url.")
            return 1
        wrong = alerting.try_out(settings, str(here.workspace.root))
        say("\n".join(wrong) or "Sent.")
        return 1 if wrong else 0
    word = alerting.unit_failed(failed, os.environ) if failed else None
    if word is not None:
        say(f"dreaming: {word.said} {word.remedy}")
    return tell(here, word)


def tell(here: Place, word: Trouble | None) -> int:
    """Tell of the last run; a word that the state cannot hold is told all the same.

    Return 1 where something could not be told.
    """
    from dreaming import wiring
    from dreaming.jobs import alerting

    settings, named = here.person.alert, str(here.workspace.root)
    if not settings.asked_for:
        return 0
    try:
        with wiring.state(here) as state:
            wrong = alerting.after_night(state, settings, named, time.time(), word)
    except (DreamingError, OSError):
        if word is None:
            raise
        wrong = alerting.send(settings, word, named)
        wrong += alerting.ping(settings, in_order=False, failed=True)
    for one in wrong:
        say(f"dreaming: {one}")
    return 1 if wrong else 0
