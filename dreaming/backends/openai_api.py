"""Any OpenAI-compatible endpoint: one streamed chat completion a request, without tools.

Made for people who keep everything on their own machine (Ollama, llama.cpp, vLLM, LM Studio).
These servers know different parts of the protocol, so what one of them refuses by name is left out
from then on: the JSON schema first, then what only counts. The HTTP client's import waits until a
request is really sent. The protocol: https://platform.openai.com/docs/api-reference/chat.
"""

from __future__ import annotations

import json
import time
from collections.abc import Callable, Iterable, Iterator, Mapping
from typing import TYPE_CHECKING, Any, Final

import msgspec

from dreaming.backends.http import (
    MAX_TEXT,
    TOO_BIG,
    Secret,
    bounded,
    checked_key,
    is_loopback,
    limited,
    line,
    timeouts,
    writable,
)
from dreaming.backends.interface import (
    Answer,
    AnswerRefused,
    Backend,
    LetInRefused,
    NotReadOnly,
    Price,
    Request,
    TimedOut,
    TooBig,
    TransientFailure,
    Unreachable,
    Usage,
)
from dreaming.errors import DreamingError

if TYPE_CHECKING:
    import httpx2

DEFAULT_BASE_URL: Final = "http://127.0.0.1:11434/v1"
"""Where Ollama listens."""
IDLE_SECONDS: Final = 600.0
"""Longest silence: a small machine reads a long question for minutes before its first word."""

_KEY_REMEDY: Final = (
    "Put the key into OPENAI_API_KEY and set `key = true` under [openai] in your config.toml."
)
_MODEL_REMEDY: Final = (
    "Look at model and base_url under [openai]: is the model there (`ollama list`), is the address?"
)
_RUNNING_REMEDY: Final = "Is the server running? Ollama is started by `ollama serve`."
_BILLING_REMEDY: Final = "Look at plan and credit of the account that the key belongs to."

_FORMAT_WORDS: Final = ("response_format", "schema", "grammar", "json_object", "structured")
_FORMS: Final = ("json_schema", "json_object", "")
"""How the form of an answer is asked for, the strictest first."""
_TRANSIENT_STATUS: Final = frozenset({200, 408, 409, 425, 499})


class _Part(msgspec.Struct):
    content: str | None = None
    refusal: str | None = None
    tool_calls: list[Any] | None = None
    function_call: Any = None


class _Choice(msgspec.Struct):
    delta: _Part | None = None
    message: _Part | None = None
    finish_reason: str | None = None


class _Counts(msgspec.Struct):
    prompt_tokens: int = 0
    completion_tokens: int = 0


class _Event(msgspec.Struct):
    """A piece of a streamed answer, or a whole one."""

    choices: list[_Choice] = []
    usage: _Counts | None = None
    model: str | None = None
    error: Any = None


