"""``dreaming accept``: a candidate, or one's own lesson, becomes a line that agents load."""

from __future__ import annotations

import os
import sys
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import TYPE_CHECKING

import click

from dreaming.cli import options
from dreaming.cli.output import count, data, document, line, say

if TYPE_CHECKING:
    from dreaming.jobs.decide import Desk, Neighbour, Written


@click.command(short_help="Make a candidate a lesson.")
@click.argument("candidate", required=False, default="")
@click.option("--topic", default="", help="Put it under this topic instead of the proposed one.")
@click.option("--symptom", default="", help="Say what goes wrong in these words.")
@click.option("--rule", default="", help="Say what to do in these words.")
@click.option("--force", default="", metavar="WHY", help="Write it although a lesson is near.")
@options.workspace
@options.dry_run
@options.as_json
@options.person
def accept(
    candidate: str,
    topic: str,
    symptom: str,
    rule: str,
    force: str,
    workspace: Path | None,
    dry_run: bool,
    as_json: bool,
    i_am_a_person: bool,
) -> int:
    """Accept CANDIDATE (its id, or the beginning of it): one line is added to the knowledge base.

    Without CANDIDATE, --topic, --symptom and --rule together add a lesson of your own.

    Ends with 3 when the knowledge base says it already, or nearly (--force WHY writes it all the
    same), and 4 when the text must not be written.
    """
    from dreaming import wiring
    from dreaming.errors import WrongUse
    from dreaming.jobs import decide

    if not candidate and not (topic and symptom and rule):
        raise WrongUse(
            "Name a candidate, or say --topic, --symptom and --rule.",
            remedy="`dreaming pending list` shows what waits.",
        )
    if not i_am_a_person and not dry_run:
        decide.refuse_agents(os.environ)
    with wiring.desk(wiring.place(wiring.Choices(workspace))) as desk:

        def write(reason: str) -> Written:
            if candidate:
                return decide.accept(
                    desk, candidate, topic=topic, symptom=symptom, rule=rule,
                    force=reason, dry_run=dry_run,
                )  # fmt: skip
            return decide.accept_own(desk, topic, symptom, rule, force=reason, dry_run=dry_run)

        written = _write(desk, write, force, ask=_is_terminal() and not as_json)
    if as_json:
        document(_as_document(written, dry_run))
    else:
        _print(written, dry_run)
    return 0


def _is_terminal() -> bool:
    return sys.stdin.isatty() and sys.stderr.isatty()


def _write(desk: Desk, write: Callable[[str], Written], force: str, *, ask: bool) -> Written:
    """Write it; where a line is near, let one key decide on a terminal and nobody elsewhere."""
    from dreaming.jobs.decide import NearlyKnown

    try:
        return write(force)
    except NearlyKnown as close:
        _show(close.neighbours)
        if not ask:
            raise
        say("Is it another lesson? y writes it, any other key writes nothing.")
        if click.getchar().lower() != "y":
            raise
        return write("a person saw what is near and said it is another lesson")
    finally:
        for note in desk.notes:
            say(note)
        desk.notes.clear()


def _show(neighbours: Sequence[Neighbour]) -> None:
    for one in neighbours:
        kind = "rejected" if one.kind == "rejected" else "known"
        say(f"{one.likeness:4.0%} {kind}  {one.path}:{one.number}: {line(one.text)}")


def _as_document(written: Written, dry_run: bool) -> dict[str, object]:
    return {
        "candidate": written.candidate.id if written.candidate else "",
        "lesson": written.lesson,
        "path": str(written.path),
        "line": written.line,
        "written": not dry_run,
        "decision": written.decision,
        "neighbours": [
            {
                "path": str(one.path),
                "line": one.number,
                "text": one.text,
                "likeness": one.likeness,
                "kind": one.kind,
                "lesson": one.lesson,
            }
            for one in written.neighbours
        ],
    }


def _print(written: Written, dry_run: bool) -> None:
    if written.neighbours:
        say("Closest to it:")
        _show(written.neighbours)
    data(f"{'would add to' if dry_run else 'added to'} {written.path}")
    data(f"+{written.line}")
    say(f"{count(written.waiting, 'candidate waits', 'candidates wait')}.")
    if written.decision:
        say("`dreaming undo` takes it back.")
