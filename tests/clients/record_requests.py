"""Records the calls that real HTTP clients send, as bytes: `python -m tests.clients.record_requests`.

Each file of tests/data/http_requests is one `tools/call` of the demo's `add`: a head and a body, as they arrived.
Needs npm, curl, nginx and Go; without `go` on the path, the recording of Go's client is left as it is.
"""

import asyncio
import json
import re
import shutil
import sys
import tempfile
from collections.abc import AsyncIterator, Awaitable, Callable
from contextlib import asynccontextmanager
from pathlib import Path
from urllib.parse import urlsplit

import aiohttp
import httpx2
from agents.mcp import MCPServerStreamableHttp
from fastmcp import Client as FastMcpClient
from mcp import Client

from tests.clients.demo_server import DEMO
from tests.clients.over_http import served
from tests.conformance.run import FOLDER, HERE, install

RECORDED = Path(__file__).parents[1] / "data" / "http_requests"
LEGACY, MODERN = "2025-11-25", "2026-07-28"
PORT = 8000
"""Stands in the recorded bytes for the port of the server."""

CALLS = 3
"""Of each MCP client in Python."""

Drive = Callable[[str], Awaitable[object]]

PLAIN_BODY = json.dumps({
    "jsonrpc": "2.0",
    "id": 1,
    "method": "tools/call",
    "params": {
        "name": "add",
        "arguments": {"a": 2, "b": 3},
        "_meta": {
            "io.modelcontextprotocol/protocolVersion": MODERN,
            "io.modelcontextprotocol/clientCapabilities": {},
        },
    },
})  # fmt: skip
PLAIN_HEADERS = {
    "Content-Type": "application/json",
    "Accept": "application/json, text/event-stream",
    "MCP-Protocol-Version": MODERN,
    "Mcp-Method": "tools/call",
    "Mcp-Name": "add",
}
"""For clients that know HTTP and not MCP."""

FETCH = """
const [url, headers, body] = JSON.parse(process.argv[1]);
const answer = await fetch(url, {method: "POST", headers, body});
await answer.text();
"""
GO = """package main
import ("encoding/json"; "io"; "net/http"; "os"; "strings")
func main() {
    var headers map[string]string
    json.Unmarshal([]byte(os.Args[2]), &headers)
    request, _ := http.NewRequest("POST", os.Args[1], strings.NewReader(os.Args[3]))
    for name, value := range headers { request.Header.Set(name, value) }
    answer, err := http.DefaultClient.Do(request)
    if err != nil { panic(err) }
    io.Copy(io.Discard, answer.Body)
}
"""
NGINX = """
daemon off; pid nginx.pid; error_log nginx.err; events {{}}
http {{ access_log off;
  upstream server {{ server 127.0.0.1:{port}; keepalive 8; }}
  server {{ listen unix:{socket};
    location / {{
      proxy_pass http://server; proxy_http_version 1.1; proxy_set_header Connection "{connection}";
      proxy_set_header Host $host; proxy_set_header X-Real-IP $remote_addr; proxy_set_header X-Request-ID $request_id;
      proxy_set_header X-Forwarded-For $proxy_add_x_forwarded_for; proxy_set_header X-Forwarded-Proto $scheme; }} }} }}
"""


# ---- the clients -----------------------------------------------------------------------------------------


def sdk(mode: str) -> Drive:
    async def drive(url: str) -> None:
        async with Client(url, mode=mode) as client:
            for _ in range(CALLS):
                await client.call_tool("add", {"a": 2, "b": 3})

    return drive


def fastmcp(mode: str) -> Drive:
    async def drive(url: str) -> None:
        async with FastMcpClient(url, mode=mode) as client:
            for _ in range(CALLS):
                await client.call_tool("add", {"a": 2, "b": 3})

    return drive


def typescript(era: str) -> Drive:
    async def drive(url: str) -> None:
        await run([install(), str(HERE / "client.mjs"), era, url], FOLDER)

    return drive


async def agents(url: str) -> None:
    async with MCPServerStreamableHttp({"url": url}) as server:
        for _ in range(CALLS):
            await server.call_tool("add", {"a": 2, "b": 3})


async def fetch(url: str) -> None:
    await run([install(), "--input-type=module", "-e", FETCH, "--", json.dumps([url, PLAIN_HEADERS, PLAIN_BODY])])


async def with_aiohttp(url: str) -> None:
    async with aiohttp.ClientSession() as http, http.post(url, data=PLAIN_BODY, headers=PLAIN_HEADERS) as answer:
        await answer.read()


async def curl(url: str) -> None:
    await run(curl_command(url))


def curl_command(url: str, *options: str) -> list[str]:
    headers = [part for name, value in PLAIN_HEADERS.items() for part in ("-H", f"{name}: {value}")]
    return ["curl", "-sS", *options, *headers, "-d", PLAIN_BODY, url]


