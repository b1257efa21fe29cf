"""A scripted model server: the name of the model says how the answer is broken.

    upstream.py PORT

`GET /cases` lists the cases of each surface with the calls that a client must end up with. Only the standard library.
"""

import json
import sys
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer

NAME = "save_note"
GOOD = {"title": "Plan", "text": "Buy milk", "lines": 2}
ARGS = json.dumps(GOOD)
CALL = {"name": NAME, "arguments": GOOD}
OTHER = {"title": "Rest", "text": "Sleep", "lines": 1}


def noted(text):
    return [{"name": NAME, "arguments": {**GOOD, "text": text}}]


# Argument faults: the name, the text, the calls that are meant. A text without a name is a call in text.
FAULTS = {
    "trailing_comma": (NAME, '{"title": "Plan", "text": "Buy milk", "lines": 2,}', [CALL]),
    "single_quotes": (NAME, "{'title': 'Plan', 'text': 'Buy milk', 'lines': 2}", [CALL]),
    "raw_newline": (NAME, '{"title": "Plan", "text": "Buy milk\nand bread", "lines": 2}', noted("Buy milk\nand bread")),
    "inner_quote": (NAME, '{"title": "Plan", "text": "say "hi" now", "lines": 2}', noted('say "hi" now')),
    "unquoted_key": (NAME, '{title: "Plan", text: "Buy milk", lines: 2}', [CALL]),
    "bad_escape": (NAME, '{"title": "Plan", "text": "match \\d+ here", "lines": 2}', noted("match \\d+ here")),
    "fence": (NAME, "```json\n" + ARGS + "\n```", [CALL]),
    # A number at the end might go on, so a string is last.
    "missing_brace": (NAME, '{"lines": 2, "title": "Plan", "text": "Buy milk"', [CALL]),
    "double_encoded": (NAME, json.dumps(ARGS), [CALL]),
    "two_objects": (NAME, ARGS + json.dumps(OTHER), [CALL, {"name": NAME, "arguments": OTHER}]),
    "prose": (NAME, "Sure! Here it is: " + ARGS, [CALL]),
    "text_dialect": (None, "I write it down.\n<tool_call>\n" + json.dumps(CALL) + "\n</tool_call>", [CALL]),
    "wrong_case": ("Save_Note", ARGS, [CALL]),
}


