"""A scripted model server with chat completions over HTTP."""

from __future__ import annotations

import json
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import Any

TOOL = "read_file"
# Single quotes, a number in a string, and a trailing comma: three common mistakes.
BROKEN = "{'path': 'a.txt', 'limit': '30',}"
MENDED = {"path": "a.txt", "limit": 30}
# Truncated inside a value, so the rest is unknown.
TRUNCATED = '{"path": "a.t'
SCHEMA = {
    "type": "object",
    "properties": {"path": {"type": "string"}, "limit": {"type": "integer"}},
    "required": ["path", "limit"],
}
# Fields that belong together: one of them alone gets the default of the other, and the model a note.
RELATIONAL = {
    "type": "object",
    "properties": {"path": {"type": "string"}, "offset": {"type": "integer"}, "limit": {"type": "integer"}},
    "required": ["path"],
    "x-toolmend": {"relational": [{"fields": ["offset", "limit"], "default": {"offset": 0, "limit": 2000}}]},
}
HALF = "{'path': 'a.txt', 'limit': 30}"
FILLED = {"path": "a.txt", "limit": 30, "offset": 0}
NOTE = "Note: limit came without offset"
DEFINITION = {"type": "function", "function": {"name": TOOL, "description": "Reads.", "parameters": SCHEMA}}


def call_message(arguments: str) -> dict[str, Any]:
    """Returns a message that calls the tool."""
    function = {"name": TOOL, "arguments": arguments}
    return {"role": "assistant", "content": None, "tool_calls": [{"id": "c1", "type": "function", "function": function}]}


def content_message(text: str) -> dict[str, Any]:
    """Returns a message with content."""
    return {"role": "assistant", "content": text}


@contextmanager
def server(messages: list[dict[str, Any]]) -> Iterator[tuple[str, list[dict[str, Any]]]]:
    """Answers with these messages in order and then repeats the last one. Yields the base URL and the requests."""
    requests: list[dict[str, Any]] = []

    class Handler(BaseHTTPRequestHandler):
        def do_POST(self) -> None:
            body = json.loads(self.rfile.read(int(self.headers["Content-Length"])))
            message = messages[min(len(requests), len(messages) - 1)]
            requests.append(body)
            reason = "tool_calls" if message.get("tool_calls") else "stop"
            answer = {
                "id": "r",
                "object": "chat.completion",
                "created": 1,
                "model": body["model"],
                "choices": [{"index": 0, "message": message, "finish_reason": reason}],
                "usage": {"prompt_tokens": 1, "completion_tokens": 1, "total_tokens": 2},
            }
            data = json.dumps(answer).encode()
            self.send_response(200)
            self.send_header("Content-Type", "application/json")
            self.send_header("Content-Length", str(len(data)))
            self.end_headers()
            self.wfile.write(data)

        def log_message(self, *_: Any) -> None:
            pass

    http = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
    thread = threading.Thread(target=http.serve_forever, daemon=True)
    thread.start()
    try:
        yield f"http://127.0.0.1:{http.server_address[1]}/v1", requests
    finally:
        http.shutdown()
        http.server_close()
        thread.join()


def run_documented(heading: str, names: dict[str, Any]) -> dict[str, Any]:
    """Runs the code of `docs/hooks.md` under this heading and returns the names that it defines."""
    page = (Path(__file__).parents[4] / "docs/hooks.md").read_text()
    section = page.split(f"\n## {heading}\n", 1)[1].split("\n## ", 1)[0]
    code = section.split("```python\n", 1)[1].split("```", 1)[0]
    assert len(code.splitlines()) == 3, "the page promises three lines"
    exec(compile(code, f"hooks.md, {heading}", "exec"), names)
    return names
