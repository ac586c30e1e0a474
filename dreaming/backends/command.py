"""Any program that answers: the prompt on its input, JSON on its output, an exit code.

The contract is in ``docs/backends.md``. What such a program can do is in the hands of the person
who names it: nothing here can look into it.
"""

from __future__ import annotations

import os
from collections.abc import Sequence
from datetime import datetime
from pathlib import Path
from typing import Final

from dreaming.backends import child
from dreaming.backends.interface import (
    Answer,
    LetInRefused,
    Price,
    QuotaReached,
    Request,
    Unanswered,
    Usage,
    estimate_tokens,
)
from dreaming.errors import BackendUnavailable, DreamingError, NotNow

NOT_BEFORE: Final = "not-before:"
"""Begins the line on stderr that says from when asking may work again."""


class CommandBackend(child.CliBackend):
    """Asks a program of the person's choice."""

    name = "command"
    leaves_the_machine = True
    free = False

    def __init__(
        self,
        argv: Sequence[str],
        *,
        model: str = "",
        variables: Sequence[str] = (),
        leaves_the_machine: bool = True,
        context_tokens: int = 60_000,
        timeout: float = 600.0,
        price: Price = Price(),  # noqa: B008 # it cannot be changed
    ) -> None:
        """``variables`` are the names of those of our environment that the program gets."""
        super().__init__(argv[0])
        self._arguments = tuple(argv[1:])
        self._model = model
        self._variables = variables
        self.leaves_the_machine = leaves_the_machine
        self._context_tokens = context_tokens
        self._timeout = timeout
        self._price = price

    @property
    def identity(self) -> str:
        """Name, and what the person says answers."""
        return f"{self.name}:{self._model or Path(self._program).name}"

    @property
    def context_tokens(self) -> int:
        """As the person set it."""
        return self._context_tokens

    @property
    def price(self) -> Price:
        """As the person set it."""
        return self._price

    def command(self, request: Request, folders: child.Room) -> child.Command:
        """Return what ``ask`` runs; raises ``LetInRefused`` where the program is not there."""
        path = child.find(self._program)
        given = {name: os.environ[name] for name in self._variables if name in os.environ}
        around = {**child.environment(path, folders), **given}
        prompt = child.guarded(f"{request.system}\n\n{request.prompt}")
        argv = (str(path), *self._arguments)
        return child.Command(argv, around, prompt.encode("utf-8", "replace"))

    def ask(self, request: Request) -> Answer:
        """Return the raw answer; see ``Backend.ask`` for what else may happen."""
        with child.room() as folders:
            command = self.command(request, folders)
            ended = child.run(command, folders, self._timeout)
        answer = self._answer(command, ended)
        ended.check(self._program, answer)
        if ended.code:
            raise self._failure(ended, answer)
        return answer

    def _answer(self, command: child.Command, ended: child.Ended) -> Answer:
        """Its output, with an estimate of what it used: nobody counts."""
        text = child.text(ended.out)
        read, written = (estimate_tokens([child.text(part)]) for part in (command.stdin, ended.out))
        cost = (read * self._price.input + written * self._price.output) / 1e6
        complete = not (ended.code or ended.why)
        return Answer(text, Usage(read, written, cost), self._model, complete)

    def _failure(self, ended: child.Ended, partial: Answer) -> DreamingError:
        said = f"it ended with {ended.code}" + (ended.words and f": {ended.words}")
        if ended.code == NotNow.EXIT_CODE:
            return QuotaReached(
                f"{self._program} may not be asked now: {said}",
                not_before=_not_before(child.text(ended.err)),
                partial=partial,
            )
        if ended.code in (BackendUnavailable.EXIT_CODE, 126, 127):
            return LetInRefused(
                f"{self._program} cannot answer: {said}",
                remedy="Look at [command] in your config.toml, and run the program yourself.",
                partial=partial,
            )
        return Unanswered(f"{self._program} failed: {said}", partial=partial)


def _not_before(said: str) -> float:
    """Return the instant that a line of stderr names in ISO 8601 with its zone; 0.0 without one."""
    for line in said.splitlines():
        if line.lower().startswith(NOT_BEFORE):
            try:
                instant = datetime.fromisoformat(line[len(NOT_BEFORE) :].strip())
            except ValueError:
                continue
            return instant.timestamp() if instant.tzinfo else 0.0
    return 0.0
