"""Runs in the room, beside its service manager: nights by the shipped units, and what came of them.

Prints one JSON document: by manager, what each step found. Judges nothing; ``test_units.py`` does.
"""

from __future__ import annotations

import json
import os
import shutil
import socket
import subprocess
import sys
import time
import traceback
from collections.abc import Callable
from pathlib import Path
from typing import Any, Final

from tests.live.strace import WATCH, forbidden

ROOM: Final = Path("/opt/dreaming")
PYTHON: Final = str(ROOM / ".venv/bin/python")
PERSON, NUMBER = "robin", 1500
HOME: Final = Path("/home", PERSON)
WORKSPACE: Final = HOME / ".dreaming"
OWNED: Final = [WORKSPACE / "knowledge_base", WORKSPACE / "ledger"]
RUNTIME: Final = Path("/run/user", str(NUMBER))
ENVIRONMENT: Final = {
    "HOME": str(HOME),
    "USER": PERSON,
    "LOGNAME": PERSON,
    "PATH": "/usr/sbin:/usr/bin:/sbin:/bin",
    "XDG_RUNTIME_DIR": str(RUNTIME),
}
LONG: Final = 240.0
"""Seconds after which what is waited for does not come."""


class Manager:
    """One service manager, and a person's nights with it."""

    def __init__(self, level: str, folder: Path) -> None:
        self.level = level
        self.folder = folder
        self.flag = ["--user"] if level == "user" else []
        self.dropin = folder / "dreaming.service.d/zz-room.conf"
        (self.state,) = HOME.glob(".local/state/dreaming/workspaces/*")

    def dreaming(self, *words: str) -> dict[str, Any]:
        """Run the command, as root where it concerns the machine."""
        return called([PYTHON, "-P", "-m", "dreaming", *words], person=self.level == "user")

    def schedule(self, verb: str, *words: str) -> dict[str, Any]:
        system = ["--system"] if self.level == "system" else []
        return self.dreaming("schedule", verb, "--with", "systemd", *system, *words)

    def systemctl(self, *words: str) -> dict[str, Any]:
        return called(["systemctl", *self.flag, *words], person=self.level == "user")

    def show(self, unit: str, *names: str) -> dict[str, str]:
        said = self.systemctl("show", f"--property={','.join(names)}", unit)["out"]
        return dict(line.split("=", 1) for line in said.splitlines())

    def change(self, text: str = "", *, probe: bool = True, **environment: str) -> None:
        """Let the unit run the probe instead of a night, or change its limits."""
        given = "".join(f"Environment={name}={value}\n" for name, value in environment.items())
        words = f"{PYTHON} -P {ROOM}/tests/live/probe.py {self.state} {WORKSPACE} {HOME}"
        command = f"ExecStart=\nExecStart={words}\n"
        self.dropin.parent.mkdir(parents=True, exist_ok=True)
        if self.level == "user":
            os.chown(self.dropin.parent, NUMBER, NUMBER)
        self.dropin.write_text(f"[Service]\n{given}{command if probe else ''}{text}")
        self.systemctl("daemon-reload")

    def starts(self) -> int:
        path = self.state / "starts"
        return len(path.read_text().splitlines()) if path.exists() else 0

    def probed(self) -> dict[str, str]:
        """Start the probe and return what it was allowed."""
        self.change()
        (self.state / "probe.json").unlink(missing_ok=True)
        self.systemctl("reset-failed", "dreaming.service")
        started = self.systemctl("start", "dreaming.service")
        if not (self.state / "probe.json").exists():
            raise RuntimeError(f"{started} {self.systemctl('status', 'dreaming.service')}")
        found: dict[str, str] = json.loads((self.state / "probe.json").read_text())
        return found


