"""vLLM: a tool parser that reads every dialect and mends the calls.

.. code-block:: shell

    vllm serve MODEL --enable-auto-tool-choice --tool-call-parser toolmend --tool-parser-plugin toolmend.vllm

``toolmend:NAME`` tries the dialect of that name first. If the package is installed in the environment of vLLM, its entry
point registers the parser and the last option is not needed. For versions of vLLM that need a file, ``python -m
toolmend.vllm`` prints its path.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from toolmend._chat import mender_for
from toolmend._mender import Mender
from toolmend._native import Event, Stream, dialects

__all__ = ["register"]


def _create_parser(dialect: str | None) -> type[Any]:
    """Creates the parser class for a dialect. vLLM is imported here, so that importing this module is cheap."""
    try:
        from vllm.entrypoints.generate.base import protocol
    except ImportError:
        from vllm.entrypoints.openai.engine import protocol
    from vllm.tool_parsers.abstract_tool_parser import ToolParser

    class ToolmendParser(ToolParser):  # type: ignore[misc]
        """Finds the calls and the content in a model's output."""

        def __init__(self, tokenizer: Any, tools: Any = None, *args: Any, **kwargs: Any) -> None:
            super().__init__(tokenizer, tools, *args, **kwargs)
            self._stream: Stream | None = None
            self._ended = False

        def adjust_request(self, request: Any) -> Any:
            request = super().adjust_request(request)
            if request.tools:
                # Markers are special tokens in many vocabularies, and without markers no call can be found.
                request.skip_special_tokens = False
            return request

        def _mender(self, request: Any) -> Mender:
            tools = [tool.model_dump(exclude_none=True) for tool in request.tools or self.tools or ()]
            return mender_for(tools, None) or Mender()

        def extract_tool_calls(self, model_output: str, request: Any) -> Any:
            turn = self._mender(request).turn(
                model_output, dialect=dialect, model=request.model, finish_reason="stop"
            )
            calls = [
                protocol.ToolCall(
                    **({"id": call.id} if call.id else {}),
                    function=protocol.FunctionCall(name=call.name, arguments=call.json),
                )
                for call in turn.calls
                if call.json is not None
            ]
            # A call that is refused stays in the content.
            reasoning = f"<think>{turn.reasoning}</think>" if turn.reasoning else ""
            refused = "".join(call.raw for call in turn.calls if call.json is None)
            return protocol.ExtractedToolCallInformation(
                tools_called=bool(calls),
                tool_calls=calls,
                content=(reasoning + turn.content + refused) or None,
            )

        def extract_tool_calls_streaming(
            self,
            previous_text: str,
            current_text: str,
            delta_text: str,
            previous_token_ids: Sequence[int],
            current_token_ids: Sequence[int],
            delta_token_ids: Sequence[int],
            request: Any,
        ) -> Any:
            if self._stream is None or not previous_text:
                self._stream = self._mender(request).stream(dialect=dialect, model=request.model)
                self._ended = False
            events = self._stream.push(delta_text)
            if not self._ended and getattr(self.model_tokenizer, "eos_token_id", None) in delta_token_ids:
                events += self._stream.finish("stop")
                self._ended = True
            return self._to_delta(events)

        def _to_delta(self, events: list[Event]) -> Any:
            content, reasoning, calls = "", "", []
            for event in events:
                if event.type == "content":
                    content += event.text or ""
                elif event.type == "reasoning":
                    reasoning += event.text or ""
                elif event.call is not None and event.call.json is None:
                    content += event.call.raw
                elif event.call is not None:
                    calls.append(self._add_call(event.call))
            if not (content or reasoning or calls):
                return None
            fields: dict[str, Any] = {"content": content or None, "tool_calls": calls}
            return protocol.DeltaMessage(**fields, **({"reasoning": reasoning} if reasoning else {}))

        def _add_call(self, call: Any) -> Any:
            """Returns a complete call, and records it where the server looks for streamed calls."""
            self.current_tool_id += 1
            self.current_tool_name_sent = True
            self.prev_tool_call_arr.append({"name": call.name, "arguments": call.json})
            self.streamed_args_for_tool.append(call.json)
            tool_call = protocol.ToolCall(
                **({"id": call.id} if call.id else {}),
                function=protocol.FunctionCall(name=call.name, arguments=call.json),
            )
            return protocol.DeltaToolCall(
                index=self.current_tool_id,
                type="function",
                id=tool_call.id,
                function=protocol.DeltaFunctionCall(name=call.name, arguments=call.json),
            )

    return ToolmendParser


def register() -> None:
    """Registers ``toolmend`` and ``toolmend:NAME`` for every dialect."""
    from vllm.tool_parsers.abstract_tool_parser import ToolParserManager

    ToolParserManager.register_module("toolmend", module=_create_parser(None))
    for name in dialects():
        ToolParserManager.register_module(f"toolmend:{name}", module=_create_parser(name))


def _is_imported_by_vllm() -> bool:
    import sys

    # The entry point imports this module too and calls `register` itself. Registering twice is harmless.
    return "vllm" in sys.modules


if __name__ == "__main__":
    print(__file__)
elif _is_imported_by_vllm():
    register()
