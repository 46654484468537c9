"""Requests that the fast path hands to the SDK, where the SDK cannot be loaded or opened."""

import asyncio
import json
import re
import sys
from contextlib import asynccontextmanager
from typing import Any

import pytest
from toolcharter_examples import words

from mcp_core import Settings
from mcp_core.hosts.fast_path.http import HttpFastPath
from mcp_core.hosts.sdk.server import HttpFront
from tests.conftest import Log
from toolcharter.serving.run import run

SDK = "mcp_core.hosts.sdk.server"
HEADERS = {"host": "localhost", "content-type": "application/json", "accept": "application/json, text/event-stream"}
OPENING = {"protocolVersion": "2025-11-25", "capabilities": {}, "clientInfo": {"name": "raw", "version": "1"}}


def request(method: str, **params: Any) -> bytes:
    return json.dumps({"jsonrpc": "2.0", "id": 7, "method": method, "params": params}).encode()


async def post(fast_path: HttpFastPath, body: bytes, **headers: str) -> tuple[int, Any]:
    """The status and the message of a response."""
    raw = [(name.replace("_", "-").encode(), value.encode()) for name, value in {**HEADERS, **headers}.items()]
    scope = {"type": "http", "method": "POST", "path": "/mcp", "root_path": "", "query_string": b"", "headers": raw}
    scope |= {"client": ("127.0.0.1", 5), "server": ("localhost", 80), "scheme": "http", "http_version": "1.1"}
    messages: list[Any] = [{"type": "http.request", "body": body}]
    sent: list[Any] = []

    async def receive() -> Any:
        return messages.pop() if messages else await asyncio.Event().wait()

    async def send(event: Any) -> None:
        sent.append(event)

    async with asyncio.timeout(60):
        await fast_path(scope, receive, send)
    text = b"".join(event.get("body", b"") for event in sent)
    data = text.partition(b"data: ")[2] if text.startswith(b"event:") else text
    return sent[0]["status"], json.loads(data)


UNAVAILABLE = (
    500,
    {
        "jsonrpc": "2.0",
        "id": 7,
        "error": {
            "code": -32603,
            "message": "The server could not load what this request needs; its log has the reason. Try again later.",
        },
    },
)
# A version that only the SDK knows how to refuse.
UNKNOWN_VERSION = {"mcp_protocol_version": "1999-01-01"}


async def test_a_request_that_needs_an_sdk_that_cannot_be_loaded_is_answered_and_the_next_one_tries_again(
    monkeypatch: pytest.MonkeyPatch, log: Log
):
    fast_path = HttpFastPath(words.build(Settings()))
    async with fast_path.lifespan():
        with monkeypatch.context() as broken:
            broken.setitem(sys.modules, SDK, None)
            ping = request("ping")
            answers = await asyncio.gather(*(post(fast_path, ping, **UNKNOWN_VERSION) for _ in range(3)))
            assert answers == [UNAVAILABLE] * 3
            assert [level for level, words in log.messages if "MCP SDK could not be loaded" in words] == ["ERROR"]
            assert (await post(fast_path, request("initialize", **OPENING)))[0] == 200
            assert await post(fast_path, ping, **UNKNOWN_VERSION) == UNAVAILABLE
        status, answer = await post(fast_path, ping, **UNKNOWN_VERSION)
    assert (status, answer["error"]["code"]) == (400, -32602)


async def test_an_sdk_that_cannot_be_opened_is_opened_by_the_next_request(monkeypatch: pytest.MonkeyPatch, log: Log):
    @asynccontextmanager
    async def fail(_: HttpFront):
        raise OSError("no more threads")
        yield

    fast_path = HttpFastPath(words.build(Settings()))
    async with fast_path.lifespan():
        with monkeypatch.context() as broken:
            broken.setattr(HttpFront, "lifespan", fail)
            assert await post(fast_path, request("ping"), **UNKNOWN_VERSION) == UNAVAILABLE
            assert "no more threads" in log.lines[-1]
        assert (await post(fast_path, request("ping"), **UNKNOWN_VERSION))[0] == 400


async def test_a_body_that_is_not_json_is_answered_without_the_id_of_a_request(monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setitem(sys.modules, SDK, None)
    fast_path = HttpFastPath(words.build(Settings()))
    async with fast_path.lifespan():
        status, answer = await post(fast_path, b"{")
    assert (status, answer["id"]) == (500, None)


@pytest.mark.parametrize("transport", ["stdio", "http"])
def test_a_server_without_the_fast_path_does_not_start_without_the_sdk(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str], transport: str
):
    monkeypatch.setitem(sys.modules, SDK, None)
    with pytest.raises(SystemExit, match=r"^1$"):
        run(words.build, [transport, "--fast-path", "off", "--port", "0", "--log-level", "CRITICAL"])
    assert re.search(
        r"The MCP SDK cannot be loaded: .*start without --fast-path off\.$", capsys.readouterr().err.strip()
    )
