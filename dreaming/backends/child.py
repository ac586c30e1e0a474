"""Runs somebody else's program on a prompt, with nothing around it but what it is given.

No shell, a clean environment, an empty working folder, a home of its own that is gone afterwards, a
process group that ends as a whole: at its time limit, at too much output, with an exception, and
with this process, however that ends.
"""

from __future__ import annotations

import contextlib
import errno
import fcntl
import hashlib
import json
import math
import os
import re
import selectors
import shutil
import signal
import subprocess
import tempfile
import time
from abc import abstractmethod
from collections.abc import Callable, Iterator, Mapping, Sequence
from datetime import datetime
from pathlib import Path
from typing import IO, Any, Final

import msgspec

from dreaming.backends.interface import (
    Answer,
    Backend,
    LetInRefused,
    QuotaReached,
    Request,
    TimedOut,
    TooBig,
    TransientFailure,
)
from dreaming.errors import DreamingError
from dreaming.packets import visible

MOST_OUTPUT: Final = 16 << 20
"""Bytes that are read of each stream before the program is ended."""
PASSED_ON: Final = (
    "HTTPS_PROXY https_proxy HTTP_PROXY http_proxy NO_PROXY no_proxy "
    "SSL_CERT_FILE SSL_CERT_DIR NODE_EXTRA_CA_CERTS"
).split()
"""Variables that say how the network is reached from here: all that a program gets of ours."""

_SYSTEM_PATH: Final = "/usr/local/bin:/usr/bin:/bin"
_GRACE: Final = 0.5
"""Seconds between asking a group to end and ending it."""
_VERSION_SECONDS: Final = 30.0
_ROOM: Final = "dreaming-room-"
_LOCK: Final = "lock"
_CHUNK: Final = 1 << 16
_INSTALL: Final = "Install it, or give its whole path in your config.toml (docs/settings.md)."
_MENTION: Final = re.compile(r"@(?=\S)")
_DAY: Final = 86_400.0
_INSTANT: Final = re.compile(
    r"(?:(?P<month>[a-z]{3}) (?P<day>\d\d?)(?:st|nd|rd|th)?, (?P<year>\d{4}) )?"
    r"\b(?P<hour>1?\d)(?::(?P<minute>[0-5]\d))?\s?(?P<half>[ap])\.?m\b",
    re.IGNORECASE,
)
_WATCH: Final = ("/bin/sh", "-c", 'read -r _; kill -s KILL -- "-$1"', "sh")
"""Waits until nobody holds the other end of its input any more, then ends a process group."""


class Room(msgspec.Struct, frozen=True):
    """Private folders of one run, gone after it."""

    work: Path
    """The working folder: empty."""
    home: Path
    temporary: Path


class Program(msgspec.Struct, frozen=True):
    """A program as it is installed now."""

    path: Path
    version: str
    """The first line of what ``--version`` prints."""
    digest: str
    """64 hex characters that change when the file or the version does."""


class Command(msgspec.Struct, frozen=True):
    """What is run: exactly these arguments, this environment, this input."""

    argv: tuple[str, ...]
    environment: Mapping[str, str]
    stdin: bytes = b""


class Ended(msgspec.Struct):
    """How a program ended and what it said."""

    code: int = 0
    """Its exit code; below 0 the signal that ended it."""
    out: bytes = b""
    err: bytes = b""
    why: str = ""
    """Why it was ended before it ended by itself: ``time``, ``output``, or empty."""

    def check(self, program: str, partial: Answer) -> None:
        """Raise ``TimedOut`` or ``TransientFailure`` where it was ended, with what had come."""
        if self.why == "time":
            raise TimedOut(
                f"{program} took too long and was ended.",
                remedy="Give it more seconds by `timeout` in your config.toml, or run it yourself.",
                partial=partial,
            )
        if self.why:
            raise TransientFailure(
                f"{program} wrote without end, and was ended after {MOST_OUTPUT >> 20} MB.",
                remedy="Run it yourself; `dreaming quarantine list` has what it wrote.",
                partial=partial,
            )

    @property
    def words(self) -> str:
        """The end of what it said on stderr, on one line, fit to be shown."""
        return one_line(text(self.err[-4000:]))[-300:]


