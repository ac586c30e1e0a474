"""Names of what tools and hooks say: the tables together, and the door to them."""

from __future__ import annotations

import re
from collections.abc import Sequence
from functools import cache
from typing import Final

from dreaming.models.finding import Excerpt
from dreaming.motifs import failures, harness, linters
from dreaming.motifs.finder import Index
from dreaming.motifs.interface import Told
from dreaming.motifs.table import Motif

MOTIFS: Final = (*linters.MOTIFS, *failures.MOTIFS, *harness.MOTIFS)
_SPOKEN: Final = {"any": ("any",), "failed": ("any", ""), "hook": ("any", "", "hook")}
_COLOUR: Final = re.compile(r"\x1b\[[0-9;?]*[A-Za-z]")
_IN_LOG: Final = re.compile(r"^[^\t\n]*\t[^\t\n]*\t\S+Z (?:##\[error\])?", re.MULTILINE)
"""What stands before each line in the log of a check that ran elsewhere."""
_GARBAGE: Final = 3
"""So many commands that are not found are the text of a script that the shell took for one."""


_PATCH: Final = "*** Begin Patch"


@cache
def _index() -> Index[Motif]:
    return Index((motif, motif.runs) for motif in MOTIFS)


def in_output(
    text: str, command: str = "", *, failed: bool = False, hook: bool = False
) -> dict[str, str]:
    """Return the names of what a tool or a hook says, each with the lines that say it.

    In the order of the tables. ``command`` is what was run; ``failed`` says that the call ended
    with an error, ``hook`` that a hook speaks. Colours are left out of the lines.
    """
    if "\x1b" in text:
        text = _COLOUR.sub("", text)
    if "\\n" in text:
        # Hooks print their own line ends as two characters.
        text = text.replace("\\n", "\n")
    if "gh run" in command:
        text = _IN_LOG.sub("", text)
    whens = _SPOKEN["hook" if hook else "failed" if failed else "any"]
    found: dict[str, str] = {}
    for motif in _index().near(text):
        for name, lines in motif.find(text, command) if motif.when in whens else ():
            found.setdefault(name, lines)
    missing = [name for name in found if name.startswith("missing-command-")]
    if len(missing) >= _GARBAGE or _PATCH in command:
        for name in missing:
            del found[name]
    return found


def tell(name: str, members: Sequence[Excerpt]) -> Told | None:
    """Return the words for a name of an output; ``None`` for one of no table."""
    told = linters.tell(name, members) or failures.tell(name, members)
    return told or next(filter(None, (motif.tell(name, members) for motif in harness.MOTIFS)), None)
