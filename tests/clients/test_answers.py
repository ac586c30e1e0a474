"""The real programs, asked as a night asks: answers, refusals, and whom they talk to."""

from __future__ import annotations

import base64
import json
import re
import shutil
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any
from urllib.parse import urlsplit

import pytest

from dreaming.backends import child, claude_code
from dreaming.backends.claude_code import ClaudeCode
from dreaming.backends.codex_cli import Codex
from dreaming.backends.interface import (
    AnswerRefused,
    BudgetReached,
    LetInRefused,
    NotReadOnly,
    QuotaReached,
    TooBig,
    TransientFailure,
    Unanswered,
    Unreachable,
)
from dreaming.errors import DreamingError
from tests.backends.loopback import (
    MessagesApi,
    Step,
    block,
    end,
    event,
    failure,
    said,
    start,
    stream,
)
from tests.backends.programs import program, question
from tests.clients.loopback import ResponsesApi, call, message, refused, responded

FOUND = '{"findings": ["a"]}'


def used(tool: str, given: object, **usage: int) -> Step:
    """Return an answer that calls a tool."""
    opened = block("tool_use", id="toolu_1", name=tool, input={})
    delta = {"type": "input_json_delta", "partial_json": json.dumps(given)}
    given_now = event("content_block_delta", index=0, delta=delta)
    return stream(start(**usage), opened, given_now, end("tool_use"))


FORMED = used("StructuredOutput", json.loads(FOUND))


def window(seconds: float) -> dict[str, str]:
    """Return the headers of a plan's window that is used up."""
    at = str(int(time.time() + seconds))
    family = "anthropic-ratelimit-unified"
    return {
        f"{family}-status": "rejected",
        f"{family}-reset": at,
        f"{family}-representative-claim": "five_hour",
        f"{family}-5h-status": "rejected",
        f"{family}-5h-reset": at,
        f"{family}-5h-utilization": "1.0",
    }


@pytest.fixture(autouse=True)
def _impatient(monkeypatch: pytest.MonkeyPatch) -> None:
    once = {"CLAUDE_CODE_MAX_RETRIES": "0"}
    monkeypatch.setattr(claude_code, "QUIET", {**claude_code.QUIET, **once})


@pytest.fixture
def token(tmp_path: Path) -> Path:
    """A login."""
    file = tmp_path / "token"
    file.write_text("sk-ant-oat01-invented")
    return file


def outcome(backend: Any) -> Any:
    """Return the answer or the error."""
    try:
        return backend.ask(question())
    except DreamingError as error:
        return error


@pytest.mark.parametrize("by", ["login", "api"])
def test_claude_code_answers_in_the_form(claude: str, token: Path, by: str) -> None:
    """With the token of a plan and with a key: one request, no tool but the form, our words."""
    with MessagesApi(FORMED, said("done")) as api:
        key = "sk-no" if by == "api" else ""
        answer = outcome(ClaudeCode(claude, token_file=token, api_key=key, base_url=api.url))
    assert json.loads(answer.text) == json.loads(FOUND)
    assert answer.usage.input_tokens == 10
    (asked,) = api.seen
    assert {one["name"] for one in asked.body["tools"]} <= {
        "StructuredOutput",
        "DeferredToolPlaceholder",
    }
    assert "You answer." in json.dumps(asked.body["system"])
    assert "mining task" in json.dumps(asked.body["messages"])
    assert ("x-api-key" in asked.headers) == (by == "api")


@pytest.mark.parametrize(
    ("steps", "kind"),
    [
        ((failure(401, "authentication_error"),), LetInRefused),
        ((failure(404, "not_found_error", "model: nope"),), LetInRefused),
        ((failure(400, "invalid_request_error", "prompt is too long: 9 > 1"),), TooBig),
        ((failure(400, "invalid_request_error", "Your credit balance is too low"),), LetInRefused),
        ((failure(429, "rate_limit_error", headers={"retry-after": "7200"}),), TransientFailure),
        ((failure(529, "overloaded_error"),), TransientFailure),
        ((said("", stop_reason="refusal"),), AnswerRefused),
        ((used("StructuredOutput", {"nope": 1}),), Unanswered),
        ((used("Bash", {"command": "true"}), FORMED), NotReadOnly),
        ((used("StructuredOutput", json.loads(FOUND), input_tokens=20_000_000),), BudgetReached),
    ],
)
def test_claude_code_fails_by_class(claude: str, token: Path, steps: Any, kind: Any) -> None:
    """Each as the program itself reports it."""
    with MessagesApi(*steps) as api:
        told = outcome(ClaudeCode(claude, token_file=token, base_url=api.url, money=0.5))
    assert type(told) is kind, told
    if kind is BudgetReached:
        assert json.loads(told.partial.text) == json.loads(FOUND)


def test_claude_code_says_when_a_window_opens_again(claude: str, token: Path) -> None:
    """With how far it is used."""
    used_up = failure(429, "rate_limit_error", headers={"retry-after": "7200", **window(7200)})
    with MessagesApi(used_up) as api:
        told = outcome(ClaudeCode(claude, token_file=token, base_url=api.url))
    assert type(told) is QuotaReached
    assert 7000 < told.not_before - time.time() < 7300
    assert [(one.name, one.used) for one in told.partial.windows] == [("five_hour", 1.0)]


def test_claude_code_without_a_network_is_unreachable(claude: str, token: Path) -> None:
    """And says so soon."""
    backend = ClaudeCode(claude, token_file=token, base_url="http://127.0.0.1:9")
    assert type(outcome(backend)) is Unreachable


