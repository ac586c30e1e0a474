"""Settings to the stores, sources and backend that a job needs. Late imports live here.

Nothing above knows which database or which agent there is; nothing below knows about settings.
"""

from __future__ import annotations

import contextlib
import os
import socket
from collections.abc import Callable, Iterator, Mapping, Sequence
from datetime import UTC, datetime
from importlib import resources
from pathlib import Path
from typing import TYPE_CHECKING, Final

import msgspec

from dreaming.config import PersonSettings, WorkspaceSettings, kept_for, read_person, read_workspace
from dreaming.errors import NotNow, Unusable, WrongUse
from dreaming.stores import files, mounts, workspace
from dreaming.stores.workspace import Workspace

if TYPE_CHECKING:
    from dreaming.backends.interface import Backend
    from dreaming.jobs.archiving import Retention
    from dreaming.jobs.decide import Desk
    from dreaming.jobs.doctor import Patient
    from dreaming.jobs.listing import Preview, Waits
    from dreaming.jobs.nightly import Night
    from dreaming.jobs.progress import Progress
    from dreaming.jobs.queueing import Decided
    from dreaming.jobs.reading import Reader
    from dreaming.jobs.rebuild import Rebuilt
    from dreaming.jobs.review import Review
    from dreaming.jobs.schedule import Overview
    from dreaming.jobs.survey import Survey
    from dreaming.models.decision import Words
    from dreaming.models.lesson import KnownLine
    from dreaming.redaction.engine import Redactor
    from dreaming.schedulers.interface import Plan, Scheduler
    from dreaming.stores.compiled import Compiled
    from dreaming.stores.interface import Project
    from dreaming.stores.projects import Projects
    from dreaming.stores.state import State
    from dreaming.transcripts.interface import Source

DAY: Final = 24 * 3600.0


class Choices(msgspec.Struct):
    """What a person said on the command line."""

    workspace: Path | None = None
    transcripts: Sequence[tuple[str, Path]] = ()
    """(agent, folder); empty: the settings' folders, else the agents' own places."""
    backend: str | None = None
    since: float | None = None
    settle: int | None = None
    """Minutes."""


class Place(msgspec.Struct):
    """A workspace with the settings that hold in it."""

    workspace: Workspace
    person: PersonSettings
    settings: WorkspaceSettings
    config_file: Path


def place(choices: Choices, *, must_exist: bool = True) -> Place:
    """Return the workspace a person means, with its settings read and checked.

    Raises ``Unusable`` where a file cannot be used, or where no workspace is there and one must be.
    """
    try:
        found = workspace.find(choices.workspace, os.environ, Path.cwd(), Path.home())
        exists = found.exists
    except RuntimeError as wrong:
        raise Unusable(f"{wrong}", remedy="Set HOME, then run this again.") from wrong
    if must_exist and not exists:
        raise Unusable(
            f"{found.root} is no workspace yet.",
            remedy=f"`dreaming init {found.root}` makes it one.",
        )
    config_file = workspace.config_file()
    return Place(found, read_person(config_file), read_workspace(found.settings), config_file)


def template() -> dict[str, str]:
    """Return the files that a new workspace gets, by relative name."""
    texts = resources.files("dreaming.resources").joinpath("workspace")
    names = {
        "dreaming.toml": "dreaming.toml",
        ".gitignore": "gitignore",
        "knowledge_base/README.md": "knowledge_base.md",
        "pending/README.md": "pending.md",
        "ledger/README.md": "ledger.md",
    }
    return {name: texts.joinpath(source).read_text("utf-8") for name, source in names.items()}


def lay_out(found: Workspace, key_file: Path | None = None, sessions: str = "off") -> bool:
    """Make a workspace; return whether anything was new.

    ``sessions`` says how long a new one keeps redacted sessions.
    """
    key = None
    if key_file is not None:
        try:
            key = key_file.read_bytes()
        except OSError as wrong:
            raise WrongUse(f"{key_file}: {wrong.strerror}") from wrong
    texts = template()
    if sessions != "off":
        texts[workspace.SETTINGS] += f'\n[retention]\nsessions = "{sessions}"\n'
    return workspace.lay_out(found, texts, key)


