"""A scripted model for coding agents and frameworks: it writes one file, with a call that is wrong in one way.

    scripted_model.py PORT

Speaks Chat Completions, Messages and Responses. The name of the model is the case of `faults.py`; the user's prompt names the
file, as `FILE=path`. The model repeats its fault until it is told about it, by the result of a call or by the user; then it
calls correctly. A passing fault happens once. The model believes that a file which is there is the file that it wrote.

`GET /cases` lists the cases, `GET /cases/NAME` returns what the file must hold, and `GET /asked/PATH` returns how often the
model was asked for a file. Only the standard library.
"""

import itertools
import json
import os
import re
import sys
from http.server import ThreadingHTTPServer

import upstream
from faults import CASES, Tool, write_call, write_right, write_text

# A client that never says what is wrong, or never writes the file, is stopped.
MAX_CALLS = 8
DONE = "Done."
# How turns end that do not end as they should.
ENDS = {name: name for name in ("http_500", "error_event", "silent_end", "reset")}
ENDS |= {"cut": "limit", "limit_after_call": "limit", "lost_call": "calls"}
# How many events of a stream come after the middle of its call.
EVENTS_AFTER_MIDDLE = {"chat": 3, "messages": 4, "responses": 4}
GONE = '{"error": {"message": "the model is gone", "type": "server_error"}}'
NUMBERS = itertools.count(1)


def tools_of(request):
    for tool in request.get("tools") or []:
        function = tool.get("function") or tool
        schema = function.get("parameters") or function.get("input_schema")
        if "name" in function and schema is not None:
            yield Tool(function["name"], schema)


def said_in(request):
    return json.dumps(request.get("messages", request.get("input")))


def roles_after_prompt(request):
    """Who said what after the prompt: a role for each message, call and result. Some clients begin with an example."""
    turns = request.get("messages", request.get("input"))
    turns = turns if isinstance(turns, list) else []
    for turn in itertools.dropwhile(lambda turn: "FILE=" not in json.dumps(turn), turns):
        kind = turn.get("type", "message")
        if kind != "message":
            yield "tool" if kind.endswith("_output") else "assistant"
            continue
        content = turn.get("content")
        results = isinstance(content, list) and any(block.get("type") == "tool_result" for block in content)
        yield "tool" if results else turn["role"]


def is_told(request):
    """Whether the client answered the model's call."""
    answers = list(itertools.dropwhile(lambda role: role != "assistant", roles_after_prompt(request)))
    # One framework leaves the call out, and adds its error to the prompt.
    has_error = "Error:\\n" in said_in(request).partition("FILE=")[2]
    return "tool" in answers or "user" in answers or has_error


def limit_of(request):
    return next((request[key] for key in ("max_tokens", "max_completion_tokens", "max_output_tokens") if request.get(key)), 0)


class Conversation:
    """What the model knows about one file."""

    def __init__(self, path, case):
        self.path, self.case = path, case
        self.asked = self.calls = self.limit = 0

    def answer(self, request, writers):
        """The name of a call, its arguments or the text, and how the turn ends if it does not end as it should."""
        self.asked += 1
        if os.path.exists(self.path):
            return None, DONE, None
        if self.calls == MAX_CALLS:
            return None, "I give up.", None
        self.calls += 1
        is_over = CASES[self.case].kind == "passing" and self.calls > 1
        limit = limit_of(request)
        self.limit = self.limit or limit
        has_more_room = self.case in ("cut", "limit_after_call") and limit > self.limit
        if is_told(request) or is_over or has_more_room:
            return *write_right(self.case, writers, self.path), None
        end = ENDS.get(self.case)
        if not writers:
            return None, write_text(self.case, self.path, self.case == "cut"), end
        return *write_call(self.case, writers[0], self.path), end


