"""An agent of the OpenAI Agents SDK, with a scripted model: it is told the tools, calls one, and answers."""

import pytest
from agents import Agent, RunConfig, Runner
from agents.mcp import MCPServerStdio, MCPServerStreamableHttp

from tests.clients.demo_server import DEMO, TOOLS, data_of
from tests.clients.scripted import Scripted
from tests.forkserver.commands import command_path


@pytest.mark.parametrize("transport", ["stdio", "http"])
async def test_an_agent_lists_calls_and_answers(transport, demo_url):
    over_stdio = MCPServerStdio({"command": command_path("python"), "args": [DEMO]})
    model = Scripted(lambda _: ("add", {"a": 2, "b": 3}), lambda seen: f"The sum is {data_of(seen[0])}.")
    async with over_stdio if transport == "stdio" else MCPServerStreamableHttp({"url": demo_url}) as server:
        agent = Agent(name="adder", model=model, mcp_servers=[server])
        run = await Runner.run(agent, "What is two and three?", run_config=RunConfig(tracing_disabled=True))
    assert model.told == TOOLS
    assert run.final_output == "The sum is 5."
