"""Pydantic AI, with its own scripted model."""

from typing import Any

import pytest
from pydantic import BaseModel
from pydantic_ai import Agent, Tool, UnexpectedModelBehavior
from pydantic_ai.messages import ModelMessage, ModelResponse, TextPart, ToolCallPart
from pydantic_ai.models.function import AgentInfo, FunctionModel
from pydantic_ai.output import PromptedOutput
from scripted import BROKEN, FILLED, HALF, MENDED, NOTE, RELATIONAL, TOOL, TRUNCATED, run_documented

from toolmend.pydantic_ai import Toolmend


def scripted(first: Any) -> tuple[FunctionModel, list[Any]]:
    """Gives this answer first, then `done`. Records its inputs."""
    asked: list[Any] = []

    def answer(messages: list[ModelMessage], info: AgentInfo) -> ModelResponse:
        asked.append(messages)
        done = any(getattr(part, "outcome", "") == "success" for part in messages[-1].parts)
        return ModelResponse(parts=[TextPart("done") if done else first()])

    return FunctionModel(answer), asked


def run(arguments: str, capabilities: list[Any]) -> tuple[list[Any], Any, list[Any]]:
    ran: list[Any] = []
    model, asked = scripted(lambda: ToolCallPart(TOOL, arguments, "c1"))
    agent = Agent(model, capabilities=capabilities, retries=1)

    @agent.tool_plain
    def read_file(path: str, limit: int) -> str:
        ran.append({"path": path, "limit": limit})
        return "contents"

    return ran, agent, asked


def test_without_the_hook_the_run_fails() -> None:
    ran, agent, asked = run(BROKEN, [])
    with pytest.raises(UnexpectedModelBehavior):
        agent.run_sync("read it")
    assert ran == [] and len(asked) == 2


def test_with_the_hook_the_tool_runs() -> None:
    ran, agent, asked = run(BROKEN, [Toolmend()])
    assert agent.run_sync("read it").output == "done"
    assert ran == [MENDED] and len(asked) == 2
    call = asked[1][1].parts[0]
    assert call.args_as_dict() == MENDED, "the history has the mended call"


def test_the_lines_of_the_page_work() -> None:
    ran: list[Any] = []

    def read_file(path: str, limit: int) -> str:
        ran.append({"path": path, "limit": limit})
        return "contents"

    model, _ = scripted(lambda: ToolCallPart(TOOL, BROKEN, "c1"))
    agent = run_documented("Pydantic AI", {"model": model, "tools": [read_file]})["agent"]
    assert agent.run_sync("read it").output == "done" and ran == [MENDED]


def test_a_call_that_cannot_be_mended_goes_back_to_the_model() -> None:
    ran, agent, asked = run(TRUNCATED, [Toolmend()])
    with pytest.raises(UnexpectedModelBehavior):
        agent.run_sync("read it")
    assert ran == []
    assert "cut off" in str(asked[1][-1].parts[0].content)


class City(BaseModel):
    name: str
    people: int


def output(capabilities: list[Any]) -> City:
    model, _ = scripted(lambda: TextPart("{'name': 'Voss', 'people': 15000,}"))
    agent = Agent(model, output_type=PromptedOutput(City), capabilities=capabilities, retries=0)
    return agent.run_sync("which city").output


def test_structured_output_is_mended_too() -> None:
    with pytest.raises(UnexpectedModelBehavior):
        output([])
    assert output([Toolmend()]) == City(name="Voss", people=15000)


def test_the_model_reads_which_values_were_filled_in() -> None:
    ran: list[Any] = []

    def read_file(**arguments: Any) -> str:
        ran.append(arguments)
        return "contents"

    model, asked = scripted(lambda: ToolCallPart(TOOL, HALF, "c1"))
    tool = Tool.from_schema(read_file, name=TOOL, description="Reads.", json_schema=RELATIONAL)
    agent = Agent(model, tools=[tool], capabilities=[Toolmend()])
    assert agent.run_sync("read it").output == "done"
    assert ran == [FILLED]
    assert str(asked[1][-1].parts[0].content).startswith(NOTE)
