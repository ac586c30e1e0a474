"""How long grouping takes and how much memory: a long history at once, then one more night.

    python -m benchmarks.mining.speed [--excerpts 20000] [--more 200]

Seconds are of processor time, on one core; memory is what the process grows by. The excerpts stay
in a file, as they stay in the state. They are invented: projects with words of their own, sessions
of about ten excerpts, and gotchas that come back in other words, a few of them very often.
"""

from __future__ import annotations

import argparse
import multiprocessing
import random
import resource
import tempfile
import time
from array import array
from collections import Counter
from collections.abc import Iterator, Sequence
from itertools import chain
from pathlib import Path
from typing import BinaryIO, overload

import msgspec

from benchmarks.mining.corpus import Frequencies, key
from dreaming.aggregation import Grouping
from dreaming.models.finding import Excerpt, KeptExcerpt, Quotation, SignalKind
from dreaming.models.session import Speaker
from dreaming.signals.interface import CHANGES
from dreaming.similarity import stem, tokens

A_SESSION = 10
KINDS = (
    [SignalKind.ERROR_FIX] * 4
    + [SignalKind.ASSUMPTION] * 3
    + [SignalKind.CORRECTION] * 2
    + [SignalKind.DENIAL]
)
PROGRAMS = "git make npm cargo pytest docker kubectl psql terraform curl go uv sed jq".split()
SYLLABLES = (
    "ba ce di fo gu ka le mi no pu ra se ti vo xu za bre cli dro gre plu ster tra vin".split()
)


def word(chance: random.Random, least: int = 2) -> str:
    """Return an invented word."""
    return "".join(chance.choices(SYLLABLES, k=chance.randint(least, least + 2)))


class Invented:
    """Makes excerpts; the same seed makes the same ones."""

    def __init__(self, seed: int = 1) -> None:
        self.chance = chance = random.Random(seed)
        self.common = [word(chance) for _ in range(4000)]
        self.projects = [[word(chance, 3) for _ in range(400)] for _ in range(40)]
        self.gotchas = [[word(chance, 3) for _ in range(9)] for _ in range(600)]

    def prose(self, names: Sequence[str], length: int) -> Iterator[str]:
        """Yield words: many common ones, some of the project."""
        for _ in range(length):
            if self.chance.random() < 0.3:
                yield self.chance.choice(names)
            else:
                yield self.common[min(3999, int(self.chance.paretovariate(0.6)))]

    def excerpt(self, number: int, names: Sequence[str]) -> Excerpt:
        """Return one excerpt of a session that works on these names."""
        chance = self.chance
        gotcha: Sequence[str] = ()
        if chance.random() < 0.15:
            rank = min(len(self.gotchas), int(chance.paretovariate(0.8))) - 1
            gotcha = chance.sample(self.gotchas[rank], 5)

        def told(length: int, *own: str) -> str:
            return " ".join(chain(self.prose(names, length), own))

        kind = chance.choice(KINDS)
        wrong = f"{chance.choice(PROGRAMS)} {told(6, *gotcha[:1])}"
        right = f"{chance.choice(PROGRAMS)} {told(6, *gotcha[1:3])}"
        had, has = dict.fromkeys(tokens(wrong)), dict.fromkeys(tokens(right))
        remark = told(18, *gotcha[3:4])
        return Excerpt(
            kind=kind,
            line=number * 7 + 1,
            record=f"r{number}",
            at=1_700_000_000.0 + number * 60,
            folder="",
            wrong=wrong,
            error=told(14, *gotcha[2:4]),
            remark=remark,
            words=told(12, *gotcha[4:]) if kind is SignalKind.CORRECTION else "",
            right=right,
            added=tuple(t for t in has if t not in had)[:CHANGES],
            removed=tuple(t for t in had if t not in has)[:CHANGES],
            strength=1.0,
            quotations=(Quotation(remark[:200], Speaker.MODEL, number * 7 + 1, f"{number:x}"),),
        )

    def history(self, size: int) -> tuple[list[KeptExcerpt], Frequencies]:
        """Return excerpts in sessions, and in how many sessions each word stands."""
        kept: list[KeptExcerpt] = []
        frequencies = Frequencies()
        while len(kept) < size:
            session = key("session", len(kept))
            names = self.chance.sample(self.chance.choice(self.projects), 25)
            seen: set[str] = set(tokens(" ".join(self.prose(names, 300))))
            for _ in range(min(A_SESSION, size - len(kept))):
                excerpt = self.excerpt(len(kept), names)
                seen.update(tokens(f"{excerpt.wrong} {excerpt.remark} {excerpt.words}"))
                kept.append(
                    KeptExcerpt(
                        id=key("excerpt", len(kept)),
                        session_id=session,
                        root=session,
                        agent="claude-code",
                        native_id=session,
                        project="",
                        headless=False,
                        excerpt=excerpt,
                    )
                )
            frequencies.add(frozenset(seen | set(map(stem, seen))))
        return kept, frequencies


