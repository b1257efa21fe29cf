"""JSON Schemas from Python types: models, dataclasses, typed dictionaries, callables and annotations."""

from __future__ import annotations

import collections.abc
import dataclasses
import datetime
import decimal
import enum
import functools
import inspect
import json
import pathlib
import types
import typing
import uuid
from typing import Any

Schema = dict[str, Any]

_PLAIN: dict[Any, Schema] = {
    str: {"type": "string"},
    int: {"type": "integer"},
    float: {"type": "number"},
    bool: {"type": "boolean"},
    type(None): {"type": "null"},
    None: {"type": "null"},
    bytes: {"type": "string"},
    decimal.Decimal: {"type": ["number", "string"]},
    datetime.datetime: {"type": "string", "format": "date-time"},
    datetime.date: {"type": "string", "format": "date"},
    datetime.time: {"type": "string", "format": "time"},
    uuid.UUID: {"type": "string", "format": "uuid"},
    list: {"type": "array"},
    tuple: {"type": "array"},
    set: {"type": "array", "uniqueItems": True},
    frozenset: {"type": "array", "uniqueItems": True},
    dict: {"type": "object"},
}
_LISTS = (list, collections.abc.Sequence, collections.abc.Iterable, collections.abc.Collection)
_SETS = (set, frozenset, collections.abc.Set)
_MAPS = (dict, collections.abc.Mapping, collections.abc.MutableMapping)


def schema_text(source: Any) -> str:
    """Returns the schema as JSON text."""
    if isinstance(source, str):
        return source
    if isinstance(source, (dict, bool)):
        return json.dumps(source, ensure_ascii=False)
    try:
        return _cached_type_text(source)
    except TypeError:
        # An annotation may contain a value without a hash.
        return _type_text(source)


def _type_text(source: Any) -> str:
    return json.dumps(schema_of(source), ensure_ascii=False)


_cached_type_text = functools.lru_cache(maxsize=256)(_type_text)


def schema_of(source: Any) -> Schema:
    """Returns the JSON Schema of a type, or of the arguments of a callable."""
    if isinstance(source, dict):
        return source
    builder = _SchemaBuilder()
    schema = builder.arguments(source) if _is_function(source) else builder.type(source)
    return {**schema, "$defs": builder.definitions} if builder.definitions else schema


def is_type(source: Any) -> bool:
    """Whether the source describes arguments and has a name."""
    return isinstance(source, type) or _is_function(source) or dataclasses.is_dataclass(source)


def is_typeddict(source: Any) -> bool:
    """Whether this is a typed dictionary. `typing.is_typeddict` does not recognise the typed dictionaries of `typing_extensions`."""
    return hasattr(source, "__required_keys__") and hasattr(source, "__total__")


def _is_function(source: Any) -> bool:
    return callable(source) and not isinstance(source, type) and typing.get_origin(source) is None


