"""Polars: an expression that mends the calls of a column.

.. code-block:: python

    from toolmend.polars import mend_column

    calls.with_columns(mended=mend_column("arguments", tools=tools, tool=pl.col("tool")))
"""

from __future__ import annotations

from typing import Any

from toolmend._extras import extra
from toolmend._frame import Task
from toolmend._policy import Policy, Preset

with extra("polars"):
    import polars as pl

__all__ = ["mend_column"]

_ROW = pl.Struct(
    {
        "json": pl.String,
        "outcome": pl.String,
        "repairs": pl.List(pl.String),
        "values": pl.List(pl.String),
        "feedback": pl.String,
    }
)


def mend_column(
    column: str | pl.Expr,
    schema: Any = None,
    *,
    tools: Any = None,
    tool: str | pl.Expr = "",
    policy: Policy | Preset | None = None,
    threads: int | None = None,
) -> pl.Expr:
    """Returns an expression of structs: ``json``, ``outcome``, ``repairs``, ``values`` and ``feedback``.

    Each text is JSON that must match ``schema`` or, with ``tools``, the arguments of ``tool``, which is one name or an
    expression.
    """
    task = Task.create(schema, tools, tool, policy)
    texts = pl.col(column) if isinstance(column, str) else column

    def mend_series(series: pl.Series, names: pl.Series | None) -> pl.Series:
        column = None if names is None else names.to_arrow()
        mended = pl.from_arrow(task.mend(series.to_arrow(), column, threads=threads))
        assert isinstance(mended, pl.Series)
        return mended.cast(_ROW).alias(series.name)

    if isinstance(tool, str):
        return texts.map_batches(lambda series: mend_series(series, None), return_dtype=_ROW)

    def mend_each(pairs: pl.Series) -> pl.Series:
        return mend_series(pairs.struct.field("text"), pairs.struct.field("tool"))

    return pl.struct(texts.alias("text"), tool.alias("tool")).map_batches(mend_each, return_dtype=_ROW)
