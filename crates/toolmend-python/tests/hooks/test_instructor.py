"""instructor, with OpenAI's client and a scripted server."""

from typing import Any

import instructor
import pytest
from instructor.core.exceptions import InstructorRetryException
from openai import OpenAI
from pydantic import BaseModel
from scripted import MENDED, call_message, content_message, run_documented, server

from toolmend.instructor import install


class Read(BaseModel):
    path: str
    limit: int


def from_page(client: Any) -> Any:
    return run_documented("instructor", {"openai_client": client.client})["client"]


def ask(text: str, mode: Any, hook: Any) -> tuple[Any, int]:
    message = content_message(text)
    if mode is instructor.Mode.TOOLS:
        message = call_message(text)
        message["tool_calls"][0]["function"]["name"] = "Read"
    with server([message]) as (url, asked):
        client = hook(instructor.from_openai(OpenAI(base_url=url, api_key="x", max_retries=0), mode=mode))
        answer = client.chat.completions.create(
            model="m", response_model=Read, max_retries=2, messages=[{"role": "user", "content": "read"}]
        )
        return answer, len(asked)


MODES = [instructor.Mode.TOOLS, instructor.Mode.JSON]
TEXT = "{'path': 'a.txt', 'limit': 30,}"


@pytest.mark.parametrize("mode", MODES)
def test_without_the_hook_every_attempt_fails(mode: Any) -> None:
    with pytest.raises(InstructorRetryException):
        ask(TEXT, mode, lambda client: client)


@pytest.mark.parametrize("mode", MODES)
def test_with_the_hook_one_call_is_enough(mode: Any) -> None:
    answer, calls = ask(TEXT, mode, install)
    assert (answer.model_dump(), calls) == (MENDED, 1)


def test_the_lines_of_the_page_work() -> None:
    answer, calls = ask(TEXT, instructor.Mode.TOOLS, from_page)
    assert (answer.model_dump(), calls) == (MENDED, 1)
