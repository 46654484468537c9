"""The command `mcp-guide` and real clients: over stdio and HTTP, in both protocol eras."""

import json
from collections.abc import AsyncIterator, Iterator
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any

import mcp_types as types
import pytest
from mcp import Client, StdioServerParameters

from tests.behaviour.combinations import NO, YES
from tests.clients.over_http import served
from tests.forkserver.commands import command_path
from tests.mcp_guide.guide_server import DOCUMENTS, Call, error, value, write_documents

COMMAND = command_path("mcp-guide")
ERAS = ["2026-07-28", "legacy"]


def command(folder: Path) -> list[str]:
    return [
        COMMAND,
        "--docs-root",
        str(folder / "docs"),
        "--config",
        str(folder / "guide.yaml"),
        "--deadline",
        "30",
        "--user",
        "ana",
    ]


@pytest.fixture(params=["stdio", "http"])
def server(request: pytest.FixtureRequest, tmp_path: Path) -> Iterator[StdioServerParameters | str]:
    """The command that starts the guide, or its URL."""
    write_documents(tmp_path / "docs")
    started = command(tmp_path)
    if request.param == "stdio":
        yield StdioServerParameters(command=started[0], args=started[1:], env={"XDG_CACHE_HOME": str(tmp_path)})
    else:
        with served(started, tmp_path / "http.log") as url:
            yield url


@asynccontextmanager
async def connected(server: StdioServerParameters | str, mode: str, **more: Any) -> AsyncIterator[tuple[Client, Call]]:
    async with Client(server, mode=mode, **more) as client:

        async def call(tool: str, /, **arguments: Any) -> tuple[bool, dict[str, Any]]:
            result = await client.call_tool(f"guide_{tool}", arguments)
            (block,) = result.content
            return bool(result.is_error), json.loads(block.text)

        yield client, call


@pytest.mark.requirement("GUI-1", "GUI-3", "GUI-5", "GUI-10")
@pytest.mark.parametrize("mode", ERAS)
async def test_a_typical_session(server, mode):
    async with connected(server, mode) as (client, call):
        assert len((await client.list_tools()).tools) == 33
        failed, answer = await call("get_content", expression="lang/python")
        assert (failed, answer["value"]["content"]) == (False, "# Python\n")
        assert answer["instruction"] == "Run ruff before you show code."
        assert (await call("get_content", expression="lang", pattern="python"))[1] == answer
        assert (await value(call, "get_content", expression="guidelines,docs/api"))["documents"] == [
            "guidelines/review.md",
            "docs/api.md",
        ]
        assert (await error(call, "get_content", expression="lang/../../etc/passwd"))[0] == "ValidationError"
        assert (await value(call, "search_content", query="review"))["hits"][0]["path"] == "guidelines/review.md"
        assert (await value(call, "list_documents"))["total"] == len(DOCUMENTS)

        made = {"category_dir": "lang", "name": "go", "content": "# Go\n", "explicit_action": "CREATE_DOCUMENT"}
        assert await value(call, "create_document", **made) == {"path": "lang/go.md", "size": 5}
        assert (await value(call, "get_content", expression="lang/go"))["content"] == "# Go\n"

        await value(call, "clone_project", name="shop")
        await value(call, "set_project_flag", flag="tdd", value=["a"], project="shop")
        assert (await value(call, "get_project_config", project="shop"))["flags"] == {"tdd": ["a"]}
        assert (await error(call, "get_project_config", project="shpo"))[0] == "NotFoundError"

        messages = (await client.get_prompt("guide", {"arg1": "lang/go", "arg2": "docs"})).messages
        (message,) = messages
        assert isinstance(message.content, types.TextContent)
        assert "# Go" in message.content.text
        (content,) = (await client.read_resource("guide://lang/go.md")).contents
        assert content.text == "# Go\n"


@pytest.mark.requirement("GUI-10")
@pytest.mark.parametrize("mode", ERAS)
@pytest.mark.parametrize("reply", [YES, NO], ids=["yes", "no"])
async def test_the_user_confirms_implementation_mode(server, mode, reply):
    questions = []

    async def answer(_: Any, request: Any) -> types.ElicitResult:
        questions.append(request.message)
        return reply

    async with connected(server, mode, elicitation_callback=answer) as (_, call):
        await value(call, "set_mode", mode="DISCUSSION")
        failed, result = await call("set_mode", mode="IMPLEMENTATION")
        assert questions == ["Let the agent work in IMPLEMENTATION mode in the project default?"]
        assert failed is (reply is NO), result
        expected = "DISCUSSION" if reply is NO else "IMPLEMENTATION"
        assert await value(call, "get_mode") == {"mode": expected}


@pytest.mark.parametrize("mode", ERAS)
async def test_client_info_shows_the_client_and_the_active_project(server, mode):
    client = types.Implementation(name="test-suite", version="9.8.7")
    async with connected(server, mode, client_info=client) as (_, call):
        info = await value(call, "client_info")
        assert (info["agent"], info["agent_version"]) == ("test-suite", "9.8.7")
        assert (info["project"], info["chosen_by"]) == ("default", "default")
        assert info.get("protocol") == (None if mode == "legacy" else mode)
        await value(call, "clone_project", name="shop")
        await value(call, "set_project", project="shop")
        info = await value(call, "client_info")
        assert (info["project"], info["chosen_by"]) == ("shop", "set_project")


async def test_each_session_has_its_own_active_project(tmp_path):
    write_documents(tmp_path / "docs")
    with served(command(tmp_path), tmp_path / "http.log") as url:
        async with connected(url, "legacy") as (_, one), connected(url, "legacy") as (_, other):
            await value(one, "clone_project", name="shop")
            await value(one, "set_project", project="shop")
            assert (await value(one, "list_projects"))["active"] == "shop"
            assert (await value(other, "list_projects"))["active"] == "default"


@pytest.mark.filterwarnings("ignore:The roots capability is deprecated")  # by the newer protocol; this is the older
@pytest.mark.parametrize("fast_path", ["on", "off"])
async def test_the_folders_of_a_client_select_the_project(fast_path, tmp_path):
    """The fast path requests them once, and again when the client says that they have changed."""
    write_documents(tmp_path / "docs")
    shop = tmp_path / "my shop"
    (tmp_path / "guide.yaml").write_text(f"projects:\n  shop:\n    folder: {shop}\n")
    folders, requests = [shop / "src"], []

    async def roots(_: Any) -> types.ListRootsResult:
        requests.append(1)
        return types.ListRootsResult(roots=[types.Root(uri=folder.as_uri()) for folder in folders])

    started = [*command(tmp_path), "--fast-path", fast_path]
    server = StdioServerParameters(command=started[0], args=started[1:], env={"XDG_CACHE_HOME": str(tmp_path)})
    async with connected(server, "legacy", list_roots_callback=roots) as (client, call):
        assert (await value(call, "client_info"))["project"] == "shop"
        assert (await value(call, "client_info"))["project"] == "shop"
        assert fast_path == "off" or len(requests) == 1
        folders[:] = [tmp_path]
        await client.send_roots_list_changed()
        assert (await value(call, "client_info"))["project"] == "default"
    async with connected(server, "legacy") as (_, call):
        assert (await value(call, "client_info"))["project"] == "default"
