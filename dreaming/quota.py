"""Rolling quota windows: may we ask now, and if not, when. Pure: what was told in, an instant out.

All instants are seconds since 1970 UTC. A window that nobody told about is taken to be open: the
provider refuses by itself, and says so.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Final

import msgspec

FARTHEST: Final = 8 * 24 * 3600.0
"""Seconds ahead from which on an instant is not believed: a week's window and a day."""
UNTOLD: Final = 5 * 3600.0
"""Seconds that a window lasts of which nobody said when it starts anew: the usual window."""
BUCKETS: Final = ("requests", "tokens", "input", "output")
"""How the names of an API's windows of a minute begin. They are made to be used up, and over before
anybody could come back to them."""


class Window(msgspec.Struct, frozen=True):
    """One of a provider's rolling quota windows, as the provider told it."""

    name: str
    """Such as ``five_hour``, ``seven_day``, ``requests``."""
    used: float
    """Share that is used up, 0.0 to 1.0 (above 1.0 where the provider says so)."""
    resets_at: float = 0.0
    """Seconds since 1970 UTC at which it starts anew; 0.0 where nobody said."""


class Quota(msgspec.Struct):
    """What is known of one account."""

    windows: dict[str, Window] = {}
    """By name, as told last."""
    not_before: float = 0.0
    """From when asking may work again; in the past where it may now."""
    at: float = 0.0
    """When it was told last."""

    def hear(self, windows: Iterable[Window], now: float) -> None:
        """Take in what was told with an answer or a failure, of windows worth waiting for."""
        for one in windows:
            if one.name.startswith(BUCKETS):
                continue
            ends = one.resets_at or now + UNTOLD
            self.windows[one.name] = msgspec.structs.replace(one, resets_at=ends)
            self.at = now

    def refuse(self, not_before: float, now: float) -> None:
        """Take in that the quota is used up, until then where somebody said so."""
        self.not_before, self.at = not_before or now + UNTOLD, now


class Wait(msgspec.Struct, frozen=True):
    """Why not to ask now."""

    until: float
    window: Window | None = None
    """What is used too far; ``None`` where the provider refused."""


def may_ask(quota: Quota, now: float, ceiling: float) -> Wait | None:
    """Return what is in the way of a question, ``None`` where nothing is.

    ``ceiling`` is the share of a person's window from which on the rest is left to the person. A
    window that has started anew is empty. An instant too far ahead was told by, or to, a clock that
    was wrong, and is not believed.
    """
    waits = [Wait(quota.not_before)] if is_ahead(quota.not_before, now) else []
    waits += [
        Wait(one.resets_at, one)
        for one in open_windows(quota, now)
        if one.used >= 1.0 or one.used > ceiling
    ]
    return max(waits, key=lambda one: one.until, default=None)


def open_windows(quota: Quota, now: float) -> list[Window]:
    """Return the windows that have not started anew since they were told."""
    return [one for _, one in sorted(quota.windows.items()) if is_ahead(one.resets_at, now)]


def is_ahead(instant: float, now: float) -> bool:
    """Say whether an instant is to come, and near enough to be believed."""
    return now < instant <= now + FARTHEST


def joined(several: Iterable[Mapping[str, Quota]]) -> dict[str, Quota]:
    """Return by account what several workspaces know, of each window what was told last."""
    found: dict[str, Quota] = {}
    told = [(one.at, name, one) for known in several for name, one in known.items()]
    for at, name, one in sorted(told, key=lambda told: told[:2]):
        seen = found.setdefault(name, Quota())
        seen.windows = {**seen.windows, **one.windows}
        seen.not_before, seen.at = max(seen.not_before, one.not_before), at
    return found
