"""A story: one invented session as plain text, before it takes the form of an agent's transcript.

A story begins with a head (``agent: claude-code``), then come its steps. A step is a line in
brackets, such as ``[run]`` or ``[fail 1]``, and the text below it up to the next one.
"""

from __future__ import annotations

import hashlib
import re
from collections.abc import Iterator
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from pathlib import Path
from uuid import UUID

HOME = "/home/robin"
KINDS = (
    "person",  # what robin typed
    "script",  # what a script put into the user's role
    "model",  # what the model said
    "run",  # a shell command
    "read",  # a file read; its path stands in the brackets
    "search",  # a search
    "edit",  # a replacement; old and new text are divided by a line of dashes
    "write",  # a new file
    "delegate",  # a task for a subagent; its kind stands in the brackets
    "ok",  # what the call before returned
    "fail",  # the same, with an exit code
    "refused",  # robin refused the call before, and (perhaps) said why
    "stopped",  # robin interrupted
    "meanwhile",  # what robin typed while the agent worked
)
_STEP = re.compile(rf"\[({'|'.join(KINDS)})(?: ([^\]]+))?\]")
_SECONDS = {"person": 41, "script": 2, "model": 9, "ok": 3, "fail": 4, "refused": 17, "stopped": 25}


@dataclass(frozen=True)
class Step:
    """One step of a story."""

    kind: str
    argument: str
    text: str
    number: int
    at: datetime


@dataclass(frozen=True)
class Story:
    """One session."""

    name: str
    head: dict[str, str]
    steps: tuple[Step, ...]

    @property
    def folder(self) -> str:
        """Where the session ran."""
        return f"{HOME}/code/{self.head['project']}"

    @property
    def start(self) -> datetime:
        """When it began."""
        return datetime.fromisoformat(self.head["start"]).replace(tzinfo=UTC)

    def digest(self, *about: object) -> str:
        """Return 64 hex characters that are always the same for this story and subject."""
        return hashlib.sha256("\0".join([self.name, *map(str, about)]).encode()).hexdigest()

    def uuid(self, *about: object) -> str:
        """Return a random-looking uuid that is always the same."""
        digits = list(self.digest("uuid", *about)[:32])
        digits[12], digits[16] = "4", "89ab"[int(digits[16], 16) % 4]
        return str(UUID("".join(digits)))

    def ordered_uuid(self, at: datetime, *about: object) -> str:
        """Return a uuid that begins with its time, as Codex makes them."""
        millis = f"{int(at.timestamp() * 1000):012x}"
        rest = self.digest("uuid7", *about)
        return str(UUID(f"{millis}7{rest[:3]}8{rest[3:18]}"))


def load(folder: Path) -> list[Story]:
    """Return the stories in a folder, by name."""
    return [parse(path.stem, path.read_text("utf-8")) for path in sorted(folder.glob("*.txt"))]


def parse(name: str, text: str) -> Story:
    """Return the story of a text. Raises ``ValueError`` for a step nobody knows."""
    head_text, _, body = text.partition("\n\n")
    head = dict(line.split(": ", 1) for line in head_text.splitlines())
    at = datetime.fromisoformat(head["start"]).replace(tzinfo=UTC)
    steps = []
    for number, (kind, argument, said) in enumerate(_steps(body), start=1):
        at += timedelta(seconds=_SECONDS.get(kind, 2) + len(said) % 7, milliseconds=37 * number)
        steps.append(Step(kind, argument, said, number, at))
    return Story(name, head, tuple(steps))


def _steps(body: str) -> Iterator[tuple[str, str, str]]:
    kind = argument = ""
    lines: list[str] = []
    for line in body.splitlines():
        found = _STEP.fullmatch(line)
        if found is None:
            lines.append(line)
            continue
        if kind:
            yield kind, argument, "\n".join(lines).strip("\n")
        kind, argument, lines = found[1], found[2] or "", []
    if kind:
        yield kind, argument, "\n".join(lines).strip("\n")


def sides(step: Step) -> tuple[str, str]:
    """Return the old and the new text of an edit."""
    before, divider, after = step.text.partition("\n----\n")
    if not divider:
        raise ValueError(f"an edit without a line of dashes: {step.text[:60]!r}")
    return before, after


def stamp(at: datetime) -> str:
    """Return an instant as both agents write it."""
    return at.isoformat(timespec="milliseconds").replace("+00:00", "Z")
