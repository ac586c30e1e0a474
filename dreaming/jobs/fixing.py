"""Which of what may be proposed is dealt with already: flagged with the reason, never hidden."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from datetime import UTC, datetime
from typing import Final, Protocol

import msgspec

from dreaming.aggregation import Group
from dreaming.known.fixed import Gotcha, Repository, gotcha
from dreaming.known.habit import IN_A_ROW, Deed, habit, unpacked
from dreaming.known.places import Unit
from dreaming.models.candidate import Candidate, Flag
from dreaming.stores.history import History
from dreaming.stores.interface import Project
from dreaming.stores.projects import home
from dreaming.stores.state import State

FIXED: Final = "maybe fixed"
"""Under which the state keeps the reasons, by candidate."""
ASKED: Final = 4
"""Lines whose age is asked for one gotcha."""


class Files(Protocol):
    """A repository as this job reads it."""

    def units(self) -> Sequence[Unit]:
        """Return the lines that enforce or say something."""
        ...

    def stamp(self) -> str:
        """Return what changes when a line does."""
        ...

    def since(self, path: str, line: str) -> float:
        """Return when a line came in, or the file where it is empty; seconds since 1970 UTC."""
        ...


def reasons(state: State) -> Mapping[str, str]:
    """Return why candidates may be fixed, by id."""
    return msgspec.json.decode(state.get(FIXED) or "{}", type=dict[str, str])


def flagged(
    state: State,
    history: History,
    eligible: Sequence[tuple[Group, Candidate]],
    open_files: Callable[[Project], Files | None],
) -> list[tuple[Group, Candidate]]:
    """Return what is eligible, flagged where it is dealt with in every repository it was met in.

    The reasons are kept: those of tonight's candidates, and those of decided ones.
    """
    fixing = _Fixing(history, open_files)
    found = {candidate.id: fixing.reason(group) for group, candidate in eligible}
    decided = {one.candidate for one in state.kept().values()}
    before = {id_: why for id_, why in reasons(state).items() if id_ in decided - found.keys()}
    kept = before | {id_: why for id_, why in found.items() if why}
    state.put(FIXED, msgspec.json.encode(kept, order="sorted").decode())
    return [(group, _with_flag(one) if found[one.id] else one) for group, one in eligible]


def _with_flag(candidate: Candidate) -> Candidate:
    flags = tuple(dict.fromkeys((*candidate.flags, Flag.MAYBE_FIXED)))
    return candidate.model_copy(update={"flags": flags})


class _Fixing:
    """Opens each repository once. Its worktrees and clones are projects of one home."""

    def __init__(self, history: History, open_files: Callable[[Project], Files | None]) -> None:
        self._history = history
        self._open = open_files
        self._opened: dict[str, tuple[Files, Repository] | None] = {}
        self._homes: dict[str, list[Project]] = {}
        for project in history.projects.values():
            self._homes.setdefault(home(project.identity), []).append(project)

    def reason(self, group: Group) -> str:
        """Return why a group may be fixed; empty where it is not."""
        asked = gotcha(group.excerpts, group.rule)
        if not asked.last:
            return ""
        roots = set(group.roots)
        found: list[str] = []
        met_in = {home(self._history.projects[kept.project].identity) for kept in group.excerpts}
        for name in sorted(met_in):
            why = self._habit(asked, name, roots) or self._place(asked, name)
            if not why:
                return ""
            found.append(why)
        return "; ".join(dict.fromkeys(found))

    def _habit(self, asked: Gotcha, name: str, roots: set[str]) -> str:
        if asked.form is None:
            return ""
        sessions: dict[str, list[Deed]] = {}
        for project in self._homes[name]:
            for root, packed in self._history.deeds(project.id, asked.last):
                if root not in roots:
                    sessions.setdefault(root, []).extend(unpacked(packed))
        number = habit(asked.form, sessions.values())
        if number < IN_A_ROW:
            return ""
        return f"the right form was used from the start in the last {number} sessions"

    def _place(self, asked: Gotcha, name: str) -> str:
        opened = self._files(name)
        if opened is None:
            return ""
        files, repository = opened
        for number, place in enumerate(repository.places(asked)):
            if number == ASKED:
                break
            since = max(files.since(place.path, line) for line in place.lines or ("",))
            if since > asked.last:
                day = datetime.fromtimestamp(since, UTC)
                at = f"{place.path}:{place.number}" if place.number else place.path
                return f"{place.what} in {at} since {day:%Y-%m-%d}"
        return ""

    def _files(self, name: str) -> tuple[Files, Repository] | None:
        if name not in self._opened:
            files = next(filter(None, map(self._open, self._homes[name])), None)
            self._opened[name] = (files, Repository(files.units())) if files else None
        return self._opened[name]
