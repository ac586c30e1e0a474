"""Settings: what a person may set, what a workspace may set, and who wins.

Whatever can send text somewhere or run something (backend, endpoint, source folders) is read only
from the person's own file, the environment and the command line. A ``dreaming.toml`` that came with
a repository may set topics, projects and the size of the queue, and is refused when it tries more.
"""

from __future__ import annotations

import math
import re
import shlex
import tomllib
from pathlib import Path
from typing import Annotated, Any, Final, Literal
from urllib.parse import urlsplit

from pydantic import BaseModel, ConfigDict, Field, ValidationError, field_validator
from pydantic_settings import (
    BaseSettings,
    PydanticBaseSettingsSource,
    SettingsConfigDict,
    SettingsError,
)

from dreaming.errors import Unusable
from dreaming.models.candidate import TOPIC_PATTERN

BACKENDS: Final = ("offline", "anthropic", "claude-code", "codex", "openai", "command", "replay")
"""Names a person may give; the first is the default and needs no key and no network."""

MOST: Final = 10**12
"""A limit beyond this, or one that is no number, is a slip of the hand."""
_KEPT: Final = "forever|[1-9][0-9]{0,4} days?"


class Projects(BaseModel):
    """Which projects' sessions belong to this workspace."""

    model_config = ConfigDict(extra="forbid", frozen=True)

    include: tuple[str, ...] = ()
    """Paths, git remotes, globs of either. Empty: the repository around the workspace, else all."""
    exclude: tuple[str, ...] = ()
    """The same forms; what matches here is left out even where ``include`` takes it in."""


class RetentionSettings(BaseModel):
    """How long this machine keeps what is redacted: ``"forever"`` or such as ``"180 days"``."""

    model_config = ConfigDict(extra="forbid", frozen=True)

    sessions: Annotated[str, Field(pattern=f"^(off|{_KEPT})$")] = "off"
    """Whole redacted sessions, counted from when the transcript last changed. A better miner reads
    them again when the agent has deleted the transcript; `off` deletes what was kept."""
    excerpts: Annotated[str, Field(pattern=f"^({_KEPT})$")] = "forever"
    """Excerpts that never stood in a candidate, counted the same way. A gotcha recurs only as long
    as its first excerpt is kept."""
    answers: Annotated[str, Field(pattern=f"^({_KEPT})$")] = "forever"
    """Raw answers of backends. Without them a state that is lost has to be paid for again."""


def kept_for(told: str) -> float:
    """Return a length of retention in seconds: 0 for ``off``, endless for ``forever``."""
    if told in ("off", "forever"):
        return 0.0 if told == "off" else math.inf
    return int(told.split()[0]) * 24 * 3600.0


class WorkspaceSettings(BaseModel):
    """What ``dreaming.toml`` in a workspace may set."""

    model_config = ConfigDict(extra="forbid", frozen=True)

    topics: tuple[str, ...] = ()
    """Topics to prefer for candidates. Empty: those the knowledge base has."""
    max_pending: Annotated[int, Field(ge=1, le=1000)] = 30
    """How many candidates wait in ``pending/`` at most; the rest are held back, best first."""
    max_topic_lines: Annotated[int, Field(ge=1)] = 150
    """Lines from which on a topic is called too long: agents cut off files that load at start."""
    tokens_per_mb: Annotated[int, Field(ge=100, le=100_000)] = 1_500
    """How much of a megabyte of transcripts a model is sent, in tokens: the best excerpts first."""
    settle: Annotated[int, Field(ge=0, le=24 * 60)] = 30
    """Minutes a transcript must have been quiet before it is read; at most 24 hours are waited."""
    first_night_days: Annotated[int, Field(ge=1)] = 14
    """How far back a workspace's first night reads."""
    medium: Literal["hold", "exclude"] = "hold"
    """What a credential shape of medium severity does to a transcript: `hold` leaves it out until
    a person releases it, `exclude` for good. The stricter of this and the person's own holds."""
    projects: Projects = Projects()
    retention: RetentionSettings = RetentionSettings()

    @field_validator("topics")
    @classmethod
    def _are_slugs(cls, topics: tuple[str, ...]) -> tuple[str, ...]:
        for topic in topics:
            if not re.fullmatch(TOPIC_PATTERN, topic):
                raise ValueError(f"{topic!r} is no topic: lower-case letters, digits, hyphens")
        return topics


