"""``dreaming reveal``: the deliberate, local look-up of evidence."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Final

import click

from dreaming.cli import options
from dreaming.cli.output import data, document, line, say

SHORTEST: Final = 4
"""Characters of an id: what is shown and logged is what somebody meant."""


@click.command(short_help="Show the evidence of candidates (local).")
@click.argument("candidates", nargs=-1)
@click.option("--all", "everything", is_flag=True, help="All that waits, best first.")
@options.workspace
@options.as_json
def reveal(
    candidates: Sequence[str], everything: bool, workspace: Path | None, as_json: bool
) -> None:
    """Show which sessions and words CANDIDATES rest on. Stays on this machine, and is logged."""
    from dreaming import wiring
    from dreaming.errors import WrongUse
    from dreaming.jobs import evidence
    from dreaming.stores.pending import Pending

    here = wiring.place(wiring.Choices(workspace))
    waiting = Pending(here.workspace.pending).all()
    if bool(candidates) == everything:
        raise WrongUse("Name candidates, or say --all.")
    if short := [wanted for wanted in candidates if len(wanted) < SHORTEST]:
        raise WrongUse(f"{short[0]!r} is too short; write at least {SHORTEST} characters of an id.")
    chosen = [one for one in waiting if everything or one.id.startswith(tuple(candidates))]
    missing = [
        wanted for wanted in candidates if not any(one.id.startswith(wanted) for one in chosen)
    ]
    if missing:
        raise WrongUse(f"No candidate {missing[0]} waits.")
    with wiring.state(here) as state:
        found = evidence.reveal(chosen, state)
    evidence.log(here.workspace.state / "reveals.log", [one.id for one in chosen])
    if as_json:
        document(found)
        return
    for one in found:
        data(f"{one.id[:8]}  {line(one.rule)}")
        if one.fixed:
            data(f"    maybe fixed: {line(one.fixed)}")
        for quote in one.evidence:
            words = line(quote.quote)
            data(
                f"    {quote.agent} {quote.session_id} line {quote.line} ({quote.speaker}): {words}"
            )
    if not found:
        say("Nothing waits.")
