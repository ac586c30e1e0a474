"""Quota windows: when a question may be put, by what a provider told."""

from __future__ import annotations

import pytest

from dreaming.quota import FARTHEST, UNTOLD, Quota, Wait, Window, joined, may_ask

NOW = 1_796_000_000.0
HOUR = 3600.0


def told(name: str, used: float, resets_at: float = NOW + HOUR, not_before: float = 0.0) -> Quota:
    """What an account is like after one answer."""
    quota = Quota(not_before=not_before)
    quota.hear([Window(name, used, resets_at)], NOW)
    return quota


@pytest.mark.parametrize(
    ("quota", "until"),
    [
        (Quota(), None),
        (told("five_hour", 0.5), None),
        (told("five_hour", 0.51), NOW + HOUR),
        (told("seven_day", 0.9, NOW + 100 * HOUR), NOW + 100 * HOUR),
        (told("five_hour", 1.0, NOW - 1), None),
        (told("five_hour", 1.0, 0.0), NOW + UNTOLD),
        (told("requests", 0.99), None),
        (told("input-tokens", 1.0), None),
        (told("five_hour", 0.9, NOW + FARTHEST + 1), None),
        (Quota(not_before=NOW + 2 * HOUR), NOW + 2 * HOUR),
        (Quota(not_before=NOW), None),
        (Quota(not_before=NOW + FARTHEST + 1), None),
        (told("five_hour", 0.9, not_before=NOW + 2 * HOUR), NOW + 2 * HOUR),
    ],
)
def test_asking_waits_for_what_is_used_beyond_the_share(quota: Quota, until: float | None) -> None:
    """A person's window stops at the share, an API's minute never, and an instant in the past or
    too far ahead stops nothing."""
    wait = may_ask(quota, NOW, 0.5)
    assert (None if wait is None else wait.until) == until


def test_the_window_in_the_way_is_named() -> None:
    """Whoever waits is told what for; a refusal names none."""
    window = Window("five_hour", 0.62, NOW + HOUR)
    assert may_ask(told("five_hour", 0.62), NOW, 0.5) == Wait(NOW + HOUR, window)
    quota = Quota()
    quota.refuse(0.0, NOW)
    assert may_ask(quota, NOW, 0.5) == Wait(NOW + UNTOLD)


def test_workspaces_that_share_an_account_know_what_each_was_told() -> None:
    """The newest word about a window wins, and the latest refusal."""
    old, new = told("five_hour", 0.2), Quota(not_before=NOW + 9)
    new.hear([Window("five_hour", 0.7, NOW + HOUR)], NOW + 5)
    for order in ([{"a": old}, {"a": new}], [{"a": new}, {"a": old}, {"b": Quota()}]):
        found = joined(order)["a"]
        assert (found.windows["five_hour"].used, found.not_before) == (0.7, NOW + 9)
