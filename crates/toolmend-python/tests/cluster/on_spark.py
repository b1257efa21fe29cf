"""Spark with two workers gives the answers of the command, also when one of them is killed in the middle."""

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


def executors() -> set[int]:
    """The processes of this run that work for Spark."""
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


def kill_one(stop: threading.Event) -> None:
    """Kills a worker when a part of the work is done, and waits for Spark to notice."""
    tracker = spark.sparkContext.statusTracker()
    while not stop.is_set():
        for stage in tracker.getActiveStageIds():
            about = tracker.getStageInfo(stage)
            if about is None or about.numTasks < PARTITIONS:
                continue
            lost[:] = [about.numFailedTasks]
            if not killed and about.numCompletedTasks >= PARTITIONS // 6:
                victim = sorted(executors())[0]
                os.kill(victim, signal.SIGKILL)
                killed.append(victim)
        time.sleep(0.02)


try:
    calls = spark.read.parquet(CALLS).repartition(PARTITIONS)
    mended = calls.select("id", mend_column("arguments", tools=TOOLS, tool=F.col("tool")).alias("mended"))
    # The workers are there before the work is: else all of it would be done by the first.
    deadline = time.monotonic() + 120
    while len(executors()) < 2:
        assert time.monotonic() < deadline, "two workers never came up"
        time.sleep(0.1)
    before = executors()
    stop = threading.Event()
    killer = threading.Thread(target=kill_one, args=(stop,))
    killer.start()
    rows = [(row["id"], row["mended"].asDict()) for row in mended.collect()]
    stop.set()
    killer.join()
    assert killed, "everything was done before a worker could be killed"
    assert killed[0] in before and killed[0] not in executors(), "the worker is gone"
    check(f"Spark {spark.version}, 2 workers, one killed with {lost[0]} tasks lost", rows)
finally:
    spark.stop()
