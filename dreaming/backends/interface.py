"""What a backend is: one verb, and an honest declaration of what it costs and where text goes.

A backend gets packets and known lessons and returns raw text. It never writes, never decides and
never sees a path. A model behind it can do nothing but read what it was sent.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Sequence
from typing import ClassVar

import msgspec

from dreaming.errors import BackendUnavailable, DreamingError, NotNow
from dreaming.packets import Packet


class Price(msgspec.Struct, frozen=True):
    """List price in US dollars per million tokens, with the day and place it was read."""

    input: float = 0.0
    output: float = 0.0
    source: str = ""


class Usage(msgspec.Struct, frozen=True):
    """What one request used. Tokens as the provider counts them; dollars at list price."""

    input_tokens: int = 0
    output_tokens: int = 0
    cost: float = 0.0


class Request(msgspec.Struct, frozen=True):
    """One question: stable instructions first, then what is known, then the packets as data."""

    packets: tuple[Packet, ...]
    system: str
    """Instructions: the same for every request of one task version."""
    prompt: str
    """Known lessons and the rendered packets."""
    hash: str
    """64 hex characters over everything the answer depends on, the attempt included."""


class Answer(msgspec.Struct, frozen=True):
    """What came back, exactly as it came."""

    text: str
    usage: Usage = Usage()
    model: str = ""
    complete: bool = True
    """False where the provider says the text was cut short."""


class Backend(ABC):
    """Answers one request at a time."""

    name: ClassVar[str]
    leaves_the_machine: ClassVar[bool]
    """Whether text is sent to somebody else's computer."""
    free: ClassVar[bool]
    """True where an answer costs nothing and is the same each time: raw answers are not kept."""

    @property
    @abstractmethod
    def identity(self) -> str:
        """Name and model, part of the request hash: another model gives another answer."""

    @property
    @abstractmethod
    def context_tokens(self) -> int:
        """How many tokens of packets one request may hold."""

    @property
    def price(self) -> Price:
        """List price; zero where nothing is charged."""
        return Price()

    @abstractmethod
    def ask(self, request: Request) -> Answer:
        """Return the raw answer.

        Raises ``TransientFailure``, ``QuotaReached`` or ``LetInRefused`` (and their relatives
        below); anything else is a defect.
        """


class TransientFailure(DreamingError):
    """The backend did not answer this time; the batch is tried again another night."""


class TooBig(DreamingError):
    """The request is larger than the backend takes; it is split."""


class AnswerRefused(DreamingError):
    """The model declined to answer; the batch is kept and counted."""


class QuotaReached(NotNow):
    """The backend's quota is used up for now."""

    def __init__(self, message: str = "", *, remedy: str = "", not_before: float = 0.0) -> None:
        super().__init__(message, remedy=remedy)
        self.not_before = not_before
        """Seconds since 1970 UTC from which asking may work again; 0.0 where nobody said."""


class LetInRefused(BackendUnavailable):
    """The backend does not let us in: key, login, billing, permission or an unknown model."""


class Unreachable(BackendUnavailable):
    """The backend cannot be reached."""


def estimate_tokens(texts: Sequence[str]) -> int:
    """Return a cautious number of tokens for these texts (3.5 bytes a token, rounded up)."""
    return -(-sum(len(text.encode("utf-8", "replace")) for text in texts) * 2 // 7)
