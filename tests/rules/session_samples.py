"""Small invented sessions for the tests of signals, aggregation and known."""

from __future__ import annotations

import hashlib
from collections import Counter
from collections.abc import Collection
from itertools import count

from dreaming.models.finding import Excerpt, KeptExcerpt
from dreaming.models.session import (
    Denier,
    ResultStatus,
    Session,
    SessionKind,
    Speaker,
    Tool,
    Turn,
    TurnKind,
)
from dreaming.signals import excerpts, terms
from dreaming.similarity import term_id


class Talk:
    """Builds a session turn by turn; each turn stands on its own line."""

    def __init__(self, native_id: str, kind: SessionKind = SessionKind.INTERACTIVE) -> None:
        self.session = Session(agent="claude-code", native_id=native_id, kind=kind)
        self._numbers = count(1)

    def _add(self, kind: TurnKind, speaker: Speaker, text: str = "", **more: object) -> None:
        line = next(self._numbers)
        record = f"{self.session.native_id}-{line}"
        turn = Turn(kind, speaker, line, text, record=record, at=1e9 + line, **more)  # type: ignore[arg-type]
        self.session.turns.append(turn)

    def person(self, text: str) -> Talk:
        """A person types."""
        self._add(TurnKind.USER, Speaker.HUMAN, text)
        return self

    def script(self, text: str) -> Talk:
        """A program prompts."""
        self._add(TurnKind.USER, Speaker.HARNESS, text)
        return self

    def model(self, text: str) -> Talk:
        """The model says something."""
        self._add(TurnKind.ASSISTANT, Speaker.MODEL, text)
        return self

    def stop(self) -> Talk:
        """A person interrupts."""
        self._add(TurnKind.INTERRUPTION, Speaker.HUMAN)
        return self

    def summary(self, text: str) -> Talk:
        """The harness condenses what was said."""
        self._add(TurnKind.SUMMARY, Speaker.HARNESS, text)
        return self

    def call(
        self,
        command: str,
        result: str = "done",
        *,
        status: ResultStatus = ResultStatus.OK,
        denier: Denier | None = None,
        tool: Tool = Tool.SHELL,
    ) -> Talk:
        """The model calls a tool, which returns."""
        name = f"c{len(self.session.turns)}"
        self._add(
            TurnKind.CALL, Speaker.MODEL, tool=tool, tool_name="x", action=command, call_id=name
        )
        self._add(
            TurnKind.RESULT,
            Speaker.TOOL,
            result,
            tool=tool,
            tool_name="x",
            call_id=name,
            status=status,
            denier=denier,
        )
        return self

    def hook(self, text: str) -> Talk:
        """A hook says something of the work."""
        self._add(TurnKind.RESULT, Speaker.HARNESS, text, tool_name="hook", status=ResultStatus.OK)
        return self

    def fails(self, command: str, result: str, tool: Tool = Tool.SHELL) -> Talk:
        """A call that ends with an error."""
        return self.call(command, result, status=ResultStatus.ERROR, tool=tool)

    def denied(self, command: str, result: str, denier: Denier) -> Talk:
        """A call that is denied."""
        return self.call(command, result, status=ResultStatus.DENIED, denier=denier)

    def found(self) -> list[Excerpt]:
        """The excerpts of this session."""
        return excerpts(self.session)


class Counted:
    """How often terms occur in some sessions."""

    def __init__(self, sessions: list[Session], padding: int = 0) -> None:
        self._terms = [terms(session) for session in sessions]
        self.sessions = len(sessions) + padding

    def of(self, term: str) -> int:
        """In how many sessions a term occurs."""
        return sum(term in found for found in self._terms)

    def among(
        self, terms: Collection[int], sessions: Collection[str] | None
    ) -> tuple[dict[int, int], int]:
        """In how many sessions each of these terms occurs: always in all of them."""
        counts = Counter(term_id(term) for found in self._terms for term in found)
        return {id_: counts[id_] for id_ in terms}, self.sessions


def key(*parts: object) -> str:
    """Sixteen hex characters for these parts."""
    return hashlib.sha256("|".join(map(str, parts)).encode()).hexdigest()[:16]


def kept(talk: Talk, *, root: str = "") -> list[KeptExcerpt]:
    """A session's excerpts as the state keeps them."""
    native = talk.session.native_id
    return [
        KeptExcerpt(
            id=key(native, excerpt.line, excerpt.kind),
            session_id=key(native),
            root=key(root or native),
            agent="claude-code",
            native_id=native,
            project="",
            headless=False,
            excerpt=excerpt,
        )
        for excerpt in talk.found()
    ]


def history() -> list[Talk]:
    """Two sessions that meet one wall in different words, and others that do not."""
    one = Talk("s-1").person("Add a page for the harbour list")
    one.fails("kelp push lagoon", "kelp: refusing to push, the ledger is not sealed")
    one.model("It only works after `kelp seal --ledger`, so the ledger has to be sealed first.")
    one.call("kelp seal --ledger && kelp push lagoon", "pushed")
    two = Talk("s-2").person("Change the colour of the buoy")
    two.call("kelp push reef", "waiting for the ledger ...")
    two.person("no, you must run kelp seal --ledger before every push, otherwise it hangs")
    two.call("kelp seal --ledger && kelp push reef", "pushed")
    others = []
    for number in range(10):
        other = Talk(f"o-{number}").person(f"Write the text of page {number}")
        other.fails(f"lantern build p{number}", f"lantern: unknown word w{number} in page {number}")
        other.call(f"lantern build p{number} --fix-w{number}", "built")
        others.append(other)
    return [one, two, *others]
