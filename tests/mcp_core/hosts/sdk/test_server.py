"""The native host, where it differs from what the SDK would do by itself, and the site around it."""

import asyncio
import gc
import json
import socket
import subprocess
import sys
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager

import httpx2
import pytest
from mcp import Client
from mcp.client.streamable_http import streamable_http_client
from toolcharter_examples import demo

from mcp_core import App, Settings
from mcp_core.hosts.sdk.server import build_server
from mcp_core.process.start_errors import CannotStart, InvalidSetting
from tests.mcp_core.declared import Life
from toolcharter.serving.http import _refuse_open_server, serve_http
from toolcharter.serving.listener import listen
from toolcharter.serving.server import Site

# In a process of its own: the SDK's providers are global, and cannot be put back.
SPANS = """
import asyncio, json
from mcp import Client
from opentelemetry import trace
from opentelemetry.sdk.trace import TracerProvider
from opentelemetry.sdk.trace.export import SimpleSpanProcessor
from opentelemetry.sdk.trace.export.in_memory_span_exporter import InMemorySpanExporter

exporter = InMemorySpanExporter()
provider = TracerProvider()
provider.add_span_processor(SimpleSpanProcessor(exporter))
trace.set_tracer_provider(provider)

from mcp_core import Settings
from mcp_core.hosts.sdk.server import build_server
from toolcharter_examples import demo


async def main():
    async with Client(build_server(demo.build(Settings())), mode="legacy") as client:
        await client.list_tools()  # the client would do so after its first call
        exporter.clear()
        result = await client.call_tool("add", {"a": 1, "b": 2})
    trace_id = json.loads(result.content[0].text)["metadata"]["traceId"]
    spans = exporter.get_finished_spans()
    shown = [[s.kind.name, s.name, s.attributes.get("toolcharter.outcome"),
              trace.format_trace_id(s.context.trace_id) == trace_id] for s in spans]
    print(json.dumps([shown, [span.parent is None for span in spans]]))

asyncio.run(main())
"""


@pytest.mark.requirement("OBS-2")
def test_a_call_is_one_span_in_the_trace_of_its_client():
    ran = subprocess.run([sys.executable, "-c", SPANS], capture_output=True, text=True, timeout=60, check=True)
    spans, roots = json.loads(ran.stdout)
    assert sorted(spans) == [
        ["CLIENT", "MCP send tools/call add", None, True],
        ["SERVER", "tools/call add", "ok", True],
    ]
    assert sorted(roots) == [False, True]


@pytest.mark.parametrize("host", ["0.0.0.0", "::", "192.0.2.1"])
def test_a_server_that_everyone_could_use_does_not_start(host: str):
    settings = Settings(host=host, port=0)
    with pytest.raises(InvalidSetting, match=rf"^Refusing to listen on {host}: .*\nGive --tokens FILE .* or --grants"):
        serve_http([demo.build(settings)], settings)


def test_a_server_for_everyone_starts_with_grants_or_tokens(tmp_path):
    tokens = tmp_path / "tokens.json"
    tokens.write_text('{"t": {"user": "ann", "grants": []}}')
    for settings in (Settings(host="0.0.0.0", grants=()), Settings(host="0.0.0.0", tokens=tokens)):
        _refuse_open_server([demo.build(settings)], settings)


def test_one_server_without_tokens_is_enough_to_refuse(tmp_path):
    tokens = tmp_path / "tokens.json"
    tokens.write_text('{"t": {"user": "ann", "grants": []}}')
    guarded, open_to_all = Settings(host="0.0.0.0", tokens=tokens), Settings(host="0.0.0.0")
    with pytest.raises(InvalidSetting, match="Refusing to listen"):
        _refuse_open_server([demo.build(guarded), demo.build(open_to_all)], guarded)


def test_a_port_in_use_is_named():
    with socket.create_server(("127.0.0.1", 0)) as taken:
        port = taken.getsockname()[1]
        settings = Settings(port=port)
        with pytest.raises(CannotStart, match=rf"^Port {port} on 127\.0\.0\.1 is in use\. Choose another with --port"):
            serve_http([demo.build(settings)], settings)


