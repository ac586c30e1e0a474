"""``dreaming schedule``: let nights start on their own."""

from __future__ import annotations

import os
import shlex
import shutil
import sys
from pathlib import Path
from typing import TYPE_CHECKING, Final

import click

from dreaming.cli import options
from dreaming.cli.output import data, document, say
from dreaming.errors import Unusable

if TYPE_CHECKING:
    from dreaming.schedulers.interface import Plan, Scheduler

LINGER: Final = "no nights while you are logged out; `loginctl enable-linger` lets them start"

with_ = click.option(
    "--with",
    "kind",
    type=click.Choice(["systemd", "launchd", "daemon"]),
    help="What starts nights. Else: what this machine has.",
)
system_ = click.option(
    "--system", is_flag=True, help="The machine's own systemd: also when nobody is logged in."
)
output_ = click.option(
    "--output",
    type=click.Path(path_type=Path, file_okay=False),
    help="Only the files in this folder; nothing is started or stopped.",
)
force_ = click.option("--force", is_flag=True, help="Also where a file is not as it was written.")


@click.group()
def schedule() -> None:
    """Let nights start on their own: with systemd, launchd, or `dreaming daemon`."""


@schedule.command(short_help="Write what starts nights, and start it.")
@with_
@system_
@click.option("--print", "only_print", is_flag=True, help="Show the files; change nothing.")
@output_
@force_
@options.workspace
@options.quiet
def install(
    kind: str | None,
    system: bool,
    only_print: bool,
    output: Path | None,
    force: bool,
    workspace: Path | None,
    quiet: bool,
) -> int:
    """Check that a night can work, write the files that start nights, and start them.

    It is then looked each hour whether a night is due. Running this again brings the files to what
    the settings say now. A file that somebody else wrote or changed is left alone.
    """
    from dreaming.jobs import schedule as job

    scheduler, plan = _meant(kind, system, workspace, must_exist=True)
    if scheduler is None:
        _say_daemon(plan)
        return 0
    if only_print:
        for name, text in scheduler.files(plan).items():
            data(f"# {scheduler.folder / name}\n{text}")
        return 0
    job.check(scheduler, plan, output or scheduler.folder, force=force)
    if output is None:
        _require(scheduler, system)
        if not _can_work(plan, system, quiet) and not force:
            say("Nothing was written. Mend that first, or use --force.")
            return 1
    changes = job.install(scheduler, plan, output or scheduler.folder, force=force)
    _say_changes(changes, quiet, none="Everything was in place already.")
    if output is None:
        scheduler.start()
        _say_next(scheduler, quiet)
    return 0


@schedule.command(short_help="When it is looked next, and how the last night ended.")
@with_
@system_
@options.workspace
@options.as_json
def status(kind: str | None, system: bool, workspace: Path | None, as_json: bool) -> None:
    """Show what starts nights, when it looks next whether one is due, and how the last ended."""
    from dreaming import wiring

    here = wiring.place(wiring.Choices(workspace), must_exist=False)
    found = wiring.scheduled(here, kind, system=system)
    if as_json:
        document(found)
        return
    state = "active" if found.active else "installed, not active" if found.installed else "nothing"
    data(f"nights     {found.kind}: {state}{f' ({found.note})' if found.note else ''}")
    if found.next_look:
        data(f"next look  {found.next_look.isoformat()}")
    if found.last_start:
        data(f"last       {found.last_start.isoformat()} {found.last_result}".rstrip())
    for at, one in enumerate(found.opened):
        data(f"{'' if at else 'opened':<10} {one}")
    if found.differs:
        data("files      not as your settings are now; `dreaming schedule install` renews them")
    if found.lingers is False and found.installed:
        data(f"logged out {LINGER}")
    if not found.active:
        data("next       dreaming schedule install")


@schedule.command(short_help="Show the files that are there.")
@with_
@system_
@output_
@options.workspace
def show(kind: str | None, system: bool, output: Path | None, workspace: Path | None) -> None:
    """Show the files that start nights, as they stand; `install --print` shows what would be."""
    from dreaming.jobs import schedule as job

    scheduler, plan = _meant(kind, system, workspace)
    if scheduler is None:
        _say_daemon(plan)
        return
    there = job.look(scheduler, output or scheduler.folder).values()
    standing = [one for one in there if one.standing is not job.Standing.MISSING]
    for one in standing:
        data(f"# {one.path} ({one.standing})\n{one.text}")
    if not standing:
        say("None is there. Next: dreaming schedule install")


