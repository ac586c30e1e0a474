"""Any program as a backend: what it gets, and what its output and exit code mean."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from dreaming.backends.command import CommandBackend
from dreaming.backends.interface import (
    LetInRefused,
    Price,
    QuotaReached,
    TimedOut,
    TransientFailure,
    Unanswered,
)
from tests.backends.programs import program, question

READS = "read = sys.stdin.buffer.read().decode()\n"


def ask(folder: Path, body: str, request: Any = None, **how: Any) -> Any:
    """Ask a program with this body."""
    file = program(folder, f"{READS}{body}")
    return CommandBackend([str(file), "--answer"], **how).ask(request or question())


def test_it_gets_instructions_and_prompt_and_its_output_is_the_answer(tmp_path: Path) -> None:
    """A blank line between them, and no command in either; nothing is made of the output."""
    body = "print(json.dumps([read, sys.argv[1:], os.listdir()]))"
    answer = ask(tmp_path, body, question("/see @a"), price=Price(1e6, 1e6))
    assert json.loads(answer.text) == ["You answer.\n\n/see @ a", ["--answer"], []]
    assert answer.complete
    assert answer.usage.cost == answer.usage.input_tokens + answer.usage.output_tokens > 0


def test_it_gets_the_variables_that_are_named_and_no_other(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Its own key, and nobody else's."""
    monkeypatch.setenv("ITS_KEY", "one")
    monkeypatch.setenv("OPENAI_API_KEY", "two")
    answer = ask(tmp_path, "print(json.dumps(dict(os.environ)))", variables=["ITS_KEY", "NONE"])
    given = json.loads(answer.text)
    assert given["ITS_KEY"] == "one"
    assert "OPENAI_API_KEY" not in given
    assert "NONE" not in given


@pytest.mark.parametrize(
    ("code", "kind"), [(1, Unanswered), (69, LetInRefused), (75, QuotaReached), (127, LetInRefused)]
)
def test_an_exit_code_counts_whatever_was_printed(tmp_path: Path, code: int, kind: Any) -> None:
    """The output is kept and is no answer; the last words on stderr are said."""
    with pytest.raises(kind) as told:
        ask(tmp_path, f"print('[]'); print('no\\x1b[31m luck', file=sys.stderr); sys.exit({code})")
    assert "luck" in told.value.message
    assert "\x1b" not in told.value.message
    assert (told.value.partial.text, told.value.partial.complete) == ("[]\n", False)


@pytest.mark.parametrize(
    ("line", "at"),
    [
        ("not-before: 2027-01-15T08:00:00+00:00", 1_800_000_000.0),
        ("Not-Before: 2027-01-15T09:00:00+01:00", 1_800_000_000.0),
        ("not-before: 2027-01-15T08:00:00Z", 1_800_000_000.0),
        ("not-before: 2027-01-15T08:00:00", 0.0),
        ("not-before: tomorrow", 0.0),
        ("later", 0.0),
    ],
)
def test_it_may_say_from_when_to_ask(tmp_path: Path, line: str, at: float) -> None:
    """With its zone; otherwise nobody knows when that is."""
    with pytest.raises(QuotaReached) as told:
        ask(tmp_path, f"print('busy\\n{line}', file=sys.stderr); sys.exit(75)")
    assert told.value.not_before == at


def test_it_is_ended_when_it_takes_too_long_or_writes_without_end(tmp_path: Path) -> None:
    """What came is kept."""
    with pytest.raises(TimedOut) as slow:
        ask(tmp_path, "print('half', flush=True); time.sleep(60)", timeout=0.5)
    assert slow.value.text == "half\n" and slow.value.remedy
    with pytest.raises(TransientFailure, match=r"without end.* 16 MB") as much:
        ask(tmp_path, "while True: print('x' * 65536)")
    assert much.value.remedy


def test_it_says_of_itself_what_the_person_said() -> None:
    """Where text goes, what it costs and what answers are settings."""
    backend = CommandBackend(["/opt/bin/thing", "-x"], leaves_the_machine=False, context_tokens=9)
    assert (backend.identity, backend.context_tokens) == ("command:thing", 9)
    assert not backend.leaves_the_machine
    assert CommandBackend(["thing"]).leaves_the_machine
    assert CommandBackend(["thing"], model="m1").identity == "command:m1"


GEMINI = """
policy = open(sys.argv[sys.argv.index("--admin-policy") + 1]).read()
settings = json.load(open(os.environ["HOME"] + "/.gemini/settings.json"))
said = json.dumps([sys.stdin.read(), policy, settings, os.environ.get("GEMINI_API_KEY")])
print(said) if {code} == 0 else print("{words}", file=sys.stderr)
sys.exit({code})
"""


@pytest.mark.parametrize(
    ("code", "words", "kind"),
    [
        (0, "", None),
        (1, "RESOURCE_EXHAUSTED", QuotaReached),
        (41, "set an auth method", LetInRefused),
        (1, "boom", Unanswered),
    ],
)
def test_the_program_that_the_documents_show_works(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, code: int, words: str, kind: Any
) -> None:
    """As it stands there, beside a program that answers as the one it calls."""
    page = Path(__file__).parents[2] / "docs/backends.md"
    (example,) = [
        one.partition("```")[0]
        for one in page.read_text("utf-8").split("```sh\n")
        if one.startswith("#!/bin/sh")
    ]
    file = tmp_path / "ask-gemini"
    file.write_text(example, "utf-8")
    file.chmod(0o755)
    program(tmp_path, GEMINI.format(code=code, words=words), "gemini")
    monkeypatch.setenv("GEMINI_API_KEY", "made-up")
    backend = CommandBackend([str(file)], variables=["GEMINI_API_KEY"])
    if kind:
        with pytest.raises(kind, match=words):
            backend.ask(question())
        return
    read, policy, settings, key = json.loads(backend.ask(question()).text)
    assert read == "You answer.\n\n[dreaming: mining task]\nhello"
    assert 'toolName = "*"\ndecision = "deny"' in policy
    assert settings["security"]["auth"]["selectedType"] == "gemini-api-key"
    assert key == "made-up"
