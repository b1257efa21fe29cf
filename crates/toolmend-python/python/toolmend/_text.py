"""Mending of JSON text without tools: ``loads``, ``load`` and ``fix``."""

from __future__ import annotations

import json
from functools import lru_cache
from typing import IO, Any, TypeVar

from toolmend import _native
from toolmend._policy import Policy, Preset, to_rules
from toolmend._schema import schema_text
from toolmend._typed import to_type

T = TypeVar("T")


class MendError(json.JSONDecodeError):
    """The text is not JSON and cannot be mended.

    This is a ``json.JSONDecodeError``, so code that catches that error keeps working. ``verdict`` has the reason, and its
    ``feedback`` is text for the model.
    """

    def __init__(self, verdict: _native.Verdict, text: str) -> None:
        super().__init__(verdict.feedback or verdict.message or "not JSON", text, _find_first_error(text))
        self.verdict = verdict

    def __reduce__(self) -> Any:
        # Between processes, which cannot share a verdict, the error is the one that it replaces.
        return json.JSONDecodeError, (self.msg, self.doc, self.pos)


def _find_first_error(text: str) -> int:
    """Returns where the text stops being JSON, as ``json.loads`` sees it. Valid text may be refused too, by a schema."""
    try:
        json.loads(text)
    except json.JSONDecodeError as error:
        return error.pos
    except RecursionError:
        pass
    return 0


@lru_cache(maxsize=256)
def _compile_fixer(schema: str | None, policy: Policy | Preset | None, finish_reason: str | None) -> _native.Fixer:
    return _native.Fixer(schema, to_rules(policy), finish_reason)


def compile_fixer(schema: Any, policy: Policy | Preset | None, finish_reason: str | None) -> _native.Fixer:
    """Returns the compiled options for texts, cached for each schema."""
    return _compile_fixer(None if schema is None else schema_text(schema), policy, finish_reason)


_PLAIN = _compile_fixer(None, None, None)
_plain_load = _PLAIN.load


def fix(
    text: str | bytes | bytearray,
    schema: Any = None,
    *,
    policy: Policy | Preset | None = None,
    finish_reason: str | None = None,
) -> _native.Verdict:
    """Returns the verdict on a JSON text."""
    return compile_fixer(schema, policy, finish_reason).fix(decode_text(text))


def loads(
    s: str | bytes | bytearray,
    schema: Any = None,
    *,
    policy: Policy | Preset | None = None,
    finish_reason: str | None = None,
    skip_json_loads: bool = False,
    logging: bool = False,
    stream_stable: bool = False,
    strict: bool = False,
    schema_repair_mode: str = "standard",
    **hooks: Any,
) -> Any:
    """Returns the value of a JSON text and mends the text if necessary.

    Replaces ``json.loads`` and ``json_repair.loads``. Raises :class:`MendError` if the text is refused or truncated. The
    keyword arguments of ``json.loads`` (``cls``, ``object_hook``, ``parse_float``, ...) work as they do there. Of the
    arguments of ``json_repair``, ``logging=True`` returns the value and the list of repairs. The others have no effect,
    because toolmend always does what they request.
    """
    if schema is None and not hooks and not logging and policy is None and finish_reason is None:
        try:
            value, runs = _plain_load(s if type(s) is str else decode_text(s))
        except UnicodeEncodeError:
            # Half a surrogate pair cannot be encoded. `json.loads` accepts it if the text is valid.
            return json.loads(s)
        if runs:
            return value
        raise MendError(value, decode_text(s))
    return _loads_with_options(decode_text(s), compile_fixer(schema, policy, finish_reason), logging, hooks)


def _loads_with_options(text: str, fixer: _native.Fixer, logging: bool, hooks: dict[str, Any]) -> Any:
    if logging:
        verdict = fixer.fix(text)
        if verdict.json is None:
            raise MendError(verdict, text)
        return (
            json.loads(verdict.json, **hooks) if hooks else verdict.value,
            [{"text": repair.summary, "context": repair.path} for repair in verdict.repairs],
        )
    mended, runs = fixer.json(text) if hooks else fixer.load(text)
    if not runs:
        raise MendError(mended, text)
    return json.loads(mended, **hooks) if hooks else mended


def loads_as(
    s: str | bytes | bytearray,
    target: type[T],
    *,
    policy: Policy | Preset | None = None,
    finish_reason: str | None = None,
) -> T:
    """Returns the value of a JSON text as this type: a Pydantic model, a dataclass, a typed dictionary or any other annotation.

    The type is also the schema by which the text is mended. Raises :class:`MendError` if the text is refused or truncated.
    """
    value = loads(s, target, policy=policy, finish_reason=finish_reason)
    built: T = to_type(value, target)
    return built


def load(fp: IO[Any], schema: Any = None, **options: Any) -> Any:
    """Does the same as :func:`loads` for an open file."""
    return loads(fp.read(), schema, **options)


def decode_text(text: str | bytes | bytearray) -> str:
    """Decodes text as ``json.loads`` does."""
    if isinstance(text, str):
        return text
    if isinstance(text, (bytes, bytearray)):
        return text.decode(json.detect_encoding(text))
    raise TypeError(f"expected str, bytes or bytearray, found {type(text).__name__}")
