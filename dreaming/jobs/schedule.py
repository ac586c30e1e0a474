"""Putting a scheduler's files in place and taking them away, and nobody else's.

Each file ends in a mark: the hash of what stands above it, how many folders had to be made for it,
and the workspace it is for. So a file that somebody wrote or changed is known from ours without any
record elsewhere, and taking ours away leaves the folders as they were.
"""

from __future__ import annotations

import hashlib
import re
from collections.abc import Sequence
from enum import StrEnum
from pathlib import Path
from typing import Final

import msgspec

from dreaming.errors import DreamingError, Refused
from dreaming.schedulers.interface import Plan, Scheduler, Status, Told, run
from dreaming.stores import files

_MARK: Final = re.compile(
    rb"(?:# |<!-- )dreaming schedule: ([0-9a-f]{64}), folders made (\d+), for ([0-9a-f]{16})"
    rb"(?: -->)?\n\Z"
)


class Standing(StrEnum):
    """Whose a file is."""

    MISSING = "missing"
    OURS = "ours"
    EDITED = "edited"
    """Ours, and changed since."""
    FOREIGN = "foreign"


class Found(msgspec.Struct, frozen=True):
    """What stands at a name."""

    path: Path
    standing: Standing
    text: str = ""
    """Without the mark."""
    folders: int = 0
    workspace: str = ""


class Overview(Status, frozen=True):
    """What starts the nights of a workspace, and how that goes."""

    kind: str = ""
    installed: bool = False
    differs: bool = False
    """Whether the files are others than the settings of now would make."""
    note: str = ""
    """Who runs it, or why nothing is known."""
    opened: tuple[str, ...] = ()
    """What is let through that the files keep closed otherwise, and why."""


DAEMON_LOCK: Final = "daemon.lock"
"""In the state: held by a running ``dreaming daemon``."""


def overview(scheduler: Scheduler | None, plan: Plan) -> Overview:
    """Return what starts nights now; no scheduler means ``dreaming daemon``."""
    if scheduler is None:
        return _of_daemon(plan)
    there = look(scheduler, scheduler.folder)
    first = there[scheduler.names[0]]
    if first.standing is Standing.MISSING or first.workspace not in ("", plan.state.name):
        return Overview(kind=scheduler.kind)
    found, note = Status(), ""
    try:
        found = scheduler.status()
    except DreamingError as wrong:
        note = wrong.message
    return Overview(
        **msgspec.structs.asdict(found),
        kind=scheduler.kind,
        installed=True,
        differs=not is_current(scheduler, plan, scheduler.folder),
        note=note,
        opened=tuple(
            one.text.partition("\n")[0].removeprefix("# ")
            for name, one in there.items()
            if "/" in name and one.text
        ),
    )


def _of_daemon(plan: Plan) -> Overview:
    lock = plan.state / DAEMON_LOCK
    try:
        if lock.exists():
            with files.lock(lock):
                pass
    except files.Held as held:
        return Overview(active=True, kind="daemon", installed=True, note=str(held))
    return Overview(kind="daemon")


def rehearse(plan: Plan, words: Sequence[str] = (), *, user: str | None = None) -> Told:
    """Run a command in the environment that a scheduler gives a night, as ``user``.

    No ``words`` mean the check of a night.
    """
    import pwd

    environment = {
        "HOME": str(plan.home),
        "USER": plan.user,
        "LOGNAME": plan.user,
        "PATH": "/usr/local/bin:/usr/bin:/bin",
        **plan.environment,
        **_keys(plan.keys),
    }
    group = {"group": pwd.getpwnam(user).pw_gid, "extra_groups": []} if user else {}
    command = (*plan.command, *words) if words else plan.doctor
    return run(command, 300.0, cwd="/", env=environment, user=user, **group)


def _keys(path: Path) -> dict[str, str]:
    """Read ``NAME=value`` lines as systemd reads an environment file; none where it is missing."""
    text = path.read_text(encoding="utf-8", errors="replace") if path.exists() else ""
    found = re.findall(r"^[ \t]*([A-Za-z_]\w*)=(.*)$", text, re.M)
    return {name: value.strip().strip("\"'") for name, value in found}


