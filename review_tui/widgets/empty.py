"""What an empty queue has to say: what was seen once, what was left out, what to do."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from textual.content import Content

from dreaming.jobs.showing import Overview
from review_tui.widgets.words import HEADING, MUTED, lined, words


def empty(overview: Overview) -> Content:
    """Return the page."""
    return lined(_parts(overview))


def _parts(overview: Overview) -> Iterator[Content]:
    yield words("Nothing waits for you.\n", "bold")
    if overview.last_night:
        yield words(f"Last night  {overview.last_night}", MUTED)
    else:
        yield words("No night has run here yet.", MUTED)
    yield from _several(
        "Seen in one session only; a second makes it a candidate", overview.seen_once
    )
    yield from _several("Put off", overview.put_off)
    yield from _several("Left out, with the reason", overview.left_out)
    yield words("\nWhat to do", HEADING)
    yield words("  dreaming nightly     read what is new")
    yield words("  dreaming status      what is due, and where everything is")
    if overview.held_back:
        yield words(f"  {overview.held_back} more are held back: the next night brings them.")


def _several(heading: str, lines: Sequence[str], most: int = 8) -> Iterator[Content]:
    if lines:
        yield words(f"\n{heading}", HEADING)
        for line in lines[:most]:
            yield words(f"  {line}")
        if len(lines) > most:
            yield words(f"  … and {len(lines) - most} more", MUTED)
