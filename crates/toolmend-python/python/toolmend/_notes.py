"""Notes about mended calls, which belong before the result of the tool: which values were filled in."""

from __future__ import annotations

from collections import OrderedDict
from collections.abc import Sequence
from typing import Any

# Hosts run for weeks, and a call that is never answered must not stay forever.
_MAX_CALLS = 1024


class CallNotes:
    """Remembers the notes of calls by their ids, until the oldest have to go."""

    def __init__(self) -> None:
        self._notes: OrderedDict[str, str] = OrderedDict()

    def remember(self, call_id: str | None, notes: Sequence[str]) -> None:
        """Remembers the notes of a call. Without notes, nothing happens."""
        if call_id and notes:
            self._notes[call_id] = "\n".join(notes)
            while len(self._notes) > _MAX_CALLS:
                self._notes.popitem(last=False)

    def get(self, call_id: str | None) -> str | None:
        """Returns the notes of a call."""
        return self._notes.get(call_id or "")

    def add_to(self, call_id: str | None, result: Any) -> Any:
        """Returns the result of a call with its notes before it. Histories repeat results, so it can be asked again."""
        notes = self.get(call_id)
        return result if notes is None else prepend(notes, result)

    def add_to_messages(self, messages: Any) -> Any:
        """Returns chat messages with the notes before the results of their calls."""
        if not self._notes or not isinstance(messages, list):
            return messages
        return [
            {**message, "content": self.add_to(message.get("tool_call_id"), message.get("content"))}
            if isinstance(message, dict) and message.get("role") == "tool"
            else message
            for message in messages
        ]


def prepend(notes: str, result: Any) -> Any:
    """Returns a result with a text before it: a string, a list of content parts, or something else, which stays as it is."""
    if isinstance(result, str):
        return result if result.startswith(notes) else f"{notes}\n{result}"
    if isinstance(result, list):
        return [{"type": "text", "text": notes}, *result]
    return result
