from __future__ import annotations

from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from dreaming.models.session import Tool
from dreaming.transcripts.tools import Action, action_of, command_line, joined, patch_action

anything = st.recursive(
    st.none() | st.booleans() | st.integers() | st.text(max_size=20),
    lambda inner: st.lists(inner, max_size=4) | st.dictionaries(st.text(max_size=8), inner),
)


@pytest.mark.parametrize(
    ("name", "given_input", "action"),
    [
        ("Bash", {"command": "ls", "description": "List"}, Action(Tool.SHELL, "ls")),
        ("PowerShell", {"command": "dir"}, Action(Tool.SHELL, "dir")),
        ("Read", {"file_path": "/a", "limit": 5}, Action(Tool.READ, "/a")),
        (
            "Edit",
            {"file_path": "/a", "old_string": "x", "new_string": "y", "replace_all": False},
            Action(Tool.EDIT, "/a", "x", "y"),
        ),
        (
            "MultiEdit",
            {"file_path": "/a", "edits": [{"old_string": "x", "new_string": "y"}, {}]},
            Action(Tool.EDIT, "/a", "x\n", "y\n"),
        ),
        ("Write", {"file_path": "/a", "content": "z"}, Action(Tool.WRITE, "/a", "", "z")),
        ("NotebookEdit", {"notebook_path": "/n", "new_source": "z"}, None),
        ("Grep", {"pattern": "p", "path": "src"}, Action(Tool.SEARCH, "{pattern: p, path: src}")),
        ("Glob", {"pattern": "*.py"}, Action(Tool.SEARCH, "*.py")),
        ("WebFetch", {"url": "u", "prompt": "p"}, Action(Tool.WEB, "{url: u, prompt: p}")),
        ("Task", {"prompt": "look"}, Action(Tool.AGENT, "look")),
        ("mcp__db__query", {"sql": "select 1"}, Action(Tool.OTHER, "select 1")),
        ("Bash", {}, Action(Tool.SHELL, "")),
    ],
    ids=lambda value: value if isinstance(value, str) else None,
)
def test_a_call_becomes_what_somebody_would_retype(
    name: str, given_input: dict[str, Any], action: Action | None
) -> None:
    """The command, the path, the query; of an edit both sides."""
    found = action_of(name, given_input)
    assert found == (action or Action(Tool.EDIT, "/n", "", "z"))


@pytest.mark.parametrize(
    ("command", "line"),
    [
        ("ls -l", "ls -l"),
        (["bash", "-lc", "ls -l"], "ls -l"),
        (["/usr/bin/zsh", "-c", "ls"], "ls"),
        (["powershell.exe", "-NoProfile", "-Command", "dir"], "dir"),
        (["git", "commit", "-m", "a b"], "git commit -m 'a b'"),
        ([], ""),
        (None, ""),
    ],
    ids=repr,
)
def test_a_shells_wrapper_is_taken_off_a_command(command: Any, line: str) -> None:
    """What remains is the line as a person would type it."""
    assert command_line(command) == line


@pytest.mark.parametrize(
    ("patch", "action"),
    [
        (
            "*** Begin Patch\n*** Add File: a.py\n+one\n+two\n*** End Patch",
            Action(Tool.WRITE, "a.py", "", "one\ntwo"),
        ),
        (
            "*** Begin Patch\n*** Update File: a.py\n@@\n-x\n+y\n"
            "*** Delete File: b.py\n*** End Patch",
            Action(Tool.EDIT, "a.py\nb.py", "x", "y"),
        ),
        ("no patch", Action(Tool.EDIT, "no patch")),
    ],
    ids=["add", "update", "none"],
)
def test_a_patch_is_a_write_or_an_edit(patch: str, action: Action) -> None:
    """Its files are the action; its lines are both sides."""
    assert patch_action(patch) == action


@given(name=st.sampled_from(["Bash", "Edit", "Read", "Task", "exec", ""]), values=anything)
def test_no_input_makes_a_call_fail(name: str, values: Any) -> None:
    """Any input is shown somehow, as one text."""
    assert isinstance(action_of(name, values).action, str)
    assert isinstance(joined(values), str)
