"""Runs every case through the Python clients of OpenAI, Anthropic and Ollama.

    sdk.py GATEWAY_URL UPSTREAM_URL [SURFACE]

With a surface, the cases of that surface are run through the clients of every surface: the gateway translates.

Prints one JSON line for each client and case: whether the calls are exactly those that are meant.
"""

import json
import sys
import urllib.request

import anthropic
import ollama
import openai

gateway, upstream = sys.argv[1:3]
server = sys.argv[3] if len(sys.argv) > 3 else None
SCHEMA = {
    "type": "object",
    "properties": {"title": {"type": "string"}, "text": {"type": "string"}, "lines": {"type": "integer"}},
    "required": ["title", "text", "lines"],
    "additionalProperties": False,
}
FUNCTION = {"name": "save_note", "description": "Saves a note.", "parameters": SCHEMA, "strict": True}
CHAT = {"messages": [{"role": "user", "content": "hi"}], "tools": [{"type": "function", "function": FUNCTION}]}
RESPONSES = {"input": "hi", "tools": [{"type": "function", **FUNCTION}]}
MESSAGES = {"messages": [{"role": "user", "content": "hi"}], "max_tokens": 100, "tools": [{"name": "save_note", "description": "Saves a note.", "input_schema": SCHEMA}]}

ai = openai.OpenAI(base_url=f"{gateway}/v1", api_key="x", max_retries=0)
claude = anthropic.Anthropic(base_url=gateway, api_key="x", max_retries=0)


class Unfinished(Exception):
    """The turn did not end in calls."""


def require_end(reason, wanted):
    if reason != wanted:
        raise Unfinished(reason)


def drained(stream):
    for _ in stream:
        pass
    return stream


def parsed(pairs):
    return [{"name": name, "arguments": json.loads(text) if isinstance(text, str) else text} for name, text in pairs]


def of_chat(completion):
    choice = completion.choices[0]
    require_end(choice.finish_reason, "tool_calls")
    calls = choice.message.tool_calls or []
    assert all(call.id and call.type == "function" for call in calls), "ids and types"
    return parsed((call.function.name, call.function.arguments) for call in calls)


def chat_whole(model):
    return of_chat(ai.chat.completions.create(model=model, **CHAT))


def chat_raw(model):
    calls, reason = {}, None
    for chunk in ai.chat.completions.create(model=model, stream=True, **CHAT):
        for choice in chunk.choices:
            reason = choice.finish_reason or reason
            for call in choice.delta.tool_calls or []:
                name, text = calls.setdefault(call.index, ["", ""])
                calls[call.index] = [name + (call.function.name or ""), text + (call.function.arguments or "")]
    require_end(reason, "tool_calls")
    assert list(calls) == list(range(len(calls))), "dense indices"
    return parsed(calls.values())


def chat_helper(model):
    with ai.chat.completions.stream(model=model, **CHAT) as stream:
        return of_chat(drained(stream).get_final_completion())


def of_response(response):
    require_end(response.status, "completed")
    items = [item for item in response.output if item.type == "function_call"]
    assert all(item.call_id for item in items), "call ids"
    return parsed((item.name, item.arguments) for item in items)


def responses_whole(model):
    return of_response(ai.responses.create(model=model, **RESPONSES))


def responses_raw(model):
    items, last = [], None
    for event in ai.responses.create(model=model, stream=True, **RESPONSES):
        if event.type == "response.output_item.done" and event.item.type == "function_call":
            assert event.item.call_id
            items.append((event.item.name, event.item.arguments))
        last = event.type
    require_end(last, "response.completed")
    return parsed(items)


def responses_helper(model):
    with ai.responses.stream(model=model, **RESPONSES) as stream:
        return of_response(drained(stream).get_final_response())


def of_message(message):
    require_end(message.stop_reason, "tool_use")
    blocks = [block for block in message.content if block.type == "tool_use"]
    assert all(block.id for block in blocks), "ids"
    return parsed((block.name, block.input) for block in blocks)


def messages_whole(model):
    message = claude.messages.create(model=model, **MESSAGES)
    assert all(isinstance(block.input, dict) for block in message.content if block.type == "tool_use"), "inputs are objects"
    return of_message(message)


def messages_raw(model):
    calls, reason, over = [], None, False
    for event in claude.messages.create(model=model, stream=True, **MESSAGES):
        if event.type == "content_block_start" and event.content_block.type == "tool_use":
            calls.append([event.content_block.name, ""])
        elif event.type == "content_block_delta" and event.delta.type == "input_json_delta":
            calls[-1][1] += event.delta.partial_json
        elif event.type == "message_delta":
            reason = event.delta.stop_reason
        over = event.type == "message_stop"
    if reason != "tool_use" or not over:
        raise Unfinished(reason)
    return parsed(calls)


def messages_helper(model):
    with claude.messages.stream(model=model, **MESSAGES) as stream:
        return of_message(stream.get_final_message())


llama = ollama.Client(host=gateway)


def ollama_calls(model, stream):
    parts = llama.chat(model=model, messages=CHAT["messages"], tools=CHAT["tools"], stream=stream)
    calls, last = [], None
    for part in parts if stream else [parts]:
        calls += [(call.function.name, dict(call.function.arguments)) for call in part.message.tool_calls or []]
        last = part
    if not last.done or last.done_reason != "stop" or not calls:
        raise Unfinished(last.done_reason)
    return parsed(calls)


CLIENTS = {
    ("chat", False): {"openai-python": chat_whole},
    ("chat", True): {"openai-python raw": chat_raw, "openai-python helper": chat_helper},
    ("responses", False): {"openai-python": responses_whole},
    ("responses", True): {"openai-python raw": responses_raw, "openai-python helper": responses_helper},
    ("messages", False): {"anthropic-python": messages_whole},
    ("messages", True): {"anthropic-python raw": messages_raw, "anthropic-python helper": messages_helper},
    ("ollama", False): {"ollama-python": lambda model: ollama_calls(model, False)},
    ("ollama", True): {"ollama-python": lambda model: ollama_calls(model, True)},
}



def clients_of(case):
    """The clients of a case, each with the name of what it does."""
    for (surface, stream), clients in CLIENTS.items():
        if stream == case["stream"] and (surface != case["surface"] if server else surface == case["surface"]):
            for client, run in clients.items():
                yield client, f"{surface} over {server}" if server else surface, run


for case in json.load(urllib.request.urlopen(f"{upstream}/cases")):
    if server not in (None, case["surface"]):
        continue
    for client, surface, run in clients_of(case):
        try:
            got = run(case["case"])
            # A stub carries what could not be read, and its tool rejects it: nothing runs.
            if any("__unparsedToolInput" in call["arguments"] for call in got):
                got = None
            why = None if got == case["calls"] and got else f"got {got}"
        except Exception as error:  # every way to fail is a finding
            got, why = None, f"{type(error).__name__}: {error}"
        # A turn that is broken must not look like one that is whole.
        ok = got is None if not case["calls"] else why is None
        print(json.dumps({"client": client, "surface": surface, "stream": case["stream"], "case": case["case"], "ok": ok, "why": None if ok else (why or "")[:600]}), flush=True)