class AnthropicSettings(BaseModel):
    """The Messages API, used only when ``backend = "anthropic"`` is named by a person."""

    model_config = ConfigDict(extra="forbid", frozen=True)

    model: str = "claude-haiku-5-5"
    """The model that answers, by the name the API has for it."""
    via: Literal["api", "bedrock", "vertex"] = "api"
    """Who serves it: its maker with the key in ANTHROPIC_API_KEY, or a cloud with the credentials
    that the cloud's own SDK finds."""
    region: str = ""
    """The cloud's region, such as `us-east-1`."""
    project: str = ""
    """The Vertex project. Empty: the one the credentials belong to."""
    base_url: str | None = None
    """Another address of the same API; read from the person's settings only."""
    max_tokens: Annotated[int, Field(ge=256, le=128_000)] = 16_000
    """How long an answer may be."""
    timeout: Annotated[float, Field(gt=0)] = 600.0
    """Seconds for one request."""


class LimitSettings(BaseModel):
    """Where a night ends; 0 is without a limit. Limits hold for each run."""

    model_config = ConfigDict(extra="forbid", frozen=True)

    window: Annotated[float, Field(gt=0, le=1)] = 0.5
    """Share of your account's rolling windows that nights may use up: once it is used, by whomever,
    nothing is asked until the window starts anew."""
    calls: Annotated[int, Field(ge=0, le=MOST)] = 0
    """Questions of one night."""
    tokens: Annotated[int, Field(ge=0, le=MOST)] = 0
    """Tokens of one night, read and written."""
    money: Annotated[float, Field(ge=0, le=MOST)] = 0.0
    """US dollars of one night, at list price."""
    minutes: Annotated[int, Field(ge=0, le=MOST)] = 0
    """Minutes of one night."""


class ClaudeCodeSettings(BaseModel):
    """The person's own Claude Code, used only when ``backend = "claude-code"`` is named."""

    model_config = ConfigDict(extra="forbid", frozen=True)

    program: str = "claude"
    """Name or whole path of the program."""
    model: str = "claude-haiku-5-5"
    """The model that answers."""
    key: Literal["login", "api"] = "login"
    """What lets it in: the plan that `dreaming login claude-code` logged in, or the key in
    ANTHROPIC_API_KEY."""
    base_url: str | None = None
    """Another address of the same API."""
    money: Annotated[float, Field(gt=0, le=MOST)] = 1.0
    """US dollars, at list price, after which it gives a question up."""
    timeout: Annotated[float, Field(gt=0, le=86_400)] = 600.0
    """Seconds for one question."""


class CodexSettings(BaseModel):
    """The person's own Codex, used only when ``backend = "codex"`` is named."""

    model_config = ConfigDict(extra="forbid", frozen=True)

    program: str = "codex"
    """Name or whole path of the program."""
    model: str = "gpt-6-luna"
    """The model that answers, by the name Codex has for it."""
    key: Literal["login", "api"] = "login"
    """What lets it in: the login of `codex login`, or the key in OPENAI_API_KEY."""
    home: Path | None = None
    """Folder in which Codex keeps its login. Unset: CODEX_HOME, else `~/.codex`."""
    base_url: str | None = None
    """Another address of the same API."""
    context_tokens: Annotated[int, Field(ge=1_000, le=1_000_000)] = 60_000
    """Tokens of excerpts in one question."""
    timeout: Annotated[float, Field(gt=0, le=86_400)] = 600.0
    """Seconds for one question."""


