"""The fast path on a real port, with clients that send too much, too slowly, or go away; and its sessions."""

import asyncio
import json
import signal
import sys
from asyncio.subprocess import DEVNULL, PIPE
from collections.abc import AsyncIterator, Iterator
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any, NamedTuple

import pytest

from mcp_core import App
from mcp_core.hosts.fast_path.http import HttpFastPath
from mcp_core.hosts.names import CAPABILITIES_KEY, VERSION_KEY
from tests.behaviour.combinations import ENVIRONMENT, NEW, OLD, SCRIPT, HttpServer, start_http
from tests.mcp_core.hosts.fast_path.test_robust_stdio import CONFESSING

PATIENCE = 90
MEGABYTE = 1024 * 1024
LIMIT = 4 * MEGABYTE
PING = b": ping\r\n\r\n"
META = {VERSION_KEY: NEW, CAPABILITIES_KEY: {}}


class Answer(NamedTuple):
    status: int
    headers: dict[str, str]
    body: bytes

    @property
    def message(self) -> dict[str, Any]:
        """The answer itself: of a stream, its last event."""
        if self.headers["content-type"].startswith("text/event-stream"):
            return json.loads([line for line in self.body.splitlines() if line.startswith(b"data: {")][-1][6:])
        return json.loads(self.body)

    @property
    def data(self) -> Any:
        return json.loads(self.message["result"]["content"][0]["text"])["data"]


