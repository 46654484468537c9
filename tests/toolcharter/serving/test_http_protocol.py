"""The way without ASGI gives the same answers as the way through it, to every kind of client."""

import asyncio
import json
import re
import socket
from contextlib import AsyncExitStack
from dataclasses import replace
from functools import wraps
from pathlib import Path
from random import Random
from typing import Any

import pytest

from mcp_core import App, Settings, ToolContext
from mcp_core.auth import StaticTokens, user
from mcp_core.hosts.fast_path.http import HttpFastPath
from mcp_core.hosts.fast_path.methods import NotHandled
from mcp_core.hosts.fast_path.request_head import LastPeer
from mcp_core.hosts.names import CAPABILITIES_KEY, CLIENT_KEY, VERSION_KEY
from tests.conftest import Log
from tests.mcp_core.audited import audited
from tests.mcp_core.hosts.fast_path import messages
from tests.mcp_core.hosts.fast_path.test_differential_http import Asked, Side, ask
from tests.toolcharter.serving.raw_http import MODERN, Parser, call_bytes, connection, data_of, response, serving, until
from toolcharter.serving.direct_heads import DirectHeads
from toolcharter.serving.http_protocol import HttpProtocol

REQUESTS = 700
WAYS = ["on", "asgi"]


class Gate:
    """Lets a tool wait until a test opens it."""

    def __init__(self) -> None:
        self.entered, self.opened = asyncio.Event(), asyncio.Event()


def make_app(gate: Gate | None = None, **settings: Any) -> App:
    app = App("direct", version="1", format="result", settings=Settings(**{"deadline": 60, **settings}))

    async def add(a: int, b: int) -> int:
        """Add."""
        return a + b

    async def wait() -> str:
        """Wait for the gate."""
        assert gate is not None
        gate.entered.set()
        await gate.opened.wait()
        return "waited"

    async def repeat(text: str, times: int) -> str:
        """Repeat a text."""
        return text * times

    for tool in (add, wait, repeat):
        app.tool(response_time="fast")(tool)
    app.tool(response_time="slow", name="slow_add")(add)
    app.tool(response_time="slow", name="slow_wait")(wait)
    return app


def count_direct(monkeypatch: pytest.MonkeyPatch) -> list[int]:
    """Gets an entry for each request that is answered without ASGI."""
    answered: list[int] = []
    respond = HttpFastPath.respond

    async def counted(*args: Any, **more: Any) -> Any:
        response = await respond(*args, **more)
        answered.append(response.status)
        return response

    monkeypatch.setattr(HttpFastPath, "respond", counted)
    return answered


# ---- the same answers ------------------------------------------------------------------------------------


class WireSide(Side):
    """Sends requests over a connection, which is opened again when the server closes it."""

    def __init__(self, port: int, stack: AsyncExitStack) -> None:
        super().__init__(None)
        self._port, self._stack = port, stack
        self._streams: Any = None

    async def _send(self, asked: Asked) -> tuple[int, dict[str, str], bytes]:
        body = asked.body
        if body is None:
            body = json.dumps(messages.with_state(asked.message, self.known[messages.STATE])).encode()
        given = [(name, value) for name, value in asked.headers if name != "content-length"]
        lines = [f"{asked.method} {asked.path} HTTP/1.1", *(f"{name}: {self._filled(value)}" for name, value in given)]
        head = "\r\n".join([*lines, f"content-length: {len(body)}", "", ""]).encode("latin-1")
        if self._streams is None:
            self._streams = await self._stack.enter_async_context(connection(self._port))
        reader, writer = self._streams
        writer.write(head + body)
        async with asyncio.timeout(60):
            start = await reader.readuntil(b"\r\n\r\n")
            first, *lines = start.decode("latin-1").rstrip().split("\r\n")
            headers = {name.lower(): value for name, _, value in (line.partition(": ") for line in lines)}
            return int(first.split()[1]), headers, await self._body(reader, headers)

    async def _body(self, reader: asyncio.StreamReader, headers: dict[str, str]) -> bytes:
        if headers.get("connection") == "close":
            self._streams = None
        if headers.get("transfer-encoding") != "chunked":
            return await reader.readexactly(int(headers.get("content-length", 0)))
        body = b""
        while size := int(await reader.readline(), 16):
            body += (await reader.readexactly(size + 2))[:-2]
        await reader.readline()
        return body


