"""The queue: one JSON file a candidate, complete or absent."""

from __future__ import annotations

import json
import os
from pathlib import Path

from pydantic import ValidationError

from dreaming.errors import Unusable
from dreaming.models.candidate import Candidate, Flag
from dreaming.stores import files


class Pending:
    """What waits for a person."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder

    def all(self) -> list[Candidate]:
        """Return what waits, best first; what may be fixed already comes last.

        Raises ``Unusable`` naming the file where one is not a candidate.
        """
        found = [self._read(path) for path in files.matching(self.folder, "*.json")]
        return sorted(found, key=lambda one: (Flag.MAYBE_FIXED in one.flags, -one.score, one.id))

    def ids(self) -> list[str]:
        """Return the ids of what waits, without opening a file."""
        names = os.listdir(self.folder)  # noqa: PTH208 - thousands of paths cost ten times as much
        return sorted(
            name.removesuffix(".json")
            for name in names
            if name.endswith(".json") and not name.startswith(".")
        )

    def get(self, candidate_id: str) -> Candidate:
        """Return one that waits. Raises ``Unusable`` where its file is no candidate."""
        return self._read(self._path(candidate_id))

    def sweep(self) -> None:
        """Remove what a killed run left half-written. Call it under the decision lock."""
        files.sweep(self.folder)

    def put(self, candidate: Candidate) -> bool:
        """Write a candidate; return whether that changed anything."""
        data = render(candidate)
        path = self._path(candidate.id)
        if path.exists() and path.read_bytes() == data:
            return False
        files.replace(path, data)
        return True

    def remove(self, candidate_id: str) -> None:
        """Take a candidate out of the queue; it is fine when it is gone already."""
        files.remove(self._path(candidate_id))

    def _path(self, candidate_id: str) -> Path:
        return self.folder / f"{candidate_id}.json"

    def _read(self, path: Path) -> Candidate:
        try:
            candidate = Candidate.model_validate_json(path.read_bytes())
        except (ValidationError, OSError) as wrong:
            raise Unusable(
                f"{path} is not a candidate: {_first_line(wrong)}",
                remedy="Move it away; the next night writes it again if it still stands.",
            ) from wrong
        if candidate.id != path.stem:
            raise Unusable(f"{path} holds the candidate {candidate.id}.", remedy="Move it away.")
        return candidate


def render(candidate: Candidate) -> bytes:
    """Return a candidate as its file holds it."""
    fields = candidate.model_dump(mode="json", by_alias=True)
    return (json.dumps(fields, ensure_ascii=False, indent=2) + "\n").encode()


def _first_line(wrong: Exception) -> str:
    if isinstance(wrong, ValidationError):
        first = wrong.errors()[0]
        return f"{'.'.join(map(str, first['loc']))}: {first['msg']}"
    return str(wrong)
