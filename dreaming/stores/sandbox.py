"""Landlock: a process gives up its own right to write and to connect, for good, children included.

Linux 5.13 and later, without any privilege; the kernel's documentation is
https://docs.kernel.org/userspace-api/landlock.html. What a process opened before stays open.
It covers writing, making, removing, moving and cutting files and, from version 4 on, TCP. It does
not cover UDP, nor changing the mode of a file; nothing here claims that it does.
"""

from __future__ import annotations

import ctypes
import os
import struct
import sys
from collections.abc import Iterable
from pathlib import Path
from typing import Final

_CREATE, _ADD, _RESTRICT = 444, 445, 446
"""System calls; the same numbers on every architecture Linux got since 2019."""
_ASK_VERSION: Final = 1
_BENEATH, _PORT = 1, 2
_NO_NEW_PRIVILEGES: Final = 38
_DIE_WITH_PARENT: Final = 1

_WRITE_FILE: Final = 1 << 1
_TRUNCATE: Final = 1 << 14
_FILES: Final = {
    1: _WRITE_FILE | sum(1 << bit for bit in range(4, 13)),  # remove, make of every kind
    2: 1 << 13,  # move or link between folders
    3: _TRUNCATE,
}
"""Rights to write, by the version that brought them."""
_BIND, _CONNECT = 1, 2
_TCP_SINCE: Final = 4


def version() -> int:
    """Return the version of Landlock this kernel has; 0 where it has none."""
    if sys.platform != "linux":
        return 0
    found: int = _kernel().syscall(_CREATE, None, 0, _ASK_VERSION)
    return max(0, found)


def restrict(writable: Iterable[Path], ports: Iterable[int] | None) -> None:
    """Let this process write only below these places, and connect only to these TCP ports.

    Call it while the process has one thread, with a kernel whose ``version`` is not 0. ``ports``
    holds from version 4 on; ``None`` leaves the network as it is. A place may be a file. Raises
    ``OSError`` where the kernel does not agree; nothing is given up then.
    """
    has = version()
    rights = sum(bits for since, bits in _FILES.items() if since <= has)
    tcp = (_BIND | _CONNECT) if ports is not None and has >= _TCP_SINCE else 0
    handled = struct.pack("=QQ", rights, tcp) if has >= _TCP_SINCE else struct.pack("=Q", rights)
    ruleset = _call(_CREATE, handled, len(handled), 0)
    try:
        for place in writable:
            _allow_beneath(ruleset, place, rights)
        for port in set(ports or ()) if tcp else ():
            _call(_ADD, ruleset, _PORT, struct.pack("=QQ", _CONNECT, port), 0)
        if _kernel().prctl(_NO_NEW_PRIVILEGES, 1, 0, 0, 0):
            raise OSError(ctypes.get_errno(), "new privileges cannot be given up")
        _call(_RESTRICT, ruleset, 0)
    finally:
        os.close(ruleset)


def die_with_parent(signal: int) -> None:
    """Let the kernel send this process a signal when its parent ends; only Linux can."""
    if sys.platform == "linux":
        _kernel().prctl(_DIE_WITH_PARENT, signal, 0, 0, 0)


def _allow_beneath(ruleset: int, place: Path, rights: int) -> None:
    descriptor = os.open(place, os.O_PATH | os.O_CLOEXEC)
    try:
        allowed = rights if place.is_dir() else rights & (_WRITE_FILE | _TRUNCATE)
        _call(_ADD, ruleset, _BENEATH, struct.pack("=Qi", allowed, descriptor), 0)
    finally:
        os.close(descriptor)


def _call(number: int, *arguments: object) -> int:
    result: int = _kernel().syscall(number, *arguments)
    if result < 0:
        error = ctypes.get_errno()
        raise OSError(error, f"Landlock: {os.strerror(error)}")
    return result


def _kernel() -> ctypes.CDLL:
    return ctypes.CDLL(None, use_errno=True)
