"""``dreaming status``: where things stand and what to do next."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from dreaming.cli import options
from dreaming.cli.output import count, data, document, line, size

if TYPE_CHECKING:
    from dreaming.wiring import Place


@click.command(short_help="Where things stand and what to do next.")
@options.workspace
@options.transcripts
@options.as_json
def status(
    workspace: Path | None, transcripts: tuple[tuple[str, Path], ...], as_json: bool
) -> None:
    """Show the watermark, what is due, the queue, the last night, and the files in use."""
    from dreaming import wiring

    choices = wiring.Choices(workspace, transcripts)
    here = wiring.place(choices)
    found = _collect(here, choices)
    if as_json:
        document(found)
    else:
        _print(found)


def _collect(here: Place, choices: Any) -> dict[str, Any]:
    import json
    from datetime import UTC, datetime

    from dreaming import wiring
    from dreaming.jobs import past
    from dreaming.stores.ledger import Ledger
    from dreaming.stores.pending import Pending

    due = wiring.preview(here, choices)
    with wiring.state(here) as state:
        watermark = state.get("watermark")
        once = json.loads(state.get("seen once") or "[]")
        last = state.last_runs(1)
    at = datetime.fromtimestamp(float(watermark), UTC) if watermark else None
    ledger = Ledger(here.workspace.ledger, "reader")
    waiting = len(Pending(here.workspace.pending).all())
    return {
        "workspace": str(here.workspace.root),
        "backend": here.person.backend,
        "watermark": at.isoformat(timespec="seconds") if at else None,
        "due": due,
        "waiting": waiting,
        "held_back": last[0]["queue"]["held_back"] if last else 0,
        "seen_once": once,
        "decisions": len(past.read(ledger.decisions()).standing),
        "ledger": {
            name: {"lines": head.lines, "head": head.hash} for name, head in ledger.heads().items()
        },
        "last_night": last[0] if last else None,
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


def _print(found: dict[str, Any]) -> None:
    due = found["due"]
    data(f"workspace   {found['workspace']}  (backend {found['backend']})")
    data(f"watermark   {found['watermark'] or 'none yet: no night has settled everything'}")
    data(f"due         {count(due.transcripts, 'transcript')}, {size(due.bytes)}")
    if due.older:
        data(f"            {due.older} older ones ({size(due.older_bytes)}) wait for --since all")
    data(f"queue       {found['waiting']} waiting, {found['held_back']} held back")
    data(f"decided     {found['decisions']}")
    for name, head in found["ledger"].items():
        data(f"            {name}: {count(head['lines'], 'line')}, {head['head'][:16]}")
    last = found["last_night"]
    if last:
        data(f"last night  {last['started']}: {last['outcome']}, {last['why']}")
        for reason, number in sorted(last["reasons"].items()):
            if not reason.startswith(("processed", "skipped")):
                data(f"            {number} {reason}")
    if found["seen_once"]:
        data("seen in one session only, waiting for a second:")
        for one in found["seen_once"]:
            data(f"            {line(one['rule'])}", dim=True)
    for name, path in found["paths"].items():
        data(f"{name.replace('_', ' '):<16}{path}")
    data(f"next        {_next(found)}")


def _next(found: dict[str, Any]) -> str:
    if found["waiting"]:
        return "dreaming pending list"
    if found["due"].transcripts:
        return "dreaming nightly"
    return "nothing to do; the next night looks again"
