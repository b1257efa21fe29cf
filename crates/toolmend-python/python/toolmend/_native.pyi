"""The native module. Ranges are half-open byte ranges in the UTF-8 text of the input."""

from collections.abc import Mapping
from typing import Any, Literal, final

from typing_extensions import Self

Outcome = Literal["clean", "mended", "truncated", "rejected"]
Reason = Literal["ambiguous", "syntax", "schema", "unknown_tool", "limit", "policy"]

@final
class Repair:
    """One change to the text."""

    @property
    def kind(self) -> str: ...
    @property
    def layer(self) -> Literal["syntax", "shape", "name", "dialect"]: ...
    @property
    def tier(self) -> Literal["lossless", "guided", "assumed"]: ...
    @property
    def summary(self) -> str: ...
    @property
    def path(self) -> str:
        """JSON pointer of the value in the mended JSON."""
    @property
    def at(self) -> tuple[int, int] | None:
        """The range in the input, or ``None`` if the arguments were passed as a value."""
    def to_dict(self) -> dict[str, Any]: ...

@final
class Violation:
    """One way in which a value does not match its schema."""

    @property
    def path(self) -> str: ...
    @property
    def keyword(self) -> str: ...
    @property
    def schema_path(self) -> str: ...
    @property
    def message(self) -> str: ...

@final
class Verdict:
    """The outcome of mending a text or a call. It is true if the call can run."""

    @property
    def outcome(self) -> Outcome: ...
    @property
    def runs(self) -> bool: ...
    def __bool__(self) -> bool: ...
    @property
    def tool(self) -> str | None:
        """The declared tool that the call means."""
    @property
    def json(self) -> str | None:
        """The JSON to run with, which is the input if nothing was mended; ``None`` if the call is refused."""
    @property
    def text(self) -> str | None:
        """The same as ``json``: never the input of a refused call."""
    @property
    def arguments(self) -> Any:
        """The value to run with; ``None`` if the call is refused."""
    @property
    def value(self) -> Any:
        """The same as ``arguments``."""
    @property
    def repairs(self) -> list[Repair]: ...
    @property
    def values(self) -> list[Any]:
        """The values of a text that contains several different ones."""
    @property
    def notes(self) -> list[str]:
        """Lines for the tool result."""
    @property
    def feedback(self) -> str | None:
        """Feedback for the model: what was wrong and what to do next."""
    @property
    def reason(self) -> Reason | None: ...
    @property
    def message(self) -> str | None: ...
    @property
    def readings(self) -> list[Any]:
        """The possible readings of an ambiguous text."""
    @property
    def cut(self) -> str | None:
        """JSON pointer of the value in which the text was truncated."""
    @property
    def partial(self) -> Any:
        """The complete members of a truncated text. For display only, never as arguments."""
    @property
    def violations(self) -> list[Violation]: ...
    def to_dict(self) -> dict[str, Any]:
        """The fields of the batch protocol."""

@final
class Call:
    """A call in a model's output."""

    @property
    def name(self) -> str: ...
    @property
    def id(self) -> str | None: ...
    @property
    def source(self) -> Literal["explicit", "inferred"]: ...
    @property
    def dialect(self) -> str: ...
    @property
    def at(self) -> tuple[int, int]: ...
    @property
    def raw(self) -> str: ...
    @property
    def verdict(self) -> Verdict: ...
    @property
    def outcome(self) -> Outcome: ...
    @property
    def runs(self) -> bool: ...
    @property
    def json(self) -> str | None: ...
    @property
    def arguments(self) -> Any: ...
    def to_dict(self) -> dict[str, Any]: ...

@final
class Turn:
    """A model output, split into content, reasoning and calls."""

    @property
    def outcome(self) -> Outcome: ...
    @property
    def content(self) -> str: ...
    @property
    def reasoning(self) -> str: ...
    @property
    def calls(self) -> list[Call]: ...
    @property
    def answer(self) -> Verdict | None:
        """The verdict on the content, if the request asked for an answer in JSON and there are no calls."""
    @property
    def repairs(self) -> list[Repair]:
        """What was removed from the text around the calls."""
    @property
    def notes(self) -> list[str]: ...
    def to_dict(self) -> dict[str, Any]: ...

@final
class Event:
    """An event of a stream. Fields that an event of this type does not have are ``None``."""

    @property
    def type(
        self,
    ) -> Literal[
        "content",
        "reasoning",
        "note",
        "call_start",
        "arguments_delta",
        "call_end",
        "call_cut",
        "call_rejected",
        "preview",
        "removed",
    ]: ...
    @property
    def text(self) -> str | None: ...
    @property
    def index(self) -> int | None: ...
    @property
    def name(self) -> str | None: ...
    @property
    def id(self) -> str | None: ...
    @property
    def call(self) -> Call | None: ...
    @property
    def partial(self) -> Any:
        """The arguments so far, if this is a preview. For display only, never as arguments."""
    @property
    def partial_json(self) -> str | None:
        """The same as JSON text."""
    @property
    def incomplete(self) -> bool:
        """Whether this is a preview of a call that is still being written."""

@final
class Stream:
    """Reads an output piece by piece. A piece may end anywhere."""

    def push(self, piece: str | bytes) -> list[Event]: ...
    def finish(self, finish_reason: str | None = None) -> list[Event]: ...

class Mender:
    def __new__(cls, tools: str, policy: str, feedback_limit: int | None, lenient: bool) -> Self: ...
    @property
    def notes(self) -> list[str]: ...
    @property
    def tool_names(self) -> list[str]: ...
    def mend_text(
        self, tool: str, arguments: str, is_text: bool, finish_reason: str | None
    ) -> Verdict: ...
    def answer_text(self, text: str, format: str, finish_reason: str | None) -> Verdict: ...
    def turn(
        self,
        text: str,
        *,
        dialect: str | None = None,
        model: str | None = None,
        finish_reason: str | None = None,
        reasoning_open: bool = False,
        request: Mapping[str, Any] | None = None,
    ) -> Turn:
        """Splits a complete model output into content, reasoning and calls."""
    def stream(
        self,
        *,
        dialect: str | None = None,
        model: str | None = None,
        reasoning_open: bool = False,
        live: bool = False,
        previews: bool = False,
        request: Mapping[str, Any] | None = None,
    ) -> Stream:
        """Starts to read an output piece by piece. With ``live``, events contain strings while the model writes them.

        With ``previews``, there are also events with the arguments so far, at every depth, for user interfaces.
        """

@final
class Preview:
    """What can be shown of JSON that is still being written. It only grows, and must never be used as arguments."""

    def __new__(cls, text: str = "") -> Self: ...
    def push(self, piece: str) -> None:
        """Reads the next piece, which may end anywhere."""
    @property
    def json(self) -> str | None:
        """The value so far as strict JSON, or ``None`` before its first bracket."""
    @property
    def value(self) -> Any:
        """The value so far."""

@final
class Fixer:
    def __new__(cls, schema: str | None, policy: str, finish_reason: str | None) -> Self: ...
    def fix(self, text: str) -> Verdict: ...
    def load(self, text: str) -> tuple[Any, bool]: ...
    def json(self, text: str) -> tuple[Any, bool]: ...

def dialects() -> list[str]:
    """Returns the names of the dialects."""

def mend_column(
    column: Any, fixer: Fixer, mender: Mender | None, tool: str, tools: Any, threads: int | None
) -> Any: ...
