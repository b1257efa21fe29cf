"""Checks that Ray Data on two nodes gives the answers of the command."""

from __future__ import annotations

import logging
from typing import Any

import pyarrow as pa
import ray
from expected import CALLS, TOOLS, check
from ray.cluster_utils import Cluster

from toolmend.ray import mend_column

MEMORY = 200 << 20

cluster = Cluster(initialize_head=True, head_node_args={"num_cpus": 1, "object_store_memory": MEMORY, "include_dashboard": False})
cluster.add_node(num_cpus=1, object_store_memory=MEMORY)
try:
    ray.init(address=cluster.address, log_to_driver=False, logging_level=logging.ERROR)
    nodes = [node for node in ray.nodes() if node["Alive"]]
    assert len(nodes) == 2, nodes
    ray.data.DataContext.get_current().enable_progress_bars = False

    def add_node(batch: pa.Table) -> pa.Table:
        """Adds a column with the node that has the batch."""
        name = ray.get_runtime_context().get_node_id()
        return batch.append_column("node", pa.array([name] * len(batch)))

    calls = ray.data.read_parquet(CALLS).repartition(24)
    calls = calls.map_batches(add_node, batch_format="pyarrow", scheduling_strategy="SPREAD")
    mended = mend_column(calls, "arguments", tools=TOOLS, tool_column="tool", scheduling_strategy="SPREAD", num_cpus=1)
    rows: list[dict[str, Any]] = mended.take_all()
    used = {row["node"] for row in rows}
    assert len(used) == 2, f"only {used} did any work"
    check(f"Ray {ray.__version__}, {len(used)} nodes", [(row["id"], row["mended"]) for row in rows])
finally:
    ray.shutdown()
    cluster.shutdown()
