"""``dreaming daemon``: start nights where nothing else does."""

from __future__ import annotations

from pathlib import Path

import click

from dreaming.cli import options


@click.command(short_help="Start nights from a program that keeps running.")
@click.option("--once", is_flag=True, help="Look once whether a night is due, and end with it.")
@options.workspace
@options.quiet
def daemon(once: bool, workspace: Path | None, quiet: bool) -> int:
    """Look each hour whether a night is due, and start it as a program of its own.

    For machines without systemd and launchd. What was missed while this did not run or the machine
    slept is made up for: what is due decides, not what was planned. Ends on SIGTERM and Ctrl-C,
    and ends the night that runs.
    """
    from dreaming import wiring
    from dreaming.cli.output import say
    from dreaming.daemon import serve

    here = wiring.place(wiring.Choices(workspace))
    return serve(wiring.plan(here), once=once, note=lambda text: say(text, quiet=quiet))
