"""A server in a process of its own, and a Redis that stops, hangs and comes back."""

import asyncio
import json
import re
import signal
import sqlite3
import time
from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager, closing
from pathlib import Path
from typing import Any

import httpx2
import pytest

from tests.behaviour import shared_server
from tests.behaviour.combinations import ENVIRONMENT, OLD
from tests.clients.over_http import served
from tests.conftest import RedisServer
from tests.forkserver.commands import command_path

CALLS, TIMEOUT, PATIENCE = 20, 2.0, 60.0
HEADERS = {"Accept": "application/json, text/event-stream", "MCP-Protocol-Version": OLD}


@asynccontextmanager
async def running(tmp_path: Path, redis: RedisServer, policy: str = "open") -> AsyncIterator[httpx2.AsyncClient]:
    """A client of a server with this Redis, in a session."""
    with closing(sqlite3.connect(tmp_path / "shared.db", isolation_level=None)) as database:
        database.executescript(shared_server.TABLES)
    database.close()
    command = [command_path("python"), str(Path(shared_server.__file__)), "--user", "ann", "--redis", redis.url]
    command += ["--db", f"sqlite:///{tmp_path / 'shared.db'}"]
    command += ["--redis-timeout", str(TIMEOUT), "--limits-without-redis", policy, "--deadline", "30"]
    with served(command, tmp_path / "server.log", ENVIRONMENT) as url:
        async with asyncio.timeout(PATIENCE), httpx2.AsyncClient(timeout=PATIENCE) as http:
            http.base_url = url.removesuffix("/mcp")
            client = {"name": "raw", "version": "1"}
            opened = await ask(http, "initialize", protocolVersion=OLD, clientInfo=client, capabilities={})
            http.headers["Mcp-Session-Id"] = opened.headers["mcp-session-id"]
            yield http


async def ask(http: httpx2.AsyncClient, method: str, **params: Any) -> httpx2.Response:
    message = {"jsonrpc": "2.0", "id": 1, "method": method, "params": params}
    return await http.post("/mcp", json=message, headers=HEADERS)


async def call(http: httpx2.AsyncClient, tool: str, **arguments: Any) -> dict[str, Any]:
    result = (await ask(http, "tools/call", name=tool, arguments=arguments)).json()["result"]
    return json.loads(result["content"][0]["text"])


async def redis_health(http: httpx2.AsyncClient) -> str:
    report = (await http.get("/health/ready")).json()
    [status] = [entry["status"] for entry in report["dependencies"] if entry["name"] == "redis"]
    return status


async def metrics(http: httpx2.AsyncClient) -> list[int]:
    """Whether Redis is up, and how often it became unusable."""
    text = (await http.get("/metrics")).text
    names = ("toolcharter_dependency_up", "toolcharter_dependency_failures_total")
    return [int(re.search(rf'{name}{{.*dependency="redis".*}} (\d+)', text)[1]) for name in names]


FAULTS: dict[str, tuple[Callable[[RedisServer], object], Callable[[RedisServer], object]]] = {
    "stopped": (lambda redis: redis.stop(), lambda redis: redis.start()),
    "hung": (
        lambda redis: redis.process.send_signal(signal.SIGSTOP),
        lambda redis: redis.process.send_signal(signal.SIGCONT),
    ),
}


@pytest.mark.requirement("OPS-7")
@pytest.mark.parametrize("fault", FAULTS)
@pytest.mark.parametrize(("policy", "outcome"), [("open", None), ("closed", "UnavailableError")])
async def test_a_redis_that_is_away_costs_one_timeout_and_is_used_again_when_it_is_back(
    tmp_path: Path, new_redis: Callable[[], RedisServer], fault: str, policy: str, outcome: str | None
):
    redis, (begin, end) = new_redis(), FAULTS[fault]
    async with running(tmp_path, redis, policy) as http:
        assert (await call(http, "limited"))["success"]
        first = (await call(http, "read"))["value"]
        assert (await call(http, "read"))["value"] == first
        assert await redis_health(http) == "ok"
        begin(redis)
        started = time.monotonic()
        results = [await call(http, "limited") for _ in range(CALLS)]
        assert [result.get("error_type") for result in results] == [outcome] * CALLS
        assert (await call(http, "write", n=7))["success"]
        assert (await call(http, "read"))["value"]["largest"] == 7
        assert time.monotonic() - started < CALLS * TIMEOUT / 2  # one timeout, not one for each call
        assert await redis_health(http) == "unavailable"
        assert await metrics(http) == [0, 1]
        end(redis)
        while await redis_health(http) != "ok":  # noqa: ASYNC110 - the event is in another process
            await asyncio.sleep(0.05)
        assert (await call(http, "read"))["value"]["largest"] == 7  # what was cached before is not found
        marks = [(await call(http, "read"))["value"]["mark"] for _ in range(2)]
        assert marks[0] == marks[1]
        assert (await call(http, "limited"))["success"]
        assert await metrics(http) == [1, 1]
    log = (tmp_path / "server.log").read_text()
    assert log.count("Redis cannot be used: ") == 1
    assert log.count("Redis can be used again") == 1
    assert log.count("Rate limits cannot be read; calls ") == 1
