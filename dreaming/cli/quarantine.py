"""``dreaming quarantine``: answers that could not be used, whole as they came."""

from __future__ import annotations

import time
from pathlib import Path

import click

from dreaming.cli import options
from dreaming.cli.output import count, data, document, line, say, size


@click.group()
def quarantine() -> None:
    """Look at what backends answered that could not be used, and read it again for nothing."""


@quarantine.command("list")
@options.workspace
@options.as_json
def list_(workspace: Path | None, as_json: bool) -> None:
    """List the answers that could not be used, newest first, and why."""
    from dreaming import wiring
    from dreaming.jobs import quarantine as job
    from dreaming.stores.answers import Answers

    here = wiring.place(wiring.Choices(workspace))
    found = job.listed(Answers(here.workspace.answers))
    if as_json:
        document(found)
        return
    for one in found:
        told = "  (read after all)" if one.replayed else ""
        data(
            f"{one.id[:12]}  {one.at}  {line(one.backend, 60)}  {count(one.sessions, 'session')}, "
            f"{size(one.bytes)}: {line(one.why, 200)}{told}"
        )
    say(f"{count(len(found), 'answer')}. Next: dreaming quarantine show ID" if found else "None.")


@quarantine.command()
@click.argument("answer")
@options.workspace
@options.as_json
def show(answer: str, workspace: Path | None, as_json: bool) -> None:
    """Print ANSWER (its id, or the beginning of it) as it came."""
    from dreaming import wiring
    from dreaming.jobs import quarantine as job
    from dreaming.stores.answers import Answers

    here = wiring.place(wiring.Choices(workspace))
    reader, _, _ = wiring.reader(here)
    name, kept = job.find(Answers(here.workspace.answers), answer, reader.is_clean)
    if as_json:
        document({"id": name, "backend": kept.backend, "why": kept.why, "text": kept.text})
        return
    say(f"{name[:12]}: {line(kept.why, 200)}")
    data(kept.text)


@quarantine.command()
@click.argument("answer")
@click.option(
    "--file",
    type=click.Path(path_type=Path, exists=True, dir_okay=False),
    help="Read this in its stead: what it should have said.",
)
@options.workspace
@options.as_json
def replay(answer: str, file: Path | None, workspace: Path | None, as_json: bool) -> None:
    """Read ANSWER again, as this version reads answers, and take what it now gives.

    Nothing is asked and nothing is paid. Every finding is checked as at night; the next night
    makes candidates of them. Ends with 1 when it still cannot be read.
    """
    from dreaming import wiring
    from dreaming.jobs import quarantine as job
    from dreaming.stores.answers import Answers

    here = wiring.place(wiring.Choices(workspace))
    reader, _, belongs = wiring.reader(here)
    said = None if file is None else file.read_bytes().decode("utf-8", "replace")
    with wiring.run_lock(here.workspace), wiring.state(here) as state:
        done = job.replay(
            Answers(here.workspace.answers), state, belongs, reader.is_clean, answer, said,
            time.time(),
        )  # fmt: skip
    if as_json:
        document(done)
        return
    data(count(done.findings, "finding"))
    for reason, number in sorted(done.complaints.items()):
        data(f"{count(number, 'complaint')}: {reason}")
    if done.waiting:
        say(f"{count(done.waiting, 'excerpt')} wait for the next night, which reads it for them.")
