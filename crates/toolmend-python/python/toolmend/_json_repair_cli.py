"""The command line of the package ``json_repair``: ``python -m toolmend.json_repair [FILE]``."""

from __future__ import annotations

import argparse
import json
import sys
from importlib import import_module
from pathlib import Path
from typing import Any

from toolmend.json_repair import MODES, repair_json


def run(arguments: list[str] | None = None) -> int:
    """Mends a file or standard input. Returns the exit code."""
    parser = _create_parser()
    options = parser.parse_args(arguments)
    if options.inline and not options.filename:
        parser.error("--inline needs a file")
    try:
        text = Path(options.filename).read_bytes() if options.filename else sys.stdin.buffer.read()
        mended = repair_json(
            text,
            strict=options.strict,
            schema=_read_schema(options),
            schema_repair_mode=options.schema_repair_mode,
            ensure_ascii=options.ensure_ascii,
            indent=options.indent,
        )
        # A text without JSON is an empty string, as a value of JSON.
        mended = mended or json.dumps(mended)
        target = options.filename if options.inline else options.output
        if target:
            Path(target).write_text(mended, encoding="utf-8")
        else:
            print(mended)
    except (OSError, ImportError, AttributeError, TypeError, ValueError) as error:
        print(f"Error: {error}", file=sys.stderr)
        return 1
    return 0


def _create_parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(prog="python -m toolmend.json_repair", description="Mends JSON.")
    parser.add_argument("filename", nargs="?", help="the file to mend; standard input without one")
    where = parser.add_mutually_exclusive_group()
    where.add_argument("-i", "--inline", action="store_true", help="replace the file")
    where.add_argument("-o", "--output", metavar="FILE", help="write to this file")
    parser.add_argument("--ensure_ascii", action="store_true", help="escape characters beyond ASCII")
    parser.add_argument("--indent", type=int, default=2, help="indentation, 2 by default")
    parser.add_argument("--skip-json-loads", action="store_true", help="has no effect: valid text is always left alone")
    schema = parser.add_mutually_exclusive_group()
    schema.add_argument("--schema", metavar="FILE", help="a JSON Schema")
    schema.add_argument("--schema-model", metavar="MODULE:CLASS", help="a Pydantic model")
    parser.add_argument("--strict", action="store_true", help="refuse what is more than a slip")
    parser.add_argument("--schema-repair-mode", choices=MODES, default="standard")
    return parser


def _read_schema(options: argparse.Namespace) -> Any:
    if options.schema:
        return json.loads(Path(options.schema).read_text(encoding="utf-8"))
    if not options.schema_model:
        return None
    module, separator, name = options.schema_model.partition(":")
    if not separator:
        raise ValueError(f"--schema-model: expected MODULE:CLASS, found {options.schema_model}")
    # Models are usually in the folder in which the command runs.
    sys.path.insert(0, "")
    return getattr(import_module(module), name)
