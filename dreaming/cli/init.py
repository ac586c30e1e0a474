"""``dreaming init``: make a workspace."""

from __future__ import annotations

from pathlib import Path

import click

from dreaming.cli.output import say


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
    new = wiring.lay_out(found, key)
    say(f"{found.root} is {'now a workspace' if new else 'a workspace already'}.")
    say(f"  knowledge base  {found.knowledge_base}  (yours; only accepted lessons are added)")
    say(f"  queue           {found.pending}  (what waits for you)")
    say(f"  ledger          {found.ledger}  (what you decided)")
    say(f"  this machine    {found.state}  (excerpts, cursors, key; never committed)")
    say("Next: dreaming nightly")
