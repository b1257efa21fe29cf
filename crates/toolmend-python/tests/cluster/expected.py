"""What the command made of the same rows, and the comparison with it."""

from __future__ import annotations

import json
import sys
from pathlib import Path
from typing import Any

import pyarrow.parquet as pq

FOLDER = Path(sys.argv[1])
CALLS = str(FOLDER / "calls.parquet")
TOOLS = (FOLDER / "tools.json").read_text()


def from_files() -> dict[str, tuple[str | None, str]]:
    """Text and outcome of every row, as `toolmend batch calls.parquet --out` left them."""
    before = pq.read_table(CALLS, columns=["id", "arguments"])
    after = pq.read_table(FOLDER / "clean.parquet", columns=["id", "arguments"])
    assert before.column("id") == after.column("id"), "the order is kept"
    refused = {}
    for line in (FOLDER / "rejects.jsonl").read_text().splitlines():
        reject = json.loads(line)
        refused[reject["row"] - 1] = reject["outcome"]
    rows = zip(before.column("id").to_pylist(), before.column("arguments").to_pylist(), after.column("arguments").to_pylist(), strict=True)
    known: dict[str, tuple[str | None, str]] = {}
    for number, (name, old, new) in enumerate(rows):
        if number in refused:
            assert old == new, "what is refused stays as it was"
            known[name] = (None, refused[number])
        else:
            known[name] = (new, "clean" if old == new else "mended")
    return known


def from_records() -> dict[str, tuple[str, list[str], str | None]]:
    """Outcome, kinds of repair and feedback of every row, as the batch protocol answered them."""
    known = {}
    for line in (FOLDER / "answers.jsonl").read_text().splitlines():
        answer = json.loads(line)
        kinds = [repair["kind"] for repair in answer["repairs"]]
        known[answer["id"]] = (answer["outcome"], kinds, answer.get("feedback"))
    return known


def check(engine: str, rows: list[tuple[str, dict[str, Any]]]) -> None:
    """Fails unless every row has the answer of the command."""
    files, records = from_files(), from_records()
    assert len(rows) == len(files) == len(records) > 0, (len(rows), len(files), len(records))
    outcomes: dict[str, int] = {}
    for name, answer in rows:
        assert (answer["json"], answer["outcome"]) == files[name], (name, answer, files[name])
        assert (answer["outcome"], answer["repairs"], answer["feedback"]) == records[name], (name, answer)
        outcomes[answer["outcome"]] = outcomes.get(answer["outcome"], 0) + 1
    assert len(outcomes) > 2, outcomes
    told = ", ".join(f"{count} {outcome}" for outcome, count in sorted(outcomes.items()))
    print(f"{engine}: {len(rows)} rows as the command answers them ({told})", flush=True)