def let_handlers_wait(app: App) -> None:
    """Let each handler wait for the event loop before it begins."""

    def waiting(handler: Any) -> Any:
        @wraps(handler)
        async def wait_and_handle(**given: Any) -> Any:
            await asyncio.sleep(0)
            return await handler(**given)

        return wait_and_handle

    specs = app.registry.get_all()
    app.replace_tools([replace(one, handler=waiting(one.handler)) if one.signature.is_async else one for one in specs])


@pytest.mark.parametrize("waits", [False, True])
async def test_generated_requests_get_the_same_answers_with_and_without_asgi(
    waits: bool, monkeypatch: pytest.MonkeyPatch
):
    direct, rng = count_direct(monkeypatch), Random(17 if waits else 16)
    tokens = StaticTokens({name: user(name, ("*",)) for name in ("ann", "bob")})
    async with AsyncExitStack() as stack:
        sides: list[WireSide] = []
        for way in WAYS:
            app = messages.built()
            if waits:
                let_handlers_wait(app)
            app.settings = app.settings.model_copy(update={"fast_path": way})
            app.verifier = tokens
            _, port = await stack.enter_async_context(serving(app))
            sides.append(WireSide(port, stack))
            await sides[-1].open()
        for number in range(REQUESTS):
            asked = ask(rng)
            if asked.method not in ("POST", "DELETE"):
                continue
            fast, asgi = [await side.answer(asked) for side in sides]
            assert fast == asgi, f"request {number}: {asked}"
            if asked.method == "DELETE" and fast.status == 200:
                for side in sides:
                    await side.open()
    assert len(direct) > REQUESTS / 3
    assert {200, 202, 401, 400} <= set(direct)


def with_meta(whole: bytes, meta: dict[str, Any]) -> bytes:
    """A call with further members in its `_meta`."""
    head, _, body = whole.partition(b"\r\n\r\n")
    message = json.loads(body)
    message["params"]["_meta"] |= meta
    body = json.dumps(message).encode()
    return re.sub(rb"(?<=Content-Length: )\d+", b"%d" % len(body), head) + b"\r\n\r\n" + body


def chunked(whole: bytes) -> bytes:
    head, _, body = whole.partition(b"\r\n\r\n")
    start = head.partition(b"\r\nContent-Length")[0]
    parts = b"".join(b"%x\r\n%s\r\n" % (len(body[at : at + 50]), body[at : at + 50]) for at in range(0, len(body), 50))
    return start + b"\r\nTransfer-Encoding: chunked\r\n\r\n" + parts + b"0\r\n\r\n"


