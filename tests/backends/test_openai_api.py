"""The openai backend against a loopback server: what it sends, what it makes of each answer."""

from __future__ import annotations

import json
import subprocess
import sys
import time
from collections.abc import Iterator
from typing import Any

import pytest

from dreaming.backends.http import is_loopback
from dreaming.backends.interface import (
    AnswerRefused,
    LetInRefused,
    NotReadOnly,
    Price,
    QuotaReached,
    Request,
    TimedOut,
    TooBig,
    TransientFailure,
    Unreachable,
)
from dreaming.backends.openai_api import OpenAI
from dreaming.errors import DreamingError
from tests.backends.loopback import (
    MessagesApi,
    Step,
    chat_failure,
    chatted,
    counted,
    piece,
    stream,
)

KEY = "sk-invented-0000"
NOW = 1_800_000_000.0
QUESTION = Request(
    packets=(),
    system="Read and report.",
    prompt="[dreaming: mining task] nothing yet",
    hash="0" * 64,
    backend="openai",
    schema={"type": "object", "properties": {}, "required": [], "additionalProperties": False},
)


@pytest.fixture(scope="module")
def server() -> Iterator[MessagesApi]:
    """One server for all tests here."""
    with MessagesApi() as api:
        yield api


@pytest.fixture
def api(server: MessagesApi) -> MessagesApi:
    """The server, with nothing seen yet."""
    server.script()
    return server


def backend(api: MessagesApi, **changes: Any) -> OpenAI:
    """Return a backend that talks to the loopback server."""
    return OpenAI("tiny", f"{api.url}/v1/", clock=lambda: NOW, **changes)


def test_the_request_offers_no_tool_and_asks_for_the_schema(api: MessagesApi) -> None:
    """One request an answer, streamed, its counts asked for, without any key about tools."""
    api.script(chatted("{}"))
    backend(api).ask(QUESTION)
    (seen,) = api.seen
    assert seen.path == "/v1/chat/completions"
    assert set(seen.body) == {
        "model",
        "messages",
        "stream",
        "stream_options",
        "max_tokens",
        "response_format",
    }
    assert [one["content"] for one in seen.body["messages"]] == [QUESTION.system, QUESTION.prompt]
    assert seen.body["response_format"]["json_schema"]["schema"] == QUESTION.schema
    assert "authorization" not in seen.headers