class Handler(upstream.Handler):
    conversations = {}

    def do_HEAD(self):
        self.answer(200, "text/plain", "")

    def do_GET(self):
        _, kind, name = (self.path + "//").split("/", 2)
        name = name.rstrip("/")
        if kind == "cases" and not name:
            lines = [f"{name}\t{case.kind}\t{case.title}\n" for name, case in CASES.items()]
            return self.answer(200, "text/plain", "".join(lines))
        if kind == "cases":
            return self.answer(200, "text/plain", CASES[name].text)
        if kind == "asked":
            conversation = self.conversations.get("/" + name)
            return self.answer(200, "text/plain", str(conversation.asked if conversation else 0))
        models = [{"id": name, "object": "model"} for name in CASES]
        self.answer(200, "application/json", json.dumps({"object": "list", "data": models}))

    def do_POST(self):
        request = json.loads(self.rfile.read(int(self.headers["content-length"])))
        surface = upstream.PATHS.get(self.path.split("?")[0])
        if surface is None:
            return self.answer(404, "application/json", '{"error": {"message": "no such path"}}')
        if not ("messages" in request or "input" in request):
            return self.answer(400, "application/json", '{"error": {"message": "messages are missing"}}')
        name, text, end = self.turn(request)
        # Two calls of a conversation must not have the same id.
        number = next(NUMBERS)
        renumber = lambda body: re.sub(r'"(call|toolu|fc|msg|resp)_1"', rf'"\1_{number}"', body)
        if end == "http_500" or (end in ("error_event", "silent_end", "reset") and not request.get("stream")):
            return self.answer(500, "application/json", GONE)
        if not request.get("stream"):
            return self.answer(200, "application/json", renumber(json.dumps(whole(surface, name, text, end))))
        body = renumber(stream(surface, name, text, end))
        self.answer_stream(body, end == "reset")

    def turn(self, request):
        said = said_in(request)
        found = re.search(r"FILE=([^\s\"\\]+)", said)
        tools = list(tools_of(request))
        writers = [tool for tool in tools if tool.is_writer()]
        case = request["model"]
        if not found or case not in CASES or not (writers or "file listing" in said):
            return None, "A title.", None
        path = found.group(1)
        conversation = self.conversations.setdefault(path, Conversation(path, case))
        name, text, end = conversation.answer(request, writers)
        # One framework wants the last words as a call.
        if text == DONE and any(tool.name == "final_answer" for tool in tools):
            return "final_answer", json.dumps({"answer": text}), None
        return name, text, end


def stream(surface, name, text, end):
    events = upstream.STREAMS[surface](name, text)
    if end in ("error_event", "silent_end", "reset"):
        events = events[: -EVENTS_AFTER_MIDDLE[surface]] + ([error_of(surface)] if end == "error_event" else [])
    elif end and surface == "chat":
        events[-2] = upstream.chunk({}, REASONS[surface][end])
    elif end and surface == "messages":
        events[-2] = upstream.ended(REASONS[surface][end])
    elif end == "limit":
        events[-1] = {**events[-1], "type": "response.incomplete", "response": incomplete(events[-1]["response"])}
    return upstream.sse(events, surface != "chat")


REASONS = {"chat": {"limit": "length", "calls": "tool_calls"}, "messages": {"limit": "max_tokens", "calls": "tool_use"}}


def error_of(surface):
    error = json.loads(GONE)["error"]
    errors = {"chat": {"error": error}, "messages": {"type": "error", "error": {**error, "type": "api_error"}}}
    return errors.get(surface) or {"type": "error", "code": "server_error", "message": error["message"], "param": None, "sequence_number": 9}


def whole(surface, name, text, end):
    if surface == "messages" and name:
        text = read_object(text)
    answer = upstream.WHOLES[surface](name, text)
    if end and surface == "chat":
        answer["choices"][0]["finish_reason"] = REASONS[surface][end]
    elif end and surface == "messages":
        answer["stop_reason"] = REASONS[surface][end]
    elif end == "limit":
        answer = incomplete(answer)
    return answer


def incomplete(response):
    return {**response, "status": "incomplete", "incomplete_details": {"reason": "max_output_tokens"}}


def read_object(text):
    try:
        return json.loads(text)
    except ValueError:
        return text


if __name__ == "__main__":
    server = ThreadingHTTPServer(("127.0.0.1", int(sys.argv[1])), Handler)
    server.daemon_threads = True
    server.serve_forever()
