"""Where a run ends: at what a person allows it, and at what the account's quota leaves.

The night and the backfill share it. It is asked before each batch and before each question, so that
a run goes over a limit by the question in flight at most.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Final

import msgspec

from dreaming.backends.interface import Answer, QuotaReached
from dreaming.errors import NotNow
from dreaming.jobs.progress import Progress
from dreaming.models.report import Report, Spent, add, iso
from dreaming.quota import Wait, may_ask
from dreaming.stores.accounts import Accounts

ENDLESS: Final = 1 << 40


class Stopped(NotNow):
    """The run was told to stop; what is left waits for the next one."""


class Limits(msgspec.Struct, frozen=True):
    """Where a run ends; 0 means without a limit."""

    sessions: int = 0
    calls: int = 0
    """Questions that a backend is asked."""
    tokens: int = 0
    """Tokens that the backend read and wrote."""
    money: float = 0.0
    """US dollars at list price."""
    minutes: int = 0
    window: float = 1.0
    """Share of the account's rolling windows from which on nothing is asked any more."""


class Allowance:
    """Says when a run has had enough, and takes in what it used."""

    def __init__(
        self,
        limits: Limits,
        report: Report,
        account: str,
        *,
        accounts: Accounts,
        stop: Callable[[], str],
        clock: Callable[[], float],
        timer: Callable[[], float],
        progress: Progress,
    ) -> None:
        """Count to ``report``. ``stop`` gives a reason from outside, ``timer`` the minutes."""
        self._limits, self._report, self._account = limits, report, account
        self._accounts, self._stop, self._clock, self._timer = accounts, stop, clock, timer
        self._progress = progress
        self._began = timer()
        self._said = ""

    def reached(self) -> str:
        """Return why to stop here, or nothing."""
        limits, spent = self._limits, self._report.spent
        for limit, used, noun in (
            (limits.sessions, self._report.sessions, f"{limits.sessions} sessions"),
            (limits.calls, spent.requests, f"{limits.calls} calls"),
            (limits.tokens, spent.tokens, f"{limits.tokens} tokens"),
            (limits.money, spent.cost, f"${limits.money:g}"),
            (limits.minutes * 60, self._timer() - self._began, f"{limits.minutes} minutes"),
        ):
            if 0 < limit <= used:
                self._report.limited = True
                return f"the limit of {noun} is reached"
        return self._said or self._stop()

    def room(self) -> int:
        """Return how many transcripts may be read. Each brings one session at most."""
        sessions = self._limits.sessions
        return sessions - self._report.sessions if sessions else ENDLESS

    def let(self, estimate: Spent) -> None:
        """Let a question through that will take about so much; raise ``Stopped`` for one too many.

        What it is thought to take is told before it is asked.
        """
        self.check(estimate)
        add(self._report.estimated, estimate)
        self._progress.note(f"asking: about {estimate.tokens} tokens, ${estimate.cost:.4f}")

    def check(self, estimate: Spent) -> None:
        """Raise ``Stopped`` where a question that takes about so much may not be asked now."""
        reason = self.reached() or self._too_much(estimate)
        if reason:
            raise Stopped(reason)
        now = self._clock()
        wait = may_ask(self._accounts.of(self._account), now, self._limits.window)
        if wait is not None:
            self._report.not_before = iso(wait.until)
            raise Stopped(self._in_the_way(wait))

    def _too_much(self, estimate: Spent) -> str:
        limits, spent = self._limits, self._report.spent
        over = ""
        if 0 < limits.tokens < spent.tokens + estimate.tokens:
            over = f"{estimate.tokens} tokens would go over the limit of {limits.tokens}"
        elif 0 < limits.money < spent.cost + estimate.cost:
            over = f"${estimate.cost:.4f} would go over the limit of ${limits.money:g}"
        self._report.limited |= bool(over)
        return f"the next question of about {over}" if over else ""

    def _in_the_way(self, wait: Wait) -> str:
        until = iso(wait.until)
        if wait.window is None:
            return f"the quota of {self._account} is used up; it goes on at {until}"
        return (
            f"{wait.window.used:.0%} of the {wait.window.name} window of {self._account} is used, "
            f"and the rest is left to you; it goes on at {until}"
        )

    def heard(self, told: Answer, failure: Exception | None = None) -> None:
        """Take in what was used, and what was told of the account's windows."""
        usage, now = told.usage, self._clock()
        spent = Spent(1, usage.input_tokens, usage.output_tokens, usage.cost)
        add(self._report.spent, spent)
        quota = self._accounts.own(self._account)
        quota.hear(told.windows, now)
        if isinstance(failure, QuotaReached):
            quota.refuse(failure.not_before, now)
            self._report.not_before = iso(quota.not_before)
        if told.windows or isinstance(failure, QuotaReached):
            self._accounts.keep()

    def enough(self, reason: str) -> None:
        """Let no further question through."""
        self._said = reason
