"""A night with a model on this machine, and the seconds after a night that cannot be."""

import json
import re
from pathlib import Path

import pytest

from tests.acceptance.installed import Dreaming
from tests.backends.loopback import NOTHING, WORD, MessagesApi, chat_failure, chatted
from tests.jobs.world import GOTCHAS, session


@pytest.fixture
def person(home: Path) -> Dreaming:
    """Two sessions that share a gotcha."""
    for name in ("alpha", "beta"):
        session(home / "sessions", name, ["watch"])
    made = Dreaming(home)
    assert made.run("init").code == 0
    return made


def _night(person: Dreaming, url: str, more: str = 'model = "tiny"') -> tuple[int, str]:
    folder = person.home / "xdg_config_home" / "dreaming"
    folder.mkdir(parents=True, exist_ok=True)
    (folder / "config.toml").write_text(f'[openai]\nbase_url = "{url}/v1"\n{more}\n')
    ran = person.run(
        *("nightly", "--backend", "openai", "--transcripts", f"jsonl={person.home / 'sessions'}"),
        *("--since", "all", "--settle", "0", "--json"),
    )
    return ran.code, ran.said if ran.code else ran.out


def test_every_wrong_setting_is_a_sentence_and_then_a_night_finds_all(
    person: Dreaming, monkeypatch: pytest.MonkeyPatch
) -> None:
    """No model named, no server, an unknown model, no key: the code, the remedy, nothing lost."""
    monkeypatch.setenv("OPENAI_API_KEY", "made-up")
    with MessagesApi(chatted(NOTHING)) as api:
        code, told = _night(person, api.url, more="")
        assert (code, "ollama list" in told, api.seen) == (78, True, [])
        api.script(chat_failure(404, 'model "tiny" not found, try pulling it first'))
        code, told = _night(person, api.url)
        assert (code, "not found" in told, "ollama list" in told) == (69, True, True)
        api.script(chat_failure(401, "Incorrect API key provided: made-up"))
        code, told = _night(person, api.url, more='model = "tiny"\nkey = true')
        assert (code, "OPENAI_API_KEY" in told, "made-up" in told) == (69, True, False)
        assert api.seen[0].headers["authorization"] == "Bearer made-up"
        prompt = json.dumps(api.seen[0].body)
        url = api.url
    code, told = _night(person, url)
    assert (code, "reached" in told, "ollama serve" in told) == (69, True, True)
    ids = dict.fromkeys(re.findall(r"<session ([0-9a-f]{16})", prompt))
    numbers = list(dict.fromkeys(re.findall(r"\b(e\d+)\b", prompt.split("<session", 1)[1])))
    finding = {
        "slug": "tests-in-watch-mode",
        "topic": "testing",
        "symptom": "The test command stays in watch mode and never ends.",
        "rule": f"Run `{GOTCHAS['watch'][2]}` instead of `{GOTCHAS['watch'][0]}`.",
        "evidence": numbers,
    }
    findings = [{"session_id": one, **finding} for one in ids]
    with MessagesApi(chatted(json.dumps({"read": WORD, "findings": findings}))) as api:
        code, told = _night(person, api.url)
        assert code == 0, told
        (seen,) = api.seen
    assert "tools" not in seen.body
    assert "authorization" not in seen.headers
    (candidate,) = [one for one in person.revealed() if one["slug"] == "tests-in-watch-mode"]
    assert sorted(candidate["session_ids"]) == ["alpha", "beta"]
