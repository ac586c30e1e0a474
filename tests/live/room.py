"""A room for service managers: a root of its own, where nothing of the machine can be changed.

Run as root by ``test_units.py`` as the first process of fresh namespaces (mount, process, cgroup,
host name, IPC, network). It moves into a root in memory that shows the machine's programs read-only
and holds private copies of all else, proves that, starts ``inside.py`` with the results' pipe, and
becomes systemd.

A service manager empties /tmp and sets kernel parameters. So nothing but memory may be writable
before it starts; ``NotSafe`` ends this otherwise.
"""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
from pathlib import Path
from typing import Final

SYSTEMD: Final = "/lib/systemd/systemd"
REPOSITORY: Final = Path("/opt/dreaming")
"""Where the room has the checkout: units see /tmp and /var/tmp empty."""
PERSON: Final = ("robin", 1500)

NO_ROOM: Final = 77
"""How this ends where the room cannot be had."""

IN_MEMORY: Final = frozenset({"tmpfs", "devpts", "cgroup2", "mqueue"})
UNITS: Final = (
    "basic",
    "sysinit",
    "timers",
    "shutdown",
    "time-set",
    "time-sync",
    "room",
    "default",
)
"""Targets that timers and services lean on; here they pull in nothing."""


class NotSafe(Exception):
    """Something that is not in memory could be written."""


def main(checkout: str, interpreter: str, root: str) -> None:
    """Make the room and become its service manager."""
    new = Path(root)
    mount("--make-rprivate", "/")
    mount("-t", "tmpfs", "-o", "mode=755", "room", new)
    build(new, checkout, interpreter)
    enter(new)
    prove()
    if os.fork() == 0:
        steps = f"{REPOSITORY}/.venv/bin/python -m tests.live.inside"
        instead = """echo '{"wrong": "the steps ended early; see above"}'"""
        os.execv("/bin/sh", ["sh", "-c", f"{steps} || {instead}"])
    nothing = os.open("/dev/null", os.O_RDWR)
    for number in range(3):
        os.dup2(nothing, number)
    inside = {**os.environ, "container": "room"}  # it then leaves devices and kernel alone
    words = ["systemd", "--system", "--unit=room.target", "--log-target=null"]
    os.execve(SYSTEMD, words, inside)


def build(new: Path, checkout: str, interpreter: str) -> None:
    """Lay the room out: programs by read-only binds, the rest as copies or empty, in memory."""
    for name in ("bin", "sbin", "lib", "lib32", "lib64", "libx32"):
        if Path("/", name).is_symlink():
            (new / name).symlink_to(Path("/", name).readlink())
        elif Path("/", name).exists():
            bind(Path("/", name), new / name)
    bind(Path("/usr"), new / "usr")
    bind(Path(checkout), new / REPOSITORY.relative_to("/"))
    if not interpreter.startswith("/usr/"):
        bind(Path(interpreter), new / interpreter.lstrip("/"))
    shutil.copytree("/etc", new / "etc", symlinks=True, ignore_dangling_symlinks=True)
    (new / "etc/fstab").unlink(missing_ok=True)
    moved = new / "etc/dreaming.pth"
    moved.write_text(f"{REPOSITORY}\n")
    for path in (new / REPOSITORY.relative_to("/")).glob(
        ".venv/lib/*/site-packages/*dreaming*.pth"
    ):
        mount("--bind", moved, path)  # an editable install names the checkout's own place
    for name in ("system", "user"):
        shutil.rmtree(new / "etc/systemd" / name, ignore_errors=True)
    for name in (
        "tmp",
        "var/tmp",
        "var/lib",
        "var/log",
        "run",
        "root",
        "home",
        "proc",
        "sys",
        "dev",
    ):
        (new / name).mkdir(parents=True, exist_ok=True)
    for name in ("tmp", "var/tmp"):
        (new / name).chmod(0o1777)
    add_person(new)
    for name in ("system", "user"):
        folder = new / "usr/lib/systemd" / name
        mount("-t", "tmpfs", "units", folder)
        for target in UNITS:
            (folder / f"{target}.target").write_text("[Unit]\nDefaultDependencies=no\n")
        generators = new / f"usr/lib/systemd/{name}-generators"
        if generators.is_dir():
            mount("-t", "tmpfs", "none", generators)
    mount("-t", "proc", "proc", new / "proc")
    mount("--bind", new / "proc/sys", new / "proc/sys")
    mount("-o", "remount,bind,ro", new / "proc/sys")
    mount("-t", "sysfs", "-o", "ro", "sysfs", new / "sys")
    mount("-t", "cgroup2", "cgroup2", new / "sys/fs/cgroup")
    devices(new / "dev")


def add_person(new: Path) -> None:
    """Add the person whose nights these are."""
    name, number = PERSON
    with (new / "etc/passwd").open("a") as file:
        file.write(f"{name}:x:{number}:{number}::/home/{name}:/bin/sh\n")
    with (new / "etc/group").open("a") as file:
        file.write(f"{name}:x:{number}:\n")
    home = new / "home" / name
    home.mkdir(mode=0o700)
    os.chown(home, number, number)


def devices(folder: Path) -> None:
    """Make the few devices that programs cannot do without."""
    mount("-t", "tmpfs", "-o", "mode=755", "dev", folder)
    for name, minor in {"null": 3, "zero": 5, "full": 7, "random": 8, "urandom": 9}.items():
        os.mknod(folder / name, 0o020666, os.makedev(1, minor))
        (folder / name).chmod(0o666)
    os.mknod(folder / "tty", 0o020666, os.makedev(5, 0))
    for name in ("pts", "shm", "mqueue"):
        (folder / name).mkdir()
    (folder / "shm").chmod(0o1777)
    mount("-t", "devpts", "-o", "newinstance,ptmxmode=0666,mode=620", "devpts", folder / "pts")
    (folder / "console").touch()
    (folder / "console").chmod(0o666)
    (folder / "ptmx").symlink_to("pts/ptmx")
    (folder / "fd").symlink_to("/proc/self/fd")


def enter(new: Path) -> None:
    """Make the room the root, and let go of the machine's."""
    (new / "old").mkdir()
    os.chdir(new)
    subprocess.run(["pivot_root", ".", "old"], check=True)
    os.chdir("/")
    subprocess.run(["umount", "--lazy", "/old"], check=True)
    Path("/old").rmdir()


def prove() -> None:
    """See that nothing but memory can be written from here."""
    for line in Path("/proc/self/mountinfo").read_text().splitlines():
        own, _, more = line.partition(" - ")
        place, options = own.split()[4:6]
        kind, _, above = more.split()[:3]
        if kind in IN_MEMORY or kind == "proc" or "ro" in (options + "," + above).split(","):
            continue
        raise NotSafe(f"{place} ({kind}) could be written")
    if os.access("/proc/sys/kernel/hostname", os.W_OK):
        raise NotSafe("kernel parameters could be written")
    if os.getpid() != 1:
        raise NotSafe("this is not the first process of its own namespace")


def bind(source: Path, target: Path) -> None:
    """Show a folder in the room, read-only."""
    target.mkdir(parents=True, exist_ok=True)
    mount("--bind", source, target)
    mount("-o", "remount,bind,ro", target)


def mount(*words: str | Path) -> None:
    """Call mount(8)."""
    subprocess.run(["mount", *map(str, words)], check=True)


if __name__ == "__main__":
    try:
        main(*sys.argv[1:])
    except (NotSafe, subprocess.CalledProcessError) as wrong:
        print(wrong, file=sys.stderr)  # noqa: T201 - this is a program
        sys.exit(NO_ROOM)
