"""Spark: mends a column of calls on the workers, through Arrow.

.. code-block:: python

    from toolmend.spark import mend_column

    calls = spark.read.parquet("calls.parquet")
    mended = calls.withColumn("mended", mend_column("arguments", tools=tools, tool=F.col("tool")))
    mended.select("mended.json", "mended.outcome")
"""

from __future__ import annotations

from typing import Any

from toolmend._extras import extra
from toolmend._frame import Task
from toolmend._policy import Policy, Preset

with extra("spark"):
    import pyarrow as pa
    from pyspark.sql import Column
    from pyspark.sql.functions import arrow_udf, col

__all__ = ["mend_column"]

_ROW = "json string, outcome string, repairs array<string>, values array<string>, feedback string"


def mend_column(
    column: Column | str,
    schema: Any = None,
    *,
    tools: Any = None,
    tool: Column | str = "",
    policy: Policy | Preset | None = None,
) -> Column:
    """Returns a column of structs: ``json``, ``outcome``, ``repairs``, ``values`` and ``feedback``.

    Each text is JSON that must match ``schema`` or, with ``tools``, the arguments of ``tool``, which is one name or a
    column. Workers receive the task as text and compile it once. ``toolmend`` must be installed on every worker.
    """
    task = Task.create(schema, tools, tool, policy)
    texts = col(column) if isinstance(column, str) else column
    # Spark reads the annotations of the function, which must be types here and not strings.
    if isinstance(tool, str):

        def mend(texts: Any) -> Any:
            return task.mend(texts)

        mend.__annotations__ = {"texts": pa.Array, "return": pa.Array}
        return arrow_udf(mend, _ROW)(texts)

    def mend_each(texts: Any, tools: Any) -> Any:
        return task.mend(texts, tools)

    mend_each.__annotations__ = {"texts": pa.Array, "tools": pa.Array, "return": pa.Array}
    return arrow_udf(mend_each, _ROW)(texts, tool)
