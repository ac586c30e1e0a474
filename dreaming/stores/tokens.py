"""Long-lived tokens of programs, one file each in the person's settings folder, for them alone."""

from __future__ import annotations

import re
import stat
from pathlib import Path
from typing import Final

from dreaming.errors import Unusable, WrongUse
from dreaming.stores import files

_FORM: Final = re.compile(r"sk-ant-oat\d\d-[A-Za-z0-9_-]{40,400}")
"""What `claude setup-token` prints."""


def checked(token: str) -> str:
    """Return a token without the blanks and line breaks that a terminal put into it.

    Raises ``WrongUse`` for anything else, and shows nothing of it.
    """
    token = "".join(token.split())
    if _FORM.fullmatch(token):
        return token
    if token.startswith("sk-ant-api"):
        raise WrongUse(
            "That is an API key, not the token of a subscription.",
            remedy="`claude setup-token` prints a token; keys are for the anthropic backend.",
        )
    raise WrongUse(
        "That is no token as `claude setup-token` prints it (sk-ant-oat…).",
        remedy="Paste the whole token, and nothing else.",
    )


def keep(path: Path, token: str) -> None:
    """Write a token so that only the person can read it."""
    path.parent.mkdir(parents=True, exist_ok=True, mode=0o700)
    path.parent.chmod(0o700)
    files.replace(path, token.encode(), mode=0o600)


def read(path: Path) -> str:
    """Return the token that is kept there, as it must be.

    Raises ``Unusable`` where there is none, others can read it, or it has another form.
    """
    again = f"`dreaming login {path.name}`"
    try:
        mode = stat.S_IMODE(path.stat().st_mode)
        text = path.read_text(encoding="ascii")
    except FileNotFoundError:
        raise Unusable(f"{path}: there is no token.", remedy=again) from None
    except (OSError, UnicodeDecodeError) as wrong:
        raise Unusable(f"{path}: {wrong}", remedy=again) from wrong
    if mode & 0o077:
        raise Unusable(f"{path} can be read by others.", remedy=f"`chmod 600 {path}`")
    if not _FORM.fullmatch(text):
        raise Unusable(f"{path}: this is no token.", remedy=again)
    return text
