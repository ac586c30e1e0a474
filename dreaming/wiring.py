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
from urllib.parse import urlsplit

import msgspec

from dreaming.config import (
    BACKENDS,
    PersonSettings,
    WorkspaceSettings,
    kept_for,
    read_person,
    read_workspace,
)
from dreaming.errors import DreamingError, NotNow, Unusable, WrongUse
from dreaming.stores import files, mounts, workspace
from dreaming.stores.workspace import Workspace

if TYPE_CHECKING:
    from dreaming.backends.child import CliBackend, Program
    from dreaming.backends.interface import Backend
    from dreaming.jobs.archiving import Retention
    from dreaming.jobs.attack import About, Pass
    from dreaming.jobs.decide import Desk
    from dreaming.jobs.doctor import Check, Patient
    from dreaming.jobs.limits import Limits
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
    from dreaming.stores.accounts import Accounts
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
    money: float | None = None
    """US dollars."""


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
    if name == "claude-code":
        return _claude_code(person)
    if name == "codex":
        return _codex(person)
    if name == "command":
        return _command(person)
    if name == "openai":
        return _openai(person)
    raise WrongUse(f"{name!r} is no backend; there are {', '.join(BACKENDS)}.")


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

    settings = person.anthropic
    if settings.via != "api" and not settings.region:
        raise Unusable(
            f"`anthropic.via` is {settings.via}, and `anthropic.region` is not set.",
            remedy="Set region under [anthropic] in your config.toml.",
        )
    return Anthropic(
        model=settings.model,
        api_key=_key("ANTHROPIC_API_KEY", "anthropic") if settings.via == "api" else None,
        base_url=settings.base_url,
        max_tokens=settings.max_tokens,
        timeout=settings.timeout,
        via=settings.via,
        region=settings.region,
        project=settings.project,
    )


def _openai(person: PersonSettings) -> Backend:
    from dreaming.backends.interface import Price
    from dreaming.backends.openai_api import OpenAI

    settings = person.openai
    if not settings.model:
        raise Unusable(
            "The openai backend has no model.",
            remedy="Set model under [openai] in your config.toml; `ollama list` names yours.",
        )
    return OpenAI(
        settings.model,
        settings.base_url,
        _key("OPENAI_API_KEY", "openai") if settings.key else None,
        needs_key=settings.key,
        max_tokens=settings.max_tokens,
        context_tokens=settings.context_tokens,
        timeout=settings.timeout,
        price=Price(settings.price_input, settings.price_output, "your config.toml"),
    )


def _claude_code(person: PersonSettings) -> Backend:
    from dreaming.backends.claude_code import ClaudeCode

    settings = person.claude_code
    return ClaudeCode(
        settings.program,
        settings.model,
        token_file=login_file("claude-code", person),
        api_key=_key("ANTHROPIC_API_KEY", "claude-code") if settings.key == "api" else "",
        base_url=settings.base_url,
        money=settings.money,
        timeout=settings.timeout,
    )


def _codex(person: PersonSettings) -> Backend:
    from dreaming.backends.codex_cli import Codex

    settings = person.codex
    return Codex(
        settings.program,
        settings.model,
        login_home=login_file("codex", person).parent,
        api_key=_key("OPENAI_API_KEY", "codex") if settings.key == "api" else "",
        base_url=settings.base_url,
        context_tokens=settings.context_tokens,
        timeout=settings.timeout,
    )


def _command(person: PersonSettings) -> Backend:
    from dreaming.backends.command import CommandBackend
    from dreaming.backends.interface import Price

    settings = person.command
    if not settings.argv:
        raise Unusable(
            "The command backend has no program.",
            remedy='Set argv = ["/path/to/program"] in [command] of your config.toml.',
        )
    return CommandBackend(
        settings.argv,
        model=settings.model,
        variables=settings.variables,
        leaves_the_machine=settings.leaves_the_machine,
        context_tokens=settings.context_tokens,
        timeout=settings.timeout,
        price=Price(settings.price_input, settings.price_output, "[command] in config.toml"),
    )


def _key(variable: str, name: str) -> str:
    """Return a key of the person's environment."""
    from dreaming.backends.interface import LetInRefused

    key = os.environ.get(variable, "").strip()
    if not key:
        raise LetInRefused(
            f"The {name} backend needs a key, and {variable} is not set.",
            remedy="Set it in the environment of this command, or use --backend offline.",
        )
    return key


