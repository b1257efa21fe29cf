"""`toolmend.json_repair` has the interface of `json_repair`, and its answers where those are certain."""

import inspect
import io
import json
import subprocess
import sys
from pathlib import Path
from typing import Any

import json_repair as original
import pytest

import toolmend
from toolmend import json_repair as ours
from toolmend.json_repair import from_file, load, loads, repair_json

# Both give the value that was meant.
SAME = [
    '{"a": 1, "b": [1, 2,],}', "{'a': 'x', 'b': \"y\"}", '{a: 1, b_c: "x"}', '{"a": True, "b": None}', '{"a": 1\n"b": 2}',
    "[1 2 3]", '{"a": {"b": 1}', '{"a": [1, 2}', '{"a": 1}}', '{"t": "say "hi" now"}', '{"html": "<a href="x">y</a>"}',
    '{"a": "x\ny"}', '{"a": 1 /* c */, "b": 2 // d\n}', '```json\n{"a": 1}\n```', '{\\"a\\": \\"b\\"}', 'callback({"a": 1});',
    '{"a": 12345678901234567890123}', 'Here it is: {"a": 1} Hope it helps!', '{"a": 1}{"b": 2}', "Sorry, no.", "", '{"a": (1, 2)}',
]  # fmt: skip

# The original completes, drops or invents something.
REFUSED = [
    '{"path": "n.md", "content": "Once upon a', '{"a": 1, "pa', '{"a": 1, "b":', '{"a": tru', "[1,2,3", "{",
    '{"a": , "b": 2}', '{"a"}', '[1, 2, {"x": "y"',
]  # fmt: skip


@pytest.mark.parametrize("text", SAME)
def test_what_is_certain_is_the_same(text: str) -> None:
    assert loads(text) == original.loads(text)
    assert repair_json(text, return_objects=True) == original.repair_json(text, return_objects=True)
    assert repair_json(text) == original.repair_json(text)
    assert repair_json(text, ensure_ascii=False, indent=2) == original.repair_json(text, ensure_ascii=False, indent=2)
    assert load(io.StringIO(text)) == original.load(io.StringIO(text))


@pytest.mark.parametrize("text", REFUSED)
def test_nothing_is_made_up(text: str) -> None:
    with pytest.raises(toolmend.MendError) as refusal:
        loads(text)
    assert isinstance(refusal.value, ValueError) and refusal.value.verdict.outcome != "clean"
    assert loads(text, on_refusal="empty") == ""


def test_the_signatures_are_those_of_the_original() -> None:
    for name in ("repair_json", "loads", "load", "from_file"):
        own, other = (inspect.signature(getattr(module, name)).parameters for module in (ours, original))
        positional = [key for key, parameter in own.items() if parameter.kind is parameter.POSITIONAL_OR_KEYWORD]
        expected = [key for key, parameter in other.items() if parameter.kind is parameter.POSITIONAL_OR_KEYWORD]
        assert positional == expected, name
        assert all(own[key].default == other[key].default for key in expected), name


def test_valid_text_is_what_json_loads_reads() -> None:
    assert repr(loads('{"a": NaN, "b": "\\ud800"}')) == repr(json.loads('{"a": NaN, "b": "\\ud800"}'))
    assert repair_json('{"ü":1}') == '{"\\u00fc": 1}' == original.repair_json('{"ü":1}')
    assert loads(b"[1,]") == [1]


def test_several_documents_are_all_there() -> None:
    assert loads('{"a": 1}\n{"a": 2}\n{"a": 3}') == [{"a": 1}, {"a": 2}, {"a": 3}]


def test_growing_text_gives_its_complete_members() -> None:
    assert loads('{"a": 1, "b": [1, 2', stream_stable=True) == {"a": 1}
    assert loads('{"a": 1, "b": [1, 2', on_refusal="partial") == {"a": 1}
    assert loads('{"a": 1, "b": [1, 2]}', stream_stable=True) == {"a": 1, "b": [1, 2]}


def test_the_module_chooses_what_a_refusal_is(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(ours, "on_refusal", "empty")
    assert loads('{"a": ') == ""


def test_a_schema_applies_to_valid_text_too() -> None:
    schema = {"type": "object", "properties": {"n": {"type": "integer"}}, "required": ["n"]}
    assert loads('{"n": "5"}', schema=schema) == original.loads('{"n": "5"}', schema=schema) == {"n": 5}
    with pytest.raises(ValueError, match="n"):
        loads('{"m": 5}', schema=schema)
    for arguments in ({"strict": True, "schema": schema}, {"schema_repair_mode": "salvage"}, {"schema_repair_mode": "x"}):
        with pytest.raises(ValueError, match="schema"):
            loads("{}", **arguments)


@pytest.mark.parametrize("text", ['text {"a": 1}', '{"a": 1} // c', '{"a": 1, "a": 2}', '{"a" 1}', '```json\n{"a": 1}\n```'])
def test_strict_refuses_more(text: str) -> None:
    with pytest.raises(ValueError, match="strict"):
        loads(text, strict=True)
    assert loads("{'a': 1,}", strict=True) == {"a": 1}


def test_the_log_names_repairs() -> None:
    value, log = loads("{'a': 1}", logging=True)
    assert value == {"a": 1} and [sorted(entry) for entry in log] == [["context", "text"]]
    assert repair_json("no", logging=True) == ("", [])


def test_other_types_are_errors() -> None:
    other: Any
    for other in (None, 1, {}):
        with pytest.raises(TypeError):
            loads(other)


def test_the_command_line(tmp_path: Path) -> None:
    file = tmp_path / "a.json"
    file.write_text("{'ü': 1,}", encoding="utf-8")
    command = [sys.executable, "-X", "utf8", "-m", "toolmend.json_repair"]
    done = subprocess.run([*command, str(file)], capture_output=True, encoding="utf-8", check=True)
    assert done.stdout == '{\n  "ü": 1\n}\n'
    subprocess.run([*command, "--inline", str(file)], check=True)
    assert json.loads(from_file(file)["ü"].__repr__()) == 1
    done = subprocess.run(command, input='{"a": ', capture_output=True, encoding="utf-8", check=False)
    assert done.returncode == 1 and done.stderr.startswith("error: ")


def test_code_that_imports_the_original_gets_this_module(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "json_repair", original)
    ours.install()
    import json_repair

    assert json_repair is ours  # type: ignore[comparison-overlap]