def halves(text):
    middle = max(1, len(text) // 2)
    return [text[:middle], text[middle:]]


def sse(events, named=True):
    out = ""
    for event in events:
        if isinstance(event, str):
            out += event
            continue
        if named:
            out += f"event: {event['type']}\n"
        out += f"data: {json.dumps(event)}\n\n"
    return out


# --- chat completions -------------------------------------------------------------------------------------------


def chunk(delta, reason=None, **more):
    choice = {"index": 0, "delta": delta, "finish_reason": reason}
    return {"id": "c1", "object": "chat.completion.chunk", "created": 1, "model": "m", "choices": [choice], **more}


ROLE = {"role": "assistant", "content": ""}
DONE = "data: [DONE]\n\n"


def entry(index=0, id="call_1", type="function", name=NAME, arguments="", **more):
    function = {}
    if name is not None:
        function["name"] = name
    if arguments is not None:
        function["arguments"] = arguments
    out = {"index": index, "id": id, "type": type, "function": function, **more}
    return {key: value for key, value in out.items() if value is not None}


def calls(*entries):
    return {"tool_calls": list(entries)}


def rest(arguments, index=0, **more):
    return calls(entry(index=index, id=None, type=None, name=None, arguments=arguments, **more))


def chat_stream(name, text):
    if name is None:
        parts = [text[i : i + 5] for i in range(0, len(text), 5)]
        return [chunk(ROLE)] + [chunk({"content": part}) for part in parts] + [chunk({}, "stop"), DONE]
    left, right = halves(text)
    return [chunk(ROLE), chunk(calls(entry(name=name))), chunk(rest(left)), chunk(rest(right)), chunk({}, "tool_calls"), DONE]


EMOJI = "Buy \U0001f600 milk"


def emoji_halves(escaped):
    """Arguments with an emoji, cut in the middle of it: as two escapes of the arguments, or as two of the event around them."""
    text = json.dumps({**GOOD, "text": EMOJI}, ensure_ascii=escaped)
    if escaped:
        at = text.index("\\ude00")
        return [text[:at], text[at:]]
    left, right = text.split("\U0001f600")
    return [left + "\ud83d", "\ude00" + right]


SIGNATURE = {"google": {"thought_signature": "sig"}}
# Arguments that have to be repaired, so that the call around them is written again.
LOOSE = ARGS[:-1] + ",}"


def chat_wire():
    left, right = halves(ARGS)
    start, end = chunk(ROLE), [chunk({}, "tool_calls"), DONE]
    two = [CALL, CALL]
    once = chunk(calls(entry(arguments=ARGS)))
    return {
        "no_id": ([start, chunk(calls(entry(id=None))), chunk(rest(left)), chunk(rest(right))] + end, [CALL]),
        "no_type": ([start, chunk(calls(entry(type=None))), chunk(rest(left)), chunk(rest(right))] + end, [CALL]),
        "no_index": ([start, chunk(calls(entry(index=None))), chunk(rest(left, index=None)), chunk(rest(right, index=None))] + end, [CALL]),
        "no_role": ([chunk(calls(entry())), chunk(rest(left)), chunk(rest(right))] + end, [CALL]),
        "index_from_1": ([start, chunk(calls(entry(index=1))), chunk(rest(ARGS, index=1))] + end, [CALL]),
        "same_index": ([start, once, chunk(calls(entry(id="call_2", arguments=ARGS)))] + end, two),
        "interleaved": (
            [start, chunk(calls(entry())), chunk(calls(entry(index=1, id="call_2"))), chunk(rest(left)), chunk(rest(left, index=1)), chunk(rest(right)), chunk(rest(right, index=1))] + end,
            two,
        ),
        "name_repeated": ([start, chunk(calls(entry(arguments=left))), chunk(calls(entry(arguments=right)))] + end, [CALL]),
        "id_repeated": ([start, chunk(calls(entry(arguments=left))), chunk(calls(entry(name=None, arguments=right)))] + end, [CALL]),
        "empty_name_later": ([start, chunk(calls(entry(arguments=left))), chunk(calls(entry(id=None, name="", arguments=right)))] + end, [CALL]),
        "name_split": ([start, chunk(calls(entry(name="save_"))), chunk(calls(entry(id=None, type=None, name="note", arguments=ARGS)))] + end, [CALL]),
        "name_late": ([start, chunk(calls(entry(name=None, arguments=left))), chunk(calls(entry(id=None, arguments=right)))] + end, [CALL]),
        "one_chunk": ([start, once] + end, [CALL]),
        "one_chunk_with_reason": ([start, chunk(calls(entry(arguments=ARGS)), "tool_calls"), DONE], [CALL]),
        "object": ([start, chunk(calls(entry(arguments=GOOD)))] + end, [CALL]),
        "stop": ([start, once, chunk({}, "stop"), DONE], [CALL]),
        "function_call": ([start, once, chunk({}, "function_call"), DONE], [CALL]),
        "no_reason": ([start, once, DONE], [CALL]),
        "no_done": ([start, once, chunk({}, "tool_calls")], [CALL]),
        "empty_choices": ([start, {"id": "c1", "object": "chat.completion.chunk", "choices": [], "odd": {"a": 1}}, once] + end, [CALL]),
        "text_before": ([start, chunk({"content": "Let me see, "}), chunk({"content": "now."}), once] + end, [CALL]),
        "text_after": ([start, once, chunk({"content": "Done, I think."})] + end, [CALL]),
        "comment": ([": hello\n\n", start, ": more\n\n", once] + end, [CALL]),
        "unknown_event": ([start, 'event: server.note\ndata: {"a": 1}\n\n', once] + end, [CALL]),
        "extra_fields": ([start, chunk(calls(entry(arguments=ARGS, odd=[1])), odd=1)] + end, [CALL]),
        "older_form_too": ([start, chunk({"function_call": {"name": NAME, "arguments": ARGS}, **calls(entry(arguments=ARGS))})] + end, [CALL]),
        "snapshots": ([start, chunk(calls(entry(arguments=left))), chunk(calls(entry(arguments=ARGS))), chunk(calls(entry(arguments=ARGS)))] + end, [CALL]),
        "late_id": ([start, chunk(calls(entry(id=None, arguments=left))), chunk(calls(entry(type=None, name=None, arguments=right)))] + end, [CALL]),
        "parallel": ([start, once, chunk(calls(entry(index=1, id="call_2", arguments=left))), chunk(rest(right, index=1))] + end, two),
        "emoji_in_events": ([start, chunk(calls(entry()))] + [chunk(rest(part)) for part in emoji_halves(False)] + end, noted(EMOJI)),
        "emoji_in_escapes": ([start, chunk(calls(entry()))] + [chunk(rest(part)) for part in emoji_halves(True)] + end, noted(EMOJI)),
        "signed": ([start, chunk(calls(entry(arguments=LOOSE, extra_content=SIGNATURE)))] + end, [CALL]),
        "no_end": ([start, chunk(calls(entry())), chunk(rest(left)), chunk(rest(right))], [CALL]),
        "replay_at_end": ([start, chunk(calls(entry(arguments=left))), chunk(rest(right)), chunk(rest(ARGS))] + end, [CALL]),
    }


def chat_whole(name, arguments, reason="tool_calls", **more):
    if name is None:
        message = {"role": "assistant", "content": arguments}
        reason = "stop"
    else:
        message = {"role": "assistant", "content": None, "tool_calls": [{"id": "call_1", "type": "function", "function": {"name": name, "arguments": arguments}, **more}]}
    return {"id": "c1", "object": "chat.completion", "created": 1, "model": "m", "choices": [{"index": 0, "message": message, "finish_reason": reason}], "usage": {"prompt_tokens": 1, "completion_tokens": 1, "total_tokens": 2}}


# --- messages ----------------------------------------------------------------------------------------------------

USAGE = {"input_tokens": 1, "output_tokens": 1}


def message(content, reason=None):
    return {"id": "msg_1", "type": "message", "role": "assistant", "model": "m", "content": content, "stop_reason": reason, "stop_sequence": None, "usage": USAGE}


START = {"type": "message_start", "message": message([])}


def opened(block, index=0):
    return {"type": "content_block_start", "index": index, "content_block": block}


def used(id="toolu_1", name=NAME, **more):
    return {"type": "tool_use", "id": id, "name": name, "input": {}, **more}


def partial(text, index=0):
    return {"type": "content_block_delta", "index": index, "delta": {"type": "input_json_delta", "partial_json": text}}


def said(text, index=0):
    return {"type": "content_block_delta", "index": index, "delta": {"type": "text_delta", "text": text}}


def thought(text, index=0):
    delta = lambda delta: {"type": "content_block_delta", "index": index, "delta": delta}
    start = opened({"type": "thinking", "thinking": "", "signature": ""}, index)
    return [start, delta({"type": "thinking_delta", "thinking": text}), delta({"type": "signature_delta", "signature": "sig"}), closed(index)]


def closed(index=0):
    return {"type": "content_block_stop", "index": index}


def ended(reason="tool_use"):
    return {"type": "message_delta", "delta": {"stop_reason": reason, "stop_sequence": None}, "usage": {"output_tokens": 5}}


OVER = {"type": "message_stop"}


def messages_stream(name, text):
    if name is None:
        parts = [text[i : i + 5] for i in range(0, len(text), 5)]
        return [START, opened({"type": "text", "text": ""})] + [said(part) for part in parts] + [closed(), ended("end_turn"), OVER]
    left, right = halves(text)
    return [START, opened(used(name=name)), partial(left), partial(right), closed(), ended(), OVER]


def messages_wire():
    left, right = halves(ARGS)
    call = [opened(used()), partial(left), partial(right), closed()]
    end = [ended(), OVER]
    bare = {"type": "message_start", "message": {key: value for key, value in START["message"].items() if key != "usage"}}
    no_input = {key: value for key, value in used().items() if key != "input"}
    two = [CALL, CALL]
    return {
        "no_event_line": (("unnamed", [START] + call + end), [CALL]),
        "no_message_start": (call + end, [CALL]),
        "no_usage": ([bare] + call + end, [CALL]),
        "no_input": ([START, opened(no_input)] + call[1:] + end, [CALL]),
        "full_input": ([START, opened({**used(), "input": GOOD}), closed()] + end, [CALL]),
        "one_delta": ([START, opened(used()), partial(ARGS), closed()] + end, [CALL]),
        "parallel": ([START] + call + [opened(used("toolu_2"), 1), partial(ARGS, 1), closed(1)] + end, two),
        "interleaved": ([START, opened(used()), opened(used("toolu_2"), 1), partial(left), partial(left, 1), partial(right), partial(right, 1), closed(), closed(1)] + end, two),
        "index_from_1": ([START, opened(used(), 1), partial(ARGS, 1), closed(1)] + end, [CALL]),
        "text_before": ([START, opened({"type": "text", "text": ""}), said("Let me "), said("see."), closed(), opened(used(), 1), partial(ARGS, 1), closed(1)] + end, [CALL]),
        "thinking_before": (
            [START] + thought("hm, now") + [opened(used(), 1), partial(ARGS, 1), closed(1)] + end,
            [CALL],
        ),
        "emoji_in_events": ([START, opened(used())] + [partial(part) for part in emoji_halves(False)] + [closed()] + end, noted(EMOJI)),
        "emoji_in_escapes": ([START, opened(used())] + [partial(part) for part in emoji_halves(True)] + [closed()] + end, noted(EMOJI)),
        "signed": ([START] + thought("hm, now") + [opened(used(), 1), partial(LOOSE, 1), closed(1)] + end, [CALL]),
        "no_end": ([START] + call, [CALL]),
        "no_end_of_block": ([START] + call[:-1], [CALL]),
        "no_block_stop": ([START] + call[:-1] + end, [CALL]),
        "no_message_delta": ([START] + call + [OVER], [CALL]),
        "no_message_stop": ([START] + call + [ended()], [CALL]),
        "no_id": ([START, opened({key: value for key, value in used().items() if key != "id"})] + call[1:] + end, [CALL]),
        "end_turn": ([START] + call + [ended("end_turn"), OVER], [CALL]),
    }


def messages_whole(name, text, reason="tool_use"):
    if name is None:
        return message([{"type": "text", "text": text}], "end_turn")
    return message([{**used(name=name), "input": text}], reason)


# --- responses ---------------------------------------------------------------------------------------------------


def response(output, status="completed"):
    return {
        "id": "resp_1", "object": "response", "created_at": 1, "status": status, "model": "m", "output": output, "error": None, "incomplete_details": None,
        "instructions": None, "metadata": {}, "parallel_tool_calls": True, "temperature": 1, "tool_choice": "auto", "tools": [], "top_p": 1,
        "usage": {"input_tokens": 1, "input_tokens_details": {"cached_tokens": 0}, "output_tokens": 1, "output_tokens_details": {"reasoning_tokens": 0}, "total_tokens": 2},
    }


def item(arguments, name=NAME, status="completed"):
    return {"type": "function_call", "id": "fc_1", "call_id": "call_1", "name": name, "arguments": arguments, "status": status}


def spoken(text):
    return {"type": "message", "id": "msg_1", "role": "assistant", "status": "completed", "content": [{"type": "output_text", "text": text, "annotations": []}]}


def numbered(events):
    return [event if isinstance(event, str) else {**event, "sequence_number": at} for at, event in enumerate(events)]


def responses_events(name, text):
    begin = [{"type": "response.created", "response": response([], "in_progress")}, {"type": "response.in_progress", "response": response([], "in_progress")}]
    if name is None:
        at = {"item_id": "msg_1", "output_index": 0, "content_index": 0}
        parts = [text[i : i + 5] for i in range(0, len(text), 5)]
        return numbered(
            begin
            + [{"type": "response.output_item.added", "output_index": 0, "item": {**spoken(""), "content": [], "status": "in_progress"}}]
            + [{"type": "response.content_part.added", **at, "part": {"type": "output_text", "text": "", "annotations": []}}]
            + [{"type": "response.output_text.delta", **at, "delta": part, "logprobs": []} for part in parts]
            + [{"type": "response.output_text.done", **at, "text": text, "logprobs": []}]
            + [{"type": "response.content_part.done", **at, "part": spoken(text)["content"][0]}]
            + [{"type": "response.output_item.done", "output_index": 0, "item": spoken(text)}]
            + [{"type": "response.completed", "response": response([spoken(text)])}]
        )
    left, right = halves(text)
    at = {"item_id": "fc_1", "output_index": 0}
    return numbered(
        begin
        + [{"type": "response.output_item.added", "output_index": 0, "item": item("", name, "in_progress")}]
        + [{"type": "response.function_call_arguments.delta", **at, "delta": part} for part in (left, right)]
        + [{"type": "response.function_call_arguments.done", **at, "name": name, "arguments": text}]
        + [{"type": "response.output_item.done", "output_index": 0, "item": item(text, name)}]
        + [{"type": "response.completed", "response": response([item(text, name)])}]
    )


def two_items():
    """A response of two calls: its items and its events."""
    items = [item(ARGS), {**item(json.dumps(OTHER)), "id": "fc_2", "call_id": "call_2"}]
    first = responses_events(NAME, ARGS)
    second = [{**event, "output_index": 1} for event in responses_events(NAME, json.dumps(OTHER))[2:-1]]
    renamed = json.loads(json.dumps(second).replace('"fc_1"', '"fc_2"').replace('"call_1"', '"call_2"'))
    return items, numbered(first[:-1] + renamed + [{"type": "response.completed", "response": response(items)}])


def pieces_of_item(parts):
    """The events of a response whose call arrives in these pieces."""
    base = responses_events(NAME, "".join(parts).encode("utf-16", "surrogatepass").decode("utf-16"))
    deltas = [{"type": "response.function_call_arguments.delta", "item_id": "fc_1", "output_index": 0, "delta": part} for part in parts]
    return numbered(base[:3] + deltas + base[5:])


def without(value, *keys):
    if isinstance(value, dict):
        return {key: without(inner, *keys) for key, inner in value.items() if key not in keys}
    if isinstance(value, list):
        return [without(inner, *keys) for inner in value]
    return value


def responses_wire():
    base = responses_events(NAME, ARGS)
    not_of = lambda *kinds: [event for event in base if event["type"].removeprefix("response.") not in kinds]
    of = lambda *kinds: [event for event in base if event["type"].removeprefix("response.") in kinds]
    empty = base[:-1] + [{**base[-1], "response": response([])}]
    other_id = base[:-1] + [{**base[-1], "response": {**base[-1]["response"], "id": "resp_2"}}]
    as_object = [
        {**event, "arguments": GOOD} if "arguments" in event else {**event, "item": {**event["item"], "arguments": GOOD}} if event["type"].endswith("item.done") else event
        for event in base
    ]
    return {
        "no_call_id": (without(base, "call_id"), [CALL]),
        "no_event_line": (("unnamed", base), [CALL]),
        "no_sequence_number": (without(base, "sequence_number"), [CALL]),
        "no_output_index": (without(base, "output_index", "sequence_number"), [CALL]),
        "no_created": (not_of("created", "in_progress"), [CALL]),
        "minimal": (of("output_item.done", "completed"), [CALL]),
        "no_item_added": (not_of("output_item.added"), [CALL]),
        "no_deltas": (not_of("function_call_arguments.delta"), [CALL]),
        "no_arguments_done": (not_of("function_call_arguments.done"), [CALL]),
        "no_item_done": (not_of("output_item.done"), [CALL]),
        "only_completed": (of("completed"), [CALL]),
        "empty_output": (empty, [CALL]),
        "no_usage": (without(base, "usage"), [CALL]),
        "other_response_id": (other_id, [CALL]),
        "done_after_completed": (base + [DONE], [CALL]),
        "parallel": (two_items()[1], [CALL, {"name": NAME, "arguments": OTHER}]),
        "emoji_in_events": (pieces_of_item(emoji_halves(False)), noted(EMOJI)),
        "emoji_in_escapes": (pieces_of_item(emoji_halves(True)), noted(EMOJI)),
        "no_end": (base[:-1], [CALL]),
        "no_end_of_item": (base[:-3], [CALL]),
        "keepalive": (base[:3] + [{"type": "keepalive", "sequence_number": 3}] + base[3:], [CALL]),
        "object": (as_object, [CALL]),
    }


# --- the server ---------------------------------------------------------------------------------------------------

WIRE = {"chat": chat_wire(), "messages": messages_wire(), "responses": responses_wire()}
WHOLE_WIRE = {
    "chat": {
        "object": (chat_whole(NAME, GOOD), [CALL]),
        "stop": (chat_whole(NAME, ARGS, "stop"), [CALL]),
        "function_call": (chat_whole(NAME, ARGS, "function_call"), [CALL]),
    },
    "messages": {"input_as_text": (messages_whole(NAME, ARGS), [CALL]), "end_turn": (messages_whole(NAME, GOOD, "end_turn"), [CALL])},
    "responses": {"object": (response([item(GOOD)]), [CALL]), "no_call_id": (without(response([item(ARGS)]), "call_id"), [CALL])},
}
STREAMS = {"chat": chat_stream, "messages": messages_stream, "responses": responses_events}
WHOLES = {
    "chat": chat_whole,
    "messages": messages_whole,
    "responses": lambda name, text: response([spoken(text) if name is None else item(text, name)]),
}
# Two calls for a client that wants one at a time.
TWO_CALLS = {
    "chat": {
        True: [chunk(ROLE), chunk(calls(entry(arguments=ARGS))), chunk(calls(entry(index=1, id="call_2", arguments=json.dumps(OTHER)))), chunk({}, "tool_calls"), DONE],
        False: {**chat_whole(NAME, ARGS), "choices": [{"index": 0, "finish_reason": "tool_calls", "message": {"role": "assistant", "content": None, "tool_calls": [{"id": f"call_{at}", "type": "function", "function": {"name": NAME, "arguments": json.dumps(text)}} for at, text in enumerate((GOOD, OTHER))]}}]},
    },
    "messages": {
        True: [START, opened(used()), partial(ARGS), closed(), opened(used("toolu_2"), 1), partial(json.dumps(OTHER), 1), closed(1), ended(), OVER],
        False: message([{**used(), "input": GOOD}, {**used("toolu_2"), "input": OTHER}], "tool_use"),
    },
    "responses": {True: two_items()[1], False: response(two_items()[0])},
}
# Answers in the other form: as a whole for a stream, as a stream for a whole answer. What only the vendor knows stays.
SIGNED_WHOLES = {
    "chat": chat_whole(NAME, LOOSE, extra_content=SIGNATURE),
    "messages": message([{"type": "thinking", "thinking": "hm", "signature": "sig"}, {**used(), "input": GOOD}], "tool_use"),
    "responses": response([{"type": "reasoning", "id": "rs_1", "summary": [{"type": "summary_text", "text": "hm"}], "encrypted_content": "sig"}, item(LOOSE)]),
}
PATHS = {"/v1/chat/completions": "chat", "/v1/messages": "messages", "/v1/responses": "responses"}
# Turns that are not whole: no call may come out of them.
BROKEN = ["error_event", "silent_end", "reset", "http_500", "cut", "half_emoji"]


def cases():
    out = []
    for surface in STREAMS:
        for stream in (False, True):
            add = lambda name, expected: out.append({"surface": surface, "stream": stream, "case": name, "calls": expected})
            for name, (_, _, expected) in FAULTS.items():
                add(f"fault/{name}", expected)
            for name, (_, expected) in (WIRE if stream else WHOLE_WIRE)[surface].items():
                add(f"wire/{name}", expected)
            for name in BROKEN if stream else ["http_500", "cut"]:
                add(f"broken/{name}", [])
            add("single/two_calls", [CALL])
            add("form/other", [CALL])
            if stream:
                add("form/other_signed", [CALL])
    return out


def broken_stream(surface, kind):
    if kind == "cut":
        text = '{"title": "Plan", "text": "Buy mi'
        events = STREAMS[surface](NAME, text)
        if surface == "chat":
            events[-2] = chunk({}, "length")
        elif surface == "messages":
            events[-2] = ended("max_tokens")
        else:
            last = events[-1]
            events[-1] = {**last, "type": "response.incomplete", "response": {**last["response"], "status": "incomplete", "incomplete_details": {"reason": "max_output_tokens"}}}
        return events
    if kind == "half_emoji":
        return STREAMS[surface](NAME, '{"title": "Plan", "text": "Buy \\ud83d milk", "lines": 2}')
    if kind == "silent_end":
        return STREAMS[surface](NAME, ARGS[:-9])[: -3 if surface != "chat" else -2]
    events = STREAMS[surface](NAME, ARGS)[: -3 if surface != "chat" else -2]
    if kind == "error_event":
        error = {"message": "the model is gone", "type": "server_error"}
        events.append(
            {
                "chat": {"error": error},
                "messages": {"type": "error", "error": {"type": "api_error", "message": "the model is gone"}},
                "responses": {"type": "error", "code": "server_error", "message": "the model is gone", "param": None, "sequence_number": 9},
            }[surface]
        )
    return events


class Handler(BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"

    def log_message(self, *_):
        pass

    def answer(self, status, kind, body):
        body = body.encode()
        self.send_response(status)
        self.send_header("content-type", kind)
        self.send_header("content-length", str(len(body)))
        self.end_headers()
        self.wfile.write(body)

    def answer_stream(self, body, is_reset):
        """Sends a stream. One that is reset promises more bytes than it has."""
        if not is_reset:
            return self.answer(200, "text/event-stream", body)
        self.send_response(200)
        self.send_header("content-type", "text/event-stream")
        self.send_header("content-length", str(len(body) + 100))
        self.end_headers()
        self.wfile.write(body.encode())
        self.close_connection = True

    def do_GET(self):
        self.answer(200, "application/json", json.dumps(cases()))

    def do_POST(self):
        request = json.loads(self.rfile.read(int(self.headers["content-length"])))
        surface = PATHS[self.path.split("?")[0]]
        family, _, name = request["model"].partition("/")
        named = surface != "chat"
        if family == "form" and request.get("stream"):
            whole = SIGNED_WHOLES[surface] if name.endswith("signed") else WHOLES[surface](NAME, GOOD if surface == "messages" else ARGS)
            return self.answer(200, "application/json", json.dumps(whole))
        if family == "form":
            return self.answer(200, "text/event-stream", sse(STREAMS[surface](NAME, ARGS), named))
        if request.get("stream"):
            if family == "single":
                events = TWO_CALLS[surface][True]
            elif family == "fault":
                events = STREAMS[surface](*FAULTS[name][:2])
            elif family == "wire":
                events = WIRE[surface][name][0]
                if isinstance(events, tuple):
                    named, events = False, events[1]
            else:
                return self.broken(surface, name)
            return self.answer(200, "text/event-stream", sse(events, named))
        if family == "broken" and name == "http_500":
            return self.answer(500, "application/json", '{"error": {"message": "out of memory", "type": "server_error"}}')
        if family == "single":
            whole = TWO_CALLS[surface][False]
        elif family == "broken":
            text = '{"title": "Plan", "text": "Buy mi'
            whole = WHOLES[surface](NAME, text)
        else:
            whole = WHOLES[surface](*FAULTS[name][:2]) if family == "fault" else WHOLE_WIRE[surface][name][0]
        self.answer(200, "application/json", json.dumps(whole))

    def broken(self, surface, name):
        if name == "http_500":
            return self.answer(500, "application/json", '{"error": {"message": "out of memory", "type": "server_error"}}')
        body = sse(broken_stream(surface, name), surface != "chat")
        self.answer_stream(body, name == "reset")


if __name__ == "__main__":
    server = ThreadingHTTPServer(("127.0.0.1", int(sys.argv[1])), Handler)
    server.daemon_threads = True
    server.serve_forever()
