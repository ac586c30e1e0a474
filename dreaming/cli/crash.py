"""The report of an unexpected end: where it happened, never what was being read."""

from __future__ import annotations

import platform
import sys
from datetime import UTC, datetime
from pathlib import Path

from dreaming import __version__


def write_report(wrong: BaseException) -> Path | str:
    """Write a report and return its path.

    Of the error only its type is kept: a message may quote a transcript. Where no file can be
    written the report is returned as text.
    """
    from dreaming.jobs.unattended import Crashed, frames

    crashed = wrong if isinstance(wrong, Crashed) else wrong.__cause__
    if isinstance(crashed, Crashed):
        kind, places = crashed.kind, crashed.frames
    else:
        kind, places = f"{type(wrong).__module__}.{type(wrong).__name__}", frames(wrong)
    text = "\n".join(
        [
            f"dreaming {__version__}, Python {platform.python_version()}, {platform.system()}",
            f"command: {sys.argv[1] if len(sys.argv) > 1 else ''}",
            f"error: {kind}",
            *places,
            "",
        ]
    )
    from dreaming.stores.workspace import state_home

    name = f"crash-{datetime.now(UTC):%Y%m%dT%H%M%S}.txt"
    try:
        folder = state_home()
        folder.mkdir(parents=True, exist_ok=True, mode=0o700)
        (folder / name).write_text(text, encoding="utf-8")
    except OSError:
        return f"\n{text}"
    return folder / name
