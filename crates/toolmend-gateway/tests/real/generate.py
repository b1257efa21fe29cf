"""Generations with tools from a real model, through the gateway.

    generate.py GATEWAY_URL COUNT

A model this small does not plan; what it writes is broken in its own ways, which is what it is here for. Whatever
comes out: no markup in the content, arguments that are JSON objects, no call whose arguments do not fit unless the
answer is labelled as refused, no stream without an end. An example that the model shows between fences, with words
after it, and an element that names no tool are text for people: they stay, and are counted apart.
"""

import concurrent.futures
import json
import re
import sys
import time
import urllib.error
import urllib.request

gateway, count = sys.argv[1], int(sys.argv[2])
TOOLS = {
    "get_weather": {"type": "object", "properties": {"city": {"type": "string"}, "days": {"type": "integer"}}, "required": ["city"], "additionalProperties": False},
    "write_file": {"type": "object", "properties": {"path": {"type": "string"}, "content": {"type": "string"}}, "required": ["path", "content"], "additionalProperties": False},
    "run": {"type": "object", "properties": {"cmd": {"type": "string"}}, "required": ["cmd"], "additionalProperties": False},
}
LIST = [{"type": "function", "function": {"name": name, "parameters": schema}} for name, schema in TOOLS.items()]
MARKERS = ["<tool_call>", "</tool_call>", "<function=", "</function>", "<parameter=", "[TOOL_CALLS]", "<|python_tag|>"]
WISHES = ["How is the weather in Oslo?", "Write <b>hi</b> into a.html.", "Count the lines of *.py.", 'Write {"a": "b"} to c.json.', "Weather in Rome for 3 days."]
# One example for each way of writing: the model goes on in the same way.
EXAMPLES = {
    "hermes": '<tool_call>\n{"name": "get_weather", "arguments": {"city": "Paris"}}\n</tool_call>',
    "qwen-xml": "<tool_call>\n<function=get_weather>\n<parameter=city>\nParis\n</parameter>\n</function>\n</tool_call>",
    "mistral": '[TOOL_CALLS][{"name": "get_weather", "arguments": {"city": "Paris"}}]',
    "llama": '<|python_tag|>{"name": "get_weather", "parameters": {"city": "Paris"}}',
}


def fits(schema, value):
    kinds = {"string": str, "integer": int}
    return (
        isinstance(value, dict)
        and all(name in value for name in schema["required"])
        and all(name in schema["properties"] and isinstance(value[name], kinds[schema["properties"][name]["type"]]) for name in value)
    )


def post(body):
    request = urllib.request.Request(f"{gateway}/v1/chat/completions", json.dumps(body).encode(), {"content-type": "application/json"})
    try:
        return urllib.request.urlopen(request, timeout=300)
    except urllib.error.HTTPError as error:
        raise SystemExit(f"{error}: {error.read().decode()}") from error


def whole(body):
    with post(body) as response:
        choice = json.load(response)["choices"][0]
        told = response.headers["x-toolmend"]
    message = choice["message"]
    calls = [(call["function"]["name"], call["function"]["arguments"]) for call in message.get("tool_calls") or []]
    return message.get("content") or "", calls, choice["finish_reason"], told


def streamed(body):
    text, calls, reason, told, over = "", {}, None, "clean", False
    with post({**body, "stream": True}) as response:
        for line in response:
            line = line.decode().rstrip("\n")
            if line.startswith(": toolmend "):
                told = line.removeprefix(": toolmend ")
            if not line.startswith("data: "):
                continue
            data = line.removeprefix("data: ")
            if data == "[DONE]":
                over = True
                continue
            event = json.loads(data)
            assert "error" not in event, event
            for choice in event["choices"]:
                text += choice["delta"].get("content") or ""
                reason = choice.get("finish_reason") or reason
                for call in choice["delta"].get("tool_calls") or []:
                    name, so_far = calls.get(call["index"], ("", ""))
                    calls[call["index"]] = (name + (call["function"].get("name") or ""), so_far + (call["function"].get("arguments") or ""))
    assert over, "a stream without an end"
    return text, list(calls.values()), reason, told


def generation(number):
    """One generation: what is wrong with it, whether it shows a call, its calls that run and that do not, and its label."""
    style = list(EXAMPLES)[number % len(EXAMPLES)]
    wish = WISHES[number // len(EXAMPLES) % len(WISHES)]
    messages = [
        {"role": "system", "content": "Call a tool. Tools: get_weather(city, days), write_file(path, content), run(cmd). Answer with the call alone."},
        {"role": "user", "content": "How is the weather in Paris?"},
        {"role": "user", "content": f"The answer is written like this:\n{EXAMPLES[style]}\n\n{wish}"},
    ]
    body = {"model": "smollm2", "messages": messages, "tools": LIST, "max_tokens": 80, "temperature": [0, 0.5, 1.0][number % 3], "seed": number}
    content, calls, reason, told = (streamed if number % 2 else whole)(body)
    plain = re.sub(r"```.*?(```|$)|<function>.*?</function>", "", content, flags=re.DOTALL)
    bad = [f"{number} ({style}): {marker} in the content: {content!r}" for marker in MARKERS if marker in plain]
    shown = any(marker in content for marker in MARKERS) and not bad
    outcome, refused = told.split(";")[0], 0
    for name, text in calls:
        try:
            value = json.loads(text)
        except ValueError:
            value = None
        if name in TOOLS and fits(TOOLS[name], value):
            continue
        # The client gets a call that the schema of its tool rejects, so that the model tries again.
        refused += 1
        if not isinstance(value, dict) or outcome.split()[-1] not in ("rejected", "truncated"):
            bad.append(f"{number} ({style}): {name}({text})")
    if calls and reason not in ("tool_calls", "length"):
        bad.append(f"{number} ({style}): calls, and the turn ends with {reason}")
    return bad, shown, (len(calls) - refused, refused), outcome


def wait_for_the_model(patience=120):
    """The server listens before it has read its weights."""
    started = time.monotonic()
    while True:
        try:
            return urllib.request.urlopen(f"{gateway}/health", timeout=30).read()
        except urllib.error.HTTPError as error:
            if error.code != 503 or time.monotonic() - started > patience:
                raise SystemExit(f"the model is not ready: {error}") from error
        time.sleep(0.2)


wait_for_the_model()
bad, examples, ran, refused, outcomes = [], 0, 0, 0, {}
# The server has two slots.
with concurrent.futures.ThreadPoolExecutor(2) as pool:
    for number, (wrong, shown, calls, outcome) in enumerate(pool.map(generation, range(count)), 1):
        bad += wrong
        examples += shown
        ran, refused = ran + calls[0], refused + calls[1]
        outcomes[outcome] = outcomes.get(outcome, 0) + 1
        if number % 20 == 0:
            print(f"{number} of {count}", file=sys.stderr, flush=True)
for line in bad:
    print(line, file=sys.stderr)
print(f"{count} generations, {ran} calls, {refused} refused, outcomes {outcomes}, {examples} shown, {len(bad)} broken", file=sys.stderr)
sys.exit(1 if bad else 0)