def lay_out_if_bare(found: Workspace) -> bool:
    """Make a workspace of a folder that a person named and that holds nothing of anybody else's."""
    if found.exists:
        return False
    own = {*workspace.FOLDERS, ".gitignore", ".git"}
    if found.root.is_dir() and {one.name for one in found.root.iterdir()} - own:
        return False
    return lay_out(found)


# -- sources and backends -------------------------------------------------------------------------


def sources() -> dict[str, Source]:
    """Return the sources by agent name."""
    from dreaming.transcripts.claude_code import ClaudeCode
    from dreaming.transcripts.codex import Codex
    from dreaming.transcripts.jsonl import Jsonl

    known: list[Source] = [ClaudeCode(), Codex(), Jsonl()]
    return {source.agent: source for source in known}


def folders(here: Place, choices: Choices) -> list[tuple[Source, Path]]:
    """Return what is to be listed: named folders, the settings' ones, else the agents' places.

    Raises ``WrongUse`` for an agent nobody knows or a named folder that is none, and ``Unusable``
    for one that may not be read.
    """
    known = sources()
    named = list(choices.transcripts) or [
        (agent, folder) for agent, several in here.person.transcripts.items() for folder in several
    ]
    if not named:
        return [
            (source, folder)
            for source in known.values()
            for folder in source.default_folders(os.environ, Path.home())
            if folder.is_dir()
        ]
    for agent, folder in named:
        if agent not in known:
            raise WrongUse(f"{agent!r} is no agent; there are {', '.join(sorted(known))}.")
        _check_folder(folder)
    return [(known[agent], folder) for agent, folder in named]


def _check_folder(folder: Path) -> None:
    if not folder.exists():
        raise WrongUse(f"{folder} does not exist.", remedy="Name a folder with transcripts.")
    if not folder.is_dir():
        raise WrongUse(f"{folder} is a file.", remedy="Name the folder it is in.")
    if not os.access(folder, os.R_OK | os.X_OK):
        raise Unusable(f"{folder} may not be read.", remedy="Give yourself the right to read it.")


def backend(name: str, person: PersonSettings) -> Backend:
    """Return the backend of that name.

    Raises ``WrongUse`` where there is none, and ``Unusable`` where it lacks what it needs.
    """
    if name == "offline":
        from dreaming.backends.offline import Offline

        return Offline()
    if name == "replay":
        return _replay(person)
    if name == "anthropic":
        return _anthropic(person)
    raise WrongUse(f"{name!r} is no backend; there are offline, anthropic and replay.")


def _replay(person: PersonSettings) -> Backend:
    from dreaming.backends.replay import Replay

    if person.replay_answers is None:
        raise Unusable(
            "The replay backend has no recorded answers.",
            remedy="Set replay_answers in your config.toml to a folder that holds them.",
        )
    return Replay(person.replay_answers)


def _anthropic(person: PersonSettings) -> Backend:
    from dreaming.backends.anthropic_api import Anthropic
    from dreaming.backends.interface import LetInRefused

    key = os.environ.get("ANTHROPIC_API_KEY", "").strip()
    if not key:
        raise LetInRefused(
            "The anthropic backend needs a key, and ANTHROPIC_API_KEY is not set.",
            remedy="Set it in the environment of this command, or use --backend offline.",
        )
    settings = person.anthropic
    return Anthropic(
        model=settings.model,
        api_key=key,
        base_url=settings.base_url,
        max_tokens=settings.max_tokens,
        timeout=settings.timeout,
    )


def endpoint(name: str, person: PersonSettings) -> tuple[str, int] | None:
    """Return host and port that a backend sends text to; ``None`` where it sends none anywhere."""
    from urllib.parse import urlsplit
    from urllib.request import getproxies, proxy_bypass

    if name != "anthropic":
        return None
    from dreaming.backends.anthropic_api import DEFAULT_BASE_URL

    address = urlsplit(person.anthropic.base_url or DEFAULT_BASE_URL)
    proxy = getproxies().get(address.scheme)
    if proxy and not proxy_bypass(address.hostname or ""):
        address = urlsplit(proxy)
    return address.hostname or "", address.port or (80 if address.scheme == "http" else 443)


