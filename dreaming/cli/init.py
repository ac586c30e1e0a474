"""``dreaming init``: make a workspace."""

from __future__ import annotations

import sys
from pathlib import Path
from typing import TYPE_CHECKING

import click

from dreaming.cli.output import say

if TYPE_CHECKING:
    from dreaming.stores.workspace import Workspace


@click.command(short_help="Make a workspace.")
@click.argument("folder", type=click.Path(path_type=Path), required=False)
@click.option(
    "--key",
    type=click.Path(path_type=Path),
    help="Use this workspace key (32 bytes), so that ids are the same on two machines.",
)
def init(folder: Path | None, key: Path | None) -> None:
    """Make a workspace in FOLDER (else ~/.dreaming).

    Lays out knowledge_base/, pending/ and ledger/, and this machine's own folder outside it. What
    stands there already is left as it is.
    """
    from dreaming import wiring
    from dreaming.stores.workspace import Workspace, default_root, state_home

    found = Workspace(folder or default_root(Path.home()), state_home())
    asks = not found.exists and sys.stdin.isatty() and sys.stderr.isatty()
    new = wiring.lay_out(found, key, _sessions_kept() if asks else "off")
    say(f"{found.root} is {'now a workspace' if new else 'a workspace already'}.")
    say(f"  knowledge base  {found.knowledge_base}  (yours; only accepted lessons are added)")
    say(f"  queue           {found.pending}  (what waits for you)")
    say(f"  ledger          {found.ledger}  (what you decided)")
    say(f"  this machine    {found.state}  (excerpts, cursors, key; never committed)")
    say(f"  whole sessions  {found.archive}  ({_kept(found)})")
    say("Next: dreaming nightly")


def _sessions_kept() -> str:
    """Ask for how long whole redacted sessions are kept."""
    say("Agents delete their transcripts; Claude Code does so after 30 days unless told otherwise.")
    say("What was redacted can be kept here, compressed, so that a better miner reads it again.")
    chosen: str = click.prompt(
        "Keep redacted sessions for how long?",
        type=click.Choice(["off", "180 days", "forever"]),
        default="off",
        err=True,
    )
    return chosen


def _kept(found: Workspace) -> str:
    """What of whole sessions is kept, and where that is set."""
    from dreaming.config import read_workspace

    kept = read_workspace(found.settings).retention.sessions
    said = "none are kept" if kept == "off" else f"redacted, kept {kept}"
    return f"{said}; [retention] in {found.settings.name}"
