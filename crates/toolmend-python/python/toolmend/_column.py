"""Columns of texts."""

from __future__ import annotations

from typing import Any

from toolmend import _native
from toolmend._mender import Mender
from toolmend._policy import Policy, Preset
from toolmend._text import fixer


def mend_column(
    column: Any,
    schema: Any = None,
    *,
    mender: Mender | None = None,
    tool: str | Any = "",
    policy: Policy | Preset | None = None,
    threads: int | None = None,
) -> Any:
    """Mends every text of an Arrow column, on all cores and with the interpreter free for other threads.

    ``column`` is anything that speaks the Arrow C data interface: arrays and chunked arrays of pyarrow, series of
    polars, and so on. It is read where it is. The texts are JSON under ``schema``, or with ``mender`` the arguments of
    ``tool``, which is one name or a column with a name for each row.

    What comes back is a column of structures: ``json`` (null where nothing runs, and the very same buffers where nothing
    had to be mended), ``outcome``, ``repairs``, ``values`` (of texts that held several) and ``feedback``. It is a
    ``pyarrow.ChunkedArray`` for columns of pyarrow, else an object with ``__arrow_c_stream__``.

    ``threads=1`` is for hosts that are parallel already, such as Ray and Spark.
    """
    name, names = (tool, None) if isinstance(tool, str) else ("", tool)
    mended = _native.mend_column(column, fixer(schema, policy, None), mender, name, names, threads)
    if type(column).__module__.partition(".")[0] != "pyarrow":
        return mended
    import pyarrow

    return pyarrow.chunked_array(mended)
