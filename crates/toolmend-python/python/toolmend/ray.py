"""Ray Data: mends a column of calls on the workers of a cluster.

.. code-block:: python

    from toolmend.ray import mend_column

    calls = ray.data.read_parquet("calls.parquet")
    mended = mend_column(calls, "arguments", tools=tools, tool_column="tool")
"""

from __future__ import annotations

from typing import Any

from toolmend._extras import extra
from toolmend._frame import Task
from toolmend._policy import Policy, Preset

with extra("ray"):
    import pyarrow as pa

__all__ = ["mend_column"]


def mend_column(
    dataset: Any,
    column: str,
    schema: Any = None,
    *,
    tools: Any = None,
    tool: str = "",
    tool_column: str | None = None,
    policy: Policy | Preset | None = None,
    into: str = "mended",
    **options: Any,
) -> Any:
    """Adds a column ``into`` of structs: ``json``, ``outcome``, ``repairs``, ``values`` and ``feedback``.

    Each text is JSON that must match ``schema`` or, with ``tools``, the arguments of ``tool`` or of the tool that
    ``tool_column`` names. Other ``options`` are passed to ``Dataset.map_batches``.
    """
    task = Task.create(schema, tools, tool, policy)

    def mend(batch: pa.Table) -> pa.Table:
        names = None if tool_column is None else batch.column(tool_column)
        answers = task.mend(batch.column(column), names)
        if into in batch.column_names:
            return batch.set_column(batch.column_names.index(into), into, answers)
        return batch.append_column(into, answers)

    return dataset.map_batches(mend, batch_format="pyarrow", **options)