class Stored(Sequence[KeptExcerpt]):
    """Excerpts that stay in a file."""

    def __init__(self, file: BinaryIO, ends: Sequence[int]) -> None:
        self.file, self.ends = file, ends

    def __len__(self) -> int:
        return len(self.ends) - 1

    @overload
    def __getitem__(self, place: int) -> KeptExcerpt: ...

    @overload
    def __getitem__(self, place: slice) -> Stored: ...

    def __getitem__(self, place: int | slice) -> KeptExcerpt | Stored:
        if isinstance(place, slice):
            return Stored(self.file, self.ends[: (place.stop or len(self)) + 1])
        if not 0 <= place < len(self):
            raise IndexError(place)
        self.file.seek(self.ends[place])
        read = self.file.read(self.ends[place + 1] - self.ends[place])
        return msgspec.msgpack.decode(read, type=KeptExcerpt)


def write(folder: Path, size: int) -> None:
    """Write a history into a folder."""
    kept, frequencies = Invented().history(size)
    ends = array("Q", [0])
    with (folder / "excerpts").open("wb") as file:
        for one in kept:
            ends.append(ends[-1] + file.write(msgspec.msgpack.encode(one)))
    (folder / "ends").write_bytes(ends.tobytes())
    told = (frequencies.counts, frequencies.sessions)
    (folder / "frequencies").write_bytes(msgspec.msgpack.encode(told))


def peak() -> float:
    """Return the most memory this process has had, in megabytes."""
    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024


def measure(folder: Path, first: int) -> None:
    """Group the first excerpts, then all of them with what is remembered."""
    kept = Stored((folder / "excerpts").open("rb"), array("Q", (folder / "ends").read_bytes()))
    frequencies = Frequencies()
    told = msgspec.msgpack.decode((folder / "frequencies").read_bytes())
    frequencies.counts, frequencies.sessions = Counter(told[0]), told[1]
    remembered, before = b"", peak()
    for size in (first, len(kept)):
        started = time.process_time()
        grouping = Grouping(kept[:size], (), frequencies, remembered=remembered)
        grouped = time.process_time()
        found = sum(1 for _ in grouping.groups(eligible=True))
        worded = time.process_time()
        remembered = grouping.memory()
        print(
            f"{size} excerpts: grouped in {grouped - started:.1f} s, {found} worded in"
            f" {worded - grouped:.1f} s, {peak() - before:.0f} MB; remembers"
            f" {len(remembered) / 1e6:.1f} MB, made in {time.process_time() - worded:.1f} s",
            flush=True,
        )
        del grouping


def main() -> None:
    """Read the arguments and print."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--excerpts", type=int, default=20000)
    parser.add_argument("--more", type=int, default=200)
    arguments = parser.parse_args()
    with tempfile.TemporaryDirectory() as folder:
        size = arguments.excerpts + arguments.more
        writing = multiprocessing.Process(target=write, args=(Path(folder), size))
        writing.start()
        writing.join()
        measure(Path(folder), arguments.excerpts)


if __name__ == "__main__":
    main()
