"""``dreaming status``: where things stand and what to do next."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from dreaming.cli import options
from dreaming.cli.output import count, data, document, line, size
from dreaming.errors import DreamingError

if TYPE_CHECKING:
    from dreaming.wiring import Choices, Place


@click.command(short_help="Where things stand and what to do next.")
@options.workspace
@options.transcripts
@options.as_json
def status(
    workspace: Path | None, transcripts: tuple[tuple[str, Path], ...], as_json: bool
) -> None:
    """Show how the nights go, what is due, the queue, what holds a night, and what to do next.

    Opens no transcript and asks nobody. What is in trouble is red on a terminal.
    """
    from dreaming import wiring

    choices = wiring.Choices(workspace, transcripts)
    here = wiring.place(choices)
    found = _collect(here, choices)
    if as_json:
        document(found)
    else:
        _print(found)


def _collect(here: Place, choices: Choices) -> dict[str, Any]:
    import json
    import time

    from dreaming import wiring
    from dreaming.jobs import backfill, gate, health, listing, past
    from dreaming.stores.ledger import Ledger
    from dreaming.stores.pending import Pending

    due = wiring.preview(here, choices)
    with wiring.state(here) as state:
        once = json.loads(state.get("seen once") or "[]")
        last = [run for run in state.last_runs(health.NIGHTS) if "pending" in run["seconds"]][:1]
        nights = health.nights(state, here.person.alert, time.time())
        held = gate.kept(state)
        plan = backfill.plan(state)
        left_out = state.verdicts(listing.PURPOSE)
    ledger = Ledger(here.workspace.ledger, "reader")
    waiting = len(Pending(here.workspace.pending).all())
    scheduled = wiring.scheduled(here)
    return {
        "workspace": str(here.workspace.root),
        "backend": here.person.backend,
        "backend_program": _program(here),
        "goes_to": wiring.goes_to(here.person.backend, here.person),
        "watermark": nights.watermark,
        "due": due,
        "waiting": waiting,
        "new": last[0]["queue"]["new"] if last else 0,
        "held_back": last[0]["queue"]["held_back"] if last else 0,
        "seen_once": once,
        "left_out": {name: left_out.get(name, 0) for name in ("excluded", "held", "failed")},
        "decisions": len(past.read(ledger.decisions()).standing),
        "ledger": {
            name: {"lines": head.lines, "head": head.hash} for name, head in ledger.heads().items()
        },
        "last_night": last[0] if last else None,
        "nights": nights.last,
        "spent": nights.spent,
        "quota": health.shares(wiring.accounts(here).all(), here.person.limits.window, time.time()),
        "backfill": plan,
        "unknown_records": nights.unknown_records,
        "sandbox": held,
        "scheduler": scheduled,
        "troubles": nights.troubles,
        "next": health.advice(nights, waiting, due, plan, scheduled=scheduled.active),
        "paths": {
            "knowledge_base": str(here.workspace.knowledge_base),
            "pending": str(here.workspace.pending),
            "ledger": str(here.workspace.ledger),
            "settings": str(here.workspace.settings),
            "person_settings": str(here.config_file),
            "state": str(here.workspace.state),
            "database": str(here.workspace.database),
            "key": str(here.workspace.key_file),
            "answers": str(here.workspace.answers),
        },
    }


def _program(here: Place) -> Any:
    """What there is to know of the backend's program, or why nothing is known."""
    from dreaming import wiring

    try:
        return wiring.about(here.person.backend, here.person)
    except DreamingError as wrong:
        return {"wrong": wrong.message, "remedy": wrong.remedy}


def _print_backend(found: dict[str, Any]) -> None:
    program = found["backend_program"]
    if isinstance(program, dict):
        data(f"program     {program['wrong']} {program['remedy']}", red=True)
    elif program is not None:
        said = f"passed {program.passed}" if program.passed else "has not been tried"
        data(f"program     {program.program}, {said}", red=not program.passed)
    if found["goes_to"]:
        data(f"text        goes to {found['goes_to']}")


