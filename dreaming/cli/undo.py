"""``dreaming undo``: a decision is taken back."""

from __future__ import annotations

import os
from pathlib import Path

import click

from dreaming.cli import options
from dreaming.cli.output import data, document, say


@click.command(short_help="Take a decision back.")
@click.argument("decision", required=False, default="")
@options.workspace
@options.as_json
@options.person
def undo(decision: str, workspace: Path | None, as_json: bool, i_am_a_person: bool) -> int:
    """Take back the last decision, or DECISION: its name, or the id of its candidate or lesson.

    The line goes out of the knowledge base again, and the candidate waits again. The ledger keeps
    both steps; undoing an undo, by its name, decides again.
    """
    from dreaming import wiring
    from dreaming.jobs import decide

    if not i_am_a_person:
        decide.refuse_agents(os.environ)
    with wiring.desk(wiring.place(wiring.Choices(workspace))) as desk:
        undone = decide.undo(desk, decision)
    for note in desk.notes:
        say(note)
    if as_json:
        document(
            {
                "undone": undone.decision,
                "action": undone.action,
                "candidate": undone.candidate,
                "path": str(undone.path) if undone.path else "",
                "line": undone.line,
                "was": undone.was,
                "waits_again": undone.waits_again,
            }
        )
        return 0
    about_hit = undone.action in ("allow", "release")
    about = undone.candidate or ("a hit" if about_hit else "a lesson of your own")
    data(f"took back {undone.decision}: {undone.action} of {about}")
    if about_hit:
        say("The next night goes by it; what came in because of it is withdrawn.")
    if undone.path is not None:
        data(str(undone.path))
        for sign, line in (("-", undone.was), ("+", undone.line)):
            if line:
                data(f"{sign}{line}")
    if undone.waits_again:
        say(f"{undone.candidate[:8]} waits again.")
    elif undone.candidate:
        say("If it still stands, the next night proposes it again.")
    return 0
