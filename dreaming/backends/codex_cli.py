"""Codex, run without anything it could act with: ``codex exec`` for people with a plan.

What makes it read only was seen on the wire with version 0.171.0. Its read-only sandbox does not:
it runs commands that read the whole disk, and offers a web search. Which tools a model is offered
stands in the program's catalogue of models, and for its newer models they are offered inside the
prompt, where no list of tools shows them. So it gets a catalogue of one model that has none.

It gets a home of its own, in which only the file with the login is the person's: a link and no
copy, since Codex renews the login from time to time, and a copy would leave the person with one
that holds no more. So nothing else of theirs has any effect: no settings, hooks, servers, skills.
"""

from __future__ import annotations

import json
import os
import time
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import Any, Final

from dreaming.backends import child
from dreaming.backends.interface import (
    Answer,
    AnswerRefused,
    LetInRefused,
    NotReadOnly,
    QuotaReached,
    Request,
    TooBig,
    TransientFailure,
    Unanswered,
    Unreachable,
    Usage,
)
from dreaming.errors import DreamingError

DEFAULT_MODEL: Final = "gpt-6-luna"
MOST_INPUT: Final = 1_048_576
"""Characters of a prompt that it takes."""
FLAGS: Final = (
    "exec",
    "--json",
    "--ephemeral",
    "--skip-git-repo-check",
    "--sandbox=read-only",
    "--ignore-user-config",
    "--ignore-rules",
    "--strict-config",
)
SETTINGS: Final = (
    'web_search="disabled"',
    "analytics.enabled=false",
    "project_doc_max_bytes=0",
    'approval_policy="never"',
    "skills.include_instructions=false",
    "include_environment_context=false",
)
OFF: Final = (
    "shell_tool unified_exec code_mode_host multi_agent multi_agent_v2 goals view_image apps "
    "plugins hooks tool_suggest skill_search browser_use computer_use image_generation sleep_tool "
    "shell_snapshot memories unbounded_connection_retries"
).split()
"""Features that offer tools, run something or never give up."""
DISARMED: Final[Mapping[str, object]] = {
    "shell_type": "disabled",
    "apply_patch_tool_type": None,
    "experimental_supported_tools": [],
    "supports_search_tool": False,
    "tool_mode": None,
    "multi_agent_version": None,
    "model_messages": None,
    "include_skills_usage_instructions": False,
    "include_plugin_usage_instructions": False,
    "include_apps_usage_instructions": False,
    "node_repl_disabled": True,
    "input_modalities": ["text"],
}
"""What a model's entry in the catalogue says instead, so that it has no tool."""

_CATALOGUE_SECONDS: Final = 30.0
_READING: Final = frozenset({"agent_message", "reasoning", "error"})
_TRY: Final = "Run `dreaming doctor --backend codex`; this version may not be used at night."
_LOGIN: Final = "Run `codex login`, or `codex login status` to see who is logged in."
_PAY: Final = "Look at plan and credit of the account."
_NETWORK: Final = "Look at the network."
_SETTINGS: Final = "Look at [codex] in your config.toml: model, program, base_url."

# fmt: off
_FAILURES: Final[Sequence[child.Row]] = (
    (QuotaReached, "The plan's quota is used up", "", "usage limit"),
    (TooBig, "Codex takes no request of this size", "",
     "status 413|context window|exceeds the maximum length|input_too_large|too large"),
    (TransientFailure, "Codex could not answer", "",
     "status 408|status 409|status 429|status: 429|status 5|high demand|at capacity"
     "|stream disconnected|timed out"),
    (LetInRefused, "Codex asks for payment", _PAY, "status 402|quota exceeded|billing"),
    (LetInRefused, "Codex does not let us in", _LOGIN,
     "status 401|status 403|missing environment variable|not logged in|log in again"
     "|sign in again"),
    (Unreachable, "Codex cannot be reached", _NETWORK,
     "connection failed|error sending request|dns error"),
    (AnswerRefused, "The model declined", "", "content_filter|flagged|usage policy"),
    (Unanswered, "Codex gave no whole answer", "", "incomplete response|turn completed"),
    (TransientFailure, "Codex broke off", "", "broken off"),
    (LetInRefused, "Codex does not take the request", _SETTINGS, ""),
)
# fmt: on
"""The first row that fits is what happened; apostrophes are straight, letters small."""


