"""Asks a backend about a batch's new excerpts, and never pays twice for one answer.

A raw answer is on disk before anything is made of it. A request that failed twice is split into
its sessions; one that cannot be split is set aside, so that nothing blocks the way for good.
"""

from __future__ import annotations

import hashlib
from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import Final

import msgspec

from dreaming.backends.interface import Answer, Backend, TooBig, Unanswered, Usage
from dreaming.errors import DreamingError, NotNow
from dreaming.models.finding import Complaint, Finding, KeptExcerpt
from dreaming.models.report import Spent
from dreaming.packets import Packet, best, number
from dreaming.stores.answers import Answers, KeptAnswer
from dreaming.stores.state import State, encoded
from dreaming.tasks import joining, mining
from dreaming.tasks.interface import Request

MAX_PAID_ATTEMPTS: Final = 2
LEAST_ROOM: Final = 4_000
"""Tokens that a batch may take however small its transcripts are."""


def room(new_bytes: int, tokens_per_mb: int) -> int:
    """Return how many tokens of excerpts may be sent for so many bytes of transcripts."""
    return max(LEAST_ROOM, new_bytes * tokens_per_mb // 1_000_000)


class UnusableAnswer(DreamingError):
    """A backend's answer could not be read; it is kept, and asked for once more another night."""


class Stopped(NotNow):
    """The run was told to stop; what is left waits for the next one."""


class Asked(msgspec.Struct):
    """What asking about one batch gave."""

    findings: list[tuple[str, Finding]] = msgspec.field(default_factory=list)
    """(request hash, finding)."""
    complaints: list[Complaint] = msgspec.field(default_factory=list)
    requests: list[tuple[str, str, str, Sequence[str], Spent]] = msgspec.field(default_factory=list)
    """As ``State.settle`` takes them."""
    set_aside: int = 0


class _Unsettled(msgspec.Struct):
    base: str
    answer: KeptAnswer
    left: int
    """How many of the excerpts it is about are not settled."""


class Joining(msgspec.Struct, frozen=True):
    """What the second look gave."""

    asked: Asked
    request: str
    """Hash of the question."""
    same: list[tuple[int, ...]]
    """Places of statements that are about one gotcha."""


class Asker:
    """Puts excerpts to one backend."""

    def __init__(
        self,
        backend: Backend,
        state: State,
        answers: Answers,
        prompt: str,
        known: Sequence[str],
        spent: Spent,
        stop: Callable[[], str],
    ) -> None:
        """Count to ``spent`` what was paid, also for answers that came to nothing.

        ``stop`` is asked before each question that costs something: a reason to ask no more.
        """
        self._backend = backend
        self._state = state
        self._answers = answers
        self._prompt = prompt
        self._known = known
        self._spent = spent
        self._stop = stop
        kept = ((hash_, base, answers.get(hash_)) for hash_, base in state.unsettled_requests())
        self._unsettled = {
            hash_: _Unsettled(base, answer, sum(len(told) for _, told in answer.about))
            for hash_, base, answer in kept
            if answer and answer.complete
        }
        self._answered: dict[str, list[str]] = {}
        """By excerpt id, the requests whose answers are kept and not settled."""
        for hash_, one in self._unsettled.items():
            for _, told in one.answer.about:
                for _, id_, _ in told:
                    self._answered.setdefault(id_, []).append(hash_)

    def ask(self, excerpts: Sequence[KeptExcerpt], now: float, budget: int) -> Asked:
        """Return the findings for the best of these excerpts, within a budget of tokens.

        Raises what the backend raises, ``UnusableAnswer`` and ``Stopped``; what was answered before
        that is kept and is not asked again.
        """
        asked = Asked()
        recalled = self._recall(excerpts, asked)
        done = {one.id for used in recalled.values() for one in used}
        open_ = [one for one in excerpts if one.id not in done]
        for packets in number(best(open_, budget), self._backend.context_tokens):
            self._ask(packets, asked, now)
        for hash_, used in recalled.items():
            self._note_recalled(hash_, len(used), asked)
        return asked

    def _recall(
        self, excerpts: Sequence[KeptExcerpt], asked: Asked
    ) -> dict[str, list[KeptExcerpt]]:
        """Take what was answered and not settled, whatever it was asked together with.

        Return the excerpts that need not be asked about, by the request that was answered.
        """
        recalled: dict[str, list[KeptExcerpt]] = {}
        left = {(one.id, _mark(one)): one for one in excerpts if one.id in self._answered}
        for hash_ in sorted({hash_ for id_, _ in left for hash_ in self._answered[id_]}):
            answer = self._unsettled[hash_].answer
            packets = tuple(_within(answer, left))
            name = answer.backend.partition(":")[0]
            request = Request(packets, "", "", hash_, backend=name)
            findings, complaints = mining.read(answer.text, request)
            if any(one.whole for one in complaints):
                continue
            asked.findings += [(hash_, finding) for finding in findings]
            recalled[hash_] = [one for packet in packets for _, one in packet.excerpts]
            for one in recalled[hash_]:
                del left[one.id, _mark(one)]
        return recalled

    def _note_recalled(self, hash_: str, used: int, asked: Asked) -> None:
        """An answer is settled when the last excerpt it is about is."""
        one = self._unsettled[hash_]
        one.left -= used
        outcome = "asked" if one.left else "answered"
        answer = one.answer
        usage = Usage(answer.input_tokens, answer.output_tokens, answer.cost)
        sessions = [session for session, _ in answer.about]
        asked.requests.append((hash_, one.base, outcome, sessions, _spent(usage)))

    def _ask(self, packets: tuple[Packet, ...], asked: Asked, now: float) -> None:
        for request, base in self._affordable(packets, asked):
            try:
                answer = self._answer(request, base, now)
            except TooBig:
                # Two notes make it as often as we pay for: asking again then splits it.
                self._note(request, base, "too big", Usage(), now)
                again = msgspec.structs.replace(request, hash=f"{request.hash}+")
                self._note(again, base, "too big", Usage(), now)
                self._ask(request.packets, asked, now)
                continue
            self._take(request, base, answer, asked, now)

    def _take(self, request: Request, base: str, answer: Answer, asked: Asked, now: float) -> None:
        findings, complaints = mining.read(answer.text, request)
        self._believe(request, base, answer, complaints, asked, now)
        asked.findings += [(request.hash, finding) for finding in findings]

    def _believe(
        self,
        request: Request,
        base: str,
        answer: Answer,
        complaints: Sequence[Complaint],
        asked: Asked,
        now: float,
    ) -> None:
        """Count an answer as given, or raise ``UnusableAnswer`` where it cannot be read."""
        whole = [one for one in complaints if one.whole]
        if whole or not answer.complete:
            reason = whole[0].reason if whole else "it was cut short"
            self._note(request, base, "unusable", answer.usage, now)
            raise UnusableAnswer(
                f"An answer of {self._backend.identity} cannot be used: {reason}. It is kept as "
                f"{request.hash[:12]}….json, and the question is asked again the next night."
            )
        asked.complaints += complaints
        if not self._backend.free:
            spent = _spent(answer.usage)
            asked.requests.append((request.hash, base, "answered", list(request.sessions), spent))

    def join(self, statements: Sequence[joining.Statement], prompt: str, now: float) -> Joining:
        """Return which of these statements are about one gotcha, from one question about all.

        Raises as ``ask`` does. A question that failed as often as we pay for joins nothing.
        """
        asked = Asked()

        def question(attempt: int) -> Request:
            identity = self._backend.identity
            return joining.request(statements, prompt=prompt, identity=identity, attempt=attempt)

        base = question(0).hash
        attempts = 0 if self._backend.free else self._state.attempts(base)
        if attempts >= MAX_PAID_ATTEMPTS:
            return Joining(asked, base, [])
        request = question(attempts + 1)
        answer = self._answer(request, base, now)
        same, complaints = joining.read(answer.text, len(statements))
        self._believe(request, base, answer, complaints, asked, now)
        return Joining(asked, request.hash, same)

    def _affordable(
        self, packets: tuple[Packet, ...], asked: Asked
    ) -> Iterator[tuple[Request, str]]:
        """The request for these packets, or its parts where it failed as often as we pay for."""
        if self._backend.free:
            request = self._request(packets, 1)
            yield request, request.hash
            return
        base = self._request(packets, 0).hash
        attempts = self._state.attempts(base)
        if attempts < MAX_PAID_ATTEMPTS:
            yield self._request(packets, attempts + 1), base
        elif len(packets) > 1:
            for packet in packets:
                yield from self._affordable((packet,), asked)
        else:
            asked.set_aside += 1

    def _request(self, packets: tuple[Packet, ...], attempt: int) -> Request:
        return mining.request(
            packets,
            self._known,
            prompt=self._prompt,
            identity=self._backend.identity,
            attempt=attempt,
        )

    def _answer(self, request: Request, base: str, now: float) -> Answer:
        if self._backend.free:
            return self._backend.ask(request)
        kept = self._answers.get(request.hash)
        if kept is not None:
            usage = Usage(kept.input_tokens, kept.output_tokens, kept.cost)
            return Answer(kept.text, usage, complete=kept.complete)
        reason = self._stop()
        if reason:
            raise Stopped(reason)
        # Noted before it is paid for: what is withdrawn later must be found whatever happens now.
        self._note(request, base, "asked", Usage(), now)
        try:
            answer = self._backend.ask(request)
        except Unanswered as wrong:
            _add(self._spent, wrong.partial.usage)
            if wrong.text or wrong.partial.usage.input_tokens:
                self._keep(request, wrong.partial)
                self._note(request, base, type(wrong).__name__, wrong.partial.usage, now)
            raise
        self._keep(request, answer)
        _add(self._spent, answer.usage)
        return answer

    def _keep(self, request: Request, answer: Answer) -> None:
        usage = answer.usage
        self._answers.keep(
            request.hash,
            KeptAnswer(
                answer.text,
                usage.input_tokens,
                usage.output_tokens,
                usage.cost,
                answer.complete,
                self._backend.identity,
                _about(request),
            ),
        )

    def _note(self, request: Request, base: str, outcome: str, usage: Usage, now: float) -> None:
        if not self._backend.free:
            self._state.note_request(
                request.hash, base, outcome, request.sessions, _spent(usage), now
            )


def _about(request: Request) -> tuple[tuple[str, tuple[tuple[str, str, str], ...]], ...]:
    """What a kept answer says of its request."""
    return tuple(
        (packet.session_id, tuple((n, one.id, _mark(one)) for n, one in packet.excerpts))
        for packet in request.packets
    )


def _within(answer: KeptAnswer, left: Mapping[tuple[str, str], KeptExcerpt]) -> Iterator[Packet]:
    """The packets an answer is about, with those of their excerpts that say the same as then."""
    for session, told in answer.about:
        found = tuple((n, left[id_, said]) for n, id_, said in told if (id_, said) in left)
        if found:
            yield Packet(session, found)


def _mark(kept: KeptExcerpt) -> str:
    """What tells whether an excerpt still says the same."""
    return hashlib.blake2b(encoded(kept.excerpt), digest_size=8).hexdigest()


def _spent(usage: Usage) -> Spent:
    return Spent(1, usage.input_tokens, usage.output_tokens, usage.cost)


def _add(spent: Spent, usage: Usage) -> None:
    spent.requests += 1
    spent.input_tokens += usage.input_tokens
    spent.output_tokens += usage.output_tokens
    spent.cost += usage.cost
