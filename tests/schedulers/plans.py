"""An invented plan, and a system that answers what a test says."""

from __future__ import annotations

from collections.abc import Sequence
from importlib import resources
from pathlib import Path
from typing import Any

from dreaming.schedulers.interface import Plan, Told
from dreaming.schedulers.systemd import Systemd

HOME = Path("/home/robin")


def plan(home: Path = HOME, **changed: Any) -> Plan:
    """A plan of a person with everything below their home."""
    values: dict[str, Any] = {
        "command": ("/usr/bin/python3", "-P", "-m", "dreaming"),
        "workspace": home / ".dreaming",
        "owned": (home / ".dreaming/knowledge_base", home / ".dreaming/ledger"),
        "state": home / ".local/state/dreaming/workspaces/0123456789abcdef",
        "pending": home / ".dreaming/pending",
        "readable": (home, home / ".claude/projects", Path("/usr")),
        "home": home,
        "user": "robin",
        "environment": {},
        "keys": home / ".config/dreaming/environment",
        "remote": False,
        "program": False,
        "logins": (),
        "tells": False,
    }
    return Plan(**(values | changed))


def templates(level: str) -> dict[str, str]:
    """The shipped units, with their blanks."""
    folder = resources.files("dreaming.resources").joinpath("systemd", level)
    return {name: folder.joinpath(name).read_text("utf-8") for name in Systemd.names}


class System:
    """Notes what it is asked, and answers by the words that a command holds."""

    def __init__(self, **answers: Told) -> None:
        self.asked: list[str] = []
        self.answers = answers

    def __call__(self, command: Sequence[str]) -> Told:
        self.asked.append(" ".join(command))
        found = [told for word, told in self.answers.items() if word in command]
        return found[0] if found else Told(0)


def systemd(folder: Path, system: System, level: str = "user") -> Systemd:
    """A manager that keeps its units in ``folder``."""
    linger = folder / "linger" if level == "user" else None
    return Systemd(folder, templates(level), system, linger=linger)
