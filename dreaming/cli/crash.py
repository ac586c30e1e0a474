"""The report of an unexpected end: where it happened, never what was being read."""

from __future__ import annotations

import platform
import sys
import traceback
from datetime import UTC, datetime
from pathlib import Path

from dreaming import __version__


def write_report(wrong: BaseException) -> Path | str:
    """Write a report and return its path.

    Of the error only its type is kept: a message may quote a transcript. Where no file can be
    written the report is returned as text.
    """
    frames = [
        f"  {Path(frame.filename).name}:{frame.lineno} in {frame.name}"
        for frame in traceback.extract_tb(wrong.__traceback__)
    ]
    text = "\n".join(
        [
            f"dreaming {__version__}, Python {platform.python_version()}, {platform.system()}",
            f"command: {sys.argv[1] if len(sys.argv) > 1 else ''}",
            f"error: {type(wrong).__module__}.{type(wrong).__name__}",
            *frames,
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
