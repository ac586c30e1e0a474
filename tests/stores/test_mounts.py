"""Which file systems are over a network."""

from pathlib import Path

import pytest

from dreaming.stores import mounts

LINUX = """\
overlay / overlay rw,relatime 0 0
/dev/sda1 /home ext4 rw 0 0
server:/homes /home/kim nfs4 rw 0 0
//server/share /mnt/with\\040blank cifs rw 0 0
C:\\134 /mnt/c 9p rw 0 0
kim@host: /home/kim/far fuse.sshfs rw 0 0
tmpfs /home/kim/far/near tmpfs rw 0 0
"""
MACOS = """\
/dev/disk3s1s1 on / (apfs, sealed, local, read-only, journaled)
/dev/disk3s5 on /System/Volumes/Data (apfs, local, journaled, nobrowse)
//kim@server/share on /Volumes/share (smbfs, nodev, nosuid, mounted by kim)
"""


@pytest.mark.parametrize(
    ("folder", "kind"),
    [
        ("/var", ""),
        ("/home/other", ""),
        ("/home/kim/state", "nfs4"),
        ("/home/kimono", ""),
        ("/mnt/with blank/x", "cifs"),
        ("/mnt/c/Users", "9p"),
        ("/home/kim/far/x", "fuse.sshfs"),
        ("/home/kim/far/near/x", ""),
    ],
)
def test_linux(folder: str, kind: str) -> None:
    """The innermost mount counts; a network's is named."""
    assert mounts.network_in(mounts.linux(LINUX), Path(folder)) == kind


@pytest.mark.parametrize(("folder", "kind"), [("/Users/kim", ""), ("/Volumes/share/x", "smbfs")])
def test_macos(folder: str, kind: str) -> None:
    """The same from what `mount` prints there."""
    assert mounts.network_in(mounts.macos(MACOS), Path(folder)) == kind


def test_the_root_of_a_container_is_local() -> None:
    """A root over 9p comes from the container's own host."""
    assert mounts.network_in(mounts.linux("none / 9p rw 0 0\n"), Path("/home/kim")) == ""


def test_this_machine_answers(tmp_path: Path) -> None:
    """The folder of a test is on a disk of its own machine."""
    assert mounts.network(tmp_path) == ""
