"""Asks a backend about a batch's new excerpts, and never pays twice for one answer.

A raw answer is on disk before anything is made of it. A request that failed twice is split into
its sessions; one that cannot be split is set aside, so that nothing blocks the way for good.
"""

from __future__ import annotations

import hashlib
import random
import re
from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import Final, TypeVar

import msgspec

from dreaming.backends.interface import (
    Answer,
    AnswerRefused,
    Backend,
    BudgetReached,
    LetInRefused,
    NotReadOnly,
    QuotaReached,
    TimedOut,
    TooBig,
    TransientFailure,
    Unanswered,
    Unreachable,
    Usage,
)
from dreaming.errors import DreamingError
from dreaming.jobs.limits import Allowance
from dreaming.models.finding import Complaint, Finding, KeptExcerpt
from dreaming.models.report import Spent
from dreaming.packets import Packet, best, estimate_tokens, number
from dreaming.stores.answers import Answers, KeptAnswer
from dreaming.stores.state import State, encoded
from dreaming.tasks import joining, mining
from dreaming.tasks.interface import Request

MAX_PAID_ATTEMPTS: Final = 2
TRIES: Final = 3
"""How often a question is put that nothing was paid for, within a run."""
PAUSE: Final = 8.0
"""Seconds before the second try, give or take half of it; four times as long before the third."""
IN_A_ROW: Final = 3
"""Questions without a usable answer, one after the other, from which on a batch is given up."""
LEAST_ROOM: Final = 4_000
"""Tokens that a batch may take however small its transcripts are."""
CREDENTIAL: Final = "it holds the shape of a credential"
UNCOUNTED: Final = ""
"""Stands for the question where a failure is no attempt at one."""

_Failure = (
    Unanswered
    | TooBig
    | QuotaReached
    | BudgetReached
    | LetInRefused
    | Unreachable
    | NotReadOnly
)  # fmt: skip
_FAILURES: Final = (
    Unanswered, TooBig, QuotaReached, BudgetReached, LetInRefused, Unreachable, NotReadOnly,
)  # fmt: skip
_REASONS: Final = {TooBig: "too big", AnswerRefused: "the model declined to answer"}
_T = TypeVar("_T")


