"""The Anthropic API: one streamed call a request, without tools, without retries of its own.

No tool is ever sent, so the model behind it can only read; a test holds every request body to
that. The SDK's retries are off because it sleeps through a ``retry-after`` of any length, and its
search for credentials is never reached: only a key that was handed in is used, only the address
that was handed in is asked, and a redirect is not followed. Its import costs 2 to 5 seconds, so it
waits until a request is really sent.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator
from typing import TYPE_CHECKING, Any, Final, Protocol

import msgspec

from dreaming.backends import anthropic_errors, anthropic_prices
from dreaming.backends.interface import (
    Answer,
    AnswerRefused,
    Backend,
    LetInRefused,
    NotReadOnly,
    Price,
    Request,
    TooBig,
    TransientFailure,
)

if TYPE_CHECKING:
    import anthropic
    import httpx2

DEFAULT_MODEL: Final = "claude-haiku-5-5"
DEFAULT_BASE_URL: Final = "https://api.anthropic.com"
KEY_REMEDY: Final = "Put a key of https://platform.claude.com into ANTHROPIC_API_KEY."
MAX_TEXT: Final = 4_000_000
"""Characters of an answer that are read before the stream is given up."""
CONNECT_SECONDS: Final = 15.0
IDLE_SECONDS: Final = 120.0
"""Longest silence inside an answer; the API sends a sign of life far more often."""

_READING: Final = frozenset({"text", "thinking", "redacted_thinking"})
"""Kinds of content of a model that only reads."""
_FINISHED: Final = frozenset({"end_turn", "stop_sequence"})


class Secret(Protocol):
    """A value that does not show itself when printed, such as pydantic's ``SecretStr``."""

    def get_secret_value(self) -> str:
        """Return the value."""


class Anthropic(Backend):
    """Asks a Claude model over the Anthropic API."""

    name = "anthropic"
    leaves_the_machine = True
    free = False

    def __init__(
        self,
        model: str = DEFAULT_MODEL,
        api_key: str | Secret | None = None,
        base_url: str | None = None,
        max_tokens: int = 16_000,
        timeout: float = 600.0,
        *,
        clock: Callable[[], float] = time.time,
    ) -> None:
        """Nothing is imported, checked or sent yet. ``timeout`` bounds a whole answer."""
        self._model = model
        self._api_key = api_key
        self._base_url = base_url or DEFAULT_BASE_URL
        self._max_tokens = max_tokens
        self._timeout = timeout
        self._clock = clock

    @property
    def identity(self) -> str:
        """Name and model."""
        return f"{self.name}:{self._model}"

    @property
    def context_tokens(self) -> int:
        """Stays, with instructions and known lessons, well below the price step at 100,000."""
        return 60_000

    @property
    def price(self) -> Price:
        """List price of the model for a request of the size we send; zero where it is not known."""
        return anthropic_prices.price(self._model, self.context_tokens)

    def ask(self, request: Request) -> Answer:
        """Return the raw answer; see ``Backend.ask`` for what else may happen."""
        key = self._key()
        import anthropic
        import httpx2

        heard = _Heard(self._model)
        try:
            with self._client(key) as client:
                for event in self._events(client, request):
                    heard.take(event)
        except (anthropic.APIError, httpx2.HTTPError, httpx2.InvalidURL) as error:
            raise anthropic_errors.classify(
                error, partial=heard.answer(), now=self._clock(), secret=key
            ) from error
        except (ValueError, AttributeError, TypeError) as error:
            # The SDK checks no event: broken JSON and missing parts show up where they are read.
            raise TransientFailure(
                "The API's answer was garbled on the way.", partial=heard.answer()
            ) from error
        return heard.ended()

    def _key(self) -> str:
        given = self._api_key
        key = given if isinstance(given, str) or given is None else given.get_secret_value()
        key = (key or "").strip()
        if not key:
            raise LetInRefused("The anthropic backend has no API key.", remedy=KEY_REMEDY)
        if not (key.isascii() and key.isprintable()) or " " in key:
            raise LetInRefused("The API key holds characters that no key has.", remedy=KEY_REMEDY)
        return key

    def _client(self, key: str) -> anthropic.Anthropic:
        import anthropic
        import httpx2

        idle = min(IDLE_SECONDS, self._timeout)
        wait = httpx2.Timeout(idle, connect=min(CONNECT_SECONDS, self._timeout))
        return anthropic.Anthropic(
            api_key=key,
            base_url=self._base_url,
            max_retries=0,
            timeout=wait,
            open_telemetry=False,
            http_client=anthropic.DefaultHttpxClient(
                timeout=wait,
                follow_redirects=False,
                event_hooks={"response": [_deadline(time.monotonic() + self._timeout)]},
            ),
        )

    def _events(self, client: anthropic.Anthropic, request: Request) -> Iterator[Any]:
        more: dict[str, Any] = {}
        if request.schema is not None:
            answer_format = {"type": "json_schema", "schema": dict(request.schema)}
            more["output_config"] = {"format": answer_format}
        with client.messages.create(
            model=self._model,
            max_tokens=self._max_tokens,
            system=[
                {"type": "text", "text": request.system, "cache_control": {"type": "ephemeral"}}
            ],
            messages=[{"role": "user", "content": request.prompt}],
            stream=True,
            **more,
        ) as stream:
            yield from stream


