"""Writes a story as Codex writes a thread: wrapped items, with events that mirror some of them."""

from __future__ import annotations

import json
from typing import Any

from story import Step, Story, sides, stamp

VERSION = "0.142.3"
CALLS = {
    "run": "exec_command",
    "edit": "apply_patch",
    "write": "apply_patch",
    "read": "exec_command",
}


def path_of(story: Story) -> str:
    """Return where below ``~/.codex/sessions`` the rollout stands."""
    return (
        f"{story.start:%Y/%m/%d}/rollout-{story.start:%Y-%m-%dT%H-%M-%S}-{thread_id(story)}.jsonl"
    )


def thread_id(story: Story) -> str:
    """Return the thread's id."""
    return story.ordered_uuid(story.start, "thread")


class Writer:
    """One rollout in the making."""

    def __init__(self, story: Story) -> None:
        self.story = story
        self.lines: list[dict[str, Any]] = []
        self._open: list[Step] = []
        self._turn = ""
        self._said = ""

    def write(self) -> list[dict[str, Any]]:
        """Return the lines of the whole story."""
        self._head()
        for step in self.story.steps:
            self._step(step)
        self._end_turn(self.story.steps[-1])
        return self.lines

    def _head(self) -> None:
        story = self.story
        meta = {
            "id": thread_id(story),
            "timestamp": stamp(story.start),
            "cwd": story.folder,
            "originator": "codex-tui",
            "cli_version": story.head.get("version", VERSION),
            "source": "cli",
            "thread_source": "user",
            "model_provider": "openai",
            "git": {
                "commit_hash": story.digest("commit")[:40],
                "branch": story.head.get("branch", "main"),
                "repository_url": f"https://git.lantern.example/tide/{story.head['project']}.git",
            },
        }
        rules = (
            "<permissions instructions>\nCommands run in a sandbox.\n</permissions instructions>"
        )
        around = (
            f"<environment_context>\n  <cwd>{story.folder}</cwd>\n  <shell>bash</shell>\n"
            f"  <current_date>{story.start:%Y-%m-%d}</current_date>\n</environment_context>"
        )
        at = stamp(story.start)
        self._line(at, "session_meta", meta)
        self._message(at, "developer", rules)
        self._message(at, "user", around)

    def _step(self, step: Step) -> None:
        at = stamp(step.at)
        if step.kind == "person":
            self._begin_turn(step)
            self._message(at, "user", step.text)
            self._event(at, "user_message", message=step.text, images=[], local_images=[])
        elif step.kind == "model":
            self._said = step.text
            self._event(at, "agent_message", message=step.text, phase="commentary")
            self._message(at, "assistant", step.text, phase="commentary")
        elif step.kind in CALLS:
            self._open.append(step)
            self._call(at, step)
        else:
            self._result(at, step)

    def _begin_turn(self, step: Step) -> None:
        if self._turn:
            self._end_turn(step)
        at = stamp(step.at)
        self._turn = self.story.ordered_uuid(step.at, "turn", step.number)
        started = int(step.at.timestamp())
        self._event(at, "task_started", turn_id=self._turn, started_at=started)
        context = {"turn_id": self._turn, "cwd": self.story.folder, "approval_policy": "on-request"}
        self._line(at, "turn_context", {**context, "model": "gpt-6-codex", "effort": "medium"})

    def _end_turn(self, step: Step) -> None:
        if not self._turn:
            return
        at = stamp(step.at)
        used = {"input_tokens": 9000 + 70 * step.number, "output_tokens": 40 * step.number}
        self._event(at, "token_count", info={"total_token_usage": used}, rate_limits=None)
        self._event(at, "task_complete", turn_id=self._turn, last_agent_message=self._said)
        self._turn = ""

    def _call(self, at: str, step: Step) -> None:
        if CALLS[step.kind] == "apply_patch":
            self._item(at, "custom_tool_call", step, name="apply_patch", input=self._patch(step))
            return
        command = step.text if step.kind == "run" else f"sed -n 1,80p {step.argument}"
        arguments = json.dumps(
            {"cmd": command, "workdir": self.story.folder, "yield_time_ms": 10000}
        )
        self._item(at, "function_call", step, name="exec_command", arguments=arguments)

    def _patch(self, step: Step) -> str:
        if step.kind == "write":
            body = "\n".join(f"+{line}" for line in step.text.split("\n"))
            return f"*** Begin Patch\n*** Add File: {step.argument}\n{body}\n*** End Patch"
        before, after = sides(step)
        body = "\n".join(
            [
                *(f"-{line}" for line in before.split("\n")),
                *(f"+{line}" for line in after.split("\n")),
            ]
        )
        return f"*** Begin Patch\n*** Update File: {step.argument}\n@@\n{body}\n*** End Patch"

    def _result(self, at: str, step: Step) -> None:
        call = self._open.pop(0)
        kind = "function_call_output"
        if CALLS[call.kind] == "apply_patch":
            kind = "custom_tool_call_output"
            told = (
                f"Exit code: 0\nWall time: 0 seconds\nOutput:\nSuccess. Updated {call.argument}\n"
            )
        elif step.kind == "stopped":
            told = "aborted by user after 12.4s"
        elif step.kind == "refused":
            told = "exec command rejected by user"
        else:
            code = (step.argument or "1") if step.kind == "fail" else "0"
            told = (
                f"Chunk ID: {self.story.digest('chunk', step.number)[:6]}\n"
                f"Wall time: 1.{step.number:04d} seconds\nProcess exited with code {code}\n"
                f"Original token count: {len(step.text) // 4}\nOutput:\n{step.text}\n"
            )
        self._item(at, kind, call, output=told)
        if step.kind == "stopped":
            self._event(at, "turn_aborted", turn_id=self._turn, reason="interrupted")
            self._turn = ""

    def _item(self, at: str, kind: str, call: Step, **more: Any) -> None:
        call_id = "call_" + self.story.digest("call", call.number)[:24]
        self._line(at, "response_item", {"type": kind, "call_id": call_id, **more})

    def _message(self, at: str, role: str, text: str, **more: Any) -> None:
        part = {"type": "output_text" if role == "assistant" else "input_text", "text": text}
        message = {"type": "message", "role": role, "content": [part]}
        self._line(at, "response_item", {**message, **more})

    def _event(self, at: str, kind: str, **more: Any) -> None:
        self._line(at, "event_msg", {"type": kind, **more})

    def _line(self, at: str, kind: str, payload: dict[str, Any]) -> None:
        self.lines.append({"timestamp": at, "type": kind, "payload": payload})