class OpenAISettings(BaseModel):
    """Any OpenAI-compatible server, used only when ``backend = "openai"`` is named by a person."""

    model_config = ConfigDict(extra="forbid", frozen=True)

    model: str = ""
    """The model that answers, by the name the server has for it."""
    base_url: Annotated[str, Field(min_length=1)] = "http://127.0.0.1:11434/v1"
    """Where the server is; by default where Ollama listens."""
    key: bool = False
    """Whether the server gets the key in OPENAI_API_KEY."""
    context_tokens: Annotated[int, Field(ge=1_000, le=1_000_000)] = 16_000
    """Tokens of excerpts in one question. The server needs a third more room, and for each known
    lesson about 60."""
    max_tokens: Annotated[int, Field(ge=256, le=128_000)] = 4_000
    """How long an answer may be."""
    timeout: Annotated[float, Field(gt=0, le=86_400)] = 1_800.0
    """Seconds for one question."""
    price_input: Annotated[float, Field(ge=0, le=MOST)] = 0.0
    """US dollars for a million tokens read."""
    price_output: Annotated[float, Field(ge=0, le=MOST)] = 0.0
    """US dollars for a million tokens written."""


class CommandSettings(BaseModel):
    """Any program that answers, used only when ``backend = "command"`` is named."""

    model_config = ConfigDict(extra="forbid", frozen=True)

    argv: tuple[str, ...] = ()
    """The program and its arguments, run without a shell."""
    model: str = ""
    """What answers, in a word: with another word the same question is asked anew."""
    variables: tuple[str, ...] = ()
    """Names of variables of your environment that the program gets, such as its key."""
    leaves_the_machine: bool = True
    """Whether it sends text to somebody else's computer."""
    context_tokens: Annotated[int, Field(ge=1_000, le=1_000_000)] = 60_000
    """Tokens of excerpts in one question."""
    timeout: Annotated[float, Field(gt=0, le=86_400)] = 600.0
    """Seconds for one question."""
    price_input: Annotated[float, Field(ge=0, le=MOST)] = 0.0
    """US dollars for a million tokens read."""
    price_output: Annotated[float, Field(ge=0, le=MOST)] = 0.0
    """US dollars for a million tokens written."""


class BackfillSettings(BaseModel):
    """What ``dreaming backfill`` does unless the command says otherwise; 0 is without a limit."""

    model_config = ConfigDict(extra="forbid", frozen=True)

    backend: str = ""
    """What answers. Empty: the same as at night."""
    window: Annotated[float, Field(gt=0, le=1)] = 0.25
    """As `limits.window`, and less, so that a night always finds something left."""
    sessions: Annotated[int, Field(ge=0, le=MOST)] = 0
    """Sessions of one slice."""
    calls: Annotated[int, Field(ge=0, le=MOST)] = 0
    """Questions of one slice."""
    tokens: Annotated[int, Field(ge=0, le=MOST)] = 0
    """Tokens of one slice, read and written."""
    money: Annotated[float, Field(ge=0, le=MOST)] = 0.0
    """US dollars of one slice, at list price."""
    minutes: Annotated[int, Field(ge=0, le=MOST)] = 0
    """Minutes of one slice."""


class SandboxSettings(BaseModel):
    """What must hold a night."""

    model_config = ConfigDict(extra="forbid", frozen=True)

    required: bool = False
    """Refuse to run a night that neither the kernel nor the service manager shuts in."""


class AlertSettings(BaseModel):
    """Who is told that nights fail, and how. Never with text of a transcript."""

    model_config = ConfigDict(extra="forbid", frozen=True)

    command: str = ""
    """A program and its arguments, run without a shell; the message comes on its input."""
    ping_url: str = ""
    """Address that is called after each night in order, with `/fail` after one that failed."""
    after_days: Annotated[float, Field(gt=0)] = 3.0
    """Days from which on a watermark that does not move is a trouble."""
    stayed: Annotated[int, Field(ge=1)] = 3
    """Nights in a row that had to leave something for later, from which on that is a trouble."""

    @property
    def asked_for(self) -> bool:
        """Whether anybody is told at all."""
        return bool(self.command or self.ping_url)

    @field_validator("command")
    @classmethod
    def _can_be_split(cls, command: str) -> str:
        shlex.split(command)
        return command

    @field_validator("ping_url")
    @classmethod
    def _is_private(cls, url: str) -> str:
        parts = urlsplit(url)
        loopback = parts.scheme == "http" and parts.hostname in ("127.0.0.1", "::1", "localhost")
        if url and not (loopback or (parts.scheme == "https" and parts.hostname)):
            raise ValueError(f"{url!r} is no https address")
        return url


