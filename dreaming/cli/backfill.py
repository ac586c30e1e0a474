"""``dreaming backfill``: all the history that no night reads, in slices."""

from __future__ import annotations

import sys
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING

import click

from dreaming.cli import options
from dreaming.cli.output import count, data, document, progress, say, size, span, spending

if TYPE_CHECKING:
    from dreaming.jobs.backfill import Backfilled, Estimate
    from dreaming.jobs.limits import Limits
    from dreaming.wiring import Place


@click.command(short_help="Read all the nights before, in slices.")
@options.workspace
@options.transcripts
@options.backend
@click.option(
    "--doomed-first", is_flag=True, help="Read first what an agent is about to delete; else newest."
)
@click.option("--sessions", type=click.IntRange(min=1), help="Stop after so many sessions.")
@click.option("--tokens", type=click.IntRange(min=1), help="Stop after so many tokens.")
@options.money
@click.option("--minutes", type=click.IntRange(min=1), help="Stop after so many minutes.")
@click.option("--yes", "-y", is_flag=True, help="Do not ask.")
@options.dry_run
@options.as_json
@options.quiet
def backfill(
    workspace: Path | None,
    transcripts: Sequence[tuple[str, Path]],
    backend: str | None,
    doomed_first: bool,
    yes: bool,
    dry_run: bool,
    as_json: bool,
    quiet: bool,
    **limits: float | None,
) -> int:
    """Read what is older than the first night, and all else that nobody has read yet.

    Says first what that takes, and asks. Stop it when you like: run again it goes on where it was.
    Nights may come in between. Ends with 0 when everything is settled, and with 75 when a limit
    left something for the next time.
    """
    from dreaming import wiring
    from dreaming.cli.doctor import admit
    from dreaming.jobs.backfill import prepare, run

    choices = wiring.Choices(workspace, transcripts, backend)
    here = wiring.place(choices)
    choices.backend = backend or here.person.backfill.backend or None
    chosen = _limits(here, limits)
    with wiring.night(here, choices, progress(quiet or as_json)) as night:
        ready = prepare(night, chosen, doomed_first=doomed_first)
        if dry_run and as_json:
            document(ready.estimate)
        elif not as_json:
            _print_estimate(ready.estimate, night.backend.identity)
        if dry_run:
            return 0
        if not yes and not _agreed():
            say("Nothing was read and nothing was written.")
            return 0
        if sys.stdin.isatty() and sys.stderr.isatty():
            admit(night.backend.name, here.person)
        wiring.require_tried(night.backend.name, here.person)
        wiring.shut_in(here, choices, night.state)
        done = run(ready)
    if as_json:
        document(done)
    else:
        _print(done)
    for failure in done.report.failures:
        say(f"dreaming: {failure}")
    return done.report.exit_code


def _limits(here: Place, said: dict[str, float | None]) -> Limits:
    """What was said on the command line, else what the settings say."""
    from dreaming.jobs.limits import Limits

    options.check_limits(**said)
    settings = here.person.backfill.model_dump(exclude={"backend"})
    return Limits(**{**settings, **{name: one for name, one in said.items() if one is not None}})


def _agreed() -> bool:
    from dreaming.errors import WrongUse

    if not (sys.stdin.isatty() and sys.stderr.isatty()):
        raise WrongUse(
            "Nobody can be asked here whether to go on.",
            remedy="Say --yes to go on without being asked, or --dry-run to see the estimate only.",
        )
    return click.confirm("Go on?", default=False, err=True)


def _print_estimate(found: Estimate, backend: str) -> None:
    agents = ", ".join(f"{number} {agent}" for agent, number in found.agents.items())
    data(f"{count(found.transcripts, 'transcript')} left, {size(found.bytes)} ({agents or 'none'})")
    data(f"with {backend}: about {span(found.seconds)}, {found.tokens} tokens in")
    if found.price_source:
        data(f"  about ${found.money:.2f} by {found.price_source}")
    elif found.money == 0:
        data("  no list price is known for it, or it costs nothing")
    for agent, loss in sorted(found.losses.items()):
        if loss.unread:
            data(
                f"  {agent} deletes {loss.unread} of them ({size(loss.unread_bytes)}) within a "
                f"week: it keeps transcripts {loss.days} days"
            )


def _print(done: Backfilled) -> None:
    plan, report = done.plan, done.report
    data(f"{count(report.read, 'transcript')} read, {count(report.sessions, 'session')}")
    for reason, number in sorted(report.reasons.items(), key=lambda one: (-one[1], one[0])):
        data(f"  {number:>6}  {reason}")
    queue = report.queue
    data(f"{count(queue.waiting, 'candidate')} wait ({queue.new} new)")
    if report.spent.requests:
        data(spending(report))
    if report.not_before:
        data(f"the quota is in the way until {report.not_before}")
    data(f"{plan.done} done since {plan.started}, {plan.left} left: {plan.why}")
