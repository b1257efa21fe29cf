"""OpenAI Agents SDK, with a scripted model."""

import json
from collections.abc import AsyncIterator
from typing import Any

import pytest
from agents import Agent, FunctionTool, Model, ModelResponse, Runner, Usage, function_tool, set_tracing_disabled
from agents.exceptions import ModelBehaviorError
from openai.types.responses import (
    Response,
    ResponseCompletedEvent,
    ResponseFunctionCallArgumentsDeltaEvent,
    ResponseFunctionCallArgumentsDoneEvent,
    ResponseFunctionToolCall,
    ResponseOutputItemAddedEvent,
    ResponseOutputItemDoneEvent,
    ResponseOutputMessage,
    ResponseOutputText,
)
from scripted import BROKEN, FILLED, HALF, MENDED, NOTE, RELATIONAL, TOOL, TRUNCATED, run_documented

from toolmend.openai_agents import Mended

set_tracing_disabled(True)


class Scripted(Model):
    """Calls the tool, then answers `done`. Records its inputs."""

    def __init__(self, arguments: str) -> None:
        self.arguments = arguments
        self.inputs: list[Any] = []

    def _item(self, given: Any) -> Any:
        self.inputs.append(given)
        if len(self.inputs) > 1:
            text = ResponseOutputText(text="done", type="output_text", annotations=[])
            return ResponseOutputMessage(
                id="m1", content=[text], role="assistant", status="completed", type="message"
            )
        return ResponseFunctionToolCall(
            id="f1", call_id="c1", name=TOOL, arguments=self.arguments, type="function_call"
        )

    async def get_response(self, system_instructions: Any, input: Any, *args: Any, **kwargs: Any) -> ModelResponse:
        return ModelResponse(output=[self._item(input)], usage=Usage(), response_id="r1")

    async def stream_response(
        self, system_instructions: Any, input: Any, *args: Any, **kwargs: Any
    ) -> AsyncIterator[Any]:
        item = self._item(input)
        number = iter(range(100))
        if isinstance(item, ResponseFunctionToolCall):
            yield ResponseOutputItemAddedEvent(
                item=item.model_copy(update={"arguments": ""}),
                output_index=0,
                sequence_number=next(number),
                type="response.output_item.added",
            )
            for piece in (item.arguments[:7], item.arguments[7:]):
                yield ResponseFunctionCallArgumentsDeltaEvent(
                    delta=piece,
                    item_id="f1",
                    output_index=0,
                    sequence_number=next(number),
                    type="response.function_call_arguments.delta",
                )
            yield ResponseFunctionCallArgumentsDoneEvent(
                arguments=item.arguments,
                item_id="f1",
                name=TOOL,
                output_index=0,
                sequence_number=next(number),
                type="response.function_call_arguments.done",
            )
        yield ResponseOutputItemDoneEvent(
            item=item, output_index=0, sequence_number=next(number), type="response.output_item.done"
        )
        response = Response(
            id="r1",
            created_at=1,
            model="m",
            object="response",
            output=[item],
            parallel_tool_calls=True,
            tool_choice="auto",
            tools=[],
        )
        yield ResponseCompletedEvent(
            response=response, sequence_number=next(number), type="response.completed"
        )


def agent(model: Model) -> tuple[Agent[Any], list[Any]]:
    ran: list[Any] = []

    @function_tool(failure_error_function=None)
    def read_file(path: str, limit: int) -> str:
        """Reads a file."""
        ran.append({"path": path, "limit": limit})
        return "contents"

    return Agent(name="a", model=model, tools=[read_file]), ran


async def test_without_the_hook_the_run_fails() -> None:
    it, ran = agent(Scripted(BROKEN))
    with pytest.raises(ModelBehaviorError):
        await Runner.run(it, "read it")
    assert ran == []


async def test_with_the_hook_the_tool_runs() -> None:
    model = Scripted(BROKEN)
    it, ran = agent(Mended(model))
    assert (await Runner.run(it, "read it")).final_output == "done"
    assert ran == [MENDED]
    assert "'path'" not in str(model.inputs[1][1]["arguments"]), "the history contains the mended call"


async def test_the_lines_of_the_page_work() -> None:
    plain, ran = agent(Scripted(BROKEN))
    it = run_documented("OpenAI Agents SDK", {"model": plain.model, "tools": plain.tools})["agent"]
    assert (await Runner.run(it, "read it")).final_output == "done" and ran == [MENDED]


async def test_streams_contain_only_mended_arguments() -> None:
    it, ran = agent(Mended(Scripted(BROKEN)))
    result = Runner.run_streamed(it, "read it")
    deltas = [
        event.data.delta
        async for event in result.stream_events()
        if event.type == "raw_response_event" and event.data.type == "response.function_call_arguments.delta"
    ]
    assert ran == [MENDED] and result.final_output == "done"
    assert deltas == ['{"path": "a.txt", "limit": 30}']


async def test_a_call_that_cannot_be_mended_fails_as_before() -> None:
    it, ran = agent(Mended(Scripted(TRUNCATED)))
    with pytest.raises(ModelBehaviorError):
        await Runner.run(it, "read it")
    assert ran == []


@pytest.mark.parametrize("streamed", [False, True])
async def test_the_model_reads_which_values_were_filled_in(streamed: bool) -> None:
    ran: list[Any] = []

    async def read_file(_: Any, arguments: str) -> str:
        ran.append(json.loads(arguments))
        return "contents"

    tool = FunctionTool(TOOL, "Reads.", RELATIONAL, read_file, strict_json_schema=False)
    model = Scripted(HALF)
    agent = Agent(name="reader", model=Mended(model), tools=[tool])
    if streamed:
        async for _ in Runner.run_streamed(agent, "read it").stream_events():
            pass
    else:
        await Runner.run(agent, "read it")
    result = next(item for item in model.inputs[1] if item.get("type") == "function_call_output")
    assert ran == [FILLED]
    assert result["output"].startswith(NOTE) and result["output"].endswith("\ncontents")
