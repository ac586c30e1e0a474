"""Nights from launchd: one property list of the person's own agents, as launchd.plist(5) has it."""

from __future__ import annotations

import plistlib
import re
from pathlib import Path
from typing import ClassVar, Final

from dreaming.schedulers.interface import HOURS, Plan, Run, Scheduler, SchedulerSilent, Status

LABEL: Final = "dreaming.nightly"


class Launchd(Scheduler):
    """macOS. There is no sandbox in it; what the night gives up by itself is all there is."""

    kind: ClassVar[str] = "launchd"
    comment: ClassVar[tuple[str, str]] = ("<!-- ", " -->")
    names: ClassVar[tuple[str, ...]] = (f"{LABEL}.plist",)

    def __init__(self, folder: Path, user: int, run: Run) -> None:
        self.folder = folder
        self._domain = f"gui/{user}"
        self._run = run

    def files(self, plan: Plan) -> dict[str, str]:
        """Return the property list."""
        log = str(plan.home / "Library/Logs/dreaming.log")
        agent = {
            "Label": LABEL,
            "ProgramArguments": list(plan.night),
            "EnvironmentVariables": dict(plan.environment),
            # An hour that was slept through is made up for on waking; one that the machine was off
            # for only by starting when the agent is loaded. The command knows whether it is due.
            "StartCalendarInterval": [{"Hour": hour, "Minute": 0} for hour in HOURS],
            "RunAtLoad": True,
            "ProcessType": "Background",
            "LowPriorityIO": True,
            "Nice": 19,
            "Umask": 0o077,
            "ExitTimeOut": 60,
            "StandardOutPath": log,
            "StandardErrorPath": log,
        }
        return {self.names[0]: plistlib.dumps(agent, sort_keys=False).decode()}

    def start(self) -> None:
        """Load the agent anew: a loaded one keeps what it was loaded with."""
        self._run(("launchctl", "bootout", f"{self._domain}/{LABEL}"))
        told = self._run(("launchctl", "bootstrap", self._domain, str(self.folder / self.names[0])))
        if told.code:
            raise SchedulerSilent(
                f"launchctl bootstrap {self._domain}: {told.error or told.code}",
                remedy="Run this while you are logged in at the screen, or use `dreaming daemon`.",
            )

    def stop(self) -> None:
        """Unload the agent; it is fine when it is not loaded."""
        self._run(("launchctl", "bootout", f"{self._domain}/{LABEL}"))

    def status(self) -> Status:
        """Return whether the agent is loaded and how it last ended; launchd tells no times."""
        told = self._run(("launchctl", "print", f"{self._domain}/{LABEL}"))
        code = re.search(r"last exit code = (\d+)", told.out)
        result = (
            "" if code is None else "success" if code[1] in ("0", "75") else f"ended with {code[1]}"
        )
        return Status(active=told.code == 0, last_result=result)