class CliBackend(Backend):
    """A backend that runs a program of the person's."""

    def __init__(self, program: str) -> None:
        """``program`` is a name or a path; nothing is looked for yet."""
        self._program = program

    def program(self) -> Program:
        """Return the program as it is installed now; raises ``LetInRefused`` where it cannot run.

        It is run for that, with ``--version``, once for each file that is put in its place.
        """
        path = find(self._program)
        key = stamp(path)
        if key not in _versions:
            with room() as folders:
                argv = (str(path), "--version")
                ended = run(Command(argv, environment(path, folders)), folders, _VERSION_SECONDS)
            lines = text(ended.out).strip().splitlines()
            if ended.code or ended.why or not lines:
                raise LetInRefused(
                    f"{path} does not say its version: {ended.words or ended.code}",
                    remedy=_INSTALL,
                )
            _versions[key] = one_line(lines[0])[:100]
        version = _versions[key]
        digest = hashlib.sha256("\0".join(map(str, (*key, version))).encode()).hexdigest()
        return Program(path, version, digest)

    @abstractmethod
    def command(self, request: Request, folders: Room) -> Command:
        """Return what ``ask`` runs for this request in these folders."""


_versions: dict[tuple[str, int, int], str] = {}
"""What ``--version`` said, by ``stamp``."""


def stamp(program: Path) -> tuple[str, int, int]:
    """Return what changes when another file is put in a program's place."""
    stat = program.stat()
    return str(program), stat.st_mtime_ns, stat.st_size


def find(program: str) -> Path:
    """Return where a program is, links not followed.

    A name is looked for in ``PATH``, then where these programs are put for one person alone, which
    a timer does not have in its path. Raises ``LetInRefused`` where it is not.
    """
    own = f"{Path.home()}/.local/bin:{Path.home()}/.claude/local:/opt/homebrew/bin"
    path = f"{os.environ.get('PATH') or _SYSTEM_PATH}:{own}:{_SYSTEM_PATH}"
    place = Path(program).expanduser()
    found = shutil.which(place, path=path)
    if found is None:
        there = place.exists()
        raise LetInRefused(
            f"{program} may not be executed." if there else f"The program {program} is not there.",
            remedy=_INSTALL,
        )
    return Path(found).absolute()


def guarded(prompt: str) -> str:
    """Return a prompt in which no program finds a command to itself.

    Several read ``@path`` as "attach this file", and a prompt that begins with ``/``, ``!`` or
    ``#`` as something to do.
    """
    plain = _MENTION.sub("@ ", prompt)
    return f"Text:\n{plain}" if plain.lstrip().startswith(("/", "!", "#")) else plain


def environment(program: Path, folders: Room, **more: str) -> dict[str, str]:
    """Return all that a program gets as its environment; no key and no setting of the person's.

    Times are those of Greenwich, so that one that is told without a zone can be understood.
    """
    return {
        "PATH": f"{program.parent}:{_SYSTEM_PATH}",
        "HOME": str(folders.home),
        "TMPDIR": str(folders.temporary),
        "LANG": "C.UTF-8",
        "TZ": "UTC",
        "NO_COLOR": "1",
        **{name: os.environ[name] for name in PASSED_ON if name in os.environ},
        **more,
    }


def text(output: bytes) -> str:
    """Return output as text that can be written to a file."""
    return output.decode("utf-8", "replace")


def one_line(said: str) -> str:
    """Return text on one line, with nothing in it that acts on a screen."""
    return " ".join(visible(said).split())


# -- a room ---------------------------------------------------------------------------------------


@contextlib.contextmanager
def room() -> Iterator[Room]:
    """Make private folders below the temporary folder for the time of the block.

    What a run that was killed left there is removed as well.
    """
    below = Path(tempfile.gettempdir())
    _clean(below)
    root = Path(tempfile.mkdtemp(prefix=_ROOM, dir=below))
    lock = _held(root)
    try:
        folders = Room(root / "work", root / "home", root / "tmp")
        for folder in (folders.work, folders.home, folders.temporary):
            folder.mkdir(mode=0o700)
        yield folders
    finally:
        shutil.rmtree(root, ignore_errors=True)
        os.close(lock)


def _held(root: Path) -> int:
    """Lock a room. The lock goes with the process that holds it; only a locked file gets its name.

    Otherwise another process could take a room that is being made for one that was left.
    """
    lock = os.open(root / "new", os.O_CREAT | os.O_RDWR | os.O_CLOEXEC, 0o600)
    fcntl.flock(lock, fcntl.LOCK_EX)
    (root / "new").rename(root / _LOCK)
    return lock


