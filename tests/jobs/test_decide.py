"""A person's decisions: idempotent, and whole after a crash at any write."""

import re
from collections.abc import Callable
from pathlib import Path

import pytest

from dreaming.errors import AlreadyKnown, Refused, Unusable, WrongUse
from dreaming.jobs import decide
from dreaming.models.decision import Action, Phase
from dreaming.stores import knowledge_writer
from dreaming.stores.ledger import Ledger
from dreaming.stores.pending import Pending

from .world import HOUR, World, session


@pytest.fixture
def world(tmp_path: Path) -> World:
    """Two candidates wait."""
    made = World(tmp_path)
    session(made.sessions, "alpha", ["watch", "push"])
    session(made.sessions, "beta", ["watch", "push"])
    made.night()
    return made


def _id(world: World, slug: str = "watch-gotcha") -> str:
    return str(world.waiting()[slug].id)


def _accept(world: World, wanted: str, **more: object) -> decide.Written:
    with world.desk() as desk:
        return decide.accept(desk, wanted, **more)  # type: ignore[arg-type]


def _lines(world: World, topic: str = "tools") -> list[str]:
    return (world.place.knowledge_base / f"{topic}.md").read_text().splitlines()


def test_accepting_writes_one_line_and_two_steps(world: World) -> None:
    """The line is in the grammar; intent and done are in the ledger; the queue is one shorter."""
    written = _accept(world, _id(world))
    assert _lines(world)[2:] == [written.line]
    assert re.fullmatch(
        r"- \[2026-\d\d-\d\d\] SYMPTOM: .* RULE: .* <!-- dreaming:[0-9a-f]{8} -->", written.line
    )
    steps = Ledger(world.place.ledger, "reader").decisions()
    assert [one.phase for one in steps] == [Phase.INTENT, Phase.DONE]
    assert steps[0].text == written.line
    assert steps[1].after == steps[0].after != steps[0].before
    assert set(world.waiting()) == {"push-gotcha"}


def test_what_was_decided_is_not_proposed_again(world: World) -> None:
    """Accepted or rejected, it stays away, also when more evidence comes."""
    _accept(world, _id(world))
    with world.desk() as desk:
        decide.reject(desk, _id(world, "push-gotcha"), "fixed")
    session(world.sessions, "gamma", ["watch", "push"], modified=world.now)
    world.now += 24 * HOUR
    report = world.night()
    assert world.waiting() == {}
    assert report.queue.decided == 2


def test_the_beginning_of_an_id_is_enough_where_it_is_one(world: World) -> None:
    """Eight characters do; none and one that fits nobody are said."""
    written = _accept(world, _id(world)[:8])
    assert written.candidate and written.candidate.slug == "watch-gotcha"
    for wrong in ("", "0", "zzzzzzzz", "f" * 16):
        with pytest.raises(WrongUse):
            _accept(world, wrong)


def test_deciding_twice_decides_once(world: World) -> None:
    """The second time is told when the first was; nothing is written."""
    wanted = _id(world)
    _accept(world, wanted)
    before = world.snapshot("knowledge_base"), world.snapshot("ledger")
    with pytest.raises(AlreadyKnown, match="accept"):
        _accept(world, wanted)
    with world.desk() as desk, pytest.raises(AlreadyKnown):
        decide.reject(desk, wanted, "no")
    assert (world.snapshot("knowledge_base"), world.snapshot("ledger")) == before


def test_a_dry_run_writes_nothing(world: World) -> None:
    """The line is shown; every folder stays as it is."""
    before = [world.snapshot(name) for name in ("knowledge_base", "ledger", "pending")]
    assert _accept(world, _id(world), dry_run=True).line
    assert [world.snapshot(name) for name in ("knowledge_base", "ledger", "pending")] == before


@pytest.mark.parametrize(
    "form", ["- {rule}", "{rule}", "* {rule!u}", "- [2026-01-01] SYMPTOM: x RULE: {rule}"]
)
def test_a_lesson_that_is_there_is_not_written_again(world: World, form: str) -> None:
    """Ours or hand-written, in other case and punctuation: exit 3, with file and line."""
    candidate = world.waiting()["watch-gotcha"]
    rule = candidate.rule.upper() if "!u" in form else candidate.rule
    text = form.replace("{rule!u}", "{rule}").format(rule=rule)
    (world.place.knowledge_base / "notes.md").write_text(f"# notes\n\n{text}\n")
    with pytest.raises(AlreadyKnown, match=r"notes\.md:3") as told:
        _accept(world, candidate.id)
    assert told.value.EXIT_CODE == 3
    assert world.snapshot("ledger") == {}


