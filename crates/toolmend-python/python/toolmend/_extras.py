"""Helpful errors for packages that are not installed."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager


@contextmanager
def extra(name: str) -> Iterator[None]:
    """Names the extra of this package that installs what an import in the block does not find."""
    try:
        yield
    except ModuleNotFoundError as error:
        missing = (error.name or "").partition(".")[0]
        if missing in ("", "toolmend"):
            raise
        message = f"{missing} is not installed; run: pip install 'toolmend[{name}]'"
        raise ModuleNotFoundError(message, name=error.name, path=error.path) from error
