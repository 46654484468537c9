"""Governed tools on a FastMCP server that has a life of its own."""

import asyncio
import gc
import json
import logging
from collections.abc import AsyncIterator
from typing import Any

import fastmcp
import httpx2
import pytest
from fastmcp import FastMCP
from fastmcp.server.middleware import Middleware
from mcp import Client
from mcp.client.streamable_http import streamable_http_client
from toolcharter_examples import demo

from mcp_core import App, Settings
from mcp_core.hosts.fastmcp import GovernedTool, add_tools, governed
from tests.mcp_core.declared import Life


def notebook() -> App:
    return demo.build(Settings())


def answer_of(result: Any) -> dict[str, Any]:
    return json.loads(result.content[0].text)


async def test_plain_tools_live_beside_governed_ones():
    app = notebook()
    server = FastMCP("mixed", lifespan=governed(app))
    added = add_tools(server, app)

    @server.tool
    def double(number: int) -> int:
        return number * 2

    async with Client(server._mcp_server) as client:
        names = [tool.name for tool in (await client.list_tools()).tools]
        plain = await client.call_tool("double", {"number": 4})
        ours = await client.call_tool("add", {"a": 4, "b": 4})
    assert sorted(names) == sorted([*(tool.name for tool in added), "double"])
    assert plain.structured_content == {"result": 8}
    assert answer_of(ours)["data"] == 8


async def test_once_open_the_garbage_collector_leaves_the_tools_alone():
    app = notebook()
    server = FastMCP("calm", lifespan=governed(app))
    added = add_tools(server, app)
    gc.unfreeze()
    async with Client(server._mcp_server):
        watched = {id(thing) for thing in gc.get_objects()}
        assert gc.get_freeze_count() > 0
    gc.unfreeze()
    assert {id(tool) for tool in added}.isdisjoint(watched)


async def test_a_mounted_server_keeps_its_promises_under_its_namespace():
    app = notebook()
    inner = FastMCP("inner", lifespan=governed(app))
    add_tools(inner, app)
    outer = FastMCP("outer")
    outer.mount(inner, namespace="notes")
    async with Client(outer._mcp_server) as client:
        names = [tool.name for tool in (await client.list_tools()).tools]
        good = await client.call_tool("notes_add", {"a": 1, "b": 2})
        again = await client.call_tool("notes_add", {"a": 1, "b": 2})
        bad = await client.call_tool("notes_add", {"a": "one", "b": 2})
    assert names == [f"notes_{function.__name__}" for function in demo.TOOLS]
    assert [answer_of(answer)["data"] for answer in (good, again)] == [3, 3]
    assert answer_of(again)["metadata"]["cached"] is True
    assert bad.is_error
    assert answer_of(bad)["error"]["type"] == "ValidationError"


async def test_the_client_of_fastmcp_works_as_well():
    app = notebook()
    server = FastMCP("own client", lifespan=governed(app))
    add_tools(server, app)
    reports = []

    async def report(done: float, total: float | None, message: str | None) -> None:
        reports.append((done, total, message))

    async with fastmcp.Client(server) as client:
        result = await client.call_tool("add", {"a": 2, "b": 3})
        failed = await client.call_tool("add", {"a": 2}, raise_on_error=False)
        await client.call_tool("digest_notes", {}, progress_handler=report)
    assert answer_of(result)["data"] == 5
    assert failed.is_error
    assert answer_of(failed)["error"]["type"] == "ValidationError"
    assert reports == [(1, 1, "Welcome")]


# ---- opening -----------------------------------------------------------------------------------------


def slow_to_open(opened: list[str]) -> App:
    async def open_life() -> AsyncIterator[Life]:
        opened.append("opened")
        await asyncio.sleep(0)
        yield Life()
        opened.append("closed")

    app = App("slow", version="1.0.0", format="result")
    app.provide(Life, open_life)

    @app.tool()
    async def hello() -> str:
        """Say hello."""
        return "hello"

    return app