class Codex(child.CliBackend):
    """Asks a GPT model through the person's own Codex."""

    name = "codex"
    leaves_the_machine = True
    free = False

    def __init__(
        self,
        program: str = "codex",
        model: str = DEFAULT_MODEL,
        *,
        login_home: Path | None = None,
        api_key: str = "",
        base_url: str | None = None,
        context_tokens: int = 60_000,
        timeout: float = 600.0,
        clock: Callable[[], float] = time.time,
    ) -> None:
        """Nothing is looked for, read or sent yet.

        With an ``api_key`` that is used, else the login in the folder ``login_home``.
        """
        super().__init__(program)
        self._model = model
        self._login_home = login_home
        self._api_key = api_key.strip()
        self._base_url = base_url
        self._context_tokens = context_tokens
        self._timeout = timeout
        self._clock = clock

    @property
    def identity(self) -> str:
        """Name and model."""
        return f"{self.name}:{self._model}"

    @property
    def context_tokens(self) -> int:
        """As the person set it."""
        return self._context_tokens

    @property
    def account(self) -> str:
        """A plan has windows of its own; a key shares those of the API."""
        return "openai" if self._api_key else self.name

    def command(self, request: Request, folders: child.Room) -> child.Command:
        """Return what ``ask`` runs, with its files put into ``folders``.

        Raises ``LetInRefused`` without program, login, key or model.
        """
        path = child.find(self._program)
        home = folders.home / "codex"
        home.mkdir()
        more = {"CODEX_HOME": str(home)}
        settings = [*SETTINGS, f"model={json.dumps(self._model)}"]
        if self._api_key:
            more["CODEX_API_KEY"] = self._api_key
        else:
            (home / "auth.json").symlink_to(self._login())
        if self._base_url:
            settings.append(f"openai_base_url={json.dumps(self._base_url)}")
        catalogue = folders.home / "models.json"
        entry = {**self._entry(path), **DISARMED, "base_instructions": request.system}
        catalogue.write_text(json.dumps({"models": [entry]}), "utf-8")
        settings.append(f"model_catalog_json={json.dumps(str(catalogue))}")
        argv = [str(path), *FLAGS, f"--output-last-message={_last(folders)}"]
        argv += [part for one in settings for part in ("-c", one)]
        argv += [part for one in OFF for part in ("--disable", one)]
        if request.schema is not None:
            schema = folders.home / "schema.json"
            schema.write_text(json.dumps(request.schema), "utf-8")
            argv += [f"--output-schema={schema}"]
        stdin = child.guarded(request.prompt).encode("utf-8", "replace")
        return child.Command(tuple(argv), child.environment(path, folders, **more), stdin)

    def ask(self, request: Request) -> Answer:
        """Return the raw answer; see ``Backend.ask`` for what else may happen."""
        if len(child.guarded(request.prompt)) > MOST_INPUT:
            raise TooBig(f"Codex takes no prompt of more than {MOST_INPUT} characters.")
        heard = _Heard(self._model, self._clock)
        with child.room() as folders:
            command = self.command(request, folders)
            ended = child.run(command, folders, self._timeout, heard.take)
            last = _last(folders)
            final = child.text(last.read_bytes()) if last.is_file() else ""
        ended.check("Codex", heard.partial())
        return heard.ended(ended, final)

    def _login(self) -> Path:
        """Return the file with the person's login; it must be possible to renew it there."""
        if self._login_home is None:
            raise LetInRefused("Codex was given neither a key nor a login.", remedy=_LOGIN)
        file = self._login_home / "auth.json"
        try:
            os.close(os.open(file, os.O_RDWR))
        except OSError as wrong:
            raise LetInRefused(
                f"Codex has no login that could be used and renewed: {file}: {wrong.strerror}.",
                remedy=_LOGIN,
            ) from wrong
        return file.absolute()

    def _entry(self, path: Path) -> Mapping[str, Any]:
        """Return the model's entry in the catalogue that comes with the program."""
        key = child.stamp(path)
        if key not in _catalogues:
            _catalogues[key] = _catalogue(path)
        known = _catalogues[key]
        if self._model not in known:
            raise LetInRefused(
                f"Codex knows no model {self._model!r}; it knows {', '.join(sorted(known))}.",
                remedy="Set `model` in [codex] of your config.toml.",
            )
        return known[self._model]


