"""Answers from a recording: for the demo, for acceptance tests, for trying a prompt again.

A recording must outlive its keys: session ids and excerpt numbers are different in every
workspace. So a recorded finding says in its own words what it is about and *quotes* what it was
found in; it is answered for each session of a request that holds one of its quotations.
"""

from __future__ import annotations

import hashlib
import json
from collections.abc import Iterable, Iterator, Sequence
from pathlib import Path
from typing import Any, Final

import msgspec

from dreaming.backends.interface import Answer, Backend, Request, TransientFailure
from dreaming.errors import DreamingError, Unusable
from dreaming.packets import Packet, holds


class Recorded(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """One recorded finding, without a session: its quotations say where it belongs."""

    slug: str
    topic: str
    symptom: str
    rule: str
    quotes: tuple[str, ...]
    """Verbatim words of a redacted session. One that stands there is enough."""


Step = str | Answer | DreamingError
"""What a scripted replay does next: answer a text, or an ``Answer`` as it is, or raise."""

CONTEXT_TOKENS: Final = 60_000


class Replay(Backend):
    """Answers what was recorded, free and always the same."""

    name = "replay"
    leaves_the_machine = False
    free = True

    def __init__(
        self, recording: Path | Iterable[Recorded] = (), *, texts: Sequence[Step] = ()
    ) -> None:
        """Replay a folder of ``*.json`` recordings (or one such file, or findings given directly).

        With ``texts`` it answers those instead, in turn and as they are, and once they are used up
        it fails as a backend does that went away. Raises ``Unusable`` for a recording that cannot
        be read.
        """
        self._recorded = tuple(load(recording) if isinstance(recording, Path) else recording)
        self._texts = tuple(texts)
        self.asked: list[Request] = []
        """The requests so far, for whoever wants to look."""

    @property
    def identity(self) -> str:
        """Another recording is another model."""
        told = [msgspec.to_builtins(finding) for finding in self._recorded]
        told += map(str, self._texts)
        digest = hashlib.sha256(json.dumps(told, sort_keys=True).encode())
        return f"{self.name}:{digest.hexdigest()[:12]}"

    @property
    def context_tokens(self) -> int:
        """As much as a real model is given, so that batches look alike."""
        return CONTEXT_TOKENS

    def ask(self, request: Request) -> Answer:
        """Return the next text, or every recorded finding that a session's excerpts hold."""
        self.asked.append(request)
        if self._texts:
            return self._next_text()
        back = {"read": request.word} if request.word else {}
        if not request.packets:
            return Answer(text=json.dumps({**back, "same": []}), model=self.identity)
        found = [item for packet in request.packets for item in self._found(packet)]
        said = {**back, "findings": found} if back else found
        return Answer(text=json.dumps(said, ensure_ascii=False, indent=1), model=self.identity)

    def _next_text(self) -> Answer:
        if len(self.asked) > len(self._texts):
            raise TransientFailure("The recording has no further answer.")
        step = self._texts[len(self.asked) - 1]
        if isinstance(step, DreamingError):
            raise step
        return step if isinstance(step, Answer) else Answer(text=step, model=self.identity)

    def _found(self, packet: Packet) -> Iterator[dict[str, Any]]:
        for finding in self._recorded:
            numbers = [
                label
                for label, kept in packet.excerpts
                if any(holds(kept.excerpt, quote) for quote in finding.quotes)
            ]
            if numbers:
                yield {
                    "session_id": packet.session_id,
                    "slug": finding.slug,
                    "topic": finding.topic,
                    "symptom": finding.symptom,
                    "rule": finding.rule,
                    "evidence": numbers,
                }


def load(place: Path) -> list[Recorded]:
    """Return the findings recorded in a ``.json`` file, or in those of a folder, by name.

    Raises ``Unusable``, naming the file and what is wrong in it, also where there is none.
    """
    files = sorted(place.glob("*.json")) if place.is_dir() else [place]
    if not files:
        raise Unusable(f"{place} holds no recording.", remedy="A recording is a .json file there.")
    return [finding for file in files for finding in _load_file(file)]


def _load_file(file: Path) -> list[Recorded]:
    try:
        found = msgspec.json.decode(file.read_bytes(), type=list[Recorded])
    except (OSError, msgspec.DecodeError) as error:
        raise Unusable(
            f"The recording {file} cannot be read: {error}",
            remedy="A recording is a JSON list of {slug, topic, symptom, rule, quotes}.",
        ) from error
    for place, finding in enumerate(found, start=1):
        if not all(quote.strip() for quote in (finding.quotes or ("",))):
            raise Unusable(f"Finding {place} of the recording {file} has no or an empty quotation.")
    return found
