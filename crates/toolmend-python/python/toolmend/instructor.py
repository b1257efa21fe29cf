"""instructor: answers are mended before they are parsed, so that no retry is spent on them.

.. code-block:: python

    from toolmend.instructor import install
    client = install(instructor.from_openai(OpenAI()))
"""

from __future__ import annotations

from contextvars import ContextVar
from typing import Any, TypeVar

from toolmend._chat import mend_completion, mender_for
from toolmend._policy import Policy, Preset

__all__ = ["install"]

Client = TypeVar("Client")


def install(client: Client, *, policy: Policy | Preset | None = None) -> Client:
    """Mends what this client of a chat completions API receives: calls, and JSON in messages."""
    asked: ContextVar[dict[str, Any]] = ContextVar("asked", default={})

    def remember(*_: Any, **kwargs: Any) -> None:
        asked.set(kwargs)

    def mend(response: Any) -> None:
        kwargs = asked.get()
        wanted = kwargs.get("response_format")
        schema = (wanted.get("json_schema") or {}).get("schema") if isinstance(wanted, dict) else None
        # With a response model in the messages instead of the tools, the message is the JSON.
        mender = mender_for(kwargs.get("tools"), policy)
        mend_completion(response, mender, schema=schema, content=mender is None)

    client.on("completion:kwargs", remember)  # type: ignore[attr-defined]
    client.on("completion:response", mend)  # type: ignore[attr-defined]
    return client
