"""The title, the icons and the `_meta` that an author gives a tool, as every host lists them."""

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from typing import Any

import httpx2
import pytest
from fastmcp import FastMCP
from mcp import Client
from mcp.client.streamable_http import streamable_http_client

from mcp_core import App, DeclarationError, Icon, Settings
from mcp_core.hosts.fastmcp import add_tools, governed
from toolcharter.serving.server import Site

ICONS = [Icon("https://example.com/a.png", "image/png", ["48x48"], "dark"), Icon("data:image/svg+xml,<svg/>")]
META = {"com.example/team": {"name": "library"}, "ui": {"visibility": ["model"]}}


def build(fast_path: Any) -> App:
    app = App("books", version="1.0.0", settings=Settings(fast_path=fast_path))

    @app.tool(title="Find a book", icons=ICONS, meta=META)
    async def find(title: str) -> str:
        """Find a book."""
        return title

    return app


@asynccontextmanager
async def connected(host: str, mode: Any) -> AsyncIterator[Client]:
    if host == "fastmcp":
        app = build("on")
        server = FastMCP("books", lifespan=governed(app))
        add_tools(server, app)
        async with Client(server._mcp_server, mode=mode) as client:
            yield client
        return
    site = Site([build(host)], "http://127.0.0.1:8000")
    http = httpx2.AsyncClient(transport=httpx2.ASGITransport(app=site), base_url="http://127.0.0.1:8000")
    async with site.pages.router.lifespan_context(site.pages), http:
        url = "http://127.0.0.1:8000/mcp"
        async with Client(streamable_http_client(url, http_client=http), mode=mode) as client:
            yield client


@pytest.mark.parametrize("mode", ["2026-07-28", "legacy"])
@pytest.mark.parametrize("host", ["on", "off", "fastmcp"])
async def test_every_host_lists_title_icons_and_meta(host: str, mode: Any):
    async with connected(host, mode) as client:
        (tool,) = (await client.list_tools()).tools
    assert tool.title == "Find a book"
    assert [icon.model_dump(by_alias=True, exclude_none=True) for icon in tool.icons] == [
        {"src": "https://example.com/a.png", "mimeType": "image/png", "sizes": ["48x48"], "theme": "dark"},
        {"src": "data:image/svg+xml,<svg/>"},
    ]
    assert {key: tool.meta[key] for key in META} == META


@pytest.mark.parametrize(
    ("options", "problem"),
    [
        ({"icons": ["https://example.com/a.png"]}, "icons: .* is not valid; give a list of Icon"),
        ({"icons": [Icon("file:///a.png")]}, "icons: .* each with an https: or data: address"),
        ({"meta": {"dev.toolcharter/version": "9"}}, "meta: .* none of them under dev.toolcharter/"),
        ({"meta": {"a": {1}}}, "meta: .* give a dict of JSON"),
        ({"meta": []}, "meta: .* give a dict of JSON"),
    ],
)
def test_what_clients_could_not_read_is_refused(options: Any, problem: str):
    app = App("books", version="1.0.0")
    with pytest.raises(DeclarationError, match=problem):

        @app.tool(**options)
        async def find(title: str) -> str:
            """Find a book."""
            return title
