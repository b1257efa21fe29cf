"""Writes the corpus as records of the batch protocol, so that the packages can be compared with the command.

    python corpus/records.py FOLDER TOOLMEND

writes `FOLDER/POLICY.records` and the answers of the program TOOLMEND, `FOLDER/POLICY.answers`.
"""

import json
import subprocess
import sys
from pathlib import Path

CORPUS = Path(__file__).parent


def read_case(path):
    """Returns the header lines and the input of a case."""
    head, body = path.read_bytes().decode().split("--- input\n", 1)
    body = body.removesuffix("\n")
    text = body.rsplit("\n--- output\n", 1)[0] if "\n--- output\n" in body else body
    return dict(line.split(": ", 1) for line in head.splitlines()), text


def syntax_record(header, text):
    """Returns the record of a case in `syntax`."""
    if "tool" not in header:
        return {"json": text, **({"schema": json.loads(header["schema"])} if "schema" in header else {})}
    tool = {"name": header["tool"], "parameters": json.loads(header.get("schema", "null"))}
    return {"tool": header["tool"], "arguments": text, "tools": [tool]}


def dialect_record(header, text):
    """Returns the record of a case in `dialects`."""
    plain = ("dialect", "model", "calls")
    record = {"text": text, **{name: header[name] for name in plain if name in header}}
    if "tool_choice" in header:
        choice = header["tool_choice"]
        record["tool_choice"] = json.loads(choice) if choice.startswith("{") else choice
    if "response_format" in header:
        record["response_format"] = {"type": header["response_format"]}
    if "parallel_tool_calls" in header:
        record["parallel_tool_calls"] = header["parallel_tool_calls"] == "true"
    tools = header.get("tools")
    if tools is not None:
        file = CORPUS / "dialects/tools" / tools
        record["tools"] = json.loads(file.read_text() if tools.endswith(".json") else tools)
    if header.get("reasoning_open") == "true":
        record["reasoning_open"] = True
    return record


def all_records():
    """Yields the policy and the record of every case. Outputs of models are also yielded in pieces."""
    for path in sorted(CORPUS.glob("syntax/*.case")) + sorted(CORPUS.glob("dialects/*/*.case")):
        header, text = read_case(path)
        record = (syntax_record if path.parent.name == "syntax" else dialect_record)(header, text)
        record = {"id": str(path.relative_to(CORPUS)), **record}
        if "finish" in header:
            record["finish_reason"] = header["finish"]
        policy = header.get("policy", "balanced")
        yield policy, record
        if "text" in record:
            pieces = {**record, "id": record["id"] + " in pieces"}
            del pieces["text"]
            yield policy, {**pieces, "chunks": [text[at : at + 5] for at in range(0, len(text), 5)]}


def main(folder, program):
    by_policy = {}
    for policy, record in all_records():
        by_policy.setdefault(policy, []).append(record)
    for policy, records in by_policy.items():
        lines = "".join(json.dumps(record) + "\n" for record in records)
        (folder / f"{policy}.records").write_text(lines)
        answers = subprocess.run(
            [program, "batch", "--policy", policy], input=lines.encode(), stdout=subprocess.PIPE, check=True
        )
        (folder / f"{policy}.answers").write_bytes(answers.stdout)


if __name__ == "__main__":
    main(Path(sys.argv[1]), sys.argv[2])