def install(
    scheduler: Scheduler, plan: Plan, folder: Path, *, force: bool = False
) -> tuple[list[Path], list[Path]]:
    """Write the files of a plan into ``folder``; return what was written and what was taken away.

    What is right already stays untouched, what the plan does not need any more goes. Raises
    ``Refused`` before anything is written where a file is not ours as we wrote it, or is for
    another workspace; ``force`` writes over it.
    """
    wanted = scheduler.files(plan)
    there = check(scheduler, plan, folder, force=force)
    first = there[scheduler.names[0]]
    missing = sum(not one.exists() for one in (folder, *folder.parents))
    made = first.folders if first.standing is Standing.OURS else missing
    written, removed = [], []
    for name, found in there.items():
        if name not in wanted:
            if found.standing is not Standing.MISSING:
                removed.append(found.path)
            continue
        if found.standing is not Standing.OURS or found.text != wanted[name]:
            found.path.parent.mkdir(parents=True, exist_ok=True)
            text = _marked(wanted[name], scheduler.comment, made, plan.state.name)
            files.replace(found.path, text.encode(), mode=0o644)
            written.append(found.path)
    _take_away(removed, folder)
    return written, removed


def remove(
    scheduler: Scheduler, plan: Plan, folder: Path, *, force: bool = False
) -> tuple[list[Path], list[Path]]:
    """Take our files away, and the folders that were made for them; return as ``install`` does.

    Raises ``Refused`` as ``install`` does.
    """
    there = check(scheduler, plan, folder, force=force)
    gone = [found.path for found in there.values() if found.standing is not Standing.MISSING]
    _take_away(gone, folder)
    for above in [folder, *folder.parents][: max(found.folders for found in there.values())]:
        _remove_if_empty(above)
    return [], gone


def is_current(scheduler: Scheduler, plan: Plan, folder: Path) -> bool:
    """Return whether what stands there is what would be written now."""
    wanted = scheduler.files(plan)
    return all(
        found.text == wanted[name] if name in wanted else found.standing is Standing.MISSING
        for name, found in look(scheduler, folder).items()
    )


def look(scheduler: Scheduler, folder: Path) -> dict[str, Found]:
    """Return what stands at each name a scheduler may write."""
    return {name: _found(folder / name) for name in scheduler.names}


def check(
    scheduler: Scheduler, plan: Plan, folder: Path, *, force: bool = False
) -> dict[str, Found]:
    """Return what stands there. Raises ``Refused`` as ``install`` does."""
    there = look(scheduler, folder)
    reasons = {
        Standing.FOREIGN: "was not written by `dreaming schedule`",
        Standing.EDITED: "was changed since `dreaming schedule` wrote it",
    }
    for found in there.values() if not force else ():
        if found.standing in reasons:
            raise Refused(
                f"{found.path} {reasons[found.standing]}; nothing was touched.",
                remedy="Move it away, or write over it with --force.",
            )
        if found.workspace not in ("", plan.state.name):
            raise Refused(
                f"{found.path} starts the nights of another workspace; nothing was touched.",
                remedy="Name that one with --workspace to remove it first, use `dreaming daemon` "
                "for this one, or write over it with --force.",
            )
    return there


def _found(path: Path) -> Found:
    try:
        data = path.read_bytes()
    except FileNotFoundError:
        return Found(path, Standing.MISSING)
    mark = _MARK.search(data)
    if mark is None:
        return Found(path, Standing.FOREIGN, data.decode("utf-8", "replace"))
    above = data[: mark.start()]
    ours = hashlib.sha256(above).hexdigest().encode() == mark[1]
    standing = Standing.OURS if ours else Standing.EDITED
    text = above.decode("utf-8", "replace")
    return Found(path, standing, text, int(mark[2]), mark[3].decode())


def _marked(text: str, comment: tuple[str, str], folders: int, workspace: str) -> str:
    digest = hashlib.sha256(text.encode()).hexdigest()
    begin, end = comment
    said = f"dreaming schedule: {digest}, folders made {folders}, for {workspace}"
    return f"{text}{begin}{said}{end}\n"


def _take_away(gone: list[Path], folder: Path) -> None:
    for path in gone:
        files.remove(path)
        if path.parent != folder:
            _remove_if_empty(path.parent)


def _remove_if_empty(folder: Path) -> None:
    if folder.is_dir() and not any(folder.iterdir()):
        folder.rmdir()
