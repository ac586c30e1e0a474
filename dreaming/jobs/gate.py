"""What a night passes before it starts: is it its hour, is the network there, what may it still do.

And what it gives up then: the right to write anything but the state and the queue, and to connect
to anything but its backend. Nothing is claimed here that was not tried.
"""

from __future__ import annotations

import errno
import os
import shutil
import socket
import tempfile
from collections.abc import Callable, Iterable, Mapping, Sequence
from datetime import datetime
from pathlib import Path
from typing import Any, Final

import msgspec

from dreaming.errors import Unusable
from dreaming.stores import sandbox
from dreaming.stores.state import State

HOUR: Final = 3600.0
UNIT: Final = "DREAMING_UNIT"
"""Set by the unit of a service manager that shuts the night in."""
SANDBOX: Final = "sandbox"
"""Where the state keeps what held at the last night."""
_BLOCKED: Final = frozenset({errno.EACCES, errno.EPERM, errno.EROFS})
_UNUSED_PORT: Final = 9


# -- is it its hour -------------------------------------------------------------------------------


def due_at(runs: Sequence[Mapping[str, Any]], every: float) -> float:
    """Return when the next night is due, seconds since 1970 UTC. ``runs`` are newest first.

    ``every`` seconds after one that was in order, or ended at a limit a person set; after one, two,
    three … that were not, one, two, four … hours; where a quota was in the way, when that starts
    anew. Never more than ``every``.
    """
    if not runs:
        return 0.0
    troubled = next((at for at, run in enumerate(runs) if not run["exit_code"]), len(runs))
    last, ended = runs[0], ended_at(runs[0])
    if last.get("not_before"):
        return min(
            ended + every, max(ended, datetime.fromisoformat(last["not_before"]).timestamp())
        )
    limited = not troubled or last.get("limited", False)
    return ended + (every if limited else min(every, HOUR * 2.0 ** (troubled - 1)))


def ended_at(run: Mapping[str, Any]) -> float:
    """Return when a run ended, seconds since 1970 UTC."""
    return datetime.fromisoformat(run["started"]).timestamp() + float(sum(run["seconds"].values()))


# -- is the network there -------------------------------------------------------------------------


def wait_for_network(
    host: str, port: int, most: float, clock: Callable[[], float], pause: Callable[[float], None]
) -> bool:
    """Wait until somebody answers there, at most so many seconds; return whether somebody did."""
    until = clock() + most
    while True:
        try:
            socket.create_connection((host, port), timeout=5.0).close()
        except OSError:
            if clock() >= until:
                return False
            pause(5.0)
        else:
            return True


# -- what it gives up -----------------------------------------------------------------------------


class Held(msgspec.Struct):
    """What holds a night, as far as it was tried."""

    rings: list[str] = []
    """``landlock``, ``unit``; empty: nothing holds it but its own code."""
    network: str = "open"
    """``closed``, ``TCP closed``, ``TCP only to port …``, or ``open`` where nothing holds it."""
    why: str = ""
    """Why there is no ring."""
    at: str = ""

    def __str__(self) -> str:
        if not self.rings:
            return f"none ({self.why})" if self.why else "none"
        return f"{' and '.join(self.rings)}, network {self.network}"


def confine(
    writable: Sequence[Path],
    probe: Path,
    ports: Iterable[int] | None,
    environment: Mapping[str, str],
    *,
    required: bool = False,
) -> Held:
    """Give up what a night does not need, try whether that holds, and return what does.

    ``writable`` are the places that stay open; ``ports`` the TCP ports it may connect to, ``None``
    for no limit. Then ``probe``, a file beyond ``writable``, must refuse to be opened for writing;
    it is not written. Raises ``Unusable`` where a sandbox is required and none holds.
    """
    held = Held()
    if environment.get(UNIT) and _refusal(probe) == errno.EROFS:
        held.rings.append("unit")
    if sandbox.version():
        try:
            sandbox.restrict(writable, ports)
        except OSError as wrong:
            held.why = str(wrong.strerror)
        else:
            if _refusal(probe) in _BLOCKED:
                held.rings.insert(0, "landlock")
    elif not held.rings:
        held.why = "this system has no Landlock"
    held.network = _network(ports)
    if required and not held.rings:
        raise Unusable(
            f"No sandbox holds this night: {held.why or 'a trial write was not refused'}.",
            remedy="Run it from the unit that `dreaming schedule install` writes, or take "
            "`required` out of [sandbox] in your config.toml.",
        )
    return held


def own_temporary(folder: Path) -> None:
    """Make an empty folder for temporary files, and let this process use no other."""
    shutil.rmtree(folder, ignore_errors=True)
    folder.mkdir(mode=0o700)
    os.environ["TMPDIR"] = str(folder)
    tempfile.tempdir = None


def keep(state: State, held: Held, at: str) -> None:
    """Remember what held this night."""
    held.at = at
    state.put(SANDBOX, msgspec.json.encode(held).decode())


def kept(state: State) -> Held | None:
    """Return what held the last night; ``None`` before there was one."""
    text = state.get(SANDBOX)
    return msgspec.json.decode(text, type=Held) if text else None


def _refusal(file: Path) -> int:
    """Return the error that opening a file for writing gives; 0 where it opens."""
    try:
        os.close(os.open(file, os.O_WRONLY | os.O_APPEND))
    except OSError as wrong:
        return wrong.errno or 0
    return 0


def _network(ports: Iterable[int] | None) -> str:
    """Try to reach this machine's own port 9, where nobody listens but anybody may ask."""
    try:
        one = socket.socket(socket.AF_INET)
    except OSError:
        return "closed"
    with one:
        one.settimeout(2.0)
        try:
            one.connect(("127.0.0.1", _UNUSED_PORT))
        except OSError as wrong:
            if wrong.errno == errno.ENETUNREACH:
                return "closed"
            if wrong.errno in _BLOCKED:
                allowed = ", ".join(str(port) for port in sorted(set(ports or ())))
                return f"TCP only to port {allowed}" if allowed else "TCP closed"
    return "open"