class PersonSettings(BaseSettings):
    """What only a person may set: ``config.toml`` in the settings folder, or ``DREAMING_*``."""

    model_config = SettingsConfigDict(
        extra="forbid", frozen=True, env_prefix="DREAMING_", env_nested_delimiter="__"
    )

    backend: str = "offline"
    """What answers. A key in the environment never chooses one."""
    anthropic: AnthropicSettings = AnthropicSettings()
    claude_code: ClaudeCodeSettings = ClaudeCodeSettings()
    codex: CodexSettings = CodexSettings()
    openai: OpenAISettings = OpenAISettings()
    command: CommandSettings = CommandSettings()
    limits: LimitSettings = LimitSettings()
    backfill: BackfillSettings = BackfillSettings()
    sandbox: SandboxSettings = SandboxSettings()
    alert: AlertSettings = AlertSettings()
    replay_answers: Path | None = None
    """Folder of recorded answers, for the ``replay`` backend."""
    transcripts: dict[str, tuple[Path, ...]] = {}
    """Folders to read instead of an agent's default places, by agent."""
    names: tuple[str, ...] = ()
    """Names of people and machines to replace wherever they stand."""
    patterns: tuple[str, ...] = ()
    """Regular expressions of what else to replace, such as `'ACME-\\d{4}'`; each sees one text."""
    medium: Literal["hold", "exclude"] = "hold"
    """The same as in a workspace's `dreaming.toml`, for all of one's workspaces."""
    reviewer: Annotated[str, Field(pattern=r"^[A-Za-z0-9][A-Za-z0-9._-]{0,39}$")] = "me"
    """The handle that decisions are signed with."""
    theme: Literal["auto", "dark", "light"] = "auto"
    """Colours of the review; `auto` goes by what the terminal says of itself."""
    keys: dict[str, str] = {}
    """Keys of the review, by action, such as `accept = "y"`."""

    @classmethod
    def settings_customise_sources(
        cls,
        settings_cls: type[BaseSettings],
        init_settings: PydanticBaseSettingsSource,
        env_settings: PydanticBaseSettingsSource,
        dotenv_settings: PydanticBaseSettingsSource,
        file_secret_settings: PydanticBaseSettingsSource,
    ) -> tuple[PydanticBaseSettingsSource, ...]:
        """The environment wins over the file; nothing else is looked at."""
        return env_settings, init_settings

    @field_validator("patterns")
    @classmethod
    def _can_be_searched(cls, patterns: tuple[str, ...]) -> tuple[str, ...]:
        for number, pattern in enumerate(patterns, start=1):
            _try_pattern(number, pattern)
        return patterns

    @field_validator("backend")
    @classmethod
    def _is_a_backend(cls, name: str) -> str:
        if name not in BACKENDS:
            raise ValueError(f"{name!r} is no backend; there are {', '.join(BACKENDS)}")
        return name


def _try_pattern(number: int, pattern: str) -> None:
    """Raise ``ValueError`` where a pattern is none, matches nothing at all, or takes too long."""
    import regex  # late: few people have patterns

    try:
        compiled = regex.compile(pattern)
        if compiled.search("", timeout=1.0):
            raise ValueError(f"pattern {number} matches the empty text, so it would stand anywhere")
        compiled.search("a" * 64 + "0" * 64 + " " * 64 + "!", timeout=1.0)
    except regex.error as wrong:
        raise ValueError(f"pattern {number} is no regular expression: {wrong}") from None
    except TimeoutError:
        raise ValueError(f"pattern {number} takes too long on a short text") from None