def _clean(below: Path) -> None:
    """Remove the rooms whose lock nobody holds."""
    for root in below.glob(f"{_ROOM}*"):
        with contextlib.suppress(OSError):  # somebody else's, in use, or gone by now
            lock = os.open(root / _LOCK, os.O_RDWR | os.O_CLOEXEC | os.O_NOFOLLOW)
            try:
                fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
                shutil.rmtree(root, ignore_errors=True)
            finally:
                os.close(lock)


# -- a run ----------------------------------------------------------------------------------------


def run(
    command: Command,
    folders: Room,
    timeout: float,
    hear: Callable[[bytes], None] | None = None,
) -> Ended:
    """Run a program to its end, or end it after ``timeout`` seconds or too much output.

    ``hear`` gets each line of stdout as it comes; what it raises ends the program and is raised.
    Nothing of the group is alive when this returns or raises. Raises ``LetInRefused`` where the
    program cannot be started and ``TooBig`` where its arguments are too long.
    """
    process = _start(command, folders)
    try:
        with _watched(process.pid):
            return _Pump(process, command.stdin, hear).until(time.monotonic() + timeout)
    finally:
        _end(process)


def _start(command: Command, folders: Room) -> subprocess.Popen[bytes]:
    program = command.argv[0]
    remedy = (
        f"Run `{program} --version` yourself: a script needs a first line that names a program of"
        " this machine (#!/bin/sh), anything else is to be installed anew."
    )
    try:
        return subprocess.Popen(
            command.argv,
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            cwd=folders.work,
            env=dict(command.environment),
            start_new_session=True,
            bufsize=0,
        )
    except OSError as wrong:
        if wrong.errno == errno.E2BIG:
            raise TooBig(f"{program} takes no arguments of this length.") from wrong
        raise LetInRefused(f"{program} cannot be run: {wrong.strerror}.", remedy=remedy) from wrong
    except ValueError as wrong:  # a NUL in an argument
        raise LetInRefused(f"{program} cannot be run: {wrong}.", remedy=remedy) from wrong


@contextlib.contextmanager
def _watched(group: int) -> Iterator[None]:
    """Let a process group end with this process, however that ends.

    ``PR_SET_PDEATHSIG`` does that on Linux alone and for the first process alone, and these
    programs are often a script that starts the real one.
    """
    watch = subprocess.Popen(
        (*_WATCH, str(group)),
        stdin=subprocess.PIPE,
        stdout=subprocess.DEVNULL,
        stderr=subprocess.DEVNULL,
        env={},
        start_new_session=True,
    )
    try:
        yield
    finally:
        watch.kill()  # before its input is closed, which would make it act
        watch.wait()
        if watch.stdin:
            watch.stdin.close()


class _Pump:
    """Moves bytes into and out of a program, none of it waiting for the other."""

    def __init__(
        self,
        process: subprocess.Popen[bytes],
        stdin: bytes,
        hear: Callable[[bytes], None] | None,
    ) -> None:
        assert process.stdin and process.stdout and process.stderr
        self._process = process
        self._left = memoryview(stdin)
        self._hear = hear
        self._line = bytearray()
        self._read = {process.stdout: bytearray(), process.stderr: bytearray()}
        self._selector = selectors.DefaultSelector()
        self._selector.register(process.stdin, selectors.EVENT_WRITE)
        for stream in self._read:
            self._selector.register(stream, selectors.EVENT_READ)
        for pipe in (process.stdin, process.stdout, process.stderr):
            os.set_blocking(pipe.fileno(), False)

    def until(self, deadline: float) -> Ended:
        """Return how it ended; the process is still to be reaped."""
        with self._selector:
            why = self._move(deadline)
        out, err = (bytes(read) for read in self._read.values())
        if why:
            return Ended(out=out, err=err, why=why)
        if self._hear and self._line:
            self._hear(bytes(self._line))
        return Ended(self._process.wait(), out, err)

    def _move(self, deadline: float) -> str:
        """Return why it has to be ended, once it has; empty where it ended by itself."""
        while self._process.poll() is None:
            left = deadline - time.monotonic()
            if left <= 0:
                return "time"
            if not self._open and self._wait(min(left, 0.05)):
                break
            if self._step(min(left, 0.1)):
                return "output"
        _signal(self._process.pid, signal.SIGKILL)  # what it left behind would hold the pipes
        while self._open:
            if time.monotonic() > deadline + _GRACE:
                return "time"
            if self._step(0.1):
                return "output"
        return ""

    @property
    def _open(self) -> bool:
        return any(stream in self._selector.get_map() for stream in self._read)

    def _wait(self, seconds: float) -> bool:
        with contextlib.suppress(subprocess.TimeoutExpired):
            self._process.wait(seconds)
            return True
        return False

    def _step(self, seconds: float) -> bool:
        """Move what can be moved now; return whether there is too much of it."""
        for key, _ in self._selector.select(seconds):
            stream = key.fileobj
            if stream is self._process.stdin:
                self._write(self._process.stdin)
                continue
            assert not isinstance(stream, int)
            got = os.read(key.fd, _CHUNK)
            if not got:
                self._selector.unregister(stream)
                continue
            read = self._read[stream]  # type: ignore[index] # only its own streams are registered
            read += got
            if stream is self._process.stdout:
                self._tell(got)
            if len(read) > MOST_OUTPUT:
                return True
        return False

    def _write(self, stdin: IO[bytes]) -> None:
        try:
            written = os.write(stdin.fileno(), self._left[:_CHUNK]) if self._left else 0
        except BrokenPipeError:  # it reads no further: its answer and exit code say why
            self._left = self._left[:0]
        else:
            self._left = self._left[written:]
        if not self._left:
            self._selector.unregister(stdin)
            stdin.close()

    def _tell(self, got: bytes) -> None:
        if not self._hear:
            return
        *lines, rest = got.split(b"\n")
        for line in lines:
            self._hear(bytes(self._line + line))
            self._line.clear()
        self._line += rest