@schedule.command(short_help="Take it away again.")
@with_
@system_
@output_
@force_
@options.workspace
@options.quiet
def remove(
    kind: str | None,
    system: bool,
    output: Path | None,
    force: bool,
    workspace: Path | None,
    quiet: bool,
) -> None:
    """Start no more nights, and take away what `install` wrote with the folders it made.

    A night that is running goes on to its end.
    """
    from dreaming.jobs import schedule as job

    scheduler, plan = _meant(kind, system, workspace)
    if scheduler is None:
        say("`dreaming daemon` leaves nothing behind; end it where it runs.", quiet=quiet)
        return
    folder = output or scheduler.folder
    there = job.check(scheduler, plan, folder, force=force).values()
    loaded = output is None and any(one.standing is not job.Standing.MISSING for one in there)
    if loaded:
        _require(scheduler, system)
        scheduler.stop()
    changes = job.remove(scheduler, plan, folder, force=force)
    if loaded:
        scheduler.forget()
    _say_changes(changes, quiet, none="Nothing was there.")


def _meant(
    kind: str | None, system: bool, workspace: Path | None, *, must_exist: bool = False
) -> tuple[Scheduler | None, Plan]:
    from dreaming import wiring

    here = wiring.place(wiring.Choices(workspace), must_exist=must_exist)
    return wiring.scheduler(kind, system=system), wiring.plan(here)


def _require(scheduler: Scheduler, system: bool) -> None:
    """See that the scheduler can be asked, before anything is changed."""
    program = {"systemd": "systemctl", "launchd": "launchctl"}[scheduler.kind]
    if shutil.which(program) is None:
        raise Unusable(
            f"{program} is not on this machine.",
            remedy="Keep `dreaming daemon` running instead, or write the files for another "
            "machine with --output.",
        )
    if system and os.geteuid() != 0:
        words = shlex.join([sys.executable, "-P", "-m", "dreaming", *sys.argv[1:]])
        raise Unusable(
            "The machine's own units belong to root.",
            remedy=f"sudo --preserve-env=HOME,XDG_CONFIG_HOME,XDG_STATE_HOME {words}",
        )
    scheduler.status()


def _is_setting(name: str) -> bool:
    """Return whether a variable of the environment stands for a setting of the person's."""
    from dreaming.config import PERSON_ONLY

    key = name.removeprefix("DREAMING_").lower().partition("__")[0]
    return name.startswith("DREAMING_") and key in PERSON_ONLY


def _can_work(plan: Plan, system: bool, quiet: bool) -> bool:
    """Let the doctor look from where a night will be; what it finds wrong is shown."""
    from dreaming.jobs.schedule import rehearse

    lost = sorted(one for one in os.environ if _is_setting(one))
    if lost:
        say(
            f"{', '.join(lost)}: set in this shell only; scheduled nights go by your config.toml.",
            quiet=quiet,
        )
    told = rehearse(plan, user=plan.user if system else None)
    if told.code:
        say(f"A scheduled night could not work:\n{(told.out + told.error).strip()}")
    return not told.code


def _say_changes(changes: tuple[list[Path], list[Path]], quiet: bool, *, none: str) -> None:
    for verb, paths in zip(("written", "removed"), changes, strict=True):
        for path in paths:
            say(f"{verb}  {path}", quiet=quiet)
    if not any(changes):
        say(none, quiet=quiet)


def _say_next(scheduler: Scheduler, quiet: bool) -> None:
    found = scheduler.status()
    when = f" Next look: {found.next_look.isoformat()}." if found.next_look else ""
    say(f"Nights start on their own now.{when}", quiet=quiet)
    if found.lingers is False:
        say(f"But {LINGER}.")


def _say_daemon(plan: Plan) -> None:
    words = shlex.join([*plan.command, "daemon", "--workspace", str(plan.workspace)])
    say("Nothing is to be written. Keep this running, in a terminal or under any supervisor:")
    data(words)
