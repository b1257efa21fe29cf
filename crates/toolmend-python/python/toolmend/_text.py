"""JSON text without tools: ``loads``, ``load`` and ``fix``."""

from __future__ import annotations

import json
from functools import lru_cache
from typing import IO, Any

from toolmend import _native
from toolmend._policy import Policy, Preset, rules
from toolmend._schema import schema_text


class MendError(json.JSONDecodeError):
    """A text that is no JSON and was not mended.

    It is a ``json.JSONDecodeError``, so that code which catches that one keeps working. ``verdict`` says why, and its
    ``feedback`` is the text to send back to the model.
    """

    def __init__(self, verdict: _native.Verdict, text: str) -> None:
        super().__init__(verdict.feedback or verdict.message or "no JSON", text, 0)
        self.verdict = verdict


@lru_cache(maxsize=256)
def _fixer(schema: str | None, policy: Policy | Preset | None, finish_reason: str | None) -> _native.Fixer:
    return _native.Fixer(schema, rules(policy), finish_reason)


def fixer(schema: Any, policy: Policy | Preset | None, finish_reason: str | None) -> _native.Fixer:
    """What texts are mended under; compiled once for each different schema."""
    return _fixer(None if schema is None else schema_text(schema), policy, finish_reason)


_PLAIN = _fixer(None, None, None)
_plain_load = _PLAIN.load


def fix(
    text: str | bytes | bytearray,
    schema: Any = None,
    *,
    policy: Policy | Preset | None = None,
    finish_reason: str | None = None,
) -> _native.Verdict:
    """The verdict on one JSON text."""
    return fixer(schema, policy, finish_reason).fix(decoded(text))


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
    """The value of a JSON text, mended where that is needed.

    Takes the place of ``json.loads`` and of ``json_repair.loads``. Raises :class:`MendError` where a text is refused or
    was cut off. The keyword arguments of ``json.loads`` (``cls``, ``object_hook``, ``parse_float``, ...) work as they do
    there. Of those of ``json_repair``, ``logging=True`` returns the value and the list of repairs, and the others change
    nothing: what they ask for is what always happens here.
    """
    if schema is None and not hooks and not logging and policy is None and finish_reason is None:
        try:
            value, runs = _plain_load(s if type(s) is str else decoded(s))
        except UnicodeEncodeError:
            # Half a surrogate pair has no bytes: what is valid stays valid, and there is nothing to mend.
            return json.loads(s)
        if runs:
            return value
        raise MendError(value, decoded(s))
    return _loads(decoded(s), fixer(schema, policy, finish_reason), logging, hooks)


def _loads(text: str, under: _native.Fixer, logging: bool, hooks: dict[str, Any]) -> Any:
    if logging:
        verdict = under.fix(text)
        if verdict.json is None:
            raise MendError(verdict, text)
        return (
            json.loads(verdict.json, **hooks) if hooks else verdict.value,
            [{"text": repair.summary, "context": repair.path} for repair in verdict.repairs],
        )
    mended, runs = under.json(text) if hooks else under.load(text)
    if not runs:
        raise MendError(mended, text)
    return json.loads(mended, **hooks) if hooks else mended


def load(fp: IO[Any], schema: Any = None, **options: Any) -> Any:
    """The same for a file that is open for reading."""
    return loads(fp.read(), schema, **options)


def decoded(text: str | bytes | bytearray) -> str:
    """Text as ``json.loads`` would decode it."""
    if isinstance(text, str):
        return text
    if isinstance(text, (bytes, bytearray)):
        return text.decode(json.detect_encoding(text))
    raise TypeError(f"expected str, bytes or bytearray, found {type(text).__name__}")
