"""Excerpts, ranked and numbered, within a budget: what a backend reads."""

from __future__ import annotations

import msgspec

from dreaming.models.finding import KeptExcerpt


class Packet(msgspec.Struct, frozen=True):
    """The excerpts of one session that go into one request, each with its number (``e17``)."""

    session_id: str
    excerpts: tuple[tuple[str, KeptExcerpt], ...]
    """(number, excerpt), best first. Numbers are unique within a request."""
