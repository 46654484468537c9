"""Four processes with Redis and PostgreSQL act as one, behind a proxy that sends each request to another of them."""

import asyncio
import json
from collections.abc import AsyncIterator, Iterator
from contextlib import ExitStack, asynccontextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any
from urllib.parse import urlsplit

import httpx2
import mcp_types as types
import pytest
from mcp import Client
from mcp.client.streamable_http import streamable_http_client

from tests.behaviour import shared_server
from tests.behaviour.combinations import ENVIRONMENT, NEW, OLD, YES, Era, Person, answer_of
from tests.behaviour.round_robin import round_robin
from tests.clients.over_http import served
from tests.conftest import PostgresServer, RedisServer
from tests.forkserver.commands import command_path

PROCESSES = 4
PATIENCE = 60.0
ERAS = pytest.mark.parametrize("era", [NEW, OLD])

BOTH = "application/json, text/event-stream"
META = {
    "io.modelcontextprotocol/protocolVersion": NEW,
    "io.modelcontextprotocol/clientCapabilities": {"elicitation": {}},
    "io.modelcontextprotocol/clientInfo": {"name": "raw", "version": "1"},
}


@pytest.fixture(scope="module")
def processes(
    tmp_path_factory: pytest.TempPathFactory, redis_server: RedisServer, postgres_server: PostgresServer
) -> Iterator[list[str]]:
    """The addresses of the processes."""
    folder, database = tmp_path_factory.mktemp("processes"), postgres_server.new_database()
    postgres_server.sql(shared_server.TABLES, database)
    command = [command_path("python"), str(Path(shared_server.__file__)), "--user", "ann"]
    # On a busy machine, a Redis that is up may be silent for longer than people would wait.
    command += ["--db", postgres_server.url(database), "--redis", redis_server.url, "--redis-timeout", "20"]
    with ExitStack() as stack:
        yield [stack.enter_context(served(command, folder / f"{n}.log", ENVIRONMENT)) for n in range(PROCESSES)]
    postgres_server.sql(f"DROP DATABASE {database} WITH (FORCE)")


@pytest.fixture
async def proxy(processes: list[str], redis_server: RedisServer) -> AsyncIterator[str]:
    """The address of all of them, which share an empty Redis."""
    redis_server.flush()
    async with round_robin([urlsplit(url).port for url in processes]) as url:
        yield url


@dataclass
class Raw:
    """A client without a library: it sends what it is told to, wherever it is told to."""

    http: httpx2.AsyncClient
    url: str
    era: Era
    session: str | None = None

    def headers(self, method: str = "", name: str = "") -> dict[str, str]:
        added = {"Mcp-Method": method, "Mcp-Name": name} if self.era == NEW else {}
        added |= {"Mcp-Session-Id": self.session} if self.session else {}
        return {"Accept": BOTH, "MCP-Protocol-Version": self.era, **added}

    async def send(self, message: dict[str, Any], url: str | None = None, name: str = "") -> httpx2.Response:
        headers = self.headers(message.get("method", ""), name)
        return await self.http.post(url or self.url, json={"jsonrpc": "2.0", **message}, headers=headers)

    async def open(self, **capabilities: Any) -> None:
        params = {"protocolVersion": OLD, "clientInfo": {"name": "raw", "version": "1"}, "capabilities": capabilities}
        response = await self.send({"id": 0, "method": "initialize", "params": params})
        self.session = response.headers["mcp-session-id"]

    async def call(self, tool: str, more: Any = None, meta: Any = None, **arguments: Any) -> dict[str, Any]:
        """The result of a call."""
        envelope = {**(META if self.era == NEW else {}), **(meta or {})}
        params = {"name": tool, "arguments": arguments, **(more or {}), "_meta": envelope}
        response = await self.send({"id": 1, "method": "tools/call", "params": params}, name=tool)
        assert response.status_code == 200, response.text
        return json.loads(response.text.rpartition("data: ")[2])["result"]

    async def value(self, tool: str, **arguments: Any) -> Any:
        """The value of a call that succeeds."""
        result = await self.call(tool, **arguments)
        assert not result["isError"], result
        return json.loads(result["content"][0]["text"])["value"]


