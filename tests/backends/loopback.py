"""A stand-in for the Anthropic Messages API and for OpenAI-compatible servers on 127.0.0.1.

Scripted step by step. Where an answer holds ``WORD``, it says the word of the question there.
"""

from __future__ import annotations

import json
import re
import threading
from collections.abc import Callable, Mapping
from contextlib import suppress
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from types import TracebackType
from typing import Any, Final

import msgspec

WORD: Final = "%WORD%"
NOTHING: Final = json.dumps({"read": WORD, "findings": []})
"""The answer of a model that found nothing."""

_ASKED_BACK: Final = re.compile(r'"read": "([a-z]{5}-[a-z]{5})"')


class Seen(msgspec.Struct, frozen=True):
    """A request as it arrived."""

    path: str
    headers: dict[str, str]
    body: dict[str, Any]


class Step(msgspec.Struct, frozen=True):
    """What the server does with one request."""

    status: int = 200
    headers: Mapping[str, str] = {}
    chunks: tuple[bytes, ...] = ()
    cut: bool = False
    """Hang up in the middle of the body."""
    hold: bool = False
    """Send nothing further until the server is closed."""
    drip: float = 0.0
    """Then go on sending signs of life, this many seconds apart."""


Script = Step | Callable[[dict[str, Any]], Step]
"""What a server does next; it may depend on the request's body."""


def failure(
    status: int,
    kind: str,
    message: str = "no",
    *,
    headers: Mapping[str, str] | None = None,
    code: str = "",
) -> Step:
    """Return a plain JSON error, as the API sends it."""
    details = {"details": {"error_code": code}} if code else {}
    body = {"type": "error", "error": {"type": kind, "message": message, **details}}
    given = {"content-type": "application/json", **(headers or {})}
    return Step(status=status, headers=given, chunks=(json.dumps(body).encode(),))


def event(kind: str, **fields: Any) -> bytes:
    """Return one server-sent event."""
    return f"event: {kind}\ndata: {json.dumps({'type': kind, **fields})}\n\n".encode()


def start(**usage: int) -> bytes:
    """Return the first event of an answer."""
    counts = {"input_tokens": 10, "output_tokens": 1, **usage}
    message: dict[str, Any] = {
        "id": "msg_1",
        "type": "message",
        "role": "assistant",
        "model": "claude-haiku-5-5",
        "content": [],
        "stop_reason": None,
        "usage": counts,
    }
    return event("message_start", message=message)


def block(kind: str = "text", **fields: Any) -> bytes:
    """Return the event that opens a piece of content."""
    content = {"type": kind, **({"text": ""} if kind == "text" else {}), **fields}
    return event("content_block_start", index=0, content_block=content)


def words(text: str) -> bytes:
    """Return the event that carries a piece of text."""
    return event("content_block_delta", index=0, delta={"type": "text_delta", "text": text})


def end(stop_reason: str | None = "end_turn", output: int = 20, **usage: int) -> bytes:
    """Return the closing events of an answer."""
    return (
        event("content_block_stop", index=0)
        + event(
            "message_delta",
            delta={"stop_reason": stop_reason, "stop_sequence": None},
            usage={"output_tokens": output, **usage},
        )
        + event("message_stop")
    )


def stream(*chunks: bytes, cut: bool = False, hold: bool = False, drip: float = 0.0) -> Step:
    """Return a streamed answer of these events."""
    given = {"content-type": "text/event-stream"}
    return Step(headers=given, chunks=chunks, cut=cut, hold=hold, drip=drip)


def said(*texts: str, stop_reason: str = "end_turn", **usage: int) -> Step:
    """Return a whole streamed answer that says these texts."""
    output = usage.pop("output_tokens", 20)
    middle = [words(text) for text in texts]
    return stream(start(**usage), block(), *middle, end(stop_reason, output))


