"""Calls as real clients send them: they are answered directly, and as through ASGI.

Their bytes were recorded by tests/clients/record_requests.py, except those of services in front of a server
(`aws-load-balancer`, `envoy`), which were put together from the documentation of the headers that they add.
"""

import json
import re
from collections import Counter
from pathlib import Path
from typing import Any

import pytest

from mcp_core import App
from mcp_core.auth import StaticTokens, user
from mcp_core.logs.telemetry import prometheus
from tests.mcp_core.hosts.fast_path import messages
from tests.toolcharter.serving.raw_http import connection, serving, until
from tests.toolcharter.serving.test_http_protocol import WAYS, make_app

FOLDER = Path(__file__).parents[2] / "data" / "http_requests"
RECORDED = {path.stem: path.read_bytes() for path in sorted(FOLDER.glob("*.http"))}
CLIENTS = pytest.mark.parametrize("client", RECORDED)
METRIC = re.compile(r'toolcharter_http_requests_total\{server="direct",path="(\w+)"\} (\d+)')

HANDSHAKE = b'{"jsonrpc":"2.0","id":0,"method":"initialize","params":{"protocolVersion":"2025-11-25","capabilities":{},"clientInfo":{"name":"c","version":"1"}}}'  # noqa: E501

CHANGES = {
    "as it is": lambda head: head,
    "small letters": lambda head: b"%s\r\n%s" % (head.partition(b"\r\n")[0], head.partition(b"\r\n")[2].lower()),
    "other order": lambda head: b"\r\n".join([head.split(b"\r\n")[0], *reversed(head.split(b"\r\n")[1:])]),
    "close": lambda head: re.sub(rb"(?i)\r\nconnection: *[a-z-]+", b"", head) + b"\r\nConnection: close",
    "Keep-Alive": lambda head: re.sub(rb"(?i)\r\nconnection: *[a-z-]+", b"", head) + b"\r\nConnection: Keep-Alive",
    "trace": lambda head: (
        re.sub(rb"\r\ntraceparent.*", b"", head)
        + b"\r\ntraceparent: 00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01"
    ),
    "token": lambda head: head + b"\r\nAuthorization: Bearer ann",
    "cookies": lambda head: head + b"\r\nCookie: AWSALB=0123456789abcdef; AWSALBCORS=0123456789abcdef",
}
"""What clients and proxies do to a head."""


def app_for(change: str, way: str) -> App:
    app = make_app(fast_path=way)
    if change == "token":
        app.verifier = StaticTokens({"ann": user("ann", ["*"])})
    return app


def paths(app: App) -> Counter[str]:
    """How many requests were answered on which path, as /metrics shows it."""
    return Counter({path: int(number) for path, number in METRIC.findall(prometheus([app.telemetry]))})


async def prepared(recorded: bytes, port: int, change: str) -> tuple[bytes, bytes]:
    """The head and the body of a recorded request, with a session of this server."""
    head, _, body = recorded.partition(b"\r\n\r\n")
    head = CHANGES[change](head)
    if b"SESSION" in head.upper():
        usual = b"Content-Type: application/json\r\nAccept: application/json, text/event-stream"
        token = b"\r\nAuthorization: Bearer ann" if change == "token" else b""
        start = b"POST /mcp HTTP/1.1\r\nHost: 127.0.0.1\r\n%s%s\r\nContent-Length: %d" % (usual, token, len(HANDSHAKE))
        async with connection(port) as (reader, writer):
            writer.write(start + b"\r\n\r\n" + HANDSHAKE)
            session = (await response_with_session(reader)).encode()
        head = re.sub(rb"(?i)(mcp-session-id: )session", rb"\g<1>" + session, head)
    return head + b"\r\n\r\n", body


async def response_with_session(reader: Any) -> str:
    return re.findall(r"(?i)mcp-session-id: (\S+)", (await reader.readuntil(b"\r\n\r\n")).decode())[0]


