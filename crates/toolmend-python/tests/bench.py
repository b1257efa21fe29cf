"""Measures the package against `json` on valid text and against other repairers on broken text, as ratios of one run.

Measures processor time, because the machine may be shared. Every figure is the best of several rounds, and the functions
take turns.
"""

from __future__ import annotations

import json
import sys
import time
from collections.abc import Callable
from typing import Any

import fast_json_repair
import json_repair

import toolmend

ROUNDS = 15
MAX_RATIO = 1.5
MIN_SPEEDUP = 20.0

CALL = {"path": "src/main.rs", "old": "let a = 1;\n", "new": "let a = 2;\n", "count": 3, "force": False}
RECORDS = [
    {"id": n, "name": f"record {n}", "score": n / 7, "tags": ["a", "b"], "address": {"city": "Voss", "zip": None}}
    for n in range(400)
]
VALID = {
    "a call": json.dumps(CALL),
    "400 records": json.dumps(RECORDS),
    "a file in a string": json.dumps({"path": "a.py", "content": "def f(x):\n\treturn \"x\"\n" * 800}),
    "text with umlauts": json.dumps({"text": "Grüße aus Köln. " * 900}, ensure_ascii=False),
    "numbers": json.dumps([n * 1.37 for n in range(2000)] + list(range(2000))),
}


def single_quotes(value: Any) -> str:
    return repr(value)


def trailing_commas(value: Any) -> str:
    return json.dumps(value, indent=1).replace("\n }", ",\n }").replace("\n}", ",\n}")


def fenced(value: Any) -> str:
    return "Here you are:\n```json\n" + json.dumps(value) + "\n```\nDone."


def bare_keys(value: Any) -> str:
    text = json.dumps(value)
    for key in ("path", "old", "new", "count", "force", "id", "name", "score", "tags", "address", "city", "zip"):
        text = text.replace(f'"{key}":', f"{key}:")
    return text


BROKEN: dict[str, tuple[str, Any]] = {
    f"{size}, {name}": (damage(value), value)
    for size, value in (("a call", CALL), ("100 records", RECORDS[:100]))
    for name, damage in (
        ("single quotes", single_quotes),
        ("trailing commas", trailing_commas),
        ("fenced", fenced),
        ("bare keys", bare_keys),
    )
}


def measure(functions: dict[str, Callable[[], Any]]) -> dict[str, float]:
    """Returns the microseconds of one run of each function."""
    times = dict.fromkeys(functions, float("inf"))
    repeats = {}
    for name, function in functions.items():
        start = time.process_time()
        function()
        repeats[name] = max(1, min(20_000, int(0.02 / max(time.process_time() - start, 1e-6))))
    for _ in range(ROUNDS):
        for name, function in functions.items():
            start = time.process_time()
            for _ in range(repeats[name]):
                function()
            times[name] = min(times[name], (time.process_time() - start) / repeats[name])
    return {name: seconds * 1e6 for name, seconds in times.items()}


def is_right(function: Callable[[], Any], wanted: Any) -> bool:
    try:
        return bool(function() == wanted)
    except Exception:
        return False


def main() -> int:
    missed = []
    print(f"Python, valid text: {'json.loads':>28} {'toolmend':>12}   times")
    for name, text in VALID.items():
        times = measure({"json": lambda text=text: json.loads(text), "ours": lambda text=text: toolmend.loads(text)})  # type: ignore[misc]
        ratio = times["ours"] / times["json"]
        print(f"  {name:<28} {times['json']:>14.2f} µs {times['ours']:>9.2f} µs   {ratio:.2f}")
        if ratio > MAX_RATIO:
            missed.append(f"{name}: {ratio:.2f} times json.loads, at most {MAX_RATIO}")
    print(f"Python, broken text: {'toolmend':>27} {'json_repair':>14} {'fast_json_repair':>18}")
    for name, (text, wanted) in BROKEN.items():
        functions: dict[str, Callable[[], Any]] = {
            "toolmend": lambda text=text: toolmend.loads(text),  # type: ignore[misc]
            "json_repair": lambda text=text: json_repair.loads(text),  # type: ignore[misc]
            "fast_json_repair": lambda text=text: fast_json_repair.loads(text),  # type: ignore[misc]
        }
        correct = {peer: function for peer, function in functions.items() if is_right(function, wanted)}
        valid = json.dumps(wanted)
        times = measure(correct | {"json": lambda valid=valid: json.loads(valid)})  # type: ignore[misc]
        if "toolmend" not in times:
            missed.append(f"{name}: toolmend is wrong")
            continue

        def cell(peer: str, times: dict[str, float] = times) -> str:
            return f"{times[peer] / times['toolmend']:.1f} times" if peer in times else "wrong"

        print(f"  {name:<28} {times['toolmend']:>14.2f} µs {cell('json_repair'):>14} {cell('fast_json_repair'):>18}")
        if "json_repair" not in times:
            continue
        # If only the text around the JSON is wrong, json_repair removes it and calls json.loads. Nothing that builds the same
        # objects can be twenty times as fast, so the target for valid text applies.
        is_bound = times["json_repair"] < MIN_SPEEDUP * times["json"]
        ratio = times["toolmend"] / times["json"]
        if is_bound:
            print(f"    json.loads on the valid text: {times['json']:.2f} µs, toolmend takes {ratio:.2f} times that")
        if is_bound and ratio > MAX_RATIO:
            missed.append(f"{name}: {ratio:.2f} times json.loads on the valid text, at most {MAX_RATIO}")
        if not is_bound and times["json_repair"] < MIN_SPEEDUP * times["toolmend"]:
            missed.append(f"{name}: {cell('json_repair')} as fast as json_repair, at least {MIN_SPEEDUP:.0f}")
    for target in missed:
        print(f"missed: {target}")
    return 1 if missed else 0


if __name__ == "__main__":
    sys.exit(main())
