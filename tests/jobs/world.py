"""A small world for jobs: invented sessions in the neutral format, and the pieces of a night."""

from __future__ import annotations

import contextlib
import json
import os
from collections.abc import Callable, Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

import msgspec

from dreaming.backends.interface import Backend
from dreaming.backends.replay import Recorded, Replay
from dreaming.jobs.archiving import Retention
from dreaming.jobs.decide import Desk, decided, writer_name
from dreaming.jobs.fixing import Files
from dreaming.jobs.limits import Limits
from dreaming.jobs.listing import Waits
from dreaming.jobs.nightly import Night, run
from dreaming.jobs.reading import Reader, rules_version
from dreaming.models.lesson import KnownLine
from dreaming.models.report import Report
from dreaming.redaction.engine import Redactor
from dreaming.stores import files, knowledge_reader
from dreaming.stores.accounts import Accounts
from dreaming.stores.answers import Answers
from dreaming.stores.archive import Archive
from dreaming.stores.interface import Project
from dreaming.stores.ledger import Ledger
from dreaming.stores.pending import Pending
from dreaming.stores.projects import Filter, Projects
from dreaming.stores.state import State, opened
from dreaming.stores.workspace import Pseudonymizer, Workspace, lay_out
from dreaming.transcripts.jsonl import Jsonl

KEY = bytes(range(32))
NIGHT = 1_796_000_000.0
"""When the first night runs: 2026-11-30, about three in the morning."""
HOUR = 3600.0

_REDACTOR = Redactor(KEY)
"""Compiled once: its rules are the same in every world."""

GOTCHAS = {
    "watch": ("pnpm test", "watch mode never ends here", "pnpm vitest run"),
    "push": ("git push", "branch hasno upstreamset anywhere", "git push --set-upstream origin x"),
    "lint": ("npm run lint", "missing script called lintish", "npm run check:style"),
    "proto": (
        "make proto",
        "protoc-gen-zig is outdatedversion",
        "mise exec protoc@29 -- make proto",
    ),
    "seed": ("rake db:seed", "tenantless seeding forbidden", "rake db:seed TENANT=demo"),
    "zone": ("date +%s", "expected utczone but got localzone", "TZ=UTC date +%s"),
    "cache": (
        "gradle test",
        "stale configcache poisoning detected",
        "gradle test --no-configuration-cache",
    ),
    "jq": ("jq .x a.json", "jqfilter needs rawoutput flagging", "jq -r .x a.json"),
    "helm": ("helm upgrade", "helmrelease is lockedby operator", "flux reconcile hr web"),
    "perl": ("perl run.pl", "localemissing for perlrunner", "LC_ALL=C perl run.pl"),
    "disk": ("docker build .", "overlayfs diskquota exhausted", "docker build --squash-cache ."),
    "port": ("npm start", "portnumber 8080 occupiedalready", "PORT=8181 npm start"),
}
"""Name: what is tried, what comes back, what then works."""


def session(
    folder: Path,
    name: str,
    gotchas: Sequence[str],
    *,
    at: float = NIGHT - 48 * HOUR,
    folder_of_work: str = "/srv/tide",
    extra: Sequence[Mapping[str, Any]] = (),
    modified: float | None = None,
) -> Path:
    """Write an invented session in which a person corrects each of these gotchas."""
    head = {"format": "dreaming-session", "version": 1, "agent": "codex", "session": name}
    turns: list[Mapping[str, Any]] = [
        _turn("user", "human", "Please bring the release notes up to date.", at, folder_of_work)
    ]
    for number, gotcha in enumerate(gotchas):
        turns += _gotcha(gotcha, f"{name}-{number}", at + 60 * (number + 1), folder_of_work)
    path = folder / f"{name}.jsonl"
    path.parent.mkdir(parents=True, exist_ok=True)
    lines = [json.dumps(one) for one in (head, *turns, *extra)]
    path.write_text("\n".join(lines) + "\n", encoding="utf-8")
    touch(path, NIGHT - 24 * HOUR if modified is None else modified)
    return path


def touch(path: Path, modified: float) -> None:
    """Set a file's time, as no test may wait for one to pass."""
    os.utime(path, (modified, modified))


def recorded(names: Sequence[str] = tuple(GOTCHAS)) -> list[Recorded]:
    """What a model would have said about these gotchas."""
    return [
        Recorded(
            slug=f"{name}-gotcha",
            topic="tools",
            symptom=f"`{GOTCHAS[name][0]}` fails: {GOTCHAS[name][1]}.",
            rule=f"Use `{GOTCHAS[name][2]}` from the start.",
            quotes=(GOTCHAS[name][1],),
        )
        for name in names
    ]


