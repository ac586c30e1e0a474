"""``dreaming first-night``: what ``make night`` runs. Says what it will read, asks, and reads."""

from __future__ import annotations

import shutil
import sys
from pathlib import Path
from typing import TYPE_CHECKING

import click

from dreaming.cli.output import count, say, size

if TYPE_CHECKING:
    from dreaming.wiring import FolderPreview, Place


@click.command("first-night", hidden=True)
@click.pass_context
def first_night(context: click.Context) -> int:
    """Run a night with the offline backend in the default workspace, after saying what it reads.

    Where no agent left a transcript it runs over the invented sample. Asks only on a terminal.
    """
    from dreaming import wiring
    from dreaming.cli.nightly import nightly

    choices = wiring.Choices(backend="offline")
    here = wiring.place(choices, must_exist=False)
    found = wiring.previews(here, choices)
    if not any(one.preview.found for one in found):
        code = _demo(context)
    elif _agreed(here, found):
        wiring.lay_out(here.workspace)
        code = context.invoke(nightly, workspace=here.workspace.root, backend="offline")
    else:
        say("Nothing was read and nothing was written.")
        return 0
    _say_where_it_is()
    return code


def _demo(context: click.Context) -> int:
    from dreaming.cli.demo import demo

    say("No coding agent left a transcript on this machine; here is the invented sample.")
    result = context.invoke(demo, offline=True)
    return result if isinstance(result, int) else 0


def _agreed(here: Place, found: list[FolderPreview]) -> bool:
    """Say what is going to be read and written, and ask where somebody can answer."""
    say("This night reads what coding agents left on this machine:")
    for one in found:
        due = one.preview
        number = count(due.transcripts, "transcript")
        say(f"  {one.agent:<12} {number:>18} {size(due.bytes):>10}  {_short(one.folder)}")
    _say_what_waits(here, found)
    say(f"It writes {_short(here.workspace.root)} and {_short(here.workspace.state)}.")
    say("Nothing leaves this machine: the offline backend asks no model and uses no network.")
    if not (sys.stdin.isatty() and sys.stdout.isatty()):
        return True
    return click.confirm("Go on?", default=True, err=True)


def _say_what_waits(here: Place, found: list[FolderPreview]) -> None:
    older = sum(one.preview.older for one in found)
    if older:
        held = size(sum(one.preview.older_bytes for one in found))
        say(f"  {older} older ones ({held}) wait for `dreaming nightly --since all`.")
    writing = sum(one.preview.writing for one in found)
    if writing:
        minutes = here.settings.settle
        say(f"  {writing} changed in the last {minutes} minutes and wait for the next night.")


def _say_where_it_is() -> None:
    """The command is rarely on the path of somebody who has just run ``make night``."""
    program = Path(sys.argv[0])
    if program.name == "dreaming" and shutil.which("dreaming") is None:
        here = Path.cwd()
        folder = program.parent
        shown = folder.relative_to(here) if folder.is_relative_to(here) else folder
        say(f"`dreaming` is {shown}/dreaming here; `source {shown}/activate` puts it on the path.")


def _short(path: Path) -> str:
    home = Path.home()
    return f"~/{path.relative_to(home)}" if path.is_relative_to(home) else str(path)
