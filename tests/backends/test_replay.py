"""The replay backend: a recording answers wherever its words stand, under any key."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from dreaming.backends.interface import Answer, QuotaReached, Request, TransientFailure
from dreaming.backends.replay import Recorded, Replay
from dreaming.errors import Unusable
from dreaming.models.finding import Excerpt, KeptExcerpt, SignalKind
from dreaming.packets import number
from dreaming.tasks import mining

LOCKED = Recorded(
    slug="stale-lock-file",
    topic="build",
    symptom="The build waits for ever on a lock that a killed run left behind.",
    rule="Remove the stale lock before building again.",
    quotes=("waiting for build.lock", "somebody holds build.lock"),
)


def kept(session: str, line: int, error: str) -> KeptExcerpt:
    """Return an excerpt of an invented session."""
    excerpt = Excerpt(SignalKind.ERROR_FIX, line, "r", 0.0, "", error=error)
    identity = f"{session[:8]}{line:08x}"
    return KeptExcerpt(identity, session, session, "codex", session, "", False, excerpt)


def question(one: str = "1" * 16, two: str = "2" * 16) -> Request:
    """Return a question about two sessions that met the lock and one other excerpt."""
    excerpts = [
        kept(one, 3, "waiting  for\nbuild.lock (pid 411)"),
        kept(two, 5, "error: somebody holds build.lock"),
        kept(two, 8, "error: no such file"),
    ]
    [packets] = number(excerpts, 10_000)
    return mining.request(packets, [], prompt="Read.", identity="replay:x")


def test_a_recording_survives_a_change_of_keys() -> None:
    """Sessions and numbers are found by the words, so new keys give the same lesson."""
    for keys in (("1" * 16, "2" * 16), ("f" * 16, "0" * 16)):
        asked = question(*keys)
        findings, complaints = mining.read(Replay([LOCKED]).ask(asked).text, asked)
        assert not complaints
        assert sorted(finding.session_id for finding in findings) == sorted(keys)
        assert {finding.rule for finding in findings} == {LOCKED.rule}
        assert [len(finding.evidence) for finding in findings] == [1, 1]


def test_what_was_not_met_is_not_answered() -> None:
    """A recorded finding whose words stand nowhere in the request is left out."""
    elsewhere = Recorded("x", "y", "z", "w", ("words of another night",))
    assert json.loads(Replay([elsewhere]).ask(question()).text) == []


def test_an_answer_costs_nothing_and_is_always_the_same() -> None:
    """Free, at home, and without chance."""
    replay = Replay([LOCKED])
    assert replay.free
    assert not replay.leaves_the_machine
    assert replay.ask(question()) == replay.ask(question())
    assert replay.ask(question()).usage.cost == 0
    assert len(replay.asked) == 3


def test_another_recording_is_another_identity() -> None:
    """The identity is part of a question's hash, so an old answer is not taken for a new one."""
    identities = {Replay([LOCKED]).identity, Replay().identity, Replay(texts=["[]"]).identity}
    assert len(identities) == 3
    assert Replay([LOCKED]).identity in identities


def test_texts_are_answered_in_turn_as_they_are() -> None:
    """A script of raw texts, whole answers and failures; then nobody answers any more."""
    cut = Answer(text='{"findings": [', complete=False)
    replay = Replay(texts=["prose", cut, QuotaReached(not_before=5.0)])
    assert replay.ask(question()).text == "prose"
    assert replay.ask(question()) is cut
    with pytest.raises(QuotaReached):
        replay.ask(question())
    with pytest.raises(TransientFailure):
        replay.ask(question())


def test_a_folder_of_recordings_is_read_by_name(tmp_path: Path) -> None:
    """All ``.json`` files of a folder together are one recording; a single file is one too."""
    entry = {
        "slug": LOCKED.slug,
        "topic": LOCKED.topic,
        "symptom": LOCKED.symptom,
        "rule": LOCKED.rule,
        "quotes": list(LOCKED.quotes),
    }
    (tmp_path / "b.json").write_text(json.dumps([entry]), encoding="utf-8")
    (tmp_path / "a.json").write_text("[]", encoding="utf-8")
    (tmp_path / "README.md").write_text("not a recording", encoding="utf-8")
    for place in (tmp_path, tmp_path / "b.json"):
        assert Replay(place).ask(question()) == Replay([LOCKED]).ask(question())


@pytest.mark.parametrize(
    "text",
    [
        "",
        "{",
        "{}",
        '[{"slug": "x"}]',
        '[{"slug": "x", "topic": "y", "symptom": "z", "rule": "w", "quotes": []}]',
        '[{"slug": "x", "topic": "y", "symptom": "z", "rule": "w", "quotes": [" "]}]',
        '[{"slug": "x", "topic": "y", "symptom": "z", "rule": "w", "quotes": ["q"], "id": 1}]',
    ],
)
def test_a_broken_recording_is_named(tmp_path: Path, text: str) -> None:
    """Its file stands in the sentence; nothing of it is used."""
    (tmp_path / "broken.json").write_text(text, encoding="utf-8")
    with pytest.raises(Unusable, match=r"broken\.json"):
        Replay(tmp_path)


@pytest.mark.parametrize("missing", ["", "nowhere"])
def test_no_recording_is_an_error(tmp_path: Path, missing: str) -> None:
    """An empty folder is no recording that says nothing."""
    with pytest.raises(Unusable):
        Replay(tmp_path / missing)
