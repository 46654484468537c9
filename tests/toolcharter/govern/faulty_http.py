"""An MCP server over HTTP, written on bare sockets, that fails as the name of the called tool says."""

import asyncio
import json
from typing import Any

_EVENTS = b"HTTP/1.1 200 OK\r\nContent-Type: text/event-stream\r\nTransfer-Encoding: chunked\r\n\r\n"
_BIG = 50_000_000


class FaultyServer:
    """Use it as a context. `wait` answers when `go_on` is set, and sets `waits` when it is called."""

    def __init__(self, redirect_to: str = "http://127.0.0.1:1/mcp", at_once: str = "") -> None:
        """`at_once` is what the first request gets, whatever it asks for."""
        self.url = ""
        self.methods: list[str] = []
        self.waits, self.go_on = asyncio.Event(), asyncio.Event()
        self._redirect_to, self._at_once = redirect_to, at_once
        self._connections: set[asyncio.Task[None]] = set()

    async def __aenter__(self) -> "FaultyServer":
        self._server = await asyncio.start_server(self._serve, "127.0.0.1", 0)
        self.url = f"http://127.0.0.1:{self._server.sockets[0].getsockname()[1]}/mcp"
        return self

    async def __aexit__(self, *_: object) -> None:
        self._server.close()
        for task in list(self._connections):
            task.cancel()
        await asyncio.gather(*self._connections, return_exceptions=True)
        await self._server.wait_closed()

    async def is_quiet(self) -> None:
        """Wait until all connections are closed."""
        async with asyncio.timeout(60):
            while self._connections:  # noqa: ASYNC110 - connections end one by one
                await asyncio.sleep(0.01)

    async def _serve(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        task = asyncio.current_task()
        assert task is not None
        self._connections.add(task)
        try:
            while await self._answer(reader, writer):
                await writer.drain()
        except (ConnectionError, asyncio.IncompleteReadError):
            pass
        finally:
            writer.close()
            self._connections.discard(task)

    async def _answer(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> bool:
        """Answer one request. Returns whether the connection stays open."""
        head = (await reader.readuntil(b"\r\n\r\n")).decode()
        self.methods.append(head.partition(" ")[0])
        length = next((line[15:] for line in head.splitlines() if line.lower().startswith("content-length:")), "0")
        body = await reader.readexactly(int(length))
        if self.methods[-1] == "DELETE":
            return self._fail("redirect", writer)
        message = json.loads(body)
        method, fault = message["method"], self._at_once
        if "id" not in message:
            if fault == "notification":
                await reader.read()
            writer.write(b"HTTP/1.1 202 Accepted\r\nContent-Length: 0\r\n\r\n")
            return True
        if method == "tools/call":
            fault = message["params"]["name"]
        return await self._send(fault, message, reader, writer)

    async def _send(
        self, fault: str, message: dict[str, Any], reader: asyncio.StreamReader, writer: asyncio.StreamWriter
    ) -> bool:
        if fault == "wait":
            self.waits.set()
            await self.go_on.wait()
        elif fault == "hang":
            await reader.read()
        elif fault.startswith("drip"):
            writer.write(_EVENTS if fault == "drip-events" else b"HTTP/1.1 200 OK\r\nContent-Length: 100000\r\n\r\n")
            drop = b"2\r\n: \r\n" if fault == "drip-events" else b" "
            while not reader.at_eof():
                writer.write(drop)
                await writer.drain()
                await asyncio.sleep(0.02)
        elif fault == "big":
            writer.write(
                f"HTTP/1.1 200 OK\r\nContent-Type: application/json\r\nContent-Length: {_BIG}\r\n\r\n".encode()
            )
            for _ in range(_BIG // 100_000):
                writer.write(b" " * 100_000)
                await writer.drain()
        elif fault not in ("", "echo", "notification"):
            return self._fail(fault, writer)
        if fault not in ("", "echo", "wait", "notification"):
            return False
        payload = json.dumps({"jsonrpc": "2.0", "id": message["id"], "result": _result(message["method"])}).encode()
        head = "HTTP/1.1 200 OK\r\nContent-Type: application/json\r\nMcp-Session-Id: one\r\n"
        writer.write(f"{head}Content-Length: {len(payload)}\r\n\r\n".encode() + payload)
        return True

    def _fail(self, fault: str, writer: asyncio.StreamWriter) -> bool:
        """Send what the fault is. Returns whether the connection stays open."""
        answers = {
            "cut": b'HTTP/1.1 200 OK\r\nContent-Type: application/json\r\nContent-Length: 1000\r\n\r\n{"jsonrpc":',
            "cut-headers": b"HTTP/1.1 200 OK\r\nContent-Ty",
            "cut-events": _EVENTS + b'f\r\ndata: {"jsonrpc',
            "html": b"HTTP/1.1 500 Error\r\nContent-Type: text/html\r\nContent-Length: 9\r\n\r\n<h1>No</h",
            "unauthorized": b"HTTP/1.1 401 Unauthorized\r\nContent-Length: 0\r\n\r\n",
            "redirect": f"HTTP/1.1 307 Moved\r\nLocation: {self._redirect_to}\r\nContent-Length: 0\r\n\r\n".encode(),
        }
        writer.write(answers[fault])
        return not fault.startswith("cut")


def _result(method: str) -> dict[str, Any]:
    info = {"name": "faulty", "version": "1"}
    results: dict[str, dict[str, Any]] = {
        "server/discover": {"supportedVersions": ["2026-07-28"], "capabilities": {"tools": {}}},
        "initialize": {"protocolVersion": "2025-06-18", "capabilities": {"tools": {}}, "serverInfo": info},
        "tools/list": {"tools": [{"name": "echo", "inputSchema": {"type": "object"}}]},
        "tools/call": {"content": [{"type": "text", "text": "done"}]},
    }
    return {"resultType": "complete", **results[method]}
