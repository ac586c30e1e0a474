"""``dreaming doctor``: what is in order, what is not, and what to do about it."""

from __future__ import annotations

import contextlib
import json
import sys
from pathlib import Path
from typing import TYPE_CHECKING

import click

from dreaming.cli import options
from dreaming.cli.output import count, data, document, line, progress, say
from dreaming.errors import BackendUnavailable, DreamingError, WrongUse

if TYPE_CHECKING:
    from dreaming.config import PersonSettings
    from dreaming.jobs.doctor import Check


@click.command(short_help="What is in order, what is not, and the remedy.")
@options.workspace
@click.option(
    "--as-scheduled", is_flag=True, help="Only what the environment of a scheduler decides."
)
@click.option(
    "--self-test", is_flag=True, help="Run nights over invented sessions with a planted credential."
)
@click.option(
    "--rebuild", is_flag=True, help="Make the state anew from what it was made of; pays nothing."
)
@click.option(
    "--backend",
    help="Attack the program of this backend on loopback: it must do nothing but answer.",
)
@options.as_json
def doctor(
    workspace: Path | None,
    as_scheduled: bool,
    self_test: bool,
    rebuild: bool,
    backend: str | None,
    as_json: bool,
) -> int:
    """Check settings, places, state, ledger, agents, backend, scheduler and nights.

    Each check says ok, warn or bad, why, and the remedy. Asks no backend anything; a backend that
    is elsewhere is only connected to. Ends with 1 where something is bad.

    --backend costs nothing, needs no key and takes seconds; what passes is remembered until the
    program changes. Ends with 69 where it did not pass.
    """
    if as_scheduled + self_test + rebuild + (backend is not None) > 1:
        raise WrongUse("--as-scheduled, --self-test, --rebuild and --backend do not go together.")
    if rebuild:
        return _rebuild(workspace, as_json)
    if backend is not None:
        bad = _show(_try_out(backend), as_json)
        return BackendUnavailable.EXIT_CODE if bad else 0
    found = _self_test() if self_test else _examine(workspace, as_scheduled)
    return 1 if _show(found, as_json) else 0


def _show(found: list[Check], as_json: bool) -> int:
    """Show checks and return how many are bad."""
    bad = sum(one.level == "bad" for one in found)
    if as_json:
        document({"bad": bad, "checks": found})
    else:
        for one in found:
            data(f"{one.level:<5} {one.name:<12} {line(one.said)}", red=one.level == "bad")
            if one.remedy:
                data(f"      {'':<12} {line(one.remedy)}")
        data(f"{count(bad, 'check')} bad." if bad else "Nothing is bad.")
    return bad


def admit(name: str, person: PersonSettings) -> None:
    """Try a backend's program where it has not passed as it is now, while somebody looks on."""
    from dreaming import wiring
    from dreaming.jobs.doctor import Level

    if name not in wiring.PROGRAMS:
        return
    with contextlib.suppress(DreamingError):  # the night meets it again, records it and tells of it
        words, found = wiring.tried(name, person)
        if found is None:
            say(f"{words} has not been tried; a model on this machine attacks it first.")
            for one in wiring.try_out(name, person):
                if one.level is not Level.OK:
                    say(f"  {one.name}: {line(one.said)}")


def _try_out(backend: str) -> list[Check]:
    """Attack the program of a backend; say of any other what keeps it from acting."""
    from dreaming import wiring
    from dreaming.config import BACKENDS, read_person
    from dreaming.jobs.doctor import Check, Level
    from dreaming.stores.workspace import config_file

    if backend not in BACKENDS:
        raise WrongUse(f"{backend!r} is no backend; there are {', '.join(BACKENDS)}.")
    person = read_person(config_file())
    if backend not in wiring.PROGRAMS:
        return wiring.api_checks(backend, person)
    try:
        return wiring.try_out(backend, person)
    except DreamingError as wrong:
        return [Check(Level.BAD, wrong.message, wrong.remedy, "asked")]


