"""Redacted copies of transcripts, to be shown to others; or why one may not be shown."""

from __future__ import annotations

import contextlib
import os
import re
import stat
from collections.abc import Collection, Iterable, Iterator, Sequence
from pathlib import Path
from typing import Final

import msgspec

from dreaming.jobs.progress import Progress
from dreaming.redaction.engine import Hit, Redactor, ScanFailed
from dreaming.redaction.lane import Blocks, Excluded, Redacted
from dreaming.stores import files
from dreaming.transcripts.interface import Block
from dreaming.transcripts.reading import BLOCK, MAX_LINE, blocks

_WIDE: Final = (b"\xff\xfe", b"\xfe\xff", b"\x00\x00\xfe\xff")
_MARK: Final = re.compile(r"<([a-z]+):?([0-9a-f]*)>")


class Copy(msgspec.Struct, frozen=True):
    """What became of one transcript."""

    path: str
    verdict: str
    """``copied``, ``excluded``, ``held``, or ``failed``."""
    to: str = ""
    reason: str = ""
    hits: tuple[Hit, ...] = ()
    bytes: int = 0


def copy(
    paths: Sequence[Path],
    to: Path,
    redactor: Redactor,
    progress: Progress,
    *,
    allowed: Collection[str] = (),
    force: bool = False,
) -> Iterator[Copy]:
    """Write redacted copies below ``to``, each complete or not at all; yield what became of each.

    Of a folder the ``*.jsonl`` files below it are taken, in the same order of folders; names of
    files and folders are redacted too. What stands there already is replaced with ``force`` only.
    ``allowed`` are fingerprints of values that are no credentials.
    """
    chosen = list(_chosen(paths, to.resolve()))
    progress.begin("copying", sum(_size(file) for file, _ in chosen))
    taken: set[Path] = set()
    for file, name in chosen:
        try:
            target = to / _redacted_name(name, redactor)
            if not stat.S_ISREG(file.stat().st_mode):
                raise OSError(0, "it is no regular file")
            if target in taken or target.resolve() == file.resolve():
                raise FileExistsError(0, "another transcript would have the same name")
            if target.exists() and not force:
                raise FileExistsError(0, "there is a copy already; --force replaces it")
            done = _copy(file, target, redactor, progress, allowed)
        except ScanFailed as wrong:
            done = Copy(str(file), "failed", reason=wrong.message)
        except OSError as wrong:
            reason = wrong.strerror or type(wrong).__name__
            done = Copy(str(file), "failed", reason=reason)
        if done.verdict == "copied":
            taken.add(target)
        yield done


def _chosen(paths: Iterable[Path], to: Path) -> Iterator[tuple[Path, Path]]:
    """Yield files, each with what it is called below the folder of copies."""
    for path in paths:
        if not path.is_dir():
            yield path, Path(path.name)
            continue
        for file in sorted(path.rglob("*.jsonl")):
            if file.is_file() and not file.resolve().is_relative_to(to):
                yield file, Path(path.resolve().name) / file.relative_to(path)


def _size(file: Path) -> int:
    try:
        return file.stat().st_size
    except OSError:
        return 0


def _redacted_name(name: Path, redactor: Redactor) -> Path:
    """Return a name that tells of nobody, without marks that a shell takes for its own.

    Raises ``ScanFailed`` for one that cannot be made so.
    """
    if not redactor.is_clean(name.parts):
        raise ScanFailed("Its name, or that of a folder it is in, looks like a credential.")
    return Path(*(_MARK.sub(_plain, part) for part in redactor.redact(name.parts)))


def _plain(mark: re.Match[str]) -> str:
    return "-".join(filter(None, mark.groups()))


def _copy(
    file: Path, target: Path, redactor: Redactor, progress: Progress, allowed: Collection[str]
) -> Copy:
    size = file.stat().st_size
    counted = _Counted(progress)
    found = redactor.redact_bytes(lambda: counted.half(_pieces(file, size)), allowed)
    if not isinstance(found, Redacted):
        counted.end(size)
        verdict = "excluded" if isinstance(found, Excluded) else "held"
        rules = ", ".join(sorted({hit.rule for hit in found.hits}))
        return Copy(str(file), verdict, reason=rules, hits=found.hits)
    target.parent.mkdir(parents=True, exist_ok=True, mode=0o700)
    _write(target, found)
    counted.end(size)
    return Copy(str(file), "copied", to=str(target), bytes=target.stat().st_size)


class _Counted:
    """Tells how far the one or two readings of a file are."""

    def __init__(self, progress: Progress) -> None:
        self._progress = progress
        self.steps = 0

    def half(self, pieces: Blocks) -> Blocks:
        for data, line, oversized in pieces:
            yield data, line, oversized
            self._progress.step(len(data) // 2)
            self.steps += len(data) // 2

    def end(self, size: int) -> None:
        self._progress.step(max(0, size - self.steps))


def _pieces(file: Path, size: int) -> Blocks:
    """Yield the blocks of a file, what stands after its last line end as well."""
    read, last = blocks(file, limit=size), Block(b"", 1, False)
    for block in read:
        if block.first_line == 1 and block.data.startswith(_WIDE):
            raise ScanFailed("It is not in UTF-8.")
        yield block.data, block.first_line, block.oversized
        last = block
    with file.open("rb") as opened:
        opened.seek(read.settled)
        left = size - read.settled
        line = last.first_line + (last.data.count(b"\n") if left else 0)
        while left > 0 and (
            data := opened.read(min(left, MAX_LINE if left <= MAX_LINE else BLOCK))
        ):
            yield data, line, size - read.settled > MAX_LINE
            left -= len(data)


def _write(target: Path, parts: Iterable[bytes]) -> None:
    """Write beside, then move into place: there is the whole copy or none."""
    beside = target.with_name(f".{target.name}.{os.getpid()}.new")
    descriptor = os.open(beside, os.O_WRONLY | os.O_CREAT | os.O_TRUNC | os.O_NOFOLLOW, 0o600)
    try:
        try:
            for part in parts:
                files.write_all(descriptor, part)
            files.sync(descriptor)
        finally:
            os.close(descriptor)
        beside.replace(target)
    except BaseException:
        with contextlib.suppress(FileNotFoundError):
            beside.unlink()
        raise
    files.sync_folder(target.parent)
