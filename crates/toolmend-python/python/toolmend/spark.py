"""Spark: a column of calls, mended by the workers, through Arrow.

.. code-block:: python

    from toolmend.spark import mend_column

    calls = spark.read.parquet("calls.parquet")
    mended = calls.withColumn("mended", mend_column("arguments", tools=tools, tool=F.col("tool")))
    mended.select("mended.json", "mended.outcome")
"""

from __future__ import annotations

from typing import Any

import pyarrow as pa
from pyspark.sql import Column
from pyspark.sql.functions import arrow_udf, col

from toolmend._frame import Task
from toolmend._policy import Policy, Preset

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
    """A column of structures, one for each text: ``json``, ``outcome``, ``repairs``, ``values`` and ``feedback``.

    The texts are JSON under ``schema``, or with ``tools`` the arguments of ``tool``, which is one name or a column. What
    the workers need travels as text and is compiled once in each of them. ``toolmend`` must be installed where they run.
    """
    task = Task.of(schema, tools, tool, policy)
    texts = col(column) if isinstance(column, str) else column
    # Spark looks at the hints of the function, and they must be types here and not text.
    if isinstance(tool, str):

        def mend(texts: Any) -> Any:
            return task.mend(texts)

        mend.__annotations__ = {"texts": pa.Array, "return": pa.Array}
        return arrow_udf(mend, _ROW)(texts)

    def mend_each(texts: Any, tools: Any) -> Any:
        return task.mend(texts, tools)

    mend_each.__annotations__ = {"texts": pa.Array, "tools": pa.Array, "return": pa.Array}
    return arrow_udf(mend_each, _ROW)(texts, tool)
