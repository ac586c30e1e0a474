"""List prices of Claude models as data, and what a request cost by them."""

from __future__ import annotations

import re
from typing import Final

import msgspec

from dreaming.backends.interface import Price, Usage

SOURCE: Final = "list prices of platform.claude.com and of Claude Code 2.1.332, read 2026-11-30"


class Counts(msgspec.Struct, frozen=True):
    """Tokens of one request as the API counts them: its ``input`` leaves cached ones out."""

    input: int = 0
    output: int = 0
    cache_write: int = 0
    cache_read: int = 0

    @property
    def prompt(self) -> int:
        """All tokens of the prompt."""
        return self.input + self.cache_write + self.cache_read


class Step(msgspec.Struct, frozen=True):
    """A price that holds for prompts of up to so many tokens; ``None`` for all others."""

    up_to: int | None
    price: Price


def _price(input: float, output: float, cache_write: float, cache_read: float) -> Price:
    return Price(input, output, SOURCE, cache_write, cache_read)


PRICES: Final[dict[str, tuple[Step, ...]]] = {
    "claude-haiku-5-5": (
        Step(100_000, _price(0.10, 0.50, 0.125, 0.01)),
        Step(None, _price(0.50, 2.50, 0.625, 0.05)),
    ),
    "claude-sonnet-5-5": (Step(None, _price(2, 10, 2.50, 0.10)),),
    "claude-opus-5-5": (Step(None, _price(4, 20, 5, 0.20)),),
    "claude-fable-5-2": (Step(None, _price(8, 40, 10, 0.20)),),
    "claude-haiku-4-5": (Step(None, _price(1, 5, 1.25, 0.10)),),
}
"""US dollars per million tokens. A step holds for the whole request, not for what is above it."""


_CLOUD: Final = re.compile(r"^(?:[a-z]+\.)?anthropic\.|-v\d+(?::\d+)?$|@\w+$")


def price(model: str, prompt_tokens: int) -> Price:
    """Return the price of a prompt of this size; zero, without a source, for an unknown model.

    Names with a date behind them (``claude-haiku-4-5-20251001``) cost what the model costs, and so
    do a cloud's own spellings (``us.anthropic.claude-haiku-5-5-v1:0``), by the maker's list.
    """
    model = _CLOUD.sub("", model)
    name = max((name for name in PRICES if _is(model, name)), key=len, default="")
    for step in PRICES.get(name, ()):
        if step.up_to is None or prompt_tokens <= step.up_to:
            return step.price
    return Price()


def usage(model: str, counts: Counts) -> Usage:
    """Return what these tokens cost."""
    at = price(model, counts.prompt)
    millionths = (
        counts.input * at.input
        + counts.output * at.output
        + counts.cache_write * at.cache_write
        + counts.cache_read * at.cache_read
    )
    return Usage(
        input_tokens=counts.prompt,
        output_tokens=counts.output,
        cost=millionths / 1_000_000,
        cache_write_tokens=counts.cache_write,
        cache_read_tokens=counts.cache_read,
    )


def _is(model: str, name: str) -> bool:
    return model == name or (model.startswith(f"{name}-") and model[len(name) + 1 :].isdigit())
