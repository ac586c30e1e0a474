"""The backend without a model."""

from __future__ import annotations

import json

from dreaming.backends.offline import Offline
from dreaming.packets import Packet
from dreaming.tasks.interface import Request
from tests.rules.session_samples import history, kept


def request() -> Request:
    """A request about two invented sessions."""
    packets = []
    number = 0
    for talk in history()[:2]:
        numbered = []
        for one in kept(talk):
            number += 1
            numbered.append((f"e{number}", one))
        packets.append(Packet(numbered[0][1].session_id, tuple(numbered)))
    return Request(packets=tuple(packets), system="", prompt="", hash="0" * 64)


def test_answer_has_the_form_of_every_backend() -> None:
    """Each finding names its session, and excerpts of that session only."""
    asked = request()
    numbers = {p.session_id: {number for number, _ in p.excerpts} for p in asked.packets}
    found = json.loads(Offline().ask(asked).text)
    assert found
    for one in found:
        assert set(one) == {"session_id", "slug", "topic", "symptom", "rule", "evidence"}
        assert set(one["evidence"]) <= numbers[one["session_id"]]


def test_same_question_same_answer() -> None:
    """It is free and the same each time, so raw answers need not be kept."""
    assert Offline().ask(request()) == Offline().ask(request())
    assert (Offline.free, Offline.leaves_the_machine) == (True, False)


def test_nothing_asked_nothing_said() -> None:
    """No packets give an empty list."""
    empty = Request(packets=(), system="", prompt="", hash="0" * 64)
    assert json.loads(Offline().ask(empty).text) == []
