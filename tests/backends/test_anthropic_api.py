"""The Anthropic backend against a loopback server: what it sends, what it makes of each answer."""

from __future__ import annotations

import json
import subprocess
import sys
import time

import msgspec
import pytest
from pydantic import SecretStr

from dreaming.backends import anthropic_prices
from dreaming.backends.anthropic_api import Anthropic, Via, address
from dreaming.backends.http import MAX_WAIT, not_before
from dreaming.backends.interface import (
    AnswerRefused,
    LetInRefused,
    NotReadOnly,
    QuotaReached,
    Request,
    TooBig,
    TransientFailure,
    Unreachable,
    Window,
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
    words,
)

KEY = "sk-ant-invented-0000"
NOW = 1_800_000_000.0
QUESTION = Request(
    packets=(),
    system="Read and report.",
    prompt="[dreaming: mining task] nothing yet",
    hash="0" * 64,
    backend="anthropic",
    schema={"type": "object", "properties": {}, "required": [], "additionalProperties": False},
)


def backend(
    api: MessagesApi, *, timeout: float = 20.0, model: str = "claude-haiku-5-5"
) -> Anthropic:
    """Return a backend that talks to the loopback server."""
    return Anthropic(model, KEY, api.url, timeout=timeout, clock=lambda: NOW)


def test_the_request_offers_no_tool_and_asks_for_the_schema() -> None:
    """What goes out has no tools, holds the model to the schema and streams."""
    with MessagesApi(said("{}")) as api:
        backend(api).ask(QUESTION)
    [seen] = api.seen
    assert seen.path == "/v1/messages"
    assert not {"tools", "tool_choice", "mcp_servers", "container", "thinking"} & set(seen.body)
    assert set(seen.body) == {
        *("model", "max_tokens", "system", "messages", "stream", "output_config")
    }
    assert seen.body["output_config"] == {
        "format": {"type": "json_schema", "schema": QUESTION.schema}
    }
    assert seen.body["system"] == [
        {"type": "text", "text": QUESTION.system, "cache_control": {"type": "ephemeral"}}
    ]
    (message,) = seen.body["messages"]
    assert message == {"role": "user", "content": [{"type": "text", "text": QUESTION.prompt}]}


def test_only_the_key_that_was_handed_in_is_used(monkeypatch: pytest.MonkeyPatch) -> None:
    """Keys, tokens and addresses of the environment change nothing."""
    monkeypatch.setenv("ANTHROPIC_API_KEY", "sk-ant-somebody-elses")
    monkeypatch.setenv("ANTHROPIC_AUTH_TOKEN", "token-of-somebody-else")
    monkeypatch.setenv("ANTHROPIC_BASE_URL", "http://127.0.0.1:9")
    with MessagesApi(said("{}")) as api:
        Anthropic(api_key=SecretStr(KEY), base_url=api.url).ask(QUESTION)
        with pytest.raises(LetInRefused) as refused:
            Anthropic(base_url=api.url).ask(QUESTION)
    assert refused.value.remedy
    [seen] = api.seen
    sent = json.dumps(seen.headers)
    assert KEY in sent
    assert "somebody" not in sent


def test_without_an_address_the_public_one_is_asked(monkeypatch: pytest.MonkeyPatch) -> None:
    """The environment does not say where text goes; whoever makes the backend does."""
    monkeypatch.setenv("ANTHROPIC_BASE_URL", "http://127.0.0.1:9")
    with Anthropic(api_key=KEY)._client(KEY) as client:
        assert client.base_url.host == "api.anthropic.com"


@pytest.mark.parametrize("key", ["", "  ", "two words", "ключ", "sk\nX-Evil: 1"])
def test_what_cannot_be_a_key_is_not_sent(key: str) -> None:
    """An empty or broken key is refused before anything is imported or sent."""
    with pytest.raises(LetInRefused) as refused:
        Anthropic(api_key=key, base_url="http://127.0.0.1:9").ask(QUESTION)
    assert key.strip() == "" or key not in refused.value.message