_catalogues: dict[tuple[str, int, int], dict[str, Mapping[str, Any]]] = {}
"""Entries by model, by ``stamp`` of the program."""


def _last(folders: child.Room) -> Path:
    return folders.home / "last.txt"


def _catalogue(path: Path) -> dict[str, Mapping[str, Any]]:
    with child.room() as folders:
        argv = (str(path), "debug", "models", "--bundled")
        around = child.environment(path, folders, CODEX_HOME=str(folders.home))
        ended = child.run(child.Command(argv, around), folders, _CATALOGUE_SECONDS)
    try:
        models = json.loads(ended.out)["models"]
        return {one["slug"]: one for one in models}
    except (ValueError, LookupError, TypeError) as wrong:
        raise LetInRefused(
            f"{path} does not say which models it knows: {ended.words or ended.code}",
            remedy="Install the newest version: `npm install -g @openai/codex`.",
        ) from wrong


class _Heard:
    """What a run has said so far, event by event. Events nobody knows are passed over."""

    def __init__(self, model: str, clock: Callable[[], float]) -> None:
        self._model = model
        self._clock = clock
        self._said = ""
        self._usage = Usage()
        self._completed = False
        self._failure = ""

    def take(self, line: bytes) -> None:
        """Take the next line; raises ``NotReadOnly`` at the first sign of a tool."""
        event = child.record(line)
        kind = str(event.get("type"))
        if kind.startswith("item."):
            self._item(child.table(event.get("item")))
        elif kind == "turn.completed":
            self._completed = True
            self._count(child.table(event.get("usage")))
        elif kind == "turn.failed":
            self._failure = str(child.table(event.get("error")).get("message"))
        elif kind == "error":
            self._failure = self._failure or str(event.get("message"))

    def partial(self) -> Answer:
        """Return what was said so far; of no use for an answer unless the turn was completed."""
        return self._answer(self._said, complete=False)

    def ended(self, ended: child.Ended, final: str) -> Answer:
        """Return the answer of a run that came to its end, or say why there is none."""
        if self._completed and not ended.code:
            return self._answer(final or self._said, complete=True)
        raise self._why(ended)

    def _item(self, item: Mapping[str, Any]) -> None:
        kind = item.get("type")
        if kind == "agent_message":
            self._said = str(item.get("text"))
        elif kind not in _READING:
            raise NotReadOnly(
                f"Codex let the model use {child.one_line(str(kind))}.",
                remedy=_TRY,
                partial=self.partial(),
            )

    def _count(self, usage: Mapping[str, Any]) -> None:
        self._usage = Usage(
            input_tokens=int(child.number(usage.get("input_tokens"))),
            output_tokens=int(child.number(usage.get("output_tokens"))),
            cache_write_tokens=int(child.number(usage.get("cache_write_input_tokens"))),
            cache_read_tokens=int(child.number(usage.get("cached_input_tokens"))),
        )

    def _answer(self, text: str, *, complete: bool) -> Answer:
        plain = text.encode("utf-8", "backslashreplace").decode()
        return Answer(plain, self._usage, self._model, complete)

    def _why(self, ended: child.Ended) -> DreamingError:
        told = self._failure or ended.words or f"it ended with {ended.code}"
        signs = "turn completed" if self._completed else "broken off" if ended.code < 0 else ""
        return child.failure(_FAILURES, told, signs, self.partial(), self._clock())
