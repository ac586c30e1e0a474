"""``dreaming nightly``: one night."""

from __future__ import annotations

import contextlib
import os
import sys
import time
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING

import click

from dreaming.cli import options
from dreaming.cli.output import count, data, document, progress, say, size, span, spending
from dreaming.errors import INTERRUPTED, DreamingError, NotNow

if TYPE_CHECKING:
    from dreaming.jobs.unattended import Ended
    from dreaming.models.report import Report
    from dreaming.wiring import Choices, Place


@click.command(short_help="Read what is new and fill the queue.")
@options.workspace
@options.transcripts
@options.since
@click.option("--settle", type=click.IntRange(0, 1440), help="Minutes a transcript must be quiet.")
@options.backend
@click.option(
    "--if-due", type=options.duration, help="Only when the last night in order is that long ago."
)
@options.money
@click.option("--limit", type=options.duration, help="Stop by then; the rest waits.")
@click.option(
    "--wait-network", type=options.duration, help="Wait so long for a backend that is elsewhere."
)
@options.dry_run
@options.as_json
@options.quiet
def nightly(
    workspace: Path | None,
    transcripts: Sequence[tuple[str, Path]],
    since: float | None,
    settle: int | None,
    backend: str | None,
    if_due: float | None,
    money: float | None,
    limit: float | None,
    wait_network: float | None,
    dry_run: bool,
    as_json: bool,
    quiet: bool,
) -> int:
    """Read what is new, redact or refuse it, and propose what keeps recurring.

    Writes this machine's state and the workspace's pending/, nothing else. Running it again is
    harmless. Ends with 0 when everything is settled, 1 when something failed and will be tried
    again, 75 when it must wait.

    A backend that is a program (claude-code, codex, command) is tried first where it has not passed
    as it is now: on a terminal at once, else the night ends with 69 (`dreaming doctor --backend`).

    After a night that was not in order the next is due in one hour, then two, four … at most what
    --if-due says. After one that a quota was in the way of, when that starts anew.
    """
    from dreaming import wiring

    options.check_limits(money=money)
    choices = wiring.Choices(workspace, transcripts, backend, since, settle, money)
    _lay_out_named(choices, quiet)
    here = wiring.place(choices)
    if dry_run:
        return _show_due(here, choices, as_json)
    if if_due is not None and (wait := _not_due(here, if_due)):
        say(wait, quiet=quiet)
        return 0
    attended = if_due is None and sys.stdin.isatty() and sys.stderr.isatty()
    ended = _watched(here, choices, quiet or as_json, limit, wait_network or 0.0, attended=attended)
    if ended.report is None:
        raise ended.again()
    report = ended.report
    if as_json:
        document(report)
    else:
        _print(report)
        for failure in report.failures:
            say(f"dreaming: {failure}")
        _next(report, quiet)
    return report.exit_code


def _not_due(here: Place, every: float) -> str:
    """Say when the next night is due; nothing where it is due now, or the clock went back."""
    from dreaming import wiring
    from dreaming.jobs import gate

    try:
        with wiring.state(here) as state:
            runs = state.last_runs(8)
    except (DreamingError, OSError):  # the night meets it again, records it and tells of it
        return ""
    now, at = time.time(), gate.due_at(runs, every)
    if at <= now or now < gate.ended_at(runs[0]):
        return ""
    return f"No night is due: the last one {runs[0]['outcome']}; the next is in {span(at - now)}."


def _watched(
    here: Place,
    choices: Choices,
    silent: bool,
    limit: float | None,
    patience: float,
    *,
    attended: bool,
) -> Ended:
    """Run the night in a process of its own, record how that ended, and tell who wants to know."""
    from dreaming import wiring
    from dreaming.cli.alert import tell
    from dreaming.cli.doctor import admit
    from dreaming.jobs import alerting, gate, unattended

    started = time.time()
    name = choices.backend or here.person.backend
    away = wiring.endpoint(name, here.person)
    if away and patience and not gate.wait_for_network(*away, patience, time.time, time.sleep):
        say(f"{away[0]} did not answer; trying all the same.")
    if attended and not os.environ.get(gate.UNIT):
        admit(name, here.person)
    ended = unattended.apart(one_night, (choices, silent, limit), limit=limit)
    word = None
    if ended.report is None:
        if ended.code not in (NotNow.EXIT_CODE, INTERRUPTED):
            word = alerting.run_failed(ended.code)
        # Where the state cannot be used, or another run holds it, this one ends without a record.
        unusable = contextlib.suppress(DreamingError, OSError)
        with unusable, wiring.run_lock(here.workspace), wiring.state(here) as state:
            unattended.record(state, started, name, ended, time.time() - started)
    if not os.environ.get(gate.UNIT):  # its manager starts another that tells: this one is shut in
        tell(here, word)
    return ended