ODD_REQUESTS = {
    "chunked": chunked,
    "expect": lambda whole: whole.replace(b"Host", b"Expect: 100-continue\r\nHost"),
    "close": lambda whole: whole.replace(b"Host", b"Connection: close\r\nHost"),
    "keep-alive": lambda whole: whole.replace(b"Host", b"Connection: keep-alive\r\nHost"),
    "HTTP/1.0": lambda whole: whole.replace(b"HTTP/1.1", b"HTTP/1.0"),
    "upgrade": lambda whole: whole.replace(b"Host", b"Connection: upgrade\r\nUpgrade: h2c\r\nHost"),
    "query": lambda whole: whole.replace(b"/mcp", b"/mcp?a=1"),
    "escaped": lambda whole: whole.replace(b"/mcp", b"/%6dcp"),
    "absolute": lambda whole: whole.replace(b"POST /mcp", b"POST http://127.0.0.1/mcp"),
    "name in capitals": lambda whole: whole.replace(b"Content-Length", b"CONTENT-LENGTH"),
    "folded": lambda whole: whole.replace(b"Accept: application/json, ", b"Accept: application/json,\r\n "),
    "length twice": lambda whole: whole.replace(b"Host", b"Content-Length: 5\r\nHost"),
    "length and chunks": lambda whole: whole.replace(b"Host", b"Transfer-Encoding: chunked\r\nHost"),
    "length of letters": lambda whole: whole.replace(b"Content-Length: ", b"Content-Length: x"),
    "bare newlines": lambda whole: whole.replace(b"\r\n", b"\n"),
    "a line before": lambda whole: b"\r\n" + whole,
    "HEAD": lambda _: b"HEAD /health HTTP/1.1\r\nHost: 127.0.0.1\r\n\r\n",
    "GET": lambda _: b"GET /mcp HTTP/1.1\r\nHost: 127.0.0.1\r\n\r\n",
    "another host": lambda whole: whole.replace(b"Host: 127.0.0.1", b"Host: evil.example"),
    "another origin": lambda whole: whole.replace(b"Host", b"Origin: http://evil.example\r\nHost"),
    "an allowed origin": lambda whole: whole.replace(b"Host", b"Origin: https://app.example\r\nHost"),
    "not HTTP": lambda _: b"\x16\x03\x01 hello\r\n\r\n",
}


async def everything_said(way: str, sent: bytes) -> str:
    """What a client gets that sends a request and then another one, without the times that differ."""
    server = serving(make_app(fast_path=way, allow_origins=("https://app.example",)))
    async with server as (site, port), connection(port) as (reader, writer):
        writer.write(sent)
        said = await reader.readuntil(b"\r\n\r\n")
        if said.startswith(b"HTTP/1.1 100"):
            said += await reader.readuntil(b"\r\n\r\n")
        await until(lambda: site.calls.running == 0)
        writer.write(call_bytes("repeat", 2, "Connection: close", text="x", times=3))
        said += await reader.read()
    return re.sub("mcp-session-id: [0-9a-f]+", "", messages.VOLATILE.sub("*", said.decode("latin-1")))


@pytest.mark.parametrize("name", ODD_REQUESTS)
async def test_odd_requests_get_the_same_answers_with_and_without_asgi(name: str):
    sent = ODD_REQUESTS[name](call_bytes("add", 1, a=1, b=2))
    fast, asgi = [await everything_said(way, sent) for way in WAYS]
    assert fast == asgi


# ---- how requests arrive ---------------------------------------------------------------------------------


@pytest.mark.parametrize("way", WAYS)
async def test_requests_in_one_segment_are_answered_in_order(way: str, monkeypatch: pytest.MonkeyPatch):
    direct = count_direct(monkeypatch)
    names = ["add", "slow_add", "add", "add", "slow_add", "add"]
    pages = b"GET /health HTTP/1.1\r\nHost: 127.0.0.1\r\n\r\n"
    async with serving(make_app(fast_path=way)) as (_, port), connection(port) as (reader, writer):
        for _ in range(2):
            writer.write(b"".join(call_bytes(name, n, a=n, b=1) + pages for n, name in enumerate(names)))
            for number in range(len(names)):
                _, _, body = await response(reader)
                assert (json.loads(body)["id"], data_of(body)) == (number, number + 1)
                assert (await response(reader))[0] == 200
    assert len(direct) >= (1 if way == "on" else 0)


