"""A scripted model for coding agents: it writes one file with a broken call, and is done.

    agents.py PORT

Speaks chat completions only. The name of the model says which file it writes and how the call is broken; the user's prompt
says where, as `FILE=path`. `GET /cases/NAME` tells what the file must hold; nothing where it must not be there.
Only the standard library.
"""

import json
import os
import re
import sys
from http.server import ThreadingHTTPServer

import upstream

HTML = '<!doctype html>\n<p class="note" title=\'it\'>She said "hi", didn\'t she?</p>\n<script>let a = ["x", {"y": "z"}];</script>\n'
NOTES = 'first line\n\tsecond "quoted" line\n\nlast: 100% & {done}\n'
WINDOWS = 'cd C:\\Users\\dev\\Qt\\docs\ncopy C:\\Users\\dev\\*.md D:\\Save\nset P="C:\\Program Files\\Qt"\n'
TEXTS = {"html": HTML, "newlines": NOTES, "windows": WINDOWS, "in_text": HTML, "bare_keys": NOTES, "cut": None}
# What the agents call the tool that writes a file, or runs a command that does.
WRITERS = ("write", "exec_command", "editor")


def call(tool, path, case):
    """The name of the tool and its arguments, broken."""
    content = HTML if case == "cut" else TEXTS[case]
    name = tool["name"]
    if "cmd" in tool["keys"]:
        members = {"cmd": f"cat > '{path}' <<'END'\n{content}END\n"}
    else:
        key = next(key for key in ("file_path", "filePath", "path") if key in tool["keys"])
        members = {key: path, ("new_text" if "new_text" in tool["keys"] else "content"): content}
    if case == "bare_keys":
        inner = ", ".join(f"{key}: {json.dumps(value)}" for key, value in members.items())
        return name, "{" + inner + ",}"
    if case == "in_text":
        return name, json.dumps(members)
    # As models write it: nothing is escaped.
    text = "{" + ", ".join(f'"{key}": "{value}"' for key, value in members.items())
    return name, text[: len(text) - len(text) // 3] if case == "cut" else text + "}"


def listing(path, case):
    """The file as text, for clients that read it there: its name, and what it holds between fences."""
    content = HTML if case == "cut" else TEXTS[case]
    text = f"Here it is.\n\n{os.path.basename(path)}\n```\n{content}```\n"
    return {"text": text[: len(text) - len(text) // 3] if case == "cut" else text, "cut": case == "cut"}


def tools_of(request):
    for tool in request.get("tools") or []:
        function = tool["function"]
        yield {"name": function["name"], "keys": list(function.get("parameters", {}).get("properties", {}))}


class Handler(upstream.Handler):
    asked = {}

    def do_GET(self):
        if self.path.startswith("/cases/"):
            return self.answer(200, "text/plain", TEXTS[self.path.rsplit("/", 1)[1]] or "")
        self.answer(200, "application/json", '{"object": "list", "data": [{"id": "html", "object": "model"}]}')

    def do_POST(self):
        body = json.loads(self.rfile.read(int(self.headers["content-length"])))
        if self.path.split("?")[0] != "/v1/chat/completions":
            return self.answer(404, "application/json", '{"error": {"message": "no such path"}}')
        if "messages" not in body:
            return self.answer(400, "application/json", '{"error": {"message": "messages are missing"}}')
        turn = self.turn(body)
        if body.get("stream"):
            return self.answer(200, "text/event-stream", stream(turn))
        self.answer(200, "application/json", whole(turn))

    def turn(self, body):
        text = json.dumps(body["messages"])
        found = re.search(r"FILE=([^\s\"\\]+)", text)
        writers = [tool for tool in tools_of(body) if tool["name"].lower() in WRITERS]
        if not found or not (writers or "file listing" in text):
            return {"text": "A title."}
        path, case = found.group(1), body["model"]
        count = self.asked[path] = self.asked.get(path, 0) + 1
        if count > 1:
            return {"text": "Done."}
        if not writers:
            return listing(path, case)
        name, arguments = call(writers[0], path, case)
        if case == "in_text":
            return {"text": f'I write it.\n<tool_call>\n{{"name": "{name}", "arguments": {arguments}}}\n</tool_call>'}
        return {"name": name, "arguments": arguments, "cut": case == "cut"}


def whole(turn):
    message = {"role": "assistant", "content": turn.get("text")}
    reason = "length" if turn.get("cut") else "stop"
    if "name" in turn:
        message["tool_calls"] = [{"id": "call_1", "type": "function", "function": {"name": turn["name"], "arguments": turn["arguments"]}}]
        reason = "length" if turn["cut"] else "tool_calls"
    return json.dumps({"id": "c1", "object": "chat.completion", "created": 1, "model": "m", "choices": [{"index": 0, "message": message, "finish_reason": reason}], "usage": {"prompt_tokens": 9, "completion_tokens": 9, "total_tokens": 18}})


def stream(turn):
    def chunk(delta, reason=None):
        choice = {"index": 0, "delta": delta, "finish_reason": reason}
        return "data: " + json.dumps({"id": "c1", "object": "chat.completion.chunk", "created": 1, "model": "m", "choices": [choice]}) + "\n\n"

    out = chunk({"role": "assistant", "content": ""})
    if "name" not in turn:
        text = turn["text"]
        out += "".join(chunk({"content": text[at : at + 6]}) for at in range(0, len(text), 6))
        out += chunk({}, "length" if turn.get("cut") else "stop")
    else:
        text = turn["arguments"]
        out += chunk({"tool_calls": [{"index": 0, "id": "call_1", "type": "function", "function": {"name": turn["name"], "arguments": ""}}]})
        out += "".join(chunk({"tool_calls": [{"index": 0, "function": {"arguments": text[at : at + 9]}}]}) for at in range(0, len(text), 9))
        out += chunk({}, "length" if turn["cut"] else "tool_calls")
    return out + "data: [DONE]\n\n"


if __name__ == "__main__":
    server = ThreadingHTTPServer(("127.0.0.1", int(sys.argv[1])), Handler)
    server.daemon_threads = True
    server.serve_forever()
