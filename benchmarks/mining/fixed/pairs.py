"""Labelled pairs: a gotcha, what became of its repository after the last evidence, and which is so.

A pair is put through the job a night uses: sessions are settled in a state, the files are a twin
that knows which lines are new.
"""

from __future__ import annotations

import re
import tomllib
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any, Final

import msgspec

from dreaming.aggregation import Group
from dreaming.jobs.fixing import flagged, reasons
from dreaming.known.fixed import Repository, gotcha
from dreaming.known.habit import deeds
from dreaming.known.places import Unit, units
from dreaming.models.candidate import Candidate
from dreaming.models.finding import Excerpt, KeptExcerpt, SignalKind
from dreaming.models.report import Verdict
from dreaming.models.session import Speaker, Tool, Turn, TurnKind
from dreaming.stores.history import History
from dreaming.stores.interface import Origin, Project, Settlement, Stamp
from dreaming.stores.state import opened

FOLDER: Final = Path(__file__).parent
HALVES: Final = ("known", "kept", "fresh")
"""The half that was looked at while the rules were made, and the one that was not."""
MET: Final = 1_790_000_000.0
"""When the gotchas were met last, seconds since 1970 UTC; old lines are older, new ones newer."""
DAY: Final = 24 * 3600.0

_PROJECT: Final = Project("p" * 16, "example.org/tide/api", "/srv/tide")


class Pair(msgspec.Struct, frozen=True):
    """An invented gotcha with what happened since."""

    name: str
    rule: str
    tries: Sequence[tuple[str, str, str]]
    """What each session did: wrong, what came back or was said, right."""
    fixed: str = ""
    """How it was dealt with; empty where it was not."""
    rejection: bool = False
    """A linter, formatter or hook said it."""
    files: Mapping[str, Mapping[str, str]] = {}
    """By path: the text ``before`` the last evidence, where there was one, and ``now``."""
    later: Sequence[Sequence[str]] = ()
    """What each session after the last evidence did; ``path :: code`` is an edit."""


class Twin(msgspec.Struct, frozen=True):
    """A repository that knows which of its lines are new."""

    files: Mapping[str, Mapping[str, str]]

    def units(self) -> Sequence[Unit]:
        """Return its lines."""
        return [one for path, texts in self.files.items() for one in units(path, texts["now"])]

    def since(self, path: str, line: str) -> float:
        """Return when a line came in."""
        before = self.files[path].get("before")
        old = before is not None and (not line or re.search(line, before, re.M))
        return MET - DAY if old else MET + 10 * DAY


def read(half: str) -> list[Pair]:
    """Return the pairs of one half."""
    told: dict[str, Any] = tomllib.loads((FOLDER / f"{half}.toml").read_text(encoding="utf-8"))
    known = told["gotcha"]
    return [msgspec.convert(one | known[one.pop("gotcha")], Pair) for one in told["pair"]]


def reason(pair: Pair) -> str:
    """Return why the product takes a pair for fixed; empty where it does not."""
    with opened(":memory:", key=b"k" * 32) as state:
        state.settle("mining", [*_met(pair), *_later(pair)], now=MET)
        history = History(state)
        excerpts = history.excerpts()
        group = Group(
            tuple(excerpts), (), 0.9, "It fails.", pair.rule, "it-fails", "tools", (), "offline",
            "", True,
        )  # fmt: skip
        candidate = Candidate(
            id="a" * 16, slug="it-fails", topic="tools", symptom="It fails.", rule=pair.rule,
            session_ids=group.roots, sessions=len(group.roots), agents=("codex",),
            projects=(_PROJECT.id,), first_seen=None, last_seen=None, score=0.9, backend="offline",
        )  # fmt: skip
        twin = Twin(pair.files) if pair.files else None
        ((_, found),) = flagged(state, history, [(group, candidate)], lambda _: twin)
        why = reasons(state).get(found.id, "")
    if bool(why) is not bool(found.flags):
        raise AssertionError(f"{pair.name}: flag and reason differ")
    return why


def across(several: Sequence[Pair]) -> tuple[int, int]:
    """Ask each repository about every gotcha of the others: how often, and how often it answers."""
    asked = {pair.rule: gotcha(_excerpts(pair), pair.rule) for pair in several}
    times = answers = 0
    for pair in several:
        twin = Twin(pair.files)
        repository = Repository(twin.units())
        for rule in asked.keys() - {pair.rule} if pair.files else ():
            times += 1
            answers += any(
                max(twin.since(one.path, line) for line in one.lines or ("",)) > MET
                for one in repository.places(asked[rule])
            )
    return times, answers


def _excerpts(pair: Pair) -> Sequence[KeptExcerpt]:
    with opened(":memory:", key=b"k" * 32) as state:
        state.settle("mining", list(_met(pair)), now=MET)
        return list(History(state).excerpts())


def _met(pair: Pair) -> Iterator[Settlement]:
    kind = SignalKind.REJECTION if pair.rejection else SignalKind.ERROR_FIX
    for number, (wrong, error, right) in enumerate(pair.tries):
        excerpt = Excerpt(
            kind=kind, line=3, record=f"r{number}", at=MET - number * DAY, folder="", wrong=wrong,
            error=error, right=right, strength=1.0,
        )  # fmt: skip
        yield _settled(f"met{number}", ((f"{number:016x}", _PROJECT.id, excerpt),), {})


def _later(pair: Pair) -> Iterator[Settlement]:
    for number, done in enumerate(pair.later, 1):
        packed = deeds(_turn(one) for one in done)
        yield _settled(f"later{number}", (), {_PROJECT.id: (MET + number * DAY, packed)})


def _turn(done: str) -> Turn:
    path, is_edit, code = done.partition(" :: ")
    kind, by = TurnKind.CALL, Speaker.MODEL
    if is_edit:
        return Turn(kind, by, 1, tool=Tool.EDIT, action=path, after=code)
    return Turn(kind, by, 1, tool=Tool.SHELL, action=done)


def _settled(
    name: str,
    excerpts: tuple[tuple[str, str, Excerpt], ...],
    done: Mapping[str, tuple[float, bytes]],
) -> Settlement:
    return Settlement(
        agent="codex",
        path=Path(f"/sessions/{name}.jsonl"),
        stamp=Stamp(1, 2, 3, 4, 5),
        verdict=Verdict.PROCESSED,
        origin=Origin("codex", f"session-{name}", name, (), "", "1"),
        excerpts=excerpts,
        deeds=done,
        projects={_PROJECT.id: _PROJECT},
    )
