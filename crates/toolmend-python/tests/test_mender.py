"""Calls, turns and streams."""

import dataclasses
import enum
from typing import Annotated, Any, Literal, NotRequired, Optional, TypedDict

import pydantic
import pytest

import toolmend

SCHEMA = {
    "type": "object",
    "properties": {"path": {"type": "string"}, "limit": {"type": "integer"}},
    "required": ["path"],
}
OPENAI = {"type": "function", "function": {"name": "read_file", "parameters": SCHEMA}}
ANTHROPIC = {"name": "read_file", "input_schema": SCHEMA}
MCP = {"name": "read_file", "inputSchema": SCHEMA}


class Model(pydantic.BaseModel):
    path: str
    limit: int | None = None


@dataclasses.dataclass
class Data:
    path: str
    limit: int | None = None


class Typed(TypedDict):
    path: str
    limit: NotRequired[int]


def function(path: str, limit: int | None = None) -> str:
    """Reads a file."""
    return path


class Tool:
    """A tool object, as frameworks have."""

    name = "read_file"
    input_schema = SCHEMA


@pytest.mark.parametrize(
    ("name", "tools"),
    [
        ("read_file", [OPENAI]),
        ("read_file", [ANTHROPIC]),
        ("read_file", {"tools": [MCP]}),
        ("read_file", OPENAI),
        ("read_file", {"read_file": SCHEMA}),
        ("read_file", {"read_file": function}),
        ("read_file", [Tool()]),
        ("Model", [Model]),
        ("Model", Model),
        ("Data", [Data]),
        ("Typed", [Typed]),
        ("function", [function]),
        ("function", [function, OPENAI, Model]),
        ("anything", SCHEMA),
    ],
)
def test_tools_are_accepted_in_every_format(name: str, tools: Any) -> None:
    verdict = toolmend.Mender(tools).mend(name, "{Path: 'a.txt', limit: '3'}")
    assert (verdict.outcome, verdict.tool, verdict.arguments) == ("mended", name, {"path": "a.txt", "limit": 3})
    assert {repair.kind for repair in verdict.repairs} >= {"key_quoted", "quotes_replaced"}


def test_a_verdict_has_every_field() -> None:
    mender = toolmend.Mender([OPENAI])
    clean = mender.mend("read_file", '{"path": "a"}')
    assert (clean.outcome, clean.json, clean.repairs, bool(clean)) == ("clean", '{"path": "a"}', [], True)
    given = mender.mend("read_file", {"path": "a", "limit": "3"})
    assert given.arguments == {"path": "a", "limit": 3}
    assert [(repair.kind, repair.path, repair.at, repair.tier) for repair in given.repairs] == [
        ("string_to_number", "/limit", None, "guided")
    ]
    refused = mender.mend("read_file", '{"limit": 3}')
    assert (refused.outcome, refused.reason, refused.arguments) == ("rejected", "schema", None)
    assert "path" in (refused.feedback or "")
    unknown = mender.mend("write", "{}")
    assert unknown.reason == "unknown_tool" and "read_file" in (unknown.feedback or "")
    cut = mender.mend("read_file", '{"path": "a", "limit": 3', finish_reason="length")
    assert (cut.outcome, cut.partial) == ("truncated", {"path": "a"})


def test_integers_of_any_size_are_exact() -> None:
    big = 10**40
    assert toolmend.Mender(["f"]).mend("f", {"n": big}).arguments == {"n": big}


def test_an_invalid_schema_is_an_error() -> None:
    broken = [{"name": "f", "parameters": {"type": "objekt"}}]
    with pytest.raises(ValueError, match="objekt"):
        toolmend.Mender(broken)
    lenient = toolmend.Mender(broken, lenient=True)
    assert len(lenient.notes) == 1 and lenient.mend("f", '{"a": 1}').outcome == "clean"
    with pytest.raises(TypeError, match="found int"):
        toolmend.Mender(5)


TEXT = 'Sure.\n<tool_call>\n{"name": "read_file", "arguments": {"path": "ü.txt",}}\n</tool_call>'


