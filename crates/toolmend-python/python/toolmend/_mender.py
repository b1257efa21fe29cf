"""Mending of calls of declared tools."""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping
from typing import Any

from toolmend import _native
from toolmend._policy import Policy, Preset, to_rules
from toolmend._schema import is_type, schema_of


class Mender(_native.Mender):
    """Mends calls of a set of tools. It is compiled once and can be shared between threads.

    ``tools`` is one of the following, or a list of them: a tool definition for OpenAI, Anthropic, MCP, Gemini or Bedrock;
    a Pydantic model, dataclass, typed dictionary or callable, whose name is the tool's; a mapping from names to any of
    these or to JSON Schemas; an object with ``name`` and a schema, as MCP clients and frameworks have. ``None`` declares
    no tools. A JSON Schema alone applies to every tool that is called.

    With ``lenient=True``, an invalid schema adds a line to ``notes`` and leaves its tool unconstrained.
    """

    def __new__(
        cls,
        tools: Any = None,
        *,
        policy: Policy | Preset | None = None,
        feedback_limit: int | None = None,
        lenient: bool = False,
    ) -> Mender:
        text = tools if isinstance(tools, str) else json.dumps(to_definitions(tools), ensure_ascii=False)
        return super().__new__(cls, text, to_rules(policy), feedback_limit, lenient)

    def mend(self, tool: str, arguments: Any, *, finish_reason: str | None = None) -> _native.Verdict:
        """Returns the verdict on one call. ``arguments`` is the text that the model wrote, or a parsed value."""
        if isinstance(arguments, str):
            return self.mend_text(tool, arguments, True, finish_reason)
        return self.mend_text(tool, json.dumps(arguments, ensure_ascii=False), False, finish_reason)

    def answer(self, text: str, response_format: Any, *, finish_reason: str | None = None) -> _native.Verdict:
        """Returns the verdict on an answer in JSON. ``response_format`` is that of the request, or a type of Python.

        If the text has exactly one strict value, and it fits, the verdict is clean and about that value. Otherwise the text
        is mended.
        """
        if is_type(response_format):
            schema = schema_of(response_format)
            response_format = {"type": "json_schema", "json_schema": {"name": "answer", "schema": schema}}
        return self.answer_text(text, json.dumps(response_format, ensure_ascii=False), finish_reason)


def to_definitions(tools: Any) -> Any:
    """Converts tools to definitions that can be written as JSON."""
    if tools is None:
        return []
    if is_type(tools):
        return [_to_definition(tools)]
    if isinstance(tools, Mapping):
        return {name: schema_of(tool) if is_type(tool) else tool for name, tool in tools.items()}
    if _has_name(tools):
        return [_to_definition(tools)]
    if isinstance(tools, Iterable):
        return [_to_definition(tool) for tool in tools]
    raise TypeError(f"expected tools, found {type(tools).__name__}")


# The attributes in which frameworks and clients store the schema of a tool.
_SCHEMA_ATTRIBUTES = ("input_schema", "inputSchema", "parameters", "params_json_schema", "parameters_json_schema", "schema")


def _has_name(tool: Any) -> bool:
    return isinstance(getattr(tool, "name", None), str)


def _to_definition(tool: Any) -> Any:
    if isinstance(tool, (str, dict)):
        return tool
    if is_type(tool):
        return {"name": tool.__name__, "description": tool.__doc__ or "", "parameters": schema_of(tool)}
    if _has_name(tool):
        schemas = (getattr(tool, name, None) for name in _SCHEMA_ATTRIBUTES)
        schema = next((schema for schema in schemas if isinstance(schema, dict)), None)
        return {"name": tool.name, "parameters": schema, **_destructive_hint(tool)}
    dump = getattr(tool, "model_dump", None)
    if dump is not None:
        return dump(mode="json", exclude_none=True, by_alias=True)
    raise TypeError(f"expected a tool, found {type(tool).__name__}")


def _destructive_hint(tool: Any) -> dict[str, Any]:
    """Copies the MCP annotation for destructive tools, whose calls are mended more cautiously."""
    notes = getattr(tool, "annotations", None)
    hint = getattr(notes, "destructiveHint", None) or getattr(notes, "destructive_hint", None)
    return {"annotations": {"destructiveHint": True}} if hint is True else {}
