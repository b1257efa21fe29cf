"""Mend the tool calls that language models get nearly right, or refuse them with a reason."""

from importlib.metadata import version as _version

from toolmend._column import mend_column
from toolmend._mender import Mender
from toolmend._native import Call, Event, Preview, Repair, Stream, Turn, Verdict, Violation, dialects
from toolmend._policy import Policy
from toolmend._schema import schema_of
from toolmend._text import MendError, fix, load, loads, loads_as
from toolmend._typed import to_type

__version__ = _version("toolmend")

__all__ = [
    "Call",
    "Event",
    "MendError",
    "Mender",
    "Policy",
    "Preview",
    "Repair",
    "Stream",
    "Turn",
    "Verdict",
    "Violation",
    "__version__",
    "dialects",
    "fix",
    "load",
    "loads",
    "loads_as",
    "mend_column",
    "schema_of",
    "to_type",
]
