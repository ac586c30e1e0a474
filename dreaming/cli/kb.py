"""``dreaming kb``: look at the knowledge base, and take lessons out of it or word them anew."""

from __future__ import annotations

import os
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from dreaming.cli import options
from dreaming.cli.output import count, data, document, line, say

if TYPE_CHECKING:
    from dreaming.jobs.decide import Desk, Written
    from dreaming.jobs.why import Origin, Told, Why
    from dreaming.known.lint import Beside, Problem
    from dreaming.stores.knowledge_reader import TopicFile
    from dreaming.wiring import Place


@click.group(short_help="Look at the knowledge base, and mend it.")
def kb() -> None:
    """Look at the knowledge base: what stands there, why, and what is wrong with it.

    LESSON is the id in a line's anchor (`<!-- dreaming:1f0c9a2b -->`), or the beginning of it.
    """


@kb.command("list")
@click.argument("topic", default="")
@options.workspace
@options.as_json
def list_(topic: str, workspace: Path | None, as_json: bool) -> None:
    """List the topics with their size, or the lines of TOPIC with their ids."""
    from dreaming.errors import WrongUse
    from dreaming.jobs import knowledge

    here = _place(workspace)
    most = here.settings.max_topic_lines
    found = [
        one for one in knowledge.topics(here.workspace.knowledge_base) if topic in ("", one.topic)
    ]
    if topic and not found:
        raise WrongUse(f"No topic {topic}.", remedy="`dreaming kb list` shows the topics.")
    if as_json:
        document([_topic(one, most, with_lines=bool(topic)) for one in found])
    elif topic:
        _print_lines(found[0])
    else:
        _print_topics(found, most)


def _topic(one: TopicFile, most: int, *, with_lines: bool) -> dict[str, Any]:
    told: dict[str, Any] = {
        "topic": one.topic,
        "path": str(one.path),
        "lines": one.lines,
        "bytes": one.bytes,
        "lessons": one.lessons,
        "hand_written": len(one.known) - one.lessons,
        "too_long": one.lines > most,
    }
    if with_lines:
        told["known"] = [
            {
                "number": each.number,
                "lesson": each.lesson.id if each.lesson else "",
                "text": each.text,
            }
            for each in one.known
        ]
    return told


def _print_topics(found: Sequence[TopicFile], most: int) -> None:
    for one in found:
        long = f"  (too long: agents may cut off what comes after {most})" * (one.lines > most)
        by_hand = len(one.known) - one.lessons
        said = f"{one.lines:>5} lines  {one.lessons:>4} lessons  {by_hand:>4} by hand"
        data(f"{line(one.topic):<20} {said}{long}")
    lessons = sum(one.lessons for one in found)
    if found:
        say(f"{count(lessons, 'lesson')} in {count(len(found), 'topic')}.")
    else:
        say("The knowledge base is empty. `dreaming accept` makes a candidate its first lesson.")


def _print_lines(one: TopicFile) -> None:
    for each in one.known:
        lesson = each.lesson
        said = f"{lesson.rule}  ({lesson.symptom})" if lesson else each.text
        data(f"{lesson.id if lesson else '':<8}  {each.number:>4}  {line(said)}")


@kb.command()
@click.argument("words", nargs=-1, required=True)
@click.option("--limit", type=click.IntRange(1, 1000), default=10, help="At most so many lines.")
@options.workspace
@options.as_json
def search(words: Sequence[str], limit: int, workspace: Path | None, as_json: bool) -> None:
    """Search the lines for WORDS, best first. Rare words count most; misspelled ones are found."""
    from dreaming.jobs import knowledge

    here = _place(workspace)
    found = knowledge.search(here.workspace.knowledge_base, " ".join(words), limit)
    if as_json:
        document(
            [
                {
                    "path": str(one.line.path),
                    "number": one.line.number,
                    "lesson": one.line.lesson.id if one.line.lesson else "",
                    "score": one.score,
                    "text": one.line.text,
                }
                for one in found
            ]
        )
        return
    for one in found:
        data(line(f"{one.line.path.name}:{one.line.number}: {one.line.text}"))
    if not found:
        say("Nothing in the knowledge base has these words.")


@kb.command()
@options.workspace
@options.as_json
def lint(workspace: Path | None, as_json: bool) -> int:
    """Find what is wrong: duplicates, opposites, dead anchors, text that would act, long topics.

    Ends with 1 when something is wrong, and with 0 when there is nothing or only what wants a
    look. Changes nothing.
    """
    from dreaming.jobs import knowledge
    from dreaming.stores.ledger import Ledger

    here = _place(workspace)
    found = knowledge.check(
        here.workspace.knowledge_base,
        Ledger(here.workspace.ledger, "reader"),
        here.settings.max_topic_lines,
    )
    wrong = sum(one.wrong for one in found)
    if as_json:
        document(found)
    else:
        for one in found:
            _print_problem(one)
        look = len(found) - wrong
        say(f"{wrong} wrong, {look} worth a look." if found else "Nothing is wrong.")
    return 1 if wrong else 0


def _print_problem(one: Problem) -> None:
    told = f"{'wrong' if one.wrong else 'look'}: {one.kind}: {one.says}"
    data(f"{_place_of(one)}: {told}{f' {_place_of(one.beside)}' if one.beside else ''}")
    for text in (one.text, one.beside.text if one.beside else ""):
        if text:
            data(f"    {line(text)}")


def _place_of(one: Problem | Beside) -> str:
    name = line(Path(one.path).name)
    return f"{name}:{one.number}" if one.number else name