def test_the_text_comes_back_as_it_came() -> None:
    """Prose, fences and half a list are answers too: the text is returned, not judged."""
    raw = 'Sure! Here it is:\n```json\n[{"a": 1,\u2028 "b": "ü'
    with MessagesApi(said(raw[:7], raw[7:])) as api:
        answer = backend(api).ask(QUESTION)
    assert answer.text == raw
    assert answer.complete
    assert answer.model == "claude-haiku-5-5"


def test_a_text_cut_at_the_limit_is_called_incomplete() -> None:
    """``max_tokens`` is an answer that says it is not whole."""
    with MessagesApi(said('{"findings": [', stop_reason="max_tokens")) as api:
        answer = backend(api).ask(QUESTION)
    assert answer.text == '{"findings": ['
    assert not answer.complete


def test_thinking_is_no_part_of_the_answer() -> None:
    """What a model thinks aloud is paid for, and left out of the text."""
    thought = event(
        "content_block_delta", index=0, delta={"type": "thinking_delta", "thinking": "hm"}
    )
    script = stream(
        start(), block("thinking", thinking="", signature=""), thought, block(), words("{}"), end()
    )
    with MessagesApi(script) as api:
        assert backend(api).ask(QUESTION).text == "{}"


def test_the_text_can_be_written_to_a_file() -> None:
    """Half a character pair comes back spelt out, since no file could take it."""
    with MessagesApi(said('["\ud83d', '"]')) as api:
        assert backend(api).ask(QUESTION).text == '["\\ud83d"]'


def test_counts_that_are_not_told_are_none() -> None:
    """A gateway that leaves out usage still gives an answer."""
    bare = event("message_delta", delta={"stop_reason": "end_turn"})
    with MessagesApi(stream(event("message_start", message={}), block(), words("{}"), bare)) as api:
        answer = backend(api).ask(QUESTION)
    assert (answer.text, answer.usage.cost, answer.complete) == ("{}", 0.0, True)


@pytest.mark.parametrize("url", ["nowhere", "ftp://127.0.0.1/", "http://[::1"])
def test_an_address_that_is_none_is_a_matter_of_settings(url: str) -> None:
    """The person hears that the address is wrong, not that the network is down."""
    with pytest.raises(LetInRefused) as raised:
        Anthropic(api_key=KEY, base_url=url).ask(QUESTION)
    assert "address" in raised.value.remedy


def test_usage_and_cost_are_those_of_the_price_list() -> None:
    """Cached tokens count as read, at their own price; a long prompt costs the dearer step."""
    small = said(
        "{}",
        input_tokens=1_000,
        cache_creation_input_tokens=2_000,
        cache_read_input_tokens=10_000,
        output_tokens=400,
    )
    large = said("{}", input_tokens=100_001, output_tokens=1_000)
    with MessagesApi(small, large) as api:
        asked = backend(api)
        first, second = asked.ask(QUESTION).usage, asked.ask(QUESTION).usage
    assert (first.input_tokens, first.output_tokens) == (13_000, 400)
    assert (first.cache_write_tokens, first.cache_read_tokens) == (2_000, 10_000)
    assert first.cost == pytest.approx(
        (1000 * 0.1 + 2000 * 0.125 + 10_000 * 0.01 + 400 * 0.5) / 1e6
    )
    assert second.cost == pytest.approx((100_001 * 0.5 + 1000 * 2.5) / 1e6)