def test_answers_are_not_held_back_by_nagle_s_algorithm():
    # asyncio turns it off only for sockets that say they are TCP; otherwise an answer takes 40 ms.
    with listen(Settings(port=0)) as listener:
        assert listener.proto == socket.IPPROTO_TCP


def test_an_address_that_is_not_ours_is_named():
    settings = Settings(host="192.0.2.1", port=0, grants=())
    with pytest.raises(CannotStart, match=r"^Port 0 on 192\.0\.2\.1 cannot be used \("):
        serve_http([demo.build(settings)], settings)


# ---- the site ----------------------------------------------------------------------------------------


def small(name: str, seen: list[str]) -> App:
    async def open_life() -> AsyncIterator[Life]:
        seen.append(f"{name} opened")
        yield Life()
        seen.append(f"{name} closed")

    app = App(name, version="1.0.0", format="result", settings=Settings())
    app.provide(Life, open_life)

    @app.tool()
    async def whoami() -> str:
        """Say which server this is."""
        return name

    return app


@asynccontextmanager
async def visited(served: Site) -> AsyncIterator[httpx2.AsyncClient]:
    transport = httpx2.ASGITransport(app=served)
    http = httpx2.AsyncClient(transport=transport, base_url="http://127.0.0.1:8000")
    async with served.pages.router.lifespan_context(served.pages), http:
        yield http


async def test_several_apps_share_a_port_each_under_its_name():
    seen: list[str] = []
    served = Site([small("one", seen), small("two", seen)], "http://127.0.0.1:8000")
    said = {}
    async with visited(served) as http:
        for name in ("one", "two"):
            url = f"http://127.0.0.1:8000/{name}/mcp"
            async with Client(streamable_http_client(url, http_client=http), mode="2026-07-28") as client:
                said[name] = json.loads((await client.call_tool("whoami", {})).content[0].text)["value"]
        assert (await http.post("/mcp", content=b"{}")).status_code == 404
        assert (await http.get("/health")).json() == {"status": "ok", "servers": {"one": "1.0.0", "two": "1.0.0"}}
        page = (await http.get("/")).text
    assert said == {"one": "one", "two": "two"}
    assert "http://127.0.0.1:8000/one/mcp" in page
    assert "http://127.0.0.1:8000/two/mcp" in page
    assert seen == ["one opened", "two opened", "two closed", "one closed"]


async def test_hosts_and_origins_can_be_allowed():
    settings = Settings(allow_hosts=("mcp.example",), allow_origins=("https://app.example",))
    served = Site([demo.build(settings)], "http://mcp.example")
    statuses = {}
    async with visited(served) as http:
        for host, origin in (
            ("mcp.example", "https://app.example"),
            ("mcp.example:8443", "https://app.example"),
            ("other.example", "https://app.example"),
            ("mcp.example", "https://other.example"),
        ):
            headers = {"Host": host, "Origin": origin, "Accept": "application/json, text/event-stream"}
            statuses[host, origin] = (await http.post("/mcp", headers=headers, json={})).status_code
    assert list(statuses.values()) == [400, 400, 421, 403]


async def test_connections_at_the_same_time_open_the_app_once():
    seen: list[str] = []
    server = build_server(small("shared", seen))

    async def ask() -> str:
        async with Client(server, mode="legacy") as client:
            return json.loads((await client.call_tool("whoami", {})).content[0].text)["value"]

    assert await asyncio.gather(*(ask() for _ in range(3))) == ["shared"] * 3
    assert seen[0] == "shared opened"
    assert seen == ["shared opened", "shared closed"] * (len(seen) // 2)


async def test_an_app_that_is_not_opened_says_so():
    app = small("closed", [])
    with pytest.raises(RuntimeError, match="closed is not open"):
        await app.call("whoami")


async def test_the_garbage_collector_does_not_visit_the_tools_again_and_again():
    server = build_server(App("test", version="1", format="result"))
    gc.unfreeze()
    frozen = []
    try:
        for _ in range(2):  # what later sessions leave behind can be freed
            async with Client(server):
                frozen.append(gc.get_freeze_count())
    finally:
        gc.unfreeze()
    assert frozen[0] > 0
    assert frozen[1] <= frozen[0]
