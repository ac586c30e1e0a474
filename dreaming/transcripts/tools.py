"""What a tool call does and what somebody would retype, whatever an agent calls its tools."""

from __future__ import annotations

import re
import shlex
from collections.abc import Iterable, Mapping
from itertools import islice
from typing import Any, Final, NamedTuple

from dreaming.models.session import Tool

_NAMES: Final[Mapping[Tool, tuple[str, ...]]] = {
    Tool.SHELL: (
        "bash",
        "powershell",
        "shell",
        "exec_command",
        "local_shell",
        "local_shell_call",
        "shell_command",
        "unified_exec",
        "container.exec",
        "run_terminal_cmd",
        "run_shell_command",
        "execute_command",
        "execute_bash",
        "terminal",
    ),
    Tool.EDIT: (
        "edit",
        "multiedit",
        "notebookedit",
        "apply_patch",
        "str_replace",
        "str_replace_editor",
        "replace",
        "edit_file",
        "update",
        "search_replace",
    ),
    Tool.WRITE: ("write", "write_file", "create_file"),
    Tool.READ: (
        "read",
        "notebookread",
        "read_file",
        "view",
        "view_image",
        "read_mcp_resource",
        "readmcpresourcetool",
    ),
    Tool.SEARCH: (
        "grep",
        "glob",
        "ls",
        "toolsearch",
        "tool_search",
        "list_dir",
        "grep_files",
        "search_files",
        "list_files",
        "lsp",
    ),
    Tool.WEB: ("webfetch", "websearch", "web_search", "web_search_call", "web_fetch", "web.run"),
    Tool.AGENT: (
        "task",
        "agent",
        "spawn_agent",
        "send_input",
        "sendmessage",
        "send_message",
        "followup_task",
        "workflow",
    ),
}
_BY_NAME: Final = {name: tool for tool, names in _NAMES.items() for name in names}

_DEEP: Final = 6
_WIDE: Final = 20
"""Levels and values shown of an input we know nothing about."""
_PATHS: Final = ("file_path", "path", "notebook_path", "filePath", "target_file", "filename")
_BEFORE: Final = ("old_string", "old_str", "oldString", "old_text")
_AFTER: Final = ("new_string", "new_str", "newString", "new_text", "new_source", "content")


class Action(NamedTuple):
    """A call in a form that can be compared between agents."""

    tool: Tool
    action: str
    before: str = ""
    after: str = ""


def tool_named(name: str) -> Tool:
    """Return what a tool of this name does."""
    return _BY_NAME.get(name.lower(), Tool.OTHER)


def action_of(name: str, given: Any) -> Action:
    """Return what a call with this input does."""
    tool = tool_named(name)
    if isinstance(given, str):
        return Action(tool, given)
    values = given if isinstance(given, Mapping) else {}
    if tool is Tool.SHELL:
        command = command_line(values.get("command", values.get("cmd", values.get("script"))))
        return Action(tool, command or joined(values))
    if tool in (Tool.EDIT, Tool.WRITE):
        before, after = _edited(values)
        return Action(tool, _first(values, _PATHS) or joined(values), before, after)
    if tool is Tool.READ:
        return Action(tool, _first(values, _PATHS) or joined(values))
    return Action(tool, joined(values))


def command_line(command: Any) -> str:
    """Return a command as a person would type it: a shell's ``-c`` wrapper is taken off."""
    if isinstance(command, str):
        return command
    if not isinstance(command, list) or not command:
        return ""
    words = [str(word) for word in command]
    if len(words) >= 3 and re.fullmatch(r"-\w*c|/c|-Command", words[-2]):
        return words[-1]
    return shlex.join(words)


def joined(values: Any, depth: int = 0) -> str:
    """Return an input in a short readable form: a single value alone, several with their names."""
    if isinstance(values, str):
        return values
    if depth > _DEEP:
        return "…"
    if isinstance(values, Mapping):
        if len(values) == 1:
            return joined(next(iter(values.values())), depth + 1)
        parts = [f"{key}: {joined(value, depth + 1)}" for key, value in _some(values.items())]
        return "{" + ", ".join(parts) + "}" if parts else ""
    if isinstance(values, list):
        return "[" + ", ".join(joined(value, depth + 1)[:300] for value in _some(values)) + "]"
    return "" if values is None else str(values)


def _some(items: Iterable[Any]) -> list[Any]:
    return list(islice(items, _WIDE))


def _first(values: Mapping[str, Any], names: tuple[str, ...]) -> str:
    return next((str(values[name]) for name in names if isinstance(values.get(name), str)), "")


def _edited(values: Mapping[str, Any]) -> tuple[str, str]:
    edits = values.get("edits")
    several = edits if isinstance(edits, list) else [values]
    pairs = [edit for edit in several if isinstance(edit, Mapping)]
    before = "\n".join(_first(pair, _BEFORE) for pair in pairs)
    return before, "\n".join(_first(pair, _AFTER) for pair in pairs)


_PATCH_FILE: Final = re.compile(r"^\*\*\* (Add|Update|Delete) File: (.+?)\s*$", re.MULTILINE)


def patch_action(patch: str) -> Action:
    """Return what an ``apply_patch`` text does: an added file is a write, all else an edit."""
    files = _PATCH_FILE.findall(patch)
    if not files:
        return Action(Tool.EDIT, patch)
    before, after = [], []
    for line in patch.split("\n"):
        if line.startswith("-"):
            before.append(line[1:])
        elif line.startswith("+"):
            after.append(line[1:])
    tool = Tool.WRITE if all(kind == "Add" for kind, _ in files) else Tool.EDIT
    paths = "\n".join(dict.fromkeys(path for _, path in files))
    return Action(tool, paths, "\n".join(before) if tool is Tool.EDIT else "", "\n".join(after))
