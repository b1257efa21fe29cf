"""Chat completions in the format of OpenAI's API, which several frameworks use."""

from __future__ import annotations

import json
from functools import lru_cache
from typing import Any

from toolmend._mender import Mender, to_definitions
from toolmend._notes import CallNotes
from toolmend._policy import Policy, Preset
from toolmend._text import fix


def mender_for(tools: Any, policy: Policy | Preset | None) -> Mender | None:
    """Returns the mender of these tools, compiled once for each different list."""
    return _compile_mender(json.dumps(to_definitions(tools), sort_keys=True), policy) if tools else None


@lru_cache(maxsize=64)
def _compile_mender(tools: str, policy: Policy | Preset | None) -> Mender:
    # The user of a framework cannot fix its tools, so an invalid schema is not an error.
    return Mender(tools, policy=policy, lenient=True)


def mend_call(
    mender: Mender,
    name: str,
    arguments: str,
    finish_reason: str | None = None,
    *,
    call_id: str | None = None,
    notes: CallNotes | None = None,
) -> tuple[str, str] | None:
    """Returns the name and the JSON of a mended call, or ``None`` if the call is valid or cannot be mended."""
    verdict = mender.mend(name, arguments, finish_reason=finish_reason)
    if verdict.outcome != "mended" or verdict.json is None:
        return None
    if notes is not None:
        notes.remember(call_id, verdict.notes)
    return verdict.tool or name, verdict.json


def mend_completion(
    response: Any,
    mender: Mender | None,
    *,
    schema: Any = None,
    content: bool = False,
    notes: CallNotes | None = None,
) -> Any:
    """Mends the calls of a chat completion in place. With ``content`` also mends messages that are JSON."""
    for choice in getattr(response, "choices", None) or ():
        message = getattr(choice, "message", None)
        reason = getattr(choice, "finish_reason", None)
        for call in getattr(message, "tool_calls", None) or ():
            function = getattr(call, "function", None)
            if mender is not None and function is not None:
                call_id = getattr(call, "id", None)
                mended = mend_call(
                    mender, function.name or "", function.arguments or "", reason, call_id=call_id, notes=notes
                )
                if mended is not None:
                    function.name, function.arguments = mended
        text = getattr(message, "content", None)
        if content and message is not None and isinstance(text, str) and not getattr(message, "tool_calls", None):
            verdict = fix(text, schema, finish_reason=reason)
            if verdict.outcome == "mended" and verdict.json is not None:
                message.content = verdict.json
    return response
