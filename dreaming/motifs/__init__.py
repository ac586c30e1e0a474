"""Gotchas with a name of their own: what a linter, a shell or a person says in known words.

Two sessions that meet one word differently are found by likeness (``dreaming/aggregation``). Two
that meet the same linter rule, the same missing command or the same standing wish need no
statistics: the name is enough, also in a project of ten sessions. Tables of such names are data;
each entry brings its words, an example it must see and one it must not.
"""

from __future__ import annotations

from collections.abc import Sequence

from dreaming.models.finding import Excerpt
from dreaming.motifs import admissions, outputs, swaps, wishes
from dreaming.motifs.frames import Moment
from dreaming.motifs.interface import Told

__all__ = ["Moment", "Told", "in_limits", "in_output", "in_remark", "in_words", "tell"]


def in_output(
    text: str, command: str = "", *, failed: bool = False, hook: bool = False
) -> dict[str, str]:
    """Return the names of what a tool or a hook says, each with the lines that say it.

    In the order of the tables. ``command`` is what was run; ``failed`` says that the call ended
    with an error, ``hook`` that a hook speaks. Colours are left out of the lines.
    """
    return outputs.seen(text, command, failed=failed, hook=hook)


def in_words(text: str, moment: Moment = Moment.NONE) -> dict[str, str]:
    """Return the names of the standing wishes that a person's words voice, each with its sentence.

    ``moment`` says what stood before them: some words are wishes only after work was done.
    """
    return wishes.heard(text, moment)


def in_remark(text: str, commands: Sequence[str] = ()) -> dict[str, str]:
    """Return the names of what a model admits to have done wrong, each with the line that does.

    ``commands`` are the last ones it ran.
    """
    return dict(admissions.admitted(text, commands))


def in_limits(text: str) -> dict[str, str]:
    """Return the names of what a restricted agent lacks, each with the line that says so."""
    return dict(admissions.lacking(text))


def tell(name: str, members: Sequence[Excerpt]) -> Told | None:
    """Return the words for a name, filled from the excerpts that carry it; ``None`` if unknown."""
    told = wishes.told(name) or swaps.told(name, members)
    return told or outputs.tell(name, members)
