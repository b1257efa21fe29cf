"""LiteLLM: calls of any provider are mended, in the SDK and in the proxy.

.. code-block:: python

    from toolmend.litellm import Toolmend
    litellm.callbacks = [Toolmend()]

LiteLLM asks callbacks only in its asynchronous functions: for ``litellm.completion`` take :func:`completion`. The proxy
finds ``callbacks: toolmend.litellm.proxy_handler`` in its configuration.
"""

from __future__ import annotations

from collections.abc import AsyncGenerator
from typing import Any

import litellm
from litellm.integrations.custom_logger import CustomLogger

from toolmend._chat import mend_completion, mended_call, mender_for
from toolmend._mender import Mender
from toolmend._policy import Policy, Preset

__all__ = ["Toolmend", "completion", "proxy_handler"]


class Toolmend(CustomLogger):
    """A callback that mends the calls of answers."""

    def __init__(self, *, policy: Policy | Preset | None = None) -> None:
        super().__init__()
        self.policy = policy

    async def async_post_call_success_deployment_hook(
        self, request_data: dict[str, Any], response: Any, call_type: Any
    ) -> Any:
        return mend_completion(response, mender_for(request_data.get("tools"), self.policy))

    async def async_post_call_success_hook(
        self, data: dict[str, Any], user_api_key_dict: Any, response: Any
    ) -> Any:
        return mend_completion(response, mender_for(data.get("tools"), self.policy))

    async def async_post_call_streaming_iterator_hook(
        self, user_api_key_dict: Any, response: Any, request_data: dict[str, Any]
    ) -> AsyncGenerator[Any, None]:
        mender = mender_for(request_data.get("tools"), self.policy)
        held = _Held(mender) if mender is not None else None
        async for chunk in response:
            for told in held.push(chunk) if held is not None else (chunk,):
                yield told
        for told in held.rest() if held is not None else ():
            yield told


class _Held:
    """The calls of a stream. They are told when they are complete: what was told cannot be taken back."""

    def __init__(self, mender: Mender) -> None:
        self.mender = mender
        self.calls: dict[int, dict[int, Any]] = {}
        self.last: Any = None

    def push(self, chunk: Any) -> list[Any]:
        """What the client is told for this chunk."""
        told = []
        waits = False
        self.last = chunk
        for choice in chunk.choices:
            for call in choice.delta.tool_calls or ():
                self._add(choice.index, call)
                waits = True
            if choice.delta.tool_calls:
                choice.delta.tool_calls = None
            if choice.finish_reason:
                waits = False
                told += self._whole(choice.index, choice.finish_reason)
        if not waits or any(_says_something(choice) for choice in chunk.choices):
            told.append(chunk)
        return told

    def rest(self) -> list[Any]:
        """What a stream that broke off had begun: nobody knows what was missing, so it is told as it came."""
        return [chunk for index in sorted(self.calls) for chunk in self._whole(index, "length")]

    def _add(self, choice: int, call: Any) -> None:
        known = self.calls.setdefault(choice, {}).setdefault(call.index, call)
        if known is not call:
            function = known.function
            function.name = (function.name or "") + (call.function.name or "")
            function.arguments = (function.arguments or "") + (call.function.arguments or "")

    def _whole(self, choice: int, reason: str) -> list[Any]:
        """A chunk with all calls of a choice."""
        calls = [call for _, call in sorted(self.calls.pop(choice, {}).items())]
        if not calls:
            return []
        for call in calls:
            function = call.function
            mended = mended_call(self.mender, function.name or "", function.arguments or "", reason)
            if mended is not None:
                function.name, function.arguments = mended
        whole = self.last.model_copy(deep=True)
        whole.choices = [other for other in whole.choices if other.index == choice] or whole.choices[:1]
        whole.choices[0].index = choice
        whole.choices[0].finish_reason = None
        whole.choices[0].delta.content = None
        whole.choices[0].delta.tool_calls = calls
        return [whole]


def _says_something(choice: Any) -> bool:
    delta = choice.delta
    return any(getattr(delta, name, None) for name in ("content", "reasoning_content", "function_call"))


def completion(*args: Any, policy: Policy | Preset | None = None, **kwargs: Any) -> Any:
    """``litellm.completion`` with the calls of the answer mended. Streams pass as they are."""
    response = litellm.completion(*args, **kwargs)
    return mend_completion(response, mender_for(kwargs.get("tools"), policy))


proxy_handler = Toolmend()
