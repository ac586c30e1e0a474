"""Which file system a folder lies on: locks and renames over a network promise too little."""

from __future__ import annotations

import re
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Final

_NETWORK: Final = re.compile(
    r"nfs\d?|cifs|smb\w*|afpfs|webdav|davfs|afs|9p|drvfs|ceph|lustre|glusterfs"
    r"|fuse\.(sshfs|rclone|glusterfs|s3fs|davfs\S*|gvfsd-fuse)|gpfs|ncpfs|osxfuse|macfuse"
)
_MACOS: Final = re.compile(r"^.+? on (?P<point>/.*) \((?P<type>\w+)[,)]", re.MULTILINE)


def network(folder: Path) -> str:
    """Return the type of the file system of a folder where that is one over a network, else ""."""
    return network_in(_mounts(), folder.resolve())


def network_in(mounts: Iterator[tuple[str, str]], folder: Path) -> str:
    """Return the same, given (mount point, type); of two at one point the later holds."""
    best, type_ = "", ""
    for point, kind in mounts:
        if len(point) >= len(best) and folder.is_relative_to(point):
            best, type_ = point, kind
    # The root of a container may come over 9p from its own host; that is no other machine.
    return type_ if best != "/" and _NETWORK.fullmatch(type_) else ""


def linux(text: str) -> Iterator[tuple[str, str]]:
    """Yield (mount point, type) of ``/proc/self/mounts``; fstab(5) says how blanks are written."""
    for line in text.splitlines():
        _, point, kind, *_ = line.split(" ")
        yield re.sub(r"\\([0-7]{3})", lambda found: chr(int(found[1], 8)), point), kind


def macos(text: str) -> Iterator[tuple[str, str]]:
    """Yield (mount point, type) of what ``mount`` prints on macOS."""
    for found in _MACOS.finditer(text):
        yield found["point"], found["type"]


def _mounts() -> Iterator[tuple[str, str]]:
    if sys.platform == "darwin":
        told = subprocess.run(["/sbin/mount"], capture_output=True, text=True, check=False)
        return macos(told.stdout)
    return linux(Path("/proc/self/mounts").read_text(encoding="utf-8", errors="replace"))