async def answered(client: str, change: str, way: str) -> tuple[str, Counter[str]]:
    """What a client gets for its call, sent twice, first whole and then in two parts; and the paths that answered."""
    async with serving(app_for(change, way)) as (site, port):
        head, body = await prepared(RECORDED[client], port, change)
        before, said = paths(site.apps[0]), b""
        async with connection(port) as (reader, writer):
            writer.write(head + body)
            said += await one_response(reader)
            if b"connection: close" in said:
                assert await reader.read() == b""
            else:
                writer.write(head)
                (server,) = [one for one in site.connections._open if one.client == writer.get_extra_info("sockname")]
                await until(lambda: server.phase == 3)
                writer.write(body)
                said += await one_response(reader)
        counted = paths(site.apps[0]) - before
    return messages.VOLATILE.sub("*", said.decode("latin-1")), counted


async def one_response(reader: Any) -> bytes:
    head = await reader.readuntil(b"\r\n\r\n")
    return head + await reader.readexactly(int(re.findall(rb"content-length: (\d+)", head)[0]))


@pytest.mark.requirement("AUT-4")
@CLIENTS
@pytest.mark.parametrize("change", CHANGES)
async def test_a_recorded_call_is_answered_directly_and_as_through_asgi(client: str, change: str):
    (direct, direct_paths), (asgi, asgi_paths) = [await answered(client, change, way) for way in WAYS]
    assert direct == asgi
    assert '"isError":false' in direct or '"isError"' not in direct
    calls = 1 if "connection: close" in direct else 2
    assert (direct_paths, asgi_paths) == ({"direct": calls}, {"asgi": calls})


SMUGGLED = {
    "two lengths": b"Content-Length: 0",
    "two equal lengths": b"Content-Length: 1",
    "chunks": b"Transfer-Encoding: chunked",
    "chunks by another name": b"Transfer-Encoding: identity, chunked",
    "two connections": b"Connection: keep-alive\r\nConnection: close",
    "a list of options": b"Connection: keep-alive, X-Hop",
    "an upgrade": b"Connection: Upgrade\r\nUpgrade: h2c",
    "an expectation": b"Expect: 100-continue",
    "a length with a sign": b"X-A: 1\r\nContent-Length : +5",
    "a line without a name": b": value",
    "a folded line": b"X-A: 1\r\n Content-Length: 5",
    "a NUL": b"X-A: \x00",
    "a lone line feed": b"X-A: 1\nContent-Length: 5",
    "a lone carriage return": b"X-A: 1\rContent-Length: 5",
}
"""Further header lines after which a proxy and a server may disagree about where a request ends."""


@pytest.mark.parametrize("name", SMUGGLED)
async def test_a_head_that_may_smuggle_a_request_is_left_to_the_parser(name: str):
    head, _, body = RECORDED["python-sdk-modern"].partition(b"\r\n\r\n")
    second = b"POST /mcp HTTP/1.1\r\nHost: 127.0.0.1\r\nContent-Length: 0\r\n\r\n"
    said = []
    for way in WAYS:
        async with serving(make_app(fast_path=way)) as (site, port), connection(port) as (reader, writer):
            writer.write(head + b"\r\n" + SMUGGLED[name] + b"\r\n\r\n" + body + second)
            writer.write_eof()
            said.append(
                re.sub(
                    "mcp-session-id: [0-9a-f]+", "", messages.VOLATILE.sub("*", (await reader.read()).decode("latin-1"))
                )
            )
            await until(lambda site=site: site.calls.running == 0)
            assert paths(site.apps[0])["direct"] == 0
    assert said[0] == said[1]


@CLIENTS
def test_a_recording_is_one_call(client: str):
    head, _, body = RECORDED[client].partition(b"\r\n\r\n")
    assert b"content-length: %d" % len(body) in head.lower()
    assert json.loads(body)["params"]["name"] == "add"
