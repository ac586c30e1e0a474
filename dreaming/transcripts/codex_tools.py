"""Calls and results of Codex: what was run, and what the many shapes of output say of its end."""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import Any, Final, NamedTuple

import msgspec

from dreaming.models.session import Denier, ResultStatus, Tool
from dreaming.transcripts.reading import records
from dreaming.transcripts.tools import Action, action_of, command_line, joined, patch_action


def called(name: str, given: Any, running: Mapping[str, str]) -> Action:
    """Return what a call does.

    ``running`` tells the command behind the number of a process that is still running, so that
    waiting for it is understood as running it.
    """
    values = _arguments(given)
    short = name.rpartition(".")[2]
    if short == "apply_patch":
        patch = values if isinstance(values, str) else values.get("input", values.get("patch"))
        return patch_action(patch if isinstance(patch, str) else joined(values))
    if short == "exec":
        return _script(values if isinstance(values, str) else joined(values), running)
    if isinstance(values, Mapping):
        if short == "write_stdin":
            typed = str(values.get("chars") or "")
            command = running.get(str(values.get("session_id")), "")
            return Action(Tool.SHELL, typed.strip() or command)
        if short in ("shell", "local_shell", "exec_command", "shell_command"):
            return _command(command_line(values.get("command", values.get("cmd"))), values)
        if short == "web_search":
            return Action(Tool.WEB, str(values.get("query") or values.get("url") or ""))
    return action_of(short, values)


def _arguments(given: Any) -> Any:
    """Return the arguments as an object where they are one, also from inside a string."""
    if isinstance(given, str) and given.lstrip().startswith("{"):
        whole = _object(given)
        if whole is not None:
            return whole
        found = records(given.encode("utf-8", "replace"))
        if len(found.values) == 1 and isinstance(found.values[0], dict) and not found.lost:
            return found.values[0]
    return {} if given is None else given


_PATCH: Final = "*** Begin Patch"


def _command(command: str, values: Mapping[str, Any]) -> Action:
    """Return a command; one that only applies a patch is the edit it makes."""
    parts = values.get("command")
    if isinstance(parts, list) and len(parts) == 2 and parts[0] == "apply_patch":
        return patch_action(str(parts[1]))
    if command.lstrip().startswith("apply_patch") and _PATCH in command:
        return patch_action(command[command.index(_PATCH) :])
    return Action(Tool.SHELL, command or joined(values))


SCRIPT: Final = 100_000
"""Characters of a script that are looked at."""
_SCRIPT_COMMAND: Final = re.compile(
    r"""\bcmd["']?\s*:\s*(?:"((?:[^"\\]|\\.)*)"|'((?:[^'\\]|\\.)*)'|`((?:[^`\\]|\\.)*)`|\[([^\]]*)\])"""
)
_SCRIPT_PATCH: Final = re.compile(
    r"""(["'`])(\*\*\* Begin Patch(?:[^\\]|\\.)*?\*\*\* End Patch)""", re.DOTALL
)
_SCRIPT_WAITS: Final = re.compile(r"""write_stdin\(\{["']?session_id["']?\s*:\s*(\d+)""")
_ESCAPES: Final = {"n": "\n", "t": "\t", "r": "\r"}


def _script(script: str, running: Mapping[str, str]) -> Action:
    """Return what a script around tool calls does: its patch, else its commands, else itself."""
    script = script[:SCRIPT]
    patch = _SCRIPT_PATCH.search(script)
    if patch:
        return patch_action(_unescaped(patch.group(2)))
    waited = _SCRIPT_WAITS.search(script)
    if waited and waited.group(1) in running:
        return Action(Tool.SHELL, running[waited.group(1)])
    if "tools.web" in script:
        return Action(Tool.WEB, script)
    commands = []
    for double, single, tick, items in _SCRIPT_COMMAND.findall(script):
        words = [_unescaped(word) for pair in _WORDS.findall(items) for word in pair if word]
        commands.append(command_line(words) if items else _unescaped(double or single or tick))
    return Action(Tool.SHELL, "\n".join(commands)) if commands else Action(Tool.OTHER, script)


_WORDS: Final = re.compile(r""""((?:[^"\\]|\\.)*)"|'((?:[^'\\]|\\.)*)'""")


def _unescaped(text: str) -> str:
    return re.sub(r"\\(.)", lambda m: _ESCAPES.get(m.group(1), m.group(1)), text, flags=re.DOTALL)


class Returned(NamedTuple):
    """What a call gave back."""

    text: str
    status: ResultStatus = ResultStatus.OK
    denier: Denier | None = None
    aborted: bool = False
    """A person stopped it."""
    running: str = ""
    """The number of the process where it is still running."""


