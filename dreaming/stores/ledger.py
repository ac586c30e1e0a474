"""The ledger: what people decided, append-only, one hash chain a writer, read as a union.

Each line carries the hash of the line before, so that an edited, lost or moved line is found. The
last line has nobody behind it, and lines cut off the end leave a good chain: that is what a chain's
head (how many lines, the hash of the last) is for, which the state keeps and ``status`` shows.
"""

from __future__ import annotations

import fcntl
import hashlib
import json
import os
from collections.abc import Iterable, Iterator, Mapping
from datetime import datetime
from pathlib import Path
from typing import Any, Final

import msgspec
from pydantic import ValidationError

from dreaming.errors import Unusable
from dreaming.models.decision import Action, Decision, Phase
from dreaming.stores import files

START: Final = "0" * 64
_REMEDY: Final = "Put the file back as it was (git, backup). Nothing is decided until then."


class Broken(msgspec.Struct, frozen=True):
    """A place at which a chain is not as it was written."""

    path: Path
    line: int
    what: str

    def __str__(self) -> str:
        return f"{self.path}:{self.line}: {self.what}"


class Head(msgspec.Struct, frozen=True):
    """How far a chain goes: what a cut or changed end is seen against."""

    lines: int
    hash: str
    """SHA-256 of the last line; zeros for an empty chain."""

    def __str__(self) -> str:
        return f"{self.lines} {self.hash}"

    @classmethod
    def parse(cls, text: str) -> Head:
        """Return the head that ``str`` gave."""
        lines, hash_ = text.split()
        return cls(int(lines), hash_)


class _Chain(msgspec.Struct):
    """One writer's file as far as it was read and checked."""

    data: bytes = b""
    """Whole lines only."""
    decisions: list[Decision] = msgspec.field(default_factory=list)
    hashes: list[str] = msgspec.field(default_factory=list)

    def head(self) -> Head:
        return Head(len(self.hashes), self.hashes[-1] if self.hashes else START)


class Ledger:
    """All writers' decisions, and the pen of one of them."""

    def __init__(self, folder: Path, writer: str) -> None:
        self.folder = folder
        self.writer = writer
        self.path = folder / f"reviewed-{writer}.jsonl"
        self._chains: dict[Path, _Chain] = {}

    # -- reading -------------------------------------------------------------------------------

    def decisions(self) -> list[Decision]:
        """Return every step of every writer's decisions, each chain checked, oldest first.

        A chain keeps its order whatever its clock did. Raises ``Unusable`` naming file and line
        where a line was edited, lost or reordered.
        """
        found: list[tuple[datetime, int, str, Decision]] = []
        for path in self.paths():
            latest: datetime | None = None
            for one in self._read(path).decisions:
                latest = one.at if latest is None else max(latest, one.at)
                found.append((latest, one.seq, one.writer, one))
        return [one for *_, one in sorted(found, key=lambda each: each[:3])]

    def unfinished(self) -> list[Decision]:
        """Return this writer's intents that no end follows, oldest first."""
        open_intents: list[Decision] = []
        for one in self._read(self.path).decisions:
            if one.phase is Phase.INTENT:
                open_intents.append(one)
            elif open_intents:
                open_intents = [each for each in open_intents if not ends(one, each)]
        return open_intents

    def paths(self) -> list[Path]:
        """Return the files of all writers, sorted."""
        return files.matching(self.folder, "reviewed-*.jsonl")

    def writers(self) -> list[str]:
        """Return the names of all writers, sorted."""
        return [_writer(path) for path in self.paths()]

    def head(self) -> tuple[int, str]:
        """Return how many lines this writer's chain has and the hash of the last."""
        head = self._read(self.path).head()
        return head.lines, head.hash

    def heads(self) -> dict[str, Head]:
        """Return how far every writer's chain goes, by the name of its file."""
        return {path.name: self._read(path).head() for path in self.paths()}

    def has(self, count: int, head: str) -> bool:
        """Whether this writer's chain still holds its ``count``-th line with that hash."""
        return _holds(self.path, Head(count, head)) is None

    def next_name(self) -> str:
        """Return the name that the next decision of this writer will have."""
        return f"{self.writer}:{self._read(self.path).head().lines + 1}"

    # -- checking ------------------------------------------------------------------------------

    def verify(self, kept: Mapping[str, Head]) -> list[Broken]:
        """Check every chain whole and return each place at which one is not as it was written.

        ``kept`` has the heads that were seen before, by file name: without one, a changed last
        line and a cut tail cannot be seen.
        """
        names = {path.name for path in self.paths()} | set(kept)
        found: list[Broken] = []
        for name in sorted(names):
            path = self.folder / name
            found += _broken_places(path)
            behind = _holds(path, kept[name]) if name in kept else None
            if behind is not None and behind.line not in {one.line for one in found}:
                found.append(behind)
        return found

    def check_head(self, kept: Head) -> None:
        """Stop where this writer's chain no longer holds what was confirmed before.

        Raises ``Unusable`` naming file and line. Call it before ``set_torn_tail_aside``: a last
        line that lost its end after it was confirmed is no torn one.
        """
        broken = _holds(self.path, kept)
        if broken is not None:
            raise Unusable(f"{broken}.", remedy=_REMEDY)

    # -- writing -------------------------------------------------------------------------------

    def append(self, at: datetime, action: Action, phase: Phase, **fields: Any) -> Decision:
        """Add one line; it is on disk when this returns.

        The file itself is locked from reading its end to writing after it, so that two processes
        never interleave. Raises ``Unusable`` where the file ends in half a line.
        """
        new = not self.path.exists()
        descriptor = os.open(self.path, os.O_RDWR | os.O_CREAT | os.O_APPEND, 0o644)
        try:
            fcntl.flock(descriptor, fcntl.LOCK_EX)
            head = self._read(self.path).head()
            if os.fstat(descriptor).st_size != len(self._chains[self.path].data):
                raise Unusable(f"{self.path} ends in half a line.", remedy="Run this again.")
            decision = Decision(
                seq=head.lines + 1, at=at, action=action, phase=phase, prev=head.hash,
                writer=self.writer, **fields,
            )  # fmt: skip
            files.write_all(descriptor, _line(decision))
            files.sync(descriptor)
        finally:
            os.close(descriptor)
        if new:
            files.sync_folder(self.folder)
        return decision

    def set_torn_tail_aside(self, place: Path) -> bool:
        """Move a last line that a power cut left without its end to ``place``.

        Such a line was never acknowledged. Return whether there was one.
        """
        data = self.path.read_bytes() if self.path.exists() else b""
        whole = data.rfind(b"\n") + 1
        if whole == len(data):
            return False
        files.append(place, data[whole:] + b"\n")
        files.cut(self.path, whole)
        return True

    # -- one chain -----------------------------------------------------------------------------

    def _read(self, path: Path) -> _Chain:
        """Return a chain, checked; what was read before and still stands is not read again."""
        data = path.read_bytes() if path.exists() else b""
        data = data[: data.rfind(b"\n") + 1]
        chain = self._chains.pop(path, None)
        if chain is None or not data.startswith(chain.data):
            chain = _Chain()
        writer = _writer(path)
        for line in data[len(chain.data) :].split(b"\n")[:-1]:
            number = len(chain.hashes) + 1
            one, wrong = _decision(line, number, chain.head().hash)
            if one is None:
                raise Unusable(f"{Broken(path, number, wrong)}.", remedy=_REMEDY)
            chain.decisions.append(one.model_copy(update={"writer": writer}))
            chain.hashes.append(_hash(line))
        chain.data = data
        self._chains[path] = chain
        return chain


