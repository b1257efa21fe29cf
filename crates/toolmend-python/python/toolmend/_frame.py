"""What the engines have in common: a task that travels to their workers, and columns of plain types."""

from __future__ import annotations

import json
from dataclasses import dataclass
from functools import lru_cache
from typing import Any

import pyarrow as pa

from toolmend._column import mend_column
from toolmend._mender import Mender, declared
from toolmend._policy import Policy, Preset
from toolmend._schema import schema_text

#: A row of the answer, in types that every engine knows.
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
    """What a column is mended under. It is text, so that it can be sent to any worker and be compiled there, once."""

    schema: str | None
    tools: str | None
    tool: str
    policy: Policy | Preset | None

    @staticmethod
    def of(schema: Any, tools: Any, tool: Any, policy: Policy | Preset | None) -> Task:
        text = tools if tools is None or isinstance(tools, str) else json.dumps(declared(tools), ensure_ascii=False)
        name = tool if isinstance(tool, str) else ""
        return Task(None if schema is None else schema_text(schema), text, name, policy)

    def mend(self, column: Any, tool: Any = None, *, threads: int | None = 1) -> pa.StructArray:
        """The answers to a column of texts; ``tool`` is a column of names where rows differ."""
        texts = _plain(column)
        names = self.tool if tool is None else _plain(tool)
        schema = None if self.schema is None else json.loads(self.schema)
        mender = None if self.tools is None else _mender(self.tools, self.policy)
        mended = mend_column(texts, schema, mender=mender, tool=names, policy=self.policy, threads=threads)
        chunks = [chunk.cast(ROW) for chunk in mended.chunks]
        return pa.concat_arrays(chunks) if chunks else pa.array([], ROW)


@lru_cache(maxsize=64)
def _mender(tools: str, policy: Policy | Preset | None) -> Mender:
    return Mender(tools, policy=policy)


def _plain(column: Any) -> Any:
    """Texts as the native module takes them: engines also keep them as words of a dictionary."""
    return column.cast(pa.string()) if pa.types.is_dictionary(column.type) else column
