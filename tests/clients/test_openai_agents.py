"""An agent of the OpenAI Agents SDK, with a scripted model: it is told the tools, calls one, and answers."""

import sys
from collections.abc import Iterator
from typing import Any

import pytest
from agents import Agent, ModelResponse, RunConfig, Runner
from agents.mcp import MCPServerStdio, MCPServerStreamableHttp
from agents.models.interface import Model
from agents.usage import Usage
from openai.types.responses import ResponseFunctionToolCall, ResponseOutputMessage, ResponseOutputText

from tests.clients.demo_server import DEMO, TOOLS, data_of


class Scripted(Model):
    """Calls `add` first, and says what came back then."""

    def __init__(self) -> None:
        self.told: list[str] = []

    async def get_response(self, *, input: Any, tools: Any, **_: Any) -> ModelResponse:
        self.told = [tool.name for tool in tools]
        returned = [item for item in input if item.get("type") == "function_call_output"]
        if not returned:
            arguments = '{"a": 2, "b": 3}'
            call = ResponseFunctionToolCall(type="function_call", call_id="one", name="add", arguments=arguments)
            return ModelResponse(output=[call], usage=Usage(), response_id=None)
        words = f"The sum is {data_of(returned[0]['output'][0]['text'])}."
        said = ResponseOutputText(type="output_text", text=words, annotations=[])
        message = ResponseOutputMessage(id="two", type="message", role="assistant", status="completed", content=[said])
        return ModelResponse(output=[message], usage=Usage(), response_id=None)

    def stream_response(self, *_: Any, **__: Any) -> Iterator[Any]:
        raise NotImplementedError


@pytest.mark.parametrize("transport", ["stdio", "http"])
async def test_an_agent_lists_calls_and_answers(transport, demo_url):
    over_stdio = MCPServerStdio({"command": sys.executable, "args": [DEMO]})
    model = Scripted()
    async with over_stdio if transport == "stdio" else MCPServerStreamableHttp({"url": demo_url}) as server:
        agent = Agent(name="adder", model=model, mcp_servers=[server])
        run = await Runner.run(agent, "What is two and three?", run_config=RunConfig(tracing_disabled=True))
    assert model.told == TOOLS
    assert run.final_output == "The sum is 5."