@pytest.mark.parametrize(
    ("counts", "dear"),
    [
        (anthropic_prices.Counts(input=100_000), False),
        (anthropic_prices.Counts(input=100_001), True),
        (anthropic_prices.Counts(input=1, cache_read=60_000, cache_write=40_000), True),
        (anthropic_prices.Counts(input=1, output=120_000), False),
    ],
)
def test_the_whole_prompt_decides_the_price_step(
    counts: anthropic_prices.Counts, dear: bool
) -> None:
    """Cached tokens belong to the prompt, the answer does not."""
    price = anthropic_prices.price("claude-haiku-5-5", 200_000 if dear else 1)
    cost = (
        counts.input * price.input
        + counts.output * price.output
        + counts.cache_write * price.cache_write
        + counts.cache_read * price.cache_read
    )
    assert anthropic_prices.usage("claude-haiku-5-5", counts).cost == pytest.approx(cost / 1e6)


@pytest.mark.parametrize(
    ("model", "known"),
    [
        ("claude-haiku-5-5", True),
        ("claude-haiku-4-5-20251001", True),
        ("claude-haiku-5-50", False),
        ("somebody-elses-model", False),
    ],
)
def test_a_price_has_a_source_or_is_none(model: str, known: bool) -> None:
    """A model nobody listed has no price, rather than that of a similar name."""
    price = Anthropic(model).price
    assert bool(price.source) is known
    assert bool(price.input) is known


def test_the_packets_of_one_request_stay_below_the_price_step() -> None:
    """The budget leaves room for instructions and known lessons below the dearer price."""
    step = anthropic_prices.PRICES["claude-haiku-5-5"][0].up_to
    assert step is not None
    assert Anthropic().context_tokens <= 0.7 * step


FAILURES: list[tuple[str, Step, type[DreamingError]]] = [
    ("wrong key", failure(401, "authentication_error", "invalid x-api-key"), LetInRefused),
    ("not allowed", failure(403, "permission_error"), LetInRefused),
    ("billing", failure(402, "billing_error"), LetInRefused),
    (
        "credit",
        failure(400, "invalid_request_error", "Your credit balance is too low to access the API."),
        LetInRefused,
    ),
    (
        "spend limit",
        failure(429, "rate_limit_error", code="enforced_spend_limit_reached"),
        LetInRefused,
    ),
    ("unknown model", failure(404, "not_found_error", "model: claude-nope"), LetInRefused),
    ("bad request", failure(400, "invalid_request_error", "output_config: no"), LetInRefused),
    ("elsewhere", Step(status=307, headers={"location": "http://127.0.0.1:9/"}), LetInRefused),
    ("rate", failure(429, "rate_limit_error"), QuotaReached),
    ("defect", failure(500, "api_error"), TransientFailure),
    ("page of a proxy", Step(status=502, chunks=(b"<html>Bad Gateway</html>",)), TransientFailure),
    ("busy", failure(503, "api_error"), TransientFailure),
    ("gateway", failure(504, "timeout_error"), TransientFailure),
    ("overloaded", failure(529, "overloaded_error"), TransientFailure),
    ("conflict", failure(409, "conflict_error"), TransientFailure),
    ("too large", failure(413, "request_too_large"), TooBig),
    (
        "too long",
        failure(400, "invalid_request_error", "prompt is too long: 250000 tokens > 200000 maximum"),
        TooBig,
    ),
    ("context full", said("{", stop_reason="model_context_window_exceeded"), TooBig),
    ("declined", said("I cannot", stop_reason="refusal"), AnswerRefused),
    ("broke off", stream(start(), block(), words("half"), cut=True), TransientFailure),
    ("ended early", stream(start(), block(), words("half")), TransientFailure),
    ("nothing at all", stream(), TransientFailure),
    ("hung up", stream(cut=True), TransientFailure),
    (
        "overloaded on the way",
        stream(
            start(),
            block(),
            words("half"),
            event("error", error={"type": "overloaded_error", "message": "Overloaded"}),
        ),
        TransientFailure,
    ),
    (
        "rate on the way",
        stream(start(), event("error", error={"type": "rate_limit_error", "message": "slow"})),
        QuotaReached,
    ),
    (
        "strange error on the way",
        stream(start(), event("error", error={"type": "something_new", "message": "?"})),
        TransientFailure,
    ),
    ("garbled", stream(start(), b"event: message_delta\ndata: {oops\n\n"), TransientFailure),
    (
        "plain json",
        Step(headers={"content-type": "application/json"}, chunks=(b"{}",)),
        TransientFailure,
    ),
    ("no message", stream(event("message_start"), block(), words("x"), end()), TransientFailure),
    (
        "empty delta",
        stream(start(), block(), event("content_block_delta", index=0, delta=None), end()),
        TransientFailure,
    ),
    ("a list", stream(start(), b"event: message_delta\ndata: [1]\n\n", end()), TransientFailure),
    (
        "a tool",
        stream(start(), block("tool_use", id="t", name="Bash", input={}), end("tool_use")),
        NotReadOnly,
    ),
    (
        "a tool of the server",
        stream(start(), block("server_tool_use", id="t", name="web_search", input={}), end()),
        NotReadOnly,
    ),
]


