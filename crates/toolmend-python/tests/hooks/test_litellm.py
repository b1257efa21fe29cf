"""LiteLLM, with a scripted server."""

import json
from typing import Any

import pytest
from scripted import (
    BROKEN,
    DEFINITION,
    FILLED,
    HALF,
    MENDED,
    NOTE,
    RELATIONAL,
    TOOL,
    TRUNCATED,
    call_message,
    content_message,
    run_documented,
    server,
)

import litellm
from litellm.types.utils import Delta, ModelResponseStream, StreamingChoices

from toolmend.litellm import Toolmend, completion, proxy_handler


@pytest.fixture(autouse=True)
def no_callbacks() -> Any:
    yield
    litellm.callbacks = []


def request(url: str) -> dict[str, Any]:
    messages = [{"role": "user", "content": "read it"}]
    return {"model": "openai/m", "api_base": url, "api_key": "x", "messages": messages, "tools": [DEFINITION]}


def arguments(response: Any) -> Any:
    """Parses the arguments of a call, as an agent does."""
    return json.loads(response.choices[0].message.tool_calls[0].function.arguments)


async def ask(text: str) -> Any:
    with server([call_message(text)]) as (url, _):
        return await litellm.acompletion(**request(url))


async def test_without_the_hook_the_arguments_are_not_json() -> None:
    with pytest.raises(json.JSONDecodeError):
        arguments(await ask(BROKEN))


async def test_with_the_hook_the_arguments_are_mended() -> None:
    litellm.callbacks = [Toolmend()]
    assert arguments(await ask(BROKEN)) == MENDED


async def test_the_lines_of_the_page_work() -> None:
    run_documented("LiteLLM", {})
    assert arguments(await ask(BROKEN)) == MENDED


async def test_a_call_that_cannot_be_mended_stays_unchanged() -> None:
    litellm.callbacks = [Toolmend()]
    response = await ask(TRUNCATED)
    assert response.choices[0].message.tool_calls[0].function.arguments == TRUNCATED


def test_synchronous_code_has_a_function_of_its_own() -> None:
    with server([call_message(BROKEN)]) as (url, _):
        with pytest.raises(json.JSONDecodeError):
            arguments(litellm.completion(**request(url)))
        assert arguments(completion(**request(url))) == MENDED


def chunk(finish: str | None = None, **delta: Any) -> ModelResponseStream:
    return ModelResponseStream(choices=[StreamingChoices(index=0, delta=Delta(**delta), finish_reason=finish)])


def piece(text: str, **more: Any) -> ModelResponseStream:
    function = {"arguments": text, "name": None, **more}
    return chunk(tool_calls=[{"index": 0, "id": "c1", "type": "function", "function": function}])


PIECES = [chunk(content="One moment."), piece("", name="read_file"), piece(BROKEN[:9]), piece(BROKEN[9:])]


async def stream_through_hook(chunks: list[ModelResponseStream]) -> list[Any]:
    async def stream() -> Any:
        for one in chunks:
            yield one.model_copy(deep=True)

    data = {"tools": [DEFINITION]}
    chunks_out = proxy_handler.async_post_call_streaming_iterator_hook(None, stream(), data)
    return [one.choices[0] async for one in chunks_out]


async def test_the_proxy_streams_mended_calls() -> None:
    choices = await stream_through_hook([*PIECES, chunk(finish="tool_calls")])
    assert [choice.delta.content for choice in choices] == ["One moment.", None, None]
    calls = choices[1].delta.tool_calls
    assert [(it.id, it.function.name, json.loads(it.function.arguments)) for it in calls] == [
        ("c1", "read_file", MENDED)
    ]
    assert choices[2].finish_reason == "tool_calls" and not choices[2].delta.tool_calls


async def test_a_stream_that_breaks_off_loses_nothing() -> None:
    choices = await stream_through_hook(PIECES[:3])
    assert [choice.delta.content for choice in choices] == ["One moment.", None]
    assert choices[1].delta.tool_calls[0].function.arguments == BROKEN[:9]


@pytest.mark.parametrize("hooked", [True, False])
async def test_the_model_reads_which_values_were_filled_in(hooked: bool) -> None:
    litellm.callbacks = [Toolmend()] if hooked else []
    definition = {"type": "function", "function": {"name": TOOL, "parameters": RELATIONAL}}
    with server([call_message(HALF), content_message("done")]) as (url, requests):
        ask = {**request(url), "tools": [definition]}
        answer = await litellm.acompletion(**ask) if hooked else completion(**ask)
        assert arguments(answer) == FILLED
        message = answer.choices[0].message.model_dump(exclude_none=True)
        result = {"role": "tool", "tool_call_id": message["tool_calls"][0]["id"], "content": "contents"}
        ask["messages"] = [*ask["messages"], message, result]
        await litellm.acompletion(**ask) if hooked else completion(**ask)
    assert requests[1]["messages"][-1]["content"].startswith(NOTE)
    assert result["content"] == "contents", "the history of the caller is not changed"