def ends(step: Decision, intent: Decision) -> bool:
    """Whether a step is the end of an intent of the same chain."""
    same = (step.action, step.candidate, step.lesson) == (
        intent.action,
        intent.candidate,
        intent.lesson,
    )
    return same and step.phase is not Phase.INTENT


def _writer(path: Path) -> str:
    return path.name.removeprefix("reviewed-").removesuffix(".jsonl")


def _line(decision: Decision) -> bytes:
    """A decision as its file holds it: in ASCII, so that nothing in it steers who looks at it."""
    fields = decision.model_dump(mode="json")
    return json.dumps(fields, ensure_ascii=True, separators=(",", ":")).encode() + b"\n"


def _decision(line: bytes, number: int, expected: str) -> tuple[Decision | None, str]:
    """The decision in a line that must follow another; else why it is none."""
    try:
        one = Decision.model_validate_json(line)
    except ValidationError:
        return None, "this line is no decision: the ledger was edited or cut"
    if one.prev != expected or one.seq != number:
        return None, "this line does not follow the one before it: one of the two was changed"
    return one, ""


def _broken_places(path: Path) -> Iterator[Broken]:
    expected = START
    data = path.read_bytes() if path.exists() else b""
    lines = data.split(b"\n")
    for number, line in enumerate(lines[:-1], start=1):
        one, wrong = _decision(line, number, expected)
        if one is None:
            yield Broken(path, number, wrong)
        expected = _hash(line)
    if lines[-1]:
        yield Broken(path, len(lines), "the last line lost its end")


def _holds(path: Path, head: Head) -> Broken | None:
    """``None`` where a chain still holds a head; else where and how it does not."""
    if head.lines == 0:
        return None
    lines = list(_lines(path))
    if len(lines) < head.lines:
        gone = head.lines - len(lines)
        return Broken(path, len(lines) + 1, f"{gone} of {head.lines} lines are gone from the end")
    if _hash(lines[head.lines - 1]) != head.hash:
        return Broken(path, head.lines, "this line is not the one that was confirmed")
    return None


def _lines(path: Path) -> Iterable[bytes]:
    """The whole lines of a file; a torn tail is not one."""
    return path.read_bytes().split(b"\n")[:-1] if path.exists() else ()


def _hash(line: bytes) -> str:
    return hashlib.sha256(line).hexdigest()
