"""The calls of real clients are answered without ASGI, and /metrics shows that."""

import json
import re
import shutil
from collections import Counter

import httpx2
import pytest

from tests.clients import record_requests as drivers
from tests.clients.record_requests import CALLS, MODERN, Drive
from tests.conformance.run import HERE
from tests.registry_packages import npm_packages_if_cached

METRIC = re.compile(r'toolcharter_http_requests_total\{server="\w+",path="(\w+)"\} (\d+)')


async def paths(url: str) -> Counter[str]:
    """How many requests were answered on which path."""
    async with httpx2.AsyncClient() as http:
        text = (await http.get(url.replace("/mcp", "/metrics"))).text
    return Counter({path: int(number) for path, number in METRIC.findall(text)})


@pytest.mark.requirement("AUT-4")
@pytest.mark.parametrize(
    ("drive", "direct", "asgi"),
    [
        pytest.param(drivers.sdk(MODERN), CALLS, 0, id="Python SDK"),
        pytest.param(drivers.sdk("legacy"), CALLS + 2, 2, id="Python SDK, 2025-11-25"),
        pytest.param(drivers.fastmcp(MODERN), CALLS, 0, id="FastMCP"),
        pytest.param(drivers.fastmcp("legacy"), CALLS + 2, 2, id="FastMCP, 2025-11-25"),
        pytest.param(drivers.agents, CALLS, 0, id="OpenAI Agents SDK"),
        pytest.param(drivers.with_aiohttp, 1, 0, id="aiohttp"),
    ],
)
async def test_the_calls_of_a_python_client_are_answered_directly(drive: Drive, direct: int, asgi: int, demo_url: str):
    """A session also has a GET for its stream and a DELETE, which go through ASGI."""
    before = await paths(demo_url)
    await drive(demo_url)
    counted = await paths(demo_url) - before
    assert counted["direct"] >= direct
    assert counted["asgi"] <= asgi
    assert counted["sdk"] == 0


@pytest.mark.requirement("AUT-4")
@pytest.mark.parametrize("era", ["legacy", "modern"])
async def test_the_calls_of_the_typescript_client_are_answered_directly(era: str, demo_url: str):
    folder = npm_packages_if_cached("@modelcontextprotocol/client@2.4.0").parent
    before = await paths(demo_url)
    await drivers.run(["node", str(HERE / "client.mjs"), era, demo_url], folder)
    counted = await paths(demo_url) - before
    assert counted["direct"] >= 2
    assert counted["asgi"] <= (2 if era == "legacy" else 0)
    assert counted["sdk"] == 0


@pytest.mark.requirement("AUT-4")
@pytest.mark.parametrize("program", ["node", "curl"])
async def test_the_call_of_an_http_client_is_answered_directly(program: str, demo_url: str):
    if shutil.which(program) is None:
        pytest.skip(f"{program} is not installed; its recorded request is tested")
    given = json.dumps([demo_url, drivers.PLAIN_HEADERS, drivers.PLAIN_BODY])
    fetch = ["node", "--input-type=module", "-e", drivers.FETCH, "--", given]
    before = await paths(demo_url)
    await drivers.run(fetch if program == "node" else drivers.curl_command(demo_url))
    assert await paths(demo_url) - before == {"direct": 1}
