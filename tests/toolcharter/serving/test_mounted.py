"""An app inside an application of Starlette, for clients of both eras."""

import asyncio
from collections.abc import AsyncIterator
from typing import Any

import httpx2
import pytest
from mcp import Client
from mcp.client.streamable_http import streamable_http_client
from starlette.applications import Starlette
from starlette.responses import PlainTextResponse
from starlette.routing import Mount, Route

from tests.mcp_core.declared import Life
from toolcharter import App


def shop(events: list[str]) -> App:
    async def open_life() -> AsyncIterator[Life]:
        events.append("opened")
        yield Life()
        events.append("closed")

    app = App("shop")
    app.provide(Life, open_life)

    @app.tool
    def add(a: int, b: int) -> int:
        """Add two numbers."""
        return a + b

    return app


async def hello(_: Any) -> PlainTextResponse:
    return PlainTextResponse("hello")


def http_client(application: Any) -> httpx2.AsyncClient:
    return httpx2.AsyncClient(
        transport=httpx2.ASGITransport(application), base_url="http://localhost", follow_redirects=True
    )


async def added(application: Any, path: str, mode: Any) -> str:
    async with (
        http_client(application) as http,
        Client(streamable_http_client(f"http://localhost{path}", http_client=http), mode=mode) as client,
    ):
        assert [tool.name for tool in (await client.list_tools()).tools] == ["add"]
        return (await client.call_tool("add", {"a": 1, "b": 2})).content[0].text


@pytest.mark.parametrize("mode", ["legacy", "2026-07-28"])
@pytest.mark.parametrize("path", ["/tools/mcp", "/tools/", "/tools"])
async def test_clients_of_both_eras_call_it_below_its_prefix(path, mode):
    events: list[str] = []
    mounted = shop(events).asgi()
    outer = Starlette(routes=[Route("/", hello), Mount("/tools", mounted)], lifespan=mounted.lifespan)
    async with outer.router.lifespan_context(outer):
        assert events == ["opened"]
        assert "3" in await added(outer, path, mode)
        async with http_client(outer) as http:
            assert (await http.get("/")).text == "hello"
            assert (await http.get("/tools/nothing")).status_code == 404
    assert events == ["opened", "closed"]


async def test_without_its_lifespan_the_first_request_opens_it_and_the_end_of_the_loop_closes_it():
    events: list[str] = []
    outer = Starlette(routes=[Mount("/tools", shop(events).asgi())])

    async def serve() -> None:
        assert "3" in await added(outer, "/tools/mcp", "2026-07-28")
        assert events == ["opened"]

    await asyncio.to_thread(asyncio.run, serve())
    assert events == ["opened", "closed"]


async def test_it_is_an_application_by_itself():
    events: list[str] = []
    sent: list[str] = []
    messages = [{"type": "lifespan.startup"}, {"type": "lifespan.shutdown"}]

    async def receive() -> Any:
        return messages.pop(0)

    async def send(message: Any) -> None:
        sent.append(message["type"])

    await shop(events).asgi()({"type": "lifespan", "state": {}}, receive, send)
    assert sent == ["lifespan.startup.complete", "lifespan.shutdown.complete"]
    assert events == ["opened", "closed"]


async def test_a_host_that_is_not_allowed_is_refused():
    events: list[str] = []
    for mounted, status in ((shop(events).asgi(), 421), (shop(events).asgi(allow_hosts=["api.example.com"]), 200)):
        meta = {
            "io.modelcontextprotocol/protocolVersion": "2026-07-28",
            "io.modelcontextprotocol/clientCapabilities": {},
        }
        message = {"jsonrpc": "2.0", "id": 1, "method": "tools/list", "params": {"_meta": meta}}
        headers = {
            "host": "api.example.com",
            "accept": "application/json, text/event-stream",
            "mcp-protocol-version": "2026-07-28",
            "mcp-method": "tools/list",
        }
        async with mounted.lifespan(), http_client(mounted) as http:
            assert (await http.post("/mcp", json=message, headers=headers)).status_code == status
