"""The ledger: what people decided, append-only, one hash chain a writer, read as a union."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Iterator
from datetime import datetime
from pathlib import Path
from typing import Any, Final

from pydantic import ValidationError

from dreaming.errors import Unusable
from dreaming.models.decision import Action, Decision, Phase
from dreaming.stores import files

START: Final = "0" * 64


class Ledger:
    """All writers' decisions, and the pen of one of them."""

    def __init__(self, folder: Path, writer: str) -> None:
        self.folder = folder
        self.path = folder / f"reviewed-{writer}.jsonl"

    def decisions(self) -> list[Decision]:
        """Return every writer's decisions, each chain checked, oldest first.

        Raises ``Unusable`` naming file and line where a line was edited, lost or reordered.
        """
        chains = (self._chain(path) for path in sorted(self.folder.glob("reviewed-*.jsonl")))
        return sorted((one for chain in chains for one in chain), key=lambda one: (one.at, one.seq))

    def decided(self) -> dict[str, Decision]:
        """Return the decisions that stand, by candidate id."""
        return {one.candidate: one for one in self.decisions() if one.candidate}

    def unfinished(self) -> list[Decision]:
        """Return this writer's intents that no ``done`` follows, oldest first."""
        open_intents: dict[str, Decision] = {}
        for one in self._chain(self.path):
            if one.phase is Phase.INTENT:
                open_intents[one.candidate] = one
            else:
                open_intents.pop(one.candidate, None)
        return list(open_intents.values())

    def append(self, at: datetime, action: Action, phase: Phase, **fields: Any) -> Decision:
        """Add one line; it is on disk when this returns. Call it under the decision lock."""
        last, seq = START, 0
        for last_line in _lines(self.path):
            last, seq = _hash(last_line), seq + 1
        decision = Decision(seq=seq + 1, at=at, action=action, phase=phase, prev=last, **fields)
        line = decision.model_dump_json().encode() + b"\n"
        files.append(self.path, line)
        return decision

    def head(self) -> tuple[int, str]:
        """Return how many lines this writer's chain has and the hash of the last."""
        lines = list(_lines(self.path))
        return len(lines), _hash(lines[-1]) if lines else START

    def has(self, count: int, head: str) -> bool:
        """Whether this writer's chain still holds its ``count``-th line with that hash."""
        lines = list(_lines(self.path))
        return count == 0 or (len(lines) >= count and _hash(lines[count - 1]) == head)

    def set_torn_tail_aside(self, place: Path) -> bool:
        """Move a last line that a power cut left without its end to ``place``.

        Such a line was never acknowledged. Return whether there was one.
        """
        data = self.path.read_bytes() if self.path.exists() else b""
        whole = data.rfind(b"\n") + 1
        if whole == len(data):
            return False
        files.append(place, data[whole:] + b"\n")
        files.replace(self.path, data[:whole])
        return True

    def _chain(self, path: Path) -> Iterator[Decision]:
        expected = START
        for number, line in enumerate(_lines(path), start=1):
            try:
                one = Decision.model_validate(json.loads(line))
            except (ValidationError, ValueError, RecursionError) as wrong:
                raise _broken(path, number, "is not a decision") from wrong
            if one.prev != expected or one.seq != number:
                raise _broken(path, number, "does not follow the line before it")
            expected = _hash(line)
            yield one


def _lines(path: Path) -> Iterator[bytes]:
    """The whole lines of a file; a torn tail is not one."""
    if not path.exists():
        return
    yield from path.read_bytes().split(b"\n")[:-1]


def _hash(line: bytes) -> str:
    return hashlib.sha256(line).hexdigest()


def _broken(path: Path, number: int, what: str) -> Unusable:
    return Unusable(
        f"{path}:{number}: this line {what}: the ledger was edited, cut or reordered.",
        remedy="Put the file back as it was (git, backup). Nothing is decided until then.",
    )