def test_text_that_would_break_a_promise_is_refused(world: World) -> None:
    """A candidate file that somebody edited cannot put hidden text into the knowledge base."""
    candidate = world.waiting()["watch-gotcha"].model_copy(update={"rule": "a\u202eb"})
    Pending(world.place.pending).put(candidate)
    with pytest.raises(Refused, match=r"U\+202E"):
        _accept(world, candidate.id)
    assert world.snapshot("ledger") == {}


def test_a_topic_that_is_none_is_refused(world: World) -> None:
    """Nothing is written outside the knowledge base, and no intent is left."""
    with pytest.raises(Refused):
        _accept(world, _id(world), topic="../../x")
    assert world.snapshot("ledger") == {}


class _Crash(BaseException):
    """The machine goes down."""


def _dies(place: int) -> Callable[[], None]:
    """A counter that goes down at its ``place``-th call."""
    left = [place]

    def step() -> None:
        left[0] -= 1
        if left[0] == 0:
            raise _Crash

    return step


@pytest.mark.parametrize("place", range(1, 7))
@pytest.mark.parametrize("before", [True, False])
def test_a_crash_at_any_write_is_mended_by_the_next_decision(
    world: World, monkeypatch: pytest.MonkeyPatch, place: int, before: bool
) -> None:
    """Wherever it stops, the next decision leaves ledger, knowledge base and queue in agreement."""
    wanted = _id(world)
    step = _dies(place)
    for module, name in ((Ledger, "append"), (knowledge_writer, "write"), (Pending, "remove")):
        real = getattr(module, name)

        def tried(*args: object, real: object = real, **more: object) -> object:
            if before:
                step()
            result = real(*args, **more)  # type: ignore[operator]
            if not before:
                step()
            return result

        monkeypatch.setattr(module, name, tried)
    try:
        _accept(world, wanted)
        finished = True
    except _Crash:
        finished = False
    monkeypatch.undo()
    with world.desk() as desk:
        decide.reject(desk, _id(world, "push-gotcha"), "wrong")
    steps = Ledger(world.place.ledger, "reader").decisions()
    accepted = [one for one in steps if one.action is Action.ACCEPT]
    path = world.place.knowledge_base / "tools.md"
    written = path.read_text().count("<!-- dreaming:") if path.exists() else 0
    assert [one.phase for one in accepted] in ([], [Phase.INTENT, Phase.DONE])
    assert written == len(accepted) // 2
    assert finished <= bool(written)
    world.night()
    assert ("watch-gotcha" in world.waiting()) == (written == 0)


def test_agents_do_not_decide() -> None:
    """Inside an agent a decision is refused, with the way a person goes on."""
    with pytest.raises(Refused) as told:
        decide.refuse_agents({"CLAUDECODE": "1"})
    assert "--i-am-a-person" in told.value.remedy
    decide.refuse_agents({"PATH": "/bin"})


def test_a_ledger_with_lines_missing_stops_decisions(world: World) -> None:
    """A cut tail leaves a good chain; the head kept in the state tells."""
    _accept(world, _id(world))
    path = next(world.place.ledger.glob("*.jsonl"))
    path.write_bytes(path.read_bytes().splitlines(keepends=True)[0])
    with pytest.raises(Unusable, match=r"\.jsonl:2: 1 of 2 lines are gone"):
        _accept(world, _id(world, "push-gotcha"))


@pytest.mark.parametrize("text", ["look in /home/robinfield/keys", "ask robin.field@tidepool.dev"])
def test_what_people_commit_names_nobody(world: World, text: str) -> None:
    """A home folder or an address gets into no lesson and no reason, whoever writes it."""
    with world.desk() as desk:
        with pytest.raises(Refused, match="names a person"):
            decide.accept_own(desk, "tools", "It is hidden.", f"First {text}.")
        with pytest.raises(Refused, match="names a person"):
            decide.reject(desk, _id(world), text)
    assert world.snapshot("ledger") == {}