class OpenAI(Backend):
    """Asks a model behind an OpenAI-compatible endpoint."""

    name = "openai"
    free = False

    def __init__(
        self,
        model: str,
        base_url: str = DEFAULT_BASE_URL,
        api_key: str | Secret | None = None,
        *,
        needs_key: bool = False,
        max_tokens: int = 4_000,
        context_tokens: int = 16_000,
        timeout: float = 1_800.0,
        price: Price | None = None,
        clock: Callable[[], float] = time.time,
    ) -> None:
        """Nothing is imported, checked or sent yet. ``timeout`` bounds a whole answer."""
        self._model = model
        self._base_url = base_url.rstrip("/")
        self._key = api_key
        self._needs_key = needs_key
        self._max_tokens = max_tokens
        self._context_tokens = context_tokens
        self._timeout = timeout
        self._price = price or Price()
        self._clock = clock
        self._forms = list(_FORMS)
        self._counts_told = True
        self._length_key = "max_tokens"
        self.leaves_the_machine = not is_loopback(base_url)

    @property
    def identity(self) -> str:
        """Name and model."""
        return f"{self.name}:{self._model}"

    @property
    def context_tokens(self) -> int:
        """What the person says that the server takes, beside instructions and known lessons."""
        return self._context_tokens

    @property
    def price(self) -> Price:
        """What the person says it costs; nothing at home."""
        return self._price

    def ask(self, request: Request) -> Answer:
        """Return the raw answer; see ``Backend.ask`` for what else may happen."""
        key = checked_key(self._key, self.name, _KEY_REMEDY) if self._needs_key else ""
        import httpx2

        heard = _Heard(self._model, self._price)
        try:
            with self._client(key) as client:
                self._put(client, request, heard, key)
        except (httpx2.HTTPError, httpx2.InvalidURL) as error:
            raise _of_transport(error, line(str(error), key), heard.answer()) from error
        except (ValueError, RecursionError) as error:
            raise TransientFailure(
                "The server's answer was garbled on the way.", partial=heard.answer()
            ) from error
        return heard.ended()

    def _client(self, key: str) -> httpx2.Client:
        import httpx2

        return httpx2.Client(
            headers={
                "accept-encoding": "identity",
                **({"authorization": f"Bearer {key}"} if key else {}),
            },
            timeout=timeouts(IDLE_SECONDS, self._timeout),
            follow_redirects=False,
            trust_env=self.leaves_the_machine,  # a proxy would carry text off this machine
            event_hooks={"response": [bounded(time.monotonic() + self._timeout)]},
        )

    def _put(self, client: httpx2.Client, request: Request, heard: _Heard, key: str) -> None:
        """Put the question; once more for each thing that the server refuses by its name."""
        while True:
            body = self._body(request)
            with client.stream("POST", f"{self._base_url}/chat/completions", json=body) as response:
                if response.status_code == 200:
                    for event in _events(response):
                        if event.error is not None:
                            said, code = _said(event.error)
                            raise self._classified(200, said, code, response, heard, key)
                        heard.take(event)
                    return
                said, code = _said(_start_of(response))
                if not self._gives_in(response.status_code, said, code):
                    raise self._classified(response.status_code, said, code, response, heard, key)

    def _body(self, request: Request) -> dict[str, Any]:
        body: dict[str, Any] = {
            "model": self._model,
            "messages": [
                {"role": "system", "content": request.system},
                {"role": "user", "content": request.prompt},
            ],
            "stream": True,
            self._length_key: self._max_tokens,
        }
        if self._counts_told:
            body["stream_options"] = {"include_usage": True}
        form = self._forms[0] if request.schema is not None else ""
        if form:
            body["response_format"] = {"type": form}
        if form == "json_schema":
            named = {"name": "answer", "strict": True, "schema": dict(request.schema or {})}
            body["response_format"]["json_schema"] = named
        return body

    def _gives_in(self, status: int, said: str, code: str) -> bool:
        """Leave out from now on what the server says it does not know; say whether it was new."""
        words = said.lower()
        if status not in {400, 422, 501} or _is_too_big(status, said, code):
            return False
        if "max_completion_tokens" in words and self._length_key == "max_tokens":
            self._length_key = "max_completion_tokens"
        elif "stream_options" in words and self._counts_told:
            self._counts_told = False
        elif any(word in words for word in _FORMAT_WORDS) and self._forms[1:]:
            self._forms.pop(0)
        else:
            return False
        return True

    def _classified(
        self, status: int, said: str, code: str, response: httpx2.Response, heard: _Heard, key: str
    ) -> DreamingError:
        """Return the error of ours that a refusal is; a status of 200 is one on the way."""
        words, partial, now = line(said, key), heard.answer(), self._clock()
        if _is_too_big(status, said, code):
            return TooBig(f"The server takes no request of this size: {words}", partial=partial)
        if status == 402 or code == "insufficient_quota":
            message = f"The server asks for payment: {words}"
            return LetInRefused(message, remedy=_BILLING_REMEDY, partial=partial)
        if status == 429 or code == "rate_limit_exceeded":
            message = f"The server's quota is used up for now: {words}"
            return limited(message, response.headers, now, partial)
        if code == "content_filter":
            return AnswerRefused(partial=partial)
        if status in {401, 403}:
            message = f"The server does not let us in: {words}"
            return LetInRefused(message, remedy=_KEY_REMEDY, partial=partial)
        if status >= 500 or status in _TRANSIENT_STATUS:
            return TransientFailure(f"The server could not answer: {words}", partial=partial)
        message = f"The server does not take the request: {words}"
        return LetInRefused(message, remedy=_MODEL_REMEDY, partial=partial)