def test_turns_and_streams_agree_for_pieces_of_any_size() -> None:
    mender = toolmend.Mender([OPENAI])
    turn = mender.turn(TEXT, finish_reason="stop")
    assert (turn.content, turn.outcome) == ("Sure.", "mended")
    call = turn.calls[0]
    assert (call.name, call.arguments, call.source) == ("read_file", {"path": "ü.txt"}, "explicit")
    assert TEXT.encode()[slice(*call.at)].decode() == call.raw
    data = TEXT.encode()
    for size in (1, 3, 1000):
        stream = mender.stream()
        events = [event for at in range(0, len(data), size) for event in stream.push(data[at : at + size])]
        events += stream.finish("stop")
        assert "".join(event.text or "" for event in events if event.type == "content") == "Sure."
        ends = [event.call for event in events if event.type == "call_end"]
        assert [end.to_dict() for end in ends if end] == [call.to_dict()]
    assert mender.stream().push("Plain words.\n")[0].text == "Plain words."


COUNT = {"type": "object", "properties": {"n": {"type": "integer"}}, "required": ["n"]}
FORMAT = {"type": "json_schema", "json_schema": {"name": "count", "schema": COUNT}}


def test_answers_are_judged_by_the_format_of_the_request() -> None:
    mender = toolmend.Mender([OPENAI])
    clean = mender.answer('Here: {"n": 3}', FORMAT)
    assert (clean.outcome, clean.value) == ("clean", {"n": 3})
    mended = mender.answer("{n: '3'}", FORMAT, finish_reason="stop")
    assert (mended.outcome, mended.json, mended.tool) == ("mended", '{"n": 3}', None)
    refused = mender.answer('{"m": 3}', FORMAT)
    assert (refused.outcome, refused.reason) == ("rejected", "schema") and refused.feedback
    assert mender.answer('{"name": "a"}', Node).outcome == "clean"
    with pytest.raises(TypeError):
        mender.answer("{}", object())


def test_turns_have_the_verdict_on_their_answer() -> None:
    mender = toolmend.Mender([OPENAI])
    turn = mender.turn("{n: '3'}", request={"response_format": FORMAT}, finish_reason="stop")
    assert turn.answer is not None and turn.answer.outcome == "mended"
    assert (turn.content, turn.calls) == ('{"n": 3}', [])
    plain = mender.turn("Done.<|im_end|>")
    assert plain.answer is None and [repair.kind for repair in plain.repairs] == ["markup_removed"]


class Colour(enum.Enum):
    RED = "red"


@dataclasses.dataclass
class Node:
    name: str
    children: "list[Node]" = dataclasses.field(default_factory=list)


def all_types(
    text: Annotated[str, "what to say"],
    colour: Colour,
    mode: Literal["r", "w"],
    pair: tuple[int, str],
    tags: set[str],
    node: Node,
    table: dict[str, float],
    model: Model,
    either: int | str = 3,
    maybe: Optional[bool] = None,
    many: tuple[int, ...] = (),
    **rest: Any,
) -> None: ...


def test_annotations_become_a_schema() -> None:
    schema = toolmend.schema_of(all_types)
    properties = schema["properties"]
    assert properties["text"] == {"type": "string", "description": "what to say"}
    assert properties["colour"] == {"enum": ["red"]}
    assert properties["mode"] == {"enum": ["r", "w"]}
    assert properties["pair"]["prefixItems"] == [{"type": "integer"}, {"type": "string"}]
    assert properties["tags"] == {"type": "array", "uniqueItems": True, "items": {"type": "string"}}
    assert properties["table"] == {"type": "object", "additionalProperties": {"type": "number"}}
    assert properties["either"] == {"type": ["integer", "string"], "default": 3}
    assert properties["maybe"] == {"type": ["boolean", "null"], "default": None}
    assert schema["additionalProperties"] is True
    assert schema["required"] == ["text", "colour", "mode", "pair", "tags", "node", "table", "model"]
    node = schema["$defs"]["Node"]
    assert node["properties"]["children"] == {"type": "array", "items": {"$ref": "#/$defs/Node"}}
    toolmend.Mender(all_types)
    bounded = Annotated[int, {"maximum": 3}]
    assert toolmend.schema_of(bounded) == {"type": "integer", "maximum": 3}
    assert toolmend.loads("'2'", bounded) == 2
    with pytest.raises(TypeError, match="by position"):
        toolmend.schema_of(lambda a, /: a)


def test_a_recursive_type_guides_the_reading() -> None:
    verdict = toolmend.fix("{name: 'a', children: [{name: 'b', children: 'c'}]}", Node)
    assert verdict.outcome == "rejected"
    assert toolmend.loads("{name: 'a', children: {name: 'b'}}", Node) == {"name": "a", "children": [{"name": "b"}]}
