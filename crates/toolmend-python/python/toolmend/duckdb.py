"""DuckDB: an SQL function that mends the calls of a column.

.. code-block:: python

    from toolmend.duckdb import register

    register(connection, "mend", tools=tools)
    connection.sql("SELECT mend(arguments, tool).json FROM 'calls.parquet'")
"""

from __future__ import annotations

from typing import Any

from toolmend._extras import extra
from toolmend._frame import Task
from toolmend._policy import Policy, Preset

with extra("duckdb"):
    import duckdb

__all__ = ["register"]


def register(
    connection: duckdb.DuckDBPyConnection,
    name: str = "mend",
    schema: Any = None,
    *,
    tools: Any = None,
    tool: str | None = None,
    policy: Policy | Preset | None = None,
) -> None:
    """Adds a function that returns a struct of ``json``, ``outcome``, ``repairs``, ``values`` and ``feedback``.

    Its argument is JSON that must match ``schema`` or, with ``tools``, the arguments of ``tool``. With ``tools`` and
    without ``tool``, the function has a second parameter for the name of the tool.
    """
    task = Task.create(schema, tools, tool or "", policy)
    text = duckdb.sqltypes.VARCHAR
    texts = duckdb.list_type(text)
    row = duckdb.struct_type(
        {"json": text, "outcome": text, "repairs": texts, "values": texts, "feedback": text}
    )

    def mend(texts: Any) -> Any:
        return task.mend(texts)

    def mend_each(texts: Any, tools: Any) -> Any:
        return task.mend(texts, tools)

    has_tool_parameter = tools is not None and tool is None
    connection.create_function(
        name,
        mend_each if has_tool_parameter else mend,
        [text, text] if has_tool_parameter else [text],
        row,
        type="arrow",
        null_handling="special",
    )