async def test_a_request_may_be_cut_anywhere(monkeypatch: pytest.MonkeyPatch):
    direct, whole = count_direct(monkeypatch), call_bytes("add", a=1, b=2)
    async with serving(make_app()) as (site, port), connection(port) as (reader, writer):
        writer.get_extra_info("socket").setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
        writer.write(whole)
        assert data_of((await response(reader))[2]) == 3
        (server,) = site.connections._open
        for at in range(1, len(whole)):
            writer.write(whole[:at])
            await until(lambda: server.phase > 1)
            writer.write(whole[at:])
            assert data_of((await response(reader))[2]) == 3, at
    body_length = len(whole.partition(b"\r\n\r\n")[2])
    assert len(direct) == 1 + body_length  # those that were cut in their body, or after their head


async def test_a_long_body_that_comes_in_parts_goes_through_asgi(monkeypatch: pytest.MonkeyPatch):
    direct, whole = count_direct(monkeypatch), call_bytes("repeat", text="x" * 100_000, times=1)
    async with serving(make_app()) as (_, port), connection(port) as (reader, writer):
        for at in range(0, len(whole), 5000):
            writer.write(whole[at : at + 5000])
            await asyncio.sleep(0)
        assert data_of((await response(reader))[2]) == "x" * 100_000
    assert direct == []


@pytest.mark.parametrize("way", WAYS)
async def test_behind_a_trusted_proxy_the_caller_is_the_client_it_names(way: str, monkeypatch: pytest.MonkeyPatch):
    direct = count_direct(monkeypatch)
    callers: dict[tuple[str, ...], list[str]] = {}
    for proxies in (("127.0.0.1",), ("10.0.0.0/8",)):
        app, callers[proxies] = make_app(fast_path=way, trusted_proxies=proxies), []

        async def who(context: ToolContext) -> str:
            """Who calls?"""
            return context.caller_key

        app.tool(response_time="fast")(who)
        async with serving(app) as (_, port), connection(port) as (reader, writer):
            for client in ("192.0.2.1", "192.0.2.2", "192.0.2.1"):
                writer.write(call_bytes("who", 1, f"X-Forwarded-For: 203.0.113.9, {client}"))
                callers[proxies].append(data_of((await response(reader))[2]))
    assert callers == {
        ("127.0.0.1",): ["anonymous:192.0.2.1", "anonymous:192.0.2.2", "anonymous:192.0.2.1"],
        ("10.0.0.0/8",): ["anonymous:127.0.0.1"] * 3,
    }
    assert len(direct) == (6 if way == "on" else 0)


# ---- tokens ----------------------------------------------------------------------------------------------


class OneToken:
    """A token that can be revoked."""

    valid = True

    async def verify(self, token: str) -> Any:
        return user("ann", ("*",)) if self.valid and token == "good" else None


async def test_a_token_is_verified_for_each_request_also_where_its_head_was_seen_before(
    monkeypatch: pytest.MonkeyPatch,
):
    direct, tokens = count_direct(monkeypatch), OneToken()
    app = make_app()
    app.verifier = tokens
    good, bad = (call_bytes("add", 1, f"Authorization: Bearer {word}", a=1, b=2) for word in ("good", "evil"))
    async with serving(app) as (_, port), connection(port) as (reader, writer):
        statuses = []
        for sent, valid in ((good, True), (good, True), (bad, True), (good, True), (good, False), (good, True)):
            tokens.valid = valid
            writer.write(sent)
            statuses.append((await response(reader))[0])
    assert statuses == direct == [200, 200, 401, 200, 401, 200]


async def test_a_connection_keeps_no_credentials():
    app = make_app()
    app.request_headers = frozenset({"x-acme-key"})
    async with serving(app) as (site, port), connection(port) as (reader, writer):
        for more in ("Authorization: Bearer secret-1", "X-Acme-Key: secret-2", "Cookie: session=secret-3"):
            writer.write(call_bytes("add", 1, more, a=1, b=2))
            assert (await response(reader))[0] == 200
            (server,) = site.connections._open
            assert server._last_head is None
            assert "secret" not in repr(server._last_peer.peer)


