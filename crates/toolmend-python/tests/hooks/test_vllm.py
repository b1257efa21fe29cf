"""The tool parser in the registry of vLLM, with its real base class. `vllm_source.py` says what is replaced."""

import json
from types import SimpleNamespace
from typing import Any

import pytest
import vllm_source
from scripted import DEFINITION, MENDED, TOOL

vllm_source.install_vllm()

from vllm.tool_parsers.abstract_tool_parser import ToolParser, ToolParserManager  # noqa: E402

EOS = 7
OUTPUT = "One moment.<tool_call>\n{'name': 'read_file', 'arguments': {'path': 'a.txt', 'limit': '30',}}\n</tool_call>"


def tools() -> list[Any]:
    from vllm.entrypoints.openai.chat_completion.protocol import ChatCompletionToolsParam

    return [ChatCompletionToolsParam(**DEFINITION)]


def request() -> Any:
    fields = {"tool_choice": "auto", "parallel_tool_calls": True, "skip_special_tokens": True}
    return SimpleNamespace(tools=tools(), model="m", **fields)


@pytest.fixture
def parser() -> Any:
    ToolParserManager.import_tool_parser("toolmend.vllm")
    parser_class = ToolParserManager.get_tool_parser("toolmend")
    assert issubclass(parser_class, ToolParser)
    return parser_class(SimpleNamespace(eos_token_id=EOS), tools())


def test_the_base_class_alone_finds_nothing() -> None:
    with pytest.raises(NotImplementedError):
        ToolParser(None, tools()).extract_tool_calls(OUTPUT, request())


def test_a_whole_output_is_read_and_mended(parser: Any) -> None:
    found = parser.extract_tool_calls(OUTPUT, request())
    assert (found.tools_called, found.content) == (True, "One moment.")
    call = found.tool_calls[0]
    assert (call.function.name, json.loads(call.function.arguments)) == (TOOL, MENDED)
    assert call.id.startswith("call_")


def test_a_refused_call_stays_in_the_content(parser: Any) -> None:
    truncated = OUTPUT[: OUTPUT.index("limit")]
    found = parser.extract_tool_calls(truncated, request())
    assert (found.tools_called, found.tool_calls) == (False, [])
    assert "<tool_call>" in found.content and "a.txt" in found.content


@pytest.mark.parametrize("size", [1, 7, 1000])
@pytest.mark.parametrize("closed", [True, False])
def test_streams_give_the_same_calls(parser: Any, size: int, closed: bool) -> None:
    output = OUTPUT if closed else OUTPUT.removesuffix("\n</tool_call>")
    deltas = []
    for at in range(0, len(output), size):
        end = at + size >= len(output)
        ids = [1, EOS] if end else [1]
        piece = output[at : at + size]
        deltas.append(
            parser.extract_tool_calls_streaming(output[:at], output[: at + size], piece, [], ids, ids, request())
        )
    messages = [delta for delta in deltas if delta is not None]
    assert "".join(delta.content or "" for delta in messages) == "One moment."
    calls = [call for delta in messages for call in delta.tool_calls]
    assert [(call.index, call.function.name, json.loads(call.function.arguments)) for call in calls] == [(0, TOOL, MENDED)]
    assert parser.get_remaining_unstreamed_args() == "", "the base class knows that everything was streamed"


def test_markers_reach_the_parser(parser: Any) -> None:
    assert parser.adjust_request(request()).skip_special_tokens is False


def test_every_dialect_has_a_name(parser: Any) -> None:
    names = ToolParserManager.list_registered()
    assert {"toolmend", "toolmend:hermes_json", "toolmend:qwen3_xml"} <= set(names)
