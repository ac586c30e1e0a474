"""Invented sessions in the form Claude Code writes, as many and as large as a measure needs."""

from __future__ import annotations

import json
import os
import random
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any, Final

BEGIN: Final = 1_790_000_000.0
"""When the newest session was written, seconds since 1970 UTC; each older one an hour before."""
_TOOLS: Final = [
    f"{first}{second}{third}"
    for first in "bor dal fen gul har jin kol lum mar nel".split()
    for second in "bex dok fim gat lop".split()
    for third in ("ctl", "kit", "run")
]
GOTCHAS: Final = [
    (f"{tool} sync", f"{tool}: the {noun}box is {state}", f"{tool} sync --{noun}-{state}")
    for tool, noun, state in zip(
        _TOOLS, [*_TOOLS[7:], *_TOOLS[:7]], [*_TOOLS[50:], *_TOOLS[:50]], strict=True
    )
]
"""What is tried, what comes back, what then works: rare words, as gotchas have them."""
_WORDS: Final = (
    "def return import class error value path self none true test assert result index config "
    "handler request response parse write read open close line chunk buffer stream module "
    "timeout retry queue worker task schema column table row update insert select where join"
).split()


def write(folder: Path, number: int, *, size: int, seed: int = 1, failing: float = 0.3) -> None:
    """Write so many sessions of about ``size`` bytes; ``failing`` is the share with a gotcha.

    The same arguments give the same bytes and times.
    """
    for at in range(number):
        source = random.Random(f"{seed}-{at}")
        path = folder / f"-srv-project-{at % 50}" / f"{at:08x}-0000-4000-8000-{seed:012x}.jsonl"
        path.parent.mkdir(parents=True, exist_ok=True)
        began = BEGIN - 3600.0 * at
        lines = list(_session(source, path.stem, began, size, failing))
        path.write_text("\n".join(lines) + "\n", encoding="utf-8")
        os.utime(path, (began, began))


def _session(
    source: random.Random, name: str, began: float, size: int, failing: float
) -> Iterator[str]:
    records = _Records(name, began)
    yield records.user("Please bring the module up to date and run what checks it.")
    written = 0
    gotchas: Sequence[tuple[str, str, str]] = ()
    if source.random() < failing:
        gotchas = source.sample(GOTCHAS, 2)
    for tried, came, worked in gotchas:
        yield from records.shell(tried, came, failed=True)
        yield records.user(f"No, not like that: {came}. Use {worked} instead.")
        yield from records.shell(worked, "done", failed=False)
    while written < size - 1500:
        for line in records.shell("cat src/module.py", _text(source, size), failed=False):
            written += len(line)
            yield line


def _text(source: random.Random, size: int) -> str:
    """Something that looks like a file, a few kilobytes at most, mostly without credentials."""
    lines = min(120, max(2, size // 120))
    return "\n".join(
        f"{number:5}\t{' '.join(source.choices(_WORDS, k=9))} ({source.getrandbits(12)})"
        for number in range(lines)
    )


class _Records:
    """Makes the records of one session, one after the other."""

    def __init__(self, name: str, began: float) -> None:
        self._name = name
        self._at = began
        self._number = 0

    def user(self, text: str) -> str:
        """A person's words."""
        return self._record("user", {"role": "user", "content": text})

    def shell(self, command: str, output: str, *, failed: bool) -> Iterator[str]:
        """A command and what came back."""
        call = f"toolu_{self._name[:8]}{self._number}"
        use = {"type": "tool_use", "id": call, "name": "Bash", "input": {"command": command}}
        message = {"id": f"msg_{call}", "role": "assistant", "model": "m", "content": [use]}
        yield self._record("assistant", message)
        result = {"type": "tool_result", "tool_use_id": call, "content": output}
        if failed:
            result["is_error"] = True
        yield self._record("user", {"role": "user", "content": [result]}, toolUseResult=output)

    def _record(self, kind: str, message: Any, **more: Any) -> str:
        self._number += 1
        whole = {
            "parentUuid": f"{self._name}-{self._number - 1}" if self._number > 1 else None,
            "isSidechain": False,
            "userType": "external",
            "cwd": "/srv/project",
            "sessionId": self._name,
            "version": "2.1.99",
            "type": kind,
            "message": message,
            "uuid": f"{self._name}-{self._number}",
            "timestamp": _stamp(self._at + self._number),
            **more,
        }
        return json.dumps(whole)


def _stamp(seconds: float) -> str:
    from datetime import UTC, datetime

    return datetime.fromtimestamp(seconds, UTC).strftime("%Y-%m-%dT%H:%M:%S.000Z")
