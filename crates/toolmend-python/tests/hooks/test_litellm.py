"""LiteLLM, in front of a server that says what the script says."""

import json
from typing import Any

import pytest
from scripted import BROKEN, CUT, DEFINITION, MENDED, call, documented, server

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
    """What the agent around LiteLLM does with a call."""
    return json.loads(response.choices[0].message.tool_calls[0].function.arguments)


async def ask(text: str) -> Any:
    with server([call(text)]) as (url, _):
        return await litellm.acompletion(**request(url))


async def test_without_the_hook_the_arguments_are_no_json() -> None:
    with pytest.raises(json.JSONDecodeError):
        arguments(await ask(BROKEN))


async def test_with_the_hook_they_are() -> None:
    litellm.callbacks = [Toolmend()]
    assert arguments(await ask(BROKEN)) == MENDED


async def test_the_lines_of_the_page_work() -> None:
    documented("LiteLLM", {})
    assert arguments(await ask(BROKEN)) == MENDED


async def test_what_cannot_be_mended_stays_as_it_is() -> None:
    litellm.callbacks = [Toolmend()]
    response = await ask(CUT)
    assert response.choices[0].message.tool_calls[0].function.arguments == CUT


def test_synchronous_code_has_a_function_of_its_own() -> None:
    with server([call(BROKEN)]) as (url, _):
        with pytest.raises(json.JSONDecodeError):
            arguments(litellm.completion(**request(url)))
        assert arguments(completion(**request(url))) == MENDED


def chunk(finish: str | None = None, **delta: Any) -> ModelResponseStream:
    return ModelResponseStream(choices=[StreamingChoices(index=0, delta=Delta(**delta), finish_reason=finish)])


async def test_the_proxy_streams_mended_calls() -> None:
    def piece(text: str, **more: Any) -> list[dict[str, Any]]:
        return [{"index": 0, "type": "function", "function": {"arguments": text, "name": None}, **more}]

    async def stream() -> Any:
        yield chunk(content="One moment.")
        yield chunk(tool_calls=[{"index": 0, "id": "c1", "type": "function", "function": {"name": "read_file", "arguments": ""}}])
        for text in (BROKEN[:9], BROKEN[9:]):
            yield chunk(tool_calls=piece(text))
        yield chunk(finish="tool_calls")

    data = {"tools": [DEFINITION]}
    told = [it async for it in proxy_handler.async_post_call_streaming_iterator_hook(None, stream(), data)]
    choices = [it.choices[0] for it in told]
    assert [choice.delta.content for choice in choices] == ["One moment.", None, None]
    calls = choices[1].delta.tool_calls
    assert [(it.id, it.function.name, json.loads(it.function.arguments)) for it in calls] == [
        ("c1", "read_file", MENDED)
    ]
    assert choices[2].finish_reason == "tool_calls" and not choices[2].delta.tool_calls
