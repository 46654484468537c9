"""Changes of resources and tools, as they reach the clients of every process."""

import asyncio
import json
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from typing import Any

import pytest

from mcp_core import App, Caller, ResourceSource, Settings
from mcp_core.auth import user
from mcp_core.errors import UnknownTool
from mcp_core.hosts.fast_path.changes import ChangeListener
from mcp_core.hosts.fast_path.methods import FastPath
from mcp_core.hosts.fast_path.stdio_connection import StdioConnection
from mcp_core.hosts.names import CAPABILITIES_KEY, MODERN, VERSION_KEY
from mcp_core.hosts.protocol import Peer

ANN, BOB = user("ann", ["notes:read"]), user("bob", ["notes:read"])
META = {VERSION_KEY: MODERN, CAPABILITIES_KEY: {}}


async def read(uri: str) -> str:
    return uri


def source(**changes: Any) -> ResourceSource:
    return ResourceSource("note://", read=read, permissions=["notes:read"], changes=True, **changes)


def build(notes: ResourceSource, **settings: Any) -> App:
    app = App("notes", resources=[notes], settings=Settings(**settings))

    @app.tool
    def add(a: int) -> int:
        """Add one."""
        return a + 1

    @app.tool
    def remove(a: int) -> int:
        """Take one away."""
        return a - 1

    return app


@asynccontextmanager
async def listening(app: App, *uris: str, caller: Caller = ANN) -> AsyncIterator[Any]:
    """A function that gives the next message of a client that subscribes to resources."""
    assert app.changes is not None
    listener = ChangeListener(app, app.changes)
    await listener.subscribe_to_all(uris, Peer(caller, modern=True))
    messages = listener.messages(3600, ["tools", "resources"], 7)

    async def following() -> dict[str, Any]:
        async with asyncio.timeout(60):
            return json.loads(await anext(messages) or b"null")

    try:
        yield following
    finally:
        await messages.aclose()
        listener.close()


@pytest.mark.requirement("PRO-4")
@pytest.mark.parametrize("shared", [False, True])
async def test_a_subscriber_at_any_process_hears_of_a_resource_and_of_lists(shared: bool, redis_url: str):
    settings = {"redis": redis_url} if shared else {}
    notes, others = source(), source()
    async with build(notes, **settings) as app, build(others, **settings) as other:
        at = other if shared else app
        async with listening(at, "note://1") as following:
            granted = (await following())["params"]["notifications"]
            assert granted["resourceSubscriptions"] == ["note://1"]
            notes.changed("note://2")
            await asyncio.to_thread(notes.changed, "note://1")  # a handler may run in a thread
            assert await following() == {
                "jsonrpc": "2.0",
                "method": "notifications/resources/updated",
                "params": {"uri": "note://1", "_meta": {"io.modelcontextprotocol/subscriptionId": 7}},
            }
            notes.list_changed()
            assert (await following())["method"] == "notifications/resources/list_changed"
            version = at.tools_version
            app.tools_changed()
            assert (await following())["method"] == "notifications/tools/list_changed"
            assert at.tools_version > version


@pytest.mark.requirement("PRO-4")
async def test_who_may_not_read_a_resource_does_not_hear_of_it():
    notes = source()
    async with build(notes) as app, listening(app, "note://1", "other://1", caller=Caller("user:eve")) as following:
        assert "resourceSubscriptions" not in (await following())["params"]["notifications"]
        notes.changed("note://1")
        app.tools_changed()
        assert (await following())["method"] == "notifications/tools/list_changed"


@pytest.mark.requirement("PRO-4")
async def test_a_session_subscribes_and_unsubscribes_over_stdio():
    notes, sent = source(), asyncio.Queue[dict[str, Any]]()

    async def drained() -> None:
        pass

    async with build(notes) as app, asyncio.timeout(60):
        connection = StdioConnection(FastPath(app), lambda data: sent.put_nowait(json.loads(data)), drained)

        async def ask(number: int, method: str, **params: Any) -> dict[str, Any]:
            message = {"jsonrpc": "2.0", "id": number, "method": method, "params": params}
            await connection.receive(json.dumps(message).encode())
            return await sent.get()

        info = {"clientInfo": {"name": "c", "version": "1"}, "capabilities": {}, "protocolVersion": "2025-11-25"}
        opened = await ask(1, "initialize", **info)
        assert opened["result"]["capabilities"]["resources"] == {"listChanged": True, "subscribe": True}
        await connection.receive(b'{"jsonrpc": "2.0", "method": "notifications/initialized"}')
        assert (await ask(2, "resources/subscribe", uri="note://1"))["result"] == {}
        notes.changed("note://1")
        assert (await sent.get())["params"] == {"uri": "note://1"}
        assert (await ask(3, "resources/unsubscribe", uri="note://1"))["result"] == {}
        assert "error" in await ask(4, "resources/subscribe", uri="other://1")
        await connection.close()


@pytest.mark.requirement("PRO-4")
@pytest.mark.parametrize("shared", [False, True])
async def test_a_tool_is_switched_off_for_one_caller_or_all_at_every_process(shared: bool, redis_url: str):
    settings = {"redis": redis_url} if shared else {}
    async with build(source(), **settings) as app, build(source(), **settings) as other:
        at = other if shared else app
        fast_path = FastPath(at)

        async def listed(caller: Caller) -> list[str]:
            answer = await fast_path.answer("tools/list", {"_meta": META}, Peer(caller, modern=True))
            return [tool["name"] for tool in json.loads(answer)["tools"]]

        assert await listed(ANN) == ["add", "remove"]
        async with listening(at) as following:
            await following()
            await app.disable("remove", ANN)
            assert (await following())["method"] == "notifications/tools/list_changed"
            assert (await listed(ANN), await listed(BOB)) == (["add"], ["add", "remove"])
            refused = await at.call("remove", {"a": 1}, ANN)
            assert "'remove' is switched off at the moment." in refused.text
            assert (await at.call("remove", {"a": 1}, BOB)).text == "0"
            await app.disable("add")
            await following()
            assert await listed(BOB) == ["remove"]
            await app.enable("add")
            await following()
            await app.enable("remove", ANN)
            await following()
            assert await listed(ANN) == ["add", "remove"]
        with pytest.raises(UnknownTool):
            await app.disable("nothing")
