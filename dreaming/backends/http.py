"""What backends over HTTP share: keys, an end to every answer, and how long a refusal holds."""

from __future__ import annotations

import ipaddress
import math
import time
from collections.abc import Callable, Iterator, Mapping
from email.utils import parsedate_to_datetime
from typing import TYPE_CHECKING, Final, Protocol
from urllib.parse import urlsplit

from dreaming.backends.interface import Answer, LetInRefused, QuotaReached, TransientFailure
from dreaming.packets import visible

if TYPE_CHECKING:
    import httpx2

MAX_TEXT: Final = 4_000_000
"""Characters of an answer that are read before the stream is given up."""
MAX_BYTES: Final = 64_000_000
"""Bytes of a response that are read at most, whatever they say."""
MAX_WAIT: Final = 8 * 24 * 3600.0
"""Longest wait we believe, in seconds: a week's quota window and a day."""
SHORT_WAIT: Final = 30.0
"""A wait up to here, in seconds, is no quota: the question is put again in the same night."""
CONNECT_SECONDS: Final = 15.0
TOO_BIG: Final = (
    "context length", "context_length", "context size", "context window", "prompt is too long",
    "input is too long", "too many tokens", "maximum context",
)  # fmt: skip
"""Words, in small letters, by which servers say that a question is too long for their model."""


class Secret(Protocol):
    """A value that does not show itself when printed, such as pydantic's ``SecretStr``."""

    def get_secret_value(self) -> str:
        """Return the value."""


def checked_key(given: str | Secret | None, whose: str, remedy: str) -> str:
    """Return the key; raise ``LetInRefused`` for none and for what no key looks like."""
    key = given if isinstance(given, str) or given is None else given.get_secret_value()
    key = (key or "").strip()
    if not key:
        raise LetInRefused(f"The {whose} backend has no API key.", remedy=remedy)
    if not (key.isascii() and key.isprintable()) or " " in key:
        raise LetInRefused("The API key holds characters that no key has.", remedy=remedy)
    return key


def is_loopback(url: str) -> bool:
    """Say whether an address is this machine's own, so that text sent there stays here."""
    try:
        host = urlsplit(url).hostname or ""
        return host == "localhost" or ipaddress.ip_address(host).is_loopback
    except ValueError:
        return False


def timeouts(idle: float, total: float) -> httpx2.Timeout:
    """Return the waits for a connection and for the next byte; none is longer than the whole."""
    import httpx2

    return httpx2.Timeout(min(idle, total), connect=min(CONNECT_SECONDS, total))


def bounded(end: float) -> Callable[[httpx2.Response], None]:
    """Return a hook after which a response ends at ``end``, however slowly it drips.

    The read timeout alone starts anew with every byte, and signs of life count as bytes.
    """
    import httpx2

    class Bounded(httpx2.SyncByteStream):
        def __init__(self, stream: httpx2.SyncByteStream) -> None:
            self._stream = stream

        def __iter__(self) -> Iterator[bytes]:
            size = 0
            for chunk in self._stream:
                size += len(chunk)
                if time.monotonic() > end:
                    raise httpx2.ReadTimeout("the answer took too long")
                if size > MAX_BYTES:
                    raise httpx2.ReadError("the answer does not end")
                yield chunk

        def close(self) -> None:
            self._stream.close()

    def bound(response: httpx2.Response) -> None:
        if isinstance(response.stream, httpx2.SyncByteStream):
            response.stream = Bounded(response.stream)

    return bound


def line(said: str, secret: str = "") -> str:
    """Return somebody else's words on one line, short, and without the key."""
    if secret:
        said = said.replace(secret, "(the key)")
    words = " ".join(visible(said).split())
    return words if len(words) <= 300 else words[:299] + "…"


def writable(text: str) -> str:
    """Return the text with half a character pair, which no file takes, spelt out as in JSON."""
    return text.encode("utf-8", "backslashreplace").decode()


def limited(
    message: str, headers: Mapping[str, str], now: float, partial: Answer
) -> QuotaReached | TransientFailure:
    """Return what a refusal for now is: a matter of seconds, or of another night."""
    wait = not_before(headers, now)
    if wait and wait - now <= SHORT_WAIT:
        return TransientFailure(message, partial=partial)
    return QuotaReached(message, not_before=wait, partial=partial)


def not_before(headers: Mapping[str, str], now: float) -> float:
    """Return from when asking may work again, in seconds since 1970; 0.0 where nobody says.

    ``retry-after`` comes in seconds or as a date; the quota windows of a subscription come as an
    instant. A wait in the past is now, and one beyond ``MAX_WAIT`` is cut to it.
    """
    instant = _retry_after(headers.get("retry-after", ""), now)
    if instant is None:
        instant = number(headers.get("anthropic-ratelimit-unified-reset", ""))
    return 0.0 if instant is None else min(max(instant, now), now + MAX_WAIT)


def number(value: str) -> float | None:
    """Return a number that was told as text; ``None`` for what is none."""
    try:
        told = float(value)
    except ValueError:
        return None
    return told if math.isfinite(told) else None


def _retry_after(value: str, now: float) -> float | None:
    seconds = number(value)
    if seconds is not None:
        return now + seconds
    try:
        return parsedate_to_datetime(value).timestamp()
    except (ValueError, OverflowError):  # neither form: as if nothing had been said
        return None
