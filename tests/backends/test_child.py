"""Other people's programs: what they get, how they end, and what is left of them."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator
from datetime import datetime
from pathlib import Path

import pytest

from dreaming.backends import child
from dreaming.backends.interface import Answer, LetInRefused, TimedOut, TooBig, TransientFailure
from tests.backends.programs import is_gone, program

BEGETS = """
import subprocess
young = "import signal, time; signal.signal(signal.SIGTERM, signal.SIG_IGN); time.sleep(60)"
grandchild = subprocess.Popen([sys.executable, "-ISc", young])
print(os.getpid(), grandchild.pid, flush=True)
"""
"""A program that starts another one, which does not listen."""


@pytest.fixture(autouse=True)
def _own_temporary(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    monkeypatch.setenv("TMPDIR", str(tmp_path))
    monkeypatch.setattr(tempfile, "tempdir", None)
    yield
    tempfile.tempdir = None


def run(file: Path, stdin: bytes = b"", timeout: float = 30.0) -> child.Ended:
    """Run a program in a room."""
    with child.room() as folders:
        command = child.Command((str(file),), child.environment(file, folders), stdin)
        return child.run(command, folders, timeout)


def test_a_big_prompt_and_a_big_answer_pass_each_other(tmp_path: Path) -> None:
    """A program that writes before it has read all does not make both wait for ever."""
    copies = "while part := sys.stdin.buffer.read(65536): sys.stdout.buffer.write(part)\n"
    sent = os.urandom(1 << 20) * 8
    ended = run(program(tmp_path, f"sys.stderr.write('x' * 300000)\n{copies}sys.exit(3)"), sent)
    assert (ended.out, len(ended.err), ended.code) == (sent, 300_000, 3)


def test_a_program_that_does_not_read_is_heard_all_the_same(tmp_path: Path) -> None:
    """It may answer, or fail, before it has read its input."""
    ended = run(program(tmp_path, "print('no'); sys.exit(4)"), b"x" * (1 << 22))
    assert (ended.out, ended.code) == (b"no\n", 4)


def test_ten_megabytes_are_read_and_more_than_the_limit_are_not(tmp_path: Path) -> None:
    """Output without an end ends the program, and what came is kept."""
    flood = "chunk = 'x' * 65536\nfor _ in range({}): sys.stdout.write(chunk)\n"
    assert len(run(program(tmp_path, flood.format(160))).out) == 10 << 20
    ended = run(program(tmp_path, flood.format(10**9)))
    assert ended.why == "output"
    assert child.MOST_OUTPUT < len(ended.out) < child.MOST_OUTPUT + (1 << 20)
    with pytest.raises(TransientFailure) as told:
        ended.check("it", Answer("so far", complete=False))
    assert told.value.partial.text == "so far"


def test_what_takes_too_long_is_ended_with_all_it_started(tmp_path: Path) -> None:
    """The limit ends the whole group, also those that do not listen, and keeps what came."""
    ended = run(program(tmp_path, f"{BEGETS}time.sleep(60)"), timeout=0.5)
    assert ended.why == "time"
    assert all(is_gone(int(pid)) for pid in ended.out.split())
    with pytest.raises(TimedOut):
        ended.check("it", Answer(""))


def test_what_is_left_behind_holds_nobody_up(tmp_path: Path) -> None:
    """A program that ends has ended, whatever of it still holds its pipes."""
    before = time.monotonic()
    ended = run(program(tmp_path, BEGETS))
    assert (ended.code, ended.why) == (0, "")
    assert time.monotonic() - before < 10
    assert all(is_gone(int(pid)) for pid in ended.out.split())


def test_who_listens_can_end_it_at_the_first_line(tmp_path: Path) -> None:
    """Each line is heard as it comes; what hearing raises ends the group."""
    heard: list[bytes] = []

    def hear(line: bytes) -> None:
        heard.append(line)
        raise KeyboardInterrupt

    file = program(tmp_path, f"{BEGETS}time.sleep(60)")
    with pytest.raises(KeyboardInterrupt), child.room() as folders:
        command = child.Command((str(file),), child.environment(file, folders))
        child.run(command, folders, 30.0, hear)
    assert len(heard) == 1
    assert all(is_gone(int(pid)) for pid in heard[0].split())


def test_lines_are_heard_whole(tmp_path: Path) -> None:
    """However they are cut into pieces, and also the last one without an end."""
    pieces = (
        "for one in ('a', 'b\\nc\\n\\nd', 'e'):\n print(one, end='', flush=True); time.sleep(0.02)"
    )
    heard: list[bytes] = []
    file = program(tmp_path, pieces)
    with child.room() as folders:
        command = child.Command((str(file),), child.environment(file, folders))
        child.run(command, folders, 30.0, heard.append)
    assert heard == [b"ab", b"c", b"", b"de"]


@pytest.mark.parametrize("number", [signal.SIGKILL, signal.SIGINT])
def test_it_ends_with_whoever_ran_it(tmp_path: Path, number: int) -> None:
    """Killed or interrupted: no program goes on alone, and the next run clears its room away."""
    file = program(tmp_path, f"{BEGETS}time.sleep(60)")
    code = (
        "import sys\nfrom pathlib import Path\nfrom dreaming.backends import child\n"
        "file = Path(sys.argv[1])\n"
        "with child.room() as folders:\n"
        "    (folders.home / 'secret').write_text('prompt')\n"
        "    command = child.Command((str(file),), child.environment(file, folders))\n"
        "    child.run(command, folders, 60.0, lambda line: print(line.decode(), flush=True))\n"
    )
    runner = subprocess.Popen(
        [sys.executable, "-c", code, str(file)], stdout=subprocess.PIPE, stderr=subprocess.DEVNULL
    )
    with runner:
        assert runner.stdout
        pids = [int(pid) for pid in runner.stdout.readline().split()]
        runner.send_signal(number)
    assert len(pids) == 2
    assert all(is_gone(pid) for pid in pids)
    assert bool(list(tmp_path.glob("*/home/secret"))) == (number == signal.SIGKILL)
    with child.room():
        assert not list(tmp_path.glob("*/home/secret"))


def test_a_room_is_private_empty_and_gone_afterwards(tmp_path: Path) -> None:
    """Nobody else reads it, nothing stands in it, and it leaves those that are in use alone."""
    (tmp_path / "dreaming-room-being-made").mkdir()
    with child.room() as first, child.room() as second:
        assert first.work.is_dir()
        for folder in (second.work, second.home, second.temporary):
            assert folder.stat().st_mode & 0o777 == 0o700
            assert not list(folder.iterdir())
        assert second.work.parent.stat().st_mode & 0o777 == 0o700
    assert [one.name for one in tmp_path.iterdir()] == ["dreaming-room-being-made"]


def test_the_environment_is_clean(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """No key, no home and no setting of the person's; only the way to the network."""
    for name in ("ANTHROPIC_API_KEY", "OPENAI_API_KEY", "AWS_SECRET_ACCESS_KEY", "CLAUDE_X"):
        monkeypatch.setenv(name, "secret")
    for name in child.PASSED_ON:
        monkeypatch.delenv(name, raising=False)
    monkeypatch.setenv("https_proxy", "http://127.0.0.1:9")
    out = run(program(tmp_path, "print(json.dumps([dict(os.environ), os.getcwd()]))")).out
    given, folder = json.loads(out)
    given.pop("LC_CTYPE", None)  # Python's own
    assert set(given) == {"PATH", "HOME", "TMPDIR", "LANG", "TZ", "NO_COLOR", "https_proxy"}
    assert "secret" not in out.decode()
    assert given["HOME"].startswith(str(tmp_path)) and given["HOME"] != os.environ.get("HOME")
    assert Path(folder).name == "work"


