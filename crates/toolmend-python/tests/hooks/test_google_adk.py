"""Google ADK, with a scripted model."""

from collections.abc import AsyncGenerator
from typing import Any

from google.adk.agents import Agent
from google.adk.apps import App
from google.adk.models import BaseLlm, LlmResponse
from google.adk.models.lite_llm import LiteLlm
from google.adk.runners import InMemoryRunner
from google.adk.tools import BaseTool, FunctionTool
from google.genai import types
from scripted import FILLED, MENDED, NOTE, RELATIONAL, TOOL, call_message, content_message, run_documented, server

import litellm

from toolmend.google_adk import Toolmend
from toolmend.litellm import Toolmend as LiteLLMHook

# What the framework has parsed: a number in a string, under a name that is almost right.
NEARLY = {"path": "a.txt", "limit": "30"}
NAME = "readFile"


class Scripted(BaseLlm):
    """Calls a tool, then answers `done`. Records its requests."""

    name: str = NAME
    arguments: dict[str, Any] = NEARLY
    requests: list[Any] = []

    async def generate_content_async(self, llm_request: Any, stream: bool = False) -> AsyncGenerator[LlmResponse, None]:
        self.requests.append(llm_request.model_copy(deep=False))
        part = types.Part(function_call=types.FunctionCall(name=self.name, args=dict(self.arguments)))
        if len(self.requests) > 1:
            part = types.Part(text="done")
        yield LlmResponse(content=types.Content(role="model", parts=[part]))


class Declared(BaseTool):
    """A tool with a schema that is not that of a function."""

    def __init__(self) -> None:
        super().__init__(name=TOOL, description="Reads.")
        self.seen: list[Any] = []

    def _get_declaration(self) -> types.FunctionDeclaration:
        return types.FunctionDeclaration(name=TOOL, description="Reads.", parameters_json_schema=RELATIONAL)

    async def run_async(self, *, args: dict[str, Any], tool_context: Any) -> Any:
        self.seen.append(args)
        return {"result": "read"}


def reader(seen: list[Any]) -> FunctionTool:
    def read_file(path: str, limit: int) -> str:
        """Reads."""
        seen.append({"path": path, "limit": limit})
        return "read"

    return FunctionTool(read_file)


async def run(app: App) -> list[Any]:
    runner = InMemoryRunner(app=app)
    session = await runner.session_service.create_session(app_name=app.name, user_id="u")
    message = types.Content(role="user", parts=[types.Part(text="read it")])
    return [event async for event in runner.run_async(user_id="u", session_id=session.id, new_message=message)]


def create_agent(model: BaseLlm, tool: Any) -> Agent:
    return Agent(name="reader", model=model, tools=[tool])


async def test_without_the_hook_the_tool_does_not_get_the_call() -> None:
    seen: list[Any] = []
    events = await run(App(name="app", root_agent=create_agent(Scripted(model="m", requests=[]), reader(seen))))
    results = [result.response for event in events for result in event.get_function_responses()]
    assert seen == [] and NAME in str(results)


async def test_the_lines_of_the_page_work() -> None:
    seen: list[Any] = []
    names = run_documented("Google ADK", {"agent": create_agent(Scripted(model="m", requests=[]), reader(seen))})
    events = await run(names["app"])
    assert seen == [MENDED]
    calls = [call for event in events for call in event.get_function_calls()]
    assert [(call.name, call.args) for call in calls] == [(TOOL, MENDED)], "the history has the mended call"


async def test_a_call_that_cannot_be_mended_is_left_to_the_framework() -> None:
    seen: list[Any] = []
    model = Scripted(model="m", requests=[], name=TOOL, arguments={"limit": 30})
    app = App(name="app", root_agent=create_agent(model, reader(seen)), plugins=[Toolmend()])
    events = await run(app)
    assert seen == [] and events[-1].content.parts[0].text == "done"


async def test_notes_come_with_the_result() -> None:
    tool = Declared()
    model = Scripted(model="m", requests=[], name=TOOL, arguments={"path": "a.txt", "limit": 30})
    events = await run(App(name="app", root_agent=create_agent(model, tool), plugins=[Toolmend()]))
    assert tool.seen == [FILLED]
    results = [result.response for event in events for result in event.get_function_responses()]
    assert results[0]["note"].startswith(NOTE) and results[0]["result"] == "read"


async def test_text_that_is_not_json_is_mended_by_the_hook_for_litellm() -> None:
    seen: list[Any] = []
    litellm.callbacks = [LiteLLMHook()]
    try:
        with server([call_message('{"path": "a.txt" "limit": "30"}'), content_message("done")]) as (url, _):
            model = LiteLlm(model="openai/m", api_base=url, api_key="x")
            await run(App(name="app", root_agent=create_agent(model, reader(seen)), plugins=[Toolmend()]))
    finally:
        litellm.callbacks = []
    assert seen == [MENDED]
