"""``dreaming redaction`` as a person and a script run it: what is shown, codes, and the guard."""

from __future__ import annotations

import functools
import io
import json
import re
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from dreaming.cli.main import run
from dreaming.redaction.detector import RULES, Detector
from dreaming.stores.workspace import Workspace, lay_out, state_home
from tests.jobs.world import HOUR, KEY, World, session
from tests.rules.redaction_samples import example, github_token

Capture = pytest.CaptureFixture[str]
_ASSIGNED = next(rule for rule in RULES if rule.name == "assigned-secret")


@pytest.fixture(autouse=True)
def compiled_once(monkeypatch: pytest.MonkeyPatch) -> None:
    """Each command makes the rules anew; here they share what that gives."""
    monkeypatch.setattr("dreaming.redaction.engine.Detector", _detector)


_detector = functools.cache(Detector)


def _says(text: str) -> dict[str, str]:
    return {"kind": "result", "speaker": "tool", "tool": "shell", "text": text}


@pytest.fixture
def world(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> World:
    """One clean session, one held, one excluded, in the workspace that commands find."""
    made = World(tmp_path)
    made.place = Workspace(made.place.root, state_home())
    lay_out(made.place, {"dreaming.toml": ""}, KEY)
    session(made.sessions, "alpha", ["watch", "push"])
    session(made.sessions, "beta", ["watch", "push"], extra=[_says(example(_ASSIGNED))])
    tokens = [_says(github_token(str(number))) for number in (1, 2, 1)]
    session(made.sessions, "gamma", ["watch", "push"], extra=tokens)
    made.night()
    monkeypatch.setenv("DREAMING_WORKSPACE", str(made.place.root))
    return made


def said(capsys: Capture, *words: str, code: int = 0) -> tuple[str, str]:
    """What a command prints: data, narration. No value of a credential is in either."""
    assert run(["redaction", *words]) == code
    told = capsys.readouterr()
    for value in (github_token("1"), github_token("2")):
        assert value not in told.out + told.err
    return told.out, told.err


def lines(capsys: Capture, *words: str, code: int = 0) -> list[dict[str, Any]]:
    """What a command prints for scripts."""
    out, _ = said(capsys, *words, "--json", code=code)
    assert out.isascii()
    return [json.loads(one) for one in out.splitlines()]


def _masked(text: str, world: World) -> str:
    text = text.replace(str(world.sessions), "<sessions>")
    text = re.sub(r"\b[0-9a-f]{16}\b", "<fingerprint>", text)
    text = re.sub(r"\b(?=[0-9a-f]*[0-9])[0-9a-f]{8}\b", "<id>", text)
    text = re.sub(r"\d+\.\d (KB|%)|\d+\.\d%", "<size>", text)
    return re.sub(r"( looks for: |    no hit is ).*", r"\1…", text)


def test_list_reads_as_expected(
    world: World, capsys: Capture, golden: Callable[[str, str], None]
) -> None:
    """By rule and by transcript, with the records and what it costs."""
    golden(_masked(said(capsys, "list")[0], world), "txt")


def test_explain_reads_as_expected(
    world: World, capsys: Capture, golden: Callable[[str, str], None]
) -> None:
    """The same by path, by id and by fingerprint; it says what can be done."""
    path = str(world.sessions / "beta.jsonl")
    out, _ = said(capsys, "explain", path)
    golden(_masked(out, world), "txt")
    (one,) = lines(capsys, "held")
    for wanted in (one["id"][:6], one["hits"][0]["fingerprint"]):
        assert said(capsys, "explain", wanted)[0] == out
    assert "Nothing that was left out" in said(capsys, "explain", "reef", code=2)[1]


def test_list_for_scripts(world: World, capsys: Capture) -> None:
    """One object a transcript, its hits with record, rule, severity, fingerprint and day."""
    found = lines(capsys, "list")
    assert [one["verdict"] for one in found] == ["excluded", "held"]
    (first, second, third) = found[0]["hits"]
    assert first["fingerprint"] == third["fingerprint"] != second["fingerprint"]
    assert third["record"] == first["record"] + 2
    assert {"record", "rule", "severity", "fingerprint", "since"} == set(first)


def test_a_word_is_said_by_a_person(
    world: World, capsys: Capture, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Inside an agent every word is refused, and nothing is in the ledger."""
    monkeypatch.setenv("CLAUDECODE", "1")
    one = lines(capsys, "held")[0]
    mark = one["hits"][0]["fingerprint"]
    for words in (
        ("release", one["id"]),
        ("allow", mark, "--why", "it is invented"),
        ("disallow", mark),
    ):
        assert "A person decides" in said(capsys, *words, code=4)[1]
    assert not list(world.place.ledger.glob("reviewed-*"))
    said(capsys, "release", one["id"], "--i-am-a-person")


def test_release_and_undo(world: World, capsys: Capture) -> None:
    """What is held can be released by the beginning of its id; what is excluded cannot."""
    excluded, held = lines(capsys, "list")
    assert "only what is held" in said(capsys, "release", excluded["id"], code=4)[1]
    assert "released" in said(capsys, "release", held["id"][:8], "--why", "invented")[0]
    assert "That was said" in said(capsys, "release", held["id"], code=3)[1]
    world.now += 24 * HOUR
    world.night()
    assert "Nothing is held" in said(capsys, "held")[1]
    assert run(["undo"]) == 0
    out, err = capsys.readouterr()
    assert "release of a hit" in out and "next night" in err
    world.now += 24 * HOUR
    world.night()
    assert lines(capsys, "held")[0]["id"] == held["id"]
    assert run(["ledger", "verify"]) == 0


def test_allow_and_disallow(world: World, capsys: Capture) -> None:
    """By a whole fingerprint, with a reason that may be kept; a second time it is known."""
    mark = lines(capsys, "held")[0]["hits"][0]["fingerprint"]
    assert "is no fingerprint" in said(capsys, "allow", mark[:8], "--why", "x", code=2)[1]
    assert "credential" in said(capsys, "allow", mark, "--why", github_token(), code=4)[1]
    assert "in 1 transcript" in said(capsys, "allow", mark, "--why", "invented")[0]
    said(capsys, "allow", mark, "--why", "invented", code=3)
    path = str(world.sessions / "beta.jsonl")
    assert "1 hit allowed" in said(capsys, "check", path)[1]
    said(capsys, "disallow", mark)
    said(capsys, "check", path, code=4)
    assert "is not allowed" in said(capsys, "disallow", mark, code=2)[1]


def test_on_a_terminal_one_key_is_a_word(
    world: World, capsys: Capture, monkeypatch: pytest.MonkeyPatch
) -> None:
    """``e`` explains and asks again, what is no key changes nothing, ``r`` releases."""
    session(world.sessions, "delta", ["watch"], extra=[_says(example(_ASSIGNED, "2"))])
    world.night()
    monkeypatch.setattr("sys.stdin.isatty", lambda: True)
    monkeypatch.setattr("sys.stdout.isatty", lambda: True)
    keys = iter("\r?erq")
    monkeypatch.setattr("click.getchar", lambda: next(keys))
    out, err = said(capsys, "held")
    assert "What you can do" in out and out.count("released") == 1
    assert "0 transcripts not looked at" in err
    world.now += 24 * HOUR
    world.night()
    assert len(lines(capsys, "held")) == 1


def test_a_value_is_allowed_on_a_terminal_only_by_a_yes(
    world: World, capsys: Capture, monkeypatch: pytest.MonkeyPatch
) -> None:
    """It shows where it stands and asks."""
    mark = lines(capsys, "held")[0]["hits"][0]["fingerprint"]
    monkeypatch.setattr("sys.stdin.isatty", lambda: True)
    monkeypatch.setattr("click.confirm", lambda *_, **__: False)
    assert "beta.jsonl" in said(capsys, "allow", mark, "--why", "invented", code=4)[0]
    monkeypatch.setattr("click.confirm", lambda *_, **__: True)
    assert "allowed" in said(capsys, "allow", mark, "--why", "invented")[0]


def test_a_workspace_may_only_be_stricter(world: World, capsys: Capture) -> None:
    """``medium`` may stand in dreaming.toml; then nothing can be released."""
    world.place.settings.write_text('medium = "exclude"\n')
    one = lines(capsys, "held")[0]
    assert 'medium = "exclude"' in said(capsys, "release", one["id"], code=4)[1]
    world.place.settings.write_text('medium = "pass"\n')
    assert "medium" in said(capsys, "list", code=78)[1]


def test_status_and_doctor_say_what_is_left_out(world: World, capsys: Capture) -> None:
    """With the command that asks about it."""
    assert run(["status"]) == 0
    assert "1 excluded, 1 held: dreaming redaction held" in capsys.readouterr().out
    run(["doctor", "--json"])
    checks = {one["name"]: one for one in json.loads(capsys.readouterr().out)["checks"]}
    assert "1 are excluded, 1 held, 0 failed" in checks["left out"]["said"]


# -- check and rules ------------------------------------------------------------------------------


@pytest.fixture
def bare(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A folder, and no workspace."""
    monkeypatch.chdir(tmp_path)
    return tmp_path


def test_check_needs_no_workspace(bare: Path, capsys: Capture) -> None:
    """0 where nothing is found, 4 where something is, 1 where a file could not be scanned."""
    (bare / "clean.txt").write_text("nothing\n")
    assert "0 hits in 1 file" in said(capsys, "check", ".")[1]
    (bare / "binary").write_bytes(b"\0\1")
    assert "is binary" in said(capsys, "check", ".", code=1)[1]
    assert "cannot be read" in said(capsys, "check", "nowhere", "--quiet", code=1)[1]
    (bare / "leak.txt").write_text(f"a\n{github_token()}\n{example(_ASSIGNED)}\n")
    out, err = said(capsys, "check", ".", code=4)
    assert "leak.txt:2: github-token  high" in out and "leak.txt:3: assigned-secret" in out
    assert "this run only" in err and "is binary" in err


def test_check_for_scripts(bare: Path, capsys: Capture) -> None:
    """One object a hit; fingerprints of two runs without a workspace have nothing in common."""
    (bare / "leak.txt").write_text(f"a\n{github_token()}\n{example(_ASSIGNED)}\n")
    first, second = (lines(capsys, "check", "leak.txt", code=4) for _ in range(2))
    assert set(first[0]) == {"path", "record", "rule", "severity", "fingerprint"}
    assert first[0]["fingerprint"] != second[0]["fingerprint"]
    assert (first[0]["path"], first[0]["record"]) == ("leak.txt", 2)
    (only,) = lines(capsys, "check", "leak.txt", "--severity", "medium", code=4)
    assert only["rule"] == "assigned-secret"
    (bare / "leak.txt").write_text(example(_ASSIGNED))
    assert lines(capsys, "check", "leak.txt", "--severity", "high") == []


def test_check_reads_the_standard_input(
    bare: Path, capsys: Capture, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A dash is what is piped in; nothing in it is clean."""
    for text, code in ((b"", 0), (f"x {github_token()}".encode(), 4)):
        monkeypatch.setattr(sys, "stdin", io.TextIOWrapper(io.BytesIO(text)))
        assert [one["path"] for one in lines(capsys, "check", "-", code=code)] == ["-"] * (code > 0)


def test_check_takes_many_files(bare: Path, capsys: Capture) -> None:
    """Thousands of small ones are no trouble, and each is counted."""
    for number in range(1500):
        (bare / f"{number}.txt").write_text(f"line {number}\n")
    (bare / "0.txt").write_text(github_token())
    assert "1 hit in 1500 files" in said(capsys, "check", str(bare), code=4)[1]


def test_rules_are_listed_whole(capsys: Capture) -> None:
    """Every rule with what it looks for, what it is not, and its source."""
    found = lines(capsys, "rules")
    assert {one["name"] for one in found} == {rule.name for rule in RULES}
    assert all(all(one.values()) for one in found)
    assert {one["severity"] for one in found} == {"high", "medium"}
    assert "github-token  high" in said(capsys, "rules")[0]
