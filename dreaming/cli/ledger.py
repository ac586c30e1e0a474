"""``dreaming ledger``: what was decided, and whether the record is as it was written."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from dreaming.cli import options
from dreaming.cli.output import count, data, document, line, say

if TYPE_CHECKING:
    from dreaming.models.decision import Decision


@click.group()
def ledger() -> None:
    """Look at what was decided, and check the record of it."""


@ledger.command()
@click.argument("wanted", required=False, default="")
@click.option("--limit", type=click.IntRange(1), default=50, show_default=True, help="How many.")
@options.workspace
@options.as_json
def show(wanted: str, limit: int, workspace: Path | None, as_json: bool) -> None:
    """Show decisions, newest first: all, or those about WANTED, a candidate, lesson or topic."""
    from dreaming import wiring
    from dreaming.jobs import past
    from dreaming.stores.ledger import Ledger

    here = wiring.place(wiring.Choices(workspace))
    found = past.read(Ledger(here.workspace.ledger, "reader").decisions())
    chosen = [one for one in reversed(found.every.values()) if _is_about(one, wanted)][:limit]
    if as_json:
        document([_as_document(one, one.name in found.void) for one in chosen])
        return
    for one in chosen:
        about = (one.candidate or one.lesson)[:8]
        back = "  (taken back)" if one.name in found.void else ""
        until = f" until {one.until}" if one.until else ""
        into = f" {one.target}" if one.target else ""
        data(
            f"{one.at:%Y-%m-%d %H:%M}  {one.name:<20} {one.action}{until}{into}  {about}  "
            f"{one.reviewer}{back}"
        )
        for sign, text in (("-", one.was), ("+", one.text)):
            if text:
                data(f"    {sign if one.phase == 'intent' else ' '} {line(text)}", dim=True)
        if one.why:
            data(f"      why: {line(one.why)}", dim=True)
    if not chosen:
        say("Nothing was decided yet." if not wanted else f"No decision is about {wanted}.")


@ledger.command()
@options.workspace
@options.as_json
def verify(workspace: Path | None, as_json: bool) -> int:
    """Check every chain whole: no line edited, lost, moved or cut off. Ends with 78 if one was."""
    from dreaming import wiring
    from dreaming.errors import Unusable
    from dreaming.stores.ledger import Head, Ledger

    here = wiring.place(wiring.Choices(workspace))
    with wiring.state(here) as state:
        kept = {name: Head.parse(text) for name, text in state.beginning("head ").items()}
    reader = Ledger(here.workspace.ledger, "reader")
    broken = reader.verify(kept)
    if as_json:
        document(
            {
                "whole": not broken,
                "chains": {} if broken else _heads(reader.heads()),
                "broken": [
                    {"path": str(one.path), "line": one.line, "what": one.what} for one in broken
                ],
            }
        )
        return Unusable.EXIT_CODE if broken else 0
    for one in broken:
        data(str(one))
    if broken:
        raise Unusable(
            f"{count(len(broken), 'place')} of the ledger "
            f"{'is' if len(broken) == 1 else 'are'} not as written.",
            remedy="Put the files back as they were (git, backup).",
        )
    for name, head in reader.heads().items():
        seen = "" if name in kept else "  (its end was not seen before)"
        data(f"{name}  {count(head.lines, 'line')}, {head.hash}{seen}")
    say("Every chain is whole.")
    return 0


def _is_about(one: Decision, wanted: str) -> bool:
    return (
        not wanted
        or one.topic == wanted
        or any(
            id_.startswith(wanted)
            for id_ in (one.candidate, one.lesson, one.target, one.name)
            if id_
        )
    )


def _as_document(one: Decision, taken_back: bool) -> dict[str, Any]:
    return {
        "name": one.name,
        "taken_back": taken_back,
        **one.model_dump(mode="json", exclude={"writer", "prev", "phase", "after", "before"}),
    }


def _heads(heads: dict[str, Any]) -> dict[str, dict[str, Any]]:
    return {name: {"lines": head.lines, "head": head.hash} for name, head in heads.items()}