@pytest.mark.parametrize("way", WAYS)
async def test_what_a_client_says_of_itself_is_read_again_where_it_differs(way: str, monkeypatch: pytest.MonkeyPatch):
    direct, app = count_direct(monkeypatch), make_app(fast_path=way)

    @app.tool(response_time="fast")
    async def agent(context: ToolContext) -> str:
        """Name the agent."""
        return context.agent_id

    sent = [with_meta(call_bytes("agent"), {CLIENT_KEY: {"name": n, "version": "1"}}) for n in ("ann", "bob", 12345)]
    assert len({whole.partition(b"\r\n\r\n")[0] for whole in sent}) == 1
    async with serving(app) as (_, port), connection(port) as (reader, writer):
        seen = []
        for which in (0, 0, 1, 0, 2, 0):
            writer.write(sent[which])
            status, _, body = await response(reader)
            seen.append(data_of(body) if status == 200 else status)
    assert seen == ["ann", "ann", "bob", "ann", 400, "ann"]
    assert len(direct) == (6 if way == "on" else 0)


async def test_only_what_clients_repeat_is_kept(monkeypatch: pytest.MonkeyPatch):
    kept: list[Any] = []
    keep = LastPeer.keep
    monkeypatch.setattr(LastPeer, "keep", lambda self, *given: kept.append(given[1]) or keep(self, *given))
    plain = {CAPABILITIES_KEY: {"elicitation": {}}}
    others = [{"acme/key": "secret"}, {"progressToken": "p"}, {CAPABILITIES_KEY: {"experimental": {"x": {"y": 1}}}}]
    large = {CAPABILITIES_KEY: {"experimental": {"x": {"y": "z" * 5000}}}}
    async with serving(make_app()) as (_, port), connection(port) as (reader, writer):
        for more in (*others, large, {}):
            writer.write(with_meta(call_bytes("add", a=1, b=2), plain | more))
            assert data_of((await response(reader))[2]) == 3
    assert kept == [{VERSION_KEY: MODERN, **plain}]


async def test_only_the_head_of_a_post_is_parsed_by_us(monkeypatch: pytest.MonkeyPatch):
    direct, read, parsed = count_direct(monkeypatch), DirectHeads.read, []
    monkeypatch.setattr(DirectHeads, "read", lambda *args: parsed.append(1) or read(*args))
    async with serving(make_app()) as (_, port), connection(port) as (reader, writer):
        for _ in range(3):
            writer.write(call_bytes("add", 1, "Expect: nothing", a=1, b=2))
            assert data_of((await response(reader))[2]) == 3
            writer.write(b"GET /health HTTP/1.1\r\nHost: 127.0.0.1\r\n\r\n")
            assert (await response(reader))[0] == 200
    assert (direct, parsed) == ([], [1, 1, 1])


async def test_a_connection_keeps_at_most_its_last_head(monkeypatch: pytest.MonkeyPatch):
    direct = count_direct(monkeypatch)
    async with serving(make_app()) as (site, port), connection(port) as (reader, writer):
        for number in range(10):
            for more in (f"X-Number: {number}", f"Traceparent: {number}"):
                writer.write(call_bytes("add", 1, more, a=1, b=2))
                assert (await response(reader))[0] == 200
        (server,) = site.connections._open
        assert b"X-Number: 9" in server._last_head.before + server._last_head.after
    assert direct == [200] * 20


async def test_the_trace_of_each_request_is_its_own(monkeypatch: pytest.MonkeyPatch, tmp_path: Path):
    path = tmp_path / "audit.jsonl"
    ids = ["c1", "c2", None, "c1"]
    async with serving(make_app(audit=str(path))) as (_, port), connection(port) as (reader, writer):
        for one in ids:
            writer.write(call_bytes("add", 1, *([] if one is None else [f"X-Correlation-Id: {one}"]), a=1, b=2))
            assert (await response(reader))[0] == 200
    recorded = [one["correlationId"] for one in audited(path)]
    assert (recorded[:2], recorded[3]) == (["c1", "c2"], "c1")
    assert recorded[2] not in ids


