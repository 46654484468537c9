"""An agent of Pydantic AI, with a scripted model: it is told the tools, calls one, and answers."""

import pytest
from fastmcp.client.transports import StdioTransport
from pydantic_ai import Agent
from pydantic_ai.mcp import MCPToolset
from pydantic_ai.messages import ModelMessage, ModelResponse, TextPart, ToolCallPart, ToolReturnPart
from pydantic_ai.models.function import AgentInfo, FunctionModel

from tests.clients.demo_server import DEMO, TOOLS, data_of
from tests.forkserver.commands import command_path


@pytest.mark.parametrize("transport", ["stdio", "http"])
async def test_an_agent_lists_calls_and_answers(transport, demo_url):
    told: list[str] = []

    def scripted(messages: list[ModelMessage], info: AgentInfo) -> ModelResponse:
        told[:] = [tool.name for tool in info.function_tools]
        returned = [part for part in messages[-1].parts if isinstance(part, ToolReturnPart)]
        if not returned:
            return ModelResponse(parts=[ToolCallPart("add", {"a": 2, "b": 3})])
        return ModelResponse(parts=[TextPart(f"The sum is {data_of(returned[0].model_response_str())}.")])

    over_stdio = StdioTransport(command_path("python"), [DEMO], keep_alive=False)
    agent = Agent(FunctionModel(scripted), toolsets=[MCPToolset(over_stdio if transport == "stdio" else demo_url)])
    async with agent:
        run = await agent.run("What is two and three?")
    assert sorted(told) == sorted(TOOLS)
    assert run.output == "The sum is 5."