def endpoint(name: str, person: PersonSettings) -> tuple[str, int] | None:
    """Return host and port that a backend sends text to; ``None`` where it sends none anywhere."""
    from urllib.request import getproxies, proxy_bypass

    from dreaming.backends.http import is_loopback

    base_url = _base_url(name, person)
    if base_url is None:
        return None
    address = urlsplit(base_url)
    proxy = getproxies().get(address.scheme)
    at_home = name == "openai" and is_loopback(base_url)  # asked past any proxy
    if proxy and not at_home and not proxy_bypass(address.hostname or ""):
        address = urlsplit(proxy)
    return address.hostname or "", address.port or (80 if address.scheme == "http" else 443)


def _base_url(name: str, person: PersonSettings) -> str | None:
    if name == "anthropic":
        from dreaming.backends.anthropic_api import address

        at = person.anthropic
        return at.base_url or address(at.via, at.region)
    if name == "claude-code":
        return person.claude_code.base_url or "https://api.anthropic.com"
    if name == "openai":
        return person.openai.base_url
    if name == "codex":
        public = "https://api.openai.com" if person.codex.key == "api" else "https://chatgpt.com"
        return person.codex.base_url or public
    return None


def ports(name: str, person: PersonSettings) -> tuple[int, ...] | None:
    """Return the TCP ports a night may connect to; ``None`` where nobody knows which it needs."""
    away = endpoint(name, person)
    return None if name == "command" else (away[1],) if away else ()


def prompt(task: str = "mining") -> str:
    """Return the instructions of a task."""
    return resources.files("dreaming.resources").joinpath(f"prompts/{task}.md").read_text("utf-8")


# -- the pieces of a workspace --------------------------------------------------------------------


def redactor(here: Place) -> Redactor:
    """Return the redactor with this machine's own names learned."""
    from dreaming.redaction.engine import Redactor

    names = (*here.person.names, *_machine_names())
    return Redactor(
        here.workspace.key(), names, here.person.patterns, compiled(here.workspace.state)
    )


def compiled(state: Path) -> Compiled:
    """Return where compiled rules are kept: beside a key, where what is written is trusted."""
    from dreaming.stores.compiled import Compiled

    return Compiled(state / "rules")


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
        return (
            Redactor(key, names, person.patterns, compiled(workspace.state_home())),
            Words(),
            False,
        )
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
        limits=_limits(here, choices),
        accounts=accounts(here),
    )


def _limits(here: Place, choices: Choices) -> Limits:
    from dreaming.jobs.limits import Limits

    limits = Limits(**here.person.limits.model_dump())
    return limits if choices.money is None else msgspec.structs.replace(limits, money=choices.money)


def accounts(here: Place) -> Accounts:
    """Return what the workspaces of this machine were told about the quota of accounts."""
    from dreaming.stores.accounts import Accounts

    return Accounts(here.workspace.state)


def _retention(here: Place) -> Retention:
    from dreaming.jobs.archiving import Retention

    settings = here.settings.retention
    return Retention(*map(kept_for, (settings.sessions, settings.excerpts, settings.answers)))


