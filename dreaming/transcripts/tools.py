"""What a tool call does and what somebody would retype, whatever an agent calls its tools."""

from __future__ import annotations

import re
import shlex
from collections.abc import Mapping
from typing import Any, Final, NamedTuple

from dreaming.models.session import Tool

_BY_NAME: Final[dict[str, Tool]] = {
    **dict.fromkeys(
        ["bash", "powershell", "shell", "exec_command", "local_shell", "local_shell_call", "shell_command", "unified_exec", "container.exec", "run_terminal_cmd", "run_shell_command", "execute_command", "execute_bash", "terminal"],
        Tool.SHELL,
    ),
    **dict.fromkeys(
        ["edit", "multiedit", "notebookedit", "apply_patch", "str_replace", "str_replace_editor", "replace", "edit_file", "update", "search_replace"],
        Tool.EDIT,
    ),
    **dict.fromkeys(["write", "write_file", "create_file"], Tool.WRITE),
    **dict.fromkeys(
        ["read", "notebookread", "read_file", "view", "view_image", "read_mcp_resource", "readmcpresourcetool"],
        Tool.READ,
    ),
    **dict.fromkeys(
        ["grep", "glob", "ls", "toolsearch", "tool_search", "list_dir", "grep_files", "search_files", "list_files", "lsp"],
        Tool.SEARCH,
    ),
    **dict.fromkeys(
        ["webfetch", "websearch", "web_search", "web_search_call", "web_fetch", "web.run"], Tool.WEB
    ),
    **dict.fromkeys(
        ["task", "agent", "spawn_agent", "send_input", "sendmessage", "send_message", "followup_task", "workflow"],
        Tool.AGENT,
    ),
}

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


def joined(values: Any) -> str:
    """Return the values of an input in one short line a value, long ones cut."""
    if isinstance(values, str):
        return values
    if isinstance(values, Mapping):
        parts = [f"{key}: {joined(value)}" for key, value in _most(values.items())]
        return "{" + ", ".join(parts) + "}" if len(parts) > 1 else joined(*_values(values))
    if isinstance(values, list):
        return "[" + ", ".join(joined(value)[:300] for value in values[:20]) + "]"
    return "" if values is None else str(values)


def _most(items: Any) -> list[Any]:
    return list(items)[:20]


def _values(values: Mapping[str, Any]) -> tuple[Any]:
    return (next(iter(values.values()), ""),)


def _first(values: Mapping[str, Any], names: tuple[str, ...]) -> str:
    return next((str(values[name]) for name in names if isinstance(values.get(name), str)), "")


def _edited(values: Mapping[str, Any]) -> tuple[str, str]:
    edits = values.get("edits")
    if isinstance(edits, list):
        pairs = [_edited(edit) for edit in edits if isinstance(edit, Mapping)]
        return "\n".join(pair[0] for pair in pairs), "\n".join(pair[1] for pair in pairs)
    return _first(values, _BEFORE), _first(values, _AFTER)


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
    return Action(tool, paths, "\n".join(before), "\n".join(after))
