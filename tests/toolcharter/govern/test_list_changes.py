"""Changes of lists: upstreams of every kind announce them, and clients of every kind are told."""

import asyncio
import json
import sys
from collections.abc import AsyncIterator
from contextlib import AsyncExitStack, asynccontextmanager, suppress
from pathlib import Path
from typing import Any

import mcp_types as types
import pytest
from mcp import Client
from mcp.shared.subscriptions import PromptsListChanged, ResourcesListChanged, ToolsListChanged

from mcp_core import App, Settings
from tests.toolcharter.govern.governed import (
    CLIENTS,
    UPSTREAMS,
    approve_all,
    connected,
    governor_over_http,
    offering,
    tables,
)
from toolcharter.govern.charter import read_charter
from toolcharter.govern.governor import Governor

SERVER = str(Path(__file__).with_name("upstream_server.py"))


@pytest.mark.requirement("GOV-4", "GOV-2")
async def test_changes_that_upstreams_of_every_kind_announce_are_passed_on(tmp_path: Path):
    path = tmp_path / "charter.toml"
    with offering("http", "web") as url:
        path.write_text(tables(url), encoding="utf-8")
        await approve_all(path)
        governor = Governor(path, read_charter(path), Settings(), "1")
        async with governor.all_tools as app:
            heard: asyncio.Queue[str | None] = asyncio.Queue()
            following = asyncio.create_task(follow(app, heard))
            async with asyncio.timeout(90):
                for name in UPSTREAMS:
                    await repeat(app, f"{name}_add_prompt", heard, "prompts")
                for name in UPSTREAMS:
                    await repeat(app, f"{name}_change_tool", heard, "tools")
                    assert "count" in governor.comparisons[name].quarantined
                    assert f"{name}_count" not in [tool.name for tool in app.list_tools()]
            following.cancel()


async def follow(app: App, heard: "asyncio.Queue[str | None]") -> None:
    assert app.changes is not None
    async for kind in app.changes.listen(60):
        heard.put_nowait(kind)


async def repeat(app: App, tool: str, heard: "asyncio.Queue[str | None]", kind: str) -> None:
    """Let a server announce a change until it is heard: the first may come before anybody listens."""
    while not heard.empty():
        heard.get_nowait()
    while True:
        await app.call(tool)
        with suppress(TimeoutError):
            async with asyncio.timeout(2):
                while await heard.get() != kind:
                    pass
                return


def listed(*names: str) -> str:
    schema = {"type": "object", "properties": {}}
    return json.dumps([{"name": name, "description": f"Answer as {name}.", "inputSchema": schema} for name in names])


class Told:
    """Hears that the list of tools has changed, as the protocol of the client has it."""

    def __init__(self) -> None:
        self.changed = asyncio.Event()

    async def handle(self, message: Any) -> None:
        if isinstance(message, types.ToolListChangedNotification):
            self.changed.set()

    @asynccontextmanager
    async def listening(self, client: Client, mode: str) -> AsyncIterator[None]:
        if mode == "legacy":
            yield
            return
        async with client.listen(tools_list_changed=True) as events:

            async def follow() -> None:
                async for event in events:
                    if isinstance(event, ToolsListChanged):
                        self.changed.set()

            following = asyncio.create_task(follow())
            try:
                yield
            finally:
                following.cancel()


@pytest.mark.requirement("GOV-4", "GOV-2")
@pytest.mark.parametrize("connection", CLIENTS)
async def test_clients_are_told_when_a_person_approves_a_tool_in_another_process(connection: str, tmp_path: Path):
    path, tools = tmp_path / "charter.toml", tmp_path / "tools.json"
    tools.write_text(listed("echo"), encoding="utf-8")
    command = json.dumps([sys.executable, SERVER, "--tools", str(tools)])
    path.write_text(f"[upstream.pipe]\ncommand = {command}\n", encoding="utf-8")
    async with AsyncExitStack() as stack:
        if connection.startswith("http"):
            address = stack.enter_context(await asyncio.to_thread(started, path))
        else:
            await approve_all(path)
            address = ""
        told = Told()
        client = await stack.enter_async_context(connected(connection, path, address, message_handler=told.handle))
        assert [tool.name for tool in (await client.list_tools()).tools] == ["pipe_echo"]
        await client.list_prompts()  # a client that has asked something has its streams open
        async with told.listening(client, connection.partition("-")[2]):
            tools.write_text(listed("echo", "slow"), encoding="utf-8")
            async with asyncio.timeout(30):
                await approve_all(path)
                await told.changed.wait()
            assert [tool.name for tool in (await client.list_tools()).tools] == ["pipe_echo", "pipe_slow"]


@pytest.mark.requirement("GOV-4")
@pytest.mark.parametrize("connection", CLIENTS)
async def test_clients_are_told_of_changed_prompts_and_resources(connection: str, served: tuple[Path, str]):
    told: asyncio.Queue[str] = asyncio.Queue()

    async def note(message: object) -> None:
        if kind := LIST_CHANGES.get(type(message)):
            told.put_nowait(kind)

    async with connected(connection, *served, message_handler=note) as client, AsyncExitStack() as stack:
        await client.list_prompts()  # a client that has asked something has its streams open
        if not connection.endswith("legacy"):
            listening = client.listen(prompts_list_changed=True, resources_list_changed=True)
            events = await stack.enter_async_context(listening)

            async def follow() -> None:
                async for event in events:
                    await note(event)

            stack.callback(asyncio.create_task(follow()).cancel)
        async with asyncio.timeout(60):
            for name in UPSTREAMS:
                await announced(client, f"{name}_announce", told)


LIST_CHANGES: dict[type, str] = {
    types.PromptListChangedNotification: "prompts",
    types.ResourceListChangedNotification: "resources",
    PromptsListChanged: "prompts",
    ResourcesListChanged: "resources",
}


async def announced(client: Client, tool: str, told: "asyncio.Queue[str]") -> None:
    """Let a server announce both until the client is told: the first may come before the governor listens."""
    while not told.empty():
        told.get_nowait()
    missing = {"prompts", "resources"}
    while missing:
        await client.call_tool(tool, {})
        with suppress(TimeoutError):
            async with asyncio.timeout(2):
                while missing:
                    missing.discard(await told.get())


def started(path: Path) -> Any:
    context = governor_over_http(path)
    address = context.__enter__()

    class Running:
        def __enter__(self) -> str:
            return address

        def __exit__(self, *error: object) -> None:
            context.__exit__(None, None, None)

    return Running()