# ---- how connections end ---------------------------------------------------------------------------------


async def test_a_client_that_has_ended_its_side_gets_the_answer_to_a_direct_call():
    gate = Gate()
    async with serving(make_app(gate)) as (site, port), connection(port) as (reader, writer):
        writer.write(call_bytes("wait"))
        await gate.entered.wait()
        writer.write_eof()
        (server,) = site.connections._open
        await until(lambda: server._client_ended)
        gate.opened.set()
        said = await reader.read()
    assert said.startswith(b"HTTP/1.1 200")
    assert b"connection: close" in said
    assert said.endswith(b"}")


async def test_a_call_that_is_not_direct_is_not_begun_for_a_client_that_has_left(monkeypatch: pytest.MonkeyPatch):
    entered, go = asyncio.Event(), asyncio.Event()

    async def late(*_: Any, **__: Any) -> Any:
        entered.set()
        await go.wait()
        raise NotHandled("for ASGI")

    monkeypatch.setattr(HttpFastPath, "respond", late)
    async with serving(make_app()) as (site, port), connection(port) as (reader, writer):
        writer.write(call_bytes("slow_add", a=1, b=2))
        await entered.wait()
        writer.write_eof()
        (server,) = site.connections._open
        await until(lambda: server._client_ended)
        go.set()
        assert await reader.read() == b""
        assert site.apps[0].telemetry.tallies == {}


async def test_a_request_that_was_refused_is_not_carried_out_when_its_rest_arrives():
    whole = call_bytes("add", a=1, b=2)
    async with serving(make_app(body_seconds=0.1)) as (site, port), connection(port) as (reader, writer):
        writer.write(whole[:-5])
        assert (await response(reader))[0] == 408
        writer.write(whole[-5:] + whole)
        assert await reader.read() == b""
        await until(lambda: site.counts.connections == 0)
        assert site.apps[0].telemetry.tallies == {}


async def test_a_direct_call_ends_although_its_client_has_left():
    gate = Gate()
    async with serving(make_app(gate)) as (site, port):
        async with connection(port) as (_, writer):
            writer.write(call_bytes("wait"))
            await gate.entered.wait()
        (server,) = site.connections._open
        await until(lambda: server._client_ended)
        assert site.calls.running == 1
        gate.opened.set()
        await until(lambda: site.calls.running == 0)
        (tally,) = site.apps[0].telemetry.tallies.values()
    assert tally.outcomes == {"ok": 1}


@pytest.mark.parametrize("tool", ["wait", "slow_wait"])
@pytest.mark.parametrize("how", ["shutdown", "draining"])
async def test_a_server_that_stops_answers_a_direct_call_and_closes_the_connection(how: str, tool: str):
    gate = Gate()
    async with serving(make_app(gate)) as (site, port), connection(port) as (reader, writer):
        writer.write(call_bytes(tool))
        await gate.entered.wait()
        (server,) = site.connections._open
        assert len(server.tasks) == 1
        if how == "shutdown":
            server.shutdown()
        else:
            site.calls.draining = True
        gate.opened.set()
        status, headers, _ = await response(reader)
        assert (status, headers["connection"], await reader.read()) == (200, "close", b"")
        assert len(server.tasks) == 0


@pytest.mark.parametrize("tool", ["wait", "slow_wait"])
async def test_a_direct_call_that_is_cancelled_is_answered(tool: str):
    gate = Gate()
    async with serving(make_app(gate)) as (site, port), connection(port) as (reader, writer):
        writer.write(call_bytes(tool))
        await gate.entered.wait()
        (server,) = site.connections._open
        (task,) = server.tasks
        task.cancel()
        status, headers, body = await response(reader)
        assert (status, headers["connection"]) == (503, "close")
        assert json.loads(body)["error"]["data"] == {"reason": "draining", "retryable": True}
        assert await reader.read() == b""


