"""``dreaming inspect``: look at what there is without spending anything."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING

import click

from dreaming.cli import options
from dreaming.cli.output import count, data, document, progress, size

if TYPE_CHECKING:
    from dreaming.jobs.survey import Survey


@click.command(short_help="Survey the sessions without spending anything.")
@options.workspace
@options.transcripts
@click.option(
    "--file",
    "one_file",
    type=click.Path(path_type=Path, exists=True, dir_okay=False),
    help="Look at one transcript.",
)
@click.option("--render", is_flag=True, help="With --file: print exactly what a backend would get.")
@options.as_json
@options.quiet
def inspect(
    workspace: Path | None,
    transcripts: Sequence[tuple[str, Path]],
    one_file: Path | None,
    render: bool,
    as_json: bool,
    quiet: bool,
) -> None:
    """Survey the sessions: sizes, agents, versions, projects, refusals, tokens and price.

    Reads everything, asks nobody, keeps nothing.
    """
    from dreaming import wiring
    from dreaming.errors import WrongUse

    choices = wiring.Choices(workspace, transcripts)
    here = wiring.place(choices)
    if render != (one_file is not None):
        raise WrongUse("--file and --render go together.")
    if one_file is not None:
        data(wiring.rendered(here, one_file))
        return
    found = wiring.survey(here, choices, progress(quiet or as_json))
    if as_json:
        document(found)
    else:
        _print(found)


def _print(found: Survey) -> None:
    data(f"{found.found} files")
    for reason, number in sorted(found.verdicts.items(), key=lambda one: (-one[1], one[0])):
        data(f"  {number:>6}  {reason}")
    for agent, one in sorted(found.agents.items()):
        kinds = ", ".join(f"{number} {kind}" for kind, number in sorted(one.kinds.items()))
        data(f"{agent}: {count(one.sessions, 'session')}, {size(one.bytes)} ({kinds})")
        versions = ", ".join(f"{name} ({number})" for name, number in sorted(one.versions.items()))
        data(f"  versions {versions}")
    data(f"refused: {size(found.refused_bytes)} in transcripts that are excluded or held")
    for identity, number in sorted(found.projects.items(), key=lambda one: (-one[1], one[0])):
        data(f"  {number:>6}  excerpts of {identity}")
    for kind, number in sorted(found.unknown_records.items()):
        data(f"  {number:>6}  unknown record {kind}")
    data(f"{count(found.excerpts, 'excerpt')}, about {found.tokens} tokens for a model")
    for name, dollars in sorted(found.cost.items()):
        data(f"  {name:<32} ${dollars:.2f}")
