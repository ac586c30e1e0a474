"""Sixty credentials go in and none comes out; nor does anybody's name. Each stage is needed.

Seen from outside: whatever lies in the home after two nights, whatever was said, whatever was sent.
"""

from __future__ import annotations

import contextlib
import json
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Final

import msgspec
import pytest

from dreaming import wiring
from dreaming.config import BACKENDS
from dreaming.jobs import nightly, reading, unattended
from dreaming.jobs.progress import Progress
from dreaming.jobs.reading import Reader
from dreaming.models.report import Outcome, Verdict
from dreaming.redaction.engine import Scanner
from tests.acceptance.canaries import CLEAN, FAMILIES, leaks, plant
from tests.acceptance.installed import Here
from tests.backends import loopback
from tests.backends.loopback import NOTHING, MessagesApi
from tests.backends.programs import program
from tests.backends.speakers import ByClaudeCode, ByCodex, ByCommand, Speaker

NIGHT: Final = ("nightly", "--since", "all", "--settle", "0")


def _nights(home: Path, *more: str) -> str:
    """Two nights, and everything that can be asked for after them; return all that was said."""
    here = Here(home)
    told = [here.run("init")]
    (here.workspace / "dreaming.toml").write_text('[retention]\nsessions = "forever"\n', "utf-8")
    told += [here.run(*NIGHT, *more), here.run(*NIGHT, *more, "--json")]
    told += [here.run(*one) for one in (("status",), ("reveal", "--all", "--json"))]
    return "".join(one.said for one in told)


def test_no_canary_is_left(home: Path) -> None:
    """Without a model nothing of any planted value is left anywhere."""
    planted = plant(home)
    assert len(planted.values) == FAMILIES + 1
    said = _nights(home)
    assert leaks(planted, home, said) == set()


def _crashing(patch: pytest.MonkeyPatch) -> None:
    """Let something unexpected happen, whose message quotes what was being read."""

    def broken(self: Scanner, data: bytes, first_line: int) -> None:
        raise ValueError(data.decode())

    patch.setattr(Scanner, "feed", broken)


