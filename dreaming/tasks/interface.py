"""What a task hands to a backend: one question, made of packets and what is known."""

from __future__ import annotations

from collections.abc import Mapping

import msgspec

from dreaming.packets import Packet


class Request(msgspec.Struct, frozen=True):
    """One question: stable instructions first, then what is known, then the packets as data."""

    packets: tuple[Packet, ...]
    """What excerpts it shows; none where it is about findings alone."""
    system: str
    """Instructions: the same for every request of one task version."""
    prompt: str
    """Known lessons and the rendered packets."""
    hash: str
    """64 hex characters over everything the answer depends on, the attempt included."""
    sessions: tuple[str, ...] = ()
    """Ids of the sessions whose words stand in it, sorted: where one of them is refused later, the
    answer is withdrawn."""
    backend: str = ""
    """Name of the backend it is meant for; what it answers is recorded as that backend's word."""
    stable: int = 0
    """How many characters of ``prompt``, from its start, are those of the night's other requests:
    a provider that caches need not read them twice."""
    word: str = ""
    """What the answer must say back, so that it is seen to follow these instructions and not those
    of a transcript; empty where the instructions do not ask for it."""
    schema: Mapping[str, object] | None = None
    """JSON schema of the answer, for backends that can hold a model to one. Its root is an object:
    some refuse an array there, some ignore it in silence."""
