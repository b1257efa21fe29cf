"""LangChain agents and LangGraph's tool node, with a scripted chat model."""

from typing import Any

import pytest
from langchain.agents import create_agent
from langchain_core.language_models import BaseChatModel
from langchain_core.messages import AIMessage, ToolMessage
from langchain_core.messages.tool import default_tool_parser
from langchain_core.outputs import ChatGeneration, ChatResult, Generation
from langchain_core.tools import StructuredTool, tool
from langgraph.graph import END, START, MessagesState, StateGraph
from langgraph.prebuilt import ToolNode
from scripted import BROKEN, FILLED, HALF, NOTE, RELATIONAL, TOOL, TRUNCATED, run_documented

from toolmend.langchain import JsonOutputParser, ToolmendMiddleware, awrap_tool_call, wrap_tool_call


class Scripted(BaseChatModel):
    """Calls the tool with these arguments, then answers `done`. LangChain's own function parses the call."""

    arguments: str

    @property
    def _llm_type(self) -> str:
        return "scripted"

    def bind_tools(self, tools: Any, **kwargs: Any) -> Any:
        return self

    def _generate(self, messages: Any, *args: Any, **kwargs: Any) -> ChatResult:
        if isinstance(messages[-1], ToolMessage):
            return ChatResult(generations=[ChatGeneration(message=AIMessage("done"))])
        raw = [{"id": "c1", "function": {"name": TOOL, "arguments": self.arguments}}]
        calls, invalid = default_tool_parser(raw)
        message = AIMessage("", tool_calls=calls, invalid_tool_calls=invalid)
        return ChatResult(generations=[ChatGeneration(message=message)])


@pytest.fixture
def ran() -> list[dict[str, Any]]:
    return []


@pytest.fixture
def read_file(ran: list[dict[str, Any]]) -> Any:
    @tool
    def read_file(path: str, limit: int) -> str:
        """Reads a file."""
        ran.append({"path": path, "limit": limit})
        return "contents"

    return read_file


def agent(arguments: str, read_file: Any, middleware: list[Any]) -> Any:
    return create_agent(Scripted(arguments=arguments), [read_file], middleware=middleware)


ASK = {"messages": [("user", "read it")]}


def test_without_the_hook_the_agent_ends_with_an_empty_answer(read_file: Any, ran: list[Any]) -> None:
    messages = agent(BROKEN, read_file, []).invoke(ASK)["messages"]
    assert ran == []
    assert messages[-1].content == "" and messages[-1].invalid_tool_calls


def test_with_the_hook_the_tool_runs(read_file: Any, ran: list[Any]) -> None:
    messages = agent(BROKEN, read_file, [ToolmendMiddleware()]).invoke(ASK)["messages"]
    assert ran == [{"path": "a.txt", "limit": 30}]
    assert messages[-1].content == "done"
    assert messages[1].tool_calls[0]["args"] == ran[0], "the history has the mended call"


def test_the_lines_of_the_page_work(read_file: Any, ran: list[Any]) -> None:
    names = {"model": Scripted(arguments=BROKEN), "tools": [read_file]}
    assert run_documented("LangChain", names)["agent"].invoke(ASK)["messages"][-1].content == "done"
    assert ran == [{"path": "a.txt", "limit": 30}]
    node = run_documented("LangGraph", {"tools": [read_file]})["node"]
    tool_graph(node).invoke(parsed_call({"Path": "a.txt", "limit": "30"}))
    assert len(ran) == 2


async def test_with_the_hook_the_tool_runs_in_async_code(read_file: Any, ran: list[Any]) -> None:
    messages = (await agent(BROKEN, read_file, [ToolmendMiddleware()]).ainvoke(ASK))["messages"]
    assert ran == [{"path": "a.txt", "limit": 30}]
    assert messages[-1].content == "done"


def test_valid_json_is_made_to_match_the_schema(read_file: Any, ran: list[Any]) -> None:
    agent('{"Path": "a.txt", "limit": 3}', read_file, [ToolmendMiddleware()]).invoke(ASK)
    assert ran == [{"path": "a.txt", "limit": 3}]