class World:
    """A workspace with its sessions, and nights and decisions over them."""

    def __init__(self, root: Path, *, include: Sequence[str] = (), exclude: Sequence[str] = ()):
        self.place = Workspace(root / "workspace", root / "state")
        self.sessions = root / "sessions"
        self.sessions.mkdir(parents=True, exist_ok=True)
        self.backend: Backend = Replay(recorded())
        self.now = NIGHT
        self.max_pending = 30
        self.settle = 1800.0
        self.since: float | None = None
        self.redactor = _REDACTOR
        self.retention = Retention()
        self.limits = Limits()
        self.tokens_per_mb = 100_000
        self.pauses: list[float] = []
        """Seconds that were waited between tries, without waiting."""
        self.prompt, self.joining_prompt = "Find what recurs.", "Say what is the same."
        self.rules = ""
        """Changes the version of the rules."""
        self.repository: Callable[[Project], Files | None] = lambda _: None
        self.belongs = Filter(include, exclude, "")
        self._filter = "\0".join([*include, "", *exclude])
        lay_out(self.place, {"dreaming.toml": ""}, KEY)

    def night(self) -> Report:
        """Run one night."""
        with opened(self.place.database, key=KEY) as state:
            return run(self.made(state))

    def made(self, state: State) -> Night:
        """Put a night together, as the wiring does."""
        pseudonyms = Pseudonymizer(KEY)
        rules = rules_version(self._filter + self.rules)
        return Night(
            folders=[(Jsonl(), self.sessions)],
            backend=self.backend,
            state=state,
            pending=Pending(self.place.pending),
            answers=Answers(self.place.answers),
            archive=Archive(self.place.archive),
            retention=self.retention,
            reader=Reader(self.redactor, pseudonyms, Projects(pseudonyms), self.belongs, rules),
            belongs=self.belongs,
            lessons=knowledge_reader.read(self.place.knowledge_base),
            decided=lambda: decided(Ledger(self.place.ledger, "reader").decisions()),
            deciding=lambda: files.lock(self.place.state / "decide.lock", wait=True),
            context=no_context,
            repository=self.repository,
            prompt=self.prompt,
            joining_prompt=self.joining_prompt,
            tokens_per_mb=self.tokens_per_mb,
            waits=Waits(rules, self.settle, 14 * 24 * HOUR, self.since),
            max_pending=self.max_pending,
            clock=lambda: self.now,
            limits=self.limits,
            accounts=Accounts(self.place.state),
            pause=self.pauses.append,
        )

    @contextlib.contextmanager
    def desk(self) -> Iterator[Desk]:
        """Sit down to decide."""
        from datetime import UTC, datetime

        with opened(self.place.database, key=KEY) as state:
            yield Desk(
                knowledge_base=self.place.knowledge_base,
                pending=Pending(self.place.pending),
                ledger=Ledger(self.place.ledger, writer_name(state, "kim")),
                state=state,
                lock=self.place.state / "decide.lock",
                torn=self.place.state / "torn",
                redactor=self.redactor,
                reviewer="kim",
                now=lambda: datetime.fromtimestamp(self.now, UTC),
            )

    def waiting(self) -> dict[str, Any]:
        """What waits, by slug."""
        return {one.slug: one for one in Pending(self.place.pending).all()}

    def snapshot(self, folder: str = "pending") -> dict[str, bytes]:
        """Every file of one of the workspace's folders."""
        return {one.name: one.read_bytes() for one in (self.place.root / folder).iterdir()}


def no_context(projects: Mapping[str, Project]) -> tuple[list[KnownLine], list[str]]:
    """No project has files that agents load."""
    return [], []


def report_text(report: Report) -> str:
    """The whole report, to look for what must not be in it."""
    return msgspec.json.encode(report).decode()


def _turn(
    kind: str, speaker: str, text: str, at: float, folder: str, **more: Any
) -> dict[str, Any]:
    return {"kind": kind, "speaker": speaker, "text": text, "at": at, "folder": folder, **more}


def _gotcha(name: str, call: str, at: float, folder: str) -> list[dict[str, Any]]:
    tried, came, worked = GOTCHAS[name]
    shell = {"tool": "shell", "tool_name": "Bash"}
    return [
        _turn("call", "model", "", at, folder, call=call, action=tried, **shell),
        _turn(
            "result", "tool", f"error: {came}", at + 1, folder, call=call, status="error", **shell
        ),
        _turn("user", "human", f"No, not like that: {came}. Use {worked} instead.", at + 2, folder),
        _turn("call", "model", "", at + 3, folder, call=f"{call}b", action=worked, **shell),
        _turn("result", "tool", "done", at + 4, folder, call=f"{call}b", status="ok", **shell),
    ]
