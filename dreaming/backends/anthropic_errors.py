"""What an error of the Anthropic API means for the night: one of our classes, with a remedy.

The kind of an error is read from its type before its status, since an error in the middle of a
stream comes with status 200.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from datetime import datetime
from typing import TYPE_CHECKING, Final

import msgspec

from dreaming.backends.http import TOO_BIG, limited, line, number
from dreaming.backends.interface import (
    Answer,
    LetInRefused,
    TimedOut,
    TooBig,
    TransientFailure,
    Unreachable,
    Window,
)
from dreaming.errors import DreamingError

if TYPE_CHECKING:
    import anthropic

_TRANSIENT_TYPES: Final = frozenset(
    {"overloaded_error", "api_error", "timeout_error", "conflict_error"}
)
_TRANSIENT_STATUS: Final = frozenset({408, 409, 425, 499})
_BILLING_REMEDY: Final = "Look at plan, credit and spend limits on https://platform.claude.com."
_KEY_REMEDY: Final = "Look at the key: is it whole, still valid, and allowed to use this model?"
_MODEL_REMEDY: Final = "Look at the settings: does this model exist, and is the address right?"
_UNIFIED: Final = (("5h", "five_hour"), ("7d", "seven_day"))
"""Windows of a subscription: as the headers call them, as we do."""
_BUCKETS: Final = ("requests", "tokens", "input-tokens", "output-tokens")
"""Windows of a minute of a key."""


def classify(error: Exception, *, partial: Answer, now: float, secret: str) -> DreamingError:
    """Return the error of ours that ``error`` is; ``secret`` never stands in its sentence.

    ``error`` is an ``APIError`` of the SDK or comes from its transport; ``partial`` is
    what had been answered before it.
    """
    import anthropic

    words = line(str(getattr(error, "api_message", "") or error.__cause__ or error), secret)
    if isinstance(error, anthropic.APIStatusError):
        told = windows(error.response.headers)
        partial = msgspec.structs.replace(partial, windows=told)
        return _of_status(error, words, partial, now)
    return _of_transport(error, words, partial)


def windows(headers: Mapping[str, str]) -> tuple[Window, ...]:
    """Return how far the quota windows are used that an answer's headers tell of."""
    return (*_unified(headers), *_buckets(headers))


def _unified(headers: Mapping[str, str]) -> Iterator[Window]:
    for short, name in _UNIFIED:
        begin = f"anthropic-ratelimit-unified-{short}"
        used = number(headers.get(f"{begin}-utilization", ""))
        if headers.get(f"{begin}-status") == "rejected":
            used = max(used or 0.0, 1.0)
        if used is not None and used >= 0:
            yield Window(name, used, number(headers.get(f"{begin}-reset", "")) or 0.0)


def _buckets(headers: Mapping[str, str]) -> Iterator[Window]:
    for name in _BUCKETS:
        begin = f"anthropic-ratelimit-{name}"
        limit, left = (number(headers.get(f"{begin}-{one}", "")) for one in ("limit", "remaining"))
        if limit and left is not None and 0 <= left <= limit:
            yield Window(name, 1 - left / limit, _instant(headers.get(f"{begin}-reset", "")))


def _instant(told: str) -> float:
    try:
        return datetime.fromisoformat(told).timestamp()
    except (ValueError, OverflowError):
        return 0.0


def _of_status(
    error: anthropic.APIStatusError, words: str, partial: Answer, now: float
) -> DreamingError:
    kind, status = error.type or "", error.status_code
    if _is_billing(error, words):
        message = f"The API asks for payment: {words}"
        return LetInRefused(message, remedy=_BILLING_REMEDY, partial=partial)
    if kind == "rate_limit_error" or status == 429:
        message = f"The API's quota is used up for now: {words}"
        return limited(message, error.response.headers, now, partial)
    if kind in _TRANSIENT_TYPES or status >= 500 or status in _TRANSIENT_STATUS:
        return TransientFailure(f"The API could not answer: {words}", partial=partial)
    if status == 413 or any(one in words.lower() for one in TOO_BIG):
        return TooBig(f"The API takes no request of this size: {words}", partial=partial)
    if status in {401, 403} or kind in {"authentication_error", "permission_error"}:
        message = f"The API does not let us in: {words}"
        return LetInRefused(message, remedy=_KEY_REMEDY, partial=partial)
    if status == 200 and kind != "invalid_request_error":
        return TransientFailure(f"The API broke off its answer: {words}", partial=partial)
    message = f"The API does not take the request: {words}"
    return LetInRefused(message, remedy=_MODEL_REMEDY, partial=partial)


def _is_billing(error: anthropic.APIStatusError, words: str) -> bool:
    code = error.error_code or ""
    return (
        error.type == "billing_error"
        or error.status_code == 402
        or code.endswith("spend_limit_reached")
        or "credit balance is too low" in words.lower()
    )


def _of_transport(error: Exception, words: str, partial: Answer) -> DreamingError:
    """Tell "nobody there" from "broke off": only the first says something about the next night."""
    import httpx2

    cause = error if isinstance(error, httpx2.HTTPError | httpx2.InvalidURL) else error.__cause__
    if isinstance(cause, httpx2.ConnectError | httpx2.ConnectTimeout | httpx2.ProxyError):
        return Unreachable(f"The API cannot be reached: {words}.", remedy="Look at the network.")
    if isinstance(cause, httpx2.UnsupportedProtocol | httpx2.InvalidURL):
        return LetInRefused(f"The API's address cannot be used: {words}", remedy=_MODEL_REMEDY)
    if isinstance(cause, httpx2.TimeoutException):
        return TimedOut("The API took too long to answer.", partial=partial)
    return TransientFailure(f"The connection to the API broke off: {words}", partial=partial)
