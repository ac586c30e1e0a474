"""Tells a person's key from a pasted burst and from a key that is held down. Pure: times go in.

A key that decides waits a moment before it counts. What comes within that moment says that nobody
typed it; the same key again and again says that it is held. Terminals report no key-up.
"""

from __future__ import annotations

from enum import Enum
from typing import Final

import msgspec

BURST: Final = 0.040
"""Seconds in which no person types two keys."""
TOGETHER: Final = 0.020
"""A key that comes so soon after any other was pasted; no hand and no keyboard is so fast."""
REPEAT: Final = 0.120
"""Seconds within which the same key again is the key held down (90 ms on macOS, 33 elsewhere)."""


class Verdict(Enum):
    """What a key amounts to."""

    WAIT = "wait"
    """It counts if ``due`` says so when its moment is over."""
    BURST = "burst"
    """It came with others: none of them counts."""
    HELD = "held"
    """The same key held down: it counts once."""
    FREE = "free"
    """It decides nothing and is no part of a burst."""


class Guard(msgspec.Struct):
    """Follows the keys of one person."""

    moment: float = BURST
    """How long the key that waits has to wait: longer where the same key came before."""
    _key: str = ""
    _at: float = float("-inf")
    _waiting: bool = False
    _again: bool = False
    _bursting: bool = False

    def press(self, key: str, at: float, *, decides: bool) -> Verdict:
        """Say what a key amounts to that came ``at`` (monotonic seconds)."""
        gap, again = at - self._at, key == self._key
        self._key, self._at = key, at
        together = decides and gap < TOGETHER
        self._bursting = together or (gap < BURST and (self._bursting or self._waiting))
        if again and decides and TOGETHER <= gap < REPEAT:
            self._waiting = self._waiting and not self._again
            self._bursting = False
            return Verdict.HELD
        if self._bursting:
            self._waiting = False
            return Verdict.BURST
        if not decides:
            return Verdict.FREE
        self._waiting, self._again = True, again
        self.moment = REPEAT if again else BURST
        return Verdict.WAIT

    @property
    def waits(self) -> bool:
        """Whether a key waits for its moment to be over."""
        return self._waiting

    def due(self) -> bool:
        """Say whether the key that waited counts, now that its moment is over."""
        counts, self._waiting = self._waiting, False
        return counts
