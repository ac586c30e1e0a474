"""Nights from systemd: a timer and a service, of the person's own manager or of the machine's.

The units are texts in ``resources/systemd``; here their blanks are filled in and systemctl is
asked. Quoting follows systemd.syntax(7) and systemd.service(5) of version 252.
"""

from __future__ import annotations

import json
import re
from collections.abc import Mapping, Sequence
from datetime import UTC, datetime
from pathlib import Path
from typing import ClassVar, Final

from dreaming.errors import Unusable
from dreaming.schedulers.interface import Plan, Run, Scheduler, SchedulerSilent, Status, Told

_SECOND: Final = 1_000_000

SERVICE: Final = "dreaming.service"
TIMER: Final = "dreaming.timer"
NETWORK: Final = "dreaming.service.d/network.conf"
PROGRAM: Final = "dreaming.service.d/program.conf"

_OF_NIGHTS: Final = re.compile(
    "(Description|On(Failure|Success)|Type|ExecStart|SuccessExitStatus|Timeout(Start|Stop)Sec)="
)
"""What of a unit is about nights and not about what they may do."""

SECRETS: Final = (
    ".ssh .gnupg .aws .azure .kube .docker .netrc .git-credentials .npmrc .pypirc .vault-token "
    ".password-store .pki .mozilla .thunderbird .cargo/credentials.toml .local/share/keyrings "
    ".config/gh .config/gcloud .config/git/credentials .config/google-chrome .config/chromium"
).split()
"""Below a home: what holds keys and passwords and no transcript."""

HIDDEN: Final = tuple(Path(one) for one in ("/home", "/root", "/run/user", "/tmp", "/var/tmp"))
"""What a unit with ``ProtectHome=tmpfs`` and ``PrivateTmp=yes`` sees empty."""


class Systemd(Scheduler):
    """systemd 252 or newer."""

    kind: ClassVar[str] = "systemd"
    comment: ClassVar[tuple[str, str]] = ("# ", "")
    names: ClassVar[tuple[str, ...]] = (
        SERVICE, TIMER, "dreaming-failed@.service", NETWORK, PROGRAM,
    )  # fmt: skip

    def __init__(
        self,
        folder: Path,
        templates: Mapping[str, str],
        run: Run,
        *,
        linger: Path | None,
    ) -> None:
        """``linger`` is the file that logind keeps for a person; none means the machine's units."""
        self.folder = folder
        self._templates = templates
        self._run = run
        self._linger = linger

    def files(self, plan: Plan) -> dict[str, str]:
        """Return the units, and of the drop-ins those that the backend cannot do without."""
        needed = {NETWORK: plan.remote, PROGRAM: plan.program}
        return {
            name: _filled(self._templates[name], _blanks(plan))
            for name in self.names
            if needed.get(name, True)
        }

    def start(self) -> None:
        """Load the units and start the timer, now and at each boot."""
        self._ask("daemon-reload")
        self._ask("enable", "--now", TIMER)

    def stop(self) -> None:
        """Stop the timer, now and for good."""
        self._ask("disable", "--now", TIMER)

    def forget(self) -> None:
        """Load what is left."""
        self._ask("daemon-reload")

    def status(self) -> Status:
        """Return what systemctl shows of timer and service."""
        service = self._shown(SERVICE, "Result", "ExecMainStatus", "ExecMainStartTimestamp")
        started = int(service.get("ExecMainStartTimestamp", "").lstrip("@") or 0) * _SECOND
        result, code = service.get("Result", ""), service.get("ExecMainStatus", "0")
        (timer,) = json.loads(self._ask("list-timers", "--all", "--output=json", TIMER)) or [{}]
        return Status(
            active=self._shown(TIMER, "ActiveState")["ActiveState"] == "active",
            next_look=_moment(timer.get("next")),
            last_start=_moment(started or timer.get("last")),
            last_result=f"ended with {code}" if result == "exit-code" else result * bool(started),
            lingers=self._linger.exists() if self._linger else None,
        )

    def shut_in(self, plan: Plan, words: Sequence[str]) -> Told:
        """Run a command of ours now, shut in as a night is, and return how that ended."""
        files = self.files(plan)
        lines = "\n".join(files[name] for name in (SERVICE, NETWORK, PROGRAM) if name in files)
        given = [one for one in re.findall(r"^\w+=.*$", lines, re.M) if not _OF_NIGHTS.match(one)]
        manager = ("--user",) if self._linger else ()
        flags = ("--quiet", "--wait", "--pipe", "--collect")
        properties = [f"--property={one}" for one in given]
        return self._run(("systemd-run", *manager, *flags, *properties, *plan.command, *words))

    def _shown(self, unit: str, *properties: str) -> dict[str, str]:
        said = self._ask("show", "--timestamp=unix", f"--property={','.join(properties)}", unit)
        return dict(line.split("=", 1) for line in said.splitlines() if "=" in line)

    def _ask(self, *words: str) -> str:
        manager = ("--user",) if self._linger else ()
        told = self._run(("systemctl", *manager, *words))
        if told.code:
            raise SchedulerSilent(
                f"systemctl {' '.join((*manager, *words))}: {told.error or told.code}",
                remedy="Run this in a session of yours that systemd knows, or use "
                "`dreaming daemon` instead.",
            )
        return told.out