class Wire:
    """One connection, written and read by hand."""

    def __init__(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        self.reader, self.writer = reader, writer

    async def head(self, method: str, headers: dict[str, Any]) -> None:
        given = {"Host": "localhost", "Content-Type": "application/json"} | headers
        given = {"Accept": "application/json, text/event-stream"} | given
        lines = [f"{method} /mcp HTTP/1.1", *(f"{name}: {value}" for name, value in given.items()), "", ""]
        await self.send("\r\n".join(lines).encode())

    async def send(self, data: bytes) -> None:
        self.writer.write(data)
        await self.writer.drain()

    async def ask(self, message: Any = None, headers: dict[str, Any] | None = None, method: str = "POST") -> Answer:
        body = b"" if message is None else json.dumps(message).encode()
        await self.head(method, {"Content-Length": len(body), **(headers or {})})
        await self.send(body)
        return await self.answer()

    async def answer(self) -> Answer:
        status, headers = await self.start()
        if headers.get("transfer-encoding") == "chunked":
            body = b""
            while chunk := await self.chunk():
                body += chunk
            return Answer(status, headers, body)
        return Answer(status, headers, await self.reader.readexactly(int(headers.get("content-length", 0))))

    async def start(self) -> tuple[int, dict[str, str]]:
        first, *lines = (await self.reader.readuntil(b"\r\n\r\n")).decode("latin-1").rstrip().split("\r\n")
        pairs = (line.split(": ", 1) for line in lines)
        return int(first.split()[1]), {name.lower(): value for name, value in pairs}

    async def chunk(self) -> bytes:
        size = int(await self.reader.readline(), 16)
        return (await self.reader.readexactly(size + 2))[:-2]


@asynccontextmanager
async def connected(server: HttpServer) -> AsyncIterator[Wire]:
    port = int(server.url.rsplit(":", 1)[1].split("/")[0])
    reader, writer = await asyncio.open_connection("127.0.0.1", port, limit=LIMIT)
    try:
        async with asyncio.timeout(PATIENCE):
            yield Wire(reader, writer)
    finally:
        writer.close()


@pytest.fixture(scope="module")
def server(tmp_path_factory: pytest.TempPathFactory) -> Iterator[HttpServer]:
    started = start_http("native", tmp_path_factory.mktemp("fast_path") / "http.log")
    yield started
    started.stop()


def request(method: str, **params: Any) -> dict[str, Any]:
    return {"jsonrpc": "2.0", "id": 1, "method": method, "params": params}


def call(tool: str, /, **arguments: Any) -> tuple[dict[str, Any], dict[str, Any]]:
    """A call of the newer protocol, and its headers."""
    message = request("tools/call", name=tool, arguments=arguments, _meta=META)
    return message, {"MCP-Protocol-Version": NEW, "Mcp-Method": "tools/call", "Mcp-Name": tool}


def opening(**capabilities: Any) -> dict[str, Any]:
    client = {"name": "raw", "version": "9.8"}
    return request("initialize", protocolVersion=OLD, capabilities=capabilities, clientInfo=client)


# ---- bodies and connections ------------------------------------------------------------------------------


async def test_a_body_of_more_than_4_mb_is_refused_before_it_is_sent(server: HttpServer):
    async with connected(server) as wire:
        await wire.head("POST", call("add")[1] | {"Content-Length": LIMIT + 1})
        assert (await wire.answer()).status == 413


async def test_a_body_of_more_than_4_mb_in_chunks_is_refused(server: HttpServer):
    """The message is complete after the first chunk: what follows makes it too long all the same."""
    message, headers = call("count", key="too long")
    async with connected(server) as wire:
        await wire.head("POST", headers | {"Transfer-Encoding": "chunked"})
        refused = asyncio.ensure_future(wire.answer())
        text = json.dumps(message).encode()
        await wire.send(b"%x\r\n%s\r\n" % (len(text), text))
        for _ in range(4):
            await wire.send(b"%x\r\n%s\r\n" % (MEGABYTE, b" " * MEGABYTE))
        assert (await refused).status == 413


async def test_a_body_that_comes_byte_by_byte_is_answered(server: HttpServer):
    message, headers = call("add", a=1, b=2)
    text = json.dumps(message).encode()
    async with connected(server) as wire, connected(server) as other:
        await wire.head("POST", headers | {"Content-Length": len(text)})
        for at in range(len(text) - 1):
            await wire.send(text[at : at + 1])
        # Meanwhile others are served.
        assert (await other.ask(message, headers)).data == 3
        await wire.send(text[-1:])
        assert (await wire.answer()).data == 3


async def test_a_client_that_leaves_in_the_middle_of_its_body_is_not_obeyed(server: HttpServer):
    """What has arrived is a complete message; what was announced is not."""
    message, headers = call("crash", key="half")
    text = json.dumps(message).encode()
    async with connected(server) as wire:
        await wire.head("POST", headers | {"Content-Length": len(text) + 10})
        await wire.send(text)
        wire.writer.close()
        await wire.writer.wait_closed()
    async with connected(server) as wire:
        assert (await wire.ask(*call("count", key="half"))).data == 0


async def test_a_client_that_has_ended_its_side_still_gets_its_answer_or_an_end(server: HttpServer):
    message, headers = call("add", a=1, b=2)
    async with connected(server) as wire:
        text = json.dumps(message).encode()
        await wire.head("POST", headers | {"Content-Length": len(text)})
        await wire.send(text)
        wire.writer.write_eof()
        said = await wire.reader.read()
    assert said == b"" or said.startswith(b"HTTP/1.1 200")
    async with connected(server) as wire:
        assert (await wire.ask(message, headers)).data == 3


async def test_several_requests_share_a_connection(server: HttpServer):
    async with connected(server) as wire:
        assert [(await wire.ask(*call("add", a=n, b=1))).data for n in range(20)] == list(range(1, 21))


async def reached(server: HttpServer, key: str) -> None:
    async with connected(server) as other:
        while (await other.ask(*call("count", key=key))).data != 1:
            pass


async def test_a_client_that_disconnects_stops_its_call(server: HttpServer):
    async with connected(server) as wire:
        message, headers = call("wait_long", key="gone")
        text = json.dumps(message).encode()
        await wire.head("POST", headers | {"Content-Length": len(text)})
        await wire.send(text)
        await reached(server, "gone started")
    await reached(server, "gone stopped")


@pytest.mark.parametrize("era", [NEW, OLD])
async def test_a_silent_call_pings_its_client_until_it_answers(era: str):
    """The call ends when the client has seen two pings, so there is nothing to wait for but them."""
    seen: list[bytes] = []
    pinged = asyncio.Event()
    app = App("silent", version="1.0.0", format="result")

    async def wait() -> str:
        """Wait for two pings."""
        await pinged.wait()
        return "done"

    app.tool(response_time="slow")(wait)

    async def answered(fast_path: HttpFastPath, message: dict[str, Any], headers: dict[str, Any]) -> dict[bytes, bytes]:
        given = {"Host": "localhost", "Content-Type": "application/json", "Accept": "*/*"} | headers
        raw = [(name.lower().encode(), value.encode()) for name, value in given.items()]
        scope = {"type": "http", "method": "POST", "path": "/mcp", "headers": raw, "client": ("127.0.0.1", 5)}
        waiting = [{"type": "http.request", "body": json.dumps(message).encode()}]
        started: dict[bytes, bytes] = {}

        async def receive() -> Any:
            return waiting.pop() if waiting else await asyncio.Event().wait()

        async def send(event: Any) -> None:
            started.update(event.get("headers", ()))
            seen.append(event.get("body", b""))
            if seen.count(PING) == 2:
                pinged.set()

        await fast_path(scope, receive, send)
        return started

    fast_path = HttpFastPath(app, ping_seconds=0.001)
    async with asyncio.timeout(PATIENCE), fast_path.lifespan():
        message, headers = call("wait")
        if era == OLD:
            opened = await answered(fast_path, opening(), {})
            message = request("tools/call", name="wait", arguments={})
            headers = {"Mcp-Session-Id": opened[b"mcp-session-id"].decode(), "MCP-Protocol-Version": OLD}
            seen.clear()
        started = await answered(fast_path, message, headers)
    assert started[b"content-type"] == b"text/event-stream"
    assert started[b"x-accel-buffering"] == b"no"
    start, *pings, last = seen
    assert start == b""
    assert set(pings) == {PING}
    assert last.startswith(b"event: message\r\ndata: {")
    assert b"done" in last


async def test_space_around_the_value_of_a_header_is_ignored(server: HttpServer):
    message, headers = call("add", a=1, b=2)
    async with connected(server) as wire:
        assert (await wire.ask(message, headers | {"Mcp-Name": "  add \t"})).data == 3


# ---- the older protocol ----------------------------------------------------------------------------------


async def session_of(wire: Wire, **capabilities: Any) -> dict[str, str]:
    opened = await wire.ask(opening(**capabilities))
    assert opened.status == 200
    return {"Mcp-Session-Id": opened.headers["mcp-session-id"], "MCP-Protocol-Version": OLD}


async def test_a_session_says_who_calls(server: HttpServer):
    async with connected(server) as wire:
        session = await session_of(wire)
        assert session["Mcp-Session-Id"].startswith("fast-")
        assert (await wire.ask({"jsonrpc": "2.0", "method": "notifications/initialized"}, session)).status == 202
        seen = (await wire.ask(request("tools/call", name="who", arguments={}), session)).data
    assert (seen["agentId"], seen["agentVersion"]) == ("raw", "9.8")


CHANGES = {
    "last digit": lambda s: s[:-1] + ("0" if s[-1] != "0" else "1"),
    "longer": lambda s: s + "0",
    "cut off": lambda s: s[:-70],
    "other words": lambda s: "fast-" + s[6:],
    "empty": lambda _: "fast-",
    "of nobody": lambda _: "0" * 32,
}


@pytest.mark.parametrize("change", CHANGES.values(), ids=CHANGES)
async def test_a_session_id_that_was_changed_is_unknown(server: HttpServer, change: Any):
    async with connected(server) as wire:
        session = await session_of(wire)
        changed = session | {"Mcp-Session-Id": change(session["Mcp-Session-Id"])}
        statuses = [(await wire.ask(request("tools/list"), given)).status for given in (changed, session)]
        assert statuses == [404, 200]
        assert [(await wire.ask(None, changed, method)).status for method in ("GET", "DELETE")] == [404, 404]


async def test_a_session_of_the_fast_path_has_no_stream_and_can_be_ended(server: HttpServer):
    async with connected(server) as wire:
        session = await session_of(wire)
        assert [(await wire.ask(None, session, method)).status for method in ("GET", "PUT", "DELETE")] == [
            405,
            405,
            200,
        ]


async def test_ending_a_session_does_not_end_another_of_the_same_client(server: HttpServer):
    async with connected(server) as wire:
        first, second = await session_of(wire), await session_of(wire)
        assert first != second
        assert (await wire.ask(None, first, "DELETE")).status == 200
        ping = {"jsonrpc": "2.0", "id": 1, "method": "ping"}
        assert [(await wire.ask(ping, session)).status for session in (first, second)] == [404, 200]


async def test_a_call_that_is_cancelled_in_its_session_is_stopped_and_answered(server: HttpServer):
    async with connected(server) as wire, connected(server) as other:
        session, foreign = await session_of(wire), await session_of(other)
        waiting = asyncio.ensure_future(
            wire.ask(request("tools/call", name="wait_long", arguments={"key": "cancelled"}), session)
        )
        await reached(server, "cancelled started")
        cancel = {"jsonrpc": "2.0", "method": "notifications/cancelled", "params": {"requestId": 1}}
        assert (await other.ask(cancel, foreign)).status == 202
        assert not waiting.done()
        assert (await other.ask(cancel, session)).status == 202
        answer = await waiting
        assert answer.message == {"jsonrpc": "2.0", "id": 1, "error": {"code": -32800, "message": "Request cancelled"}}
        await reached(server, "cancelled stopped")


async def test_a_client_that_later_declares_elicitation_gets_another_session(server: HttpServer):
    async with connected(server) as wire:
        session = await session_of(wire)
        assert (await wire.ask(opening(), session)).status == 200
        assert (await wire.ask(opening(elicitation={}), session)).status == 404
        assert (await wire.ask(request("ping"), session)).status == 404
        asking = await session_of(wire, elicitation={})
        assert (await wire.ask(opening(elicitation={}), asking)).status == 200


async def test_an_unknown_method_does_not_end_the_session(server: HttpServer):
    async with connected(server) as wire:
        session = await session_of(wire)
        unknown = await wire.ask(request("tasks/list"), session)
        assert (unknown.status, unknown.message["error"]["code"]) == (200, -32601)
        assert (await wire.ask(request("ping"), session)).message["result"] == {}


async def test_a_client_that_can_be_asked_is_asked(server: HttpServer):
    async with connected(server) as wire, connected(server) as other:
        session = await session_of(wire, elicitation={})
        assert session["Mcp-Session-Id"].startswith("fast-")
        assert (await wire.ask({"jsonrpc": "2.0", "method": "notifications/initialized"}, session)).status == 202
        text = json.dumps(
            request("tools/call", name="wipe", arguments={"key": "http", "explicit_action": "WIPE"})
        ).encode()
        await wire.head("POST", session | {"Content-Length": len(text)})
        await wire.send(text)
        status, _ = await wire.start()
        assert status == 200
        seen = b""
        while b"elicitation/create" not in seen or not seen.endswith(b"\r\n\r\n"):
            seen += await wire.chunk()
        question = json.loads([line for line in seen.splitlines() if line.startswith(b"data: {")][-1][6:])
        yes = {"action": "accept", "content": {"confirm": True}}
        assert (await other.ask({"jsonrpc": "2.0", "id": question["id"], "result": yes}, session)).status == 202
        while b'"wiped' not in seen.replace(b"\\", b""):
            seen += await wire.chunk()
        assert (await other.ask(*call("count", key="http"))).data == 1


# ---- what is loaded --------------------------------------------------------------------------------------


async def test_the_sdk_is_not_loaded_for_ordinary_requests():
    command = [sys.executable, "-c", CONFESSING, SCRIPT, "native", "http", "--port", "0", "--log-level", "CRITICAL"]
    process = await asyncio.create_subprocess_exec(
        *command, stdin=DEVNULL, stdout=DEVNULL, stderr=PIPE, env=ENVIRONMENT
    )
    try:
        async with asyncio.timeout(PATIENCE):
            said = b""
            while b"Health: http://" not in said:
                line = await process.stderr.readline()
                assert line, said
                said += line
            port = said.split(b"Health: http://")[1].split(b"/")[0].decode().rsplit(":", 1)[1]
            server = HttpServer(process, Path(), f"http://127.0.0.1:{port}/mcp")
            async with connected(server) as wire:
                assert (await wire.ask(*call("add", a=1, b=2))).data == 3
                session = await session_of(wire)
                listed = await wire.ask(request("tools/list"), session)
                assert "add" in [tool["name"] for tool in listed.message["result"]["tools"]]
                assert (await wire.ask(request("completion/complete"), session)).status == 200
            process.send_signal(signal.SIGINT)
            rest = await process.stderr.read()
            await process.wait()
    finally:
        process._transport.close()
        await process.wait()
    assert rest.decode().endswith("[]"), rest
