"""smolagents, with a scripted model."""

import json
from collections.abc import Iterator
from typing import Any

import pytest
from scripted import BROKEN, MENDED, TOOL, TRUNCATED, run_documented
from smolagents import ToolCallingAgent, tool
from smolagents.models import (
    ChatMessage,
    ChatMessageStreamDelta,
    ChatMessageToolCall,
    ChatMessageToolCallFunction,
    ChatMessageToolCallStreamDelta,
    MessageRole,
    Model,
)

from toolmend.smolagents import Mended

SEEN: list[Any] = []


@tool
def read_file(path: str, limit: int) -> str:
    """Reads.

    Args:
        path: Which file.
        limit: How many lines.
    """
    SEEN.append({"path": path, "limit": limit})
    return "read"


@pytest.fixture(autouse=True)
def no_calls() -> None:
    SEEN.clear()


class Scripted(Model):
    """Calls the tool, by the API or in its text, and then gives the final answer."""

    def __init__(self, arguments: str, *, name: str = TOOL, text: str | None = None) -> None:
        super().__init__(model_id="m")
        self.arguments, self.name, self.text = arguments, name, text
        self.count = 0

    def _next(self) -> tuple[str | None, str, str]:
        self.count += 1
        if self.count > 1:
            return None, "final_answer", '{"answer": "done"}'
        return self.text, self.name, self.arguments

    def generate(self, messages: Any, **kwargs: Any) -> ChatMessage:
        text, name, arguments = self._next()
        call = ChatMessageToolCall(ChatMessageToolCallFunction(arguments=arguments, name=name), id="c1", type="function")
        return ChatMessage(MessageRole.ASSISTANT, content=text or "", tool_calls=None if text else [call])


class Streaming(Scripted):
    def generate_stream(self, messages: Any, **kwargs: Any) -> Iterator[ChatMessageStreamDelta]:
        _, name, arguments = self._next()
        yield ChatMessageStreamDelta(content="One moment.")
        for piece in (arguments[:7], arguments[7:]):
            function = ChatMessageToolCallFunction(arguments=piece, name=name)
            call = ChatMessageToolCallStreamDelta(index=0, id="c1", type="function", function=function)
            yield ChatMessageStreamDelta(tool_calls=[call])


def run(model: Model, **options: Any) -> Any:
    agent = ToolCallingAgent(tools=[read_file], model=model, max_steps=2, verbosity_level=0, **options)
    return agent.run("read it")


def test_without_the_hook_the_tool_does_not_get_the_call() -> None:
    run(Scripted(BROKEN))
    assert SEEN == []


def test_the_lines_of_the_page_work() -> None:
    names = run_documented("smolagents", {"model": Scripted(BROKEN), "tools": [read_file]})
    assert names["agent"].run("read it") == "done"
    assert SEEN == [MENDED]


def test_names_that_are_almost_right_are_resolved() -> None:
    assert run(Mended(Scripted(BROKEN, name="readFile"))) == "done"
    assert SEEN == [MENDED]


def test_calls_in_the_text_are_read() -> None:
    text = f'<tool_call>{{"name": "{TOOL}", "arguments": {BROKEN}}}</tool_call>'
    assert run(Mended(Scripted("", text=text))) == "done"
    assert SEEN == [MENDED]


def test_a_call_that_cannot_be_mended_is_left_to_the_agent() -> None:
    assert run(Mended(Scripted(TRUNCATED))) == "done"
    assert SEEN == []


def test_streams_are_mended() -> None:
    assert run(Mended(Streaming(BROKEN)), stream_outputs=True) == "done"
    assert SEEN == [MENDED]


def test_a_model_without_streams_stays_one() -> None:
    with pytest.raises(AttributeError):
        list(Mended(Scripted(BROKEN)).generate_stream([]))
    assert json.loads(json.dumps(Mended(Scripted(BROKEN)).to_dict()))["model_id"] == "m"