PERSON_ONLY: Final = frozenset(PersonSettings.model_fields) - {"medium"}


def read_person(path: Path) -> PersonSettings:
    """Return the person's settings; a missing file means the defaults.

    Raises ``Unusable`` naming file, line and key.
    """
    table = _table(path)
    try:
        return PersonSettings(**table)
    except ValidationError as wrong:
        raise _explained(path, wrong) from wrong
    except SettingsError as wrong:
        raise Unusable(
            f"A DREAMING_* variable cannot be used: {wrong}",
            remedy='Lists are written as JSON there, such as ["kim"].',
        ) from wrong


def read_workspace(path: Path) -> WorkspaceSettings:
    """Return a workspace's settings; a missing file means the defaults.

    Raises ``Unusable`` naming file, line and key, also for a key that only a person may set.
    """
    table = _table(path)
    for key in table:
        if key in PERSON_ONLY:
            raise Unusable(
                f"{path}{_line_of(path, key)}: a workspace may not set `{key}`, "
                "because it decides where text goes or what runs.",
                remedy=f"Take it out of this file. If you want it, set `{key}` in your own "
                "config.toml (`dreaming status` names the file).",
            )
    try:
        return WorkspaceSettings(**table)
    except ValidationError as wrong:
        raise _explained(path, wrong) from wrong


def _table(path: Path) -> dict[str, Any]:
    try:
        return tomllib.loads(path.read_text(encoding="utf-8"))
    except FileNotFoundError:
        return {}
    except (tomllib.TOMLDecodeError, UnicodeDecodeError) as wrong:
        raise Unusable(f"{path}: not readable as TOML: {wrong}", remedy="Mend the file.") from wrong
    except OSError as wrong:
        raise Unusable(
            f"{path}: {wrong.strerror}", remedy="Give yourself the right to read it."
        ) from wrong


def _explained(path: Path, wrong: ValidationError) -> Unusable:
    """One error a person can act on, out of pydantic's list."""
    first = wrong.errors()[0]
    key = ".".join(str(part) for part in first["loc"])
    if first["type"] == "extra_forbidden":
        said = f"unknown key `{key}`{_did_you_mean(first['loc'], wrong.title)}"
    else:
        said = f"`{key}`: {first['msg'].removeprefix('Value error, ')}"
    place = _line_of(path, str(first["loc"][-1])) or _line_of(path, str(first["loc"][0]))
    where = f"{path}{place}" if place else f"{path} (or DREAMING_{key.upper().replace('.', '__')})"
    return Unusable(f"{where}: {said}", remedy="docs/settings.md lists every setting.")


def _did_you_mean(place: tuple[int | str, ...], model: str) -> str:
    from difflib import get_close_matches

    tables: dict[str, type[BaseModel]] = {
        "WorkspaceSettings": WorkspaceSettings,
        "PersonSettings": PersonSettings,
        "projects": Projects,
        "retention": RetentionSettings,
        "anthropic": AnthropicSettings,
        "claude_code": ClaudeCodeSettings,
        "codex": CodexSettings,
        "openai": OpenAISettings,
        "command": CommandSettings,
        "limits": LimitSettings,
        "backfill": BackfillSettings,
        "sandbox": SandboxSettings,
        "alert": AlertSettings,
    }
    table = tables.get(str(place[-2]) if len(place) > 1 else model)
    names = list(table.model_fields) if table else []
    close = get_close_matches(str(place[-1]), names, n=1)
    return f"; did you mean `{close[0]}`?" if close else ""


def _line_of(path: Path, key: str) -> str:
    """``:3`` for the first line that sets ``key`` or opens its table; empty where none does."""
    pattern = re.compile(rf"^\s*(\[+\s*)?(?:[\w.\"-]+\.)?[\"']?{re.escape(key)}[\"']?\s*[=\].]")
    try:
        lines = path.read_text(encoding="utf-8").splitlines()
    except (OSError, UnicodeDecodeError):
        return ""
    for number, line in enumerate(lines, start=1):
        if pattern.match(line):
            return f":{number}"
    return ""
