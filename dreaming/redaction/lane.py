"""A transcript's bytes in, redacted bytes out; or word of what keeps it from being passed on.

What fits in one block is read once. What is longer is read twice, block by block: once to look for
credentials and to learn the names of people, once to replace what identifies. So a transcript of
any size needs a few megabytes. What comes out is checked before it is believed: what was JSON still
is, and holds no credential.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable, Iterator, Sequence
from typing import TYPE_CHECKING, Final

import msgspec

from dreaming.redaction.detector import ScanFailed
from dreaming.redaction.names import Learned
from dreaming.redaction.rules import Severity

if TYPE_CHECKING:
    from dreaming.redaction.engine import Hit, Scanner
    from dreaming.redaction.pseudonyms import Lines, Pseudonyms

Blocks = Iterable[tuple[bytes, int, bool]]
"""Bytes, the 1-based line they begin in, and whether they are a part of a line too long to be kept
in memory. All others are whole lines."""

_KEPT: Final = 1 << 14
"""Of a piece of a long line: not redacted before it is known how it goes on."""


class Refused(msgspec.Struct, frozen=True):
    """A transcript with credential shapes."""

    hits: tuple[Hit, ...]


class Excluded(Refused, frozen=True):
    """Some of them are of high severity: nothing of it may be passed on."""


class Held(Refused, frozen=True):
    """All are of medium severity: a person has to say what they are."""


class Redacted:
    """A transcript without a credential shape. Iterating yields its redacted bytes, once.

    Raises ``ScanFailed`` on the way where the result is not what it must be; what was yielded
    before is worth nothing then.
    """

    def __init__(
        self,
        blocks: Blocks,
        pseudonyms: Pseudonyms,
        scanner: Scanner,
        learned: Learned,
        allowed: Collection[str],
        seen: Sequence[int] | None,
    ) -> None:
        self._seen = seen
        self._allowed = allowed
        self._blocks = blocks
        self._pseudonyms = pseudonyms
        self._scanner = scanner
        self._learned = learned

    def __iter__(self) -> Iterator[bytes]:
        seen: list[int] = []
        for data, line, oversized in self._blocks:
            if self._seen is not None:
                seen.append(_hash(data))
            redacted = self._pseudonyms.redact_lines(data, self._learned)
            if not oversized:
                _compare(redacted, data, line)
            for part in redacted.touched:
                self._scanner.feed(part + b"\n", line)
            yield redacted.data
        if seen != (self._seen or []):
            raise ScanFailed("It changed while it was read.")
        hits = [hit for hit in self._scanner.finish() if hit.fingerprint not in self._allowed]
        if hits:
            raise ScanFailed(f"Redacted, it has a credential shape ({hits[0].rule}).")


def redact(
    read: Callable[[], Blocks],
    scanner: Callable[[], Scanner],
    pseudonyms: Pseudonyms,
    allowed: Collection[str] = (),
) -> Redacted | Excluded | Held:
    """Return what becomes of a transcript; ``read`` opens it anew each time, twice at most.

    ``allowed`` are fingerprints of values that a person said are no credentials. Raises
    ``ScanFailed`` where the transcript cannot be judged.
    """
    looking, learned = scanner(), Learned()
    blocks: list[tuple[bytes, int, bool]] = []
    seen: list[int] = []
    for number, block in enumerate(_cut_safely(read())):
        looking.feed(block[0], block[1])
        blocks.append(block)
        if number:  # what is read at once needs no learning before
            for data, _, _ in blocks:
                learned = pseudonyms.learn(data, learned)
                seen.append(_hash(data))
            blocks.clear()
    hits = tuple(hit for hit in looking.finish() if hit.fingerprint not in allowed)
    if any(hit.severity is Severity.HIGH for hit in hits):
        return Excluded(hits)
    if hits:
        return Held(hits)
    if blocks:
        return Redacted(blocks, pseudonyms, scanner(), learned, allowed, None)
    return Redacted(_cut_safely(read()), pseudonyms, scanner(), learned, allowed, seen)


_hash: Final[Callable[[bytes], int]] = hash
"""Keyed anew in each process, and five times as fast as what needs no key."""


def _compare(redacted: Lines, data: bytes, line: int) -> None:
    """Check that there are as many lines, and that those that were JSON are."""
    for at, before, after in redacted.unsure:
        if b"\n" not in before and b"\n" not in after and _is_json(after):
            continue
        old, new = before.split(b"\n"), after.split(b"\n")
        if len(old) != len(new):
            raise ScanFailed("Redaction would change its number of lines.")
        for number, (was, now) in enumerate(zip(old, new, strict=True), line):
            if was != now and not _is_json(now) and _is_json(was):
                number += data.count(b"\n", 0, at)
                raise ScanFailed(f"Redaction would break its record {number}.")


_decoder: Final = msgspec.json.Decoder(msgspec.Raw)


def _is_json(text: bytes) -> bool:
    try:
        _decoder.decode(text)
    except (msgspec.DecodeError, RecursionError):
        return False
    return True


def _cut_safely(blocks: Blocks) -> Iterator[tuple[bytes, int, bool]]:
    """Yield the blocks; what goes over the seam of two pieces of a long line is put together."""
    kept, kept_line = b"", 0
    for data, line, oversized in blocks:
        if kept and not oversized:
            yield kept, kept_line, True
            kept = b""
        if not oversized:
            yield data, line, False
            continue
        first, whole = kept_line if kept else line, kept + data
        if whole.endswith(b"\n"):
            yield whole, first, True
            kept = b""
            continue
        cut = _seam(whole)
        if cut:
            yield whole[:cut], first, True
        kept, kept_line = whole[cut:], first
    if kept:
        yield kept, kept_line, True


def _seam(data: bytes) -> int:
    """Return where a piece of a long line is cut: before a comma, a quote or a blank near its end.

    Where there is none for a long way, nothing that identifies goes on so long either.
    """
    low = max(0, len(data) - _KEPT)
    for mark in (b'","', b'"', b", ", b" "):
        cut = data.rfind(mark, low)
        while cut > low and data[cut - 1] == 0x5C:
            cut = data.rfind(mark, low, cut)
        if cut > low:
            return cut
    return low
