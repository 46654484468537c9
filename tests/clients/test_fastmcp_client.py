"""FastMCP's client, in both protocol eras."""

import fastmcp
import pytest
from fastmcp import Client
from fastmcp.client.elicitation import ElicitResult
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


@pytest.mark.requirement("CON-3")
@pytest.mark.skipif(not fastmcp.__version__.startswith("4.1"), reason="from 4.2 this client sends no empty form")
@pytest.mark.parametrize("mode", ["legacy", "auto"])
async def test_a_question_that_is_accepted_with_an_empty_form_is_a_yes(mode, demo_url):
    async def accept(message, response_type, params, context):
        return ElicitResult(action="accept", content={})

    async with Client(StreamableHttpTransport(demo_url), mode=mode, elicitation_handler=accept) as client:
        made = await client.call_tool("create_note", {"title": f"{mode}, to be deleted with an empty form"})
        note = data_of(made.content[0].text)["id"]
        result = await client.call_tool("delete_note", {"note_id": note, "explicit_action": "DELETE_NOTE"})
    assert data_of(result.content[0].text) == {"deleted": note}
