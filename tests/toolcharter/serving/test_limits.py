"""What one client may take of the server before its token is checked: real sockets, and both parsers of uvicorn."""

import asyncio
import json
from contextlib import AsyncExitStack
from typing import Any

import pytest

from mcp_core import App, Settings
from mcp_core.auth import StaticTokens
from tests.toolcharter.serving.raw_http import Parser, call_bytes, connection, response, serving, until
from toolcharter.serving import connections
from toolcharter.serving.connections import ConnectionPhase

pytestmark = [
    pytest.mark.requirement("OPS-8"),
    pytest.mark.parametrize("parser", ["httptools", "h11"]),
]
HEAD = b"POST /mcp HTTP/1.1\r\nHost: 127.0.0.1\r\n"


def app_with(**limits: Any) -> App:
    """An app that nobody here has a token for."""
    app = App("limited", version="1", settings=Settings(**limits), verifier=StaticTokens({}))

    async def add(a: int, b: int) -> int:
        """Add."""
        return a + b

    async def wait() -> None:
        """Wait."""
        await asyncio.Event().wait()

    app.tool(add)
    app.tool(wait)
    return app


async def error_of(reader: asyncio.StreamReader) -> tuple[int, str, bytes]:
    """The status and the reason of a refusal, and what comes after it: nothing, because the connection ends."""
    status, headers, body = await response(reader)
    assert headers["connection"] == "close"
    return status, json.loads(body)["error"]["data"]["reason"], await reader.read()


@pytest.mark.parametrize(
    "sent",
    [
        HEAD + b"X-Long: " + b"x" * 5000,
        HEAD + b"X-Long: " + b"x" * 5000 + b"\r\n\r\n",
        b"POST /mcp?" + b"x" * 5000,
        HEAD + b"".join(b"X-%d: x\r\n" % n for n in range(900)),
    ],
    ids=["one without end", "one", "the address", "many without end"],
)
async def test_a_head_that_is_too_large_is_refused(parser: Parser, sent: bytes):
    limits = app_with(max_head_bytes=4096, max_headers=1000)
    async with serving(limits, parser) as (site, port), connection(port) as (reader, writer):
        for at in range(0, len(sent), 1000):
            writer.write(sent[at : at + 1000])
            await asyncio.sleep(0)
        assert await error_of(reader) == (431, "head_too_large", b"")
    assert site.counts.refusals["head_too_large"] == 1


async def test_a_head_with_too_many_headers_is_refused(parser: Parser):
    async with serving(app_with(max_headers=20), parser) as (site, port), connection(port) as (reader, writer):
        writer.write(HEAD + b"".join(b"X-%d: x\r\n" % n for n in range(30)) + b"\r\n")
        assert await error_of(reader) == (431, "too_many_headers", b"")
    assert site.counts.refusals["too_many_headers"] == 1


async def test_a_trailer_without_end_is_refused(parser: Parser):
    sent = b"Transfer-Encoding: chunked\r\nAuthorization: Bearer x\r\n\r\n0\r\nX-Long: " + b"x" * 500_000
    async with serving(app_with(max_head_bytes=4096), parser) as (_, port), connection(port) as (reader, writer):
        writer.write(HEAD + sent)
        assert b"HTTP/1.1 " in await reader.read()


async def test_a_head_that_is_not_complete_in_time_is_refused(parser: Parser):
    server = serving(app_with(head_seconds=0.5), parser)
    async with server as (site, port), connection(port) as (reader, writer), connection(port) as (silent, _):
        writer.write(HEAD)
        assert await error_of(reader) == (408, "head_timeout", b"")
        assert await silent.read() == b""
    assert site.counts.refusals["head_timeout"] == 2


async def test_a_body_that_is_not_complete_in_time_is_refused(parser: Parser):
    whole = call_bytes("add", a=1, b=2)
    async with serving(app_with(body_seconds=0.1, head_seconds=60), parser) as (site, port):
        site._fronts["/mcp"][1]._app.verifier = None  # so that the server waits for the body
        async with connection(port) as (reader, writer):
            writer.write(whole[:-5])
            assert await error_of(reader) == (408, "body_timeout", b"")
        async with connection(port) as (reader, writer):
            writer.write(whole.replace(b"Content-Length", b"X-Other: 1\r\nExpect: nothing\r\nContent-Length")[:-5])
            assert await error_of(reader) == (408, "body_timeout", b"")
        assert site.calls.running == 0
    assert site.counts.refusals["body_timeout"] == 2


async def test_an_idle_connection_is_closed(parser: Parser):
    async with serving(app_with(idle_seconds=0.5), parser) as (site, port), connection(port) as (reader, writer):
        writer.write(call_bytes("add", a=1, b=2))
        assert (await response(reader))[0] == 401
        assert await reader.read() == b""
    assert sum(site.counts.refusals.values()) == 0


async def test_a_connection_too_many_takes_the_place_of_one_that_is_idle(parser: Parser):
    server = serving(app_with(max_connections=2), parser)
    async with server as (site, port), connection(port) as (first, _), connection(port) as (_, half):
        half.write(HEAD)
        async with connection(port) as (third, writer):
            assert await first.read() == b""
            writer.write(call_bytes("add", a=1, b=2))
            assert (await response(third))[0] == 401
            assert site.counts.connections == 2
    assert site.counts.refusals["too_many_connections"] == 1


