"""Gotchas with a name of their own: what a linter, a shell or a person says in known words.

Two sessions that meet one word differently are found by likeness (``dreaming/aggregation``). Two
that meet the same linter rule, the same missing command or the same standing wish need no
statistics: the name is enough, also in a project of ten sessions. Tables of such names are data;
each entry brings its words, an example it must see and one it must not.
"""

from __future__ import annotations

from collections.abc import Sequence

from dreaming.models.finding import Excerpt
from dreaming.motifs import outputs, swaps, wishes
from dreaming.motifs.admissions import in_limits, in_remark
from dreaming.motifs.frames import Moment
from dreaming.motifs.interface import Told
from dreaming.motifs.outputs import in_output
from dreaming.motifs.wishes import in_words

__all__ = ["Moment", "Told", "in_limits", "in_output", "in_remark", "in_words", "tell"]


def tell(name: str, members: Sequence[Excerpt]) -> Told | None:
    """Return the words for a name, filled from the excerpts that carry it; ``None`` if unknown."""
    told = wishes.told(name) or swaps.told(name, members)
    return told or outputs.tell(name, members)