def test_a_call_that_cannot_be_mended_has_the_reason(read_file: Any, ran: list[Any]) -> None:
    messages = agent(TRUNCATED, read_file, [ToolmendMiddleware()]).invoke(ASK)["messages"]
    assert ran == []
    assert "cut off" in messages[-1].invalid_tool_calls[0]["error"]


def graph(read_file: Any, **hooks: Any) -> Any:
    return tool_graph(ToolNode([read_file], handle_tool_errors=False, **hooks))


def tool_graph(node: ToolNode) -> Any:
    """Builds a LangGraph without an agent: only a tool node, which gets a parsed call."""
    builder = StateGraph(MessagesState)
    builder.add_node("tools", node)
    builder.add_edge(START, "tools")
    builder.add_edge("tools", END)
    return builder.compile()


def parsed_call(arguments: dict[str, Any]) -> dict[str, Any]:
    return {"messages": [AIMessage("", tool_calls=[{"name": TOOL, "args": arguments, "id": "c1"}])]}


def test_without_the_hook_the_tool_node_fails(read_file: Any, ran: list[Any]) -> None:
    with pytest.raises(Exception, match="path"):
        graph(read_file).invoke(parsed_call({"Path": "a.txt", "limit": "30"}))
    assert ran == []


async def test_with_the_hook_the_tool_node_runs(read_file: Any, ran: list[Any]) -> None:
    hooks = {"wrap_tool_call": wrap_tool_call, "awrap_tool_call": awrap_tool_call}
    graph(read_file, **hooks).invoke(parsed_call({"Path": "a.txt", "limit": "30"}))
    await graph(read_file, **hooks).ainvoke(parsed_call({"Path": "a.txt", "limit": "30"}))
    assert ran == [{"path": "a.txt", "limit": 30}] * 2


def test_the_tool_node_answers_with_feedback(read_file: Any, ran: list[Any]) -> None:
    message = graph(read_file, wrap_tool_call=wrap_tool_call).invoke(parsed_call({"limit": 3}))["messages"][-1]
    assert ran == [] and message.status == "error" and "path" in message.content


def test_the_parser_reads_broken_json() -> None:
    from langchain_core.exceptions import OutputParserException
    from langchain_core.output_parsers import JsonOutputParser as Stock

    with pytest.raises(OutputParserException):
        Stock().parse_result([Generation(text="{'a': 1,}")])
    assert JsonOutputParser().parse_result([Generation(text="{'a': 1,}")]) == {"a": 1}
    assert JsonOutputParser().parse_result([Generation(text='{"a": 1')]) == {"a": 1}, "as LangChain's parser does"
    with pytest.raises(OutputParserException, match="rejected"):
        JsonOutputParser().parse_result([Generation(text="no JSON here")])


def relational_tool(ran: list[Any]) -> Any:
    def read_file(**arguments: Any) -> str:
        ran.append(arguments)
        return "contents"

    return StructuredTool.from_function(read_file, name=TOOL, description="Reads.", args_schema=RELATIONAL)


async def test_the_model_reads_which_values_were_filled_in(ran: list[Any]) -> None:
    helper = agent(HALF, relational_tool(ran), [ToolmendMiddleware()])
    for messages in (helper.invoke(ASK)["messages"], (await helper.ainvoke(ASK))["messages"]):
        result = next(message for message in messages if isinstance(message, ToolMessage))
        assert result.content.startswith(NOTE) and result.content.endswith("\ncontents")
    assert ran == [FILLED] * 2


async def test_the_tool_node_puts_notes_before_the_result(ran: list[Any]) -> None:
    hooks = {"wrap_tool_call": wrap_tool_call, "awrap_tool_call": awrap_tool_call}
    node, call = graph(relational_tool(ran), **hooks), parsed_call({"path": "a.txt", "limit": 30})
    for answer in (node.invoke(call), await node.ainvoke(call)):
        assert answer["messages"][-1].content.startswith(NOTE)
    assert ran == [FILLED] * 2
