"""What is wrong with files, settings and the machine: a clear end, and nothing settled is lost."""

from __future__ import annotations

import fcntl
import json
import os
import random
import resource
import shutil
import sqlite3
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from tests.acceptance import first_night
from tests.acceptance.installed import Dreaming, Here, copy_sample, like_anybody


@pytest.fixture
def dreaming(home: Path) -> Dreaming:
    """A home with a workspace and no transcripts."""
    dreaming = Here(home)
    assert dreaming.run("init").code == 0
    return dreaming


@pytest.fixture
def settled(dreaming: Dreaming) -> Dreaming:
    """A home with a few sessions, all of them settled."""
    some_sessions(dreaming.home, 4)
    assert dreaming.night()["read"] >= 4
    return dreaming


def some_sessions(home: Path, number: int) -> None:
    """Copy a few sessions of the sample; more are added by a higher number."""
    everything = home / "everything"
    copy_sample(everything)
    for path in sorted(everything.glob(".claude/**/*.jsonl"))[:number]:
        place = home / path.relative_to(everything)
        place.parent.mkdir(parents=True, exist_ok=True)
        if not place.exists():
            shutil.copy(path, place)
    shutil.rmtree(everything)


def only(home: Path, content: bytes) -> Path:
    """A home whose only transcript holds these bytes."""
    place = home / ".claude" / "projects" / "-home-robin-code-x" / "a.jsonl"
    place.parent.mkdir(parents=True)
    place.write_bytes(content)
    return place


# -- folders --------------------------------------------------------------------------------------


def test_folder_that_does_not_exist(dreaming: Dreaming) -> None:
    """A named folder that is not there ends with 2 and is named."""
    ran = dreaming.run("nightly", "--transcripts", "codex=/nowhere/at/all")
    assert ran.code == 2 and "/nowhere/at/all does not exist" in ran.err


def test_folder_that_is_a_file(dreaming: Dreaming) -> None:
    """A file in place of a folder ends with 2 and is named."""
    (dreaming.home / "file").write_text("x")
    ran = dreaming.run("nightly", "--transcripts", "codex=file")
    assert ran.code == 2 and "file is a file" in ran.err


def test_folder_without_the_right_to_read(dreaming: Dreaming) -> None:
    """A named folder that may not be read ends with 78, says so, and says what to do."""
    locked = dreaming.home / "locked"
    locked.mkdir(mode=0)
    ran = dreaming.run("nightly", "--transcripts", f"codex={locked}", before=like_anybody)
    locked.chmod(0o700)
    assert ran.code == 78 and f"{locked} may not be read" in ran.err


def test_empty_folder(dreaming: Dreaming) -> None:
    """Nothing to read is a night like any other: 0, and the watermark moves."""
    (dreaming.home / "empty").mkdir()
    report = dreaming.night("--transcripts", "codex=empty")
    assert report["found"] == 0 and report["outcome"] == "advanced" and report["watermark"]


# -- transcripts ----------------------------------------------------------------------------------


def huge_line(megabytes: int) -> bytes:
    """A session of two ordinary records with one very long line between them."""
    record = {
        "type": "user",
        "uuid": "1",
        "sessionId": "s",
        "cwd": "/home/robin/code/x",
        "timestamp": "2026-11-02T08:00:00.000Z",
        "message": {"role": "user", "content": "say something"},
    }
    first = json.dumps(record).encode()
    last = json.dumps({**record, "uuid": "3"}).encode()
    middle = first.replace(b"say something", b"a" * (megabytes << 20)).replace(b'"1"', b'"2"')
    return b"\n".join([first, middle, last, b""])


@pytest.mark.parametrize(
    "content",
    [
        pytest.param(b"", id="no bytes"),
        pytest.param(b"\n" * 1000, id="empty lines"),
        pytest.param(b"\0" * 100_000, id="zeros"),
        pytest.param(random.Random(1).randbytes(200_000), id="random bytes"),
        pytest.param(b"[" * 100_000, id="nested without end"),
        pytest.param(b'{"type":"user","message":', id="cut short"),
        pytest.param(
            '{"type":"user"}\ufeff\u2028\ud800'.encode("utf-8", "surrogatepass"), id="odd"
        ),
    ],
)
def test_transcript_that_holds_no_session(dreaming: Dreaming, content: bytes) -> None:
    """Whatever lies there: the night ends with 0 and the file is counted with a reason."""
    only(dreaming.home, content)
    report = dreaming.night()
    first_night.check_account(report)
    assert report["found"] == 1 and "processed" not in report["verdicts"]
    assert report["outcome"] == "advanced"
    assert dreaming.night()["read"] == 0


