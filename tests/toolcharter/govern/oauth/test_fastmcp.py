"""Sign-in at a server and an authorization server that others wrote: FastMCP, on the MCP SDK."""

import asyncio
import socket
import subprocess
import time
from collections.abc import Iterator
from pathlib import Path

import httpx2
import pytest

from tests.forkserver.commands import command_path
from tests.toolcharter.command_line import run
from tests.toolcharter.govern.oauth.signing_in import Browser, call, open_governor
from toolcharter.govern.oauth.store import SignInStore


@pytest.fixture
def fastmcp(tmp_path: Path) -> Iterator[str]:
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        port = free.getsockname()[1]
    log = tmp_path / "log"
    script = str(Path(__file__).with_name("fastmcp_server.py"))
    with log.open("wb") as out:
        process = subprocess.Popen([command_path("python"), script, str(port)], stdout=out, stderr=out)
    address = f"http://127.0.0.1:{port}/mcp"
    while not answers(address):
        assert process.poll() is None, log.read_text()
        time.sleep(0.05)
    yield address
    process.terminate()
    process.wait(60)


def answers(address: str) -> bool:
    try:
        return httpx2.get(address).status_code == 401
    except httpx2.TransportError:
        return False


@pytest.mark.requirement("GOV-6")
def test_add_call_and_renew_at_a_server_of_fastmcp(capsys, tmp_path: Path, fastmcp: str, browser: Browser):
    charter = tmp_path / "charter.toml"
    code, out, err = run(capsys, "govern", "add", "docs", fastmcp, "--charter", str(charter))
    assert (code, err) == (0, "")
    assert "docs is governed: 1 tool approved." in out
    store = SignInStore(charter)
    first = store.load("docs", "local")
    assert first is not None
    # It registered us with a secret, which signs each request for a token.
    assert (first.client.auth_method, first.client.secret is not None) == ("client_secret_basic", True)
    store.save(first.model_copy(update={"expires": time.time() - 1}))

    async def add() -> str:
        governor = open_governor(charter)
        async with governor.all_tools:
            return str(await call(governor, "add", a=20, b=22))

    assert asyncio.run(add()) == "42"
    renewed = store.load("docs", "local")
    assert renewed is not None
    assert first.access_token != renewed.access_token
    assert first.refresh_token != renewed.refresh_token
