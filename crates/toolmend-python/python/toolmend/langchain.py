"""LangChain and LangGraph: mends the calls of agents and tool nodes.

.. code-block:: python

    from toolmend.langchain import ToolmendMiddleware
    agent = create_agent(model, tools, middleware=[ToolmendMiddleware()])
"""

from __future__ import annotations

from collections.abc import Awaitable, Callable
from typing import Any

from toolmend._chat import mender_for
from toolmend._extras import extra
from toolmend._mender import Mender
from toolmend._notes import CallNotes, prepend
from toolmend._policy import Policy, Preset
from toolmend._text import MendError, loads

with extra("langchain"):
    from langchain.agents.middleware import AgentMiddleware
    from langchain_core.exceptions import OutputParserException
    from langchain_core.messages import AIMessage, ToolMessage
    from langchain_core.output_parsers import JsonOutputParser as _JsonOutputParser
    from langchain_core.utils.function_calling import convert_to_openai_tool

__all__ = ["JsonOutputParser", "ToolmendMiddleware", "awrap_tool_call", "mend_message", "wrap_tool_call"]


class ToolmendMiddleware(AgentMiddleware):  # type: ignore[type-arg]
    """Mends the calls of an agent's model before they run and before they are stored.

    LangChain sets calls aside that it cannot parse, and the agent then ends with an empty answer. This middleware mends
    such calls with the schema of their tool, so that they run. A call that cannot be mended stays among the invalid calls,
    with the reason as its error. Notes about values that were filled in come before the result of the tool.
    """

    def __init__(self, *, policy: Policy | Preset | None = None) -> None:
        super().__init__()
        self.policy = policy
        self._notes = CallNotes()

    def wrap_model_call(self, request: Any, handler: Callable[[Any], Any]) -> Any:
        return self._mend_response(request, handler(request))

    async def awrap_model_call(self, request: Any, handler: Callable[[Any], Awaitable[Any]]) -> Any:
        return self._mend_response(request, await handler(request))

    def wrap_tool_call(self, request: Any, handler: Callable[[Any], Any]) -> Any:
        return self._add_notes(request, handler(request))

    async def awrap_tool_call(self, request: Any, handler: Callable[[Any], Awaitable[Any]]) -> Any:
        return self._add_notes(request, await handler(request))

    def _add_notes(self, request: Any, result: Any) -> Any:
        if not isinstance(result, ToolMessage):
            return result
        content = self._notes.add_to(request.tool_call["id"], result.content)
        return result.model_copy(update={"content": content})

    def _mend_response(self, request: Any, response: Any) -> Any:
        mender = _compile_mender(request.tools, self.policy)
        if isinstance(response, AIMessage):
            return mend_message(response, mender, notes=self._notes)
        inner = getattr(response, "model_response", response)
        inner.result = [
            mend_message(message, mender, notes=self._notes) if isinstance(message, AIMessage) else message
            for message in inner.result
        ]
        return response


def _compile_mender(tools: list[Any], policy: Policy | Preset | None) -> Mender | None:
    definitions = [tool if isinstance(tool, dict) else convert_to_openai_tool(tool) for tool in tools]
    return mender_for(definitions, policy)


def mend_message(
    message: AIMessage, mender: Mender | None, *, notes: CallNotes | None = None
) -> AIMessage:
    """Returns the message with its calls mended. A call that stays broken stays among the invalid calls."""
    if mender is None or not (message.tool_calls or message.invalid_tool_calls):
        return message
    reason = message.response_metadata.get("finish_reason")
    notes = notes or CallNotes()
    calls, invalid = [], []
    for call in message.tool_calls:
        verdict = mender.mend(call["name"], call["args"])
        if verdict.outcome == "mended" and verdict.json is not None:
            call = {**call, "name": verdict.tool or call["name"], "args": verdict.arguments}
            notes.remember(call["id"], verdict.notes)
        calls.append(call)
    for broken in message.invalid_tool_calls:
        name = broken["name"] or ""
        verdict = mender.mend(name, broken["args"] or "", finish_reason=reason)
        if verdict.json is not None:
            notes.remember(broken["id"], verdict.notes)
            calls.append(
                {
                    "name": verdict.tool or name,
                    "args": verdict.arguments,
                    "id": broken["id"],
                    "type": "tool_call",
                }
            )
        else:
            invalid.append({**broken, "error": verdict.feedback or broken["error"]})
    return message.model_copy(update={"tool_calls": calls, "invalid_tool_calls": invalid})


def wrap_tool_call(request: Any, handler: Callable[[Any], Any]) -> Any:
    """Makes arguments match the schema of their tool, for ``ToolNode(tools, wrap_tool_call=wrap_tool_call)``.

    LangGraph has parsed the text already. Arguments that do not match are answered with feedback for the model. Notes about
    values that were filled in come before the result of the tool.
    """
    mended, notes = _mend_request(request)
    return mended if isinstance(mended, ToolMessage) else _with_notes(notes, handler(mended))


async def awrap_tool_call(request: Any, handler: Callable[[Any], Awaitable[Any]]) -> Any:
    """Does the same as :func:`wrap_tool_call` for asynchronous code."""
    mended, notes = _mend_request(request)
    return mended if isinstance(mended, ToolMessage) else _with_notes(notes, await handler(mended))


def _with_notes(notes: list[str], result: Any) -> Any:
    if not notes or not isinstance(result, ToolMessage):
        return result
    return result.model_copy(update={"content": prepend("\n".join(notes), result.content)})


def _mend_request(request: Any) -> tuple[Any, list[str]]:
    """Returns the request to run, or the message that answers it, and the notes about it."""
    mender = _compile_mender([request.tool], None) if request.tool is not None else None
    if mender is None:
        return request, []
    call = request.tool_call
    verdict = mender.mend(call["name"], call["args"])
    if verdict.outcome == "mended" and verdict.json is not None:
        return request.override(tool_call={**call, "args": verdict.arguments}), verdict.notes
    if not verdict and verdict.feedback:
        message = ToolMessage(verdict.feedback, name=call["name"], tool_call_id=call["id"], status="error")
        return message, []
    return request, []


class JsonOutputParser(_JsonOutputParser):
    """LangChain's parser of the same name, which also reads broken JSON."""

    def parse_result(self, result: list[Any], *, partial: bool = False) -> Any:
        try:
            return super().parse_result(result, partial=partial)
        except OutputParserException as error:
            try:
                return loads(result[0].text)
            except MendError as refusal:
                raise OutputParserException(str(refusal), llm_output=result[0].text) from error
