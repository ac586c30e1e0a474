"""Everything that can go wrong and is expected: one family, each with its exit code.

The first line of a class's docstring is the sentence a person reads when nothing better is
known, so it says what happened. ``remedy`` says what to do next. The command line prints both
and leaves with ``EXIT_CODE``; nothing else in the program chooses an exit code.
"""

from __future__ import annotations

from typing import ClassVar, Final

OK: Final = 0
INTERRUPTED: Final = 130
"""Ended by the person (Ctrl-C, SIGTERM); nothing is half-written."""


class DreamingError(Exception):
    """Something failed; it is named, kept, and will be tried again."""

    EXIT_CODE: ClassVar[int] = 1

    def __init__(self, message: str = "", *, remedy: str = "") -> None:
        doc = type(self).__doc__ or ""
        self.message = message or doc.strip().splitlines()[0]
        self.remedy = remedy
        super().__init__(self.message)


class DiskFull(DreamingError):
    """The disk is full; what was settled before is kept."""


class WrongUse(DreamingError):
    """The command was used wrongly."""

    EXIT_CODE = 2


class AlreadyKnown(DreamingError):
    """This lesson is known already; nothing was written."""

    EXIT_CODE = 3


class Refused(DreamingError):
    """Refused: what was asked would break a promise."""

    EXIT_CODE = 4


class BackendUnavailable(DreamingError):
    """The backend cannot be reached or does not let us in."""

    EXIT_CODE = 69


class NotNow(DreamingError):
    """Not now: a quota, a budget or another run is in the way."""

    EXIT_CODE = 75


class Unusable(DreamingError):
    """The settings or the state cannot be used as they are."""

    EXIT_CODE = 78


def kind_of(code: int) -> type[DreamingError]:
    """Return the error that ends a command with this code: the broadest, where several do."""
    kinds: list[type[DreamingError]] = [DreamingError, *DreamingError.__subclasses__()]
    return next((kind for kind in kinds if code == kind.EXIT_CODE), DreamingError)
