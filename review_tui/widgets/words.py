"""Text to what Textual draws: the only way in, and never by markup.

Textual sends control bytes on to the terminal as they are, so text is made inert once more here.
"""

from __future__ import annotations

from collections.abc import Iterable

from textual.content import Content

from dreaming.jobs.showing import Piece, inert

MUTED = "$foreground 65%"
HEADING = "bold $primary"
NEW = "$success"
GONE = "$error"
CARE = "$warning"
HUMAN = "bold $accent"


def words(text: str, style: str = "") -> Content:
    """Return text with one style; nothing in it is a command to anybody."""
    return Content.assemble((inert(text), style))


def row(*parts: Content | tuple[str, str] | str) -> Content:
    """Return pieces side by side."""
    return Content.assemble(
        *(
            part
            if isinstance(part, Content)
            else words(part)
            if isinstance(part, str)
            else words(*part)
            for part in parts
        )
    )


def block(content: Content, width: int, first: str = "  ", rest: str = "  ") -> Content:
    """Return content wrapped to ``width`` with an indent that hangs."""
    room = max(8, width - max(len(first), len(rest)))
    lines = [line for part in content.split("\n") for line in part.wrap(room)]
    return lined(
        row(first if place == 0 else rest, line) for place, line in enumerate(lines or [content])
    )


def lined(lines: Iterable[Content]) -> Content:
    """Return contents one below the other."""
    return Content("\n").join(list(lines))


def diffed(pieces: Iterable[Piece]) -> Content:
    """Return a word diff: signs tell what is new and what is gone, colour only helps."""
    return Content(" ").join(_piece(piece) for piece in pieces)


def _piece(piece: Piece) -> Content:
    if piece.sign == "+":
        return words(f"{{+{piece.text}+}}", NEW)
    if piece.sign == "-":
        return words(f"[-{piece.text}-]", GONE)
    return words(piece.text)
