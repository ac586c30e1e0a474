"""``dreaming login``: let a night in where a program wants a login."""

from __future__ import annotations

import sys
from pathlib import Path

import click

from dreaming.cli import options
from dreaming.cli.output import data, say
from dreaming.errors import BackendUnavailable, Unusable, WrongUse


@click.command(short_help="Let nights use the login of a program.")
@click.argument("backend", type=click.Choice(["claude-code", "codex"]))
@click.option("--check", is_flag=True, help="Ask one short question from where nights start.")
@click.option("--forget", is_flag=True, help="Delete the token.")
@click.option("--as-scheduled", is_flag=True, hidden=True, help="Ask, from where this is.")
@options.workspace
@options.quiet
def login(
    backend: str,
    check: bool,
    forget: bool,
    as_scheduled: bool,
    workspace: Path | None,
    quiet: bool,
) -> int:
    """Keep the token of BACKEND where a timer can read it, for you alone.

    For claude-code: `claude setup-token` prints one; it is asked for and not shown, or read from
    standard input. codex keeps its own login, and this says whether it is there.

    --check proves it: the environment is the scheduler's, the question is real and short.
    """
    from dreaming import wiring
    from dreaming.stores import tokens

    if check + forget + as_scheduled > 1:
        raise WrongUse("--check and --forget do not go together.")
    here = wiring.place(wiring.Choices(workspace), must_exist=False)
    file = wiring.login_file(backend, here.person)
    if as_scheduled:
        data(wiring.prove_login(backend, here.person))
        return 0
    if forget:
        if backend == "codex":
            raise WrongUse("That login is codex's own.", remedy="`codex logout`")
        there = file.exists()
        file.unlink(missing_ok=True)
        say(f"{file} is gone." if there else "There was none.", quiet=quiet)
        return 0
    if backend == "claude-code" and not check:
        tokens.keep(file, tokens.checked(_asked()))
        say(f"Kept in {file}, for you alone.", quiet=quiet)
    elif not check:
        if not file.is_file():
            raise Unusable(f"{file}: Codex has no login.", remedy="`codex login`")
        say(f"{file} is there; codex keeps it fresh by itself.", quiet=quiet)
    if check:
        return _check(backend, workspace, quiet)
    say(f"Next: dreaming login {backend} --check", quiet=quiet)
    return 0


def _asked() -> str:
    """Return what a person pasted, never shown; or standard input."""
    if not sys.stdin.isatty():
        return sys.stdin.read()
    token: str = click.prompt(
        "The token that `claude setup-token` printed", hide_input=True, err=True
    )
    return token


def _check(backend: str, workspace: Path | None, quiet: bool) -> int:
    from dreaming import wiring
    from dreaming.jobs.schedule import rehearse
    from dreaming.schedulers.interface import SchedulerSilent
    from dreaming.schedulers.systemd import Systemd

    plan = wiring.plan(wiring.place(wiring.Choices(workspace), must_exist=False))
    words, scheduler = ("login", backend, "--as-scheduled"), wiring.scheduler(None)
    try:
        if isinstance(scheduler, Systemd):
            scheduler.status()
            told = scheduler.shut_in(plan, words)
        else:
            told = rehearse(plan, words)
    except SchedulerSilent:  # there is one, and it cannot be asked from here
        told = rehearse(plan, words)
    if told.code:
        raise BackendUnavailable(f"A scheduled night is not let in: {told.error or told.out}")
    say(told.out.strip(), quiet=quiet)
    return 0
