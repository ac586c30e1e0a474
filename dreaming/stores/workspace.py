"""Where things are: the workspace a person owns, and the machine's own folder beside it."""

from __future__ import annotations

import hashlib
import hmac
import os
import secrets
from collections.abc import Mapping
from pathlib import Path
from typing import Final

import platformdirs

from dreaming.errors import Unusable, WrongUse
from dreaming.stores import files

SETTINGS: Final = "dreaming.toml"
FOLDERS: Final = ("knowledge_base", "pending", "ledger")
KEY_BYTES: Final = 32


class Workspace:
    """A folder with ``knowledge_base/``, ``pending/`` and ``ledger/``, and its state elsewhere."""

    def __init__(self, root: Path, state_home: Path) -> None:
        self.root = root.resolve()
        self.settings = self.root / SETTINGS
        self.knowledge_base = self.root / "knowledge_base"
        self.pending = self.root / "pending"
        self.ledger = self.root / "ledger"
        name = hashlib.sha256(os.fsencode(self.root)).hexdigest()[:16]
        self.state = state_home / "workspaces" / name
        self.key_file = self.state / "key"
        self.database = self.state / "state.db"
        self.answers = self.state / "answers"
        self.archive = self.state / "archive"
        self.run_lock = self.state / "run.lock"

    @property
    def exists(self) -> bool:
        """Whether ``dreaming init`` has been here."""
        return self.settings.is_file()

    def key(self) -> bytes:
        """Return the workspace's key.

        Raises ``Unusable`` where it is missing or is not 32 bytes.
        """
        try:
            key = self.key_file.read_bytes()
        except FileNotFoundError:
            raise Unusable(
                f"The workspace's key is missing: {self.key_file}",
                remedy=f"Put it back, or run `dreaming init --key FILE {self.root}` with a copy. "
                f"Without any copy, `dreaming init {self.root}` makes a new one; ids change then.",
            ) from None
        except OSError as wrong:
            raise Unusable(f"{self.key_file}: {wrong.strerror}") from wrong
        if len(key) != KEY_BYTES:
            raise Unusable(f"{self.key_file} holds {len(key)} bytes; a key has {KEY_BYTES}.")
        return key


class Pseudonymizer:
    """Turns what identifies into keyed hashes: the same key gives the same ids everywhere."""

    def __init__(self, key: bytes) -> None:
        self._key = key

    def session(self, agent: str, native_id: str) -> str:
        """Return a session id: 16 hex characters of HMAC-SHA256 over agent and native id."""
        return self._hash("session", agent, native_id)

    def excerpt(self, agent: str, native_id: str, line: int, aspect: str) -> str:
        """Return an excerpt's id, which is also that of a candidate it is the oldest of."""
        return self._hash("excerpt", agent, native_id, str(line), aspect)

    def project(self, identity: str) -> str:
        """Return a project's id."""
        return self._hash("project", identity)

    def transcript(self, agent: str, path: str) -> str:
        """Return the id by which a transcript is known outside of this machine's own folder."""
        return self._hash("transcript", agent, path)

    def kin(self, identity: str) -> str:
        """Return the id of an identity that relatives share."""
        return self._hash("kin", identity)

    def _hash(self, *parts: str) -> str:
        text = "\0".join(parts).encode("utf-8", "surrogatepass")
        return hmac.new(self._key, text, "sha256").hexdigest()[:16]


def state_home() -> Path:
    """Return the folder of the machine's own things."""
    return platformdirs.user_state_path("dreaming")


def config_file() -> Path:
    """Return the person's settings file."""
    return platformdirs.user_config_path("dreaming") / "config.toml"


def default_root(home: Path) -> Path:
    """Return the workspace that is used when nothing names another."""
    return home / ".dreaming"


def find(named: Path | None, environment: Mapping[str, str], here: Path, home: Path) -> Workspace:
    """Return the workspace: the named one, the environment's, the nearest parent's, the default.

    It need not exist yet. Raises ``WrongUse`` where the named place is a file.
    """
    told = named or (Path(environment["DREAMING_WORKSPACE"]) if _told(environment) else None)
    if told is not None:
        if told.exists() and not told.is_dir():
            raise WrongUse(f"{told} is a file; a workspace is a folder.")
        return Workspace(told, state_home())
    for folder in (here, *here.parents):
        if (folder / SETTINGS).is_file():
            return Workspace(folder, state_home())
    return Workspace(default_root(home), state_home())


def _told(environment: Mapping[str, str]) -> bool:
    return bool(environment.get("DREAMING_WORKSPACE", "").strip())


def lay_out(workspace: Workspace, template: Mapping[str, str], key: bytes | None = None) -> bool:
    """Make the folders of a workspace and its key. Return whether anything was new.

    ``template`` maps relative names to texts; a text is written only where its folder is new or,
    at the root, where the file is missing. What stands there is never changed. A ``key`` given is
    put in place of a missing one. Raises ``Unusable`` where another key stands there already.
    """
    if key is not None and len(key) != KEY_BYTES:
        raise WrongUse(f"A key has {KEY_BYTES} bytes; this one has {len(key)}.")
    try:
        new = _lay_out_folders(workspace, template)
        new |= _lay_out_state(workspace, key)
    except OSError as wrong:
        raise Unusable(f"{wrong.filename or workspace.root}: {wrong.strerror}") from wrong
    return new


def _lay_out_folders(workspace: Workspace, template: Mapping[str, str]) -> bool:
    fresh = {"": True}
    workspace.root.mkdir(parents=True, exist_ok=True)
    for name in FOLDERS:
        fresh[name] = not (workspace.root / name).exists()
        (workspace.root / name).mkdir(exist_ok=True)
    new = any(fresh[name] for name in FOLDERS)
    for name, text in template.items():
        path = workspace.root / name
        if fresh[name.rpartition("/")[0]] and not path.exists():
            files.replace(path, text.encode(), mode=0o644)
            new = True
    return new


def _lay_out_state(workspace: Workspace, key: bytes | None) -> bool:
    workspace.state.mkdir(parents=True, exist_ok=True, mode=0o700)
    workspace.state.chmod(0o700)
    if workspace.key_file.exists():
        if key is not None and workspace.key_file.read_bytes() != key:
            raise Unusable(
                f"{workspace.key_file} holds another key already.",
                remedy="Ids made with it would change. Move that folder away first if you mean it.",
            )
        return False
    files.replace(workspace.key_file, key or secrets.token_bytes(KEY_BYTES), mode=0o600)
    readme = workspace.state / "README"
    readme.write_text(
        f"Made by `dreaming` for the workspace {workspace.root}.\n"
        "state.db is what this machine has read so far; key is the workspace's secret.\n",
        encoding="utf-8",
    )
    return True
