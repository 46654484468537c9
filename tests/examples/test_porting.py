"""What docs/porting.md says of the three libraries is what they do, as they are installed here."""

import json
from typing import Any

import pytest
from fastmcp import FastMCP
from mcp import Client
from mcp.server import MCPServer
from toolcharter_examples.porting import on_fastmcp, on_mcpserver, on_toolcharter

from mcp_core.hosts.sdk.server import build_server
from toolcharter import App, Settings


def of_fastmcp() -> Any:
    return on_fastmcp.mcp._mcp_server


def of_toolcharter() -> Any:
    return build_server(on_toolcharter.build(Settings()))


SERVERS = {"fastmcp": of_fastmcp, "mcpserver": lambda: on_mcpserver.mcp, "toolcharter": of_toolcharter}


@pytest.fixture(autouse=True)
def _restored(monkeypatch: pytest.MonkeyPatch):
    for module in (on_fastmcp, on_mcpserver):
        monkeypatch.setattr(module, "TITLES", dict(module.TITLES))


@pytest.mark.parametrize("library", SERVERS)
async def test_all_three_list_and_remove_the_same_books(library: str):
    consent = {"explicit_action": "REMOVE_BOOK"} if library == "toolcharter" else {}
    async with Client(SERVERS[library]()) as client:
        assert [tool.name for tool in (await client.list_tools()).tools] == ["list_books", "remove_book"]
        removed = await client.call_tool("remove_book", {"book_id": "book_1", **consent})
        left = await client.call_tool("list_books", {})
    assert not removed.is_error
    assert "Dune" in removed.content[0].text
    assert json.loads(left.content[0].text) in ({"id": "book_2", "title": "Emma"}, [{"id": "book_2", "title": "Emma"}])


@pytest.mark.parametrize("library", SERVERS)
async def test_a_book_that_is_not_there_is_an_error_with_its_id(library: str):
    consent = {"explicit_action": "REMOVE_BOOK"} if library == "toolcharter" else {}
    async with Client(SERVERS[library]()) as client:
        answer = await client.call_tool("remove_book", {"book_id": "book_9", **consent})
    assert answer.is_error
    assert "No book 'book_9' is on the list." in answer.content[0].text


def broken(secret: str = "s3cret") -> int:
    """Fail in a way that the code does not expect."""
    raise KeyError(secret)


async def test_an_unexpected_exception_is_shown_by_fastmcp_and_by_no_other():
    fastmcp: Any = FastMCP("broken")
    fastmcp.tool(broken)
    mcpserver = MCPServer("broken")
    mcpserver.tool()(broken)
    app = App("broken", version="1.0.0", settings=Settings())
    app.tool(broken)
    texts: list[str] = []
    for server in (fastmcp._mcp_server, mcpserver, build_server(app)):
        async with Client(server) as client:
            texts.append((await client.call_tool("broken", {})).content[0].text)
    assert ["s3cret" in text for text in texts] == [True, False, False]
    assert "Error id err-" in texts[2]


async def test_all_three_have_output_schemas_and_structured_content_and_one_has_annotations():
    found: dict[str, tuple[bool, bool, bool]] = {}
    for library, make in SERVERS.items():
        async with Client(make()) as client:
            tool = (await client.list_tools()).tools[0]
            answer = await client.call_tool("list_books", {})
        found[library] = tool.output_schema is not None, answer.structured_content is not None, bool(tool.annotations)
    assert found == {
        "fastmcp": (True, True, False),
        "mcpserver": (True, True, False),
        "toolcharter": (True, True, True),
    }
