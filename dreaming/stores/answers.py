"""Raw answers of backends, one file a request: on disk before anything is made of them."""

from __future__ import annotations

import json
from collections.abc import Iterator
from pathlib import Path

import msgspec

from dreaming.stores import files


class KeptAnswer(msgspec.Struct, frozen=True):
    """An answer as it came."""

    text: str
    input_tokens: int = 0
    output_tokens: int = 0
    cost: float = 0.0
    complete: bool = True
    backend: str = ""
    """Identity of the backend that gave it."""
    about: tuple[tuple[str, tuple[tuple[str, str, str], ...]], ...] = ()
    """By session id the excerpts it is about: (number, excerpt id, mark of what the excerpt said).
    So it can be read again whatever else is asked about, and where the state was lost."""
    why: str = ""
    """Why it could not be used; empty where it could, or nobody tried yet."""
    word: str = ""
    """What it must say back to be believed; empty where nobody asked for that."""


class Answers:
    """The folder of raw answers. A request that stands here is never paid for again."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder

    def get(self, request: str) -> KeptAnswer | None:
        """Return the kept answer to a request, by its hash; ``None`` also where it is damaged."""
        try:
            return msgspec.json.decode(self._path(request).read_bytes(), type=KeptAnswer)
        except (FileNotFoundError, msgspec.MsgspecError):
            return None

    def all(self) -> Iterator[str]:
        """Yield the hash of every request that has a kept answer, in a stable order."""
        return (path.stem for path in files.matching(self.folder, "*.json"))

    def unusable(self) -> Iterator[tuple[str, KeptAnswer, float]]:
        """Yield what could not be used: its hash, itself, and when it came (seconds, UTC)."""
        for path in files.matching(self.folder, "*.json"):
            kept = self.get(path.stem)
            if kept is not None and (kept.why or not kept.complete):
                yield path.stem, kept, path.stat().st_mtime

    def keep(self, request: str, answer: KeptAnswer) -> None:
        """Keep an answer, durably. Lone surrogates become question marks; nothing else changes."""
        self.folder.mkdir(mode=0o700, exist_ok=True)
        data = json.dumps(msgspec.to_builtins(answer)).encode()
        files.replace(self._path(request), data, mode=0o600)

    def forget(self, request: str) -> None:
        """Delete an answer that rests on a transcript which turned out to hold a credential."""
        self._path(request).unlink(missing_ok=True)

    def _path(self, request: str) -> Path:
        return self.folder / f"{request}.json"