_HEADER: Final = re.compile(
    r"(?:Command: (?:.*\n)*?(?=Chunk ID: ))?(?:Chunk ID: .*\n)?(?:Exit code: (?P<exit>-?\d+)\n)?"
    r"(?:Script (?P<script>completed|failed|running)\b.*\n)?"
    r"(?:Wall time:? .*\n)?"
    r"(?:Process exited with code (?P<code>-?\d+)\n)?"
    r"(?:Process running with session ID (?P<run>\d+)\n)?"
    r"(?:(?:Original token count|Total output lines): .*\n)*(?:Output:\n?)?"
)
_STARTS: Final = ("Chunk ID: ", "Exit code: ", "Wall time", "Command: ", "Script ")
_ABORTED: Final = re.compile(r"(?:Wall time.*\n)?(?:command )?aborted by user\b")
_BY_HUMAN: Final = re.compile(
    r"rejected by user(?! approval)|declined by user|denied by (?:the )?user"
)
_BY_RULE: Final = re.compile(
    r"rejected by user approval settings|approval policy is \w+; reject command"
    r"|blocked by policy|rejected: blocked|sandbox denied|forbidden by policy"
    r"|patch rejected: writing outside of the project|cannot ask for escalated permissions"
    r"|denied by (?:the )?(?:guardian|sandbox|policy)|auto-?review(?:er)? (?:denied|rejected)"
)
_REALLY_SANDBOX: Final = re.compile(
    r"Operation not permitted|Permission denied|Read-only file system|EPERM|EACCES"
    r"|Could not resolve host|Network is unreachable|name resolution"
)
_FAILED: Final = re.compile(
    r"(?:Script error:\s*)?(?:execution error|error:|Error:|err:|failed |exec_command failed"
    r"|command timed out"
    r"|apply_patch verification failed|unsupported call|unknown tool|collab \w+ failed"
    r"|tool call error|write_stdin failed|invalid )"
)
_INNER: Final = re.compile(r"sandbox denied exec error, exit code: (-?\d+), stdout: ")


def returned(output: Any) -> Returned:
    """Return what an output of any shape says."""
    if isinstance(output, str):
        return _returned_text(output)
    if isinstance(output, list):
        return _returned_parts(output)
    if isinstance(output, Mapping):
        return _returned_object(output)
    return Returned("" if output is None else str(output))


def _returned_text(text: str) -> Returned:
    if text.startswith('{"'):
        found = _object(text)
        if found is not None and ("output" in found or "exit_code" in found):
            return _returned_object(found)
    if text.startswith(_STARTS):
        header = _HEADER.match(text)
        if header and header.end():
            code = header["exit"] or header["code"] or (1 if header["script"] == "failed" else None)
            rest = text[header.end() :]
            return _ended(rest, code, header["run"] or "", rest)
    return _ended(text, None, "", text)


def _object(text: str) -> dict[str, Any] | None:
    try:
        found = msgspec.json.decode(text)
    except (msgspec.MsgspecError, RecursionError):
        return None
    return found if isinstance(found, dict) else None


def _returned_object(output: Mapping[str, Any]) -> Returned:
    inner = output.get("output", output.get("content", output.get("stdout")))
    about = output.get("metadata")
    code = output.get("exit_code", about.get("exit_code") if isinstance(about, Mapping) else None)
    text = inner if isinstance(inner, str) else joined(output)
    if isinstance(inner, list):
        return _returned_parts(inner)
    failed = output.get("success") is False or output.get("is_error") is True
    running = str(output.get("session_id") or "") if code is None else ""
    return _ended(text, 1 if failed and code is None else code, running, text)


_BAD: Final = (ResultStatus.OK, ResultStatus.ERROR, ResultStatus.DENIED)


def _returned_parts(parts: list[Any]) -> Returned:
    """Join the parts of an output; a script's parts may each be a result, and the worst counts."""
    inner = [_returned_text(text) for text in map(_part_text, parts) if text]
    if not inner:
        return Returned("")
    worst = max(inner, key=lambda part: _BAD.index(part.status))
    text = "\n".join(part.text for part in inner if part.text.strip())
    return worst._replace(text=text, running=next((p.running for p in inner if p.running), ""))


def _part_text(part: Any) -> str:
    if isinstance(part, Mapping):
        text = part.get("text")
        return text if isinstance(text, str) else ""
    return part if isinstance(part, str) else ""


def _ended(text: str, code: Any, running: str, whole: str) -> Returned:
    """Judge an end by its exit code, else by the words it begins with."""
    if code is not None and str(code) not in ("0", "0.0"):
        return Returned(text, ResultStatus.ERROR)
    if code is not None or running:
        return Returned(text, running=running)
    start = whole[:400]
    if _ABORTED.match(start):
        return Returned(text, ResultStatus.DENIED, Denier.HUMAN, aborted=True)
    if len(whole) < 2_000 and (_FAILED.match(start) or len(whole) < 200):
        if _BY_RULE.search(start) and not _INNER.search(start):
            return Returned(text, ResultStatus.DENIED, Denier.RULE)
        if _BY_HUMAN.search(start):
            return Returned(text, ResultStatus.DENIED, Denier.HUMAN)
    inner = _INNER.search(start)
    if inner:
        denied = _REALLY_SANDBOX.search(whole)
        status = ResultStatus.DENIED if denied else ResultStatus.ERROR
        text = text[inner.end() :].removeprefix(", stderr: ")
        return Returned(text, status, Denier.RULE if denied else None)
    return Returned(text, ResultStatus.ERROR if _FAILED.match(start) else ResultStatus.OK)
