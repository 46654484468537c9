"""The client of the MCP Python SDK, in both protocol eras."""

import mcp_types as types
import pytest
from mcp import Client, StdioServerParameters
from mcp.shared.exceptions import MCPError

from tests.clients.demo_server import DEMO, TOOLS, data_of
from tests.forkserver.commands import command_path

OVER_STDIO = StdioServerParameters(command=command_path("python"), args=[DEMO])
ERAS = pytest.mark.parametrize(
    ("mode", "version"), [("legacy", "2025-11-25"), ("auto", "2026-07-28"), ("2026-07-28", "2026-07-28")]
)
TRANSPORTS = pytest.mark.parametrize("transport", ["stdio", "http"])


@pytest.fixture
def server(transport: str, demo_url: str) -> StdioServerParameters | str:
    return OVER_STDIO if transport == "stdio" else demo_url


@TRANSPORTS
@ERAS
async def test_it_lists_calls_and_reads(server, mode, version):
    async with Client(server, mode=mode) as client:
        assert client.protocol_version == version
        assert [tool.name for tool in (await client.list_tools()).tools] == TOOLS
        result = await client.call_tool("add", {"a": 2, "b": 3})
        assert (result.is_error, data_of(result.content[0].text)) == (False, 5)
        (document,) = (await client.read_resource("toolcharter://tools/add")).contents
        assert document.mime_type == "text/markdown"


@TRANSPORTS
@ERAS
async def test_a_failed_call_is_a_result_and_an_unknown_tool_is_a_protocol_error(server, mode, version):
    async with Client(server, mode=mode) as client:
        refused = await client.call_tool("add", {"a": "two", "b": 3})
        assert refused.is_error
        with pytest.raises(MCPError) as unknown:
            await client.call_tool("ad", {})
        assert unknown.value.error.code == types.INVALID_PARAMS


@TRANSPORTS
@ERAS
async def test_it_hears_about_progress(server, mode, version):
    heard: list[tuple[float, float | None]] = []

    async def hear(done: float, total: float | None, message: str | None) -> None:
        heard.append((done, total))

    async with Client(server, mode=mode) as client:
        result = await client.call_tool("digest_notes", {}, progress_callback=hear)
    notes = data_of(result.content[0].text)["notes"]
    assert heard == [(number, notes) for number in range(1, notes + 1)]


@TRANSPORTS
@ERAS
async def test_the_person_is_asked_before_a_note_is_deleted(server, mode, version):
    questions: list[str] = []

    async def agree(_: object, asked: types.ElicitRequestParams) -> types.ElicitResult:
        questions.append(asked.message)
        return types.ElicitResult(action="accept", content={"confirm": True})

    async with Client(server, mode=mode, elicitation_callback=agree) as client:
        made = await client.call_tool("create_note", {"title": f"{mode} to be deleted"})
        note = data_of(made.content[0].text)["id"]
        result = await client.call_tool("delete_note", {"note_id": note, "explicit_action": "DELETE_NOTE"})
    assert data_of(result.content[0].text) == {"deleted": note}
    assert questions == [f"Delete note {note} for good?"]
