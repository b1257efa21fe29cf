"""Every case of the corpus gives what the command answers."""

import json
import os
from pathlib import Path
from typing import Any

import pytest

import toolmend

# Written by `corpus/records.py`; `cargo xtask packages` says where.
FOLDER = Path(os.environ.get("TOOLMEND_CORPUS", Path(__file__).parents[3] / "target/packages/corpus"))


def answer(record: dict[str, Any], policy: Any) -> dict[str, Any]:
    """What the package makes of a record."""
    reason = record.get("finish_reason")
    if "json" in record:
        verdict = toolmend.fix(record["json"], record.get("schema"), policy=policy, finish_reason=reason)
        return verdict.to_dict()
    mender = toolmend.Mender(record.get("tools"), policy=policy, lenient=True)
    if "tool" in record:
        fields = mender.mend(record["tool"], record["arguments"], finish_reason=reason).to_dict()
        return fields | ({"tool": record["tool"]} if "tool" not in fields else {})
    options = {name: record[name] for name in ("dialect", "model", "reasoning_open") if name in record}
    said = ("tool_choice", "response_format", "parallel_tool_calls", "calls")
    options["request"] = {name: record[name] for name in said if name in record}
    if "text" in record:
        fields = mender.turn(record["text"], finish_reason=reason, **options).to_dict()
    else:
        fields = read_stream(mender.stream(**options), record["chunks"], reason)
    notes = fields.get("notes", []) + mender.notes
    return fields | ({"notes": notes} if notes else {})


def read_stream(stream: toolmend.Stream, chunks: list[str], reason: str | None) -> dict[str, Any]:
    """Returns the fields of a turn, built from the events of a stream."""
    events = [event for chunk in chunks for event in stream.push(chunk)] + stream.finish(reason)
    text = {kind: "".join(it.text or "" for it in events if it.type == kind) for kind in ("content", "reasoning")}
    calls = [event.call for event in events if event.call is not None]
    notes = [event.text for event in events if event.type == "note"]
    removed = [{"kind": event.text} for event in events if event.type == "removed"]
    order = ["clean", "mended", "truncated", "rejected"]
    outcomes = [call.outcome for call in calls] + ["mended" for _ in removed]
    return {
        "outcome": max(outcomes, key=order.index, default="clean"),
        "content": text["content"],
        "calls": [call.to_dict() for call in calls],
        **({"reasoning": text["reasoning"]} if text["reasoning"] else {}),
        **({"notes": notes} if notes else {}),
        **({"repairs": removed} if removed else {}),
    }


def in_pieces(wanted: dict[str, Any]) -> dict[str, Any]:
    """What the events of a stream say: removed text by its kind, and no verdict on the whole content."""
    fields = {name: value for name, value in wanted.items() if not name.startswith("content_")}
    repairs = [{"kind": repair["kind"]} for repair in wanted.get("repairs", [])]
    return fields | ({"repairs": repairs} if repairs else {})


@pytest.mark.parametrize("file", sorted(FOLDER.glob("*.records")), ids=lambda file: file.stem)
def test_the_package_gives_the_answers_of_the_command(file: Path) -> None:
    records = [json.loads(line) for line in file.read_text().splitlines()]
    expected = [json.loads(line) for line in file.with_suffix(".answers").read_text().splitlines()]
    assert len(records) == len(expected) > 0
    for record, wanted in zip(records, expected, strict=True):
        expect = in_pieces(wanted) if "chunks" in record else wanted
        assert {"id": record["id"]} | answer(record, file.stem) == expect


def test_the_corpus_was_written() -> None:
    count = sum(len(file.read_text().splitlines()) for file in FOLDER.glob("*.records"))
    assert count > 500, "run `cargo xtask packages`, which writes the records"