def test_very_long_line(dreaming: Dreaming) -> None:
    """A line of 40 MB costs that line: it is counted, and the session around it is read."""
    only(dreaming.home, huge_line(40))
    report = dreaming.night()
    first_night.check_account(report)
    assert report["verdicts"] == {"processed": 1}
    assert report["unreadable_lines"] == 1


def test_enormous_line(dreaming: Dreaming) -> None:
    """A line of 200 MB is no more than a line that is too long, in bounded memory."""
    only(dreaming.home, huge_line(200))

    def in_little_memory() -> None:
        resource.setrlimit(resource.RLIMIT_AS, (1 << 30, 1 << 30))

    ran = dreaming.run("nightly", "--since", "all", "--settle", "0", before=in_little_memory)
    assert ran.code == 0, ran.said
    assert "1 line could not be read" in ran.out


def test_transcript_without_the_right_to_read(dreaming: Dreaming) -> None:
    """One file that may not be read fails alone: it is counted, named by reason, tried again."""
    some_sessions(dreaming.home, 3)
    locked = sorted(dreaming.home.glob(".claude/**/*.jsonl"))[0]
    locked.chmod(0)
    ran = dreaming.run("nightly", "--since", "all", "--settle", "0", "--json", before=like_anybody)
    report = json.loads(ran.out)
    first_night.check_account(report)
    assert report["verdicts"]["failed"] == 1 and report["verdicts"]["processed"] == 2
    assert report["outcome"] != "advanced"
    locked.chmod(0o600)
    assert dreaming.night()["verdicts"] == {"processed": 3}


# -- settings -------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("text", "line", "said"),
    [
        ("bakcend = 'offline'\n", 1, "did you mean `backend`"),
        ("# mine\n\nbackend = 7\n", 3, "backend"),
        ("backend = 'oracle'\n", 1, "oracle"),
        ("names = 'robin'\n", 1, "names"),
        ("backend = \n", 0, "TOML"),
        ("\n[anthropic]\nmax_tokens = 3\n", 3, "max_tokens"),
        ("[backfill]\nmoney = nan\n", 2, "money"),
        ("[backfill]\nmoney = inf\n", 2, "money"),
    ],
)
def test_wrong_settings(dreaming: Dreaming, text: str, line: int, said: str) -> None:
    """A wrong key or type in the person's settings ends with 78 and names file, line and key."""
    file = dreaming.home / "xdg_config_home" / "dreaming" / "config.toml"
    file.parent.mkdir(parents=True, exist_ok=True)
    file.write_text(text)
    ran = dreaming.run("nightly")
    assert ran.code == 78 and said in ran.err
    assert (f"{file}:{line}" if line else str(file)) in ran.err


@pytest.mark.parametrize(
    "said", [("--money", "nan"), ("--money", "inf"), ("--tokens", "9" * 30), ("--minutes", "0")]
)
def test_limit_that_is_none(dreaming: Dreaming, said: tuple[str, str]) -> None:
    """What would be no limit at all ends with 2, and nothing is remembered of it."""
    ran = dreaming.run("backfill", "--yes", *said)
    assert ran.code == 2 and said[0] in ran.err
    assert dreaming.run("status", "--json").document()["backfill"] is None


@pytest.mark.parametrize(
    "text",
    [
        "backend = 'anthropic'\n",
        "[anthropic]\nbase_url = 'https://collector.example'\n",
        "replay_answers = '/tmp/answers'\n",
        "[transcripts]\ncodex = ['/']\n",
        "[alert]\ncommand = 'curl collector.example'\n",
    ],
)
def test_workspace_that_wants_too_much(dreaming: Dreaming, text: str) -> None:
    """What came with a repository may not say where text goes or what runs: 78, by name."""
    file = dreaming.workspace / "dreaming.toml"
    file.write_text(f"max_pending = 5\n{text}")
    ran = dreaming.run("nightly")
    key = text.split(" ")[0].strip("[]\n").split("]")[0]
    assert ran.code == 78 and f"{file}:2" in ran.err and key in ran.err


# -- the machine's state --------------------------------------------------------------------------


