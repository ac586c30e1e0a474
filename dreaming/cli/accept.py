"""``dreaming accept``: a candidate becomes a line of the knowledge base."""

from __future__ import annotations

import os
from pathlib import Path

import click

from dreaming.cli import options
from dreaming.cli.output import count, data, document, say


@click.command(short_help="Make a candidate a lesson.")
@click.argument("candidate")
@click.option("--topic", default="", help="Put it under this topic instead of the proposed one.")
@options.workspace
@options.dry_run
@options.as_json
@options.person
def accept(
    candidate: str,
    topic: str,
    workspace: Path | None,
    dry_run: bool,
    as_json: bool,
    i_am_a_person: bool,
) -> int:
    """Accept CANDIDATE (its id, or the beginning of it): one line is added to the knowledge base.

    Ends with 3 when the knowledge base says it already, and 4 when the text must not be written.
    """
    from dreaming import wiring
    from dreaming.jobs import decide

    if not i_am_a_person and not dry_run:
        decide.refuse_agents(os.environ)
    here = wiring.place(wiring.Choices(workspace))
    with wiring.desk(here) as desk:
        written = decide.accept(desk, candidate, topic=topic, dry_run=dry_run)
    for note in desk.notes:
        say(note)
    if as_json:
        document(
            {
                "candidate": written.candidate.id,
                "lesson": written.line[-13:-4].strip(),
                "path": str(written.path),
                "line": written.line,
                "written": not dry_run,
            }
        )
        return 0
    data(f"{'would add to' if dry_run else 'added to'} {written.path}")
    data(f"+{written.line}")
    say(f"{count(written.waiting, 'candidate waits', 'candidates wait')}.")
    return 0