@asynccontextmanager
async def raw(url: str, era: Era) -> AsyncIterator[Raw]:
    limits = httpx2.Limits(max_connections=100)
    async with asyncio.timeout(PATIENCE), httpx2.AsyncClient(timeout=PATIENCE, limits=limits) as http:
        client = Raw(http, url, era)
        if era == OLD:
            await client.open()
        yield client


@asynccontextmanager
async def connected(url: str, era: Era, **options: Any) -> AsyncIterator[Client]:
    """A client of the SDK."""
    mode = "legacy" if era == OLD else era
    async with (
        asyncio.timeout(PATIENCE),
        httpx2.AsyncClient(timeout=PATIENCE) as http,
        Client(streamable_http_client(url, http_client=http), mode=mode, **options) as client,
    ):
        yield client


async def value(client: Client, tool: str, /, **arguments: Any) -> Any:
    result = await client.call_tool(tool, arguments)
    assert not result.is_error, result
    return answer_of(result)["value"]


@ERAS
@pytest.mark.requirement("OPS-3")
async def test_each_call_of_a_client_reaches_another_process(proxy: str, era: Era):
    async with raw(proxy, era) as client:
        seen = [await client.value("where") for _ in range(2 * PROCESSES)]
    assert len(set(seen)) == PROCESSES
    assert seen[:PROCESSES] == seen[PROCESSES:]


@pytest.mark.requirement("OPS-3", "VAL-3")
async def test_a_limit_is_exact_under_a_burst_from_both_eras(proxy: str):
    async with raw(proxy, NEW) as new, raw(proxy, OLD) as old:
        clients = [new, old] * 150
        results = await asyncio.gather(*(client.call("limited") for client in clients))
    refused = [result["content"][0]["text"] for result in results if result["isError"]]
    assert len(results) - len(refused) == shared_server.LIMIT
    assert all("RateLimitError" in text for text in refused)


@ERAS
@pytest.mark.requirement("OPS-3")
async def test_a_cached_answer_is_shared_and_never_stale(proxy: str, era: Era):
    async with raw(proxy, era) as client:
        acknowledged, marks, finished = (await client.value("read"))["largest"], [], False

        async def watch() -> None:
            while not finished:
                before = acknowledged
                assert (await client.value("read"))["largest"] >= before

        watchers = [asyncio.ensure_future(watch()) for _ in range(2)]
        for n in range(acknowledged + 1, acknowledged + 26):
            acknowledged = await client.value("write", n=n)
            answers = await asyncio.gather(*(client.value("read") for _ in range(2)))
            assert [answer["largest"] for answer in answers] == [n, n]
        finished = True
        await asyncio.gather(*watchers)
        marks = [(await client.value("read"))["mark"] for _ in range(PROCESSES)]
    assert len(set(marks)) == 1


@pytest.mark.requirement("OPS-3", "CON-3")
async def test_of_many_who_use_one_confirmation_one_wins(proxy: str):
    arguments = {"key": "one winner", "explicit_action": "WIPE"}
    async with raw(proxy, NEW) as client:
        question = await client.call("wipe", **arguments)
        assert question["resultType"] == "input_required"
        yes = {"confirm": {"action": "accept", "content": {"confirm": True}}}
        reply = {"requestState": question["requestState"], "inputResponses": yes}
        results = await asyncio.gather(*(client.call("wipe", more=reply, **arguments) for _ in range(3 * PROCESSES)))
        assert [result["isError"] for result in results].count(False) == 1
        assert await client.value("count", key="one winner") == 1