def prompt(task: str = "mining") -> str:
    """Return the instructions of a task."""
    return resources.files("dreaming.resources").joinpath(f"prompts/{task}.md").read_text("utf-8")


# -- the pieces of a workspace --------------------------------------------------------------------


def redactor(here: Place) -> Redactor:
    """Return the redactor with this machine's own names learned."""
    from dreaming.redaction.engine import Redactor

    names = (*here.person.names, *_machine_names())
    return Redactor(here.workspace.key(), names, here.person.patterns, compiled())


def compiled() -> Compiled:
    """Return where compiled rules are kept: beside the keys, where what is written is trusted."""
    from dreaming.stores.compiled import Compiled

    return Compiled(workspace.state_home() / "rules")


def _machine_names() -> list[str]:
    """The user's, the home's and the host's name, and who git says the person is."""
    from dreaming.stores import git_person

    own = Path(os.environ.get("XDG_CONFIG_HOME") or Path.home() / ".config")
    host = socket.gethostname()
    names = {Path.home().name, os.environ.get("USER", ""), host, host.split(".")[0]}
    git = git_person.names((Path.home() / ".gitconfig", own / "git" / "config"))
    return sorted(names.union(git) - {""})


def checker(choices: Choices) -> tuple[Redactor, Words, bool]:
    """Return what scans anything, the words that hold, and whether there is a workspace.

    Without one the key is made for this run only, and so are fingerprints.
    """
    import secrets

    from dreaming.models.decision import Words
    from dreaming.redaction.engine import Redactor

    found = workspace.find(choices.workspace, os.environ, Path.cwd(), Path.home())
    if not found.exists and choices.workspace is None:
        person = read_person(workspace.config_file())
        names = (*person.names, *_machine_names())
        key = secrets.token_bytes(workspace.KEY_BYTES)
        return Redactor(key, names, person.patterns, compiled()), Words(), False
    here = place(choices)
    return redactor(here), _decided(here.workspace).words, True


def project_filter(here: Place) -> tuple[Callable[[Project], bool], str]:
    """Return which projects belong to the workspace, and a text that changes when that does."""
    from dreaming.stores.projects import Filter, git_identity

    identity = git_identity(str(here.workspace.root))
    chosen = here.settings.projects
    own = (*here.person.names, "", *here.person.patterns)
    described = "\0".join(["", *chosen.include, "", *chosen.exclude, "", identity, "", *own])
    return Filter(chosen.include, chosen.exclude, identity), described


@contextlib.contextmanager
def state(here: Place) -> Iterator[State]:
    """Open the state of a workspace for the time of the block."""
    from dreaming.stores.state import opened

    key = here.workspace.key()
    here.workspace.state.mkdir(parents=True, exist_ok=True, mode=0o700)
    with opened(here.workspace.database, key=key) as found:
        yield found


def reader(here: Place) -> tuple[Reader, str, Callable[[Project], bool]]:
    """Return the reader of transcripts, the version of its rules, and the filter of projects."""
    from dreaming.jobs.reading import Reader, rules_version
    from dreaming.stores.projects import Projects
    from dreaming.stores.workspace import Pseudonymizer

    pseudonyms = Pseudonymizer(here.workspace.key())
    belongs, described = project_filter(here)
    rules = rules_version(described)
    projects: Projects = Projects(pseudonyms)
    strict = "exclude" in (here.settings.medium, here.person.medium)
    read = Reader(redactor(here), pseudonyms, projects, belongs, rules, strict=strict)
    read.words = _decided(here.workspace).words
    return read, rules, belongs


def waits(here: Place, choices: Choices, rules: str) -> Waits:
    """Return what lets a transcript wait, by the settings and what a person said."""
    from dreaming.jobs.listing import Waits

    minutes = here.settings.settle if choices.settle is None else choices.settle
    return Waits(rules, 60.0 * minutes, DAY * here.settings.first_night_days, choices.since)


