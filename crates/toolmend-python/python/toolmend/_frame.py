"""What the data engines share: a task that is sent to their workers, and columns of simple types."""

from __future__ import annotations

import json
from dataclasses import dataclass
from functools import lru_cache
from typing import Any

from toolmend._column import mend_column
from toolmend._extras import extra
from toolmend._mender import Mender, to_definitions
from toolmend._policy import Policy, Preset
from toolmend._schema import schema_text

with extra("arrow"):
    import pyarrow as pa

#: The type of an answer, made of types that every engine has.
ROW = pa.struct(
    [
        ("json", pa.string()),
        ("outcome", pa.string()),
        ("repairs", pa.list_(pa.string())),
        ("values", pa.list_(pa.string())),
        ("feedback", pa.string()),
    ]
)


@dataclass(frozen=True)
class Task:
    """How a column is mended. Everything is text, so that a worker can receive it and compile it once."""

    schema: str | None
    tools: str | None
    tool: str
    policy: Policy | Preset | None

    @staticmethod
    def create(schema: Any, tools: Any, tool: Any, policy: Policy | Preset | None) -> Task:
        text = tools if tools is None or isinstance(tools, str) else json.dumps(to_definitions(tools), ensure_ascii=False)
        name = tool if isinstance(tool, str) else ""
        return Task(None if schema is None else schema_text(schema), text, name, policy)

    def mend(self, column: Any, tool: Any = None, *, threads: int | None = 1) -> pa.StructArray:
        """Returns the answers for a column of texts. ``tool`` is a column of names if rows call different tools."""
        texts = _to_plain_text(column)
        names = self.tool if tool is None else _to_plain_text(tool)
        schema = None if self.schema is None else json.loads(self.schema)
        mender = None if self.tools is None else _compile_mender(self.tools, self.policy)
        mended = mend_column(texts, schema, mender=mender, tool=names, policy=self.policy, threads=threads)
        chunks = [chunk.cast(ROW) for chunk in mended.chunks]
        return pa.concat_arrays(chunks) if chunks else pa.array([], ROW)


@lru_cache(maxsize=64)
def _compile_mender(tools: str, policy: Policy | Preset | None) -> Mender:
    return Mender(tools, policy=policy)


def _to_plain_text(column: Any) -> Any:
    """Decodes a dictionary column, which the native module does not accept."""
    return column.cast(pa.string()) if pa.types.is_dictionary(column.type) else column
