"""Programs get typed data of a tool that declares what it returns, and a model is charged once."""

import json
from collections.abc import Iterator
from typing import Any

import mcp_types as types
import pytest
from agents.mcp import MCPServerStreamableHttp, MCPUtil
from fastmcp import Client as FastMCPClient
from fastmcp import FastMCP
from mcp import Client
from pydantic_ai.mcp import MCPToolset

from tests.clients import typed_server
from tests.clients.over_http import served
from tests.forkserver.commands import command_path

CALLS: list[tuple[str, dict[str, Any]]] = [
    ("add", {"a": 2, "b": 3}),
    ("greet", {"name": "Ada"}),
    ("list_loans", {}),
    ("find_loan", {"book": "Dune"}),
    ("count_words", {"text": "to be or not to be"}),
    ("untyped", {}),
]
LOAN = {"book": "Dune", "due": "2026-12-01"}
ANSWERS = {
    "add": ("5", {"result": 5}),
    "greet": ('Hello "Ada"', {"result": 'Hello "Ada"'}),
    "list_loans": (json.dumps([LOAN], separators=(",", ":")), {"result": [LOAN]}),
    "find_loan": (json.dumps(LOAN, separators=(",", ":")), LOAN),
    "count_words": ('{"to":2,"be":2,"or":1,"not":1}', {"to": 2, "be": 2, "or": 1, "not": 1}),
    "untyped": ('{"answer":42}', None),
}


@pytest.fixture(scope="module")
def url(tmp_path_factory: pytest.TempPathFactory) -> Iterator[str]:
    with served(
        [command_path("python"), typed_server.__file__], tmp_path_factory.mktemp("typed") / "http.log"
    ) as address:
        yield address


def on_fastmcp() -> Any:
    mcp: Any = FastMCP("typed")
    for function in typed_server.TOOLS:
        mcp.tool(function)
    return mcp


def shown(data: Any) -> Any:
    """Data with the objects that FastMCP's client makes of a schema as dictionaries."""
    if isinstance(data, list):
        return [shown(one) for one in data]
    return {name: shown(value) for name, value in vars(data).items()} if hasattr(data, "__dict__") else data


@pytest.mark.parametrize("mode", ["legacy", "auto"])
async def test_fastmcps_client_gets_the_same_data_as_from_a_fastmcp_server(url: str, mode: Any):
    async with FastMCPClient(url, mode=mode) as ours, FastMCPClient(on_fastmcp()) as theirs:
        for name, arguments in CALLS:
            data = (await ours.call_tool(name, arguments)).data
            expected = (await theirs.call_tool(name, arguments)).data
            assert shown(data) == (shown(expected) if name != "untyped" else None)
        failed = await ours.call_tool("find_loan", {"book": "Emma"}, raise_on_error=False)
    assert (failed.is_error, failed.structured_content) == (True, None)


@pytest.mark.parametrize("mode", ["legacy", "2026-07-28"])
async def test_the_sdks_client_checks_and_returns_structured_content(url: str, mode: Any):
    async with Client(url, mode=mode) as client:
        listed = {tool.name: tool.output_schema for tool in (await client.list_tools()).tools}
        answers = {name: await client.call_tool(name, arguments) for name, arguments in CALLS}
    assert {name: (a.content[0].text, a.structured_content) for name, a in answers.items()} == ANSWERS
    assert [name for name, schema in listed.items() if schema is None] == ["untyped"]


async def test_the_agents_sdk_hands_its_model_the_text_alone(url: str):
    async with MCPServerStreamableHttp({"url": url}) as server:
        tools = {tool.name: tool for tool in await server.list_tools()}
        for name, arguments in CALLS:
            output: Any = await MCPUtil.invoke_mcp_tool(server, tools[name], None, json.dumps(arguments))
            assert output["text"] == ANSWERS[name][0]


async def test_pydantic_ai_hands_its_model_the_value_alone(url: str):
    async with MCPToolset(url) as toolset:
        values = {name: await toolset.direct_call_tool(name, arguments) for name, arguments in CALLS}
    assert values["add"] == 5
    assert values["list_loans"] == [LOAN]
    assert values["find_loan"] == LOAN


@pytest.mark.parametrize("mode", ["legacy", "2026-07-28"])
async def test_a_client_that_shows_both_gets_the_structured_content_alone(url: str, mode: Any):
    info = types.Implementation(name="github-copilot-developer", version="1.0.25")
    async with Client(url, mode=mode, client_info=info) as client:
        answers = {name: await client.call_tool(name, arguments) for name, arguments in CALLS}
        failed = await client.call_tool("find_loan", {"book": "Emma"})
    assert {name: ([b.text for b in a.content], a.structured_content) for name, a in answers.items()} == {
        name: ([] if content is not None else [text], content) for name, (text, content) in ANSWERS.items()
    }
    assert "No book 'Emma' was lent." in failed.content[0].text
