"""instructor: mends answers before they are parsed, so that they do not cost a retry.

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
    """Mends the answers that this client of a chat completions API receives: calls, and JSON in messages."""
    last_request: ContextVar[dict[str, Any]] = ContextVar("last_request", default={})

    def remember_request(*_: Any, **kwargs: Any) -> None:
        last_request.set(kwargs)

    def mend_response(response: Any) -> None:
        kwargs = last_request.get()
        response_format = kwargs.get("response_format")
        schema = None
        if isinstance(response_format, dict):
            schema = (response_format.get("json_schema") or {}).get("schema")
        # Without tools, the message itself is the JSON of the response model.
        mender = mender_for(kwargs.get("tools"), policy)
        mend_completion(response, mender, schema=schema, content=mender is None)

    client.on("completion:kwargs", remember_request)  # type: ignore[attr-defined]
    client.on("completion:response", mend_response)  # type: ignore[attr-defined]
    return client
