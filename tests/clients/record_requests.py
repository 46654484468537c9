"""Records the calls that real HTTP clients send, as bytes: `python -m tests.clients.record_requests`.

Each file of tests/data/http_requests is one `tools/call` of the demo's `add`: a head and a body, as they arrived;
`writes.json` has the number of writes that it took: most clients send the head and the body one after the other.
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
from itertools import accumulate
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
WRITES = RECORDED / "writes.json"
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
    "openai-agents-modern": agents,
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


def calls_in(parts: list[bytes]) -> list[tuple[bytes, int]]:
    """The requests of a connection that call a tool, each with the number of parts in which it came."""
    found, start, sent = [], 0, b"".join(parts)
    ends = list(accumulate(map(len, parts)))
    while start < len(sent):
        body = sent.index(b"\r\n\r\n", start) + 4
        length = re.search(rb"\r\ncontent-length: *(\d+)", sent[start:body], re.IGNORECASE)
        end = body + (0 if length is None else int(length[1]))
        if b'"tools/call"' in sent[body:end]:
            found.append((sent[start:end], sum(start < one <= end for one in ends)))
        start = end
    return found


async def record(name: str, port: int) -> None:
    """Record a client. It runs in a process of its own: in this one, its writes would be read together."""
    async with recorder(port) as (recording, conversations):
        await run([sys.executable, "-m", "tests.clients.record_requests", "--drive", name, str(recording)])
        calls = [call for parts in conversations for call in calls_in(parts)]
    call = calls[0][0].replace(b":%d\r\n" % recording, b":%d\r\n" % PORT)
    call = re.sub(rb"(?im)^(mcp-session-id: *)[^\r]+", rb"\g<1>SESSION", call)
    (RECORDED / f"{name}.http").write_bytes(call)
    writes = json.loads(WRITES.read_text()) | {name: max(parts for _, parts in calls)}
    WRITES.write_text(json.dumps(writes, indent=1, sort_keys=True) + "\n")


async def main(names: list[str]) -> None:
    with tempfile.TemporaryDirectory() as folder, served([sys.executable, DEMO], Path(folder) / "log") as url:
        port = urlsplit(url).port or 0
        async with httpx2.AsyncClient():
            for name in names or CLIENTS:
                if name != "go" or shutil.which("go"):
                    await record(name, port)


if __name__ == "__main__":
    match sys.argv[1:]:
        case ["--drive", client, recording_port]:
            asyncio.run(CLIENTS[client](f"http://127.0.0.1:{recording_port}/mcp"))
        case chosen:
            asyncio.run(main(chosen))
