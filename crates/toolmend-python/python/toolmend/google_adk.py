"""Google ADK: a plugin that mends the calls of every agent in an app.

.. code-block:: python

    from toolmend.google_adk import Toolmend
    app = App(name="app", root_agent=agent, plugins=[Toolmend()])

The framework has parsed the arguments at this point. With models of LiteLLM, ``toolmend.litellm`` also mends arguments that are not
JSON.
"""

from __future__ import annotations

import json
from collections import OrderedDict
from typing import Any

from toolmend._chat import mender_for
from toolmend._extras import extra
from toolmend._mender import Mender
from toolmend._notes import CallNotes
from toolmend._policy import Policy, Preset

with extra("google-adk"):
    from google.adk.plugins.base_plugin import BasePlugin

__all__ = ["Toolmend"]

# Requests whose answers are awaited. One that was cancelled must not stay forever.
_MAX_REQUESTS = 256


class Toolmend(BasePlugin):
    """Mends names and arguments in the answers of models, before they run and before they are stored.

    A call that cannot be mended is left to the framework. Notes about values that were filled in are added to the tool's result.
    """

    def __init__(self, *, name: str = "toolmend", policy: Policy | Preset | None = None) -> None:
        super().__init__(name=name)
        self.policy = policy
        self._menders: OrderedDict[tuple[str, str], Mender | None] = OrderedDict()
        self._notes = CallNotes()

    async def before_model_callback(self, *, callback_context: Any, llm_request: Any) -> None:
        declared = [
            declaration
            for tool in llm_request.config.tools or ()
            for declaration in getattr(tool, "function_declarations", None) or ()
        ]
        tools = [declaration.model_dump(mode="json", exclude_none=True) for declaration in declared]
        self._menders[_key_of(callback_context)] = mender_for([_to_definition(tool) for tool in tools], self.policy)
        while len(self._menders) > _MAX_REQUESTS:
            self._menders.popitem(last=False)

    async def after_model_callback(self, *, callback_context: Any, llm_response: Any) -> None:
        # The parts of a stream come again as a whole.
        if llm_response.partial or llm_response.content is None:
            return
        mender = self._menders.get(_key_of(callback_context))
        for part in llm_response.content.parts or ():
            call = part.function_call
            if mender is None or call is None:
                continue
            verdict = mender.mend(call.name or "", call.args or {})
            if verdict.outcome == "mended":
                call.name, call.args = verdict.tool or call.name, verdict.arguments
                self._notes.remember(_key_of_call(call.name, call.args), verdict.notes)

    async def after_tool_callback(
        self, *, tool: Any, tool_args: dict[str, Any], tool_context: Any, result: Any
    ) -> dict[str, Any] | None:
        notes = self._notes.get(_key_of_call(tool.name, tool_args))
        return {"note": notes, **result} if notes and isinstance(result, dict) else None


def _key_of(context: Any) -> tuple[str, str]:
    return context.invocation_id, context.agent_name


def _key_of_call(name: str, arguments: Any) -> str:
    """A call has no id until the framework stores it, so its notes are found by what it does."""
    return name + json.dumps(arguments, sort_keys=True, default=str)


def _to_definition(declaration: dict[str, Any]) -> dict[str, Any]:
    schema = declaration.get("parameters_json_schema", declaration.get("parameters"))
    return {"name": declaration["name"], "description": declaration.get("description", ""), "parameters": schema}
