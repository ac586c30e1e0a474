"""What we read of one line of a Codex rollout: typed, so that nothing else is built."""

from __future__ import annotations

from typing import Any, Final

import msgspec

SKIPPED_LINES: Final = frozenset(
    (
        "ghost_snapshot",
        "inter_agent_communication",
        "inter_agent_communication_metadata",
        "world_state",
    )
)
"""Types of whole lines we know and do not need."""
SKIPPED_ITEMS: Final = frozenset(
    (
        "compaction",
        "context_compaction",
        "ghost_snapshot",
        "image_generation_call",
        "other",
        "reasoning",
        "token_count",
        "tool_search_output",
    )
)
"""Types of response items we know and do not need."""
SKIPPED_EVENTS: Final = frozenset(
    (
        "agent_reasoning",
        "agent_reasoning_raw_content",
        "agent_reasoning_section_break",
        "background_event",
        "collab_agent_interaction_end",
        "collab_agent_spawn_end",
        "collab_close_end",
        "collab_waiting_end",
        "context_compacted",
        "entered_review_mode",
        "error",
        "exec_command_end",
        "exited_review_mode",
        "item_started",
        "mcp_tool_call_end",
        "patch_apply_end",
        "plan_update",
        "stream_error",
        "sub_agent_activity",
        "thread_name_updated",
        "thread_settings_applied",
        "token_count",
        "turn_diff",
        "view_image_tool_call",
        "warning",
        "web_search_end",
    )
)
"""Types of events we know and do not need: they repeat items, or only count."""


class Part(msgspec.Struct, gc=False):
    """One part of a message."""

    type: str = ""
    text: str | None = None


class Passed(msgspec.Struct, gc=False):
    """What the harness says of a message it passed on."""

    turn_id: str | None = None
    content_item_kinds: list[str] | None = None


class Item(msgspec.Struct, gc=False):
    """What an event says was completed."""

    type: str = ""
    id: str | None = None
    content: list[Part] | None = None


class Git(msgspec.Struct, gc=False):
    """Where a thread ran."""

    repository_url: str | None = None


class Payload(msgspec.Struct, gc=False):
    """What we read of a response item, an event or a session's head."""

    type: str = ""
    id: str | None = None
    role: str | None = None
    content: str | list[Part] | None = None
    name: str | None = None
    arguments: Any = None
    input: Any = None
    action: Any = None
    call_id: str | None = None
    output: Any = None
    message: str | None = None
    reason: str | None = None
    turn_id: str | None = None
    num_turns: int | None = None
    item: Item | None = None
    cwd: str | None = None
    git: Git | None = None
    originator: str | None = None
    cli_version: str | None = None
    source: Any = None
    thread_source: str | None = None
    forked_from_id: str | None = None
    parent_thread_id: str | None = None
    history_base: msgspec.Raw = msgspec.Raw()
    timestamp: str | int | float | None = None
    passed: Passed | None = msgspec.field(
        default=None, name="internal_chat_message_metadata_passthrough"
    )


class Record(Payload, gc=False):
    """One line: a payload in its wrapper, or, in the oldest files, the payload itself."""

    payload: Payload | None = None
    record_type: str | None = None
    instructions: msgspec.Raw = msgspec.Raw()
    sessionId: str | None = None
    parentUuid: msgspec.Raw = msgspec.Raw()
    uuid: str | None = None
    format: str | None = None


BARE_ITEMS: Final = frozenset(
    (
        "custom_tool_call",
        "custom_tool_call_output",
        "function_call",
        "function_call_output",
        "local_shell_call",
        "message",
        "reasoning",
        "web_search_call",
    )
)
CALLS: Final = frozenset(
    (
        "custom_tool_call",
        "function_call",
        "local_shell_call",
        "tool_search_call",
        "web_search_call",
    )
)
