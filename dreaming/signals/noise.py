"""What an agent's own program says, as data: counted, and mined only where it has a name."""

from __future__ import annotations

import re
from typing import Final

from dreaming.signals.cues import Cue

HARNESS: Final = Cue(
    r"file has not been read yet|sibling tool call errored|inputvalidationerror|"
    r"unexpectedly modified|no longer available|has been modified since read|"
    r"matches of the string to replace|file does not exist|file content .{1,40}exceeds maximum|"
    r"cancelled: parallel tool call|no such tool available|no task found|"
    r"failed to parse function arguments|temporarily unavailable, so auto mode|"
    r"no changes to make|old_string and new_string are exactly"
)
"""Failures of handling a tool, in lower case: the same in every session and no lesson."""

ORDINARY: Final = Cue(
    r"AssertionError|\bassert \S+ ==|\d+ failed\b|FAILED tests?/|Tests +\d+ failed|--- FAIL:|"
    r"string to replace not found",
    re.IGNORECASE,
)
"""A red test, an edit that missed: ordinary work, a lesson only where the model remarks on it."""

BOILERPLATE: Final = re.compile(
    r"The user doesn't want to (?:proceed with|take) this (?:tool use|action)[^.]*\.|"
    r"The tool use was rejected \(eg\. [^)]*\)\.?|"
    r"STOP what you are doing and wait for the user to tell you how to proceed\.|"
    r"To tell you how to proceed, the user said:|"
    r"Note: The user's next message may contain a correction or preference[^\n]*|"
    r"Note: your current working directory is \S+|</?tool_use_error>|PreToolUse:\S+ hook error:|"
    r"\[Request interrupted by user(?: for tool use)?\]|User rejected tool use|"
    r"exec command rejected by user|patch rejected by user|aborted by user after [\d.]+s"
)
"""Sentences an agent's program puts around a failure."""

OUTAGE: Final = re.compile(r"temporarily unavailable, so auto mode")
"""Nobody denied it: whoever had to judge the call could not be reached."""

QUESTIONS: Final = re.compile(r"^\s*The user wants to clarify these questions\.")
"""A question form sent back: an answer, not a denial."""

READERS: Final = Cue(
    r"^\s*(?:cd \S+ && )?(?:sudo )?(?:cat|sed -n|rg|grep|egrep|ag|git (?:-C \S+ )?(?:log|diff|show|"
    r"status|blame)|ls|head|tail|wc|find|fd|tree|bat|less|more|awk|jq|curl|wget|diff|strings|"
    r"gh (?:pr|issue|run) (?:view|diff|list))\b"
)
"""Shell commands that return what somebody else wrote."""

BESIDE: Final = re.compile(r"\s*(?:cd|echo|export|pwd|sleep|true|set|#|$|\w+=\S*\s*$)(?:\s|$)?")
"""Parts of a command line that return nothing of their own."""

ABSENT: Final = re.compile(
    r"[Nn]o such file or directory|cannot access|can't read|unknown revision or path|enoent|"
    r"cannot find the path"
)
"""A path is not where a command looked for it."""

MOVES: Final = re.compile(r"\s*(?:cd|pushd|Set-Location) \S+\s*(?:&&|;)\s*")
"""A command line that begins by going to a folder."""

_BOOKKEEPING = """TodoWrite TodoRead AskUserQuestion ExitPlanMode EnterPlanMode TaskCreate
TaskUpdate TaskList TaskGet update_plan request_user_input ToolSearch Skill KillShell KillBash
TaskStop SendMessage wait close_agent"""
BOOKKEEPING: Final = frozenset(_BOOKKEEPING.split())
"""Tools for the agent's own order: their calls do nothing to the work and repair nothing."""