@ERAS
@pytest.mark.requirement("OPS-3", "OPS-4")
async def test_a_call_with_an_idempotency_key_is_carried_out_once(proxy: str, era: Era):
    meta, key = {"dev.toolcharter/idempotency-key": f"the key of {era}"}, f"once in {era}"
    async with raw(proxy, era) as client:
        results = await asyncio.gather(*(client.call("note", meta=meta, key=key) for _ in range(2 * PROCESSES)))
        assert len({json.dumps(result["content"]) for result in results}) == 1
        assert not results[0]["isError"]
        assert await client.value("count", key=key) == 1


@ERAS
@pytest.mark.requirement("OPS-3", "CON-3")
async def test_a_client_that_can_ask_its_person_works_everywhere(proxy: str, era: Era):
    person, key = Person(YES), f"asked in {era}"
    async with connected(proxy, era, elicitation_callback=person) as client:
        for _ in range(PROCESSES):
            assert await value(client, "wipe", key=key, explicit_action="WIPE") == "wiped"
            assert isinstance(await value(client, "where"), int)
        assert await value(client, "count", key=key) == PROCESSES
    assert len(person.questions) == PROCESSES


@ERAS
@pytest.mark.requirement("OPS-3")
async def test_progress_comes_with_the_call(proxy: str, era: Era):
    seen: list[float] = []

    async def report(done: float, total: float | None, message: str | None) -> None:
        seen.append(done)

    async with connected(proxy, era) as client:
        for _ in range(PROCESSES):
            await client.call_tool("steps", {}, progress_callback=report)
    assert seen == [0, 1, 2] * PROCESSES


@pytest.mark.filterwarnings("ignore:The roots capability is deprecated")  # by the newer protocol; this is the older
@pytest.mark.requirement("OPS-3")
async def test_the_folders_of_a_client_are_known_everywhere_and_change_everywhere(proxy: str):
    folders = ["/one"]

    async def roots(_: Any) -> types.ListRootsResult:
        return types.ListRootsResult(roots=[types.Root(uri=f"file://{folder}") for folder in folders])

    async with connected(proxy, OLD, list_roots_callback=roots) as client:
        for _ in range(PROCESSES):
            assert await value(client, "folders") == ["/one"]
        folders[:] = ["/two"]
        await client.send_roots_list_changed()
        changed = 0
        while changed < PROCESSES:  # the others hear of it from Redis
            changed = changed + 1 if await value(client, "folders") == ["/two"] else 0


@pytest.mark.requirement("OPS-3")
async def test_a_call_is_cancelled_at_another_process_than_its_own(proxy: str, processes: list[str]):
    async with raw(proxy, OLD) as client:
        message = {"id": 5, "method": "tools/call", "params": {"name": "wait", "arguments": {"key": "cancelled"}}}
        waiting = asyncio.ensure_future(client.send(message, processes[0]))
        while not await client.value("count", key="cancelled started"):
            pass
        cancel = {"method": "notifications/cancelled", "params": {"requestId": 5}}
        assert (await client.send(cancel, processes[1])).status_code == 202
        cancelled = {"jsonrpc": "2.0", "id": 5, "error": {"code": -32800, "message": "Request cancelled"}}
        assert (await waiting).json() == cancelled
        while not await client.value("count", key="cancelled stopped"):
            pass


@pytest.mark.requirement("OPS-3")
async def test_a_session_that_ends_at_one_process_ends_at_all(proxy: str):
    async with raw(proxy, OLD) as client, raw(proxy, OLD) as other:
        ping = {"id": 1, "method": "ping"}
        assert [(await client.send(ping)).status_code for _ in range(PROCESSES)] == [200] * PROCESSES
        assert (await client.http.delete(proxy, headers=client.headers())).status_code == 200
        ended = 0
        while ended < PROCESSES:  # the others hear of it from Redis
            ended = ended + 1 if (await client.send(ping)).status_code == 404 else 0
        assert [(await other.send(ping)).status_code for _ in range(PROCESSES)] == [200] * PROCESSES