async def test_a_request_that_takes_long_to_arrive_is_replaced_before_an_older_idle_connection(
    parser: Parser, monkeypatch: pytest.MonkeyPatch
):
    monkeypatch.setattr(connections, "_SLOW_SECONDS", 0.0)
    server = serving(app_with(max_connections=2), parser)
    async with server as (site, port), connection(port) as (idle, _):
        await until(lambda: len(site.connections._open) == 1)
        async with connection(port) as (slow, half):
            half.write(HEAD)
            await until(lambda: ConnectionPhase.HEAD in [c.phase for c in site.connections._open])
            async with connection(port):
                assert await slow.read() == b""
                assert not idle.at_eof()


async def test_a_connection_too_many_is_refused_if_all_run_calls(parser: Parser):
    async with serving(app_with(max_connections=1), parser) as (site, port), connection(port) as (_, writer):
        site._fronts["/mcp"][1]._app.verifier = None
        writer.write(call_bytes("wait"))
        await until(lambda: [c.phase for c in site.connections._open] == [ConnectionPhase.CALL])
        async with connection(port) as (other, _):
            status, headers, body = await response(other)
            assert (status, headers["retry-after"], await other.read()) == (503, "1", b"")
            assert json.loads(body)["error"]["data"] == {"reason": "too_many_connections", "retryable": True}
    assert site.counts.refusals["too_many_connections"] == 1


async def test_slow_bodies_lock_nobody_out(parser: Parser, monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setattr(connections, "_SLOW_SECONDS", 0.0)
    async with serving(app_with(max_connections=100), parser) as (site, port), AsyncExitStack() as stack:
        site._fronts["/mcp"][1]._app.verifier = None  # so that the server waits for the bodies
        begun = call_bytes("add", a=1, b=2).partition(b"\r\n\r\n")[0] + b"\r\n\r\n{"
        for _ in range(100):
            _, writer = await stack.enter_async_context(connection(port))
            writer.write(begun)
        await until(lambda: [c.phase for c in site.connections._open] == [ConnectionPhase.BODY] * 100)
        for _ in range(100):
            async with connection(port) as (reader, writer):
                writer.write(call_bytes("add", a=1, b=2))
                assert (await response(reader))[0] == 200
    assert site.counts.refusals["too_many_connections"] >= 1


async def test_a_token_is_checked_before_the_body_is_complete(parser: Parser):
    async with serving(app_with(body_seconds=600), parser) as (_, port), connection(port) as (reader, writer):
        writer.write(call_bytes("add", 1, "Authorization: Bearer stolen", a=1, b=2)[:-5])
        assert (await response(reader))[0] == 401
        assert await reader.read() == b""


async def test_a_body_that_comes_too_slowly_is_refused(parser: Parser, monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setattr(connections, "_RATE_SECONDS", 0.1)
    async with serving(app_with(body_seconds=600, head_seconds=1), parser) as (site, port):
        site._fronts["/mcp"][1]._app.verifier = None
        async with connection(port) as (reader, writer):
            writer.write(call_bytes("add", a=1, b=2)[:-5])
            assert await error_of(reader) == (408, "body_too_slow", b"")
    assert site.counts.refusals["body_too_slow"] == 1


async def test_a_body_that_comes_fast_enough_is_not_slow(parser: Parser):
    async with serving(app_with(), parser) as (site, port), connection(port):
        await until(lambda: len(site.connections._open) == 1)
        (one,) = site.connections._open
        one.body_bytes = 5000
        assert [one._sends_slowly(seconds) for seconds in (4.9, 9.9, 10.1)] == [False, False, True]


async def test_one_address_cannot_have_all_connections(parser: Parser):
    async with serving(app_with(max_address_connections=2), parser) as (site, port):
        site._fronts["/mcp"][1]._app.verifier = None
        async with connection(port) as (_, one), connection(port) as (_, two):
            for writer in (one, two):
                writer.write(call_bytes("wait"))
            await until(lambda: [c.phase for c in site.connections._open] == [ConnectionPhase.CALL] * 2)
            async with connection(port) as (reader, _):
                assert (await response(reader))[0] == 503
    proxied = app_with(max_address_connections=1, trusted_proxies=["127.0.0.0/8"])
    server = serving(proxied, parser)
    async with server as (site, port), connection(port) as (first, one), connection(port) as (second, two):
        for reader, writer in ((first, one), (second, two)):
            writer.write(call_bytes("add", a=1, b=2))
            assert (await response(reader))[0] == 401


async def test_an_answer_that_comes_before_the_body_leaves_the_connection_open(parser: Parser):
    head = b"POST /nothing HTTP/1.1\r\nHost: 127.0.0.1\r\nContent-Length: 4\r\n\r\n"
    async with serving(app_with(), parser) as (_, port), connection(port) as (reader, writer):
        for _ in range(3):
            writer.write(head)
            assert (await response(reader))[0] == 404
            writer.write(b"null")