def _moment(microseconds: int | None) -> datetime | None:
    """Return an instant; systemctl says 0 or nothing for none."""
    if not microseconds:
        return None
    return datetime.fromtimestamp(microseconds // _SECOND, UTC)


def _blanks(plan: Plan) -> dict[str, str]:
    secrets = [plan.home / one for one in SECRETS]
    tops = {*HIDDEN, *(top.resolve() for top in HIDDEN)}
    hidden = [one for one in plan.readable if any(one.is_relative_to(top) for top in tops)]
    if any(":" in str(one) for one in hidden):  # parts source and target of a bind
        raise _cannot_stand(", ".join(map(str, hidden)))
    outer = {one for one in hidden if not any(one != o and one.is_relative_to(o) for o in hidden)}
    return {
        "NIGHT": _command(plan.night),
        "ENDED": "OnSuccess=dreaming-failed@%n.service" if plan.tells else "",
        "ALERT": f"{_command(plan.alert)} %i",
        "ENVIRONMENT": "\n".join(
            f"Environment={_quoted(f'{name}={value}')}" for name, value in plan.environment.items()
        ),
        "STATE": _quoted(str(plan.state)),
        "PENDING": _quoted(str(plan.pending)),
        "OWNED": _paths(plan.owned),
        "READABLE": _paths(sorted(outer), "-"),
        "SECRETS": _paths(secrets, "-"),
        "LOGINS": f"ReadWritePaths={_paths(plan.logins, '-')}" if plan.logins else "",
        "KEYS": _plain(str(plan.keys)),
        "USER": _plain(plan.user),
    }


def _filled(template: str, blanks: Mapping[str, str]) -> str:
    """Fill in the blanks; a line that is nothing but an empty blank goes."""
    whole = {name for name, text in blanks.items() if not text}
    kept = [line for line in template.splitlines() if line.strip("@") not in whole]
    return re.sub(r"@([A-Z]+)@", lambda hit: blanks[hit[1]], "\n".join(kept) + "\n")


def _paths(paths: Sequence[Path], before: str = "") -> str:
    return " ".join(_quoted(f"{before}{one}") for one in paths)


def _command(words: tuple[str, ...]) -> str:
    """A command line on which nothing is expanded."""
    return " ".join(_quoted(one).replace("$", "$$") for one in words)


def _quoted(text: str) -> str:
    escaped = _plain(text).replace("\\", "\\\\").replace('"', '\\"')
    return f'"{escaped}"' if re.search(r"[\s\"'\\;]", text) else escaped


def _plain(text: str) -> str:
    """Keep ``%`` from being a specifier; refuse what a line of a unit cannot hold."""
    if re.search(r"[\x00-\x1f\x7f]", text):
        raise _cannot_stand(text)
    return text.replace("%", "%%")


def _cannot_stand(text: object) -> Unusable:
    return Unusable(
        f"{str(text)!r} cannot stand in a systemd unit.",
        remedy="Give it a name without colons and control characters, or use `dreaming daemon`.",
    )