def database(dreaming: Dreaming) -> Path:
    """Where the state is."""
    return dreaming.state / "state.db"


def test_state_that_is_locked(settled: Dreaming) -> None:
    """A database that another program holds ends with 75 and is named; later all is well."""
    held = sqlite3.connect(database(settled), isolation_level=None)
    held.execute("begin exclusive")
    some_sessions(settled.home, 5)
    ran = settled.run("nightly", "--since", "all", "--settle", "0")
    held.close()
    assert ran.code == 75 and "locked" in ran.err
    assert settled.night()["read"] == 1


@pytest.mark.parametrize("place", [0, 4096])
def test_state_that_is_corrupt(settled: Dreaming, place: int) -> None:
    """A database with foreign bytes in it ends with 78, is named, and is left as it is."""
    file = database(settled)
    broken = file.read_bytes()[:place] + os.urandom(2000) + file.read_bytes()[place + 2000 :]
    file.write_bytes(broken)
    ran = settled.run("nightly", "--since", "all", "--settle", "0")
    assert ran.code == 78 and str(file) in ran.err and "No decision is lost" in ran.err
    assert file.read_bytes() == broken


def test_state_of_a_newer_version(settled: Dreaming) -> None:
    """A database that a newer version wrote ends with 78 and asks for an update."""
    with sqlite3.connect(database(settled)) as newer:
        newer.execute(
            "insert into _sqlite_migrations (migration_set, name, applied_at)"
            " values ('dreaming', 'm999_later', '2027-01-01')"
        )
    newer.close()
    ran = settled.run("nightly")
    assert ran.code == 78 and "newer version" in ran.err and "Update" in ran.err


def test_second_run_at_once(settled: Dreaming) -> None:
    """While a run holds the lock another ends with 75 and says who holds it since when."""
    with (settled.state / "run.lock").open("w") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
        lock.write("process 4711, since 2026-11-30T02:00:00+00:00")
        lock.flush()
        ran = settled.run("nightly")
        assert ran.code == 75 and "process 4711, since 2026-11-30T02:00" in ran.err
    assert settled.run("nightly").code == 0


@pytest.mark.parametrize("which", ["state", "pending"])
def test_folder_without_the_right_to_write(settled: Dreaming, which: str) -> None:
    """A read-only folder ends with 78 and is named; with the right back nothing is missing."""
    folder = settled.state if which == "state" else settled.workspace / "pending"
    copy_sample(settled.home)
    rights(folder, 0o500, 0o400)
    ran = settled.run("nightly", "--since", "all", "--settle", "0", before=like_anybody)
    rights(folder, 0o700, 0o600)
    assert ran.code == 78 and str(folder) in ran.err, ran.said
    report = settled.night()
    first_night.check_account(report)
    assert len(settled.pending()) == report["queue"]["waiting"]


def rights(folder: Path, of_folder: int, of_files: int) -> None:
    """Change the rights of a folder and of the files in it."""
    for path in folder.rglob("*"):
        path.chmod(of_folder if path.is_dir() else of_files)
    folder.chmod(of_folder)


def no_room(kilobytes: int) -> Callable[[], None]:
    """Before a command starts: let no file grow beyond this, as a full disk does."""

    def limit() -> None:
        resource.setrlimit(resource.RLIMIT_FSIZE, (kilobytes << 10, kilobytes << 10))

    return limit


@pytest.mark.parametrize("kilobytes", [0, 16, 64])
def test_full_disk(settled: Dreaming, kilobytes: int) -> None:
    """A disk that is full ends with 1 and says so; with room again nothing settled is lost."""
    before = cursors(settled)
    copy_sample(settled.home)
    ran = settled.run("nightly", "--since", "all", "--settle", "0", before=no_room(kilobytes))
    assert ran.code == 1 and ran.err.strip(), ran.said
    assert cursors(settled) >= before
    report = settled.night()
    first_night.check_account(report)
    assert report["outcome"] == "advanced" and report["verdicts"]["processed"] >= 30


def cursors(dreaming: Dreaming) -> set[tuple[Any, ...]]:
    """What is settled: path and bytes of every transcript."""
    with sqlite3.connect(database(dreaming)) as state:
        rows = set(
            state.execute(
                "select path, settled from cursors join transcripts on id = transcript"
                " where settled > 0"
            )
        )
    state.close()
    return rows