@contextlib.contextmanager
def night(here: Place, choices: Choices, progress: Progress) -> Iterator[Night]:
    """Put a night together and hold the run lock for the time of the block.

    Raises ``NotNow`` where another run holds it.
    """
    with run_lock(here.workspace), state(here) as known:
        yield _night(here, choices, progress, known)


def rebuild(here: Place, choices: Choices, progress: Progress) -> tuple[Rebuilt, Path]:
    """Make the state anew; return what came of it and where the old database is kept.

    Raises ``NotNow`` where another run holds the lock.
    """
    from dreaming.jobs.rebuild import put_in_place, rebuild
    from dreaming.stores.state import opened

    found = here.workspace
    beside = found.state / "rebuilding.db"
    with run_lock(found):
        for tail in ("", "-wal", "-shm"):
            beside.with_name(f"{beside.name}{tail}").unlink(missing_ok=True)
        with opened(beside, key=found.key()) as known:
            done = rebuild(_night(here, choices, progress, known), found.database)
        return done, put_in_place(beside, found.database)


def _night(here: Place, choices: Choices, progress: Progress, known: State) -> Night:
    import time

    from dreaming.jobs.nightly import Night
    from dreaming.stores import knowledge_reader
    from dreaming.stores.answers import Answers
    from dreaming.stores.archive import Archive
    from dreaming.stores.pending import Pending
    from dreaming.stores.repository import checkout

    found = here.workspace
    listed = folders(here, choices)
    asked = backend(choices.backend or here.person.backend, here.person)
    read, rules, belongs = reader(here)
    return Night(
        folders=listed,
        backend=asked,
        state=known,
        pending=Pending(found.pending),
        answers=Answers(found.answers),
        archive=Archive(found.archive),
        retention=_retention(here),
        reader=read,
        belongs=belongs,
        lessons=knowledge_reader.read(found.knowledge_base),
        decided=lambda: _decided(found),
        deciding=lambda: files.lock(_decision_lock(found), wait=True),
        context=_context,
        repository=checkout,
        prompt=prompt(),
        joining_prompt=prompt("joining"),
        tokens_per_mb=here.settings.tokens_per_mb,
        waits=waits(here, choices, rules),
        max_pending=here.settings.max_pending,
        topics=here.settings.topics,
        progress=progress,
        clock=time.time,
    )


def _retention(here: Place) -> Retention:
    from dreaming.jobs.archiving import Retention

    settings = here.settings.retention
    return Retention(*map(kept_for, (settings.sessions, settings.excerpts, settings.answers)))


def shut_in(here: Place, choices: Choices, known: State) -> None:
    """Let this process give up what a night does not need, and remember what holds it now.

    Raises ``Unusable`` where a sandbox is required and none holds.
    """
    from dreaming.jobs import gate

    found = here.workspace
    away = endpoint(choices.backend or here.person.backend, here.person)
    temporary = found.state / "tmp"
    gate.own_temporary(temporary)
    lessons = files.matching(found.knowledge_base, "*.md")
    held = gate.confine(
        (found.state, found.pending, Path(os.devnull)),
        lessons[0] if lessons else found.settings,
        (away[1],) if away else (),
        os.environ,
        required=here.person.sandbox.required,
    )
    gate.keep(known, held, datetime.now(UTC).isoformat(timespec="seconds"))


def patient(here: Place) -> Patient:
    """Return a workspace as the doctor looks at it."""
    import time

    from dreaming.jobs.doctor import Patient

    name = here.person.backend
    return Patient(
        workspace=here.workspace,
        person=here.person,
        folders=lambda: folders(here, Choices()),
        due=lambda: preview(here, Choices()),
        state=lambda: state(here),
        backend=lambda: backend(name, here.person),
        away=endpoint(name, here.person),
        scheduled=lambda: scheduled(here),
        now=time.time(),
    )


