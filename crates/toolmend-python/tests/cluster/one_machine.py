"""Checks that DuckDB and Polars give the answers of the command."""

from __future__ import annotations

import duckdb
import polars as pl
from expected import CALLS, TOOLS, check

from toolmend.duckdb import register
from toolmend.polars import mend_column

with duckdb.connect() as connection:
    register(connection, "mend", tools=TOOLS)
    register(connection, "mend_read", tools=TOOLS, tool="read_file")
    found = connection.execute(f"SELECT id, mend(arguments, tool) FROM '{CALLS}'").fetchall()
    check(f"DuckDB {duckdb.__version__}", found)
    nothing = connection.execute("SELECT mend_read(NULL), mend_read('{path: ''x''}').json").fetchone()
    assert nothing is not None and nothing[0]["outcome"] is None and nothing[1] == '{"path": "x"}', nothing

frame = pl.read_parquet(CALLS)
mended = frame.select("id", mended=mend_column("arguments", tools=TOOLS, tool=pl.col("tool")))
check(f"Polars {pl.__version__}", list(mended.iter_rows()))
lazy = pl.scan_parquet(CALLS).filter(pl.col("tool") == "read_file")
lazy = lazy.select("id", mended=mend_column("arguments", tools=TOOLS, tool="read_file"))
known = dict(mended.iter_rows())
assert all(known[name] == answer for name, answer in lazy.collect().iter_rows())
