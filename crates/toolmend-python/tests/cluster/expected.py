"""The answers of the command for the same rows, and the comparison with them."""

from __future__ import annotations

import json
import sys
from pathlib import Path
from typing import Any

import pyarrow.parquet as pq

FOLDER = Path(sys.argv[1])
CALLS = str(FOLDER / "calls.parquet")
TOOLS = (FOLDER / "tools.json").read_text()


def read_files() -> dict[str, tuple[str | None, str]]:
    """Returns text and outcome of every row after `toolmend batch calls.parquet --out`."""
    before = pq.read_table(CALLS, columns=["id", "arguments"])
    after = pq.read_table(FOLDER / "clean.parquet", columns=["id", "arguments"])
    assert before.column("id") == after.column("id"), "the order is the same"
    refused = {}
    for line in (FOLDER / "rejects.jsonl").read_text().splitlines():
        reject = json.loads(line)
        refused[reject["row"] - 1] = reject["outcome"]
    rows = zip(before.column("id").to_pylist(), before.column("arguments").to_pylist(), after.column("arguments").to_pylist(), strict=True)
    known: dict[str, tuple[str | None, str]] = {}
    for number, (name, old, new) in enumerate(rows):
        if number in refused:
            assert old == new, "a refused call stays unchanged"
            known[name] = (None, refused[number])
        else:
            known[name] = (new, "clean" if old == new else "mended")
    return known


def read_records() -> dict[str, tuple[str, list[str], str | None]]:
    """Returns outcome, kinds of repair and feedback of every row from the batch protocol."""
    known = {}
    for line in (FOLDER / "answers.jsonl").read_text().splitlines():
        answer = json.loads(line)
        kinds = [repair["kind"] for repair in answer["repairs"]]
        known[answer["id"]] = (answer["outcome"], kinds, answer.get("feedback"))
    return known


def check(engine: str, rows: list[tuple[str, dict[str, Any]]]) -> None:
    """Fails unless every row has the answer of the command."""
    files, records = read_files(), read_records()
    assert len(rows) == len(files) == len(records) > 0, (len(rows), len(files), len(records))
    outcomes: dict[str, int] = {}
    for name, answer in rows:
        assert (answer["json"], answer["outcome"]) == files[name], (name, answer, files[name])
        assert (answer["outcome"], answer["repairs"], answer["feedback"]) == records[name], (name, answer)
        outcomes[answer["outcome"]] = outcomes.get(answer["outcome"], 0) + 1
    assert len(outcomes) > 2, outcomes
    summary = ", ".join(f"{count} {outcome}" for outcome, count in sorted(outcomes.items()))
    print(f"{engine}: {len(rows)} rows, all with the answer of the command ({summary})", flush=True)
