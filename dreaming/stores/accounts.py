"""What each workspace of this machine was told about the quota of the accounts it asks.

Each writes a file of its own, in its own folder, and reads those of all: what one was told holds
for the others too, and a night that is shut in needs no further right for it.
"""

from __future__ import annotations

from pathlib import Path
from typing import Final

import msgspec

from dreaming.quota import Quota, joined
from dreaming.stores import files

NAME: Final = "quota.json"


class Accounts:
    """The quota of every account, as far as anybody told. Losing it costs one question."""

    def __init__(self, folder: Path | None = None) -> None:
        """``folder`` is that of a workspace's state, beside others'; none keeps nothing on disk."""
        self._path = None if folder is None else folder / NAME
        self._own = _read(self._path) if self._path else {}

    def all(self) -> dict[str, Quota]:
        """Return what is known now, by account."""
        if self._path is None:
            return self._own
        neighbours = self._path.parent.parent.glob(f"*/{NAME}")
        return joined([*map(_read, (one for one in neighbours if one != self._path)), self._own])

    def of(self, account: str) -> Quota:
        """Return what is known of one account now."""
        return self.all().get(account, Quota())

    def own(self, account: str) -> Quota:
        """Return what this workspace was told, to be changed and then kept."""
        return self._own.setdefault(account, Quota())

    def keep(self) -> None:
        """Put what this workspace was told where others find it."""
        if self._path is not None:
            files.replace(self._path, msgspec.json.encode(self._own), mode=0o600)


def _read(path: Path) -> dict[str, Quota]:
    """A file that is missing, damaged or not ours to read says nothing."""
    try:
        return msgspec.json.decode(path.read_bytes(), type=dict[str, Quota])
    except (OSError, msgspec.MsgspecError):
        return {}
