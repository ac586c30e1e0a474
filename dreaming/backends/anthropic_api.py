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
from typing import TYPE_CHECKING, Any, Final, Literal

import msgspec

from dreaming.backends import anthropic_errors, anthropic_prices
from dreaming.backends.http import MAX_TEXT, Secret, bounded, checked_key, line, timeouts, writable
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
    Window,
)
from dreaming.errors import DreamingError

if TYPE_CHECKING:
    import anthropic
    from anthropic.types import TextBlockParam

    Client = anthropic.Anthropic | anthropic.AnthropicBedrock | anthropic.AnthropicVertex

Via = Literal["api", "bedrock", "vertex"]

DEFAULT_MODEL: Final = "claude-haiku-5-5"
DEFAULT_BASE_URL: Final = "https://api.anthropic.com"
KEY_REMEDY: Final = "Put a key of https://platform.claude.com into ANTHROPIC_API_KEY."
IDLE_SECONDS: Final = 120.0
"""Longest silence inside an answer; the API sends a sign of life far more often."""

_READING: Final = frozenset({"text", "thinking", "redacted_thinking"})
"""Kinds of content of a model that only reads."""
_FINISHED: Final = frozenset({"end_turn", "stop_sequence"})


def address(via: Via = "api", region: str = "") -> str:
    """Return where the API is, at its maker or in a cloud's region."""
    if via == "bedrock":
        return f"https://bedrock-runtime.{region}.amazonaws.com"
    if via == "vertex":
        host = {"global": "aiplatform", "us": "aiplatform.us.rep", "eu": "aiplatform.eu.rep"}
        return f"https://{host.get(region, f'{region}-aiplatform')}.googleapis.com/v1"
    return DEFAULT_BASE_URL


class Anthropic(Backend):
    """Asks a Claude model over the Anthropic API, or over that of a cloud which has it."""

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
        via: Via = "api",
        region: str = "",
        project: str = "",
        clock: Callable[[], float] = time.time,
    ) -> None:
        """Nothing is imported, checked or sent yet. ``timeout`` bounds a whole answer.

        A cloud needs a region, and takes its own credentials, found as its SDK finds them, in the
        place of a key.
        """
        self._model = model
        self._api_key = api_key
        self._via: Via = via
        self._region = region
        self._project = project
        self._base_url = base_url or address(via, region)
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
        key = checked_key(self._api_key, self.name, KEY_REMEDY) if self._via == "api" else ""
        import anthropic
        import httpx2

        heard = _Heard(self._model)
        try:
            with self._client(key) as client:
                for event in self._events(client, request, heard):
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
        except Exception as error:
            if self._via == "api" or isinstance(error, DreamingError):
                raise
            # A cloud's credentials fail in classes of its own library, which may not be there.
            raise LetInRefused(
                f"No credentials for {self._via}: {line(str(error))}",
                remedy=f"`pip install 'anthropic[{self._via}]'`, then log in to the cloud.",
            ) from error
        return heard.ended()

    def _client(self, key: str) -> Client:
        import anthropic

        wait = timeouts(IDLE_SECONDS, self._timeout)
        shared: dict[str, Any] = {
            "base_url": self._base_url,
            "max_retries": 0,
            "timeout": wait,
            "open_telemetry": False,
            "http_client": anthropic.DefaultHttpxClient(
                timeout=wait,
                follow_redirects=False,
                event_hooks={"response": [bounded(time.monotonic() + self._timeout)]},
            ),
        }
        if self._via == "bedrock":
            return anthropic.AnthropicBedrock(aws_region=self._region, **shared)
        if self._via == "vertex":
            project = self._project or anthropic.not_given
            return anthropic.AnthropicVertex(region=self._region, project_id=project, **shared)
        return anthropic.Anthropic(api_key=key, **shared)

    def _events(self, client: Client, request: Request, heard: _Heard) -> Iterator[Any]:
        more: dict[str, Any] = {}
        if request.schema is not None:
            answer_format = {"type": "json_schema", "schema": dict(request.schema)}
            more["output_config"] = {"format": answer_format}
        with client.messages.create(
            model=self._model,
            max_tokens=self._max_tokens,
            system=[_cached(request.system)],
            messages=[{"role": "user", "content": _in_parts(request)}],
            stream=True,
            **more,
        ) as stream:
            heard.windows = anthropic_errors.windows(stream.response.headers)
            yield from stream


def _in_parts(request: Request) -> list[TextBlockParam]:
    """Return the question with its stable part apart, so that it is read from the cache."""
    stable, rest = request.prompt[: request.stable], request.prompt[request.stable :]
    own: TextBlockParam = {"type": "text", "text": rest}
    return [_cached(stable), own] if stable else [own]


def _cached(text: str) -> TextBlockParam:
    return {"type": "text", "text": text, "cache_control": {"type": "ephemeral"}}


class _Heard:
    """What an answer's stream has said so far."""

    def __init__(self, model: str) -> None:
        self._model = model
        self._texts: list[str] = []
        self._length = 0
        self._counts = anthropic_prices.Counts()
        self._stop: str | None = None
        self.windows: tuple[Window, ...] = ()

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
        """Return what was said so far, with what it cost."""
        return Answer(
            text=writable("".join(self._texts)),
            usage=anthropic_prices.usage(self._model, self._counts),
            model=self._model,
            complete=complete,
            windows=self.windows,
        )

    def ended(self) -> Answer:
        """Return the answer of a stream that came to its end, or say why there is none."""
        if self._stop is None:
            raise TransientFailure("The API's answer broke off.", partial=self.answer())
        if self._stop == "refusal":
            raise AnswerRefused(partial=self.answer())
        if self._stop == "model_context_window_exceeded":
            message = "The request and its answer do not fit the model's context."
            raise TooBig(message, partial=self.answer())
        return self.answer(complete=self._stop in _FINISHED)

    def _check(self, block: Any) -> None:
        if block.type not in _READING:
            message = f"The answer holds a {block.type}, though no tool was offered."
            raise NotReadOnly(message, partial=self.answer())
        if block.type == "text":
            self._say(block.text)

    def _say(self, text: str) -> None:
        self._texts.append(text[: MAX_TEXT - self._length])
        self._length += len(text)
        if self._length > MAX_TEXT:
            raise TransientFailure("The API's answer does not end.", partial=self.answer())

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