def nights(manager: Manager, found: dict[str, Any]) -> None:
    """Go through everything that is promised of a manager's nights, and note what came of it."""
    found["before"] = tree(manager.folder.parents[1])
    words = [PYTHON, "-P", "-m", "dreaming", "schedule", "install", "--system"]
    found["not root"] = called(words, person=True)
    found["installed"] = manager.schedule("install")
    found["again"] = manager.schedule("install")
    found["status"] = manager.schedule("status", "--json")
    found["offline"] = manager.probed()

    found["night"] = night(manager)

    manager.change(PROBE="work")
    before = manager.starts()
    (manager.state / "done").unlink(missing_ok=True)
    for _ in range(2):
        manager.systemctl("start", "--no-block", "dreaming.service")
    wait(lambda: manager.starts() > before)
    manager.systemctl("start", "--no-block", "dreaming.service")
    (manager.state / "done").touch()
    wait(lambda: manager.show("dreaming.service", "ActiveState") == {"ActiveState": "inactive"})
    found["starts of two"] = manager.starts() - before

    manager.change("TimeoutStartSec=2\nTimeoutStopSec=1\n", PROBE="hang")
    told = told_of_failure(manager)
    began = time.monotonic()
    manager.systemctl("start", "dreaming.service")
    found["hung"] = {
        **manager.show("dreaming.service", "Result"),
        "seconds": time.monotonic() - began,
        "told": wait(told.exists) and told.read_text().split("\n"),
    }
    found["status after"] = manager.schedule("status", "--json")

    found["missed"] = missed(manager)

    settings = HOME / ".config/dreaming/config.toml"
    settings.parent.mkdir(parents=True, exist_ok=True)
    settings.write_text('backend = "anthropic"\n')
    (settings.parent / "environment").write_text("ANTHROPIC_API_KEY=sk-none\n")
    found["refused"] = manager.schedule("install")
    found["to remote"] = manager.schedule("install", "--force")
    with socket.create_server(("127.0.0.1", 9999)):
        found["remote"] = manager.probed()
    shutil.rmtree(settings.parent)
    found["to offline"] = manager.schedule("install")
    shutil.rmtree(manager.dropin.parent)
    found["removed"] = manager.schedule("remove")
    found["after"] = tree(manager.folder.parents[1])
    found["none"] = manager.systemctl("cat", "dreaming.timer")["code"]


def night(manager: Manager) -> dict[str, Any]:
    """Run a real night by the unit, watched by strace, and return what it wrote and asked for."""
    manager.change(probe=False)
    for path in (*manager.state.glob("state.db*"), *WORKSPACE.glob("pending/*.json")):
        path.unlink()
    trace = Path("/run", f"trace-{manager.level}")
    shown = called(["systemctl", "show", "--property=MainPID", "--value", "robins.service"])
    pid = shown["out"].strip() if manager.level == "user" else "1"
    watcher = subprocess.Popen([*WATCH, trace, "-p", pid], stderr=subprocess.DEVNULL)
    wait(trace.exists)
    began = manager.systemctl("start", "dreaming.service")
    watcher.terminate()
    watcher.wait()
    lines = trace.read_text(errors="replace").splitlines()
    return {
        "started": began,
        **manager.show("dreaming.service", "Result", "ExecMainStatus"),
        "status": manager.dreaming("status", "--json"),
        "saw the night": any("execve" in line and "nightly" in line for line in lines),
        "saw it write": sum(str(WORKSPACE / "pending") in line for line in lines),
        "forbidden": forbidden(lines, OWNED, sockets=True)[:50],
    }


def told_of_failure(manager: Manager) -> Path:
    """Let the unit that tells of failures write down what it was told."""
    note = HOME / f"told-{manager.level}"
    folder = manager.folder / "dreaming-failed@.service.d"
    folder.mkdir(exist_ok=True)
    words = f'/bin/sh -c "echo %i $MONITOR_SERVICE_RESULT > {note}"'
    (folder / "zz-room.conf").write_text(f"[Service]\nExecStart=\nExecStart={words}\n")
    manager.systemctl("daemon-reload")
    return note


