"""Findings that different nights worded differently become one candidate, for one question."""

from __future__ import annotations

import hashlib
import json
from pathlib import Path

import pytest

from dreaming.backends.interface import Answer, TransientFailure, Usage
from dreaming.backends.replay import Recorded, Replay
from dreaming.models.report import Outcome
from dreaming.stores.state import opened
from dreaming.tasks.interface import Request

from .world import HOUR, KEY, NIGHT, World, session, touch


class Model(Replay):
    """Words one gotcha as it likes, and says of findings what it is told to."""

    free = False
    identity = "replay:model"

    def __init__(self, word: str, same: str = '{"same": [["f1", "f2"]]}') -> None:
        super().__init__(
            [
                Recorded(
                    slug=f"{word}-limit",
                    topic=word,
                    symptom=f"The {word} gives out.",
                    rule=f"Try the {word} differently.",
                    quotes=("overlayfs diskquota exhausted",),
                )
            ]
        )
        self._same = same

    def ask(self, request: Request) -> Answer:
        """Answer about excerpts what is recorded, about findings what was given."""
        answer = super().ask(request)
        return answer if request.packets else Answer(self._same, Usage(100, 10, 0.001))


@pytest.fixture
def world(tmp_path: Path) -> World:
    """Two sessions with one gotcha, two nights apart, worded by a model in two ways."""
    found = World(tmp_path)
    session(found.sessions, "alpha", ["disk"])
    found.backend = Model("disk")
    found.night()
    session(found.sessions, "beta", ["disk"], at=NIGHT + 10 * HOUR, modified=NIGHT + 11 * HOUR)
    found.now += 24 * HOUR
    return found


def findings(world: World) -> set[tuple[str, str]]:
    """Return (session, slug) of every finding."""
    with opened(world.place.database, key=KEY) as state:
        return set(state.connection.execute("select session_id, slug from findings"))


def test_two_wordings_of_two_nights_become_one(world: World) -> None:
    """The words are those of one of the two, the sessions those of both."""
    world.backend = model = Model("image")
    report = world.night()
    assert len([one for one in model.asked if not one.packets]) == 1
    assert report.outcome is Outcome.ADVANCED
    slugs = {slug for _, slug in findings(world)}
    assert slugs == {"disk-limit", "image-limit"}
    both = [slug for slug in slugs if sum(one == slug for _, one in findings(world)) == 2]
    (candidate,) = world.waiting().values()
    assert candidate.sessions == 2
    assert [candidate.slug] == both


def test_nothing_new_is_not_asked_again(world: World) -> None:
    """Once a pair was looked at, only a new finding brings it up."""
    world.backend = Model("image", '{"same": []}')
    world.night()
    world.now += 24 * HOUR
    world.backend = model = Model("image")
    world.night()
    assert model.asked == []


def test_without_an_answer_they_stay_apart_and_the_watermark_moves(world: World) -> None:
    """The second look is extra: what was read is settled."""

    class Fails(Model):
        def ask(self, request: Request) -> Answer:
            if not request.packets:
                raise TransientFailure("No answer came.")
            return super().ask(request)

    world.backend = Fails("image")
    report = world.night()
    assert report.outcome is Outcome.ADVANCED
    assert report.exit_code == 1
    assert report.failures == ["No answer came."]


def test_an_unreadable_answer_is_kept_and_asked_for_twice_at_most(world: World) -> None:
    """Prose joins nothing, is kept whole, and does not cost money for ever."""
    for _ in range(4):
        world.backend = Model("image", "They look alike to me.")
        world.night()
        world.now += 24 * HOUR
    kept = [json.loads(path.read_text())["text"] for path in world.place.answers.glob("*.json")]
    assert kept.count("They look alike to me.") == 2


def test_a_refused_session_takes_its_words_along(world: World) -> None:
    """The answer about its findings is withdrawn too, and what it joined."""
    world.backend = Model("image")
    world.night()
    body = hashlib.sha256(b"invented").hexdigest()[:16].upper()
    secret = "AKIA" + body.translate(str.maketrans("0189", "2345"))
    path = world.sessions / "beta.jsonl"
    line = {"kind": "user", "speaker": "human", "text": f"my key is {secret}", "at": NIGHT}
    with path.open("a", encoding="utf-8") as file:
        file.write(json.dumps(line) + "\n")
    touch(path, world.now)
    world.now += 24 * HOUR
    report = world.night()
    assert report.withdrawn.answers >= 2
    assert len({id_ for id_, _ in findings(world)}) == 1
    assert world.waiting() == {}
