"""Writes a story as Claude Code writes a session: one JSON object a line, tied by uuids."""

from __future__ import annotations

import re
from typing import Any

from story import Step, Story, sides, stamp

VERSION = "2.1.311"
MODEL = "claude-opus-5-1"
REFUSED = (
    "The user doesn't want to proceed with this tool use. The tool use was rejected (eg. if it was "
    "a file edit, the new_string was NOT written to the file). "
)
WAIT = "STOP what you are doing and wait for the user to tell you how to proceed."
SAID = "To tell you how to proceed, the user said:\n"
NOTE = "\n\nNote: The user's next message may contain a correction or preference."
STOPPED = "[Request interrupted by user for tool use]"
CALLS = {
    "run": "Bash",
    "read": "Read",
    "search": "Grep",
    "edit": "Edit",
    "write": "Write",
    "delegate": "Agent",
}


def path_of(story: Story, parent: Story | None) -> str:
    """Return where below ``~/.claude/projects`` the transcript stands."""
    folder = re.sub(r"[^A-Za-z0-9-]", "-", story.folder)
    if parent is None:
        return f"{folder}/{session_id(story)}.jsonl"
    return f"{folder}/{session_id(parent)}/subagents/agent-{agent_id(story)}.jsonl"


def session_id(story: Story) -> str:
    """Return the id that names the file."""
    return story.uuid("session")


def agent_id(story: Story) -> str:
    """Return a subagent's id."""
    return "a" + story.digest("agent")[:16]


def call_id(story: Story, number: int) -> str:
    """Return the id that ties a call and its result."""
    return "toolu_01" + story.digest("call", number)[:22]


def about_agent(story: Story, parent: Story) -> dict[str, Any]:
    """Return what stands in the file beside a subagent's transcript."""
    asked = next(step for step in parent.steps if step.kind == "delegate")
    return {
        "agentType": asked.argument,
        "description": story.head["title"],
        "toolUseId": call_id(parent, asked.number),
        "spawnDepth": 1,
    }