class _Heard:
    """What an answer has said so far."""

    def __init__(self, model: str, price: Price) -> None:
        self._model = model
        self._price = price
        self._texts: list[str] = []
        self._length = 0
        self._counts = _Counts()
        self._ended = ""
        self._refused = False

    def take(self, event: _Event) -> None:
        """Take the next piece."""
        self._model = event.model or self._model
        self._counts = event.usage or self._counts
        for choice in event.choices[:1]:
            part = choice.delta or choice.message or _Part()
            if part.tool_calls or part.function_call:
                message = "The answer holds a tool call, though no tool was offered."
                raise NotReadOnly(message, partial=self.answer())
            self._ended = choice.finish_reason or self._ended
            self._refused = self._refused or bool(part.refusal)
            self._say(part.content or part.refusal or "")

    def answer(self, *, complete: bool = False) -> Answer:
        """Return what was said so far, with what it cost."""
        read, written = self._counts.prompt_tokens, self._counts.completion_tokens
        cost = (read * self._price.input + written * self._price.output) / 1_000_000
        return Answer(
            text=writable("".join(self._texts)),
            usage=Usage(read, written, cost),
            model=writable(self._model),
            complete=complete,
        )

    def ended(self) -> Answer:
        """Return the answer of a stream that came to its end, or say why there is none."""
        if self._ended in {"tool_calls", "function_call"}:
            raise NotReadOnly("The answer calls a tool, though none was offered.")
        if self._refused or self._ended == "content_filter":
            raise AnswerRefused(partial=self.answer())
        if not self._ended:
            raise TransientFailure("The server's answer broke off.", partial=self.answer())
        return self.answer(complete=self._ended != "length")

    def _say(self, text: str) -> None:
        self._texts.append(text[: MAX_TEXT - self._length])
        self._length += len(text)
        if self._length > MAX_TEXT:
            raise TransientFailure("The server's answer does not end.", partial=self.answer())


def _events(response: httpx2.Response) -> Iterator[_Event]:
    """Yield the pieces of an answer: one where the server does not stream."""
    if "event-stream" not in response.headers.get("content-type", ""):
        yield msgspec.convert(json.loads(response.read()), _Event)
        return
    for raw in _lines(response.iter_bytes()):
        name, _, data = raw.partition(b":")
        if name == b"data" and data.strip() not in {b"", b"[DONE]"}:
            yield msgspec.convert(json.loads(data), _Event)


def _lines(chunks: Iterable[bytes]) -> Iterator[bytes]:
    """Cut at newlines only: the client's own reader also cuts at U+2028, which JSON may hold."""
    begun: list[bytes] = []
    for chunk in chunks:
        *lines, rest = chunk.split(b"\n")
        for line_ in lines:
            yield b"".join([*begun, line_])
            begun.clear()
        begun.append(rest)
    yield b"".join(begun)


def _start_of(response: httpx2.Response) -> Any:
    """Return the body of a refusal, read as JSON where it is some, and never to a late end."""
    body = b""
    for chunk in response.iter_bytes():
        body += chunk
        if len(body) > 100_000:
            break
    try:
        return json.loads(body)
    except (ValueError, RecursionError):
        return body.decode("utf-8", "replace") or f"status {response.status_code}"


def _said(told: Any) -> tuple[str, str]:
    """Return the words of an error and its code: servers put them in three different places."""
    inner = told.get("error", told) if isinstance(told, Mapping) else told
    if not isinstance(inner, Mapping):
        return str(inner), ""
    words = inner.get("message") or inner.get("detail") or inner
    return str(words), str(inner.get("code") or inner.get("type") or "")


def _is_too_big(status: int, said: str, code: str) -> bool:
    words = f"{said} {code}".lower()
    return status == 413 or any(word in words for word in TOO_BIG)


def _of_transport(error: Exception, words: str, partial: Answer) -> DreamingError:
    """Tell "nobody there" from "broke off": only the first says something about the next night."""
    import httpx2

    if isinstance(error, httpx2.ConnectError | httpx2.ConnectTimeout | httpx2.ProxyError):
        return Unreachable(f"The server cannot be reached: {words}.", remedy=_RUNNING_REMEDY)
    if isinstance(error, httpx2.UnsupportedProtocol | httpx2.InvalidURL):
        return LetInRefused(f"The address cannot be used: {words}", remedy=_MODEL_REMEDY)
    if isinstance(error, httpx2.TimeoutException):
        return TimedOut("The server took too long to answer.", partial=partial)
    return TransientFailure(f"The connection to the server broke off: {words}", partial=partial)