class _SchemaBuilder:
    """Builds the schema of one type. A type with members becomes a definition, so that it may contain itself."""

    def __init__(self) -> None:
        self.definitions: dict[str, Schema] = {}
        self.names: dict[Any, str] = {}

    def type(self, source: Any) -> Schema:
        if source is Any or source is inspect.Parameter.empty or isinstance(source, typing.TypeVar):
            return {}
        if isinstance(source, str):
            raise TypeError(f"cannot resolve the annotation {source!r}; import the type that it names")
        try:
            if source in _PLAIN:
                return dict(_PLAIN[source])
        except TypeError:
            pass
        if hasattr(source, "model_json_schema"):
            return self._hoist_definitions(source.model_json_schema())
        origin = typing.get_origin(source)
        if origin is not None:
            return self._generic(source, origin, typing.get_args(source))
        if is_typeddict(source) or dataclasses.is_dataclass(source):
            return self._reference(source)
        if isinstance(source, type) and issubclass(source, enum.Enum):
            return {"enum": [member.value for member in source]}
        if isinstance(source, type) and issubclass(source, tuple) and hasattr(source, "_fields"):
            hints = typing.get_type_hints(source)
            items = [self.type(hints.get(name, Any)) for name in source._fields]
            return {"type": "array", "prefixItems": items, "minItems": len(items), "maxItems": len(items)}
        if isinstance(source, type) and issubclass(source, pathlib.PurePath):
            return {"type": "string"}
        if hasattr(source, "__supertype__"):
            return self.type(source.__supertype__)
        if hasattr(source, "__value__"):
            return self.type(source.__value__)
        for plain in (bool, int, float, str):
            if isinstance(source, type) and issubclass(source, plain):
                return dict(_PLAIN[plain])
        return {}

    def arguments(self, function: Any) -> Schema:
        """Builds the schema of the keyword arguments of a callable."""
        hints = type_hints(function)
        properties: dict[str, Schema] = {}
        required = []
        extra: Schema | bool = False
        for parameter in inspect.signature(function).parameters.values():
            annotation = hints.get(parameter.name, Any)
            if parameter.kind is parameter.VAR_KEYWORD:
                extra = self.type(annotation) or True
            elif parameter.kind is parameter.POSITIONAL_ONLY:
                raise TypeError(f"{parameter.name!r} can only be passed by position, but a tool call passes arguments by name")
            elif parameter.kind is not parameter.VAR_POSITIONAL:
                properties[parameter.name] = _with_default(self.type(annotation), parameter.default)
                if parameter.default is parameter.empty:
                    required.append(parameter.name)
        return _object(properties, required, extra)

    def _generic(self, source: Any, origin: Any, args: tuple[Any, ...]) -> Schema:
        if origin is typing.Annotated:
            return {**self.type(args[0]), **_annotation_keywords(args[1:])}
        if origin in (typing.Union, types.UnionType):
            return _union([self.type(arg) for arg in args])
        if origin is typing.Literal:
            return {"enum": list(args)}
        if origin in _LISTS:
            return {"type": "array", **self._items(args)}
        if origin in _SETS:
            return {"type": "array", "uniqueItems": True, **self._items(args)}
        if origin is tuple:
            if args[-1:] == (Ellipsis,):
                return {"type": "array", **self._items(args[:1])}
            items = [self.type(arg) for arg in args]
            return {"type": "array", "prefixItems": items, "minItems": len(items), "maxItems": len(items)}
        if origin in _MAPS:
            values = self.type(args[1]) if len(args) == 2 else {}
            return {"type": "object", **({"additionalProperties": values} if values else {})}
        # `Required[...]`, `Final[...]` and the like only wrap a type.
        if not isinstance(origin, type):
            return self.type(args[0]) if args else {}
        return self.type(origin)

    def _items(self, args: tuple[Any, ...]) -> Schema:
        items = self.type(args[0]) if args else {}
        return {"items": items} if items else {}

    def _reference(self, source: Any) -> Schema:
        if source not in self.names:
            name = source.__name__
            while name in self.definitions:
                name += "_"
            self.names[source] = name
            self.definitions[name] = {}
            self.definitions[name] = self._members(source)
        return {"$ref": f"#/$defs/{self.names[source]}"}

    def _members(self, source: Any) -> Schema:
        hints = type_hints(source)
        if is_typeddict(source):
            properties = {name: self.type(hint) for name, hint in hints.items()}
            return _object(properties, sorted(source.__required_keys__, key=list(hints).index), False)
        properties = {}
        required = []
        for field in dataclasses.fields(source):
            if not field.init:
                continue
            properties[field.name] = _with_default(self.type(hints[field.name]), field.default)
            if field.default is dataclasses.MISSING and field.default_factory is dataclasses.MISSING:
                required.append(field.name)
        return _object(properties, required, False)

    def _hoist_definitions(self, schema: Schema) -> Schema:
        """Moves the definitions of a model to the top level, where its references point to."""
        schema = dict(schema)
        self.definitions.update(schema.pop("$defs", {}))
        return schema


def type_hints(source: Any) -> dict[str, Any]:
    """Returns the annotations of a type or callable."""
    target = source.func if isinstance(source, functools.partial) else source
    if callable(target) and not isinstance(target, type) and not hasattr(target, "__annotations__"):
        target = type(target).__call__
    return typing.get_type_hints(target, include_extras=True)


def _object(properties: dict[str, Schema], required: list[str], extra: Schema | bool) -> Schema:
    schema: Schema = {"type": "object", "properties": properties, "additionalProperties": extra}
    return {**schema, "required": required} if required else schema


def _with_default(schema: Schema, default: Any) -> Schema:
    if default is inspect.Parameter.empty or default is dataclasses.MISSING:
        return schema
    try:
        json.dumps(default)
    except (TypeError, ValueError):
        return schema
    # Older drafts ignore keywords beside a reference.
    return {"allOf": [schema], "default": default} if "$ref" in schema else {**schema, "default": default}


def _annotation_keywords(extras: tuple[Any, ...]) -> Schema:
    """Reads keywords from annotations: the first text is the description, and a dictionary adds keywords."""
    schema: Schema = {}
    for extra in extras:
        if isinstance(extra, str):
            schema.setdefault("description", extra)
        elif isinstance(extra, dict):
            schema.update(extra)
        elif isinstance(getattr(extra, "description", None), str):
            schema["description"] = extra.description
    return schema


def _union(options: list[Schema]) -> Schema:
    if all(set(option) == {"type"} and isinstance(option["type"], str) for option in options):
        return {"type": [option["type"] for option in options]}
    return {"anyOf": options}
