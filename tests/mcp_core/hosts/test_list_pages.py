"""Lists above 200 KB come in pages, which clients follow."""

import json
from contextlib import AsyncExitStack
from typing import Any

import httpx2
import pytest
from mcp import Client
from mcp.client.streamable_http import streamable_http_client
from mcp.shared.exceptions import MCPError

from mcp_core import Settings
from mcp_core.hosts.list_pages import MAX_PAGE_BYTES, list_pages
from toolcharter import App
from toolcharter.remote.client import RemoteServer
from toolcharter.serving.server import Site

BASE = "http://127.0.0.1:8000"
NAMES = [f"tool_{number}" for number in range(60)]


def large_app(fast_path: str) -> App:
    """An app with 60 tools and 60 prompts of 9 KB each."""
    long = "Grüße " * 1300
    app = App("large", version="1.0.0", settings=Settings(fast_path=fast_path))

    async def say(words: str) -> str:
        """Say words."""
        return words

    for name in NAMES:
        app.tool(name=name, description=f"Say words. {long}")(say)
        app.prompt(name=name, description=f"Say words. {long}")(say)
    return app


@pytest.mark.parametrize("mode", ["2026-07-28", "legacy"])
@pytest.mark.parametrize("fast_path", ["on", "off"])
async def test_long_lists_come_in_pages_that_clients_follow(fast_path: str, mode: Any):
    async with AsyncExitStack() as stack:
        site = Site([large_app(fast_path)], BASE)
        await stack.enter_async_context(site.open())
        http = await stack.enter_async_context(
            httpx2.AsyncClient(transport=httpx2.ASGITransport(app=site), base_url=BASE)
        )
        transport = streamable_http_client(f"{BASE}/mcp", http_client=http)
        client = await stack.enter_async_context(Client(transport, mode=mode))
        pages = [await client.list_tools()]
        while pages[-1].next_cursor is not None:
            pages.append(await client.list_tools(cursor=pages[-1].next_cursor))
        sizes = [len(page.model_dump_json(by_alias=True, exclude_none=True).encode()) for page in pages]
        assert len(pages) > 2
        assert max(sizes) < MAX_PAGE_BYTES + 2000
        assert [tool.name for page in pages for tool in page.tools] == NAMES
        prompts = await client.list_prompts()
        assert 0 < len(prompts.prompts) < len(NAMES)
        assert [tool.name for tool in await RemoteServer(client).list_tools()] == NAMES
        with pytest.raises(MCPError, match="The cursor '7' does not belong to this list") as e:
            await client.list_tools(cursor="7")
        assert e.value.error.code == -32602


async def test_the_client_for_tests_follows_the_pages():
    async with large_app("on").client() as client:
        assert [tool.name for tool in await client.list_tools()] == NAMES
        assert [prompt["name"] for prompt in await client.list_prompts()] == NAMES


def test_pages_are_bounded_by_their_bytes_and_hold_every_item_once():
    items = [{"text": "é" * (length // 2)} for length in (150_000, 60_000, 10, 400_000, 10)]
    pages = list_pages("items", items)
    assert [(cursor, len(page["items"]), page.get("nextCursor")) for cursor, page in pages.items()] == [
        (None, 1, "1"),
        ("1", 2, "3"),
        ("3", 1, "4"),
        ("4", 1, None),
    ]
    assert list_pages("items", []) == {None: {"items": []}}
    assert json.dumps([item for page in pages.values() for item in page["items"]]) == json.dumps(items)
