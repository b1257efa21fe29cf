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



def more_for(model, surface):
    """What the case of a model adds to a request."""
    if not model.startswith("single/"):
        return {}
    one = {"tool_choice": {"type": "auto", "disable_parallel_tool_use": True}} if surface == "messages" else {"parallel_tool_calls": False}
    return {"extra_body": one}


def chat_request(model):
    return {"model": model, **CHAT, **more_for(model, "chat")}


def responses_request(model):
    return {"model": model, **RESPONSES, **more_for(model, "responses")}


def messages_request(model):
    return {"model": model, **MESSAGES, **more_for(model, "messages")}


def require_signature(model, signatures):
    """What the server signed must reach the client, unless it is of another vendor."""
    if "signed" in model and not server:
        assert "sig" in [signature for signature in signatures if signature], f"no signature: {signatures}"


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


def signature_of(call):
    return ((getattr(call, "extra_content", None) or {}).get("google") or {}).get("thought_signature")


def of_chat(completion, model):
    choice = completion.choices[0]
    require_end(choice.finish_reason, "tool_calls")
    calls = choice.message.tool_calls or []
    assert all(call.id and call.type == "function" for call in calls), "ids and types"
    require_signature(model, [signature_of(call) for call in calls])
    return parsed((call.function.name, call.function.arguments) for call in calls)


def chat_whole(model):
    return of_chat(ai.chat.completions.create(**chat_request(model)), model)


def chat_raw(model):
    calls, reason, signatures = {}, None, []
    for chunk in ai.chat.completions.create(stream=True, **chat_request(model)):
        for choice in chunk.choices:
            reason = choice.finish_reason or reason
            for call in choice.delta.tool_calls or []:
                signatures.append(signature_of(call))
                name, text = calls.setdefault(call.index, ["", ""])
                calls[call.index] = [name + (call.function.name or ""), text + (call.function.arguments or "")]
    require_end(reason, "tool_calls")
    assert list(calls) == list(range(len(calls))), "dense indices"
    require_signature(model, signatures)
    return parsed(calls.values())


def chat_helper(model):
    with ai.chat.completions.stream(**chat_request(model)) as stream:
        return of_chat(drained(stream).get_final_completion(), model)


def of_response(response, model):
    require_end(response.status, "completed")
    require_signature(model, [getattr(item, "encrypted_content", None) for item in response.output])
    items = [item for item in response.output if item.type == "function_call"]
    assert all(item.call_id for item in items), "call ids"
    return parsed((item.name, item.arguments) for item in items)


def responses_whole(model):
    return of_response(ai.responses.create(**responses_request(model)), model)


def responses_raw(model):
    items, last = [], None
    for event in ai.responses.create(stream=True, **responses_request(model)):
        if event.type == "response.output_item.done" and event.item.type == "function_call":
            assert event.item.call_id
            items.append((event.item.name, event.item.arguments))
        last = event.type
    require_end(last, "response.completed")
    return parsed(items)


def responses_helper(model):
    with ai.responses.stream(**responses_request(model)) as stream:
        return of_response(drained(stream).get_final_response(), model)


def of_message(message, model):
    require_end(message.stop_reason, "tool_use")
    require_signature(model, [getattr(block, "signature", None) for block in message.content])
    blocks = [block for block in message.content if block.type == "tool_use"]
    assert all(block.id for block in blocks), "ids"
    return parsed((block.name, block.input) for block in blocks)


def messages_whole(model):
    message = claude.messages.create(**messages_request(model))
    assert all(isinstance(block.input, dict) for block in message.content if block.type == "tool_use"), "inputs are objects"
    return of_message(message, model)


def messages_raw(model):
    calls, reason, over, signatures = [], None, False, []
    for event in claude.messages.create(stream=True, **messages_request(model)):
        if event.type == "content_block_start" and event.content_block.type == "tool_use":
            calls.append([event.content_block.name, ""])
        elif event.type == "content_block_delta" and event.delta.type == "input_json_delta":
            calls[-1][1] += event.delta.partial_json
        elif event.type == "content_block_delta" and event.delta.type == "signature_delta":
            signatures.append(event.delta.signature)
        elif event.type == "message_delta":
            reason = event.delta.stop_reason
        over = event.type == "message_stop"
    if reason != "tool_use" or not over:
        raise Unfinished(reason)
    require_signature(model, signatures)
    return parsed(calls)


def messages_helper(model):
    with claude.messages.stream(**messages_request(model)) as stream:
        return of_message(stream.get_final_message(), model)


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
        # Requests to Ollama cannot ask for one call at a time.
        if surface == "ollama" and case["case"].startswith("single/"):
            continue
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
