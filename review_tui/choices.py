"""The few answers to the questions that a decision asks, the same in both forms."""

from __future__ import annotations

from datetime import date, timedelta
from typing import Final

import msgspec

from dreaming.jobs.review import Until
from dreaming.models.session import Speaker


class Choice(msgspec.Struct, frozen=True):
    """An answer: its key, how it reads, and what it means to whoever asked."""

    key: str
    label: str
    value: str


REASONS: Final = (
    Choice("1", "known or documented already", "known"),
    Choice("2", "fixed since", "fixed"),
    Choice("3", "wrong", "wrong"),
    Choice("4", "too specific", "too specific"),
    Choice("5", "happened once, will not again", "one-off"),
    Choice("6", "unsafe to follow", "unsafe"),
)
"""Why a candidate is turned down."""

DELAYS: Final = (
    Choice("1", "until tomorrow", "1 day"),
    Choice("2", "for a week", "7 days"),
    Choice("3", "for a month", "30 days"),
    Choice("4", "until a new session has it", "1 session"),
    Choice("5", "until three new sessions have it", "3 sessions"),
)
"""How long a candidate is put off."""

ANYWAY: Final = "seen beside its neighbours"
"""The reason for accepting what comes close to something known, for the ledger."""

SPEAKERS: Final = {
    Speaker.HUMAN: "typed by a person",
    Speaker.MODEL: "said by the model",
    Speaker.TOOL: "returned by a tool",
    Speaker.HARNESS: "put in by the agent's program",
}


def until(chosen: str, today: date) -> Until:
    """Return what the value of a delay comes to."""
    number, unit = chosen.split()
    if unit.startswith("session"):
        return Until(sessions=int(number))
    return Until(day=today + timedelta(days=int(number)))
