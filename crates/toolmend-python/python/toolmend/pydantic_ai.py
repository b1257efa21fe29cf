"""Pydantic AI: mends arguments that do not validate, and validates them again.

.. code-block:: python

    from toolmend.pydantic_ai import Toolmend
    agent = Agent("openai:gpt-5", tools=[...], capabilities=[Toolmend()])
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any

from toolmend._chat import mender_for
from toolmend._extras import extra
from toolmend._notes import CallNotes
from toolmend._policy import Policy, Preset
from toolmend._text import fix

with extra("pydantic-ai"):
    from pydantic import ValidationError
    from pydantic_ai import ModelRetry
    from pydantic_ai.capabilities import AbstractCapability

__all__ = ["Toolmend"]


@dataclass
class Toolmend(AbstractCapability[Any]):
    """Mends tool calls and structured output. Pydantic validates before and after.

    Notes about values that were filled in come before the result of the tool.
    """

    policy: Policy | Preset | None = None
    _notes: CallNotes = field(default_factory=CallNotes, init=False, repr=False)

    async def wrap_tool_validate(
        self, ctx: Any, *, call: Any, tool_def: Any, args: Any, handler: Any
    ) -> dict[str, Any]:
        try:
            return await handler(args)  # type: ignore[no-any-return]
        except ValidationError as error:
            definition = {"name": tool_def.name, "parameters": tool_def.parameters_json_schema}
            mender = mender_for([definition], self.policy)
            assert mender is not None
            verdict = mender.mend(tool_def.name, {} if args is None else args)
            if verdict.outcome != "mended" or verdict.json is None:
                if verdict.feedback is None:
                    raise
                raise ModelRetry(verdict.feedback) from error
            validated = await handler(verdict.json)
            # The next request shows the model the call that ran, not the one that it wrote.
            call.args = verdict.json
            self._notes.remember(call.tool_call_id, verdict.notes)
            return validated  # type: ignore[no-any-return]

    async def after_tool_execute(
        self, ctx: Any, *, call: Any, tool_def: Any, args: Any, result: Any
    ) -> Any:
        return self._notes.add_to(call.tool_call_id, result)

    async def before_output_validate(self, ctx: Any, *, output_context: Any, output: Any) -> Any:
        if getattr(ctx, "partial_output", False) or not isinstance(output, str):
            return output
        definition = getattr(output_context, "object_def", None)
        verdict = fix(output, getattr(definition, "json_schema", None), policy=self.policy)
        return verdict.json if verdict.outcome == "mended" and verdict.json is not None else output