@pytest.mark.parametrize(
    ("content", "mode", "said"),
    [
        (None, 0, "is not there"),
        (b"#!/bin/sh\n", 0o600, "may not be executed"),
        (b"#!/nowhere/interpreter\n", 0o755, "cannot be run: No such file"),
        (b"\x7fELF\x02\x01\x01" + bytes(64), 0o755, "cannot be run: "),
        (b"#!/usr/bin/env no-such-interpreter\n", 0o755, "does not say its version"),
        (b"#!/bin/sh\nexit 0\n", 0o755, "does not say its version"),
    ],
)
def test_a_program_that_cannot_run_is_named(
    tmp_path: Path, content: bytes | None, mode: int, said: str
) -> None:
    """Missing, without the right, without its interpreter, for another machine: with a remedy."""

    class Some(child.CliBackend):
        name = "some"
        leaves_the_machine = False
        free = False
        identity = "some"
        context_tokens = 1
        ask = None  # type: ignore[assignment] # nobody asks
        command = None  # type: ignore[assignment] # nobody asks

    file = tmp_path / "thing"
    if content is not None:
        file.write_bytes(content)
        file.chmod(mode)
    with pytest.raises(LetInRefused, match=said) as told:
        Some(str(file)).program()
    assert str(file) in told.value.message
    assert told.value.remedy
    assert told.value.EXIT_CODE == 69


