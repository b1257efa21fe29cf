"""Checks that Spark with two workers gives the answers of the command, even if one worker is killed."""

from __future__ import annotations

import os
import signal
import threading
import time
from pathlib import Path

from expected import CALLS, TOOLS, check
from pyspark.sql import SparkSession
from pyspark.sql import functions as F

from toolmend.spark import mend_column

PARTITIONS = 60
EXECUTOR = b"CoarseGrainedExecutorBackend"


def find_executors() -> set[int]:
    """Returns the Spark executors of this run."""
    mine = str(os.getpid())
    found = set()
    for folder in Path("/proc").iterdir():
        try:
            if folder.name.isdigit() and EXECUTOR in (folder / "cmdline").read_bytes():
                if f"TOOLMEND_CLUSTER={mine}".encode() in (folder / "environ").read_bytes():
                    found.add(int(folder.name))
        except OSError:
            continue
    return found


os.environ["TOOLMEND_CLUSTER"] = str(os.getpid())
spark = (
    SparkSession.builder.master("local-cluster[2,1,1024]")
    .appName("toolmend")
    .config("spark.ui.enabled", "false")
    .config("spark.driver.host", "127.0.0.1")
    .config("spark.executor.memory", "768m")
    .config("spark.sql.execution.arrow.maxRecordsPerBatch", "500")
    .config("spark.executorEnv.TOOLMEND_CLUSTER", os.environ["TOOLMEND_CLUSTER"])
    .getOrCreate()
)
spark.sparkContext.setLogLevel("OFF")
killed: list[int] = []
lost: list[int] = []


def kill_executor(stop: threading.Event) -> None:
    """Kills an executor after some tasks are done, and records how many tasks fail."""
    tracker = spark.sparkContext.statusTracker()
    while not stop.is_set():
        for stage in tracker.getActiveStageIds():
            info = tracker.getStageInfo(stage)
            if info is None or info.numTasks < PARTITIONS:
                continue
            lost[:] = [info.numFailedTasks]
            if not killed and info.numCompletedTasks >= PARTITIONS // 6:
                victim = sorted(find_executors())[0]
                os.kill(victim, signal.SIGKILL)
                killed.append(victim)
        time.sleep(0.02)


try:
    calls = spark.read.parquet(CALLS).repartition(PARTITIONS)
    mended = calls.select("id", mend_column("arguments", tools=TOOLS, tool=F.col("tool")).alias("mended"))
    # Wait for both workers; otherwise the first one would do all the work.
    deadline = time.monotonic() + 120
    while len(find_executors()) < 2:
        assert time.monotonic() < deadline, "two workers did not start"
        time.sleep(0.1)
    before = find_executors()
    stop = threading.Event()
    killer = threading.Thread(target=kill_executor, args=(stop,))
    killer.start()
    rows = [(row["id"], row["mended"].asDict()) for row in mended.collect()]
    stop.set()
    killer.join()
    assert killed, "all work was done before a worker could be killed"
    assert killed[0] in before and killed[0] not in find_executors(), "the worker is gone"
    check(f"Spark {spark.version}, 2 workers, one killed with {lost[0]} tasks lost", rows)
finally:
    spark.stop()
