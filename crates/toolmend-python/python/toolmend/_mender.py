"""Calls of declared tools."""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping
from typing import Any

from toolmend import _native
from toolmend._policy import Policy, Preset, rules
from toolmend._schema import is_type, schema_of


class Mender(_native.Mender):
    """Mends the calls of a set of tools. Compiled once, shared between threads.

    ``tools`` is a list (or one) of: tool definitions for OpenAI, Anthropic, MCP, Gemini or Bedrock; Pydantic models,
    dataclasses, typed dictionaries and callables, which are called by their name; a mapping of names to any of these or
    to JSON Schemas; objects with ``name`` and a schema, as MCP clients and frameworks have them. ``None`` declares
    nothing, and a bare JSON Schema is that of whatever tool is called.

    With ``lenient=True`` a broken schema becomes a line in ``notes`` and its tool is unconstrained.
    """

    def __new__(
        cls,
        tools: Any = None,
        *,
        policy: Policy | Preset | None = None,
        feedback_limit: int | None = None,
        lenient: bool = False,
    ) -> Mender:
        text = tools if isinstance(tools, str) else json.dumps(declared(tools), ensure_ascii=False)
        return super().__new__(cls, text, rules(policy), feedback_limit, lenient)

    def mend(self, tool: str, arguments: Any, *, finish_reason: str | None = None) -> _native.Verdict:
        """The verdict on one call. Arguments are the text that the model wrote, or a value that was parsed already."""
        if isinstance(arguments, str):
            return self.mend_text(tool, arguments, True, finish_reason)
        return self.mend_text(tool, json.dumps(arguments, ensure_ascii=False), False, finish_reason)


def declared(tools: Any) -> Any:
    """Tools as JSON has them."""
    if tools is None:
        return []
    if is_type(tools):
        return [_definition(tools)]
    if isinstance(tools, Mapping):
        return {name: schema_of(tool) if is_type(tool) else tool for name, tool in tools.items()}
    if _named(tools):
        return [_definition(tools)]
    if isinstance(tools, Iterable):
        return [_definition(tool) for tool in tools]
    raise TypeError(f"expected tools, found {type(tools).__name__}")


# Where frameworks and clients keep the schema of a tool.
_SCHEMAS = ("input_schema", "inputSchema", "parameters", "params_json_schema", "parameters_json_schema", "schema")


def _named(tool: Any) -> bool:
    return isinstance(getattr(tool, "name", None), str)


def _definition(tool: Any) -> Any:
    if isinstance(tool, (str, dict)):
        return tool
    if is_type(tool):
        return {"name": tool.__name__, "description": tool.__doc__ or "", "parameters": schema_of(tool)}
    if _named(tool):
        schemas = (getattr(tool, name, None) for name in _SCHEMAS)
        schema = next((schema for schema in schemas if isinstance(schema, dict)), None)
        return {"name": tool.name, "parameters": schema, **_annotations(tool)}
    dump = getattr(tool, "model_dump", None)
    if dump is not None:
        return dump(mode="json", exclude_none=True, by_alias=True)
    raise TypeError(f"expected a tool, found {type(tool).__name__}")


def _annotations(tool: Any) -> dict[str, Any]:
    """Of the annotations of MCP one matters here: what cannot be undone is mended with more care."""
    notes = getattr(tool, "annotations", None)
    hint = getattr(notes, "destructiveHint", None) or getattr(notes, "destructive_hint", None)
    return {"annotations": {"destructiveHint": True}} if hint is True else {}