@pytest.mark.parametrize(
    ("script", "expected"),
    [pytest.param(script, kind, id=name) for name, script, kind in FAILURES],
)
def test_each_failure_has_its_class_and_is_not_retried(
    script: Step, expected: type[DreamingError]
) -> None:
    """A failure becomes exactly one of our classes, after one request, without the key in it."""
    with MessagesApi(script) as api, pytest.raises(DreamingError) as raised:
        backend(api).ask(QUESTION)
    assert type(raised.value) is expected
    assert len(api.seen) == 1
    assert raised.value.message
    assert KEY not in raised.value.message + raised.value.remedy
    if expected is LetInRefused:
        assert raised.value.remedy


@pytest.mark.parametrize(
    "script",
    [
        said("I would rather not", stop_reason="refusal", input_tokens=1000),
        stream(start(input_tokens=1000), block(), words("I would rather not"), cut=True),
        stream(
            start(input_tokens=1000),
            block(),
            words("I would rather not"),
            event("error", error={"type": "api_error", "message": "no"}),
        ),
    ],
    ids=["declined", "broke off", "error on the way"],
)
def test_what_came_before_a_failure_is_kept_and_was_paid(script: Step) -> None:
    """The raw text and the usage of an answer that failed half way travel with the error."""
    with MessagesApi(script) as api, pytest.raises((AnswerRefused, TransientFailure)) as raised:
        backend(api).ask(QUESTION)
    assert raised.value.text == "I would rather not"
    assert raised.value.partial.usage.input_tokens == 1000
    assert raised.value.partial.usage.cost > 0
    assert not raised.value.partial.complete


def test_the_key_never_stands_in_an_error() -> None:
    """Not even where the API says it back to us."""
    with (
        MessagesApi(failure(401, "authentication_error", f"bad key {KEY}\x1b[31m")) as api,
        pytest.raises(LetInRefused) as raised,
    ):
        backend(api).ask(QUESTION)
    assert KEY not in str(raised.value)
    assert "\x1b" not in str(raised.value)


def test_a_long_wait_is_told_not_slept() -> None:
    """A ``retry-after`` of two hours comes back at once, as an instant."""
    began = time.monotonic()
    script = failure(429, "rate_limit_error", headers={"retry-after": "7200"})
    with MessagesApi(script) as api, pytest.raises(QuotaReached) as raised:
        backend(api).ask(QUESTION)
    assert raised.value.not_before == NOW + 7200
    assert time.monotonic() - began < 10