class _Heard:
    """What an answer's stream has said so far."""

    def __init__(self, model: str) -> None:
        self._model = model
        self._texts: list[str] = []
        self._length = 0
        self._counts = anthropic_prices.Counts()
        self._stop: str | None = None

    def take(self, event: Any) -> None:
        """Take the next event of the stream."""
        if event.type == "message_start":
            self._model = event.message.model or self._model
            self._count(event.message.usage)
        elif event.type == "content_block_start":
            self._check(event.content_block)
        elif event.type == "content_block_delta" and event.delta.type == "text_delta":
            self._say(event.delta.text)
        elif event.type == "message_delta":
            self._stop = event.delta.stop_reason or self._stop
            self._count(event.usage)

    def answer(self, *, complete: bool = False) -> Answer:
        """Return what was said so far, with what it cost.

        Half a character pair, which no file takes, is spelt out as JSON would.
        """
        text = "".join(self._texts)
        return Answer(
            text=text.encode("utf-8", "backslashreplace").decode(),
            usage=anthropic_prices.usage(self._model, self._counts),
            model=self._model,
            complete=complete,
        )

    def ended(self) -> Answer:
        """Return the answer of a stream that came to its end, or say why there is none."""
        if self._stop is None:
            raise TransientFailure("The API's answer broke off.", partial=self.answer())
        if self._stop == "refusal":
            raise AnswerRefused(partial=self.answer())
        if self._stop == "model_context_window_exceeded":
            raise TooBig("The request and its answer do not fit the model's context.")
        return self.answer(complete=self._stop in _FINISHED)

    def _check(self, block: Any) -> None:
        if block.type not in _READING:
            raise NotReadOnly(f"The answer holds a {block.type}, though no tool was offered.")
        if block.type == "text":
            self._say(block.text)

    def _say(self, text: str) -> None:
        self._length += len(text)
        if self._length > MAX_TEXT:
            raise TransientFailure("The API's answer does not end.", partial=self.answer())
        self._texts.append(text)

    def _count(self, usage: Any) -> None:
        """Take over the counts: each event carries the whole number so far, or none."""
        known = {
            "input": getattr(usage, "input_tokens", None),
            "output": getattr(usage, "output_tokens", None),
            "cache_write": getattr(usage, "cache_creation_input_tokens", None),
            "cache_read": getattr(usage, "cache_read_input_tokens", None),
        }
        told = {name: count for name, count in known.items() if count is not None}
        self._counts = msgspec.structs.replace(self._counts, **told)


def _deadline(end: float) -> Callable[[httpx2.Response], None]:
    """Return a hook after which a response ends at ``end``, however slowly it drips.

    The read timeout alone starts anew with every byte, and signs of life count as bytes.
    """
    import httpx2

    class Bounded(httpx2.SyncByteStream):
        def __init__(self, stream: httpx2.SyncByteStream) -> None:
            self._stream = stream

        def __iter__(self) -> Iterator[bytes]:
            for chunk in self._stream:
                if time.monotonic() > end:
                    raise httpx2.ReadTimeout("the answer took too long")
                yield chunk

        def close(self) -> None:
            self._stream.close()

    def bound(response: httpx2.Response) -> None:
        if isinstance(response.stream, httpx2.SyncByteStream):
            response.stream = Bounded(response.stream)

    return bound