class Writer:
    """One transcript in the making."""

    def __init__(self, story: Story, parent: Story | None = None) -> None:
        self.story = story
        self.parent = parent
        self.records: list[dict[str, Any]] = []
        self._last: str | None = None
        self._open: list[Step] = []
        self._turn = 0

    def write(self) -> list[dict[str, Any]]:
        """Return the records of the whole story."""
        if self.parent is None:
            self._open_file()
        for step in self.story.steps:
            self._step(step)
        if self.parent is None:
            self._close_file()
        return self.records

    def _open_file(self) -> None:
        first = self.story.uuid("record", 1)
        snapshot = {"messageId": first, "trackedFileBackups": {}, "timestamp": self._at(0)}
        self.records += [
            {"type": "permission-mode", "permissionMode": "default", **self._side()},
            {
                "type": "file-history-snapshot",
                "messageId": first,
                "snapshot": snapshot,
                "isSnapshotUpdate": False,
            },
        ]

    def _close_file(self) -> None:
        duration = {
            "subtype": "turn_duration",
            "durationMs": 1000 * len(self.records),
            "isMeta": False,
        }
        self._chain("system", self.story.steps[-1], duration)
        asked = [step.text for step in self.story.steps if step.kind in ("person", "script")]
        self.records += [
            {"type": "ai-title", "aiTitle": self.story.head["title"], **self._side()},
            {"type": "last-prompt", "lastPrompt": asked[-1][:200], **self._side()},
        ]

    def _side(self) -> dict[str, Any]:
        return {"sessionId": session_id(self.parent or self.story)}

    def _at(self, number: int) -> str:
        return stamp(self.story.steps[number].at if number else self.story.start)

    def _step(self, step: Step) -> None:
        if step.kind in ("person", "script"):
            self._turn += 1
            self._user(step, step.text, prompt=True)
        elif step.kind == "model":
            self._answer(step, {"type": "text", "text": step.text})
        elif step.kind in CALLS:
            self._open.append(step)
            self._answer(step, self._call(step))
        elif step.kind == "meanwhile":
            self._meanwhile(step)
        else:
            self._result(step)

    # -- the model's side ---------------------------------------------------------------------

    def _answer(self, step: Step, block: dict[str, Any]) -> None:
        ends = block["type"] == "text"
        message = {
            "model": MODEL,
            "id": "msg_01" + self.story.digest("message", step.number)[:22],
            "type": "message",
            "role": "assistant",
            "content": [block],
            "stop_reason": "end_turn" if ends else "tool_use",
            "stop_sequence": None,
            "usage": {
                "input_tokens": 4 + step.number,
                "cache_creation_input_tokens": 300 + 11 * step.number,
                "cache_read_input_tokens": 14_000 + 900 * step.number,
                "output_tokens": 20 + len(step.text) // 4,
                "service_tier": "standard",
            },
        }
        request = "req_011C" + self.story.digest("request", step.number)[:20]
        self._chain("assistant", step, {"message": message, "requestId": request})

    def _call(self, step: Step) -> dict[str, Any]:
        return {
            "type": "tool_use",
            "id": call_id(self.story, step.number),
            "name": CALLS[step.kind],
            "input": self._input(step),
        }

    def _input(self, step: Step) -> dict[str, Any]:
        path = f"{self.story.folder}/{step.argument}"
        if step.kind == "run":
            return {"command": step.text, "description": step.argument or "Run a command"}
        if step.kind == "read":
            return {"file_path": path}
        if step.kind == "search":
            return {"pattern": step.text, "path": self.story.folder, "output_mode": "content"}
        if step.kind == "edit":
            before, after = sides(step)
            return {"file_path": path, "old_string": before, "new_string": after}
        if step.kind == "write":
            return {"file_path": path, "content": step.text}
        title = step.text.split(".")[0][:40]
        return {"description": title, "prompt": step.text, "subagent_type": step.argument}

    # -- the user's side ----------------------------------------------------------------------

    def _user(self, step: Step, text: str, *, prompt: bool) -> None:
        more: dict[str, Any] = {}
        if prompt and self.parent is None:
            typed = step.kind == "person"
            more = {
                "promptId": self.story.uuid("prompt", self._turn),
                "promptSource": "typed" if typed else "sdk",
                "permissionMode": "default",
            }
            if typed:
                more["origin"] = {"kind": "human"}
        content: Any = text if prompt else [{"type": "text", "text": text}]
        self._chain("user", step, {"message": {"role": "user", "content": content}, **more})

    def _result(self, step: Step) -> None:
        call = self._open.pop(0)
        block: dict[str, Any] = {
            "type": "tool_result",
            "tool_use_id": call_id(self.story, call.number),
        }
        more: dict[str, Any] = {"sourceToolAssistantUUID": self.story.uuid("record", call.number)}
        if step.kind == "refused":
            told = f"{SAID}{step.text}" if step.text else WAIT
            block |= {"content": REFUSED + told + NOTE, "is_error": True}
            more |= {"toolUseResult": "User rejected tool use", "toolDenialKind": "user-rejected"}
        elif step.kind == "stopped":
            block |= {"content": REFUSED + WAIT, "is_error": True}
            more |= {"toolUseResult": "User rejected tool use", "toolDenialKind": "interrupted"}
        elif step.kind == "fail":
            block |= {"content": self._failure(call, step), "is_error": True}
            more["toolUseResult"] = f"Error: {block['content']}"
        else:
            block |= {"content": step.text or self._done(call), "is_error": False}
            more["toolUseResult"] = self._told(call, block["content"])
        self._chain("user", step, {"message": {"role": "user", "content": [block]}, **more})
        if step.kind == "stopped":
            self._user(step, STOPPED, prompt=False)

    def _failure(self, call: Step, step: Step) -> str:
        if call.kind != "run":
            return f"<tool_use_error>{step.text}</tool_use_error>"
        return f"Exit code {step.argument or 1}\n{step.text}"

    def _done(self, call: Step) -> str:
        if call.kind == "edit":
            return f"The file {self.story.folder}/{call.argument} has been updated successfully."
        if call.kind == "write":
            return f"File created successfully at: {self.story.folder}/{call.argument}"
        return "(Bash completed with no output)"

    def _told(self, call: Step, text: str) -> dict[str, Any]:
        path = f"{self.story.folder}/{call.argument}"
        if call.kind == "run":
            return {"stdout": text, "stderr": "", "interrupted": False, "isImage": False}
        if call.kind == "edit":
            before, after = sides(call)
            return {
                "filePath": path,
                "oldString": before,
                "newString": after,
                "structuredPatch": [],
                "userModified": False,
            }
        if call.kind == "delegate":
            return {"status": "completed", "content": [{"type": "text", "text": text}]}
        return {"type": "text", "file": {"filePath": path, "numLines": text.count("\n") + 1}}

    def _meanwhile(self, step: Step) -> None:
        queued = {"type": "queued_command", "prompt": step.text, "commandMode": "prompt"}
        self._chain("attachment", step, {"attachment": {**queued, "origin": {"kind": "human"}}})

    # -- the chain ----------------------------------------------------------------------------

    def _chain(self, kind: str, step: Step, more: dict[str, Any]) -> None:
        again = sum(1 for one in self.records if one.get("timestamp") == stamp(step.at))
        uuid = self.story.uuid("record", step.number, *([again] if again else []))
        side: dict[str, Any] = {"agentId": agent_id(self.story)} if self.parent is not None else {}
        entry = self.story.head.get("entrypoint", "cli")
        self.records.append(
            {
                "parentUuid": self._last,
                "isSidechain": self.parent is not None,
                **side,
                "type": kind,
                **more,
                "uuid": uuid,
                "timestamp": stamp(step.at),
                "userType": "external",
                "entrypoint": entry,
                "cwd": self.story.folder,
                **self._side(),
                "version": self.story.head.get("version", VERSION),
                "gitBranch": self.story.head.get("branch", "main"),
            }
        )
        self._last = uuid
