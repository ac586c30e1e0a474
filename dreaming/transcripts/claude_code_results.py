"""How a tool call of Claude Code ended, who denied it, and what a person said in passing."""

from __future__ import annotations

import re
from typing import Final

import msgspec

from dreaming.models.session import Denier, ResultStatus

INTERRUPTED: Final = "[Request interrupted by user"
_REFUSED: Final = (
    "The user doesn't want to proceed with this tool use",
    "The user doesn\u2019t want to proceed with this tool use",
    "The user doesn't want to take this action right now",
)
_USER_SAID: Final = re.compile(r"\bthe user said:\s*(.+)", re.DOTALL)
_NOTE: Final = "\n\nNote: The user's next message may contain a correction"
CLARIFY: Final = "The user wants to clarify these questions."
_BY_RULE: Final = re.compile(
    r"(?:<tool_use_error>)?(?:Error: )?(?:"
    r"Permission (?:to use|for this)|Claude requested permissions? to|\w+ hook (?:error|blocking)"
    r"|(?:Pre|Post)ToolUse:\S+ (?:\[.*?\] )?hook|PreToolUse:\S+|Blocked by|Blocked: "
    r"|.{0,80}temporarily unavailable, so auto mode|.{0,200}denied by your permission settings"
    r"|.{0,200}was blocked\. For security|.{0,80}auto mode classifier|.{0,80}requires approval"
    r"|.{0,120}outside (?:of )?(?:the )?allowed working director"
    r"|Operation stopped by hook|.{0,80}denied because Claude Code is running)",
)
_MID_TURN: Final = re.compile(
    r"(?:\A|\n\n|\A<system-reminder>\n|\n<system-reminder>\n)"
    r"The user sent (?:a new|the following) message while you were working:\n"
)
_MID_TURN_LENGTH: Final = 4_000
_TOLD_STOPPED: Final = re.compile(rb'"interrupted"\s*:\s*true')
_STOPPED: Final = re.compile(r"(?:Exit code \d+\n)?\[Request interrupted by user")
WORK: Final = ("PreToolUse", "PostToolUse", "Stop", "SubagentStop")
"""Hooks of these events speak about the work; those of others only prepare a session."""
HOOK_SPOKE: Final = re.compile(
    rf"(?:<system-reminder>\s*)?(?:{'|'.join(WORK)})(?::\S+)? hook (?:feedback|[a-z ]+)(?::|$)\s*",
    re.MULTILINE,
)
"""How a hook's words begin in a record of the harness."""
EXIT_CODE: Final = re.compile(r"Exit code (\d+)(?:\n|\Z)")


def mid_turn_words(text: str) -> tuple[str, str]:
    """Split what a person typed while a tool ran off the end of the tool's text."""
    if "while you were working:" not in text[-_MID_TURN_LENGTH:]:
        return text, ""
    found = list(_MID_TURN.finditer(text, max(0, len(text) - _MID_TURN_LENGTH)))
    if not found:
        return text, ""
    words = text[found[-1].end() :].partition("</system-reminder>")[0].strip()
    return text[: found[-1].start()].rstrip(), words


def ending(
    text: str, is_error: bool, denial_kind: str | None, told: bytes
) -> tuple[ResultStatus, Denier | None]:
    """Return how a call ended, and who denied it.

    ``told`` is what the harness recorded of the result for itself.
    """
    if was_stopped(text, is_error, told):
        return ResultStatus.DENIED, Denier.HUMAN
    if not is_error:
        flagged = text.startswith("<tool_use_error>")
        return (ResultStatus.ERROR if flagged else ResultStatus.OK), None
    if denial_kind:
        by_hand = denial_kind in ("user-rejected", "interrupted")
        return ResultStatus.DENIED, Denier.HUMAN if by_hand else Denier.RULE
    if text.startswith(_REFUSED):
        return ResultStatus.DENIED, Denier.HUMAN
    if _BY_RULE.match(text):
        return ResultStatus.DENIED, Denier.RULE
    return ResultStatus.ERROR, None


def was_stopped(text: str, is_error: bool, told: bytes) -> bool:
    """Tell a call that a person interrupted."""
    if (is_error or len(text) < 100) and _STOPPED.match(text):
        return True
    return _TOLD_STOPPED.search(told) is not None and "timed out" not in text


def denial_words(text: str) -> tuple[str, str]:
    """Return what remains of a refused call's text, and what the person said with it."""
    if not text.startswith(_REFUSED):
        return text, ""
    text = text.partition(_NOTE)[0]
    said = _USER_SAID.search(text)
    return "", said.group(1).strip() if said else ""


def hook_text(told: msgspec.Raw) -> str:
    """Return the words of a hook from a text, a list of texts or an object around one."""
    if not bytes(told):
        return ""
    value = msgspec.json.decode(told)
    if isinstance(value, dict):
        value = value.get("blockingError") or value.get("stderr") or ""
    parts = value if isinstance(value, list) else [value]
    return "\n".join(part for part in parts if isinstance(part, str))
