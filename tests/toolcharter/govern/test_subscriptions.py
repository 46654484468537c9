"""Changes of single resources: upstreams of every kind tell them, and clients of every kind hear of what they chose."""

import asyncio
import json
import os
import signal
import sys
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager, suppress
from pathlib import Path
from typing import Any, cast

import mcp_types as types
import pytest
from mcp import Client
from mcp.shared.exceptions import MCPError
from mcp.shared.subscriptions import ResourceUpdated

from mcp_core import Caller, Settings
from mcp_core.calling.records import Request
from mcp_core.errors import Refused, ToolError
from tests.toolcharter.govern.governed import CLIENTS, OFFERING, connected
from toolcharter.govern.charter import UpstreamTable, read_charter
from toolcharter.govern.governor import Governor
from toolcharter.govern.remote_library import RemoteLibrary
from toolcharter.govern.upstream.processes import ProcessGroups
from toolcharter.govern.upstream.stdio import StdioTransport
from toolcharter.govern.upstream.upstream import Upstream

pytestmark = pytest.mark.filterwarnings("ignore:resources/(un)?subscribe is removed")  # the older protocol has them


class Told:
    """Hears which resources have changed."""

    def __init__(self) -> None:
        self.uris: asyncio.Queue[str] = asyncio.Queue()

    async def handle(self, message: Any) -> None:
        if isinstance(message, types.ResourceUpdatedNotification):
            self.uris.put_nowait(message.params.uri)

    async def next(self) -> str:
        async with asyncio.timeout(30):
            return await self.uris.get()

    @asynccontextmanager
    async def subscribed(self, client: Client, mode: str, uri: str) -> AsyncIterator[None]:
        if mode == "legacy":
            await client.subscribe_resource(uri)
            yield
            await client.unsubscribe_resource(uri)
            return
        async with client.listen(resource_subscriptions=[uri, "nobody://x"]) as events:
            assert events.honored.resource_subscriptions == [uri]

            async def follow() -> None:
                async for event in events:
                    if isinstance(event, ResourceUpdated):
                        self.uris.put_nowait(event.uri)

            following = asyncio.create_task(follow())
            try:
                yield
            finally:
                following.cancel()


@pytest.mark.requirement("GOV-4")
@pytest.mark.parametrize("connection", CLIENTS)
@pytest.mark.parametrize("name", ["pipe", "old-pipe"])
async def test_a_client_hears_of_the_resource_that_it_subscribed_to(
    name: str, connection: str, served: tuple[Path, str]
):
    await hears(name, f"{name}_touch", connection, *served)


@pytest.mark.requirement("GOV-4")
@pytest.mark.parametrize("connection", ["http-legacy", "http-2026-07-28"])
@pytest.mark.parametrize("name", ["web", "old-web"])
async def test_a_client_hears_of_resources_of_servers_over_http(name: str, connection: str, served: tuple[Path, str]):
    path, address = served
    await hears("web", "touch", connection, path, f"{address}/{name}")


async def hears(scheme: str, touch: str, connection: str, path: Path, address: str) -> None:
    told, mode, uri = Told(), connection.partition("-")[2], f"{scheme}://readme"
    async with connected(connection, path, address, message_handler=told.handle) as client:
        await client.list_prompts()  # a client that has asked something has its streams open
        await client.call_tool(touch, {})  # nobody has subscribed
        async with told.subscribed(client, mode, uri):
            for _ in range(2):
                await client.call_tool(touch, {})
                assert await told.next() == uri
                while not told.uris.empty():
                    told.uris.get_nowait()
        async with asyncio.timeout(30):
            while "0 sessions" not in str(await client.call_tool(touch, {})):
                pass  # the server hears that nobody wants to know any more


@pytest.mark.parametrize("connection", ["stdio-legacy", "http-legacy"])
async def test_a_subscription_that_is_not_allowed_or_not_offered_is_refused(connection: str, served: tuple[Path, str]):
    async with connected(connection, *served) as client:
        for uri, expected in (
            ("pipe://secret/key", "Unknown resource: pipe://secret/key"),
            ("nobody://x", "Unknown resource: nobody://x"),
            ("old-pipe://evil", "'old-pipe' refused the subscription: this one never changes"),
        ):
            with pytest.raises(MCPError) as refused:
                await client.subscribe_resource(uri)
            assert expected in str(refused.value)


async def test_nobody_hears_of_an_address_that_they_may_not_read(tmp_path: Path):
    path = tmp_path / "charter.toml"
    command = json.dumps([sys.executable, OFFERING, "stdio", "pipe"])
    path.write_text(
        f'[upstream.pipe]\ncommand = {command}\n[resources."pipe:pipe://a/private/*"]\ndeny = true\n'
        '[resources."pipe:pipe://a/staff/*"]\npermissions = ["staff"]\n',
        encoding="utf-8",
    )
    governor, told = Governor(path, read_charter(path), Settings(), "1"), list[str]()
    async with governor.apps["pipe"] as app, governor.all_tools:
        library, ann = cast(RemoteLibrary, app.library), Caller("ann", "ann", frozenset())
        await library.subscribe("pipe://a", Request("pipe://a", {}, ann), told.append)
        for uri in ("pipe://a", "pipe://a/b", "pipe://a/private/key", "pipe://a/staff/list", "pipe://ab"):
            governor.upstreams["pipe"]._watchers.notify("", uri)
        assert told == ["pipe://a", "pipe://a/b"]
        with pytest.raises(Refused, match="permission"):
            await library.subscribe("pipe://a/staff/list", Request("pipe://a/staff/list", {}, ann), told.append)


@pytest.mark.parametrize("handshake", [True, False])
async def test_after_a_server_has_ended_it_is_started_and_subscribed_to_again(tmp_path: Path, handshake: bool):
    groups, told = ProcessGroups(), asyncio.Queue[str]()
    table = UpstreamTable(command=[sys.executable, OFFERING, "stdio", "pipe"], handshake=handshake, idle_seconds=0.01)
    upstream = Upstream("pipe", table, groups, tmp_path)

    async def touch() -> None:
        await upstream.call_tool("ann", "touch", {}, seconds=30, meta={})

    try:
        async with asyncio.timeout(60):
            end = await upstream.watch("ann", "pipe://readme", told.put_nowait)
            await touch()
            assert await told.get() == "pipe://readme"
            (connection,) = upstream._connections.values()
            connection.used_at -= 60
            await upstream.close_idle()
            assert upstream.health().connections == 1  # one that somebody listens to is not idle
            os.kill(cast(StdioTransport, connection.session._transport).process_id or 0, signal.SIGKILL)
            with suppress(ToolError):  # it finds out that the server has ended
                await touch()
            while not told.empty():
                told.get_nowait()
            assert await told.get() == "pipe://readme"  # it may have changed meanwhile
            await touch()
            assert await told.get() == "pipe://readme"
            end()
            next(iter(upstream._connections.values())).used_at -= 60
            await upstream.close_idle()
            assert upstream.health().connections == 0
    finally:
        await upstream.close()
        groups.close()


async def test_a_stream_names_only_the_resources_that_it_tells_about(served: tuple[Path, str]):
    uris = ["pipe://secret/key", "pipe://readme", "shared://both", "nobody://x"]
    async with connected("http-2026-07-28", *served) as client, client.listen(resource_subscriptions=uris) as events:
        assert events.honored.resource_subscriptions == ["pipe://readme"]
