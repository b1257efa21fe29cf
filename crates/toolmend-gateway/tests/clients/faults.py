"""What the scripted model of `scripted_model.py` writes: one file, with one call that is wrong in one way.

Every case has a kind, a title and the text that the file must hold. `write_call` breaks the call.
"""

import json
import os
from collections import namedtuple

HTML = '<!doctype html>\n<p class="note" title=\'it\'>She said "hi", didn\'t she?</p>\n<script>let a = ["x", {"y": "z"}];</script>\n'
NOTES = 'first line\n\tsecond "quoted" line\n\nlast: 100% & {done}\n'
WINDOWS = 'cd C:\\Users\\dev\\Qt\\docs\ncopy C:\\Users\\dev\\*.md D:\\Save\nset P="C:\\Program Files\\Qt"\n'
NUMBER = "8080"

Case = namedtuple("Case", "kind title text")

# Kinds: a `valid` call, a fault that can be `repaired`, one that only the model can correct (`reported`), and one that is gone
# when the client asks again (`passing`).
CASES = {
    "valid": Case("valid", "valid call", HTML),
    "html": Case("repaired", "quotes in HTML are not escaped", HTML),
    "newlines": Case("repaired", "raw newlines in a string", NOTES),
    "windows": Case("repaired", "Windows paths are not escaped", WINDOWS),
    "bare_keys": Case("repaired", "keys without quotes, and a comma at the end", NOTES),
    "wrong_type": Case("repaired", "a value of another type", NUMBER),
    "fence": Case("repaired", "arguments in a Markdown fence", HTML),
    "double_encoded": Case("repaired", "arguments encoded twice", HTML),
    "wrong_case": Case("repaired", "the tool's name in capitals", HTML),
    "in_text": Case("repaired", "JSON call as the text of the answer", HTML),
    "hermes": Case("repaired", "Hermes call in text", HTML),
    "qwen": Case("repaired", "Qwen 3 Coder call in text", HTML),
    "gemma": Case("repaired", "Gemma 4 call in text", HTML),
    "missing_argument": Case("reported", "a required argument is missing", HTML),
    "unknown_tool": Case("reported", "a tool that does not exist", HTML),
    "unfit_type": Case("reported", "a value of a type that nothing converts", HTML),
    "unfinished": Case("reported", "unfinished JSON, although the model stopped", HTML),
    "prose": Case("reported", "prose for arguments", HTML),
    "empty": Case("reported", "no arguments at all", HTML),
    "cut": Case("reported", "truncated at the token limit", HTML),
    "limit_after_call": Case("reported", "a complete call, then the token limit", HTML),
    "lost_call": Case("reported", "the server announces a call and sends none", HTML),
    "http_500": Case("passing", "status 500", HTML),
    "error_event": Case("passing", "an error in the middle of a call", HTML),
    "silent_end": Case("passing", "the stream ends in the middle of a call", HTML),
    "reset": Case("passing", "the connection breaks in the middle of a call", HTML),
}


class Tool:
    """A tool that writes a file, or runs a command that does."""

    NAMES = ("write", "write_file", "exec_command", "editor")

    def __init__(self, name, schema):
        self.name = name
        self.properties = (schema or {}).get("properties") or {}

    def is_writer(self):
        return self.name.lower() in self.NAMES

    def runs_commands(self):
        return "cmd" in self.properties

    def members(self, path, text):
        """The arguments of a call that writes the text."""
        if self.runs_commands():
            end = "" if text.endswith("\n") else "\n"
            trim = "" if text.endswith("\n") else f"; truncate -s -1 '{path}'"
            return {"cmd": f"cat > '{path}' <<'END'{trim}\n{text}{end}END\n"}
        key = next(key for key in ("file_path", "filePath", "filepath", "path") if key in self.properties)
        return {key: path, ("new_text" if "new_text" in self.properties else "content"): text}


def unescaped(members):
    """JSON as models write it: nothing is escaped."""
    return "{" + ", ".join(f'"{key}": "{value}"' for key, value in members.items()) + "}"


def with_wrong_type(tool, members):
    if tool.runs_commands():
        return json.dumps({**members, "yield_time_ms": "1000"})
    path, text = members
    return json.dumps({**members, text: int(members[text])})


def with_unfit_type(members):
    first = next(iter(members))
    return json.dumps({**members, first: [7, 8]})


def without_argument(tool, members):
    first = next(iter(members))
    return json.dumps({"yield_time_ms": 1000} if tool.runs_commands() else {first: members[first]})


def cut(text):
    return text[: len(text) - len(text) // 3]


def hermes(name, members):
    return f'<tool_call>\n{json.dumps({"name": name, "arguments": members})}\n</tool_call>'


def qwen(name, members):
    inner = "".join(f"<parameter={key}>\n{value}\n</parameter>\n" for key, value in members.items())
    return f"<tool_call>\n<function={name}>\n{inner}</function>\n</tool_call>"


def gemma(name, members):
    inner = ",".join(f'{key}:<|"|>{value}<|"|>' for key, value in members.items())
    return f"<|tool_call>call:{name}{{{inner}}}<tool_call|>"


def write_call(case, tool, path):
    """The name and the arguments of a call, wrong in the way of the case. A call without a name is text."""
    members = tool.members(path, CASES[case].text)
    good = json.dumps(members)
    bare = "{" + ", ".join(f"{key}: {json.dumps(value)}" for key, value in members.items()) + ",}"
    texts = {
        "html": lambda: unescaped(members),
        "newlines": lambda: unescaped(members),
        "windows": lambda: unescaped(members),
        "bare_keys": lambda: bare,
        "wrong_type": lambda: with_wrong_type(tool, members),
        "fence": lambda: f"```json\n{good}\n```",
        "double_encoded": lambda: json.dumps(good),
        "empty": lambda: "",
        "missing_argument": lambda: without_argument(tool, members),
        "unknown_tool": lambda: good,
        "unfit_type": lambda: with_unfit_type(members),
        "unfinished": lambda: cut(good),
        "prose": lambda: "I will do that for you right away, as you asked.",
        "cut": lambda: cut(good),
    }
    names = {"unknown_tool": "store_document", "wrong_case": tool.name.upper()}
    forms = {
        "in_text": lambda: json.dumps({"name": tool.name, "arguments": members}),
        "hermes": lambda: "I write it.\n" + hermes(tool.name, members),
        "qwen": lambda: "I write it.\n" + qwen(tool.name, members),
        "gemma": lambda: gemma(tool.name, members),
        "lost_call": lambda: "I write it now.",
    }
    if case in forms:
        return None, forms[case]()
    return names.get(case, tool.name), texts.get(case, lambda: good)()


def write_text(case, path, is_cut=False):
    """The file as text, for clients that read it there: its name, and what it holds between fences."""
    text = f"Here it is.\n\n{os.path.basename(path)}\n```\n{CASES[case].text}```\n"
    return cut(text) if is_cut else text


def write_right(case, writers, path):
    """What the model should have written."""
    if not writers:
        return None, write_text(case, path)
    return writers[0].name, json.dumps(writers[0].members(path, CASES[case].text))