async def test_a_failure_of_the_fast_path_is_answered_and_logged(monkeypatch: pytest.MonkeyPatch, log: Log):
    async def fail(*_: Any, **__: Any) -> Any:
        raise RuntimeError("broken")

    async with serving(make_app()) as (_, port), connection(port) as (reader, writer):
        with monkeypatch.context() as broken:
            broken.setattr(HttpFastPath, "respond", fail)
            writer.write(call_bytes("add", a=1, b=2))
            status, _, body = await response(reader)
        assert (status, json.loads(body)["error"]["code"]) == (500, -32603)
        assert "broken" not in body.decode()
        writer.write(call_bytes("add", a=1, b=2))
        assert (await response(reader))[0] == 200
    assert "broken" in "\n".join(log.texts)


async def test_what_the_fast_path_does_not_handle_goes_on_with_what_followed_it(monkeypatch: pytest.MonkeyPatch):
    async def leave(*_: Any, **__: Any) -> Any:
        await asyncio.sleep(0)
        raise NotHandled("nothing")

    monkeypatch.setattr(HttpFastPath, "respond", leave)
    async with serving(make_app()) as (_, port), connection(port) as (reader, writer):
        writer.write(b"".join(call_bytes("add", n, a=n, b=1) for n in range(5)))
        assert [data_of((await response(reader))[2]) for _ in range(5)] == [1, 2, 3, 4, 5]


# ---- slow readers ----------------------------------------------------------------------------------------


@pytest.mark.requirement("OPS-8")
async def test_a_client_that_does_not_read_is_not_answered_further_and_then_closed():
    """What it has sent waits in the kernel, not in the server."""
    request = call_bytes("repeat", text="x" * 1000, times=1000)
    async with serving(make_app(send_seconds=0.5)) as (site, port), connection(port) as (_, writer):
        writer.transport.pause_reading()
        for _ in range(100):
            writer.write(request)
        (server,) = await first_connection(site)
        assert isinstance(server, HttpProtocol)
        await until(lambda: server.flow.write_paused)
        assert server.transport.get_write_buffer_size() < 3_000_000
        assert len(server._held) < 300_000
        await until(lambda: site.counts.refusals["send_timeout"] == 1)
        await until(lambda: site.counts.connections == 0 and site.calls.running == 0)


async def first_connection(site: Any) -> Any:
    await until(lambda: bool(site.connections._open))
    return site.connections._open


@pytest.mark.parametrize("parser", ["httptools", "h11"])
@pytest.mark.parametrize(
    ("old", "new", "status"),
    [
        (b"Host: 127.0.0.1\r\n", b"Host: 127.0.0.1\r\nHost: 127.0.0.1\r\n", 400),
        (b" HTTP/1.1\r\n", b" HTTP/2.0\r\n", 505),
    ],
    ids=["two hosts", "another version"],
)
async def test_a_head_that_two_servers_could_read_in_two_ways_is_refused(parser: Parser, old, new, status: int):
    async with serving(make_app(), parser) as (_, port), connection(port) as (reader, writer):
        writer.write(call_bytes("add", a=1, b=2).replace(old, new))
        assert (await response(reader))[0] in (status, 400)


async def test_a_body_in_utf_16_is_refused():
    head, _, body = call_bytes("add", a=1, b=2).partition(b"\r\n\r\n")
    other = body.decode().encode("utf-16")
    head = head.replace(b"Content-Length: %d" % len(body), b"Content-Length: %d" % len(other))
    async with serving(make_app()) as (_, port), connection(port) as (reader, writer):
        writer.write(head + b"\r\n\r\n" + other)
        status, _, text = await response(reader)
    assert (status, b"Send it in UTF-8." in text) == (400, True)