def test_a_crash_tells_nothing(home: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """What is said and kept of an unexpected end holds no word of what was being read."""
    planted = plant(home)
    _crashing(monkeypatch)
    said = _nights(home)
    assert "crash-" in said
    assert leaks(planted, home, said) == set()


RECORDS: Final = """
here = os.path.dirname(os.path.abspath(__file__))
asked = sys.stdin.read()
if "debug" in sys.argv:
    print(json.dumps({"models": [{"slug": "gpt-6-luna"}]}))
    sys.exit()
with open(os.path.join(here, "sent"), "a") as sent:
    sent.write(asked + repr(sys.argv) + repr(dict(os.environ)))
word = (re.findall(r'"read": "([a-z]{5}-[a-z]{5})"', asked) or [""])[-1]
for one in sys.argv:
    if one.startswith("--output-last-message="):
        open(one.partition("=")[2], "w").write(TEXT.replace("%WORD%", word))
print(OUT.replace("%WORD%", word))
"""
"""A program that keeps what it was sent and answers that there is nothing."""


def _run_by(name: str, folder: Path) -> str:
    """Make the program of a backend; return its settings."""
    speakers: dict[str, Callable[[Path], Speaker]] = {
        "claude-code": ByClaudeCode,
        "codex": ByCodex,
        "command": ByCommand,
    }
    speakers[name](folder).says(NOTHING)
    told = json.loads((folder / "told.json").read_text("utf-8"))["out"]
    made = program(folder, f"import re\nTEXT, OUT = {NOTHING!r}, {told!r}\n{RECORDS}", "records")
    if name == "command":
        return f'[command]\nargv = ["{made}"]\n'
    return f'[{name.replace("-", "_")}]\nprogram = "{made}"\nkey = "api"\n'


def _recording(folder: Path) -> str:
    told = {
        "slug": "harbourfile-first",
        "topic": "build",
        "symptom": "The table stops without the harbourfile.",
        "rule": "Make the harbourfile before the table.",
        "quotes": [CLEAN[0][1][:24]],
    }
    (folder / "told.json").write_text(json.dumps([told]), "utf-8")
    return f'replay_answers = "{folder}"\n'


@contextlib.contextmanager
def _model(name: str, folder: Path) -> Iterator[tuple[str, Callable[[], str]]]:
    """Stand in for a backend's model; give its settings, and what it was sent so far."""
    if name in ("anthropic", "openai"):
        step = (loopback.said if name == "anthropic" else loopback.chatted)(NOTHING)
        with MessagesApi(step) as api:
            model = 'model = "tiny"\n' if name == "openai" else ""
            told = f'[{name}]\nbase_url = "{api.url}"\n{model}'
            yield told, lambda: "".join(json.dumps(one.body) + str(one.headers) for one in api.seen)
    elif name in ("claude-code", "codex", "command"):
        yield _run_by(name, folder), (folder / "sent").read_text
    else:
        yield (_recording(folder) if name == "replay" else ""), lambda: ""


@pytest.mark.parametrize("name", BACKENDS)
def test_no_canary_reaches_a_backend(
    name: str, home: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Whatever answers, nothing of any planted value is sent to it or left of what it said."""
    planted = plant(home)
    Here(home).run("init")
    for variable in ("ANTHROPIC_API_KEY", "OPENAI_API_KEY"):
        monkeypatch.setenv(variable, "made-up")
    with _model(name, tmp_path) as (told, sent):
        config = home / "xdg_config_home/dreaming/config.toml"
        config.parent.mkdir(parents=True, exist_ok=True)
        config.write_text(f'backend = "{name}"\n{told}', "utf-8")
        choices = wiring.Choices(since=0.0, settle=0)
        with wiring.night(wiring.place(choices), choices, Progress()) as night:
            report = nightly.run(night)
        everything = sent() + msgspec.json.encode(report).decode()
    assert (report.outcome, report.verdicts[Verdict.PROCESSED]) == (
        Outcome.ADVANCED,
        2 * len(CLEAN),
    )
    assert CLEAN[0][1][:24] in everything or name in ("offline", "replay")  # it was sent
    assert leaks(planted, home, everything) == set()


Patch = Callable[[pytest.MonkeyPatch], None]


def _unscanned(patch: pytest.MonkeyPatch) -> None:
    patch.setattr(Scanner, "finish", lambda self: ())


def _unrefused(patch: pytest.MonkeyPatch) -> None:
    patch.setattr(Reader, "refusal", lambda self, agent, path, hits: None)


def _unredacted(patch: pytest.MonkeyPatch) -> None:
    patch.setattr(Reader, "redact", lambda self, session: session)


def _ungated(patch: pytest.MonkeyPatch) -> None:
    patch.setattr(Reader, "scan", lambda self, texts, let_in=frozenset(): ())


def _counted(patch: pytest.MonkeyPatch) -> None:
    plain = reading._unknown
    patch.setattr(reading, "_unknown", lambda session, refused: plain(session, refused=False))


def _talkative(patch: pytest.MonkeyPatch) -> None:
    _crashing(patch)
    patch.setattr(unattended, "frames", lambda wrong: [str(wrong)])


MUTANTS: Final[dict[str, Patch]] = {
    "transcripts are not scanned": _unscanned,
    "a refusal is not heeded": _unrefused,
    "turns are not redacted": _unredacted,
    "what was put together is not scanned again": _ungated,
    "unknown records of a refused transcript are named": _counted,
    "a report of a crash quotes its message": _talkative,
}


@pytest.mark.parametrize("name", MUTANTS)
def test_each_stage_is_needed(name: str, home: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """With any one stage skipped a canary is found: so the test above can fail."""
    planted = plant(home)
    MUTANTS[name](monkeypatch)
    found = leaks(planted, home, _nights(home))
    assert found
