"""``dreaming redaction copy``: what may be shown is complete, redacted and private."""

from __future__ import annotations

import json
import os
from pathlib import Path

import pytest

from dreaming.cli.main import run
from tests.rules.redaction_samples import github_token, record

HOME = "/home/trillian4"


@pytest.fixture(autouse=True)
def alone(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Nobody's home and settings."""
    monkeypatch.setenv("HOME", str(tmp_path / "home"))
    monkeypatch.setenv("XDG_CONFIG_HOME", str(tmp_path / "config"))
    monkeypatch.setenv("XDG_STATE_HOME", str(tmp_path / "state"))
    monkeypatch.delenv("DREAMING_WORKSPACE", raising=False)
    monkeypatch.chdir(tmp_path)


def test_copies_are_redacted_complete_and_private(tmp_path: Path) -> None:
    """Contents and names of files and folders; a last line without a line end as well."""
    source = tmp_path / "projects" / "-home-trillian4-code"
    source.mkdir(parents=True)
    data = record(f"cd {HOME}/code, trillian4") * 3
    (source / "a.jsonl").write_bytes(data.rstrip(b"\n"))
    assert run(["redaction", "copy", "projects", "--to", "out"]) == 0
    (copied,) = Path("out").rglob("*.jsonl")
    assert str(copied) == "out/projects/home-code/a.jsonl"
    assert copied.stat().st_mode & 0o777 == 0o600
    text = copied.read_text()
    assert text.count("\n") == 2
    assert "trillian4" not in text
    assert len(list(map(json.loads, text.splitlines()))) == 3


def test_what_may_hold_a_credential_is_not_copied(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """It ends with 4 and names rule and record, never the value."""
    token = github_token()
    (tmp_path / "bad.jsonl").write_bytes(record("x") + record(token))
    (tmp_path / "good.jsonl").write_bytes(record("y"))
    assert run(["redaction", "copy", "bad.jsonl", "good.jsonl", "--to", "out", "--json"]) == 4
    printed = capsys.readouterr()
    bad, good = map(json.loads, printed.out.splitlines())
    assert (bad["verdict"], bad["hits"][0]["record"]) == ("excluded", 2)
    assert good["verdict"] == "copied"
    assert token not in printed.out + printed.err
    assert [one.name for one in Path("out").iterdir()] == ["good.jsonl"]


def test_what_a_name_tells_is_not_copied(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """A file below a folder that is called like a token has no copy under that name."""
    (tmp_path / "all" / github_token()).mkdir(parents=True)
    (tmp_path / "all" / github_token() / "a.jsonl").write_bytes(record("x"))
    assert run(["redaction", "copy", "all", "--to", "out"]) == 1
    assert "looks like a credential" in capsys.readouterr().out
    assert not list(tmp_path.glob("out/**/*.jsonl"))


def test_what_is_no_file_is_not_waited_for(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """A pipe that nobody writes into would be read for ever."""
    os.mkfifo(tmp_path / "pipe.jsonl")
    assert run(["redaction", "copy", "pipe.jsonl", "--to", "out"]) == 1
    assert "no regular file" in capsys.readouterr().out


def test_nothing_is_replaced_unasked(tmp_path: Path) -> None:
    """Neither an earlier copy nor the transcript itself."""
    (tmp_path / "a.jsonl").write_bytes(record("one"))
    assert run(["redaction", "copy", "a.jsonl", "--to", "out"]) == 0
    (tmp_path / "a.jsonl").write_bytes(record("two"))
    assert run(["redaction", "copy", "a.jsonl", "--to", "out"]) == 1
    assert b"one" in Path("out/a.jsonl").read_bytes()
    assert run(["redaction", "copy", "a.jsonl", "--to", "out", "--force"]) == 0
    assert b"two" in Path("out/a.jsonl").read_bytes()
    assert run(["redaction", "copy", "a.jsonl", "--to", ".", "--force"]) == 1
    assert b"two" in (tmp_path / "a.jsonl").read_bytes()


def test_the_settings_patterns_are_checked(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """A mistake is told by file, key and position."""
    (tmp_path / "config" / "dreaming").mkdir(parents=True)
    settings = tmp_path / "config" / "dreaming" / "config.toml"
    for pattern, told in (("a(b", "position 3"), ("x*", "empty text"), ("(a|aa)+$", "too long")):
        settings.write_text(f"patterns = ['ok', '{pattern}']\n")
        (tmp_path / "w").mkdir(exist_ok=True)
        (tmp_path / "w" / "dreaming.toml").touch()
        assert run(["status", "--workspace", "w"]) == 78
        said = capsys.readouterr().err
        assert f"{settings}:1: `patterns`: pattern 2" in said
        assert told in said
