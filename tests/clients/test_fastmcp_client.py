"""FastMCP's client, in both protocol eras."""

import pytest
from fastmcp import Client
from fastmcp.client.transports import StdioTransport, StreamableHttpTransport

from tests.clients.demo_server import DEMO, TOOLS, data_of
from tests.forkserver.commands import command_path


@pytest.mark.parametrize("mode", ["legacy", "auto"])
@pytest.mark.parametrize("transport", ["stdio", "http"])
async def test_it_lists_and_calls(transport, mode, demo_url):
    over_stdio = StdioTransport(command_path("python"), [DEMO], keep_alive=False)
    server = over_stdio if transport == "stdio" else StreamableHttpTransport(demo_url)
    async with Client(server, mode=mode) as client:
        assert [tool.name for tool in await client.list_tools()] == TOOLS
        result = await client.call_tool("add", {"a": 2, "b": 3})
        assert data_of(result.content[0].text) == 5
        refused = await client.call_tool("add", {"a": "two", "b": 3}, raise_on_error=False)
        assert refused.is_error