def missed(manager: Manager) -> dict[str, Any]:
    """Let the timer have looked last two days ago, and start it as a boot does."""
    shutil.rmtree(manager.folder / "dreaming-failed@.service.d")
    manager.change()
    soon = manager.folder / "dreaming.timer.d/zz-room.conf"
    soon.parent.mkdir()
    soon.write_text("[Timer]\nRandomizedDelaySec=0\nAccuracySec=1us\n")
    manager.systemctl("stop", "dreaming.timer")
    manager.systemctl("daemon-reload")
    manager.systemctl("reset-failed")
    user = manager.level == "user"
    stamps = HOME / ".local/share/systemd/timers" if user else Path("/var/lib/systemd/timers")
    stamp = stamps / "stamp-dreaming.timer"
    there = stamp.exists()
    os.utime(stamp, (time.time() - 2 * 86400,) * 2)
    before = manager.starts()
    manager.systemctl("start", "dreaming.timer")
    caught = wait(lambda: manager.starts() > before)
    shutil.rmtree(soon.parent)
    manager.systemctl("daemon-reload")
    return {"stamped": there, "caught up": caught}


def tree(folder: Path) -> list[str]:
    """Every name below a folder, with the bytes of what is a file."""
    return (
        sorted(
            f"{one} {one.read_bytes().hex() if one.is_file() and not one.is_symlink() else ''}"
            for one in (folder, *folder.rglob("*"))
            if "systemd" in str(one)
        )
        if folder.exists()
        else []
    )


def called(words: list[str], *, person: bool = False) -> dict[str, Any]:
    """Run a command and return how it ended."""
    done = subprocess.run(
        words,
        env=ENVIRONMENT,
        cwd="/",
        stdin=subprocess.DEVNULL,
        capture_output=True,
        text=True,
        timeout=2 * LONG,
        user=NUMBER if person else None,
        group=NUMBER if person else None,
        extra_groups=[] if person else None,
        check=False,
    )
    return {"code": done.returncode, "out": done.stdout, "error": done.stderr}


def wait(until: Callable[[], Any]) -> bool:
    """Wait for something to be so; false where it does not come to be."""
    end = time.monotonic() + LONG
    while not until():
        if time.monotonic() > end:
            return False
        time.sleep(0.05)
    return True


def prepare() -> None:
    """Give the person a home with transcripts, a key and a workspace, and a manager."""
    RUNTIME.mkdir(parents=True, mode=0o700)
    Path("/run/systemd/unit-root").mkdir(parents=True, exist_ok=True)  # a booted system has it
    shutil.copytree(ROOM / "dreaming/resources/sample/home", HOME, dirs_exist_ok=True)
    for path, text in {".ssh/id_ed25519": "none", ".config/note": "x"}.items():
        (HOME / path).parent.mkdir(exist_ok=True)
        (HOME / path).write_text(text)
    other = Path("/home/kim")
    other.mkdir()
    (other / "notes").write_text("x")
    for one in (RUNTIME, HOME, *HOME.rglob("*")):
        os.chown(one, NUMBER, NUMBER)
        os.utime(one, (time.time() - 2 * 86400,) * 2)
    made = called([PYTHON, "-P", "-m", "dreaming", "init"], person=True)
    if made["code"]:
        raise RuntimeError(made["error"])
    wait(
        lambda: called(["systemctl", "is-system-running"])["out"].strip() in ("running", "degraded")
    )
    variables = [f"--setenv={name}={value}" for name, value in ENVIRONMENT.items()]
    words = ["--unit=robins", f"--uid={NUMBER}", f"--gid={NUMBER}", "--property=Delegate=yes"]
    called(
        [
            "systemd-run",
            "--quiet",
            *words,
            *variables,
            "/lib/systemd/systemd",
            "--user",
            "--unit=basic.target",
        ]
    )
    wait(lambda: called(["systemctl", "--user", "list-units"], person=True)["code"] == 0)


def main() -> None:
    """Print what was found, or why nothing was."""
    found: dict[str, Any] = {"user": {}, "system": {}}
    try:
        prepare()
        nights(Manager("user", HOME / ".config/systemd/user"), found["user"])
        nights(Manager("system", Path("/etc/systemd/system")), found["system"])
    except Exception:  # noqa: BLE001 - the room has no other way to tell
        found["wrong"] = traceback.format_exc()
    sys.stdout.write(json.dumps(found) + "\n")
    sys.stdout.flush()


if __name__ == "__main__":
    main()
