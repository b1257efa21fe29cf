"""LiteLLM: mends the calls of any provider, in the SDK and in the proxy.

.. code-block:: python

    from toolmend.litellm import Toolmend
    litellm.callbacks = [Toolmend()]

LiteLLM runs callbacks only in its asynchronous functions; replace ``litellm.completion`` by :func:`completion`. In the
configuration of the proxy, set ``callbacks: toolmend.litellm.proxy_handler``.
"""

from __future__ import annotations

from collections.abc import AsyncGenerator
from typing import Any

from toolmend._chat import mend_call, mend_completion, mender_for
from toolmend._extras import extra
from toolmend._mender import Mender
from toolmend._notes import CallNotes
from toolmend._policy import Policy, Preset

with extra("litellm"):
    import litellm
    from litellm.integrations.custom_logger import CustomLogger

__all__ = ["Toolmend", "completion", "proxy_handler"]


class Toolmend(CustomLogger):
    """A callback that mends the calls in answers. Notes about values that were filled in come before the tool's result."""

    def __init__(self, *, policy: Policy | Preset | None = None) -> None:
        super().__init__()
        self.policy = policy
        self._notes = CallNotes()

    async def async_pre_call_deployment_hook(self, kwargs: dict[str, Any], call_type: Any) -> dict[str, Any]:
        if "messages" in kwargs:
            kwargs["messages"] = self._notes.add_to_messages(kwargs["messages"])
        return kwargs

    async def async_post_call_success_deployment_hook(
        self, request_data: dict[str, Any], response: Any, call_type: Any
    ) -> Any:
        mender = mender_for(request_data.get("tools"), self.policy)
        return mend_completion(response, mender, notes=self._notes)

    async def async_post_call_success_hook(
        self, data: dict[str, Any], user_api_key_dict: Any, response: Any
    ) -> Any:
        return mend_completion(response, mender_for(data.get("tools"), self.policy), notes=self._notes)

    async def async_post_call_streaming_iterator_hook(
        self, user_api_key_dict: Any, response: Any, request_data: dict[str, Any]
    ) -> AsyncGenerator[Any, None]:
        mender = mender_for(request_data.get("tools"), self.policy)
        calls = _StreamedCalls(mender, self._notes) if mender is not None else None
        async for chunk in response:
            for ready in calls.push(chunk) if calls is not None else (chunk,):
                yield ready
        for ready in calls.finish() if calls is not None else ():
            yield ready


class _StreamedCalls:
    """Holds the calls of a stream back until they are complete, because a chunk that was sent cannot be changed."""

    def __init__(self, mender: Mender, notes: CallNotes) -> None:
        self.mender = mender
        self.notes = notes
        self.calls: dict[int, dict[int, Any]] = {}
        self.last: Any = None

    def push(self, chunk: Any) -> list[Any]:
        """Returns the chunks that the client gets for this chunk."""
        ready = []
        is_held = False
        self.last = chunk
        for choice in chunk.choices:
            for call in choice.delta.tool_calls or ():
                self._add(choice.index, call)
                is_held = True
            if choice.delta.tool_calls:
                choice.delta.tool_calls = None
            if choice.finish_reason:
                is_held = False
                ready += self._complete_calls(choice.index, choice.finish_reason)
        if not is_held or any(_has_other_content(choice) for choice in chunk.choices):
            ready.append(chunk)
        return ready

    def finish(self) -> list[Any]:
        """Returns the calls of a stream that broke off. They are truncated, so they are not mended."""
        return [chunk for index in sorted(self.calls) for chunk in self._complete_calls(index, "length")]

    def _add(self, choice: int, call: Any) -> None:
        known = self.calls.setdefault(choice, {}).setdefault(call.index, call)
        if known is not call:
            function = known.function
            function.name = (function.name or "") + (call.function.name or "")
            function.arguments = (function.arguments or "") + (call.function.arguments or "")

    def _complete_calls(self, choice: int, reason: str) -> list[Any]:
        """Returns a chunk with all calls of a choice, mended."""
        calls = [call for _, call in sorted(self.calls.pop(choice, {}).items())]
        if not calls:
            return []
        for call in calls:
            function = call.function
            name, arguments = function.name or "", function.arguments or ""
            mended = mend_call(self.mender, name, arguments, reason, call_id=call.id, notes=self.notes)
            if mended is not None:
                function.name, function.arguments = mended
        whole = self.last.model_copy(deep=True)
        whole.choices = [other for other in whole.choices if other.index == choice] or whole.choices[:1]
        whole.choices[0].index = choice
        whole.choices[0].finish_reason = None
        whole.choices[0].delta.content = None
        whole.choices[0].delta.tool_calls = calls
        return [whole]


def _has_other_content(choice: Any) -> bool:
    delta = choice.delta
    return any(getattr(delta, name, None) for name in ("content", "reasoning_content", "function_call"))


def completion(*args: Any, policy: Policy | Preset | None = None, **kwargs: Any) -> Any:
    """Does the same as ``litellm.completion`` and mends the calls of the answer. Streams pass unchanged."""
    if "messages" in kwargs:
        kwargs["messages"] = _notes.add_to_messages(kwargs["messages"])
    response = litellm.completion(*args, **kwargs)
    return mend_completion(response, mender_for(kwargs.get("tools"), policy), notes=_notes)


# The notes of the calls that `completion` mended.
_notes = CallNotes()


proxy_handler = Toolmend()
