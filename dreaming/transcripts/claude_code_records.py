"""What we read of one line of a Claude Code transcript: typed, so that nothing else is built."""

from __future__ import annotations

from typing import Any, Final

import msgspec

SKIPPED: Final = frozenset(
    (
        "agent-name",
        "agent-setting",
        "ai-title",
        "atis-latch",
        "bridge-session",
        "custom-title",
        "ended-by-model",
        "file-history-delta",
        "file-history-snapshot",
        "frame-link",
        "last-prompt",
        "mode",
        "permission-mode",
        "pr-link",
        "progress",
        "relocated",
        "summary",
        "tag",
        "worktree-state",
    )
)
"""Record types we know and do not need."""


class Part(msgspec.Struct, gc=False):
    """One part of what a tool returned."""

    type: str = ""
    text: str | None = None


class Content(msgspec.Struct, gc=False):
    """One block of a message."""

    type: str = ""
    text: str | None = None
    id: str | None = None
    name: str | None = None
    input: dict[str, Any] | None = None
    tool_use_id: str | None = None
    content: str | list[Part] | None = None
    is_error: bool | None = None


class Message(msgspec.Struct, gc=False):
    """What was said in one record."""

    role: str | None = None
    id: str | None = None
    model: str | None = None
    content: str | list[Content] | None = None


class Origin(msgspec.Struct, gc=False):
    """Who put a text into the user's role."""

    kind: str | None = None


class Attachment(msgspec.Struct, gc=False):
    """What the harness attached."""

    type: str = ""
    prompt: str | list[Content] | None = None
    commandMode: str | None = None
    origin: Origin | None = None
    hookEvent: str | None = None
    content: msgspec.Raw = msgspec.Raw()
    blockingError: msgspec.Raw = msgspec.Raw()
    stderr: msgspec.Raw = msgspec.Raw()


class Record(msgspec.Struct, gc=False):
    """What we read of one line."""

    type: str = ""
    uuid: str | None = None
    sessionId: str | None = None
    timestamp: str | int | float | None = None
    cwd: str | None = None
    version: str | None = None
    isMeta: bool | None = None
    isSidechain: bool | None = None
    agentId: str | None = None
    isCompactSummary: bool | None = None
    isApiErrorMessage: bool | None = None
    entrypoint: str | None = None
    promptSource: str | None = None
    origin: Origin | None = None
    planContent: str | None = None
    toolDenialKind: str | None = None
    interruptedMessageId: str | None = None
    message: Message | None = None
    toolUseResult: msgspec.Raw = msgspec.Raw()
    attachment: Attachment | None = None
    operation: str | None = None
    reason: str | None = None
    content: str | list[Content] | None = None
    role: str | None = None
    payload: msgspec.Raw = msgspec.Raw()
    format: str | None = None
    hookErrors: msgspec.Raw = msgspec.Raw()
