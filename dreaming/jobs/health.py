"""How the nights are doing: what is wrong, and the one thing to do next. Numbers in, words out."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from typing import Any, Final

import msgspec

from dreaming.config import AlertSettings
from dreaming.errors import INTERRUPTED, OK, NotNow, kind_of
from dreaming.jobs.backfill import Plan
from dreaming.jobs.listing import Preview
from dreaming.models.report import Outcome, Spent, iso
from dreaming.quota import Quota, may_ask, open_windows
from dreaming.stores.state import State

NIGHTS: Final = 5
"""How many nights are shown."""
DAY: Final = 86400.0
_MANY_EXCLUDED: Final = 10
_LARGE_SHARE: Final = 1 / 3
"""Of the sessions that could be read: from here on excluding them is a surprise."""

Run = Mapping[str, Any]
"""A report as the state gives it back."""


class Trouble(msgspec.Struct, frozen=True):
    """Something that does not go away by itself, in words without any text of a transcript."""

    kind: str
    """``failed``, ``stayed``, ``old``, ``excluded``."""
    said: str
    remedy: str


def troubles(
    runs: Sequence[Run], since: float | None, settings: AlertSettings, now: float
) -> list[Trouble]:
    """Return what is wrong with the nights, worst first. ``runs`` are newest first.

    ``since`` is up to when everything is settled, seconds since 1970 UTC.
    """
    found = [_failed(runs), _stayed(runs, settings.stayed), _old(since, settings, now)]
    return [one for one in [*found, _excluded(runs)] if one is not None]


def _failed(runs: Sequence[Run]) -> Trouble | None:
    in_order = (OK, NotNow.EXIT_CODE, INTERRUPTED)
    if not runs or (runs[0]["outcome"] != Outcome.FAILED and _code(runs[0]) in in_order):
        return None
    return Trouble(
        "failed",
        f"The night of {runs[0]['started']} failed (exit {_code(runs[0])}): "
        f"{meaning(_code(runs[0]))}",
        "`dreaming status` says why, `dreaming doctor` what to do.",
    )


def _stayed(runs: Sequence[Run], most: int) -> Trouble | None:
    in_the_way = [one["outcome"] == Outcome.STAYED and _code(one) for one in runs[:most]]
    if len(in_the_way) < most or not all(in_the_way):
        return None
    return Trouble(
        "stayed",
        f"{most} nights in a row could not settle what was due.",
        "`dreaming status` says what is in the way.",
    )


def _old(since: float | None, settings: AlertSettings, now: float) -> Trouble | None:
    age = 0.0 if since is None else (now - since) / DAY
    if age <= settings.after_days:
        return None
    return Trouble(
        "old",
        f"The watermark has not moved for {age:.0f} days.",
        "Run `dreaming nightly`; if none runs by itself, `dreaming schedule status` says why.",
    )


def _excluded(runs: Sequence[Run]) -> Trouble | None:
    verdicts = runs[0]["verdicts"] if runs else {}
    read = sum(verdicts.get(one, 0) for one in ("processed", "excluded", "held"))
    excluded = verdicts.get("excluded", 0)
    if excluded < _MANY_EXCLUDED or excluded < _LARGE_SHARE * read:
        return None
    return Trouble(
        "excluded",
        f"{excluded} of {read} transcripts are left out for the shape of a credential.",
        "`dreaming redaction list` says which rules; revoke what was leaked, or allow it.",
    )


def meaning(code: int) -> str:
    """Return what an exit code says, in a sentence."""
    return (kind_of(code).__doc__ or "").strip().splitlines()[0]


def _code(run: Run) -> int:
    return int(run["exit_code"])


class Nights(msgspec.Struct):
    """What the state tells of the nights so far."""

    watermark: str | None
    last: list[dict[str, Any]]
    """Newest first: started, outcome, why, exit code, seconds."""
    spent: Spent
    """Since thirty days."""
    unknown_records: dict[str, int]
    """``agent version: type`` that nobody knows, met in the last nights."""
    troubles: list[Trouble]


def nights(state: State, settings: AlertSettings, now: float) -> Nights:
    """Return what the state tells of the nights so far."""
    runs = state.last_runs(max(NIGHTS, settings.stayed))
    watermark = state.get("watermark")
    return Nights(
        watermark=iso(float(watermark)) if watermark else None,
        last=[_shown(one) for one in runs[:NIGHTS]],
        spent=spent_since(state, now - 30 * DAY),
        unknown_records=dict(sum((Counter(one["unknown_records"]) for one in runs), Counter())),
        troubles=troubles(runs, settled_since(state, now), settings, now),
    )


class Share(msgspec.Struct):
    """How far the windows of an account are used, as told last."""

    account: str
    windows: dict[str, float]
    """By name the share that is used, of those that have not started anew."""
    not_before: str | None
    """From when nights go on asking; ``None`` where nothing is in their way."""


def shares(accounts: Mapping[str, Quota], ceiling: float, now: float) -> list[Share]:
    """Return what is known of accounts, without those of which there is nothing to tell."""
    found = []
    for name, quota in sorted(accounts.items()):
        wait = may_ask(quota, now, ceiling)
        windows = {one.name: one.used for one in open_windows(quota, now)}
        if windows or wait is not None:
            found.append(Share(name, windows, None if wait is None else iso(wait.until)))
    return found


def advice(
    nights: Nights, waiting: int, due: Preview, plan: Plan | None, *, scheduled: bool
) -> str:
    """Return the one thing to do next: what is most urgent."""
    if nights.troubles:
        return nights.troubles[0].remedy
    if plan is not None and plan.failed:
        return "`dreaming backfill`: the last slice failed; it goes on where it was"
    lost = sum(one.unread for one in due.losses.values())
    if lost:
        return f"`dreaming backfill --doomed-first`: {lost} unread transcripts go within a week"
    if waiting:
        return "`dreaming review`: candidates wait for you"
    if due.transcripts:
        return "`dreaming nightly`: transcripts are due"
    if not scheduled:
        return "`dreaming schedule install`: nothing starts nights by itself"
    return "nothing to do; the next night looks again"


def settled_since(state: State, now: float) -> float | None:
    """Return the watermark; before there is one, when the first night started.

    One in the future, which a wrong clock left behind, would say for years that all is well; then
    it is the last night that advanced.
    """
    watermark = float(state.get("watermark") or "inf")
    if watermark <= now:
        return watermark
    first, advanced = state.connection.execute(
        "select min(started), max(started) filter (where outcome = ?) from runs where started <= ?",
        [Outcome.ADVANCED, now],
    ).fetchone()
    found: float | None = first if advanced is None else advanced
    return found


def spent_since(state: State, at: float) -> Spent:
    """Return what was asked since an instant and what it used."""
    row = state.connection.execute(
        "select count(*), sum(input_tokens), sum(output_tokens), sum(cost) from requests"
        " where at >= ? and input_tokens > 0",
        [at],
    ).fetchone()
    return Spent(*(one or 0 for one in row))


def _shown(run: Run) -> dict[str, Any]:
    named = {name: run[name] for name in ("started", "outcome", "why", "exit_code")}
    return named | {"seconds": round(sum(run["seconds"].values()), 1)}