def preview(here: Place, choices: Choices) -> Preview:
    """Return what a night would read now, without opening a transcript or writing anything."""
    import time

    from dreaming.jobs.listing import look, preview
    from dreaming.jobs.refusals import again

    read, rules, _ = reader(here)
    listed = folders(here, choices)
    with state(here) as known:
        now = time.time()
        found = look(listed, known, waits(here, choices, rules), now, again(known, read))
        return preview(found, now)


class FolderPreview(msgspec.Struct, frozen=True):
    """What a night would read of one folder."""

    agent: str
    folder: Path
    preview: Preview


def previews(here: Place, choices: Choices) -> list[FolderPreview]:
    """Return what a night would read now, folder by folder, also before there is a workspace."""
    import time

    from dreaming.jobs.listing import look, preview
    from dreaming.jobs.reading import rules_version
    from dreaming.stores.state import opened

    _, described = project_filter(here)
    nothing_known = opened(":memory:", key=bytes(workspace.KEY_BYTES))
    with state(here) if here.workspace.exists else nothing_known as known:
        wait = waits(here, choices, rules_version(described))
        now = time.time()
        return [
            FolderPreview(
                source.agent, folder, preview(look([(source, folder)], known, wait, now), now)
            )
            for source, folder in folders(here, choices)
        ]


def _decided(found: Workspace) -> Decided:
    from dreaming.jobs.decide import decided
    from dreaming.stores.ledger import Ledger

    return decided(Ledger(found.ledger, "reader").decisions())


def _context(projects: Mapping[str, Project]) -> tuple[list[KnownLine], list[str]]:
    from dreaming.stores import context_files

    return context_files.read(one.folder for one in projects.values())


def _decision_lock(found: Workspace) -> Path:
    return found.state / "decide.lock"


@contextlib.contextmanager
def run_lock(found: Workspace) -> Iterator[None]:
    """Hold the lock that only one run of a workspace has.

    Raises ``NotNow`` saying who holds it since when, and ``Unusable`` where a lock means little.
    """
    kind = mounts.network(found.state)
    if kind:
        raise Unusable(
            f"{found.state} lies on {kind}, where locks cannot be relied on.",
            remedy="Set XDG_STATE_HOME to a folder on a local disk.",
        )
    note = f"process {os.getpid()}, since {datetime.now(UTC).isoformat(timespec='seconds')}"
    try:
        with files.lock(found.run_lock, note):
            yield
    except files.Held as held:
        raise NotNow(
            f"Another run is at work in {found.root}: {held}.",
            remedy="It will be done; run this again afterwards.",
        ) from None


@contextlib.contextmanager
def desk(here: Place) -> Iterator[Desk]:
    """Put together what deciding needs."""
    from dreaming.jobs.decide import Desk, writer_name
    from dreaming.stores.ledger import Ledger
    from dreaming.stores.pending import Pending

    found = here.workspace
    with state(here) as known:
        yield Desk(
            knowledge_base=found.knowledge_base,
            pending=Pending(found.pending),
            ledger=Ledger(found.ledger, writer_name(known, here.person.reviewer)),
            state=known,
            lock=_decision_lock(found),
            torn=found.state / "torn-ledger-lines",
            redactor=redactor(here),
            reviewer=here.person.reviewer,
            now=lambda: datetime.now(UTC),
            max_topic_lines=here.settings.max_topic_lines,
        )


@contextlib.contextmanager
def review(here: Place) -> Iterator[Review]:
    """Put together what the screen and the plain form ask. Belongs to the thread that opened it."""
    from dreaming.jobs.review import AtDesk

    with desk(here) as opened:
        yield AtDesk(opened)


# -- looking without spending ---------------------------------------------------------------------


def survey(here: Place, choices: Choices, progress: Progress) -> Survey:
    """Return what there is to read, and what asking about all of it would cost by backend."""
    from dreaming.backends.anthropic_prices import PRICES, price
    from dreaming.backends.interface import Price
    from dreaming.jobs.survey import RENDERED_TOKENS, survey

    read, _, _ = reader(here)
    prices = {
        "offline": Price(),
        **{f"anthropic:{model}": price(model, RENDERED_TOKENS) for model in PRICES},
    }
    return survey(folders(here, choices), read, prices, progress, here.settings.tokens_per_mb)