def _examine(workspace: Path | None, as_scheduled: bool) -> list[Check]:
    from dreaming import wiring
    from dreaming.jobs.doctor import Check, Level, examine

    try:
        here = wiring.place(wiring.Choices(workspace))
    except DreamingError as wrong:
        return [Check(Level.BAD, wrong.message, wrong.remedy, "settings")]
    settings = Check(Level.OK, f"{here.workspace.settings} and {here.config_file}", "", "settings")
    return [settings, *examine(wiring.patient(here), as_scheduled=as_scheduled)]


def _rebuild(workspace: Path | None, as_json: bool) -> int:
    """Make the state anew; the old database is kept beside it."""
    from dreaming import wiring

    choices = wiring.Choices(workspace)
    shown = progress(as_json or not sys.stderr.isatty())
    done, kept = wiring.rebuild(wiring.place(choices), choices, shown)
    report, salvaged = done.report, done.salvaged
    if as_json:
        document({"kept": str(kept), "rebuilt": done})
        return report.exit_code
    data(f"{count(report.read, 'transcript')} read anew, {salvaged.gone} taken over that are gone")
    data(f"{count(report.queue.waiting, 'candidate')} wait; no decision was touched")
    if done.unasked:
        data(f"{count(done.unasked, 'transcript')} without a kept answer: `dreaming nightly`")
    for table in salvaged.unreadable:
        data(f"of {line(table, 60)} in the old state something could not be read", red=True)
    for failure in report.failures:
        data(line(failure), red=True)
    data(f"The old state is kept: {kept}")
    return report.exit_code


def _self_test() -> list[Check]:
    """Nights over the invented sessions, before and after a made-up credential is planted."""
    from tempfile import TemporaryDirectory

    from dreaming.cli.demo import lay_out, night
    from dreaming.models.report import Verdict

    with TemporaryDirectory(prefix="dreaming-self-test-") as folder:
        here, choices = lay_out(Path(folder).resolve(), "offline")
        before, waiting, revealed = night(here, choices)
        planted = _plant(Path(folder), revealed[0].session_ids[0] if revealed else "")
        after, *_ = night(here, choices)
        text = [one for one in here.workspace.root.rglob("*") if one.is_file()]
        text += [one for one in here.workspace.state.rglob("*") if one.is_file()]
        leaked = [one for one in text if planted.encode() in one.read_bytes()]
    excluded = after.verdicts.get(Verdict.EXCLUDED, 0) - before.verdicts.get(Verdict.EXCLUDED, 0)
    return [
        _tried(
            "mining",
            len(waiting) >= 5 and all(one.evidence for one in revealed),
            f"{len(waiting)} candidates are found in {before.sessions} invented sessions.",
        ),
        _tried(
            "refusal",
            excluded == 1 and after.withdrawn.excerpts > 0,
            f"A planted credential excludes {excluded} transcript, and "
            f"{after.withdrawn.excerpts} excerpts read from it before are withdrawn.",
        ),
        _tried("leaks", not leaked, f"The planted credential is in {len(leaked)} files of ours."),
    ]


def _plant(folder: Path, session: str) -> str:
    """Add a credential, made up this moment, to the transcript of a session; return it."""
    from dreaming.redaction.proofs import seal_github
    from dreaming.redaction.shapes import sample

    planted = seal_github(sample("gh" + "p_{A36}", session))
    for path in sorted(folder.glob("home/**/*.jsonl")):
        if session and session in path.name:
            with path.open("a", encoding="utf-8") as file:
                file.write(json.dumps({"type": "note", "text": f"token: {planted}"}) + "\n")
            break
    return planted


def _tried(name: str, fine: bool, said: str) -> Check:
    from dreaming.jobs.doctor import Check, Level

    if fine:
        return Check(Level.OK, said, "", name)
    return Check(Level.BAD, said, "Install dreaming anew; if that does not help, report it.", name)
