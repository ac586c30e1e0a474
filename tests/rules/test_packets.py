"""What a backend reads: everything once, best first, within the budget, and plainly as data."""

from __future__ import annotations

import random
from typing import Any, Final

import msgspec
from hypothesis import given
from hypothesis import strategies as st

from dreaming.models.finding import Excerpt, KeptExcerpt, SignalKind
from dreaming.models.session import Tool
from dreaming.packets import (
    Packet,
    best,
    estimate_tokens,
    number,
    render,
)

BUDGET: Final = 300


def kept(
    session: int, line: int, *, strength: float = 1.0, wrong: str = "make build", **parts: Any
) -> KeptExcerpt:
    """Return an excerpt of an invented session."""
    excerpt = Excerpt(
        kind=SignalKind.ERROR_FIX,
        line=line,
        record=f"r{session}-{line}",
        at=0.0,
        folder="",
        tool=Tool.SHELL,
        wrong=wrong,
        strength=strength,
        **parts,
    )
    return KeptExcerpt(
        id=f"{session:08x}{line:08x}",
        session_id=f"{session:016x}",
        root=f"{session:016x}",
        agent="claude-code",
        native_id=f"native-{session}",
        project="",
        headless=False,
        excerpt=excerpt,
    )


histories = st.lists(
    st.tuples(
        st.integers(0, 8),
        st.integers(1, 40),
        st.sampled_from([0.5, 1.0, 1.5, 3.0]),
        st.integers(0, 700),
    ),
    max_size=40,
    unique_by=lambda row: row[:2],
).map(lambda rows: [kept(s, n, strength=x, wrong="w" * long) for s, n, x, long in rows])


def ids(requests: list[tuple[Packet, ...]]) -> list[list[str]]:
    """Return the ids of the excerpts of each request, in order."""
    return [[e.id for packet in request for _, e in packet.excerpts] for request in requests]


@given(histories)
def test_every_excerpt_is_asked_about_once(history: list[KeptExcerpt]) -> None:
    """Nothing is left out and nothing is asked twice."""
    asked = [identity for request in ids(number(history, BUDGET)) for identity in request]
    assert sorted(asked) == sorted(e.id for e in history)


@given(histories, st.randoms(use_true_random=False))
def test_the_order_of_arrival_changes_nothing(
    history: list[KeptExcerpt], chance: random.Random
) -> None:
    """The same excerpts make the same requests, whichever file was read first."""
    shuffled = list(history)
    chance.shuffle(shuffled)
    assert number(shuffled, BUDGET) == number(history, BUDGET)


@given(histories)
def test_a_request_keeps_to_its_budget(history: list[KeptExcerpt]) -> None:
    """Only a single excerpt that is too big alone may go over it."""
    for request in number(history, BUDGET):
        excerpts = sum(len(packet.excerpts) for packet in request)
        assert excerpts == 1 or estimate_tokens([render(request)]) <= BUDGET


@given(histories)
def test_a_session_is_split_only_when_it_is_too_big_alone(history: list[KeptExcerpt]) -> None:
    """A session stands in one request; a big one is cut into requests of its own."""
    requests = number(history, BUDGET)
    for session in {e.session_id for e in history}:
        holding = [r for r in requests if any(p.session_id == session for p in r)]
        whole = number([e for e in history if e.session_id == session], 10**9)[0]
        if len(holding) > 1:
            assert all(len(request) == 1 for request in holding)
            assert estimate_tokens([render(whole)]) > BUDGET - 20


@given(histories, st.data())
def test_what_is_settled_leaves_the_other_questions_as_they_were(
    history: list[KeptExcerpt], data: st.DataObject
) -> None:
    """A night that was cut short asks the same questions again, so no answer is paid twice."""
    requests = number(history, BUDGET)
    whole = [r for r in requests if all(_in_one(requests, p.session_id) for p in r)]
    settled = data.draw(st.lists(st.sampled_from(whole), unique_by=id) if whole else st.just([]))
    gone = {packet.session_id for request in settled for packet in request}
    rest = number([e for e in history if e.session_id not in gone], BUDGET)
    assert rest == [request for request in requests if not any(request is s for s in settled)]


def test_a_small_session_joins_the_first_request_with_room() -> None:
    """So that a settled request in between does not shift what the others ask."""
    history = [
        kept(1, 1, strength=3.0, wrong="w" * 500),
        kept(2, 1, strength=2.0, wrong="w" * 800),
        kept(3, 1, strength=1.0, wrong="w" * 200),
    ]
    assert ids(number(history, BUDGET)) == [[history[0].id, history[2].id], [history[1].id]]


def test_another_key_asks_in_the_same_order() -> None:
    """Ties are broken by what the agent wrote, not by ids that differ between workspaces."""
    history = [kept(session, line) for session in (3, 1, 2) for line in (7, 4)]
    rekeyed = [
        msgspec.structs.replace(e, id=e.id[::-1], session_id=f"{99 - int(e.session_id, 16):016x}")
        for e in history
    ]
    assert [
        [(e.native_id, e.excerpt.line) for p in request for _, e in p.excerpts]
        for request in number(rekeyed, 10_000)
    ] == [[(f"native-{session}", line) for session in (1, 2, 3) for line in (4, 7)]]


def _in_one(requests: list[tuple[Packet, ...]], session: str) -> bool:
    return sum(any(p.session_id == session for p in request) for request in requests) == 1


@given(histories)
def test_numbers_count_up_from_one_in_each_request(history: list[KeptExcerpt]) -> None:
    """``e1`` is the first excerpt of every request and no number stands twice in one."""
    for request in number(history, BUDGET):
        labels = [label for packet in request for label, _ in packet.excerpts]
        assert labels == [f"e{place}" for place in range(1, len(labels) + 1)]


@given(histories, st.integers(0, 2000))
def test_the_best_excerpts_stay_within_the_budget(history: list[KeptExcerpt], room: int) -> None:
    """Whatever order they come in, the same ones are chosen, and never more than fit."""
    chosen = best(history, room)
    assert best(history[::-1], room) == chosen
    assert sum(estimate_tokens([render([Packet("s", (("e1", one),))])]) for one in chosen) <= (
        room + 30 * len(chosen)
    )
    assert len(best(history, 10**7)) == len(history)


def test_the_best_are_strong_and_of_many_sessions() -> None:
    """Of two sessions with equal evidence both are shown, the strongest of each first."""
    every = [kept(s, n, strength=n / 10, wrong="w" * 100) for s in (1, 2) for n in range(1, 21)]
    some = best(every, 600)
    assert {one.session_id for one in some} == {one.session_id for one in every}
    for session in {one.session_id for one in some}:
        lines = [one.excerpt.line for one in some if one.session_id == session]
        assert min(lines) > 10


def test_a_name_shown_once_is_enough() -> None:
    """The same linter rule ten times in one session leaves room for other things."""
    same = [kept(1, line, wrong="x" * 100, names=("lint-a",)) for line in range(1, 11)]
    other = kept(1, 99, wrong="y" * 100, names=("lint-b",))
    assert other in best([*same, other], 150)
