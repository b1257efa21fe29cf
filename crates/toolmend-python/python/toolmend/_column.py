"""Columns of text."""

from __future__ import annotations

from typing import Any

from toolmend import _native
from toolmend._extras import extra
from toolmend._mender import Mender
from toolmend._policy import Policy, Preset
from toolmend._text import compile_fixer


def mend_column(
    column: Any,
    schema: Any = None,
    *,
    mender: Mender | None = None,
    tool: str | Any = "",
    policy: Policy | Preset | None = None,
    threads: int | None = None,
) -> Any:
    """Mends every text of an Arrow column, on all cores and without the interpreter lock.

    ``column`` is any object with the Arrow C data interface: arrays and chunked arrays of pyarrow, series of polars, and
    so on. It is not copied. Each text is JSON that must match ``schema`` or, with ``mender``, the arguments of ``tool``,
    which is one name or a column with a name for each row.

    Returns a column of structs: ``json`` (null if the text is refused; the same buffers as the input if nothing was
    mended), ``outcome``, ``repairs``, ``values`` (of a text that contains several) and ``feedback``. It is a
    ``pyarrow.ChunkedArray`` for columns of pyarrow, a ``DataFrame`` with the same index for series of pandas, otherwise an object
    with ``__arrow_c_stream__``.

    Use ``threads=1`` in hosts that are parallel already, such as Ray and Spark.
    """
    if _library_of(column) == "pandas":
        return _mend_series(column, schema, mender=mender, tool=tool, policy=policy, threads=threads)
    name, names = (tool, None) if isinstance(tool, str) else ("", tool)
    mended = _native.mend_column(column, compile_fixer(schema, policy, None), mender, name, names, threads)
    if _library_of(column) != "pyarrow":
        return mended
    import pyarrow

    return pyarrow.chunked_array(mended)


def _library_of(column: Any) -> str:
    return type(column).__module__.partition(".")[0]


def _mend_series(series: Any, schema: Any, *, tool: Any, **options: Any) -> Any:
    """Mends a series of pandas, which may hold its texts in several ways."""
    with extra("pandas"):
        import pandas
        import pyarrow

    names = tool if isinstance(tool, str) else pyarrow.array(tool, pyarrow.string(), from_pandas=True)
    texts = pyarrow.array(series, pyarrow.string(), from_pandas=True)
    if isinstance(texts, pyarrow.ChunkedArray):
        texts = texts.combine_chunks()
    mended = mend_column(texts, schema, tool=names, **options)
    return pandas.DataFrame(mended.to_pylist(), index=series.index, columns=["json", "outcome", "repairs", "values", "feedback"])
