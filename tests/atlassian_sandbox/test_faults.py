import asyncio
import re
import signal
import socket
import sys
from pathlib import Path

import httpx2
import pytest

from atlassian_sandbox.__main__ import DroppingServer, main
from atlassian_sandbox.transport import SandboxTransport
from tests.atlassian_sandbox.site import BASE

ISSUE = "/rest/api/3/issue/FERRY-6"


def client(site) -> httpx2.AsyncClient:
    return httpx2.AsyncClient(transport=SandboxTransport(site.app), base_url=BASE)


async def test_a_rate_limit_says_when_to_come_back(cloud):
    cloud.faults.rate_limit(path="/rest/api/3/issue/*", retry_after=7, times=2)
    for _ in range(2):
        response = await cloud.send("GET", ISSUE)
        assert (response.status_code, response.headers["retry-after"]) == (429, "7")
    await cloud.get(ISSUE)


async def test_a_fault_has_the_shape_of_its_api(cloud):
    cloud.faults.fail(503, path="/wiki/*", message="Down for maintenance")
    cloud.faults.conflict(method="PUT")
    await cloud.get("/rest/api/3/myself")
    refused = await cloud.refused(503, "GET", "/wiki/api/v2/pages")
    assert refused["errors"][0]["title"] == "Down for maintenance"
    await cloud.refused(409, "PUT", ISSUE, json={"fields": {}})


async def test_a_refused_connection_carries_nothing_out(cloud):
    cloud.faults.refuse()
    async with client(cloud) as http:
        with pytest.raises(httpx2.ConnectError):
            await http.put(ISSUE, json={"fields": {"summary": "Changed"}})
        assert (await http.get(ISSUE)).json()["fields"]["summary"].startswith("Voucher")


@pytest.mark.parametrize(("after", "summary"), [(False, "Voucher is charged"), (True, "Changed")])
async def test_a_connection_is_lost_before_or_after_the_work(cloud, after, summary):
    cloud.faults.drop(method="PUT", after=after)
    async with client(cloud) as http:
        with pytest.raises(httpx2.ReadError):
            await http.put(ISSUE, json={"fields": {"summary": "Changed"}})
        assert (await http.get(ISSUE)).json()["fields"]["summary"].startswith(summary)


async def test_slow_answers_wait_together(cloud):
    cloud.faults.slow(0.05)
    started = asyncio.get_running_loop().time()
    await asyncio.gather(*(cloud.get("/rest/api/3/myself") for _ in range(20)))
    assert asyncio.get_running_loop().time() - started >= 0.05


async def test_the_sandbox_keeps_the_requests_that_it_got(cloud):
    await cloud.get(ISSUE, fields="summary")
    [sent] = cloud.app.requests
    assert (sent.method, sent.path, sent.query) == ("GET", ISSUE, {"fields": ["summary"]})


def test_the_command_explains_itself(capsys):
    with pytest.raises(SystemExit):
        main(["--help"])
    assert "--kind {cloud,datacenter}" in capsys.readouterr().out


def test_a_port_in_use_is_an_error_of_one_line():
    with socket.create_server(("127.0.0.1", 0)) as taken, pytest.raises(SystemExit) as ended:
        main(["--port", str(port := taken.getsockname()[1])])
    words = f"mcp-atl sandbox cannot listen on port {port} of 127.0.0.1: Address already in use"
    assert str(ended.value.code).startswith(words)


async def test_the_sandbox_is_served_over_http():
    command = (Path(sys.executable).with_name("mcp-atl"), "sandbox", "--port", "0", "--kind", "datacenter")
    process = await asyncio.create_subprocess_exec(*command, stderr=asyncio.subprocess.PIPE)
    try:
        greeting = (await process.stderr.readuntil(b"Confluence  ")).decode()
        assert greeting.startswith("A Jira and a Confluence (Data Center) for trying and testing")
        address = re.search(r"Jira +(http\S+)", greeting)[1]
        async with httpx2.AsyncClient(base_url=address) as http:
            assert (await http.get("/rest/api/2/myself")).json()["displayName"] == "Mia Keller"
        process.send_signal(signal.SIGINT)
        _, rest = await process.communicate()
        assert (process.returncode, b"Traceback" in rest) == (0, False)
    finally:
        if process.returncode is None:
            process.terminate()
            await process.communicate()


async def test_a_dropped_connection_is_an_error_over_http_too(cloud):
    """uvicorn closes a connection whose response is shorter than announced."""
    cloud.faults.drop()
    sent: list[dict[str, object]] = []

    async def send(message):
        sent.append(message)

    async def receive():
        return {"type": "http.request", "body": b"", "more_body": False}

    scope = {"type": "http", "method": "GET", "path": ISSUE, "query_string": b"", "headers": []}
    await DroppingServer(cloud.app)(scope, receive, send)
    assert sent[0]["headers"] == [(b"content-length", b"1000")]
    assert sent[1]["body"] == b"{"
