"""``dreaming pending``: look at the queue."""

from __future__ import annotations

import os
from datetime import date, datetime
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from dreaming.cli import options
from dreaming.cli.output import count, data, document, line, say

if TYPE_CHECKING:
    from collections.abc import Callable

    from dreaming.jobs.decide import Desk
    from dreaming.models.candidate import Candidate


@click.group()
def pending() -> None:
    """Look at what waits for a decision, put it off, or merge it."""


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
        data(f"{one.id[:8]}  {one.sessions:>2} sessions  {one.topic:<14} {line(one.rule)}{flags}")
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
    data(f"symptom   {line(one.symptom)}")
    data(f"rule      {line(one.rule)}")
    data(f"sessions  {one.sessions} ({line(', '.join(one.agents))})")
    data(f"seen      {_day(one.first_seen)} to {_day(one.last_seen)}")
    data(f"score     {one.score} ({line(one.backend)})")
    if one.flags:
        data(f"flags     {', '.join(one.flags)}")
    say(f"`dreaming reveal {one.id[:8]}` shows the evidence; accept or reject it by its id.")


@pending.command()
@click.argument("candidate")
@click.argument("target")
@options.workspace
@options.as_json
@options.person
def merge(
    candidate: str, target: str, workspace: Path | None, as_json: bool, i_am_a_person: bool
) -> None:
    """Say that CANDIDATE is the same as TARGET, another that waits or a lesson there is.

    It leaves the queue, and what is seen of it from now on counts towards TARGET.
    """
    from dreaming.jobs import decide

    gone = _decide(workspace, i_am_a_person, lambda desk: decide.merge(desk, candidate, target))
    if as_json:
        document({"candidate": gone.id, "merged": True, "target": target})
    else:
        data(f"merged {gone.id} into {target}: {line(gone.rule)}")


class _Until(click.ParamType[date]):
    """A day."""

    name = "YYYY-MM-DD"

    def convert(self, value: Any, param: Any, ctx: Any) -> date:
        if isinstance(value, date):
            return value
        try:
            return datetime.strptime(str(value), "%Y-%m-%d").date()  # noqa: DTZ007
        except ValueError:
            self.fail(f"{value!r}: write a day as 2026-12-24.")


@pending.command()
@click.argument("candidate")
@click.option("--until", type=_Until(), help="Bring it back on this day.")
@click.option("--sessions", type=click.IntRange(1), help="Bring it back after as many new ones.")
@options.workspace
@options.as_json
@options.person
def later(
    candidate: str,
    until: date | None,
    sessions: int | None,
    workspace: Path | None,
    as_json: bool,
    i_am_a_person: bool,
) -> None:
    """Put CANDIDATE off until a day, or until it was seen in some more sessions."""
    from dreaming.jobs import decide

    gone = _decide(
        workspace,
        i_am_a_person,
        lambda desk: decide.later(desk, candidate, until=until, sessions=sessions or 0),
    )
    what = str(until) if until else count(sessions or 0, "new session")
    if as_json:
        document({"candidate": gone.id, "put_off": True, "until": str(until or sessions)})
    else:
        data(f"put off {gone.id} until {what}: {line(gone.rule)}")


def _decide(
    workspace: Path | None, is_person: bool, decision: Callable[[Desk], Candidate]
) -> Candidate:
    from dreaming import wiring
    from dreaming.jobs import decide

    if not is_person:
        decide.refuse_agents(os.environ)
    with wiring.desk(wiring.place(wiring.Choices(workspace))) as desk:
        gone = decision(desk)
    for note in desk.notes:
        say(note)
    return gone


def _day(instant: object) -> str:
    return f"{instant:%Y-%m-%d}" if instant else "unknown"


def _waiting(workspace: Path | None) -> list[Candidate]:
    from dreaming import wiring
    from dreaming.stores.pending import Pending

    return Pending(wiring.place(wiring.Choices(workspace)).workspace.pending).all()
