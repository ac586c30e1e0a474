"""``dreaming reject``: a candidate is turned down."""

from __future__ import annotations

import os
from pathlib import Path

import click

from dreaming.cli import options
from dreaming.cli.output import data, document, line, say


@click.command(short_help="Turn a candidate down.")
@click.argument("candidate")
@click.option("--why", required=True, help="The reason, for the ledger: known, wrong, fixed, …")
@options.workspace
@options.as_json
@options.person
def reject(
    candidate: str, why: str, workspace: Path | None, as_json: bool, i_am_a_person: bool
) -> int:
    """Reject CANDIDATE (its id, or the beginning of it).

    It comes back only when its evidence has at least doubled and a new session joined.
    """
    from dreaming import wiring
    from dreaming.jobs import decide

    if not i_am_a_person:
        decide.refuse_agents(os.environ)
    here = wiring.place(wiring.Choices(workspace))
    with wiring.desk(here) as desk:
        gone = decide.reject(desk, candidate, why)
    for note in desk.notes:
        say(note)
    if as_json:
        document({"candidate": gone.id, "rejected": True, "why": why})
    else:
        data(f"rejected {gone.id}: {line(gone.rule)}")
    return 0
