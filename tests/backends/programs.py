"""Small programs that stand in for those a person has, and what became of their processes."""

from __future__ import annotations

import json
import sys
import time
from pathlib import Path
from typing import Any

import pytest

from dreaming.backends import child
from dreaming.backends.interface import Request

SCHEMA: dict[str, object] = {
    "type": "object",
    "properties": {"findings": {"type": "array", "items": {"type": "string"}}},
    "required": ["findings"],
    "additionalProperties": False,
}


def question(prompt: str = "[dreaming: mining task]\nhello", **more: Any) -> Request:
    """Return a request."""
    told = {"packets": (), "system": "You answer.", "hash": "0" * 64, "schema": SCHEMA, **more}
    return Request(prompt=prompt, **told)


def program(folder: Path, body: str, name: str = "program") -> Path:
    """Write a program in Python and return where it is."""
    file = folder / name
    file.write_text(f"#!{sys.executable} -IS\nimport json, os, sys, time\n{body}", "utf-8")
    file.chmod(0o755)
    return file


def speaks(
    folder: Path, *records: Any, code: int = 0, then: str = "", name: str = "program"
) -> Path:
    """Write a program that reads all of its input, prints records as JSON lines and ends."""
    lines = [one if isinstance(one, str) else json.dumps(one) for one in records]
    body = f"sys.stdin.buffer.read()\nfor line in {lines!r}: print(line, flush=True)\n{then}\n"
    return program(folder, f"{body}sys.exit({code})\n", name)


def plays(monkeypatch: pytest.MonkeyPatch, *records: Any, code: int = 0) -> None:
    """Let no program run, and each that should say these records."""
    lines = [json.dumps(one).encode() for one in records]

    def run(command: child.Command, folders: child.Room, timeout: float, hear: Any) -> child.Ended:
        for line in lines:
            hear(line)
        return child.Ended(code, b"\n".join(lines))

    monkeypatch.setattr(child, "run", run)


def is_gone(pid: int) -> bool:
    """Say whether a process ends within two seconds; one that nobody has reaped has ended."""
    until = time.monotonic() + 2.0
    while time.monotonic() < until:
        try:
            state = Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()[0]
        except (FileNotFoundError, ProcessLookupError):
            return True
        if state in "ZX":
            return True
        time.sleep(0.01)
    return False