def test_codex_answers_in_the_form(codex: str) -> None:
    """One request, no tool that does anything, our instructions and nobody else's."""
    with ResponsesApi(responded(message(FOUND))) as api:
        answer = outcome(Codex(codex, api_key="sk-no", base_url=f"{api.url}/v1"))
    assert (answer.text, answer.usage.input_tokens) == (FOUND, 10)
    (asked,) = api.seen
    offered = [
        tool["name"]
        for group in [asked.body, *asked.body["input"]]
        for space in group.get("tools") or ()
        for tool in space.get("tools") or [space]
    ]
    assert offered == ["request_user_input"]
    assert asked.body["text"]["format"]["schema"]["required"] == ["findings"]
    assert len(json.dumps(asked.body)) < 6000


@pytest.mark.parametrize(
    ("steps", "kind"),
    [
        ((refused(400, code="context_length_exceeded"),), TooBig),
        ((refused(404, code="model_not_found"),), LetInRefused),
        ((refused(429, code="rate_limit_exceeded"),), TransientFailure),
        ((responded(call("exec_command", {"cmd": "true"})), responded(message(FOUND))), None),
    ],
)
def test_codex_fails_by_class(codex: str, steps: Any, kind: Any) -> None:
    """Each as the program itself reports it; a call of what is not there is refused by itself."""
    with ResponsesApi(*steps) as api:
        told = outcome(Codex(codex, api_key="sk-no", base_url=f"{api.url}/v1"))
    assert told.text == FOUND if kind is None else type(told) is kind, told


def test_codex_says_when_a_window_opens_again(codex: str) -> None:
    """To the minute, whatever the day."""
    at = int(time.time()) + 7200
    used_up = refused(429, type="usage_limit_reached", plan_type="plus", resets_at=at)
    with ResponsesApi(used_up) as api:
        told = outcome(Codex(codex, api_key="sk-no", base_url=f"{api.url}/v1"))
    assert type(told) is QuotaReached
    assert abs(told.not_before - at) <= 60


def signed(lasts: float) -> str:
    """Return a token of a login that holds for so many seconds."""
    about = {"chatgpt_plan_type": "plus", "chatgpt_account_id": "a", "chatgpt_user_id": "u"}
    told = {"exp": int(time.time() + lasts), "https://api.openai.com/auth": about}
    parts = (json.dumps(one).encode() for one in ({"alg": "none"}, told))
    return ".".join(
        [*(base64.urlsafe_b64encode(one).decode().rstrip("=") for one in parts), "c2ln"]
    )


def test_codex_renews_the_login_where_the_person_has_it(codex: str, tmp_path: Path) -> None:
    """Through the link, so that the one that holds no more is not what the person is left with."""

    def login(token: str, lasts: float) -> dict[str, Any]:
        return {"id_token": signed(lasts), "access_token": signed(lasts), "refresh_token": token}

    own = tmp_path / "auth.json"
    kept = {"auth_mode": "chatgpt", "tokens": {**login("old", -100), "account_id": "a"}}
    own.write_text(json.dumps({**kept, "last_refresh": "2026-01-01T00:00:00Z"}))
    renewed = Step(
        headers={"content-type": "application/json"},
        chunks=(json.dumps(login("new", 99_999)).encode(),),
    )

    class Nearby(Codex):
        """Renews its login on loopback too, and sends what can be read there."""

        def command(self, request: Any, folders: child.Room) -> child.Command:
            """Return what would be run, and where to renew."""
            plain = super().command(request, folders)
            renew = {"CODEX_REFRESH_TOKEN_URL_OVERRIDE": f"{api.url}/renew"}
            argv = (*plain.argv, "--disable", "enable_request_compression")
            return child.Command(argv, {**plain.environment, **renew}, plain.stdin)

    with ResponsesApi(renewed, responded(message(FOUND))) as api:
        answer = outcome(Nearby(codex, login_home=tmp_path, base_url=f"{api.url}/v1"))
    assert answer.text == FOUND
    assert [one.path for one in api.seen] == ["/renew", "/v1/responses"]
    assert json.loads(own.read_text())["tokens"]["refresh_token"] == "new"
    assert not own.is_symlink()


def watched(folder: Path, file: str) -> Path:
    """Return a program that runs another one and writes down whom it connects to."""
    strace = shutil.which("strace")
    if strace is None:
        pytest.skip("there is no strace")
    options = ["-f", "-qq", "-e", "trace=connect,sendto,sendmsg", "-o", str(folder / "trace")]
    body = f"argv = {[strace, *options, file]!r} + sys.argv[1:]\nos.execv(argv[0], argv)\n"
    return program(folder, body)


@pytest.mark.parametrize("by", ["claude", "codex"])
def test_a_run_talks_to_its_model_and_nobody_else(
    request: pytest.FixtureRequest, tmp_path: Path, token: Path, by: str
) -> None:
    """Seen from the kernel: no other address, and no name is looked up."""
    file = watched(tmp_path, request.getfixturevalue(by))
    if by == "claude":
        with MessagesApi(FORMED, said("done")) as api:
            answer = outcome(ClaudeCode(str(file), token_file=token, base_url=api.url))
    else:
        with ResponsesApi(responded(message(FOUND))) as api:
            answer = outcome(Codex(str(file), api_key="sk-no", base_url=f"{api.url}/v1"))
    assert json.loads(answer.text) == json.loads(FOUND)
    port = urlsplit(api.url).port
    away = [one for one in _spoken(tmp_path / "trace") if f"htons({port})" not in one]
    assert away == []


def _spoken(trace: Path) -> Iterator[str]:
    found = 0
    for line in trace.read_text().splitlines():
        if re.search(r"AF_INET6?\b", line):
            found += 1
            yield line
    assert found, "strace saw nobody talk"
