"""`toolmend.json_repair` has the interface of `json_repair`, and its answers where those are certain."""

import inspect
import io
import json
import os
import subprocess
import sys
from pathlib import Path
from typing import Any

import json_repair as original
import pytest

import toolmend
from toolmend import json_repair as ours
from toolmend.json_repair import from_file, load, loads, repair_json

ROOT = Path(__file__).parents[3]
INPUTS: list[str] = json.loads((ROOT / "corpus/repairers/inputs.json").read_text(encoding="utf-8"))
PAGE = (ROOT / "docs/json-repair.md").read_text(encoding="utf-8")
REFUSED = "refused"


def read_differences() -> dict[str, tuple[str, str]]:
    """The table of the page: what each package answers to a text."""
    section = PAGE.split("\n### Where answers differ in Python\n")[1].split("\n## ")[0]
    rows = [line.split("|")[1:4] for line in section.splitlines() if line.startswith("| `")]
    cells = [[cell.strip().strip("`") for cell in row] for row in rows]
    return {text.replace("⏎", "\n"): (other, own) for text, other, own in cells}


def answer_of(repair: Any, text: str, **options: Any) -> str:
    """What a function answers, as JSON."""
    try:
        return str(repair(text, **options))
    except toolmend.MendError:
        return REFUSED


def test_the_page_has_every_difference() -> None:
    found = {}
    for text in INPUTS:
        answers = tuple(answer_of(module.repair_json, text, ensure_ascii=False) for module in (original, ours))
        if answers[0] != answers[1]:
            found[text] = answers
    assert found == read_differences()
    assert len(INPUTS) == 54


@pytest.mark.parametrize("text", INPUTS)
def test_every_form_of_a_call_gives_the_same(text: str, tmp_path: Path) -> None:
    """The forms in which the functions are called, each with the original's answer unless the page lists the text."""
    file = tmp_path / "text.json"
    file.write_bytes(text.encode("utf-8", "surrogatepass"))
    is_listed = text in read_differences()
    forms: list[Any] = [
        lambda module: module.repair_json(text),
        lambda module: module.repair_json(text, return_objects=True),
        lambda module: module.repair_json(text, True),
        lambda module: module.repair_json(text, ensure_ascii=False, indent=2),
        lambda module: module.repair_json(json_fd=io.StringIO(text)),
        lambda module: module.loads(text),
        lambda module: module.load(io.StringIO(text)),
        lambda module: module.from_file(file),
        lambda module: module.from_file(str(file)),
    ]
    for form in forms:
        if not is_listed:
            assert repr(form(ours)) == repr(form(original))
    own = answer_of(ours.loads, text)
    for form in forms[5:]:
        assert answer_of(lambda _, form=form: form(ours), text) == own
    assert loads(text, on_refusal="empty") == ("" if own == REFUSED else loads(text))


# The original completes, drops or invents something.
CUT = [
    '{"path": "n.md", "content": "Once upon a', '{"a": 1, "pa', '{"a": 1, "b":', '{"a": tru', "[1,2,3", "{",
    '{"a": , "b": 2}', '{"a"}', '[1, 2, {"x": "y"',
]  # fmt: skip


@pytest.mark.parametrize("text", CUT)
def test_nothing_is_made_up(text: str) -> None:
    with pytest.raises(toolmend.MendError) as refusal:
        loads(text)
    assert isinstance(refusal.value, ValueError) and refusal.value.verdict.outcome != "clean"
    with pytest.raises(json.JSONDecodeError) as strict:
        json.loads(text)
    assert refusal.value.pos == strict.value.pos > 0
    assert (refusal.value.lineno, refusal.value.colno) == (strict.value.lineno, strict.value.colno)
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


def test_growing_text_is_shown_as_far_as_it_goes() -> None:
    assert loads('{"a": 1, "b": [1, 2', stream_stable=True) == {"a": 1, "b": [1]}
    assert loads('{"a": 1, "b": "Once upon a ', stream_stable=True) == {"a": 1, "b": "Once upon a "}
    assert repair_json('{"a": ["x, y\\', stream_stable=True) == '{"a": ["x, y"]}'
    assert loads('{"a": 1, "b": [1, 2]}', stream_stable=True) == {"a": 1, "b": [1, 2]}
    assert loads("Well", stream_stable=True) == ""
    schema = {"type": "object", "properties": {"n": {"type": "integer"}, "t": {"type": "string"}}}
    assert loads('{"t": "Once', stream_stable=True, schema=schema) == {"t": "Once"}


def test_partial_values_have_complete_members_only() -> None:
    assert loads('{"a": 1, "b": [1, 2', on_refusal="partial") == {"a": 1}
    assert loads('{"a": "b', on_refusal="partial") == ""


@pytest.mark.parametrize("text", INPUTS)
def test_what_was_shown_is_never_taken_back(text: str) -> None:
    shown: Any = ""
    for end in range(len(text) + 1):
        try:
            now = loads(text[:end], stream_stable=True)
        except toolmend.MendError:
            continue
        if end < len(text):
            assert shown == "" or continues(now, shown), (text[:end], shown, now)
            shown = now


def continues(whole: Any, part: Any) -> bool:
    if isinstance(whole, str) and isinstance(part, str):
        return whole.startswith(part)
    if isinstance(whole, list) and isinstance(part, list):
        return len(part) <= len(whole) and all(map(continues, whole, part))
    if isinstance(whole, dict) and isinstance(part, dict):
        return all(key in whole and continues(whole[key], part[key]) for key in part)
    return bool(whole == part)


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
    assert done.returncode == 1 and done.stderr.startswith("Error: ")


def test_the_command_line_takes_schemas(tmp_path: Path) -> None:
    (tmp_path / "shapes.py").write_text("import pydantic\nclass Read(pydantic.BaseModel):\n    limit: int\n")
    (tmp_path / "schema.json").write_text('{"properties": {"limit": {"type": "integer"}}}')
    for options in (["--schema", "schema.json"], ["--schema-model", "shapes:Read"]):
        command = [sys.executable, "-m", "toolmend.json_repair", "--indent", "1", *options]
        done = subprocess.run(command, input="{limit: '3'}", capture_output=True, text=True, check=True, cwd=tmp_path)
        assert done.stdout == '{\n "limit": 3\n}\n'
    command = [sys.executable, "-m", "toolmend.json_repair", "--schema-model", "nowhere:Read"]
    done = subprocess.run(command, input="{}", capture_output=True, text=True, check=False)
    assert done.returncode == 1 and "nowhere" in done.stderr
    done = subprocess.run(command[:3], input="No JSON.", capture_output=True, text=True, check=True)
    assert done.stdout == '""\n'


def test_the_package_runs_the_command(tmp_path: Path) -> None:
    command = [sys.executable, "-m", "toolmend", "fix"]
    missing = subprocess.run(command, env={"PATH": ""}, capture_output=True, text=True, check=False)
    assert missing.returncode == 1 and "pip install 'toolmend[cli]'" in missing.stderr
    if os.name == "posix":
        program = tmp_path / "toolmend"
        program.write_text('#!/bin/sh\necho "$@"\nexit 3\n')
        program.chmod(0o755)
        done = subprocess.run(command, env={"PATH": str(tmp_path)}, capture_output=True, text=True, check=False)
        assert (done.returncode, done.stdout) == (3, "fix\n")


def test_code_that_imports_the_original_gets_this_module(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "json_repair", original)
    ours.install()
    import json_repair

    assert json_repair is ours  # type: ignore[comparison-overlap]