async def with_go(url: str) -> None:
    with tempfile.TemporaryDirectory() as folder:
        (Path(folder) / "main.go").write_text(GO)
        await run(["go", "run", "main.go", url, json.dumps(PLAIN_HEADERS), PLAIN_BODY], Path(folder))


def nginx(connection: str) -> Drive:
    async def drive(url: str) -> None:
        with tempfile.TemporaryDirectory() as folder:
            socket = Path(folder) / "nginx.sock"
            text = NGINX.format(port=urlsplit(url).port, connection=connection, socket=socket)
            (Path(folder) / "nginx.conf").write_text(text)
            program = shutil.which("nginx") or "nginx"
            proxy = await asyncio.create_subprocess_exec(program, "-p", folder, "-c", "nginx.conf")
            try:
                while not socket.exists():  # noqa: ASYNC110 - nginx has no event for it
                    await asyncio.sleep(0.02)
                await run(curl_command(f"http://127.0.0.1:{PORT}/mcp", "--unix-socket", str(socket)))
            finally:
                proxy.terminate()
                await proxy.wait()

    return drive


CLIENTS: dict[str, Drive] = {
    "python-sdk-legacy": sdk("legacy"),
    "python-sdk-modern": sdk(MODERN),
    "fastmcp-legacy": fastmcp("legacy"),
    "fastmcp-modern": fastmcp(MODERN),
    "typescript-legacy": typescript("legacy"),
    "typescript-modern": typescript("modern"),
    "openai-agents": agents,
    "node-fetch": fetch,
    "aiohttp": with_aiohttp,
    "curl": curl,
    "go": with_go,
    "nginx-keep-alive": nginx(""),
    "nginx-close": nginx("close"),
}


async def run(command: list[str], folder: Path | None = None) -> None:
    process = await asyncio.create_subprocess_exec(*command, cwd=folder, stdout=asyncio.subprocess.DEVNULL)
    if await process.wait():
        raise RuntimeError(f"{command[0]} failed")


# ---- the recorder ----------------------------------------------------------------------------------------


@asynccontextmanager
async def recorder(target: int) -> AsyncIterator[tuple[int, list[list[bytes]]]]:
    """A port in front of another one, and what each connection to it sent, in the parts that were read."""
    conversations: list[list[bytes]] = []
    open_writers: list[asyncio.StreamWriter] = []

    async def copy(reader: asyncio.StreamReader, writer: asyncio.StreamWriter, parts: list[bytes] | None) -> None:
        while data := await reader.read(65536):
            if parts is not None:
                parts.append(data)
            writer.write(data)
        writer.close()

    async def connect(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        other, other_writer = await asyncio.open_connection("127.0.0.1", target)
        open_writers.extend((writer, other_writer))
        conversations.append([])
        await asyncio.gather(copy(reader, other_writer, conversations[-1]), copy(other, writer, None))

    server = await asyncio.start_server(connect, "127.0.0.1", 0)
    try:
        yield server.sockets[0].getsockname()[1], conversations
    finally:
        server.close()
        for writer in open_writers:
            writer.close()


def calls_in(conversation: bytes) -> list[bytes]:
    """The requests of a connection that call a tool."""
    found: list[bytes] = []
    while conversation:
        head, _, rest = conversation.partition(b"\r\n\r\n")
        length = re.search(rb"\r\ncontent-length: *(\d+)", head, re.IGNORECASE)
        size = 0 if length is None else int(length[1])
        if b'"tools/call"' in rest[:size]:
            found.append(head + b"\r\n\r\n" + rest[:size])
        conversation = rest[size:]
    return found


async def record(name: str, drive: Drive, port: int) -> None:
    async with recorder(port) as (recording, conversations):
        await drive(f"http://127.0.0.1:{recording}/mcp")
        (call, *_) = [call for parts in conversations for call in calls_in(b"".join(parts))]
        parts = next(len(parts) for parts in conversations if call in b"".join(parts))
        sys.stdout.write(f"{name}: {len(call)} bytes; its connection was read in {parts} parts\n")
    call = call.replace(b":%d\r\n" % recording, b":%d\r\n" % PORT)
    call = re.sub(rb"(?im)^(mcp-session-id: *)[^\r]+", rb"\g<1>SESSION", call)
    (RECORDED / f"{name}.http").write_bytes(call)


async def main(names: list[str]) -> None:
    with tempfile.TemporaryDirectory() as folder, served([sys.executable, DEMO], Path(folder) / "log") as url:
        port = urlsplit(url).port or 0
        async with httpx2.AsyncClient():
            for name, drive in CLIENTS.items():
                if (not names or name in names) and (name != "go" or shutil.which("go")):
                    await record(name, drive, port)


if __name__ == "__main__":
    asyncio.run(main(sys.argv[1:]))
