"""A machine that goes down: at the n-th write, whole or in the middle of it."""

from __future__ import annotations

import contextlib
import os
from collections.abc import Iterator
from typing import Any

import pytest

from dreaming.stores.state import State


class Crash(BaseException):
    """The machine goes down."""


class Power:
    """Counts everything that changes something on disk, and fails at a chosen moment."""

    CALLS = ("replace", "unlink", "ftruncate", "fsync")
    TRANSACTIONS = ("put", "keep", "drop_kept")

    def __init__(self, fails_at: int = 0, *, torn: bool = False, after: bool = False) -> None:
        self.moments = 0
        self._fails_at, self._torn, self._after = fails_at, torn, after

    @contextlib.contextmanager
    def on(self) -> Iterator[None]:
        """Watch for the time of the block. Nothing is flushed: only what is written counts."""
        with pytest.MonkeyPatch.context() as patch:
            patch.setattr(os, "write", self._write(os.write))
            for name in self.CALLS:
                real = (lambda descriptor: None) if name == "fsync" else getattr(os, name)
                patch.setattr(os, name, self._watched(real))
            for name in self.TRANSACTIONS:
                patch.setattr(State, name, self._watched(getattr(State, name)))
            yield

    def _write(self, real: Any) -> Any:
        def write(descriptor: int, data: Any) -> int:
            self.moments += 1
            if self.moments == self._fails_at:
                if self._torn:
                    real(descriptor, bytes(data)[: len(data) // 2])
                elif self._after:
                    real(descriptor, data)
                raise Crash
            return int(real(descriptor, data))

        return write

    def _watched(self, real: Any) -> Any:
        def watched(*args: Any, **more: Any) -> Any:
            self.moments += 1
            fails = self.moments == self._fails_at
            if fails and not self._after:
                raise Crash
            result = real(*args, **more)
            if fails:
                raise Crash
            return result

        return watched
