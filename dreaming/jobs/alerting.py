"""Telling a person that nights are in trouble: their own command, and a service that misses a sign.

A message is made of counts and of our own words, never of what was read. Nothing is sent that the
person's own settings do not ask for.
"""

from __future__ import annotations

import os
import shlex
import signal
import subprocess
from collections.abc import Mapping
from typing import Any, Final

import msgspec

from dreaming.config import AlertSettings
from dreaming.jobs.gate import HOUR
from dreaming.jobs.health import Trouble, meaning, settled_since, troubles
from dreaming.stores.state import State

COMMAND_SECONDS: Final = 30.0
PING_SECONDS: Final = 10.0
AGAIN: Final = 20 * HOUR
"""Seconds after which a trouble that is still there is told again."""
_TOLD: Final = "told"
_PASSED_ON: Final = (
    "PATH", "HOME", "USER", "LOGNAME", "LANG", "LC_ALL", "DISPLAY", "WAYLAND_DISPLAY",
    "DBUS_SESSION_BUS_ADDRESS", "XDG_RUNTIME_DIR",
)  # fmt: skip
"""What a command needs to find its programs and a desktop. No key is among it."""


class Told(msgspec.Struct):
    """What was told so far, as the state keeps it."""

    run: str = ""
    """Start of the last run that was told of."""
    troubles: dict[str, float] = {}
    """When each was last told, seconds since 1970 UTC."""


def after_night(
    state: State, settings: AlertSettings, workspace: str, now: float, word: Trouble | None = None
) -> list[str]:
    """Tell what the last run came to, once; return what could not be told.

    ``word`` is what is known of it beyond the state: a unit that failed, a run that left no record.
    """
    runs = state.last_runs(settings.stayed)
    kept = state.get(_TOLD)
    told = msgspec.json.decode(kept, type=Told) if kept else Told()
    found = {one.kind: one for one in troubles(runs, settled_since(state, now), settings, now)}
    if word is not None:
        found.setdefault(word.kind, word)
    wrong: list[str] = []
    new = bool(runs) and runs[0]["started"] != told.run
    if new or word is not None:
        told.run = runs[0]["started"] if runs else ""
        in_order = new and word is None and not runs[0]["exit_code"]
        wrong += ping(settings, in_order=in_order, failed="failed" in found)
    before, told.troubles = told.troubles, {}
    for kind, one in found.items():
        at = before.get(kind)
        if at is None or not 0 <= now - at < AGAIN:
            wrong += send(settings, one, workspace)
            at = now
        told.troubles[kind] = at
    state.put(_TOLD, msgspec.json.encode(told).decode())
    return wrong


def send(settings: AlertSettings, trouble: Trouble, workspace: str) -> list[str]:
    """Run the person's command with a message; return what went wrong.

    It gets the message on its input and in ``DREAMING_ALERT_MESSAGE``, with ``DREAMING_ALERT_KIND``
    and ``DREAMING_ALERT_WORKSPACE`` beside it, and thirty seconds.
    """
    if not settings.command:
        return []
    message = f"dreaming: {trouble.said} {trouble.remedy}"
    words = shlex.split(settings.command)
    try:
        process = subprocess.Popen(
            words,
            stdin=subprocess.PIPE,
            stdout=subprocess.DEVNULL,
            env=_environment(trouble.kind, message, workspace),
            start_new_session=True,
        )
    except OSError as wrong:
        return [f"[alert] command: {words[0]}: {wrong.strerror}."]
    with process:
        try:
            process.communicate(f"{message}\nWorkspace: {workspace}\n".encode(), COMMAND_SECONDS)
        except subprocess.TimeoutExpired:
            os.killpg(process.pid, signal.SIGKILL)  # what it started goes with it
            return [f"[alert] command: {words[0]} took longer than {COMMAND_SECONDS:.0f} seconds."]
    code = process.returncode
    return [f"[alert] command: {words[0]} ended with {code}."] if code else []


def try_out(settings: AlertSettings, workspace: str) -> list[str]:
    """Send a message that says it is a test, each way there is; return what went wrong."""
    word = Trouble("test", "This is a test; nothing is wrong.", "There is nothing to do.")
    return send(settings, word, workspace) + ping(settings, in_order=True, failed=False)


def run_failed(code: int) -> Trouble:
    """Return what is known of a run that brought no report."""
    said = f"A night failed (exit {code}): {meaning(code)}"
    return Trouble("failed", said, "`dreaming doctor` says what to do.")


def _environment(kind: str, message: str, workspace: str) -> dict[str, str]:
    passed = {name: os.environ[name] for name in _PASSED_ON if name in os.environ}
    ours = {"KIND": kind, "MESSAGE": message, "WORKSPACE": workspace}
    return passed | {f"DREAMING_ALERT_{name}": value for name, value in ours.items()}


def ping(settings: AlertSettings, *, in_order: bool, failed: bool) -> list[str]:
    """Give the service that watches for it a sign of life, or of failure; return what went wrong.

    A night that had to leave something for later gives none: the service misses it in time.
    """
    if not settings.ping_url or not (in_order or failed):
        return []
    import urllib.request
    from urllib.parse import urlsplit

    class Stay(urllib.request.HTTPRedirectHandler):
        """The address that a person named is called, and no other."""

        def redirect_request(self, *_: Any) -> None:
            return None

    parts = urlsplit(settings.ping_url)
    path = parts.path if in_order else f"{parts.path.rstrip('/')}/fail"
    try:
        opener = urllib.request.build_opener(Stay)
        opener.open(parts._replace(path=path).geturl(), timeout=PING_SECONDS).close()
    except (OSError, ValueError) as wrong:
        return [f"[alert] ping_url: {type(wrong).__name__}: {parts.hostname} was not told."]
    return []


def unit_failed(unit: str, monitor: Mapping[str, str]) -> Trouble | None:
    """Return what a service manager says of a unit; ``None`` where that ended in order."""
    result = monitor.get("MONITOR_SERVICE_RESULT", "unknown")
    if result == "success":
        return None
    code = monitor.get("MONITOR_EXIT_STATUS", "")
    said = f"{unit} failed (result {result}{f', exit {code}' if code else ''})."
    system = "" if os.geteuid() == 0 else "--user "
    return Trouble("failed", said, f"Look at `journalctl {system}-u {unit}` and `dreaming status`.")
