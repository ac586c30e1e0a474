"""What strace saw of a night, and which of it must not be."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from pathlib import Path
from typing import Final

WATCH: Final = (
    "strace",
    "--follow-forks",
    "--decode-fds=path",
    "-qq",
    "-e",
    "trace=%file,%network,write,writev,pwrite64,ftruncate,fchmod,fchown,execve",
    "-o",
)
"""The command, up to the file it writes."""

CHANGES: Final = frozenset(
    "write writev pwrite64 ftruncate truncate fchmod chmod fchmodat fchown chown fchownat rename "
    "renameat renameat2 unlink unlinkat mkdir mkdirat rmdir link linkat symlink symlinkat "
    "mknodat".split()
)
TALKS: Final = frozenset("connect bind sendto sendmsg sendmmsg".split())


def forbidden(lines: Iterable[str], owned: Sequence[Path], *, sockets: bool) -> list[str]:
    """Return the calls that changed something below ``owned`` or talked to a network.

    A call that was refused changed nothing. With ``sockets`` making a socket is talking already.
    """
    done = (one for one in lines if " = -1 E" not in one or "EINPROGRESS" in one)
    return [one for one in done if _forbidden(one, owned, sockets)]


def _forbidden(line: str, owned: Sequence[Path], sockets: bool) -> bool:
    call = line.split(None, 1)[-1].partition("(")[0]
    talking = "AF_INET" in line and "AF_NETLINK" not in line  # that asks the kernel alone
    if talking and (call in TALKS or sockets):
        return True
    writing = any(word in line for word in ("O_WRONLY", "O_RDWR", "O_CREAT"))
    return (writing or call in CHANGES) and any(str(one) in line for one in owned)
