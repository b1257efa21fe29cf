"""OpenAI Agents SDK: wraps a model and mends its calls before the run sees them.

.. code-block:: python

    from toolmend.openai_agents import Mended
    agent = Agent(name="a", model=Mended("gpt-5"), tools=[...])
"""

from __future__ import annotations

from collections.abc import AsyncIterator
from typing import Any

from toolmend._chat import mend_call, mender_for
from toolmend._extras import extra
from toolmend._mender import Mender
from toolmend._notes import CallNotes
from toolmend._policy import Policy, Preset

with extra("openai-agents"):
    from agents import Model
    from agents.models.multi_provider import MultiProvider
    from openai.types.responses import ResponseFunctionToolCall

__all__ = ["Mended"]

# The positions of the input, the tools and the handoffs among the arguments of a model.
_INPUT, _TOOLS, _HANDOFFS = 1, 3, 5


class Mended(Model):
    """Wraps a model of the SDK, or the name of one, and mends its calls. The history contains the mended calls.

    Notes about values that were filled in come before the result of the tool.
    """

    def __init__(self, model: Model | str, *, policy: Policy | Preset | None = None) -> None:
        self._model = model
        self._policy = policy
        self._notes = CallNotes()

    @property
    def model(self) -> Model:
        """The wrapped model."""
        if isinstance(self._model, str):
            self._model = MultiProvider().get_model(self._model)
        return self._model

    async def get_response(self, *args: Any, **kwargs: Any) -> Any:
        args, kwargs = self._add_notes(args, kwargs)
        response = await self.model.get_response(*args, **kwargs)
        mender = self._mender_for(args, kwargs)
        response.output = [self._mend_item(item, mender) for item in response.output]
        return response

    async def stream_response(self, *args: Any, **kwargs: Any) -> AsyncIterator[Any]:
        """Holds arguments back until they are complete, because an event that was sent cannot be changed."""
        args, kwargs = self._add_notes(args, kwargs)
        mender = self._mender_for(args, kwargs)
        names: dict[str, str] = {}
        held: Any = None
        async for event in self.model.stream_response(*args, **kwargs):
            kind = event.type
            if kind == "response.output_item.added" and isinstance(event.item, ResponseFunctionToolCall):
                names[event.item.id or ""] = event.item.name
            elif kind == "response.function_call_arguments.delta":
                held = event
                continue
            elif kind == "response.function_call_arguments.done":
                name = names.get(event.item_id) or getattr(event, "name", "")
                mended = mend_call(mender, name, event.arguments) if mender else None
                if mended is not None:
                    event = event.model_copy(update={"arguments": mended[1]})
                if held is not None:
                    yield held.model_copy(update={"delta": event.arguments})
                    held = None
            elif kind == "response.output_item.done":
                event = event.model_copy(update={"item": self._mend_item(event.item, mender)})
            elif kind in ("response.completed", "response.incomplete"):
                output = [self._mend_item(item, mender) for item in event.response.output]
                event = event.model_copy(
                    update={"response": event.response.model_copy(update={"output": output})}
                )
            yield event

    async def close(self) -> None:
        if not isinstance(self._model, str):
            await self._model.close()

    def get_retry_advice(self, request: Any) -> Any:
        return self.model.get_retry_advice(request)

    def _add_notes(
        self, args: tuple[Any, ...], kwargs: dict[str, Any]
    ) -> tuple[tuple[Any, ...], dict[str, Any]]:
        """Returns the arguments of a model with the notes before the results in the input."""
        given = kwargs["input"] if "input" in kwargs else args[_INPUT]
        if not isinstance(given, list):
            return args, kwargs
        items = [
            {**item, "output": self._notes.add_to(item.get("call_id"), item.get("output"))}
            if isinstance(item, dict) and item.get("type") == "function_call_output"
            else item
            for item in given
        ]
        if "input" in kwargs:
            return args, {**kwargs, "input": items}
        return (*args[:_INPUT], items, *args[_INPUT + 1 :]), kwargs

    def _mend_item(self, item: Any, mender: Mender | None) -> Any:
        if mender is None or not isinstance(item, ResponseFunctionToolCall):
            return item
        mended = mend_call(mender, item.name, item.arguments, call_id=item.call_id, notes=self._notes)
        return item if mended is None else item.model_copy(update={"name": mended[0], "arguments": mended[1]})

    def _mender_for(self, args: tuple[Any, ...], kwargs: dict[str, Any]) -> Mender | None:
        tools = kwargs["tools"] if "tools" in kwargs else args[_TOOLS]
        handoffs = kwargs["handoffs"] if "handoffs" in kwargs else args[_HANDOFFS]
        definitions = [
            {"name": tool.name, "parameters": tool.params_json_schema}
            for tool in tools
            if hasattr(tool, "params_json_schema")
        ]
        definitions += [
            {"name": handoff.tool_name, "parameters": handoff.input_json_schema} for handoff in handoffs
        ]
        return mender_for(definitions, self._policy)
