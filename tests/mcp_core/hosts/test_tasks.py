"""Tasks on the wire: what clients send and get, over HTTP by the fast path and the SDK, and over stdio."""

import asyncio
import json
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any

import httpx2
import pytest

from mcp_core import App, Settings
from mcp_core.calling.people import asking
from mcp_core.hosts.fast_path.http import HttpFastPath
from mcp_core.hosts.fast_path.methods import FastPath
from mcp_core.hosts.fast_path.stdio_connection import StdioConnection
from mcp_core.hosts.sdk.server import HttpFront

TASKS = "io.modelcontextprotocol/tasks"
META = {
    "io.modelcontextprotocol/protocolVersion": "2026-07-28",
    "io.modelcontextprotocol/clientCapabilities": {"extensions": {TASKS: {}}},
}
WITHOUT = META | {"io.modelcontextprotocol/clientCapabilities": {}}


@pytest.fixture(autouse=True)
def at_once(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(asking, "TASK_AFTER_SECONDS", 0.0)


def build(tmp_path: Path, go_on: asyncio.Event) -> App:
    app = App("work", settings=Settings(db=f"sqlite:///{tmp_path / 'work.db'}"))

    @app.tool(task="auto")
    async def do() -> str:
        """Do something that takes long."""
        await go_on.wait()
        return "done"

    return app


def message(method: str, meta: dict[str, Any] = META, **params: Any) -> dict[str, Any]:
    return {"jsonrpc": "2.0", "id": 1, "method": method, "params": {**params, "_meta": meta}}


@asynccontextmanager
async def served(front: HttpFastPath | HttpFront) -> AsyncIterator[Any]:
    """A function that sends a request, and gives its status and its answer."""
    transport = httpx2.ASGITransport(app=front, client=("127.0.0.1", 5))
    async with front.lifespan(), httpx2.AsyncClient(transport=transport, base_url="http://127.0.0.1:8000") as http:

        async def send(method: str, header: str | None, meta: dict[str, Any] = META, **params: Any) -> Any:
            headers = {"accept": "application/json, text/event-stream", "mcp-protocol-version": "2026-07-28"}
            headers |= {"mcp-method": method} | ({} if header is None else {"mcp-name": header})
            answer = await http.post("/mcp", json=message(method, meta, **params), headers=headers)
            return answer.status_code, answer.json()

        yield send


@pytest.mark.requirement("PRO-5")
@pytest.mark.parametrize("front", [HttpFastPath, HttpFront])
async def test_a_task_over_http(front: Any, tmp_path: Path):
    go_on = asyncio.Event()
    app = build(tmp_path, go_on)
    async with served(front(app)) as send:
        _, discovered = await send("server/discover", None)
        assert discovered["result"]["capabilities"]["extensions"] == {TASKS: {}}
        status, created = await send("tools/call", "do", name="do", arguments={})
        task = created["result"]
        assert (status, task["resultType"], task["status"], task["ttlMs"]) == (200, "task", "working", 86_400_000)
        number = task["taskId"]
        assert len(number) == 32
        _, working = await send("tasks/get", number, taskId=number)
        assert (working["result"]["resultType"], working["result"]["status"]) == ("complete", "working")
        for name, code in (("another", -32020), (None, -32020)):
            status, refused = await send("tasks/get", name, taskId=number)
            assert (status, refused["error"]["code"]) == (400, code)
        status, refused = await send("tasks/get", number, WITHOUT, taskId=number)
        assert (status, refused["error"]["code"]) == (400, -32021)
        status, refused = await send("tasks/get", "x", taskId="x")
        assert (status, refused["error"]["code"]) == (400, -32602)
        _, answered = await send("tasks/cancel", number, taskId=number)
        assert answered["result"]["resultType"] == "complete"
        assert "status" not in answered["result"]
        go_on.set()
        _, plain = await send("tools/call", "do", WITHOUT, name="do", arguments={})
        assert plain["result"]["content"][0]["text"] == "done"


@pytest.mark.requirement("PRO-5")
async def test_a_client_over_stdio_hears_of_the_status_of_its_task(tmp_path: Path):
    go_on, sent = asyncio.Event(), asyncio.Queue[dict[str, Any]]()
    app = build(tmp_path, go_on)

    async def drained() -> None:
        pass

    async def send(number: int, method: str, meta: dict[str, Any] = META, **params: Any) -> None:
        await connection.receive(json.dumps(message(method, meta, **params) | {"id": number}).encode())

    async with app, asyncio.timeout(60):
        connection = StdioConnection(FastPath(app), lambda data: sent.put_nowait(json.loads(data)), drained)
        await send(1, "tools/call", name="do", arguments={})
        number = (await sent.get())["result"]["taskId"]
        await send(2, "subscriptions/listen", WITHOUT, notifications={"taskIds": [number]})
        assert (await sent.get())["error"]["code"] == -32021
        await send(3, "subscriptions/listen", notifications={"taskIds": [number, "unknown"]})
        assert (await sent.get())["params"]["notifications"] == {"taskIds": [number]}
        go_on.set()
        while (told := await sent.get())["params"]["status"] != "completed":
            pass
        assert told["method"] == "notifications/tasks"
        assert told["params"]["result"]["content"] == [{"type": "text", "text": "done"}]
        assert told["params"]["_meta"] == {"io.modelcontextprotocol/subscriptionId": 3}
        await connection.close()