def shut_in(here: Place, choices: Choices, known: State) -> None:
    """Let this process give up what a night does not need, and remember what holds it now.

    Raises ``Unusable`` where a sandbox is required and none holds.
    """
    from dreaming.jobs import gate

    found, name = here.workspace, choices.backend or here.person.backend
    temporary = found.state / "tmp"
    gate.own_temporary(temporary)
    lessons = files.matching(found.knowledge_base, "*.md")
    held = gate.confine(
        (found.state, found.pending, Path(os.devnull), *renewed_logins(name, here.person)),
        lessons[0] if lessons else found.settings,
        ports(name, here.person),
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
        program=lambda: about(name, here.person),
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


# -- programs that answer -------------------------------------------------------------------------

PROGRAMS: Final = ("claude-code", "codex", "command")
"""Backends that run a program of the person's: one that has not passed runs no night."""


def try_out(name: str, person: PersonSettings) -> list[Check]:
    """Attack the program of a backend on loopback, remember whether it passed, say what it did."""
    from dreaming.jobs.attack import Pass, Passes, attack, on_stage, passed

    near = _passed().parent
    words, key = _tried(name, person)
    found = attack(
        lambda stage: on_stage(_subject(name, person, stage.attacker.url, stage.folder), stage),
        speaks=name != "command",
        near=near,
    )
    passes = Passes(_passed())
    if passed(found):
        at = datetime.now(UTC).isoformat(timespec="seconds")
        passes.add(Pass(name, words, key, at))
    else:
        passes.drop(name, key)
    return found


def tried(name: str, person: PersonSettings) -> tuple[str, Pass | None]:
    """Return a backend's program in words, and its pass where it has one.

    Raises ``LetInRefused`` where it is not there.
    """
    from dreaming.jobs.attack import Passes

    words, key = _tried(name, person)
    return words, Passes(_passed()).find(name, key)


def api_checks(name: str, person: PersonSettings) -> list[Check]:
    """Return what can be said of a backend that runs no program, without asking anybody."""
    from dreaming.jobs.doctor import Check, Level

    tools = "It sends no tools: there is no code that could, and a test reads every request."
    found = [Check(Level.OK, tools, "", "tools")]
    base_url = _base_url(name, person)
    if base_url is None:
        return [Check(Level.OK, "It asks nobody: no text leaves this program.", "", "asked")]
    here = ("127.0.0.1", "::1", "localhost")
    parts = urlsplit(base_url)
    if parts.scheme == "https" or (parts.scheme == "http" and parts.hostname in here):
        found.append(Check(Level.OK, f"{base_url}: text goes there.", "", "address"))
    else:
        said = f"{base_url}: text would be sent there unencrypted, or not at all."
        found.append(Check(Level.WARN, said, "Use https, or a server on this machine.", "address"))
    try:
        backend(name, person)
    except DreamingError as wrong:
        return [*found, Check(Level.BAD, wrong.message, wrong.remedy, "key")]
    let_in = "What it needs to be let in is there; nobody was asked."
    return [*found, Check(Level.OK, let_in, "", "key")]


def about(name: str, person: PersonSettings) -> About | None:
    """Return what there is to know of a backend's program; ``None`` where it runs none.

    Raises ``LetInRefused`` and ``Unusable`` where the program or its login is missing.
    """
    from dreaming.jobs.attack import About
    from dreaming.stores import tokens

    if name not in PROGRAMS:
        return None
    words, found = tried(name, person)
    if name == "claude-code" and person.claude_code.key == "login":
        tokens.read(login_file(name, person))
    if name == "codex" and person.codex.key == "login" and not renewed_logins(name, person):
        file = login_file(name, person)
        raise Unusable(f"{file}: Codex has no login.", remedy="`codex login`")
    return About(words, found.at if found else "")


def goes_to(name: str, person: PersonSettings) -> str:
    """Return where text goes, in words; empty where none leaves this program."""
    base_url, away = _base_url(name, person), endpoint(name, person)
    if base_url and away:
        there = urlsplit(base_url).hostname or ""
        via = "" if there == away[0] else f" through {away[0]}:{away[1]}"
        return f"{there}{via}"
    return "where the program sends it" if ports(name, person) is None else ""


def require_tried(name: str, person: PersonSettings) -> None:
    """Raise ``NotReadOnly`` for a backend whose program has not passed as it is now."""
    from dreaming.jobs.attack import untried

    if name in PROGRAMS:
        words, found = tried(name, person)
        if found is None:
            raise untried(words, name)


def _tried(name: str, person: PersonSettings) -> tuple[str, str]:
    """Return a program in words, and what changes when it or its flags do."""
    from tempfile import TemporaryDirectory

    from dreaming.jobs.attack import key

    with TemporaryDirectory(prefix="dreaming-") as folder:
        subject = _subject(name, person, "http://127.0.0.1:9", Path(folder))
        program = _command_program(person) if name == "command" else subject.program()
        return f"{program.path} {program.version}".strip(), key(subject, program)


def _command_program(person: PersonSettings) -> Program:
    """Return the program of a command; its version is its files: nobody knows how to ask it."""
    import hashlib

    from dreaming.backends import child

    path = child.find(person.command.argv[0])
    parts = [path, *map(Path, person.command.argv[1:])]
    stats = [(one.stat().st_mtime_ns, one.stat().st_size) for one in parts if one.is_file()]
    digest = hashlib.sha256(f"{path} {stats}".encode()).hexdigest()
    return child.Program(path, "", digest)


def _passed() -> Path:
    return workspace.state_home() / "programs" / "passed.json"


def _program(name: str, person: PersonSettings) -> Path | None:
    """Return where a backend's program is; none where it is not, or there is none."""
    from dreaming.backends import child
    from dreaming.errors import BackendUnavailable

    called = {"claude-code": person.claude_code.program, "codex": person.codex.program}
    called["command"] = (person.command.argv or ("",))[0]
    try:
        return child.find(called[name]) if called.get(name) else None
    except BackendUnavailable:
        return None


def _subject(name: str, person: PersonSettings, url: str, folder: Path) -> CliBackend:
    """Return a backend that asks a model at another address, with a key that opens nothing."""
    from dreaming.backends.claude_code import ClaudeCode

    made_up = folder / "token"
    made_up.write_text("made-up", encoding="utf-8")
    if name == "claude-code":
        claude = person.claude_code
        return ClaudeCode(
            claude.program,
            claude.model,
            token_file=made_up,
            api_key="made-up" if claude.key == "api" else "",
            base_url=url,
            money=claude.money,
        )
    if name == "codex":
        from dreaming.backends.codex_cli import DEFAULT_MODEL, Codex

        model = person.codex.model or DEFAULT_MODEL
        return Codex(person.codex.program, model, api_key="made-up", base_url=url)
    from dreaming.backends.command import CommandBackend

    if not person.command.argv:
        backend(name, person)  # says what is missing
    return CommandBackend(person.command.argv)


def login_file(name: str, person: PersonSettings) -> Path:
    """Return where a program's login is kept: the token of Claude Code, or Codex's own file."""
    if name == "claude-code":
        return workspace.config_file().parent / "tokens" / name
    own = person.codex.home or os.environ.get("CODEX_HOME") or Path.home() / ".codex"
    return Path(own, "auth.json")


def renewed_logins(name: str, person: PersonSettings) -> tuple[Path, ...]:
    """Return the files that a program must be able to write besides its own: Codex's login."""
    if name != "codex" or person.codex.key != "login":
        return ()
    file = login_file(name, person).resolve()
    return (file,) if file.is_file() else ()


def prove_login(name: str, person: PersonSettings) -> str:
    """Ask one short question with the login there is; return a sentence, or raise why not."""
    from dreaming.backends.attacker import ANSWER_SCHEMA
    from dreaming.backends.interface import Request
    from dreaming.models.session import OWN_RUN_MARK

    require_tried(name, person)
    said = f"{OWN_RUN_MARK}\n\nAnswer with an empty list."
    request = Request((), "Answer by the schema.", said, "", backend=name, schema=ANSWER_SCHEMA)
    answer = backend(name, person).ask(request)
    return f"{name} answered from where nights start ({answer.model or 'model not named'})."


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

SYSTEM_PATH: Final = "/usr/local/bin:/usr/bin:/bin"
PLACES: Final = ("XDG_CONFIG_HOME", "XDG_STATE_HOME", "CLAUDE_CONFIG_DIR", "CODEX_HOME")
"""Variables of a shell that decide where things are; a scheduler's own environment lacks them."""


def plan(here: Place) -> Plan:
    """Return what a scheduled night of this workspace needs to know."""
    import pwd
    import sys

    import dreaming
    from dreaming.schedulers.interface import Plan

    found, config = here.workspace, here.config_file.parent
    name = here.person.backend
    program = [Path(sys.prefix), Path(sys.base_prefix), Path(dreaming.__file__).parents[1]]
    environment = {one: os.environ[one] for one in PLACES if os.environ.get(one)}
    if (asked := _program(name, here.person)) is not None:
        program += [_passed().parent, asked.parent, asked.resolve().parent]
        environment["PATH"] = f"{asked.parent}:{SYSTEM_PATH}"
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
        environment=environment,
        keys=config / "environment",
        remote=ports(name, here.person) != (),
        program=name in PROGRAMS,
        logins=renewed_logins(name, here.person),
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
