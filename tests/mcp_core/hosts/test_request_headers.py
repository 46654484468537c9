"""Headers that an app declares reach its handlers on every HTTP host, and nothing else."""

import base64
import json
import logging
from collections.abc import AsyncIterator, Iterator
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any

import httpx2
import pytest
from mcp import Client
from mcp.client.streamable_http import streamable_http_client

from mcp_core import App, Settings, ToolContext, ToolError, mcp_log
from mcp_core.calling.records import Request
from mcp_core.context import RequestHeaders
from tests.mcp_core.declared import query
from tests.mcp_core.hosts.test_sessions import fast_path_host, fastmcp_host, sdk_host

TOKEN = "hunter2-hunter2"
HOSTS = pytest.mark.parametrize("host", [fast_path_host, sdk_host, fastmcp_host])
MODES = pytest.mark.parametrize("mode", ["legacy", "2026-07-28"])


def echo(**settings: Any) -> App:
    app = App(
        "echo",
        version="1.0.0",
        format="result",
        settings=Settings(**settings),
        request_headers=("X-Acme-Authorization", "X-Acme-Site"),
    )

    @app.tool()
    async def read_headers(context: ToolContext) -> dict[str, str]:
        """Return the headers that a handler sees."""
        return dict(context.headers)

    return app


@pytest.fixture
def log_file(tmp_path: Path) -> Iterator[Path]:
    root = logging.getLogger()
    handlers, level = root.handlers[:], root.level
    yield tmp_path / "server.log"
    for handler in set(root.handlers) - set(handlers):
        handler.close()
    root.handlers[:] = handlers
    root.setLevel(level)


@asynccontextmanager
async def connected(host: Any, app: App, mode: str) -> AsyncIterator[tuple[Client, httpx2.AsyncClient]]:
    application, lifespan = host(app)
    transport = httpx2.ASGITransport(app=application, client=("127.0.0.1", 5))
    async with lifespan, httpx2.AsyncClient(transport=transport, base_url="http://127.0.0.1:8000") as http:
        url = "http://127.0.0.1:8000/mcp"
        async with Client(streamable_http_client(url, http_client=http), mode=mode) as client:
            yield client, http


@HOSTS
@MODES
async def test_each_call_has_the_declared_headers_of_its_own_request(host: Any, mode: str):
    seen: list[Any] = []
    async with connected(host, echo(), mode) as (client, http):
        for sent in ({"X-Acme-Authorization": " Bearer ann "}, {"x-acme-AUTHORIZATION": "Bearer bob"}, {}):
            http.headers.pop("X-Acme-Authorization", None)
            http.headers.update({**sent, "X-Other": "not declared"})
            result: Any = await client.call_tool("read_headers", {})
            seen.append(json.loads(result.content[0].text)["value"])
    assert seen == [{"x-acme-authorization": "Bearer ann"}, {"x-acme-authorization": "Bearer bob"}, {}]


@pytest.mark.parametrize(
    "credentials", [f"Bearer {TOKEN}", "Basic " + base64.b64encode(f"ann:{TOKEN}".encode()).decode()]
)
async def test_credentials_in_headers_are_in_no_log_audit_or_error(tmp_path: Path, log_file: Path, credentials: str):
    app = echo(audit=tmp_path / "audit")

    @app.tool()
    async def fail(context: ToolContext) -> None:
        """Fail with credentials in the text."""
        logging.getLogger("acme").error("%r: %s as %s", context, context.headers["x-acme-authorization"], TOKEN)
        raise ToolError(f"{credentials} is refused at {context.headers['x-acme-site']}: {TOKEN} has expired")

    mcp_log.configure("TRACE", file=log_file)
    headers = RequestHeaders({"x-acme-authorization": credentials, "x-acme-site": "east"})
    async with app:
        answer: Any = await app.answer(Request("fail", {}, headers=headers))
    log, audit = log_file.read_text(), (tmp_path / "audit").read_text()  # noqa: ASYNC240 - nothing else runs
    assert "RequestHeaders(x-acme-authorization, x-acme-site)" in log
    assert "refused at east" in answer.text
    for text in (answer.text, log, audit):
        assert TOKEN not in text
        assert credentials.partition(" ")[2] not in text


async def test_an_answer_to_a_call_with_headers_is_not_cached():
    calls: list[str] = []

    @query(cache_ttl=60)
    async def who(context: ToolContext) -> str:
        calls.append(context.headers.get("x-acme-authorization", "nobody"))
        return calls[-1]

    app = App("who", version="1.0.0", format="result", tools=[who], request_headers=("x-acme-authorization",))
    async with app:
        for name in ("nobody", "ann", "bob", "ann", "nobody"):
            headers = {} if name == "nobody" else {"x-acme-authorization": name}
            answer: Any = await app.answer(Request("who", {}, app.local_caller, headers=RequestHeaders(headers)))
            assert json.loads(answer.text)["value"] == name
    assert calls == ["nobody", "ann", "bob", "ann"]
