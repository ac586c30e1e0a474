"""What an error of the Anthropic API means for the night: one of our classes, with a remedy.

The kind of an error is read from its type before its status, since an error in the middle of a
stream comes with status 200.
"""

from __future__ import annotations

import math
from collections.abc import Mapping
from email.utils import parsedate_to_datetime
from typing import TYPE_CHECKING, Final

from dreaming.backends.interface import (
    Answer,
    LetInRefused,
    QuotaReached,
    TooBig,
    TransientFailure,
    Unreachable,
)
from dreaming.errors import DreamingError
from dreaming.packets import visible

if TYPE_CHECKING:
    import anthropic

MAX_WAIT: Final = 8 * 24 * 3600.0
"""Longest wait we believe, in seconds: a week's quota window and a day."""

_TRANSIENT_TYPES: Final = frozenset(
    {"overloaded_error", "api_error", "timeout_error", "conflict_error"}
)
_TRANSIENT_STATUS: Final = frozenset({408, 409, 425, 499})
_BILLING_REMEDY: Final = "Look at plan, credit and spend limits on https://platform.claude.com."
_KEY_REMEDY: Final = "Look at the key: is it whole, still valid, and allowed to use this model?"
_MODEL_REMEDY: Final = "Look at the settings: does this model exist, and is the address right?"


def classify(error: Exception, *, partial: Answer, now: float, secret: str) -> DreamingError:
    """Return the error of ours that ``error`` is; ``secret`` never stands in its sentence.

    ``error`` is an ``APIError`` of the SDK or comes from its transport; ``partial`` is
    what had been answered before it.
    """
    import anthropic

    words = _words(error, secret)
    if isinstance(error, anthropic.APIStatusError):
        return _of_status(error, words, partial, now)
    return _of_transport(error, words, partial)


def not_before(headers: Mapping[str, str], now: float) -> float:
    """Return from when asking may work again, in seconds since 1970; 0.0 where nobody says.

    ``retry-after`` comes in seconds or as a date; the quota windows of a subscription come as an
    instant. A wait in the past is now, and one beyond ``MAX_WAIT`` is cut to it.
    """
    instant = _retry_after(headers.get("retry-after", ""), now)
    if instant is None:
        instant = _number(headers.get("anthropic-ratelimit-unified-reset", ""))
    return 0.0 if instant is None else min(max(instant, now), now + MAX_WAIT)


def _of_status(
    error: anthropic.APIStatusError, words: str, partial: Answer, now: float
) -> DreamingError:
    kind, status = error.type or "", error.status_code
    if _is_billing(error, words):
        return LetInRefused(f"The API asks for payment: {words}", remedy=_BILLING_REMEDY)
    if kind == "rate_limit_error" or status == 429:
        wait = not_before(error.response.headers, now)
        return QuotaReached(f"The API's quota is used up for now: {words}", not_before=wait)
    if kind in _TRANSIENT_TYPES or status >= 500 or status in _TRANSIENT_STATUS:
        return TransientFailure(f"The API could not answer: {words}", partial=partial)
    if status == 413 or "prompt is too long" in words.lower():
        return TooBig(f"The API takes no request of this size: {words}")
    if status in {401, 403} or kind in {"authentication_error", "permission_error"}:
        return LetInRefused(f"The API does not let us in: {words}", remedy=_KEY_REMEDY)
    if status == 200 and kind != "invalid_request_error":
        return TransientFailure(f"The API broke off its answer: {words}", partial=partial)
    return LetInRefused(f"The API does not take the request: {words}", remedy=_MODEL_REMEDY)


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
        return Unreachable(f"The API cannot be reached: {words}", remedy="Look at the network.")
    if isinstance(cause, httpx2.UnsupportedProtocol | httpx2.InvalidURL):
        return LetInRefused(f"The API's address cannot be used: {words}", remedy=_MODEL_REMEDY)
    if isinstance(cause, httpx2.TimeoutException):
        return TransientFailure("The API took too long to answer.", partial=partial)
    return TransientFailure(f"The connection to the API broke off: {words}", partial=partial)


def _words(error: Exception, secret: str) -> str:
    """Return the API's own words on one line, short, and without the key."""
    said = str(getattr(error, "api_message", "") or error.__cause__ or error)
    line = " ".join(visible(said.replace(secret, "(the key)")).split())
    return line if len(line) <= 300 else line[:299] + "…"


def _retry_after(value: str, now: float) -> float | None:
    seconds = _number(value)
    if seconds is not None:
        return now + seconds
    try:
        return parsedate_to_datetime(value).timestamp()
    except (ValueError, OverflowError):  # neither form: as if nothing had been said
        return None


def _number(value: str) -> float | None:
    try:
        number = float(value)
    except ValueError:
        return None
    return number if math.isfinite(number) else None
