"""A client that can open addresses does so for a call that needs a sign-in, and the call goes on."""

from collections.abc import AsyncIterator, Iterator
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any

import httpx2
import mcp_types as types
import pytest
from mcp import Client, StdioServerParameters
from mcp.client.stdio import stdio_client
from mcp.client.streamable_http import streamable_http_client

from tests.behaviour.combinations import HttpServer, answer_of, http_client
from tests.forkserver.commands import command_path
from tests.mcp_core.auth.issuer import Issuer
from tests.toolcharter.govern.oauth.signing_in import write_charter
from tests.toolcharter.govern.oauth.test_pages import at_issuer, go_on, governing


class Person:
    """Opens the address in a browser and signs in, unless they decline."""

    def __init__(self, action: str = "accept") -> None:
        self.action, self.asked = action, list[types.ElicitRequestURLParams]()

    async def __call__(self, _: Any, params: Any) -> types.ElicitResult:
        assert isinstance(params, types.ElicitRequestURLParams)
        self.asked.append(params)
        if self.action == "accept":
            with httpx2.Client(timeout=60) as browser:
                if "/govern/sign-in/" in params.url:
                    page = browser.get(at_issuer(browser, go_on(browser, params.url, "ann")))
                else:
                    page = browser.get(params.url, follow_redirects=True)
            assert page.status_code == 200
        return types.ElicitResult(action=self.action)


@pytest.fixture(scope="module")
def charter(running_issuer: Issuer, server: HttpServer, tmp_path_factory: pytest.TempPathFactory) -> Path:
    return write_charter(tmp_path_factory.mktemp("asking"), server.url, "oauth = {}")


@pytest.fixture(scope="module")
def running_site(charter: Path) -> Iterator[str]:
    with governing(charter) as site:
        yield site


@asynccontextmanager
async def connected(connection: str, charter: Path, site: str, person: Person | None) -> AsyncIterator[Client]:
    transport, _, mode = connection.partition("-")
    if transport == "stdio":
        arguments = ["govern", "--charter", str(charter), "--log-level", "ERROR"]
        channel = stdio_client(StdioServerParameters(command=command_path("toolcharter"), args=arguments))
        async with Client(channel, mode=mode, elicitation_callback=person) as client:
            yield client
    else:
        async with http_client({"Authorization": "Bearer token-of-ann"}) as http:
            channel = streamable_http_client(f"{site}/mcp", http_client=http)
            async with Client(channel, mode=mode, elicitation_callback=person) as client:
                yield client


@pytest.mark.requirement("GOV-6", "GOV-4")
@pytest.mark.parametrize("connection", ["stdio-legacy", "stdio-2026-07-28", "http-legacy", "http-2026-07-28"])
async def test_the_person_signs_in_during_the_call(connection: str, charter: Path, running_site: str, issuer: Issuer):
    for file in (charter.parent / "charter-sign-ins").rglob("*.json"):
        file.unlink()
    refusing, person = Person("decline"), Person()
    async with connected(connection, charter, running_site, None) as client:
        told = await client.call_tool("docs_who", {})
        assert (told.is_error, answer_of(told)["error_type"]) == (True, "SignInError")
        assert "open http://127.0.0.1:" in answer_of(told)["error"]
    async with connected(connection, charter, running_site, refusing) as client:
        declined = await client.call_tool("docs_who", {})
        assert answer_of(declined)["error"] == "The user did not sign in to 'docs'. Nothing was done."
    async with connected(connection, charter, running_site, person) as client:
        result = await client.call_tool("docs_who", {})
        assert answer_of(result)["data"]["userId"] == "ann"
        # From now on nobody is asked.
        assert answer_of(await client.call_tool("docs_who", {}))["data"]["userId"] == "ann"
    assert [asked.message for asked in person.asked] == ["Sign in to docs, which this call uses."]
