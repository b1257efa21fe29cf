"""Values of Python types from values of JSON: models, dataclasses, typed dictionaries and annotations."""

from __future__ import annotations

import collections.abc
import dataclasses
import datetime
import decimal
import enum
import pathlib
import types
import typing
import uuid
from typing import Any

from toolmend._schema import is_typeddict, type_hints

# How a type reads the text that JSON has for it.
_FROM_TEXT: dict[Any, Any] = {
    datetime.datetime: lambda text: datetime.datetime.fromisoformat(_with_offset(text)),
    datetime.date: datetime.date.fromisoformat,
    datetime.time: lambda text: datetime.time.fromisoformat(_with_offset(text)),
    uuid.UUID: uuid.UUID,
    bytes: str.encode,
}
# Abstract collections, and what is built for them.
_LISTS = {
    list: list,
    collections.abc.Sequence: list,
    collections.abc.Iterable: list,
    collections.abc.Collection: list,
    set: set,
    collections.abc.Set: set,
    frozenset: frozenset,
}
_MAPS = (dict, collections.abc.Mapping, collections.abc.MutableMapping)


def to_type(value: Any, target: Any) -> Any:
    """Returns the value as this type. Raises ``TypeError`` or ``ValueError`` if it is not one.

    The value fits the schema of the type already, so this only builds objects. Pydantic validates its models itself.
    """
    if target is Any or target is None or isinstance(target, typing.TypeVar):
        return value
    if hasattr(target, "model_validate"):
        return target.model_validate(value)
    origin = typing.get_origin(target)
    if origin is not None:
        return _to_generic(value, target, origin, typing.get_args(target))
    if is_typeddict(target):
        return {key: to_type(value[key], hint) for key, hint in _hints_of(target, value)}
    if dataclasses.is_dataclass(target) and isinstance(target, type):
        return target(**{key: to_type(value[key], hint) for key, hint in _hints_of(target, value)})
    if hasattr(target, "__supertype__"):
        return to_type(value, target.__supertype__)
    if hasattr(target, "__value__"):
        return to_type(value, target.__value__)
    if not isinstance(target, type):
        return value
    return _to_class(value, target)


def _hints_of(target: Any, value: Any) -> list[tuple[str, Any]]:
    """The members of a type that the value has."""
    if not isinstance(value, dict):
        raise TypeError(f"expected an object for {target.__name__}, found {type(value).__name__}")
    hints = type_hints(target)
    return [(key, hints.get(key, Any)) for key in value]


def _to_class(value: Any, target: type) -> Any:
    read = _FROM_TEXT.get(target)
    if read is not None and isinstance(value, str):
        return read(value)
    if target in (set, frozenset, tuple):
        return target(value)
    if issubclass(target, enum.Enum) or issubclass(target, pathlib.PurePath):
        return target(value)
    if target is decimal.Decimal:
        return decimal.Decimal(str(value))
    if target is float and isinstance(value, int) and not isinstance(value, bool):
        return float(value)
    if issubclass(target, tuple) and hasattr(target, "_fields"):
        hints = type_hints(target)
        return target(*(to_type(item, hints.get(name, Any)) for name, item in zip(target._fields, value)))
    if target in (str, int, float, bool, list, dict, type(None)):
        _expect(isinstance(value, target), value, target)
    return value


def _to_generic(value: Any, target: Any, origin: Any, args: tuple[Any, ...]) -> Any:
    if origin is typing.Annotated:
        return to_type(value, args[0])
    if origin in (typing.Union, types.UnionType):
        return _to_first(value, args)
    if origin is typing.Literal:
        _expect(value in args, value, target)
        return value
    if origin in _LISTS:
        _expect(isinstance(value, list), value, target)
        return _LISTS[origin](to_type(item, args[0]) for item in value)
    if origin is tuple:
        _expect(isinstance(value, list), value, target)
        items = [args[0]] * len(value) if args[-1:] == (Ellipsis,) else list(args)
        _expect(len(items) == len(value), value, target)
        return tuple(to_type(item, hint) for item, hint in zip(value, items))
    if origin in _MAPS:
        _expect(isinstance(value, dict), value, target)
        return {key: to_type(item, args[1]) for key, item in value.items()}
    # `Required[...]`, `Final[...]` and the like only wrap a type, and a generic class is read as the class.
    return to_type(value, origin if isinstance(origin, type) else args[0])


def _to_first(value: Any, options: tuple[Any, ...]) -> Any:
    """Returns the value as the first of these types that it is."""
    failed: Exception | None = None
    for option in options:
        try:
            return to_type(value, type(None) if option is None else option)
        except (TypeError, ValueError) as error:
            failed = error
    raise failed or TypeError("a union has no types")


def _expect(holds: bool, value: Any, target: Any) -> None:
    if not holds:
        raise TypeError(f"expected {getattr(target, '__name__', target)}, found {value!r}")


def _with_offset(text: str) -> str:
    """Python 3.10 reads the offset ``+00:00`` but not ``Z``."""
    return text[:-1] + "+00:00" if text.endswith(("Z", "z")) else text
