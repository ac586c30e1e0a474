"""A stand-in for the Responses API, beside the one for Messages that other tests use as well."""

from __future__ import annotations

import json
from http.server import BaseHTTPRequestHandler
from typing import Any

from tests.backends.loopback import MessagesApi, Step, event


class ResponsesApi(MessagesApi):
    """Serves steps in turn; a WebSocket, which Codex tries first, is declined at once."""

    def _handler(self, steps: list[Step]) -> type[BaseHTTPRequestHandler]:
        handler = super()._handler(steps)

        def decline(asked: BaseHTTPRequestHandler) -> None:
            asked.send_response(426)
            asked.send_header("content-length", "0")
            asked.end_headers()

        handler.do_GET = decline  # type: ignore[attr-defined] # as the base class looks it up
        return handler


def responded(*items: dict[str, Any], tokens: tuple[int, int] = (10, 20)) -> Step:
    """Return a whole streamed response with these items."""
    usage = {
        "input_tokens": tokens[0],
        "input_tokens_details": {"cached_tokens": 0},
        "output_tokens": tokens[1],
        "output_tokens_details": {"reasoning_tokens": 0},
        "total_tokens": sum(tokens),
    }
    response = {"id": "resp_1", "object": "response", "status": "completed", "output": list(items)}
    chunks = [event("response.created", response={**response, "output": [], "usage": None})]
    for index, item in enumerate(items):
        chunks.append(event("response.output_item.added", output_index=index, item=item))
        chunks.append(event("response.output_item.done", output_index=index, item=item))
    chunks.append(event("response.completed", response={**response, "usage": usage}))
    return Step(headers={"content-type": "text/event-stream"}, chunks=tuple(chunks))


def message(text: str) -> dict[str, Any]:
    """Return the item that says a text."""
    content = [{"type": "output_text", "text": text, "annotations": []}]
    about = {"type": "message", "id": "msg_1", "role": "assistant", "status": "completed"}
    return {**about, "content": content}


def call(name: str, arguments: dict[str, Any] | str) -> dict[str, Any]:
    """Return the item that calls a tool; one that is given a text is a custom tool."""
    about = {"id": f"fc_{name}", "call_id": f"call_{name}", "name": name}
    if isinstance(arguments, str):
        return {"type": "custom_tool_call", **about, "input": arguments}
    return {"type": "function_call", **about, "arguments": json.dumps(arguments)}


def refused(status: int, **error: Any) -> Step:
    """Return an error as the API sends it."""
    body = json.dumps({"error": {"message": "no", **error}}).encode()
    return Step(status=status, headers={"content-type": "application/json"}, chunks=(body,))
