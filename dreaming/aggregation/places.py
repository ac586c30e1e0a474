"""The places of excerpts: which come first, and which only copy another."""

from __future__ import annotations

from array import array
from collections.abc import Iterable, Sequence

from dreaming.models.finding import KeptExcerpt


def order(kept: KeptExcerpt) -> tuple[float, str, int, str]:
    """Return the key that sorts excerpts from the oldest; unknown times come last."""
    return _order(kept.excerpt.at, kept.native_id, kept.excerpt.line, kept.id)


def _order(time: float, native_id: str, line: int, id_: str) -> tuple[float, str, int, str]:
    return time if time > 0.0 else float("inf"), native_id, line, id_


class Places:
    """What puts excerpts in their order, in little room; the excerpts stay where they are kept.

    A place is where an excerpt stands among those handed in.
    """

    def __init__(self, excerpts: Sequence[KeptExcerpt]) -> None:
        names: dict[str, str] = {}
        self.ids: list[str] = []
        self.roots: list[str] = []
        self.strengths = array("d")
        self.named: set[int] = set()
        """Those of excerpts with a name."""
        self._native_ids: list[str] = []
        self._lines, self._times, self._turns = array("q"), array("d"), array("q")
        for kept in excerpts:
            excerpt = kept.excerpt
            self.ids.append(kept.id)
            if excerpt.names:
                self.named.add(len(self.roots))
            self.roots.append(names.setdefault(kept.root, kept.root))
            self.strengths.append(excerpt.strength)
            self._native_ids.append(names.setdefault(kept.native_id, kept.native_id))
            self._lines.append(excerpt.line)
            self._times.append(excerpt.at)
            turn = hash((kept.root, excerpt.record, excerpt.aspect)) if excerpt.record else 0
            self._turns.append(turn)

    def __len__(self) -> int:
        return len(self.ids)

    def order(self, place: int) -> tuple[float, str, int, str]:
        """Return the key that sorts places from the oldest."""
        return _order(
            self._times[place], self._native_ids[place], self._lines[place], self.ids[place]
        )

    def by_root(self, among: Iterable[int]) -> Sequence[int]:
        """Return places with those of one root together."""
        return array("q", sorted(among, key=self.roots.__getitem__))

    def without_copies(self, among: Iterable[int]) -> tuple[Sequence[int], dict[str, str]]:
        """Return the places without a fork's copies, oldest first, and which id stands for which.

        The same turn of one family is one excerpt: that of the smallest native id and line.
        """
        first: dict[int, str] = {}
        stands_for: dict[str, str] = {}
        left = array("q")
        names, lines, ids = self._native_ids, self._lines, self.ids
        for place in sorted(among, key=lambda p: (names[p], lines[p], ids[p])):
            id_, turn = ids[place], self._turns[place]
            stands_for[id_] = first.setdefault(turn, id_) if turn else id_
            if stands_for[id_] is id_:
                left.append(place)
        return array("q", sorted(left, key=self.order)), stands_for
