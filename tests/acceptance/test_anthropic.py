"""A night with a model behind the Messages API, on loopback: asked once, believed by evidence."""

import json
import re
from pathlib import Path

import pytest

from tests.acceptance.installed import Dreaming
from tests.backends.loopback import NOTHING, WORD, MessagesApi, failure, said
from tests.jobs.world import GOTCHAS, session


@pytest.fixture
def person(home: Path, monkeypatch: pytest.MonkeyPatch) -> Dreaming:
    """Two sessions that share a gotcha, and a made-up key in the environment."""
    for name in ("alpha", "beta"):
        session(home / "sessions", name, ["watch"])
    monkeypatch.setenv("ANTHROPIC_API_KEY", "made-up")
    made = Dreaming(home)
    assert made.run("init").code == 0
    return made


def _night(person: Dreaming, api: MessagesApi) -> tuple[int, str]:
    folder = person.home / "xdg_config_home" / "dreaming"
    folder.mkdir(parents=True, exist_ok=True)
    (folder / "config.toml").write_text(
        f'backend = "anthropic"\n[anthropic]\nbase_url = "{api.url}"\n'
    )
    ran = person.run(
        *("nightly", "--transcripts", f"jsonl={person.home / 'sessions'}"),
        *("--since", "all", "--settle", "0", "--json"),
    )
    return ran.code, ran.said if ran.code else ran.out


def _finding(session_id: str, number: str) -> dict[str, object]:
    return {
        "session_id": session_id,
        "slug": "tests-in-watch-mode",
        "topic": "testing",
        "symptom": "The test command stays in watch mode and never ends.",
        "rule": f"Run `{GOTCHAS['watch'][2]}` instead of `{GOTCHAS['watch'][0]}`.",
        "evidence": [number, "e99"],
    }


def test_a_model_is_asked_once_and_its_evidence_is_checked(person: Dreaming) -> None:
    """No tools go out, the raw answer is kept first, and nothing is paid for twice."""
    with MessagesApi(failure(401, "authentication_error")) as api:
        code, told = _night(person, api)
        assert code == 69
        assert "key" in told
        prompt = json.dumps(api.seen[0].body)
    ids = dict.fromkeys(re.findall(r"<session ([0-9a-f]{16})", prompt))
    numbers = dict.fromkeys(re.findall(r"\b(e\d+)\b", prompt.split("<session", 1)[1]))
    findings = [_finding(one, number) for one in ids for number in numbers]
    with MessagesApi(said(json.dumps({"read": WORD, "findings": findings}))) as api:
        code, told = _night(person, api)
        assert code == 0, told
        report = json.loads(told)
        code, _ = _night(person, api)
        assert code == 0
        (seen,) = api.seen
    assert "tools" not in seen.body
    assert "/srv/tide" not in json.dumps(seen.body)
    assert "alpha" not in json.dumps(seen.body)
    assert report["spent"]["requests"] == 1
    assert report["spent"]["cost"] > 0
    assert report["complaints"]["an excerpt number that is not this session's"] > 0
    (candidate,) = [one for one in person.revealed() if one["slug"] == "tests-in-watch-mode"]
    assert sorted(candidate["session_ids"]) == ["alpha", "beta"]
    (kept,) = (person.state / "answers").glob("*.json")
    assert json.loads(json.loads(kept.read_text())["text"])["findings"] == findings


def test_a_wrong_model_or_no_network_is_a_sentence(person: Dreaming) -> None:
    """The exit code is the documented one, the remedy is said, and nothing is lost."""
    with MessagesApi(failure(404, "not_found_error", "model: nope")) as api:
        assert _night(person, api)[0] == 69
    code, told = _night(person, api)
    assert (code, "reached" in told) == (69, True)
    with MessagesApi(failure(429, "rate_limit_error", headers={"retry-after": "7200"})) as api:
        assert _night(person, api)[0] == 75


def test_without_a_key_nothing_is_asked(person: Dreaming, monkeypatch: pytest.MonkeyPatch) -> None:
    """A named backend without a key ends at once, before anything is read."""
    monkeypatch.delenv("ANTHROPIC_API_KEY")
    with MessagesApi(said(NOTHING)) as api:
        code, told = _night(person, api)
        assert api.seen == []
    assert (code, "ANTHROPIC_API_KEY" in told) == (69, True)
