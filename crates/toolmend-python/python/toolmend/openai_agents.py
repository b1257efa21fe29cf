"""OpenAI Agents SDK: wraps a model and mends its calls before the run sees them.

.. code-block:: python

    from toolmend.openai_agents import Mended
    agent = Agent(name="a", model=Mended("gpt-5"), tools=[...])
"""

from __future__ import annotations

from collections.abc import AsyncIterator
from typing import Any

from agents import Model
from agents.models.multi_provider import MultiProvider
from openai.types.responses import ResponseFunctionToolCall

from toolmend._chat import mend_call, mender_for
from toolmend._mender import Mender
from toolmend._policy import Policy, Preset

__all__ = ["Mended"]

# The positions of the tools and the handoffs among the arguments of a model.
_TOOLS, _HANDOFFS = 3, 5


class Mended(Model):
    """Wraps a model of the SDK, or the name of one, and mends its calls. The history contains the mended calls."""

    def __init__(self, model: Model | str, *, policy: Policy | Preset | None = None) -> None:
        self._model = model
        self._policy = policy

    @property
    def model(self) -> Model:
        """The wrapped model."""
        if isinstance(self._model, str):
            self._model = MultiProvider().get_model(self._model)
        return self._model

    async def get_response(self, *args: Any, **kwargs: Any) -> Any:
        response = await self.model.get_response(*args, **kwargs)
        mender = self._mender_for(args, kwargs)
        response.output = [_mend_item(item, mender) for item in response.output]
        return response

    async def stream_response(self, *args: Any, **kwargs: Any) -> AsyncIterator[Any]:
        """Holds arguments back until they are complete, because an event that was sent cannot be changed."""
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
                event = event.model_copy(update={"item": _mend_item(event.item, mender)})
            elif kind in ("response.completed", "response.incomplete"):
                output = [_mend_item(item, mender) for item in event.response.output]
                event = event.model_copy(
                    update={"response": event.response.model_copy(update={"output": output})}
                )
            yield event

    async def close(self) -> None:
        if not isinstance(self._model, str):
            await self._model.close()

    def get_retry_advice(self, request: Any) -> Any:
        return self.model.get_retry_advice(request)

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


def _mend_item(item: Any, mender: Mender | None) -> Any:
    if mender is None or not isinstance(item, ResponseFunctionToolCall):
        return item
    mended = mend_call(mender, item.name, item.arguments)
    return item if mended is None else item.model_copy(update={"name": mended[0], "arguments": mended[1]})