@kb.command()
@click.argument("lesson")
@options.workspace
@options.as_json
def why(lesson: str, workspace: Path | None, as_json: bool) -> None:
    """Tell why LESSON is there: its sessions, quotations, backend, night and decisions.

    What is no longer known is said. Stays on this machine; that quotations were looked up is
    logged, as with `dreaming reveal`.
    """
    from dreaming import wiring
    from dreaming.jobs import evidence
    from dreaming.jobs.why import why as told
    from dreaming.stores.ledger import Ledger

    here = _place(workspace)
    belongs, _ = wiring.project_filter(here)
    with wiring.state(here) as state:
        found = told(
            here.workspace.knowledge_base,
            Ledger(here.workspace.ledger, "reader"),
            state,
            lesson,
            belongs,
        )
    shown = [one.candidate for one in found.origins if one.evidence]
    if shown:
        evidence.log(here.workspace.state / "reveals.log", shown)
    if as_json:
        document(found)
    else:
        _print_why(found)


def _print_why(found: Why) -> None:
    data(f"{found.lesson}  {found.standing}")
    if found.path:
        data(line(f"{found.path}:{found.number}"))
        data(f"    {line(found.line)}")
    if found.written and found.written != found.line:
        data("as the ledger has it")
        data(f"    {line(found.written)}")
    for one in found.decisions:
        _print_decision(one)
    for origin in found.origins:
        _print_origin(origin)
    for sentence in found.unknown:
        data(f"note: {sentence}")


def _print_decision(one: Told) -> None:
    about = f" (candidate {one.candidate})" if one.candidate else ""
    reason = f": {line(one.why)}" if one.why else ""
    undone = "" if one.holds else "  undone"
    by = one.reviewer or "nobody named"
    data(f"{one.at:%Y-%m-%d %H:%M} {one.action} by {by}{about}{reason}  {one.name}{undone}")


def _print_origin(one: Origin) -> None:
    night = f"{one.night:%Y-%m-%d %H:%M}" if one.night else "unknown"
    sessions = count(len(one.sessions), "session")
    agents = f" of {', '.join(one.agents)}" if one.agents else ""
    backend = one.backend or "unknown"
    data(f"candidate {one.candidate}: {sessions}{agents}, night {night}, backend {backend}")
    if one.fixed:
        data(f"    maybe fixed: {line(one.fixed)}")
    for quote in one.evidence:
        words = line(quote.quote)
        place = f"{quote.agent} {quote.session_id} line {quote.line} ({quote.speaker})"
        data(f"    {quote.at[:10] or 'no date'} {place}: {words}")


@kb.command()
@click.argument("lesson")
@click.option("--why", "reason", required=True, help="The reason, for the ledger.")
@options.workspace
@options.dry_run
@options.as_json
@options.person
def retire(
    lesson: str,
    reason: str,
    workspace: Path | None,
    dry_run: bool,
    as_json: bool,
    i_am_a_person: bool,
) -> int:
    """Take LESSON's line out of the knowledge base. The ledger keeps it; `undo` brings it back."""
    from dreaming.jobs import decide

    def act(desk: Desk, id_: str, dry: bool) -> Written:
        return decide.retire(desk, id_, reason, dry_run=dry)

    return _change(act, lesson, workspace, dry_run, as_json, i_am_a_person)


@kb.command()
@click.argument("lesson")
@click.option("--symptom", default="", help="What goes wrong, worded anew; else as it stands.")
@click.option("--rule", required=True, help="What to do instead, worded anew.")
@options.workspace
@options.dry_run
@options.as_json
@options.person
def supersede(
    lesson: str,
    symptom: str,
    rule: str,
    workspace: Path | None,
    dry_run: bool,
    as_json: bool,
    i_am_a_person: bool,
) -> int:
    """Put another wording in the place of LESSON's line. The ledger keeps the old one."""
    from dreaming.jobs import decide, knowledge

    def act(desk: Desk, id_: str, dry: bool) -> Written:
        worded = symptom or knowledge.symptom(desk.knowledge_base, id_)
        return decide.supersede(desk, id_, worded, rule, dry_run=dry)

    return _change(act, lesson, workspace, dry_run, as_json, i_am_a_person)


def _change(
    act: Callable[[Desk, str, bool], Written],
    lesson: str,
    workspace: Path | None,
    dry_run: bool,
    as_json: bool,
    i_am_a_person: bool,
) -> int:
    """Show what a decision about a lesson's line would change, then carry it out."""
    from dreaming import wiring
    from dreaming.jobs import decide, knowledge

    if not i_am_a_person and not dry_run:
        decide.refuse_agents(os.environ)
    with wiring.desk(_place(workspace)) as desk:
        id_ = knowledge.resolve(desk.knowledge_base, desk.ledger, lesson)
        written = act(desk, id_, True)
        if not as_json:
            _print_diff(written)
        if not dry_run:
            written = act(desk, id_, False)
    for note in desk.notes:
        say(note)
    if as_json:
        document(
            {
                "lesson": id_,
                "path": str(written.path),
                "was": written.was,
                "line": written.line,
                "decision": written.decision,
                "written": not dry_run,
            }
        )
    elif dry_run:
        say("Nothing was changed.")
    else:
        say(f"Done. `dreaming undo {written.decision}` takes it back.")
    return 0


def _print_diff(written: Written) -> None:
    data(line(str(written.path)))
    if written.was:
        data(f"-{line(written.was)}")
    if written.line:
        data(f"+{line(written.line)}")


def _place(workspace: Path | None) -> Place:
    from dreaming import wiring

    return wiring.place(wiring.Choices(workspace))
