"""Chat completions as OpenAI's API has them: what several frameworks hand around."""

from __future__ import annotations

import json
from functools import lru_cache
from typing import Any

from toolmend._mender import Mender, declared
from toolmend._policy import Policy, Preset
from toolmend._text import fix


def mender_for(tools: Any, policy: Policy | Preset | None) -> Mender | None:
    """The mender of these tools, compiled once for each different list."""
    return _compiled(json.dumps(declared(tools), sort_keys=True), policy) if tools else None


@lru_cache(maxsize=64)
def _compiled(tools: str, policy: Policy | Preset | None) -> Mender:
    # A framework's tools are not the model's fault: what is broken in them is not checked.
    return Mender(tools, policy=policy, lenient=True)


def mended_call(
    mender: Mender, name: str, arguments: str, finish_reason: str | None = None
) -> tuple[str, str] | None:
    """Name and JSON of a call that had to be mended; nothing where it is fine, or where it cannot be."""
    verdict = mender.mend(name, arguments, finish_reason=finish_reason)
    if verdict.outcome != "mended" or verdict.json is None:
        return None
    return verdict.tool or name, verdict.json


def mend_completion(response: Any, mender: Mender | None, *, schema: Any = None, content: bool = False) -> Any:
    """Mends the calls of a chat completion in place; with ``content`` also the JSON that its messages are."""
    for choice in getattr(response, "choices", None) or ():
        message = getattr(choice, "message", None)
        reason = getattr(choice, "finish_reason", None)
        for call in getattr(message, "tool_calls", None) or ():
            function = getattr(call, "function", None)
            if mender is not None and function is not None:
                mended = mended_call(mender, function.name or "", function.arguments or "", reason)
                if mended is not None:
                    function.name, function.arguments = mended
        text = getattr(message, "content", None)
        if content and message is not None and isinstance(text, str) and not getattr(message, "tool_calls", None):
            verdict = fix(text, schema, finish_reason=reason)
            if verdict.outcome == "mended" and verdict.json is not None:
                message.content = verdict.json
    return response