def _print(found: dict[str, Any]) -> None:
    due, kinds = found["due"], {one.kind for one in found["troubles"]}
    data(f"workspace   {found['workspace']}  (backend {found['backend']})")
    _print_backend(found)
    watermark = found["watermark"] or "none yet: no night has settled everything"
    data(f"watermark   {watermark}", red="old" in kinds)
    data(f"due         {count(due.transcripts, 'transcript')}, {size(due.bytes)}")
    if due.older:
        data(f"            {due.older} older ones ({size(due.older_bytes)}) wait for --since all")
    if due.stale:
        data(
            f"            {due.stale} settled ones ({size(due.stale_bytes)}) wait for the new rules"
        )
    left_out = found["left_out"]
    if any(left_out.values()):
        told = ", ".join(f"{number} {name}" for name, number in left_out.items() if number)
        data(f"left out    {told}: dreaming redaction {'held' if left_out['held'] else 'list'}")
    queue = f"{found['waiting']} waiting, {found['new']} new last night"
    data(f"queue       {queue}, {found['held_back']} held back")
    data(f"decided     {found['decisions']}")
    for name, head in found["ledger"].items():
        data(f"            {name}: {count(head['lines'], 'line')}, {head['head'][:16]}")
    _print_nights(found)
    for one in found["troubles"]:
        data(f"trouble     {one.said} {one.remedy}", red=True)
    if found["seen_once"]:
        data("seen in one session only, waiting for a second:")
        for one in found["seen_once"]:
            data(f"            {line(one['rule'])}", dim=True)
    for name, path in found["paths"].items():
        data(f"{name.replace('_', ' '):<16}{path}")
    data(f"next        {found['next']}")


def _print_nights(found: dict[str, Any]) -> None:
    last, spent, scheduled = found["last_night"], found["spent"], found["scheduler"]
    for label, night in zip(
        ("nights", *[""] * len(found["nights"])), found["nights"], strict=False
    ):
        said = f"{night['started']}: {night['outcome']}, {line(night['why'], 300)}"
        data(f"{label:<12}{said}", red=night["outcome"] == "failed")
    for reason, number in sorted(last["reasons"].items()) if last else ():
        if not reason.startswith(("processed", "skipped")):
            data(f"            {number} {reason}")
    if spent.requests:
        tokens = f"{spent.input_tokens} tokens in, {spent.output_tokens} out"
        asked = count(spent.requests, "request")
        data(f"spent       {asked}, {tokens}, ${spent.cost:.4f} in 30 days")
    for one in found["quota"]:
        used = ", ".join(f"{used:.0%} of {name} used" for name, used in one.windows.items())
        waits = f"goes on at {one.not_before}" if one.not_before else ""
        data(f"quota       {line(one.account, 80)}: {'; '.join(filter(None, (used, waits)))}")
    data(f"sandbox     {found['sandbox'] or 'not tried yet'} (as tried by the last night)")
    if scheduled.active:
        next_look = f", next look {scheduled.next_look}" if scheduled.next_look else ""
        data(f"scheduler   {scheduled.kind}{next_look} {scheduled.note}".rstrip())
    else:
        data(f"scheduler   none starts nights {scheduled.note}".rstrip())
    for agent, loss in sorted(found["due"].losses.items()):
        unread = (
            f"{loss.unread} unread ({size(loss.unread_bytes)})" if loss.unread else "none unread"
        )
        said = f"{agent} deletes {loss.transcripts or 'none'} within a week, {unread}"
        data(f"retention   {said}; it keeps them {loss.days} days", red=loss.unread > 0)
    plan = found["backfill"]
    if plan is not None:
        said = f"{plan.done} done, {plan.left} left: {plan.why or 'at work, or killed'}"
        data(f"backfill    {said}", red=plan.failed)
    if found["unknown_records"]:
        most = sorted(found["unknown_records"].items(), key=lambda one: (-one[1], one[0]))
        kinds = ", ".join(f"{line(kind, 60)} ({number})" for kind, number in most[:5])
        data(f"unknown     {count(len(most), 'kind')} of record nobody knows: {kinds}")
