"""Runs agent frameworks on every case of `faults.py`, directly and through the gateway.

    frameworks.py GATEWAY_URL MODEL_URL FOLDER

Prints one JSON line for each framework and case. It is ok if the run through the gateway gets at least as far as the direct
one, writes nothing that the model did not mean, and ends right if the fault can be repaired.
"""

import asyncio
import contextlib
import io
import json
import logging
import os
import sys
import warnings

# Before the frameworks are imported: nothing is reported to anyone.
os.environ.update(LANGSMITH_TRACING="false", OPENAI_AGENTS_DISABLE_TRACING="1", OPENAI_API_KEY="x", HF_HUB_OFFLINE="1")
warnings.filterwarnings("ignore")

import agents
import openai
import pydantic_ai
import smolagents
from agents.models.openai_chatcompletions import OpenAIChatCompletionsModel
from agents.models.openai_responses import OpenAIResponsesModel
from langchain_core.tools import tool as langchain_tool
from langchain_openai import ChatOpenAI
from langgraph.prebuilt import create_react_agent
from pydantic_ai.models.openai import OpenAIChatModel, OpenAIResponsesModel as PydanticResponsesModel
from pydantic_ai.providers.openai import OpenAIProvider

from faults import CASES

logging.disable(logging.CRITICAL)
gateway, model_url, folder = sys.argv[1:4]
# How a run ended, the worst first.
ENDINGS = ["wrong", "nothing", "failed", "right"]
MAX_STEPS = 10
SECONDS = 60


def write_file(path: str, content: str) -> str:
    """Writes a file.

    Args:
        path: Where it is written.
        content: What it holds.
    """
    with open(path, "w", newline="") as file:
        file.write(content)
    return "written"


def langgraph(surface, stream):
    def run(url, case, prompt):
        model = ChatOpenAI(model=case, base_url=f"{url}/v1", api_key="x", max_retries=0, timeout=SECONDS, use_responses_api=surface == "responses", streaming=stream)
        graph = create_react_agent(model, [langchain_tool(write_file)])
        given, config = {"messages": [("user", prompt)]}, {"recursion_limit": 2 * MAX_STEPS}
        if stream:
            for _ in graph.stream(given, config, stream_mode="messages"):
                pass
        else:
            graph.invoke(given, config)

    return run


def openai_agents(surface, stream):
    def run(url, case, prompt):
        async def go():
            client = openai.AsyncOpenAI(base_url=f"{url}/v1", api_key="x", max_retries=0, timeout=SECONDS)
            model = {"chat": OpenAIChatCompletionsModel, "responses": OpenAIResponsesModel}[surface]
            agent = agents.Agent(name="writer", model=model(case, client), tools=[agents.function_tool(write_file)])
            if not stream:
                await agents.Runner.run(agent, prompt, max_turns=MAX_STEPS)
                return
            async for _ in agents.Runner.run_streamed(agent, prompt, max_turns=MAX_STEPS).stream_events():
                pass

        asyncio.run(go())

    return run


def pydantic(surface, stream):
    def run(url, case, prompt):
        async def go():
            client = openai.AsyncOpenAI(base_url=f"{url}/v1", api_key="x", max_retries=0, timeout=SECONDS)
            model = {"chat": OpenAIChatModel, "responses": PydanticResponsesModel}[surface]
            agent = pydantic_ai.Agent(model(case, provider=OpenAIProvider(openai_client=client)), tools=[write_file])
            limits = pydantic_ai.UsageLimits(request_limit=MAX_STEPS)
            if not stream:
                await agent.run(prompt, usage_limits=limits)
                return
            async with agent.run_stream_events(prompt, usage_limits=limits) as events:
                async for _ in events:
                    pass

        asyncio.run(go())

    return run


def smol(stream):
    def run(url, case, prompt):
        model = smolagents.OpenAIServerModel(case, api_base=f"{url}/v1", api_key="x", client_kwargs={"max_retries": 0, "timeout": SECONDS})
        agent = smolagents.ToolCallingAgent([smolagents.tool(write_file)], model, max_steps=MAX_STEPS, verbosity_level=-1, stream_outputs=stream)
        agent.run(prompt)

    return run


FRAMEWORKS = [("smolagents", "chat", False, smol(False)), ("smolagents", "chat", True, smol(True))] + [
    (name, surface, stream, build(surface, stream))
    for name, build in (("LangGraph", langgraph), ("OpenAI Agents", openai_agents), ("Pydantic AI", pydantic))
    for surface in ("chat", "responses")
    for stream in (False, True)
]


def end_of(run, url, case, path):
    """How a run ended, and its error."""
    why = None
    try:
        # What a framework prints must not stand between the lines of the report.
        with contextlib.redirect_stdout(io.StringIO()):
            run(url, case, f"Write the file. FILE={path}")
    except Exception as error:  # every way to fail is a finding
        why = f"{type(error).__name__}: {error}"
    try:
        with open(path, newline="") as file:
            written = file.read()
    except FileNotFoundError:
        return "nothing", why
    if written != CASES[case].text:
        return "wrong", why
    return ("failed" if why else "right"), why


def find_fault(kind, direct, proxied):
    if ENDINGS.index(proxied) < ENDINGS.index(direct):
        return "gets less far than without the gateway"
    if proxied == "wrong":
        return "writes what the model did not mean"
    if kind in ("valid", "repaired") and proxied != "right":
        return "does not end right"
    return None


def main():
    chosen = [name for name in CASES if len(sys.argv) < 5 or name in sys.argv[4:]]
    for number, (name, surface, stream, run) in enumerate(FRAMEWORKS):
        for case in chosen:
            ends = []
            for route, url in (("direct", model_url), ("gateway", gateway)):
                path = os.path.join(folder, f"{number}-{case}-{route}.txt")
                if os.path.exists(path):
                    os.remove(path)
                ends.append(end_of(run, url, case, path))
            (direct, _), (proxied, why) = ends
            fault = find_fault(CASES[case].kind, direct, proxied)
            line = {"client": name, "surface": surface, "stream": stream, "case": case, "direct": direct, "gateway": proxied, "ok": fault is None, "why": fault and f"{fault}: {why}"[:600]}
            print(json.dumps(line), flush=True)


if __name__ == "__main__":
    main()
