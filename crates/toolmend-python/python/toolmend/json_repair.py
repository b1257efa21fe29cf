"""The interface of the package ``json_repair``, with toolmend's answers.

``from toolmend.json_repair import repair_json`` replaces ``from json_repair import repair_json``. Where the original makes
something up (it completes a text that was cut off, and fills in values that are missing), this module raises
:class:`toolmend.MendError`, which is a ``ValueError`` as the original's own errors are. ``on_refusal`` chooses otherwise, for
one call or for the whole module.
"""

from __future__ import annotations

import json
import sys
from pathlib import Path
from typing import IO, Any, Literal

from toolmend import _native
from toolmend._native import Preview
from toolmend._text import MendError, compile_fixer, decode_text

__all__ = ["JSONReturnType", "from_file", "install", "load", "loads", "repair_json"]

OnRefusal = Literal["raise", "empty", "partial"]
JSONReturnType = dict[str, Any] | list[Any] | str | float | int | bool | None

on_refusal: OnRefusal = "raise"
"""What happens to a text that cannot be mended with certainty: ``raise`` an error, return the ``empty`` string as for a text
without JSON, or return the ``partial`` value of a text that was cut off. A call may choose for itself."""

#: The values of ``schema_repair_mode``. Both do the same: dropping items would be a loss.
MODES = ("standard", "salvage")
# What the original refuses in its strict mode.
_NOT_STRICT = frozenset(
    {
        "comment_removed",
        "extra_closer_removed",
        "fence_removed",
        "missing_colon_added",
        "objects_merged",
        "prose_removed",
    }
)


class _NoJson(Exception):
    """The text has no JSON at all."""


def repair_json(
    json_str: str | bytes | bytearray = "",
    return_objects: bool = False,
    skip_json_loads: bool = False,
    logging: bool = False,
    json_fd: IO[Any] | None = None,
    chunk_length: int = 0,
    stream_stable: bool = False,
    strict: bool = False,
    schema: Any = None,
    schema_repair_mode: str = "standard",
    *,
    on_refusal: OnRefusal | None = None,
    **json_dumps_args: Any,
) -> Any:
    """Returns the mended text, or its value with ``return_objects``. ``logging`` returns the value and a list of repairs.

    A text without JSON gives an empty string. Several documents give a list of their values. ``stream_stable`` is for a text
    that is still growing: it returns what can be shown of it, and the string that is open as far as it goes. Never use that as
    arguments.
    """
    text = decode_text(json_str if json_fd is None else json_fd.read())
    try:
        value, log = _read(text, stream_stable, strict, schema, schema_repair_mode, on_refusal)
    except _NoJson:
        return ("", []) if logging else ""
    if logging:
        return value, log
    return value if return_objects else json.dumps(value, **json_dumps_args)


def loads(
    json_str: str | bytes | bytearray,
    skip_json_loads: bool = False,
    logging: bool = False,
    stream_stable: bool = False,
    strict: bool = False,
    schema: Any = None,
    schema_repair_mode: str = "standard",
    *,
    on_refusal: OnRefusal | None = None,
) -> Any:
    """Returns the value of a text, like :func:`repair_json` with ``return_objects``."""
    return repair_json(
        json_str,
        return_objects=True,
        logging=logging,
        stream_stable=stream_stable,
        strict=strict,
        schema=schema,
        schema_repair_mode=schema_repair_mode,
        on_refusal=on_refusal,
    )


def load(
    fd: IO[Any],
    skip_json_loads: bool = False,
    logging: bool = False,
    chunk_length: int = 0,
    strict: bool = False,
    schema: Any = None,
    schema_repair_mode: str = "standard",
    *,
    on_refusal: OnRefusal | None = None,
) -> Any:
    """Returns the value of an open file."""
    return loads(
        fd.read(),
        logging=logging,
        strict=strict,
        schema=schema,
        schema_repair_mode=schema_repair_mode,
        on_refusal=on_refusal,
    )


def from_file(
    filename: str | Path,
    skip_json_loads: bool = False,
    logging: bool = False,
    chunk_length: int = 0,
    strict: bool = False,
    schema: Any = None,
    schema_repair_mode: str = "standard",
    *,
    on_refusal: OnRefusal | None = None,
) -> Any:
    """Returns the value of a file."""
    return loads(
        Path(filename).read_bytes(),
        logging=logging,
        strict=strict,
        schema=schema,
        schema_repair_mode=schema_repair_mode,
        on_refusal=on_refusal,
    )


def install() -> None:
    """Makes ``import json_repair`` give this module, for code that cannot be changed. Call it before anything imports that."""
    sys.modules["json_repair"] = sys.modules[__name__]


def _read(
    text: str,
    stream_stable: bool,
    strict: bool,
    schema: Any,
    mode: str,
    refusal: OnRefusal | None,
) -> tuple[Any, list[dict[str, str]]]:
    schema = None if schema is True else schema
    if mode not in MODES:
        raise ValueError(f"schema_repair_mode: expected one of {', '.join(MODES)}, found {mode!r}")
    if mode == "salvage" and schema is None:
        raise ValueError("schema_repair_mode='salvage' needs a schema")
    if strict and schema is not None:
        raise ValueError("strict and schema cannot be used together")
    if schema is None:
        try:
            # What `json.loads` reads is valid: half a surrogate pair and NaN too.
            return json.loads(text, object_pairs_hook=_without_duplicates if strict else None), []
        except json.JSONDecodeError:
            pass
    finish_reason = "length" if stream_stable else None
    verdict = compile_fixer(schema, None, finish_reason).fix(text)
    log = [{"text": repair.summary, "context": repair.path} for repair in verdict.repairs]
    if verdict.json is not None:
        dropped = {repair.kind for repair in verdict.repairs} & _NOT_STRICT if strict else ()
        if dropped:
            raise ValueError(f"strict mode: the text is not JSON without {', '.join(sorted(dropped))}")
        return verdict.value, log
    if stream_stable:
        shown = Preview(text).value
        if shown is None:
            raise _NoJson
        return shown, log
    return _refused(verdict, text, strict, refusal or on_refusal), log


def _refused(verdict: _native.Verdict, text: str, strict: bool, refusal: OnRefusal) -> Any:
    if not any(mark in text for mark in '{["'):
        raise _NoJson
    if verdict.values and not strict:
        return verdict.values
    if verdict.outcome == "truncated" and refusal == "partial":
        return "" if verdict.partial is None else verdict.partial
    if refusal == "raise":
        raise MendError(verdict, text)
    raise _NoJson


def _without_duplicates(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    value = dict(pairs)
    if len(value) != len(pairs):
        raise ValueError("strict mode: a key occurs twice")
    return value


def cli(arguments: list[str] | None = None) -> int:
    """The command line of the original: ``python -m toolmend.json_repair [FILE]``."""
    from toolmend import _json_repair_cli

    return _json_repair_cli.run(arguments)


if __name__ == "__main__":
    sys.exit(cli())
