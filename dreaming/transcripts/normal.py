"""The same measures for every source: how much text is kept, and how times are read."""

from __future__ import annotations

from datetime import UTC, datetime
from typing import Final

USER_TEXT: Final = 20_000
"""Characters kept of what a person said."""
MODEL_TEXT: Final = 8_000
"""Characters kept of what the model said, and of a summary."""
TOOL_TEXT: Final = 12_000
"""Characters kept of what a tool returned."""
ACTION_TEXT: Final = 2_000
"""Characters kept of what somebody would retype."""
EDIT_TEXT: Final = 4_000
"""Characters kept of each side of an edit."""


def cut(text: str, most: int) -> str:
    """Return a text of at most about ``most`` characters: head and tail where it is longer."""
    if len(text) <= most:
        return text
    half = most // 2
    return f"{text[:half]}\n…\n{text[-half:]}"


def instant(recorded: str | int | float | None) -> float:
    """Return seconds since 1970 UTC of an ISO time, seconds or milliseconds; 0.0 where unknown."""
    if isinstance(recorded, str):
        try:
            moment = datetime.fromisoformat(recorded)
            return (moment if moment.tzinfo else moment.replace(tzinfo=UTC)).timestamp()
        except (ValueError, OverflowError):
            return instant(_number(recorded))
    if recorded is None or isinstance(recorded, bool) or not 0 < recorded < 1e14:
        return 0.0
    return recorded / 1000 if recorded >= 1e11 else float(recorded)


def _number(text: str) -> float | None:
    try:
        return float(text)
    except ValueError:
        return None
