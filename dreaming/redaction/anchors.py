"""One pass over raw bytes that says where anything of interest may stand.

Each match costs a call, a hundred times what a byte costs. Where matches stand denser than any text
has them, the bytes are gone through in short stretches, and of each stretch is only said which
expressions occur in it: time stays in proportion to length, whatever the bytes are.
"""

from __future__ import annotations

import hashlib
from collections.abc import Callable, Sequence
from functools import cached_property
from typing import TYPE_CHECKING, Final, NamedTuple, Protocol

from dreaming.errors import DreamingError

if TYPE_CHECKING:
    import hyperscan

STRETCH: Final = 4 << 10
OVERLAP: Final = 1 << 10
"""Longer than any anchor but addresses with very long secrets, which have more than one."""
_FREE: Final = 1 << 10
_BYTES_PER_EVENT: Final = 1 << 11
"""Real transcripts have one anchor in twenty thousand bytes."""


class ScanFailed(DreamingError):
    """A transcript could not be scanned to its end, so nothing is known about it."""


class Place(NamedTuple):
    """Where an expression matches."""

    first: int
    """Where the match ends, counted in bytes."""
    last: int
    """The same; or, where matches are dense, the end of the stretch in which more may end."""
    number: int


Taker = Callable[[int, int, int, int, object], bool | None]
"""Told the expression's number, where its match begins and ends; stops the scan with ``True``."""


class Kept(Protocol):
    """Where compiled expressions are kept between runs; only what nobody else wrote."""

    def get(self, name: str) -> bytes | None:
        """Return what is kept under a name."""

    def put(self, name: str, data: bytes) -> None:
        """Keep bytes, in place of those of other versions."""

    def __hash__(self) -> int:
        """Return what tells one place from another."""


class Anchors:
    """Expressions in Hyperscan's notation, compiled once.

    What is compiled is kept under ``name``, a word of letters.
    """

    def __init__(
        self, expressions: Sequence[str], kept: Kept | None = None, name: str = "anchors"
    ) -> None:
        self._expressions = [expression.encode("latin-1") for expression in expressions]
        self._kept = kept
        self._name = name
        self._database = self._loaded(once=False)

    @cached_property
    def _dense(self) -> hyperscan.Database:
        return self._loaded(once=True)

    def _loaded(self, *, once: bool) -> hyperscan.Database:
        """Return a database as it was kept; where none was, or a damaged one, compile and keep."""
        import hyperscan

        if self._kept is None:
            return self._compiled(once=once)
        machine = hyperscan.Database(mode=hyperscan.HS_MODE_BLOCK)
        machine.compile(expressions=[b"a"], ids=[0], flags=[0])
        told = repr((machine.info(), _flags(once), self._expressions)).encode()
        name = f"{'dense' if once else self._name}-{hashlib.sha256(told).hexdigest()[:32]}"
        try:
            database = hyperscan.loadb(self._kept.get(name) or b"", hyperscan.HS_MODE_BLOCK)
            database.scratch = hyperscan.Scratch(database)
        except hyperscan.error:
            database = self._compiled(once=once)
            self._kept.put(name, hyperscan.dumpb(database))
        return database

    def _compiled(self, *, once: bool) -> hyperscan.Database:
        """Return a database; with ``once`` it tells each expression's first match only."""
        import hyperscan  # late: loading it costs 20 ms

        database = hyperscan.Database(mode=hyperscan.HS_MODE_BLOCK)
        database.compile(
            expressions=self._expressions,
            ids=list(range(len(self._expressions))),
            flags=[_flags(once)] * len(self._expressions),
        )
        return database

    def ends(self, data: bytes) -> list[list[int]]:
        """Return for each expression where its matches end, ascending.

        All of them, however dense they are. Raises ``ScanFailed``.
        """
        found: list[list[int]] = [[] for _ in self._expressions]
        add = [ends.append for ends in found]

        def take(number: int, start: int, end: int, flags: int, context: object) -> None:
            add[number](end)

        if data:
            self._scan(self._database, data, take)
        return found

    def find(self, data: bytes, charge: Callable[[int], object] = lambda _: None) -> list[Place]:
        """Return where the expressions match, each one's places ascending.

        ``charge`` is told how many bytes are gone through in stretches, before they are. Raises
        ``ScanFailed``.
        """
        found: list[Place] = []
        if not data:
            return found
        most = _FREE + len(data) // _BYTES_PER_EVENT

        def take(number: int, start: int, end: int, flags: int, context: object) -> bool:
            found.append(Place(end, end, number))
            return len(found) > most

        self._scan(self._database, data, take)
        return self._find_dense(data, charge) if len(found) > most else found

    def _find_dense(self, data: bytes, charge: Callable[[int], object]) -> list[Place]:
        found: list[Place] = []
        for start in range(0, len(data), STRETCH):
            charge(min(STRETCH, len(data) - start))
            begin, stop = max(0, start - OVERLAP), min(len(data), start + STRETCH)

            def take(
                number: int,
                _: int,
                end: int,
                flags: int,
                context: object,
                begin: int = begin,
                stop: int = stop,
            ) -> None:
                found.append(Place(begin + end, stop, number))

            self._scan(self._dense, data[begin:stop], take)
        return found

    def _scan(self, database: hyperscan.Database, data: bytes, take: Taker) -> None:
        import hyperscan

        try:
            database.scan(data, match_event_handler=take)
        except hyperscan.ScanTerminated:
            return  # ``take`` has seen enough
        except hyperscan.error as error:
            raise ScanFailed(f"The pattern engine gave up: {error}") from error


def _flags(once: bool) -> int:
    import hyperscan

    flags: int = hyperscan.HS_FLAG_DOTALL | (hyperscan.HS_FLAG_SINGLEMATCH if once else 0)
    return flags
