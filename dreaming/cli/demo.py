"""``dreaming demo``: one night over invented sessions, in a folder of its own."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final

import click

from dreaming.cli import options
from dreaming.cli.output import count, data, document, say, size

if TYPE_CHECKING:
    from importlib.resources.abc import Traversable

    from dreaming.jobs.evidence import Quote, Revealed
    from dreaming.models.candidate import Candidate
    from dreaming.models.report import Report
    from dreaming.wiring import Choices, Place

PEOPLE: Final = "/home/robin"
"""The home that the invented sessions name; nothing on this machine is read for it."""


@click.command(short_help="See a night on invented sessions.")
@click.option(
    "--keep",
    type=click.Path(path_type=Path, file_okay=False),
    help="Make it in this new or empty folder and leave it there.",
)
@click.option(
    "--offline", is_flag=True, help="Use the embedded backend instead of recorded answers."
)
@options.as_json
def demo(keep: Path | None, offline: bool, as_json: bool) -> int:
    """Show a night on invented sessions: what is read, what is proposed, and why.

    Answers are replayed from a recording; nothing is asked, nothing leaves the machine, and
    nothing of yours is read or written.
    """
    with _folder(keep) as folder:
        here, choices = lay_out(folder, "offline" if offline else "replay")
        report, waiting, revealed = night(here, choices)
        if as_json:
            document({"report": report, "candidates": _dumped(waiting), "evidence": revealed})
        else:
            _print(report, waiting, revealed)
            _say_next(folder if keep else None, waiting)
    return 0 if waiting else 1


@contextmanager
def _folder(keep: Path | None) -> Iterator[Path]:
    """Give the folder a person named, else one that is gone afterwards."""
    from tempfile import TemporaryDirectory

    from dreaming.errors import WrongUse

    if keep is None:
        with TemporaryDirectory(prefix="dreaming-demo-") as made:
            yield Path(made)
        return
    if keep.exists() and any(keep.iterdir()):
        raise WrongUse(f"{keep} is not empty.", remedy="Name a new folder.")
    keep.mkdir(parents=True, exist_ok=True)
    yield keep.resolve()


def lay_out(folder: Path, backend: str) -> tuple[Place, Choices]:
    """Put the sample, a workspace and settings into ``folder``; the person's own are not read."""
    from importlib import resources

    from dreaming import wiring
    from dreaming.config import PersonSettings, read_workspace
    from dreaming.stores.workspace import Workspace

    _copy(resources.files("dreaming.resources").joinpath("sample"), folder)
    workspace = Workspace(folder / "workspace", folder / "state" / "dreaming")
    wiring.lay_out(workspace)
    workspace.settings.write_text(f'[projects]\ninclude = ["{PEOPLE}"]\n', encoding="utf-8")
    transcripts = (
        ("claude-code", folder / "home" / ".claude" / "projects"),
        ("codex", folder / "home" / ".codex" / "sessions"),
    )
    config_file = folder / "config" / "dreaming" / "config.toml"
    config_file.parent.mkdir(parents=True)
    config_file.write_text(_settings(folder, backend, transcripts), encoding="utf-8")
    # Built without the environment: a DREAMING_* variable must not change what the demo shows.
    person = PersonSettings.model_construct(backend=backend, replay_answers=folder / "answers")
    here = wiring.Place(workspace, person, read_workspace(workspace.settings), config_file)
    return here, wiring.Choices(transcripts=transcripts, backend=backend, since=0.0, settle=0)


def _copy(source: Traversable, target: Path) -> None:
    for one in source.iterdir():
        if one.is_dir():
            (target / one.name).mkdir()
            _copy(one, target / one.name)
        else:
            (target / one.name).write_bytes(one.read_bytes())


def _settings(folder: Path, backend: str, transcripts: tuple[tuple[str, Path], ...]) -> str:
    """The person's settings of a kept demo, so that every command works in it."""
    import json

    lines = [f'backend = "{backend}"', f"replay_answers = {json.dumps(str(folder / 'answers'))}"]
    lines += ["", "[transcripts]"]
    lines += [f"{agent} = [{json.dumps(str(place))}]" for agent, place in transcripts]
    return "\n".join(lines) + "\n"


def night(here: Place, choices: Choices) -> tuple[Report, list[Candidate], list[Revealed]]:
    """Run a night over the sample; return its report, what waits, and why the first does."""
    from dreaming import wiring
    from dreaming.jobs import evidence
    from dreaming.jobs.nightly import run
    from dreaming.jobs.progress import Progress
    from dreaming.stores.pending import Pending

    with wiring.night(here, choices, Progress()) as work:
        report = run(work)
        waiting = Pending(here.workspace.pending).all()
        return report, waiting, evidence.reveal(waiting[:1], work.state)


def _dumped(waiting: list[Candidate]) -> list[dict[str, Any]]:
    return [one.model_dump(mode="json", by_alias=True) for one in waiting]


def _print(report: Report, waiting: list[Candidate], revealed: list[Revealed]) -> None:
    data("A night over what the agents of an invented person left behind:")
    data(
        f"  {count(report.read, 'transcript')} read ({size(report.new_bytes)}), "
        f"{count(report.sessions, 'session')}, {count(report.excerpts, 'excerpt')} with a signal"
    )
    data(f"  {count(report.findings, 'finding')} by the {report.backend.partition(':')[0]} backend")
    data(
        f"  {count(report.queue.waiting, 'candidate')} seen in two sessions or more, "
        f"{report.queue.seen_once} seen once"
    )
    data()
    data("What waits for a person, best first:")
    for one in waiting:
        data(f"  {one.id[:8]}  {one.sessions} sessions  {one.rule}")
    for one_revealed in revealed:
        data()
        data(f"Why {one_revealed.id[:8]}, in words that stand in the sessions:")
        data(f"  {one_revealed.symptom}")
        for quote in _one_a_session(one_revealed):
            words = " ".join(quote.quote.split())
            data(f"  {quote.at[:10]}  {quote.agent:<11} {quote.speaker:<6} {words}")


def _one_a_session(revealed: Revealed) -> list[Quote]:
    """The first words of each session, oldest first: enough to see that it recurs."""
    first: dict[str, Quote] = {}
    for quote in revealed.evidence:
        first.setdefault(quote.session_id, quote)
    return sorted(first.values(), key=lambda quote: quote.at)


def _say_next(kept: Path | None, waiting: list[Candidate]) -> None:
    say("")
    say(f"{count(len(waiting), 'candidate waits', 'candidates wait')} for a person's decision.")
    if kept is None:
        say("Nothing of yours was read, and the demo's folder is gone again.")
        say("Next: `dreaming init`, then `dreaming nightly`; or `dreaming demo --keep DIR` to try")
        say("accepting and rejecting first.")
        return
    say(f"It is in {kept}. To go on in it:")
    say(f"  export XDG_STATE_HOME={kept / 'state'} XDG_CONFIG_HOME={kept / 'config'}")
    say(f"  cd {kept / 'workspace'}")
    for one in waiting[:1]:
        say(f"  dreaming accept {one.id[:8]}     (or: dreaming reject {one.id[:8]} --why …)")