def chat_failure(
    status: int, message: str, *, code: str = "", headers: Mapping[str, str] | None = None
) -> Step:
    """Return an error as an OpenAI-compatible server sends it."""
    body = {"error": {"message": message, "code": code or None}}
    given = {"content-type": "application/json", **(headers or {})}
    return Step(status=status, headers=given, chunks=(json.dumps(body).encode(),))


def piece(content: str | None = None, finish: str | None = None, **delta: Any) -> bytes:
    """Return one piece of a streamed chat completion."""
    part = {**({} if content is None else {"content": content}), **delta}
    choice = {"index": 0, "delta": part, "finish_reason": finish}
    return f"data: {json.dumps({'model': 'tiny', 'choices': [choice]})}\n\n".encode()


def counted(read: int = 10, written: int = 20) -> bytes:
    """Return the closing pieces of a chat completion."""
    usage = {"prompt_tokens": read, "completion_tokens": written}
    return f"data: {json.dumps({'choices': [], 'usage': usage})}\n\ndata: [DONE]\n\n".encode()


def chatted(*texts: str, finish: str = "stop", read: int = 10, written: int = 20) -> Step:
    """Return a whole streamed chat completion that says these texts."""
    return stream(*map(piece, texts), piece(finish=finish), counted(read, written))


def asked_word(prompt: str) -> str:
    """Return the word that a question asks back; empty where it asks for none."""
    found: list[str] = _ASKED_BACK.findall(prompt)
    return found[-1] if found else ""


class MessagesApi:
    """Serves the steps in turn, the last one for ever; ``seen`` holds what was asked."""

    def __init__(self, *steps: Script) -> None:
        self.seen: list[Seen] = []
        self._steps = list(steps)
        self._over = threading.Event()
        self._server = ThreadingHTTPServer(("127.0.0.1", 0), self._handler(self._steps))
        self._server.daemon_threads = True
        self._thread = threading.Thread(
            target=self._server.serve_forever, kwargs={"poll_interval": 0.01}, daemon=True
        )

    @property
    def url(self) -> str:
        """Where it listens."""
        return f"http://127.0.0.1:{self._server.server_address[1]}"

    def __enter__(self) -> MessagesApi:
        self._thread.start()
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        self._over.set()
        self._server.shutdown()
        self._server.server_close()
        self._thread.join()

    def script(self, *steps: Script) -> None:
        """Go on with these steps, and forget what was seen."""
        self._steps[:] = steps
        self.seen.clear()

    def _handler(self, steps: list[Any]) -> type[BaseHTTPRequestHandler]:
        api = self

        class Handler(BaseHTTPRequestHandler):
            protocol_version = "HTTP/1.1"

            def log_message(self, format: str, *args: object) -> None:
                """Keep quiet."""

            def do_POST(self) -> None:
                """Take the request down and do the next step."""
                length = int(self.headers["content-length"])
                body = json.loads(self.rfile.read(length))
                headers = {name.lower(): value for name, value in self.headers.items()}
                api.seen.append(Seen(self.path, headers, body))
                step = steps.pop(0) if len(steps) > 1 else steps[0]
                step = step if isinstance(step, Step) else step(body)
                with suppress(BrokenPipeError, ConnectionResetError):  # the client went first
                    api._serve(self, step, asked_word(json.dumps(body).replace("\\", "")).encode())
                self.close_connection = True

        return Handler

    def _serve(self, handler: BaseHTTPRequestHandler, step: Step, word: bytes) -> None:
        send: Callable[[bytes], object] = handler.wfile.write
        handler.send_response(step.status)
        for name, value in step.headers.items():
            handler.send_header(name, value)
        handler.send_header("connection", "close")
        handler.send_header("transfer-encoding", "chunked")
        handler.end_headers()
        for written in step.chunks:
            chunk = written.replace(WORD.encode(), word)
            send(b"%x\r\n%s\r\n" % (len(chunk), chunk))
        while step.drip and not self._over.wait(step.drip):
            send(b"d\r\nevent: ping\n\n\r\n")
        if step.hold:
            self._over.wait()
        elif not step.cut:
            send(b"0\r\n\r\n")
