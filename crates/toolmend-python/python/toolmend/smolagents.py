"""smolagents: wraps a model and mends its calls before the agent sees them.

.. code-block:: python

    from toolmend.smolagents import Mended
    agent = ToolCallingAgent(tools=tools, model=Mended(model))
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from typing import Any

from toolmend._chat import mender_for
from toolmend._extras import extra
from toolmend._mender import Mender
from toolmend._policy import Policy, Preset

with extra("smolagents"):
    from smolagents.models import (  # type: ignore[import-untyped]
        ChatMessage,
        ChatMessageStreamDelta,
        ChatMessageToolCall,
        ChatMessageToolCallFunction,
        ChatMessageToolCallStreamDelta,
        Model,
        agglomerate_stream_deltas,
        get_tool_json_schema,
    )

__all__ = ["Mended"]


class Mended(Model):  # type: ignore[misc]
    """Wraps a model and mends the calls in its answers. Calls in the text of an answer are read too, in every dialect.

    A call that cannot be mended is left to the agent, which shows the error to the model.
    """

    def __init__(self, model: Model, *, policy: Policy | Preset | None = None) -> None:
        super().__init__(model_id=model.model_id)
        self.model = model
        self.policy = policy

    def __getattr__(self, name: str) -> Any:
        # The agent asks models for what only some of them have.
        if name in ("model", "generate_stream"):
            raise AttributeError(name)
        return getattr(self.model, name)

    def generate(self, *args: Any, tools_to_call_from: Any = None, **kwargs: Any) -> ChatMessage:
        message = self.model.generate(*args, tools_to_call_from=tools_to_call_from, **kwargs)
        return self._mend_message(message, tools_to_call_from)

    def generate_stream(self, *args: Any, tools_to_call_from: Any = None, **kwargs: Any) -> Iterator[Any]:
        """Holds calls back until they are complete, because a delta that was sent cannot be changed."""
        deltas = []
        for delta in self.model.generate_stream(*args, tools_to_call_from=tools_to_call_from, **kwargs):
            deltas.append(delta)
            if delta.content or not delta.tool_calls:
                yield replace(delta, tool_calls=None)
        message = self._mend_message(agglomerate_stream_deltas(deltas), tools_to_call_from)
        calls = [
            ChatMessageToolCallStreamDelta(index=index, id=call.id, type=call.type, function=call.function)
            for index, call in enumerate(message.tool_calls or ())
        ]
        if calls:
            yield ChatMessageStreamDelta(tool_calls=calls)

    def to_dict(self) -> dict[str, Any]:
        described: dict[str, Any] = self.model.to_dict()
        return described

    def _mend_message(self, message: ChatMessage, tools: Any) -> ChatMessage:
        mender = mender_for([get_tool_json_schema(tool) for tool in tools or ()], self.policy)
        if mender is None:
            return message
        if message.tool_calls:
            for call in message.tool_calls:
                _mend_call(call, mender)
        elif isinstance(message.content, str):
            message.tool_calls = _read_calls(message.content, mender) or None
        return message


def _mend_call(call: ChatMessageToolCall, mender: Mender) -> None:
    verdict = mender.mend(call.function.name, call.function.arguments or {})
    if verdict.outcome == "mended":
        # The deltas of streams are joined as text.
        call.function.name, call.function.arguments = verdict.tool or call.function.name, verdict.json


def _read_calls(text: str, mender: Mender) -> list[ChatMessageToolCall]:
    """The calls in a text, if all of them run."""
    calls = mender.turn(text).calls
    if not all(call.runs for call in calls):
        return []
    return [
        ChatMessageToolCall(
            function=ChatMessageToolCallFunction(name=call.name, arguments=call.json),
            id=call.id or f"call_{index}",
            type="function",
        )
        for index, call in enumerate(calls)
    ]