def one_night(choices: Choices, silent: bool, limit: float | None) -> Report:
    """Run a night, shut in, in the process that calls this."""
    from dreaming import wiring
    from dreaming.jobs import unattended
    from dreaming.jobs.nightly import run

    here = wiring.place(choices)
    stop = unattended.stop_after(limit)
    with wiring.night(here, choices, progress(silent)) as work:
        work.stop = stop
        unattended.begin(work.state, work.clock(), work.backend.identity)
        wiring.require_tried(work.backend.name, here.person)
        wiring.shut_in(here, choices, work.state)
        report = run(work)
        unattended.finish(work.state)
        return report


def _lay_out_named(choices: Choices, quiet: bool) -> None:
    """A folder that a person named and that holds nothing else becomes a workspace."""
    from dreaming import wiring
    from dreaming.stores.workspace import Workspace, state_home

    if choices.workspace is not None and not choices.workspace.is_file():
        found = Workspace(choices.workspace, state_home())
        if wiring.lay_out_if_bare(found):
            say(f"{found.root} is now a workspace.", quiet=quiet)


def _show_due(here: Place, choices: Choices, as_json: bool) -> int:
    from dreaming import wiring

    due = wiring.preview(here, choices)
    if as_json:
        document(due)
        return 0
    data(f"{count(due.transcripts, 'transcript')} due, {size(due.bytes)}; nothing was read.")
    for agent, number in sorted(due.agents.items()):
        data(f"  {agent:<12} {number}")
    return 0


def _print(report: Report) -> None:
    data(f"{report.found} files found")
    for reason, number in sorted(report.reasons.items(), key=lambda one: (-one[1], one[0])):
        data(f"  {number:>6}  {reason}")
    data(
        f"{count(report.read, 'transcript')} read, {size(report.new_bytes)} new, "
        f"{count(report.sessions, 'session')}, {count(report.excerpts, 'excerpt')}, "
        f"{count(report.findings, 'finding')}"
    )
    _print_troubles(report)
    queue = report.queue
    data(
        f"{count(queue.waiting, 'candidate')} wait ({queue.new} new, {queue.updated} updated, "
        f"{queue.removed} gone, {queue.held_back} held back); {queue.known} known already, "
        f"{queue.decided} decided before, {queue.seen_once} seen in one session only"
    )
    if report.spent.requests:
        data(spending(report))
    if report.not_before:
        data(f"the quota is in the way until {report.not_before}")
    times = ", ".join(f"{stage} {seconds:.1f} s" for stage, seconds in report.seconds.items())
    data(f"time: {times}")
    data(f"watermark: {report.watermark or 'none yet'} ({report.outcome}: {report.why})")


def _print_troubles(report: Report) -> None:
    if report.unreadable_lines:
        data(f"{count(report.unreadable_lines, 'line')} could not be read")
    if report.unknown_records:
        kinds = ", ".join(f"{kind} ({n})" for kind, n in sorted(report.unknown_records.items())[:5])
        data(f"{count(len(report.unknown_records), 'kind')} of record nobody knows: {kinds}")
    for reason, number in sorted(report.complaints.items()):
        data(f"{count(number, 'complaint')}: {reason}")
    if report.set_aside:
        data(f"{count(report.set_aside, 'request')} set aside; `dreaming quarantine list`")
    gone = report.withdrawn
    if gone.transcripts:
        data(
            f"withdrawn: {count(gone.excerpts, 'excerpt')}, {count(gone.findings, 'finding')} and "
            f"{count(gone.answers, 'answer')} from {count(gone.transcripts, 'transcript')}"
        )
    if report.older:
        data(
            f"{count(report.older, 'older transcript')} ({size(report.older_bytes)}) wait; "
            "read them with --since all"
        )
    if report.stale:
        data(
            f"{count(report.stale, 'transcript')} ({size(report.stale_bytes)}) waiting for the new "
            "rules, a slice each night; `dreaming backfill` reads them all"
        )


def _next(report: Report, quiet: bool) -> None:
    if report.queue.waiting:
        say(
            f"{count(report.queue.waiting, 'candidate waits', 'candidates wait')}. "
            "Next: dreaming pending list",
            quiet=quiet,
        )
    else:
        say("Nothing waits. `dreaming status` shows what was seen once.", quiet=quiet)