@pytest.mark.parametrize(
    ("headers", "expected"),
    [
        ({}, 0.0),
        ({"retry-after": "30"}, NOW + 30),
        ({"retry-after": "1.5"}, NOW + 1.5),
        ({"retry-after": "Fri, 15 Jan 2027 09:00:00 GMT"}, 1_800_003_600.0),
        ({"retry-after": "Thu, 01 Jan 1970 00:00:00 GMT"}, NOW),
        ({"retry-after": "-5"}, NOW),
        ({"retry-after": "1e300"}, NOW + MAX_WAIT),
        ({"retry-after": "inf"}, 0.0),
        ({"retry-after": "nan"}, 0.0),
        ({"retry-after": "soon"}, 0.0),
        ({"retry-after": "99999999999999999999999"}, NOW + MAX_WAIT),
        ({"anthropic-ratelimit-unified-reset": str(int(NOW) + 9000)}, NOW + 9000),
        (
            {"retry-after": "soon", "anthropic-ratelimit-unified-reset": str(int(NOW) + 9)},
            NOW + 9,
        ),
    ],
)
def test_when_to_ask_again_is_read_in_every_form(headers: dict[str, str], expected: float) -> None:
    """Seconds, a date or a window's end; nonsense is nothing, and no wait is beyond belief."""
    assert not_before(headers, NOW) == expected


@pytest.mark.parametrize(
    "script",
    [
        pytest.param(stream(start(), block(), words("half"), hold=True), id="silence"),
        pytest.param(stream(start(), block(), words("half"), drip=0.05), id="drip"),
    ],
)
def test_an_answer_that_does_not_end_is_given_up(script: Step) -> None:
    """Neither silence nor endless signs of life hold a night longer than the timeout, about."""
    began = time.monotonic()
    with MessagesApi(script) as api, pytest.raises(TransientFailure) as raised:
        backend(api, timeout=0.5).ask(QUESTION)
    assert time.monotonic() - began < 5
    assert raised.value.text == "half"


def test_nobody_there_is_unreachable() -> None:
    """A refused connection is no failure of the batch: nobody was asked."""
    with MessagesApi(said("{}")) as api:
        gone = api.url
    with pytest.raises(Unreachable) as raised:
        Anthropic(api_key=KEY, base_url=gone).ask(QUESTION)
    assert raised.value.remedy


def test_the_sdk_is_imported_only_to_ask() -> None:
    """Importing and making the backend loads neither the SDK nor its HTTP client."""
    code = (
        "import sys; from dreaming.backends.anthropic_api import Anthropic; "
        "b = Anthropic(api_key='k'); b.identity, b.price, b.context_tokens; "
        "print(sorted({'anthropic', 'httpx2'} & set(sys.modules)))"
    )
    done = subprocess.run(
        [sys.executable, "-c", code], capture_output=True, text=True, check=True, timeout=60
    )
    assert done.stdout.strip() == "[]"


BUCKETS = {
    "anthropic-ratelimit-requests-limit": "50",
    "anthropic-ratelimit-requests-remaining": "40",
    "anthropic-ratelimit-requests-reset": "2027-01-15T08:00:30Z",
    "anthropic-ratelimit-output-tokens-limit": "8000",
    "anthropic-ratelimit-output-tokens-remaining": "0",
    "anthropic-ratelimit-input-tokens-limit": "many",
    "anthropic-ratelimit-input-tokens-remaining": "7",
}
PLAN = {
    "anthropic-ratelimit-unified-5h-utilization": "0.61",
    "anthropic-ratelimit-unified-5h-reset": "1800003600",
    "anthropic-ratelimit-unified-7d-status": "rejected",
    "anthropic-ratelimit-unified-7d-utilization": "soon",
}


def test_quota_windows_are_told_with_answers_and_with_refusals() -> None:
    """Those of a key and those of a plan; what is no number is left out."""
    answer = msgspec.structs.replace(said("{}"), headers={**said("{}").headers, **BUCKETS, **PLAN})
    refusal = failure(429, "rate_limit_error", headers={"retry-after": "7200", **PLAN})
    with MessagesApi(answer, refusal) as api:
        told = backend(api).ask(QUESTION).windows
        with pytest.raises(QuotaReached) as raised:
            backend(api).ask(QUESTION)
    plan = (Window("five_hour", 0.61, 1_800_003_600.0), Window("seven_day", 1.0))
    requests, output = told[2:]
    assert told[:2] == raised.value.partial.windows == plan
    assert (requests.name, round(requests.used, 6)) == ("requests", 0.2)
    assert requests.resets_at == NOW + 30
    assert output == Window("output-tokens", 1.0)