async def test_a_server_with_the_lifespan_opens_and_closes_the_app():
    seen: list[str] = []
    app = slow_to_open(seen)
    server = FastMCP("with", lifespan=governed(app))
    add_tools(server, app)
    async with Client(server._mcp_server) as client:
        assert seen == ["opened"]
        assert not (await client.call_tool("hello", {})).is_error
    assert seen == ["opened", "closed"]


async def test_without_the_lifespan_the_first_calls_open_the_app_once():
    seen: list[str] = []
    app = slow_to_open(seen)
    server = FastMCP("without")
    add_tools(server, app)
    async with Client(server._mcp_server) as client:
        assert seen == []
        results = await asyncio.gather(*(client.call_tool("hello", {}) for _ in range(5)))
    assert [answer_of(result) for result in results] == [{"success": True, "value": "hello"}] * 5
    assert seen == ["opened"]
    assert app.is_open


async def test_an_app_that_cannot_open_leaves_no_other_open():
    seen: list[str] = []
    good = slow_to_open(seen)

    async def broken() -> Life:
        raise RuntimeError("no database")

    bad = App("bad", version="1.0.0", format="result")
    bad.provide(Life, broken)
    with pytest.raises(RuntimeError, match="no database"):
        async with governed(good, bad)(None):
            pytest.fail("it must not start")
    assert seen == ["opened", "closed"]


# ---- the schema look-up ------------------------------------------------------------------------------


class CountLists(Middleware):
    def __init__(self) -> None:
        self.count = 0

    async def on_list_tools(self, context: Any, call_next: Any) -> Any:
        self.count += 1
        return await call_next(context)


async def lists_for_one_call(server: FastMCP[Any]) -> int:
    """How often the tools are listed while one of them is called over HTTP."""
    counter = CountLists()
    server.add_middleware(counter)
    served = server.http_app()
    async with served.router.lifespan_context(served):
        transport = httpx2.ASGITransport(app=served)
        async with httpx2.AsyncClient(transport=transport, base_url="http://127.0.0.1") as http:
            url = "http://127.0.0.1/mcp"
            async with Client(streamable_http_client(url, http_client=http), mode="2026-07-28") as client:
                await client.list_tools()  # the client would do so after its first call
                before = counter.count
                result = await client.call_tool("add", {"a": 1, "b": 2})
                assert answer_of(result)["data"] == 3
                return counter.count - before


async def test_a_call_does_not_list_all_tools():
    app = notebook()
    server = FastMCP("quick", lifespan=governed(app))
    add_tools(server, app)
    assert await lists_for_one_call(server) == 0


async def test_without_our_look_up_fastmcp_lists_all_tools_on_each_call():
    app = notebook()
    server = FastMCP("slow", lifespan=governed(app))
    add_tools(server, app)
    server._mcp_server.get_tool_input_schema = None
    assert await lists_for_one_call(server) == 1


async def test_the_look_up_knows_governed_and_plain_tools_and_no_others():
    app = notebook()
    server = FastMCP("look-up")
    (tool, *_) = add_tools(server, app)

    @server.tool
    def double(number: int) -> int:
        return number * 2

    look_up = server._mcp_server.get_tool_input_schema
    assert isinstance(tool, GovernedTool)
    assert look_up("add") == app.input_schema("add")
    assert list(look_up("double")["properties"]) == ["number"]
    assert look_up("nothing") is None


async def test_a_fastmcp_that_keeps_its_tools_elsewhere_still_serves_ours(caplog: pytest.LogCaptureFixture):
    app = notebook()
    server = FastMCP("changed", lifespan=governed(app))
    provider = server._local_provider

    class Elsewhere:
        _mcp_server = server._mcp_server

        def add_tool(self, tool: GovernedTool) -> None:
            provider.add_tool(tool)

        def add_resource(self, resource):
            pass

        def add_prompt(self, prompt):
            pass

        def add_provider(self, provider):
            pass

    with caplog.at_level(logging.WARNING):
        add_tools(Elsewhere(), app)
    assert "each call lists all tools" in caplog.text
    async with Client(server._mcp_server) as client:
        assert answer_of(await client.call_tool("add", {"a": 1, "b": 1}))["data"] == 2