def rendered(here: Place, file: Path) -> str:
    """Return exactly what a backend would be sent about one transcript."""
    from dreaming.jobs.survey import rendered

    read, _, _ = reader(here)
    return rendered(file, sources().values(), read, prompt(), here.settings.tokens_per_mb)


# -- nights on their own --------------------------------------------------------------------------

PLACES: Final = ("XDG_CONFIG_HOME", "XDG_STATE_HOME", "CLAUDE_CONFIG_DIR", "CODEX_HOME")
"""Variables of a shell that decide where things are; a scheduler's own environment lacks them."""


def plan(here: Place) -> Plan:
    """Return what a scheduled night of this workspace needs to know."""
    import pwd
    import sys

    import dreaming
    from dreaming.schedulers.interface import Plan

    found, config = here.workspace, here.config_file.parent
    program = [Path(sys.prefix), Path(sys.base_prefix), Path(dreaming.__file__).parents[1]]
    # An interpreter in a home may have its libraries beside it there, as Homebrew's has.
    program += [one for one in program[1].parents if one.parent == Path("/home")]
    read = [folder for _, folder in folders(here, Choices())]
    seen = (Path.home(), found.root, found.state, config, *program, *read)
    owner = (found.root if found.exists else Path.home()).stat().st_uid
    return Plan(
        command=(sys.executable, "-P", "-m", "dreaming"),
        workspace=found.root,
        owned=(found.knowledge_base, found.ledger),
        state=found.state,
        pending=found.pending,
        readable=tuple(path for one in seen for path in (one.absolute(), one.resolve())),
        home=Path.home(),
        user=pwd.getpwuid(owner).pw_name,
        environment={name: os.environ[name] for name in PLACES if os.environ.get(name)},
        keys=config / "environment",
        remote=endpoint(here.person.backend, here.person) is not None,
        tells=bool(here.person.alert.command or here.person.alert.ping_url),
    )


def scheduler(kind: str | None, *, system: bool = False) -> Scheduler | None:
    """Return what starts nights: the kind named, else what this machine has; none is the daemon.

    Raises ``WrongUse`` where only systemd has a manager of the whole machine.
    """
    import sys

    chosen = kind or (
        "launchd"
        if sys.platform == "darwin"
        else "systemd"
        if system or Path("/run/systemd/system").is_dir()
        else "daemon"
    )
    if system and chosen != "systemd":
        raise WrongUse(f"--system is for systemd; {chosen} runs as a person.")
    if chosen == "systemd":
        return _systemd(system)
    return _launchd() if chosen == "launchd" else None


def _systemd(system: bool) -> Scheduler:
    import pwd

    from dreaming.schedulers.interface import run
    from dreaming.schedulers.systemd import Systemd

    level = "system" if system else "user"
    texts = resources.files("dreaming.resources").joinpath("systemd", level)
    own = os.environ.get("XDG_CONFIG_HOME") or Path.home() / ".config"
    person = pwd.getpwuid(os.getuid()).pw_name
    return Systemd(
        Path("/etc" if system else own, "systemd", level),
        {name: texts.joinpath(name).read_text("utf-8") for name in Systemd.names},
        run,
        linger=None if system else Path("/var/lib/systemd/linger", person),
    )


def _launchd() -> Scheduler:
    from dreaming.schedulers.interface import run
    from dreaming.schedulers.launchd import Launchd

    return Launchd(Path.home() / "Library/LaunchAgents", os.getuid(), run)


def scheduled(here: Place, kind: str | None = None, *, system: bool = False) -> Overview:
    """Return what starts the nights of a workspace, and how that goes.

    Where no kind is named and the person's own systemd starts none, the machine's may.
    """
    from dreaming.jobs.schedule import overview

    planned = plan(here)
    found = overview(scheduler(kind, system=system), planned)
    if kind is None and found.kind == "systemd" and not found.installed:
        machines = overview(scheduler("systemd", system=True), planned)
        return machines if machines.installed else found
    return found