def test_a_wait_of_seconds_is_no_quota() -> None:
    """The question is put again in the same night."""
    script = failure(429, "rate_limit_error", headers={"retry-after": "5"})
    with MessagesApi(script) as api, pytest.raises(TransientFailure):
        backend(api).ask(QUESTION)


def test_the_stable_part_of_a_question_is_cached_apart() -> None:
    """Together the parts are the question; instructions and known lessons are marked."""
    asked = msgspec.structs.replace(QUESTION, prompt="known, then excerpts", stable=7)
    with MessagesApi(said("{}")) as api:
        backend(api).ask(asked)
    (message,) = api.seen[0].body["messages"]
    assert [one["text"] for one in message["content"]] == ["known, ", "then excerpts"]
    assert ["cache_control" in one for one in message["content"]] == [True, False]


def test_a_cloud_is_asked_by_its_own_path_with_its_own_credentials(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """The API key does not go there, and no tool does."""
    import anthropic

    monkeypatch.setattr(anthropic.AnthropicVertex, "_ensure_access_token", lambda _: "of-the-cloud")
    with MessagesApi(said("{}")) as api:
        cloud = Anthropic(
            "claude-haiku-5-5", KEY, api.url, via="vertex", region="eu", project="tide"
        )
        assert cloud.ask(QUESTION).text == "{}"
    (seen,) = api.seen
    path = "/projects/tide/locations/eu/publishers/anthropic/models/claude-haiku-5-5:"
    assert seen.path == f"{path}streamRawPredict"
    assert seen.headers["authorization"] == "Bearer of-the-cloud"
    assert KEY not in json.dumps(seen.headers)
    assert "tools" not in seen.body


@pytest.mark.parametrize("via", ["bedrock", "vertex"])
def test_a_cloud_without_credentials_is_a_sentence(
    via: Via, monkeypatch: pytest.MonkeyPatch
) -> None:
    """What is missing is installed by one line; nothing was sent."""
    for name in ("AWS_BEARER_TOKEN_BEDROCK", "GOOGLE_APPLICATION_CREDENTIALS"):
        monkeypatch.delenv(name, raising=False)
    for name in ("botocore", "boto3", "google.auth"):
        monkeypatch.setitem(sys.modules, name, None)
    with MessagesApi(said("{}")) as api, pytest.raises(LetInRefused) as raised:
        Anthropic(base_url=api.url, via=via, region="eu").ask(QUESTION)
    assert f"anthropic[{via}]" in raised.value.remedy
    assert api.seen == []


@pytest.mark.parametrize(
    ("via", "region", "host"),
    [
        ("api", "", "https://api.anthropic.com"),
        ("bedrock", "eu-west-1", "https://bedrock-runtime.eu-west-1.amazonaws.com"),
        ("vertex", "global", "https://aiplatform.googleapis.com/v1"),
        ("vertex", "europe-west4", "https://europe-west4-aiplatform.googleapis.com/v1"),
    ],
)
def test_each_cloud_has_its_address(via: Via, region: str, host: str) -> None:
    """Settings decide where text goes, no variable of the environment."""
    assert address(via, region) == host


@pytest.mark.parametrize(
    "model",
    [
        "us.anthropic.claude-haiku-5-5",
        "anthropic.claude-haiku-5-5-v1:0",
        "claude-haiku-5-5@20261001",
    ],
)
def test_a_clouds_spelling_of_a_model_has_the_makers_price(model: str) -> None:
    """It is the same model."""
    assert Anthropic(model).price == Anthropic("claude-haiku-5-5").price
