"""The credentials of callers and of upstreams, at an upstream that writes down what it is sent."""

import asyncio
import json
import re
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from itertools import groupby
from pathlib import Path
from typing import Any

import pytest
from aiohttp import web
from mcp import Client
from mcp.client.streamable_http import streamable_http_client

from tests.behaviour.combinations import http_client
from tests.forkserver.commands import command_path

COMMAND = [command_path("toolcharter"), "govern"]
TOKENS = {"token-of-ann": {"user": "ann", "grants": ["*"]}, "token-of-bob": {"user": "bob", "grants": ["*"]}}


class Recorder:
    """An upstream over HTTP that remembers the headers and the parameters of each call."""

    def __init__(self) -> None:
        self.headers: list[dict[str, str]] = []
        self.texts: list[str] = []

    async def answer(self, request: web.Request) -> web.Response:
        message = json.loads(await request.text())
        self.headers.append(dict(request.headers))
        self.texts.append(await request.text())
        tool = {"name": "whoami", "description": "Say who calls.", "inputSchema": {"type": "object"}}
        results: dict[str, Any] = {
            "server/discover": {"supportedVersions": ["2026-07-28"], "capabilities": {"tools": {}}},
            "tools/list": {"tools": [tool]},
            "tools/call": {"content": [{"type": "text", "text": "done"}]},
        }
        result = {"resultType": "complete", **results[message["method"]]}
        return web.json_response({"jsonrpc": "2.0", "id": message["id"], "result": result})

    @asynccontextmanager
    async def serving(self) -> AsyncIterator[str]:
        app = web.Application()
        app.router.add_post("/mcp", self.answer)
        runner = web.AppRunner(app)
        await runner.setup()
        await web.TCPSite(runner, "127.0.0.1", 0).start()
        try:
            yield f"http://127.0.0.1:{runner.addresses[0][1]}/mcp"
        finally:
            await runner.cleanup()


@asynccontextmanager
async def governing(charter: Path) -> AsyncIterator[str]:
    """The governor over HTTP, with tokens for two callers."""
    tokens, log = charter.with_name("tokens.json"), charter.with_name("log")
    tokens.write_text(json.dumps(TOKENS), encoding="utf-8")
    options = ["http", "--port", "0", "--tokens", str(tokens), "--charter", str(charter), "--log-level", "DEBUG"]
    with log.open("wb") as out:
        governor = await asyncio.create_subprocess_exec(*COMMAND, *options, stdout=out, stderr=out)
    try:
        while (printed := re.search(r"Health: (http://\S+)/health", log.read_text())) is None:
            assert governor.returncode is None, log.read_text()
            await asyncio.sleep(0.02)
        yield printed[1]
    finally:
        governor.terminate()
        await governor.wait()


async def call_as_each(site: str, *tools: str) -> None:
    for token in TOKENS:
        async with http_client({"Authorization": f"Bearer {token}", "X-Secret": token}) as http:
            channel = streamable_http_client(f"{site}/mcp", http_client=http)
            async with Client(channel, mode="2026-07-28") as client:
                for tool in tools:
                    result = await client.call_tool(tool, {}, meta={"secret": token})
                    assert not result.is_error, result


@pytest.mark.requirement("GOV-6")
async def test_no_credential_of_a_caller_reaches_an_upstream(tmp_path: Path, monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setenv("DOCS_AUTH", "Bearer token-of-the-docs")
    recorder, charter, log = Recorder(), tmp_path / "charter.toml", tmp_path / "log"
    async with recorder.serving() as url:
        charter.write_text(
            f'[upstream.docs]\nurl = "{url}"\nper = "caller"\nsecrets = {{ Authorization = "env:DOCS_AUTH" }}\n',
            encoding="utf-8",
        )
        approve = await _run(*COMMAND, "approve", "docs", "--charter", charter)
        assert "1 tool approved" in approve
        async with governing(charter) as site:
            await call_as_each(site, "docs_whoami")
    sent = json.dumps(recorder.headers) + "".join(recorder.texts)
    assert not any(token in sent for token in TOKENS)
    assert {headers["Authorization"] for headers in recorder.headers} == {"Bearer token-of-the-docs"}
    # What the upstream was given is not shown to anybody.
    assert "token-of-the-docs" not in log.read_text() + charter.read_text() + approve


@pytest.mark.requirement("GOV-6")
async def test_a_token_is_passed_on_to_the_upstream_that_the_charter_names_for_it_and_to_no_other(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
):
    monkeypatch.setenv("TOOLCHARTER_TOKEN", "token-of-the-operator")
    named, other = Recorder(), Recorder()
    charter, log = tmp_path / "charter.toml", tmp_path / "log"
    async with named.serving() as named_url, other.serving() as other_url:
        charter.write_text(
            f'[upstream.named]\nurl = "{named_url}"\npass_token = true\n[upstream.other]\nurl = "{other_url}"\n',
            encoding="utf-8",
        )
        for name in ("named", "other"):
            assert "1 tool approved" in await _run(*COMMAND, "approve", name, "--charter", charter)
        assert {headers.get("Authorization") for headers in named.headers} == {"Bearer token-of-the-operator"}
        named.headers.clear()
        async with governing(charter) as site:
            await call_as_each(site, "named_whoami", "other_whoami")
            await call_as_each(site, "other_whoami", "named_whoami")
    # Each caller has a connection, and nothing is sent on it with the token of another.
    ann, bob = (f"Bearer {token}" for token in TOKENS)
    assert [token for token, _ in groupby(headers["Authorization"] for headers in named.headers)] == [ann, bob] * 2
    assert all("Authorization" not in headers for headers in other.headers)
    assert not any(token in log.read_text() for token in TOKENS)


async def _run(*command: object) -> str:
    process = await asyncio.create_subprocess_exec(
        *map(str, command), stdout=asyncio.subprocess.PIPE, stderr=asyncio.subprocess.STDOUT
    )
    out, _ = await process.communicate()
    return out.decode()
