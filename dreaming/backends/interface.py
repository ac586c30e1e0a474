"""What a backend is: one verb, and an honest declaration of what it costs and where text goes.

A backend gets packets and known lessons and returns raw text. It never writes, never decides and
never sees a path. A model behind it can do nothing but read what it was sent.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from typing import ClassVar

import msgspec

from dreaming.errors import BackendUnavailable, DreamingError, NotNow
from dreaming.packets import estimate_tokens
from dreaming.quota import Window
from dreaming.tasks.interface import Request

__all__ = [
    "Answer",
    "AnswerRefused",
    "Backend",
    "BudgetReached",
    "LetInRefused",
    "NotReadOnly",
    "Price",
    "QuotaReached",
    "Request",
    "TimedOut",
    "TooBig",
    "TransientFailure",
    "Unanswered",
    "Unreachable",
    "Usage",
    "Window",
    "estimate_tokens",
]


class Price(msgspec.Struct, frozen=True):
    """List price in US dollars per million tokens, with the day and place it was read."""

    input: float = 0.0
    output: float = 0.0
    source: str = ""
    cache_write: float = 0.0
    cache_read: float = 0.0

    def estimate(self, tokens: int) -> float:
        """Return US dollars for sending these tokens, answers of a tenth of the length included."""
        return round((tokens * self.input + tokens / 10 * self.output) / 1e6, 4)


class Usage(msgspec.Struct, frozen=True):
    """What one request used. Tokens as the provider counts them; dollars at list price."""

    input_tokens: int = 0
    """All that was read, from a cache or not."""
    output_tokens: int = 0
    cost: float = 0.0
    cache_write_tokens: int = 0
    """The part of ``input_tokens`` that was put into the provider's cache."""
    cache_read_tokens: int = 0
    """The part of ``input_tokens`` that came from the provider's cache."""


class Answer(msgspec.Struct, frozen=True):
    """What came back, exactly as it came."""

    text: str
    """Can always be written to a file: no lone surrogates."""
    usage: Usage = Usage()
    model: str = ""
    complete: bool = True
    """False where the provider says the text was cut short."""
    windows: tuple[Window, ...] = ()
    """How far the person's quota windows are used, as told with this answer."""


class Backend(ABC):
    """Answers one request at a time."""

    name: ClassVar[str]
    leaves_the_machine: bool
    """Whether text is sent to somebody else's computer."""
    words: ClassVar[bool] = True
    """Whether it can say that two findings mean the same: a model can."""
    free: ClassVar[bool]
    """True where an answer costs nothing and is the same each time: raw answers are not kept."""

    @property
    @abstractmethod
    def identity(self) -> str:
        """Name, then a colon and the model where there is one (``anthropic:claude-haiku-5-5``).

        Part of the request hash: another model gives another answer.
        """

    @property
    @abstractmethod
    def context_tokens(self) -> int:
        """How many tokens of packets one request may hold."""

    @property
    def account(self) -> str:
        """Whose quota an answer uses: backends with the same account share its windows."""
        return self.name

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


class _Partial(DreamingError):
    """An answer that cannot be used, with what had come of it."""

    def __init__(
        self, message: str = "", *, remedy: str = "", partial: Answer | None = None
    ) -> None:
        super().__init__(message, remedy=remedy)
        self.partial = partial or Answer(text="", complete=False)
        """What had come before it failed: its text is kept, its usage was paid, its windows are
        believed."""

    @property
    def text(self) -> str:
        """The raw text that came with the failure; often empty."""
        return self.partial.text


class Unanswered(_Partial):
    """The backend gave no usable answer."""


class TransientFailure(Unanswered):
    """The backend did not answer this time; the batch is tried again another night."""


class TimedOut(TransientFailure):
    """The backend did not answer in time and was stopped."""


class AnswerRefused(Unanswered):
    """The model declined to answer; the batch is kept and counted."""


class TooBig(_Partial):
    """The request is larger than the backend takes; it is split."""


class QuotaReached(_Partial, NotNow):
    """The backend's quota is used up for now."""

    def __init__(
        self,
        message: str = "",
        *,
        remedy: str = "",
        not_before: float = 0.0,
        partial: Answer | None = None,
    ) -> None:
        super().__init__(message, remedy=remedy, partial=partial)
        self.not_before = not_before
        """Seconds since 1970 UTC from which asking may work again; 0.0 where nobody said."""


class BudgetReached(_Partial, NotNow):
    """The backend stopped at the limit of money it was given."""


class LetInRefused(_Partial, BackendUnavailable):
    """The backend does not let us in: key, login, billing, permission or an unknown model."""


class Unreachable(_Partial, BackendUnavailable):
    """The backend cannot be reached."""


class NotReadOnly(_Partial, BackendUnavailable):
    """The model was offered or used a tool; nothing it answered is believed."""