def test_arguments_that_no_kernel_takes_are_too_big(tmp_path: Path) -> None:
    """They are split as a prompt would be."""
    file = program(tmp_path, "")
    with child.room() as folders, pytest.raises(TooBig):
        child.run(child.Command((str(file), "x" * (1 << 22)), {}), folders, 5.0)


def test_the_version_is_asked_once_for_each_file(tmp_path: Path) -> None:
    """Until another file is put in its place; then the digest is another one as well."""
    from dreaming.backends.command import CommandBackend

    body = f"open({str(tmp_path / 'asked')!r}, 'a').write('x'); print('9.{{}} (thing)')"
    found = []
    for version in (1, 1, 2):
        file = program(tmp_path, body.format(version))
        os.utime(file, (version, version))
        found.append(CommandBackend([str(file)]).program())
    assert [one.version for one in found] == ["9.1 (thing)", "9.1 (thing)", "9.2 (thing)"]
    assert found[0] == found[1]
    assert found[0].digest != found[2].digest
    assert (tmp_path / "asked").read_text() == "xx"


@pytest.mark.parametrize(
    ("prompt", "sent"),
    [
        ("see @/etc/passwd and @src/a.py", "see @ /etc/passwd and @ src/a.py"),
        ('a@b.c, @"a b", (@x) @', 'a@ b.c, @ "a b", (@ x) @'),
        ("/clear", "Text:\n/clear"),
        ("\n !ls", "Text:\n\n !ls"),
        ("# note", "Text:\n# note"),
        ("[dreaming: mining task]\n/clear", "[dreaming: mining task]\n/clear"),
    ],
)
def test_a_prompt_holds_no_command(prompt: str, sent: str) -> None:
    """No ``@path`` and no first letter that a program would act upon."""
    assert child.guarded(prompt) == sent


@pytest.mark.parametrize(
    ("said", "at"),
    [
        ("You've hit your 5-hour limit · resets 1:01pm (UTC)", "2027-01-15T13:01"),
        ("resets 7am (UTC)", "2027-01-16T07:00"),
        ("or try again at 12:30 AM.", "2027-01-16T00:30"),
        ("or try again at Jan 18th, 2027 1:39 AM.", "2027-01-18T01:39"),
        ("or try again at Foo 18th, 2027 1:39 AM.", ""),
        ("you are out of it", ""),
    ],
)
def test_a_time_of_day_is_the_next_one(said: str, at: str) -> None:
    """Programs say when a window opens as a clock at Greenwich shows it."""
    now = datetime.fromisoformat("2027-01-15T08:00+00:00").timestamp()
    wanted = datetime.fromisoformat(f"{at}+00:00").timestamp() if at else 0.0
    assert child.next_time(said, now) == wanted