def test_the_key_is_sent_only_where_it_was_handed_in(
    api: MessagesApi, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A key in the environment is no reason; a key that is needed and missing ends at once."""
    monkeypatch.setenv("OPENAI_API_KEY", "sk-somebody-elses")
    api.script(chatted("{}"))
    backend(api, api_key=KEY, needs_key=True).ask(QUESTION)
    backend(api, api_key=KEY).ask(QUESTION)
    assert api.seen[0].headers["authorization"] == f"Bearer {KEY}"
    assert "authorization" not in api.seen[1].headers
    with pytest.raises(LetInRefused) as refused:
        backend(api, needs_key=True).ask(QUESTION)
    assert "OPENAI_API_KEY" in refused.value.remedy
    assert len(api.seen) == 2


def test_text_for_this_machine_passes_by_every_proxy(
    api: MessagesApi, monkeypatch: pytest.MonkeyPatch
) -> None:
    """What is said to stay on the machine stays there, whatever the environment says."""
    for name in ("http_proxy", "HTTP_PROXY", "all_proxy", "ALL_PROXY"):
        monkeypatch.setenv(name, "http://127.0.0.1:9")
    monkeypatch.delenv("no_proxy", raising=False)
    monkeypatch.delenv("NO_PROXY", raising=False)
    api.script(chatted("{}"))
    assert not backend(api).leaves_the_machine
    assert backend(api).ask(QUESTION).text == "{}"


@pytest.mark.parametrize(
    ("url", "here"),
    [
        ("http://127.0.0.1:11434/v1", True),
        ("http://127.8.8.8/v1", True),
        ("http://[::1]:8080/v1", True),
        ("http://localhost:1234/v1", True),
        ("http://127.0.0.1.example.org/v1", False),
        ("http://localhost.example.org/v1", False),
        ("http://127.0.0.1@example.org/v1", False),
        ("http://10.0.0.7:8000/v1", False),
        ("http://0.0.0.0:8000/v1", False),
        ("https://api.example.org/v1", False),
        ("", False),
    ],
)
def test_only_a_loopback_address_stays_on_the_machine(url: str, here: bool) -> None:
    """Another machine of the same network is another machine."""
    assert is_loopback(url) is here
    assert OpenAI("tiny", url).leaves_the_machine is not here


def test_the_text_comes_back_as_it_came(api: MessagesApi) -> None:
    """Prose, fences and half a list are answers too; half a character pair is spelt out."""
    raw = 'Sure! Here it is:\n```json\n[{"a": 1,\u2028 "b": "ü'
    api.script(chatted(raw[:7], raw[7:]), chatted('["\ud83d', '"]'))
    answer = backend(api).ask(QUESTION)
    assert (answer.text, answer.complete, answer.model) == (raw, True, "tiny")
    assert backend(api).ask(QUESTION).text == '["\\ud83d"]'


def test_counts_become_usage_at_the_persons_price(api: MessagesApi) -> None:
    """Nothing by default; otherwise what the settings say, for what the server counted."""
    api.script(chatted("{}", read=1_000_000, written=100_000))
    assert backend(api).ask(QUESTION).usage.cost == 0
    usage = backend(api, price=Price(0.5, 2.0)).ask(QUESTION).usage
    assert (usage.input_tokens, usage.output_tokens) == (1_000_000, 100_000)
    assert usage.cost == pytest.approx(0.7)


def test_a_server_that_does_not_stream_is_understood(api: MessagesApi) -> None:
    """A whole completion in one piece of JSON is the same answer."""
    choice = {"message": {"role": "assistant", "content": "{}"}, "finish_reason": "stop"}
    body = {"choices": [choice], "usage": {"prompt_tokens": 7, "completion_tokens": 1}}
    api.script(
        Step(headers={"content-type": "application/json"}, chunks=(json.dumps(body).encode(),))
    )
    answer = backend(api).ask(QUESTION)
    assert (answer.text, answer.usage.input_tokens, answer.complete) == ("{}", 7, True)


def test_a_text_cut_at_the_limit_is_called_incomplete(api: MessagesApi) -> None:
    """``length`` is an answer that says it is not whole."""
    api.script(chatted('{"findings": [', finish="length"))
    answer = backend(api).ask(QUESTION)
    assert (answer.text, answer.complete) == ('{"findings": [', False)


def test_what_a_server_does_not_know_is_left_out_from_then_on(api: MessagesApi) -> None:
    """The schema falls back to JSON and then to nothing; each refusal is met once a process."""
    refusals = [
        chat_failure(400, "'response_format.type' must be 'json_object' or 'text'"),
        chat_failure(400, "Unknown parameter: 'stream_options'"),
        chat_failure(422, "json_object is not supported by this model"),
        chat_failure(400, "Unsupported: 'max_tokens'. Use 'max_completion_tokens' instead."),
    ]
    api.script(*refusals, chatted("[]"))
    asked = backend(api)
    assert asked.ask(QUESTION).text == "[]"
    forms = [one.body.get("response_format", {}).get("type") for one in api.seen]
    assert forms == ["json_schema", "json_object", "json_object", None, None]
    asked.ask(QUESTION)
    assert len(api.seen) == 6
    assert set(api.seen[-1].body) == {"model", "messages", "stream", "max_completion_tokens"}


def test_a_server_that_refuses_everything_is_not_asked_for_ever(api: MessagesApi) -> None:
    """What was left out already is no reason to ask again."""
    api.script(chat_failure(400, "response_format stream_options max_completion_tokens"))
    with pytest.raises(LetInRefused):
        backend(api).ask(QUESTION)
    assert len(api.seen) == 5


OLLAMA_MODEL = 'model "tiny" not found, try pulling it first'
FAILURES: list[tuple[str, Step, type[DreamingError]]] = [
    ("wrong key", chat_failure(401, "Incorrect API key provided"), LetInRefused),
    ("not allowed", chat_failure(403, "no"), LetInRefused),
    ("unknown model", chat_failure(404, OLLAMA_MODEL), LetInRefused),
    ("unknown address", Step(status=404, chunks=(b"404 page not found",)), LetInRefused),
    ("payment", chat_failure(402, "Insufficient balance"), LetInRefused),
    (
        "no credit",
        chat_failure(429, "You exceeded your current quota", code="insufficient_quota"),
        LetInRefused,
    ),
    ("bad request", chat_failure(400, "messages: no"), LetInRefused),
    ("elsewhere", Step(status=307, headers={"location": "http://127.0.0.1:9/"}), LetInRefused),
    ("quota", chat_failure(429, "slow down"), QuotaReached),
    ("long wait", chat_failure(429, "no", headers={"retry-after": "7200"}), QuotaReached),
    ("short wait", chat_failure(429, "no", headers={"retry-after": "2"}), TransientFailure),
    ("defect", chat_failure(500, "no"), TransientFailure),
    ("page of a proxy", Step(status=502, chunks=(b"<html>Bad</html>",)), TransientFailure),
    ("loading", chat_failure(503, "Loading model"), TransientFailure),
    ("too large", chat_failure(413, "no"), TooBig),
    ("vllm", chat_failure(400, "This model's maximum context length is 4096 tokens"), TooBig),
    ("llama.cpp", chat_failure(400, "the request exceeds the available context size"), TooBig),
    ("by code", chat_failure(400, "no room", code="context_length_exceeded"), TooBig),
    ("filtered", chatted("I can", finish="content_filter"), AnswerRefused),
    ("filtered before", chat_failure(400, "no", code="content_filter"), AnswerRefused),
    ("declined", stream(piece(refusal="I cannot"), piece(finish="stop")), AnswerRefused),
    ("a tool", chatted("", finish="tool_calls"), NotReadOnly),
    (
        "a tool on the way",
        stream(piece(tool_calls=[{"index": 0, "function": {"name": "bash"}}]), counted()),
        NotReadOnly,
    ),
    ("broke off", stream(piece("half"), cut=True), TransientFailure),
    ("ended early", stream(piece("half"), counted()), TransientFailure),
    ("nothing at all", stream(), TransientFailure),
    ("hung up", stream(cut=True), TransientFailure),
    (
        "error on the way",
        stream(piece("half"), b'data: {"error": {"message": "out of memory"}}\n\n'),
        TransientFailure,
    ),
    ("garbled", stream(piece("half"), b"data: {oops\n\n"), TransientFailure),
    ("another shape", stream(b'data: {"choices": [{"delta": 3}]}\n\n'), TransientFailure),
    ("nested", stream(b"data: " + b"[" * 100_000 + b"\n\n"), TransientFailure),
    ("endless", chatted("x" * 5_000_000), TransientFailure),
]


@pytest.mark.parametrize(
    ("script", "expected"),
    [pytest.param(script, kind, id=name) for name, script, kind in FAILURES],
)
def test_each_failure_has_its_class_and_is_not_retried(
    api: MessagesApi, script: Step, expected: type[DreamingError]
) -> None:
    """A failure becomes exactly one of our classes, after one request, without the key in it."""
    api.script(script)
    with pytest.raises(DreamingError) as raised:
        backend(api, api_key=KEY, needs_key=True).ask(QUESTION)
    assert type(raised.value) is expected
    assert len(api.seen) == 1
    assert raised.value.message
    assert KEY not in raised.value.message + raised.value.remedy
    if expected is LetInRefused:
        assert raised.value.remedy


@pytest.mark.parametrize("script", [one for name, one, _ in FAILURES if name in {
    "broke off", "ended early", "error on the way", "garbled",
}])  # fmt: skip
def test_what_came_before_a_failure_is_kept(api: MessagesApi, script: Step) -> None:
    """The raw text travels with the error."""
    api.script(script)
    with pytest.raises(TransientFailure) as raised:
        backend(api).ask(QUESTION)
    assert (raised.value.text, raised.value.partial.complete) == ("half", False)


@pytest.mark.parametrize(
    "script", [stream(piece("half"), hold=True), stream(piece("half"), drip=0.05)]
)
def test_an_answer_that_does_not_end_is_given_up(api: MessagesApi, script: Step) -> None:
    """Neither silence nor endless signs of life hold a night longer than the timeout, about."""
    api.script(script)
    began = time.monotonic()
    with pytest.raises(TimedOut) as raised:
        backend(api, timeout=0.3).ask(QUESTION)
    assert time.monotonic() - began < 5
    assert raised.value.text == "half"


def test_nobody_there_is_unreachable() -> None:
    """A refused connection says how a server is started."""
    with MessagesApi() as gone:
        url = gone.url
    with pytest.raises(Unreachable) as raised:
        OpenAI("tiny", url).ask(QUESTION)
    assert "ollama serve" in raised.value.remedy


@pytest.mark.parametrize("url", ["nowhere", "ftp://127.0.0.1/", "http://[::1"])
def test_an_address_that_is_none_is_a_matter_of_settings(url: str) -> None:
    """The person hears that the address is wrong, not that the network is down."""
    with pytest.raises(LetInRefused) as raised:
        OpenAI("tiny", url).ask(QUESTION)
    assert "address" in raised.value.remedy


def test_the_client_is_imported_only_to_ask() -> None:
    """Importing and making the backend does not load its HTTP client."""
    code = (
        "import sys; from dreaming.backends.openai_api import OpenAI; "
        "b = OpenAI('m'); b.identity, b.price, b.context_tokens; "
        "print('httpx2' in sys.modules)"
    )
    done = subprocess.run(
        [sys.executable, "-c", code], capture_output=True, text=True, check=True, timeout=60
    )
    assert done.stdout.strip() == "False"
