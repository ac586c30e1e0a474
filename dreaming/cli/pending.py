"""``dreaming pending``: look at the queue."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

import click

from dreaming.cli import options
from dreaming.cli.output import count, data, document, say

if TYPE_CHECKING:
    from dreaming.models.candidate import Candidate


@click.group()
def pending() -> None:
    """Look at what waits for a decision."""


@pending.command("list")
@options.workspace
@options.as_json
def list_(workspace: Path | None, as_json: bool) -> None:
    """List what waits, best first."""
    found = _waiting(workspace)
    if as_json:
        document([one.model_dump(mode="json", by_alias=True) for one in found])
        return
    for one in found:
        flags = f"  ({', '.join(one.flags)})" if one.flags else ""
        data(f"{one.id[:8]}  {one.sessions:>2} sessions  {one.topic:<14} {one.rule}{flags}")
    waits = count(len(found), "candidate waits", "candidates wait")
    say(f"{waits}. `dreaming pending show ID` shows one." if found else "Nothing waits.")


@pending.command()
@click.argument("candidate")
@options.workspace
@options.as_json
def show(candidate: str, workspace: Path | None, as_json: bool) -> None:
    """Show CANDIDATE (its id, or the beginning of it)."""
    from dreaming.errors import WrongUse

    found = [one for one in _waiting(workspace) if one.id.startswith(candidate)]
    if len(found) != 1:
        raise WrongUse(f"{len(found)} waiting candidates begin with {candidate}.")
    one = found[0]
    if as_json:
        document(one.model_dump(mode="json", by_alias=True))
        return
    data(f"{one.id}  {one.slug}")
    data(f"topic     {one.topic}")
    data(f"symptom   {one.symptom}")
    data(f"rule      {one.rule}")
    data(f"sessions  {one.sessions} ({', '.join(one.agents)})")
    data(f"seen      {_day(one.first_seen)} to {_day(one.last_seen)}")
    data(f"score     {one.score} ({one.backend})")
    if one.flags:
        data(f"flags     {', '.join(one.flags)}")
    say(f"`dreaming reveal {one.id[:8]}` shows the evidence; accept or reject it by its id.")


def _day(instant: object) -> str:
    return f"{instant:%Y-%m-%d}" if instant else "unknown"


def _waiting(workspace: Path | None) -> list[Candidate]:
    from dreaming import wiring
    from dreaming.stores.pending import Pending

    return Pending(wiring.place(wiring.Choices(workspace)).workspace.pending).all()