def room(new_bytes: int, tokens_per_mb: int) -> int:
    """Return how many tokens of excerpts may be sent for so many bytes of transcripts."""
    return max(LEAST_ROOM, new_bytes * tokens_per_mb // 1_000_000)


class UnusableAnswer(DreamingError):
    """A backend's answers could not be read; they are kept, what is left waits for a night."""


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
        allowance: Allowance,
        *,
        is_clean: Callable[[str], bool],
        pause: Callable[[float], None],
    ) -> None:
        """Tell ``allowance`` what was paid, also for answers that came to nothing.

        It is asked before each question that costs something. ``is_clean`` says of a text whether
        it may be kept; ``pause`` lets so many seconds pass.
        """
        self._backend = backend
        self._state = state
        self._answers = answers
        self._prompt = prompt
        self._known = known
        self._allowance = allowance
        self._is_clean = is_clean
        self._pause = pause
        self._useless = 0
        """Questions in a row without a usable answer."""
        self._well = False
        """Whether the backend gave a usable answer in this run."""
        self._doubtful: list[tuple[Request, str]] = []
        """Questions that failed while nobody knew whether the backend was there at all."""
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

    def ask(self, excerpts: Sequence[KeptExcerpt], now: float, budget: int, asked: Asked) -> None:
        """Put into ``asked`` the findings for the best of these excerpts, within a token budget.

        Raises what the backend raises, ``UnusableAnswer`` and ``Stopped``; what was answered before
        that is kept and is not asked again.
        """
        recalled = self._recall(excerpts, asked)
        done = {one.id for used in recalled.values() for one in used}
        open_ = [one for one in excerpts if one.id not in done]
        for packets in number(best(open_, budget), self._backend.context_tokens):
            self._ask(packets, asked, now)
        for hash_, used in recalled.items():
            self._note_recalled(hash_, len(used), asked)

    def _recall(
        self, excerpts: Sequence[KeptExcerpt], asked: Asked
    ) -> dict[str, list[KeptExcerpt]]:
        """Take what was answered and not settled, whatever it was asked together with.

        Return the excerpts that need not be asked about, by the request that was answered.
        """
        recalled: dict[str, list[KeptExcerpt]] = {}
        left = {(one.id, mark(one)): one for one in excerpts if one.id in self._answered}
        for hash_ in sorted({hash_ for id_, _ in left for hash_ in self._answered[id_]}):
            answer = self._unsettled[hash_].answer
            packets = tuple(within(answer, left))
            name = answer.backend.partition(":")[0]
            request = Request(packets, "", "", hash_, backend=name, word=answer.word)
            findings, complaints = mining.read(answer.text, request)
            if any(one.whole for one in complaints):
                continue
            asked.findings += [(hash_, finding) for finding in findings]
            recalled[hash_] = [one for packet in packets for _, one in packet.excerpts]
            for one in recalled[hash_]:
                del left[one.id, mark(one)]
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
        """Ask about these packets; where that fails for good, about each; else set it aside."""
        answered = self._usable(
            lambda attempt: self._request(packets, attempt),
            lambda text, request: mining.read(text, request),
            asked,
            now,
        )
        if answered is not None:
            request, findings = answered
            asked.findings += [(request.hash, finding) for finding in findings]
        elif len(packets) > 1:
            for packet in packets:
                self._ask((packet,), asked, now)
        else:
            asked.set_aside += 1

    def _usable(
        self,
        question: Callable[[int], Request],
        read: Callable[[str, Request], tuple[list[_T], list[Complaint]]],
        asked: Asked,
        now: float,
    ) -> tuple[Request, list[_T]] | None:
        """Put a question, as often as we pay for; return what was asked and what was understood.

        ``None`` where it failed as often, tonight or before. Raises what the backend raises, and
        ``UnusableAnswer`` where one question after the other has no usable answer.
        """
        base = question(0).hash
        before = attempts = 0 if self._backend.free else self._state.attempts(base)
        why = ""
        while attempts < MAX_PAID_ATTEMPTS:
            attempts += 1
            request = question(attempts)
            try:
                answer = self._answer(request, base, now)
            except TransientFailure:
                raise
            except (TooBig, Unanswered) as wrong:
                why = wrong.message.rstrip(".")
                kind = _REASONS.get(type(wrong), "no answer in the form that was asked for")
                asked.complaints.append(Complaint(kind, whole=True))
                if isinstance(wrong, TooBig):
                    return None
                if isinstance(wrong, AnswerRefused):
                    break
                continue
            found, complaints = read(answer.text, request)
            why = self._unusable(answer, complaints)
            if not why:
                self._useless, self._well = 0, True
                self._count_doubtful(now)
                asked.complaints += complaints
                if not self._backend.free:
                    spent = _spent(answer.usage)
                    told = list(request.sessions)
                    asked.requests.append((request.hash, base, "answered", told, spent))
                return request, found
            asked.complaints.append(Complaint(why, whole=True))
            self._keep(request.hash, request, answer, why)
            self._note(request.hash, base, "unusable", request, answer.usage, now)
            if self._backend.free:
                raise UnusableAnswer(self._said(why, request))
        self._useless += attempts > before
        if attempts > before and self._useless >= IN_A_ROW:
            raise UnusableAnswer(self._said(why, request))
        return None

    def _said(self, why: str, request: Request) -> str:
        see = "" if self._backend.free else f" `dreaming quarantine show {request.hash[:12]}`"
        return f"An answer of {self._backend.identity} cannot be used: {why}.{see}"

    def join(self, statements: Sequence[joining.Statement], prompt: str, now: float) -> Joining:
        """Return which of these statements are about one gotcha, from one question about all.

        Raises as ``ask`` does. A question that failed as often as we pay for joins nothing.
        """
        asked = Asked()

        def question(attempt: int) -> Request:
            identity = self._backend.identity
            return joining.request(statements, prompt=prompt, identity=identity, attempt=attempt)

        answered = self._usable(
            question,
            lambda text, request: joining.read(text, statements, request.word),
            asked,
            now,
        )
        if answered is None:
            return Joining(asked, question(0).hash, [])
        return Joining(asked, answered[0].hash, answered[1])

    def _request(self, packets: tuple[Packet, ...], attempt: int) -> Request:
        return mining.request(
            packets,
            self._known,
            prompt=self._prompt,
            identity=self._backend.identity,
            attempt=attempt,
        )

    def _answer(self, request: Request, base: str, now: float) -> Answer:
        """Return the answer that is kept, or a new one, kept. Raises what the backend raises."""
        if self._backend.free:
            return self._backend.ask(request)
        kept = self._answers.get(request.hash)
        if kept is not None:
            usage = Usage(kept.input_tokens, kept.output_tokens, kept.cost)
            return Answer(kept.text, usage, complete=kept.complete and not kept.why)
        tokens = estimate_tokens([request.system, request.prompt])
        estimate = Spent(1, tokens, tokens // 10, self._backend.price.estimate(tokens))
        self._allowance.let(estimate)
        # Noted before it is paid for: what is withdrawn later must be found whatever happens now.
        self._note(request.hash, base, "asked", request, Usage(), now)
        for tried in range(TRIES):
            if tried:
                self._pause(PAUSE * 4 ** (tried - 1) * random.uniform(0.5, 1.5))
                self._allowance.check(estimate)
            try:
                answer = self._backend.ask(request)
                self._allowance.heard(answer)
                break
            except _FAILURES as wrong:
                self._allowance.heard(wrong.partial, wrong)
                if isinstance(wrong, BudgetReached) and wrong.text and wrong.partial.complete:
                    answer = wrong.partial
                    self._allowance.enough(wrong.message)
                    break
                self._failed(request, base, wrong, now)
                if not _for_nothing(wrong):
                    raise
                if tried == TRIES - 1:
                    self._doubt(request, base, now)
                    raise
        self._keep(request.hash, request, answer, "")
        return answer

    def _unusable(self, answer: Answer, complaints: Sequence[Complaint]) -> str:
        """Return why an answer as a whole cannot be used, or nothing."""
        if not self._backend.free and not self._is_clean(answer.text):
            return CREDENTIAL
        if not answer.complete:
            return "the answer was cut short"
        return next((one.reason for one in complaints if one.whole), "")

    def _failed(self, request: Request, base: str, wrong: _Failure, now: float) -> None:
        """Keep what came with a failure, and count it as an attempt where it was one."""
        outcome, usage = type(wrong).__name__, wrong.partial.usage
        final = isinstance(wrong, TooBig | AnswerRefused)
        paid = isinstance(wrong, Unanswered | BudgetReached) and not _for_nothing(wrong)
        name = request.hash
        if not (final or paid):
            name, base = mining.digest([request.hash, outcome, str(now)]), UNCOUNTED
        if wrong.text:
            self._keep(
                name, request, wrong.partial, f"{in_words(type(wrong))}: {wrong.message[:300]}"
            )
        if wrong.text or base:
            self._note(name, base, outcome, request, usage, now)
        if final:
            # Two notes make it as often as we pay for: asking again then splits it.
            self._note(f"{name}+", base, outcome, request, Usage(), now)

    def _doubt(self, request: Request, base: str, now: float) -> None:
        """A backend that answers others and never this one would be in the way for good."""
        self._doubtful.append((request, base))
        if self._well:
            self._count_doubtful(now)

    def _count_doubtful(self, now: float) -> None:
        for request, base in self._doubtful:
            self._note(request.hash, base, TransientFailure.__name__, request, Usage(), now)
        self._doubtful.clear()

    def _keep(self, name: str, request: Request, answer: Answer, why: str) -> None:
        """Keep what came under this name; one with the shape of a credential without its text."""
        if self._backend.free:
            return
        text = answer.text
        if not self._is_clean(text):
            text, why = "", f"{CREDENTIAL}, so its {len(text)} characters are not kept"
        usage = answer.usage
        self._answers.keep(
            name,
            KeptAnswer(
                text,
                usage.input_tokens,
                usage.output_tokens,
                usage.cost,
                answer.complete and not why,
                self._backend.identity,
                _about(request),
                why,
                request.word,
            ),
        )

    def _note(
        self, name: str, base: str, outcome: str, request: Request, usage: Usage, now: float
    ) -> None:
        if not self._backend.free:
            spent = _spent(usage)
            self._state.note_request(name, base, outcome, request.sessions, spent, now)


def in_words(kind: type[DreamingError]) -> str:
    """Return the name of a failure as people read it: ``not read only``."""
    return re.sub(r"(?<!^)(?=[A-Z])", " ", kind.__name__).lower()


def _for_nothing(wrong: DreamingError) -> bool:
    """Say whether a backend failed before anything was paid, so that it may be asked again."""
    if not isinstance(wrong, TransientFailure) or isinstance(wrong, TimedOut):
        return False
    return not wrong.text and wrong.partial.usage == Usage()


def _about(request: Request) -> tuple[tuple[str, tuple[tuple[str, str, str], ...]], ...]:
    """What a kept answer says of its request."""
    return tuple(
        (packet.session_id, tuple((n, one.id, mark(one)) for n, one in packet.excerpts))
        for packet in request.packets
    )


def within(answer: KeptAnswer, left: Mapping[tuple[str, str], KeptExcerpt]) -> Iterator[Packet]:
    """The packets an answer is about, with those of their excerpts that say the same as then."""
    for session, told in answer.about:
        found = tuple((n, left[id_, said]) for n, id_, said in told if (id_, said) in left)
        if found:
            yield Packet(session, found)


def mark(kept: KeptExcerpt) -> str:
    """What tells whether an excerpt still says the same."""
    return hashlib.blake2b(encoded(kept.excerpt), digest_size=8).hexdigest()


def _spent(usage: Usage) -> Spent:
    return Spent(1, usage.input_tokens, usage.output_tokens, usage.cost)
