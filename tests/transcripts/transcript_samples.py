"""Small transcripts for these tests, and a plain view of the sessions they become."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterable
from itertools import pairwise
from pathlib import Path
from typing import Any

from dreaming.models.session import Session, Turn
from dreaming.transcripts.claude_code import ClaudeCodeParser
from dreaming.transcripts.codex import CodexParser
from dreaming.transcripts.interface import Block, Parser
from dreaming.transcripts.jsonl import JsonlParser

DATA = Path(__file__).parents[1] / "data" / "transcripts"
PARSERS: dict[str, Callable[[Path], Parser]] = {
    "claude-code": ClaudeCodeParser,
    "codex": CodexParser,
    "jsonl": JsonlParser,
}


def read(agent: str, data: bytes, *, path: str = "p/s.jsonl", cuts: Iterable[int] = ()) -> Session:
    """Return the session that ``data`` becomes, handed over in blocks cut at these bytes."""
    parser = PARSERS[agent](Path(path))
    places = [0, *sorted(cuts), len(data)]
    for start, end in pairwise(places):
        parser.feed(Block(data[start:end], 1 + data.count(b"\n", 0, start)))
    return parser.finish()


def jsonl(*records: Any) -> bytes:
    """Return records as the lines of a transcript."""
    return b"".join(json.dumps(record).encode() + b"\n" for record in records)


def shown(session: Session) -> str:
    """Return a session as plain text, one turn a line."""
    head = f"{session.agent} {session.native_id} {session.kind} version={session.version}"
    lines = [f"{head} kin={','.join(session.kin)} repository={session.repository}"]
    return "\n".join([*lines, *(_shown_turn(turn) for turn in session.turns)]) + "\n"


def _shown_turn(turn: Turn) -> str:
    told = [f"{turn.line:>3} {turn.kind} by {turn.speaker}"]
    if turn.tool_name:
        told.append(f"{turn.tool}({turn.tool_name})")
    if turn.status:
        told.append(f"{turn.status}" + (f" by {turn.denier}" if turn.denier else ""))
    for name in ("action", "before", "after", "text", "record", "folder"):
        if getattr(turn, name):
            told.append(f"{name}={getattr(turn, name)!r}")
    return " ".join([*told, f"at={turn.at:.0f}"])


def user(text: Any, number: int = 1, **more: Any) -> dict[str, Any]:
    """Return a Claude Code record in the user's role."""
    return {
        "type": "user",
        "uuid": f"u{number}",
        "sessionId": "s",
        "timestamp": "2026-05-04T10:00:00.000Z",
        "cwd": "/srv/shop",
        "version": "2.1.99",
        "message": {"role": "user", "content": text},
        **more,
    }


def answer(*blocks: dict[str, Any], number: int = 1, **more: Any) -> dict[str, Any]:
    """Return a Claude Code record of the model."""
    return {
        "type": "assistant",
        "uuid": f"a{number}",
        "sessionId": "s",
        "message": {"id": f"m{number}", "role": "assistant", "model": "m", "content": list(blocks)},
        **more,
    }


def call(name: str = "Bash", number: int = 1, **given: Any) -> dict[str, Any]:
    """Return a block that calls a tool."""
    return {"type": "tool_use", "id": f"t{number}", "name": name, "input": given}


def result(text: Any, number: int = 1, *, error: bool | None = None, **more: Any) -> dict[str, Any]:
    """Return a Claude Code record with what a tool returned."""
    block = {"type": "tool_result", "tool_use_id": f"t{number}", "content": text}
    if error is not None:
        block["is_error"] = error
    return user([block], 1000 + number, **more)


def codex(kind: str, /, **payload: Any) -> dict[str, Any]:
    """Return a wrapped Codex line."""
    return {"timestamp": "2026-05-04T10:00:00.000Z", "type": kind, "payload": payload}


def head(identity: str = "t1", **more: Any) -> dict[str, Any]:
    """Return the head of a Codex thread."""
    return codex("session_meta", id=identity, cwd="/srv/shop", cli_version="0.99.0", **more)


def said(text: str, role: str = "user", **more: Any) -> dict[str, Any]:
    """Return a Codex message."""
    kind = "output_text" if role == "assistant" else "input_text"
    content = [{"type": kind, "text": text}]
    return codex("response_item", type="message", role=role, content=content, **more)