def _end(process: subprocess.Popen[bytes]) -> None:
    """End a group, politely where its first process still runs, and let go of it."""
    if process.poll() is None:
        _signal(process.pid, signal.SIGTERM)
        with contextlib.suppress(subprocess.TimeoutExpired):
            process.wait(_GRACE)
    _signal(process.pid, signal.SIGKILL)
    process.wait()
    for pipe in (process.stdin, process.stdout, process.stderr):
        if pipe:
            with contextlib.suppress(OSError):
                pipe.close()


def _signal(group: int, number: int) -> None:
    with contextlib.suppress(ProcessLookupError, PermissionError):  # macOS: only zombies are left
        os.killpg(group, number)


# -- what several of them say ---------------------------------------------------------------------

Row = tuple[Callable[..., DreamingError], str, str, str]
"""An error, a sentence, a remedy, and words, a bar between them, of which one is told then."""


def failure(
    rows: Sequence[Row], told: str, signs: str, partial: Answer, now: float, until: float = 0.0
) -> DreamingError:
    """Return the error of the first row that fits what a program told or its other signs.

    The last row fits always: it has no words. ``until`` is when a quota starts anew; otherwise
    that may stand in what was told.
    """
    plain = f"{straight(told)} {signs.lower()}"
    for kind, sentence, remedy, words in rows:
        if any(word in plain for word in words.split("|")):
            more = {"not_before": until or next_time(told, now)} if kind is QuotaReached else {}
            message = f"{sentence}: {one_line(told)[:300]}"
            return kind(message, remedy=remedy, partial=partial, **more)
    raise AssertionError(rows)


def record(line: bytes) -> Mapping[str, Any]:
    """Return the JSON object in a line; an empty one for a notice or half a line."""
    try:
        return table(json.loads(line))
    except (ValueError, RecursionError):
        return {}


def table(value: object) -> Mapping[str, Any]:
    """Return what should be an object; an empty one where it is none."""
    return value if isinstance(value, dict) else {}


def number(value: object) -> float:
    """Return what should be a number; 0.0 where it is none."""
    return float(value) if isinstance(value, int | float) and math.isfinite(value) else 0.0


def straight(said: str) -> str:
    """Return a sentence as it is compared: lower case, with straight apostrophes."""
    return one_line(said).replace("\u2019", "'").lower()


def next_time(said: str, now: float) -> float:
    """Return the instant that a sentence names, in seconds since 1970; 0.0 where it names none.

    ``5pm``, ``1:18 PM`` and ``Dec 1st, 2026 1:39 AM`` are instants of a clock at Greenwich; without
    a day it is the next time that this clock shows it.
    """
    found = _INSTANT.search(said)
    if found is None:
        return 0.0
    hour = int(found["hour"]) % 12 + (12 if found["half"].lower() == "p" else 0)
    seconds = hour * 3600.0 + int(found["minute"] or 0) * 60.0
    if found["year"] is None:
        return now + (seconds - now) % _DAY
    with contextlib.suppress(ValueError):
        day = f"{found['month']} {found['day']} {found['year']} +0000"
        return datetime.strptime(day, "%b %d %Y %z").timestamp() + seconds
    return 0.0
