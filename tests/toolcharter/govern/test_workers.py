"""Several governors behind one address, with Redis: what a client sends about a call reaches the one that knows it."""

import asyncio
from collections.abc import AsyncIterator, Iterator
from contextlib import ExitStack, asynccontextmanager
from typing import Any
from urllib.parse import urlsplit

import httpx2
import mcp_types as types
import pytest
from mcp import Client
from mcp.client.streamable_http import streamable_http_client
from mcp.shared.exceptions import MCPError

from tests.behaviour.combinations import ENVIRONMENT
from tests.behaviour.round_robin import round_robin
from tests.clients.over_http import served
from tests.conftest import RedisServer
from tests.forkserver.commands import command_path
from tests.toolcharter.govern.governed import UPSTREAMS, approve_all, offering, tables
from tests.toolcharter.govern.test_questions import Chooser, said

PROCESSES = 3
PATIENCE = 60.0
MODES = pytest.mark.parametrize("mode", ["legacy", "2026-07-28"])


@pytest.fixture(scope="module")
def ports(tmp_path_factory: pytest.TempPathFactory, redis_server: RedisServer) -> Iterator[list[int]]:
    path = tmp_path_factory.mktemp("workers") / "charter.toml"
    with offering("http", "web") as url, ExitStack() as stack:
        path.write_text(tables(url), encoding="utf-8")
        asyncio.run(approve_all(path))
        redis_server.flush()
        # On a busy machine, a Redis that is up may be silent for longer than people would wait.
        shared = ["--redis", redis_server.url, "--redis-timeout", "20"]
        command = [command_path("toolcharter"), "govern", "--charter", str(path), *shared]
        addresses = [
            stack.enter_context(served(command, path.with_name(f"{number}.log"), ENVIRONMENT))
            for number in range(PROCESSES)
        ]
        yield [urlsplit(address).port or 0 for address in addresses]


@asynccontextmanager
async def connected(ports: list[int], mode: str, path: str = "/mcp", **options: Any) -> AsyncIterator[Client]:
    """A client each of whose requests reaches another process."""
    async with (
        asyncio.timeout(PATIENCE),
        round_robin(ports) as address,
        httpx2.AsyncClient(timeout=PATIENCE) as http,
        Client(
            streamable_http_client(f"{address.removesuffix('/mcp')}{path}", http_client=http), mode=mode, **options
        ) as client,
    ):
        yield client


@MODES
@pytest.mark.requirement("GOV-4", "OPS-3")
async def test_an_answer_reaches_the_process_that_asked(ports: list[int], mode: str):
    person = Chooser()
    async with connected(ports, mode, elicitation_callback=person) as client:
        for name in UPSTREAMS:
            assert said(await client.call_tool(f"{name}_ask_twice", {})) == "accept:blue accept:blue"
            assert said(await client.call_tool(f"{name}_open_page", {})) == "accept"
            (message,) = (await client.get_prompt(f"{name}_asking")).messages
            assert message.content == types.TextContent(type="text", text="accept:blue accept:blue")
        (content,) = (await client.read_resource("pipe://asking")).contents
        assert isinstance(content, types.TextResourceContents)
        assert content.text == "accept:blue"
    assert len(person.asked) == 5 * len(UPSTREAMS) + 1


@pytest.mark.requirement("GOV-4", "OPS-3")
async def test_of_many_answers_to_one_question_one_is_taken(ports: list[int]):
    async def nobody(_: Any, __: Any) -> Any:
        raise NotImplementedError  # the questions are answered below

    async with connected(ports, "2026-07-28", elicitation_callback=nobody) as client:
        asked = await client.session.call_tool("pipe_ask", {}, allow_input_required=True)
        assert isinstance(asked, types.InputRequiredResult)
        answer = types.ElicitResult(action="accept", content={"colour": "blue"})
        reply: Any = {
            "request_state": asked.request_state,
            "input_responses": dict.fromkeys(asked.input_requests or {}, answer),
        }
        results = await asyncio.gather(
            *(client.session.call_tool("pipe_ask", {}, **reply) for _ in range(2 * PROCESSES)), return_exceptions=True
        )
    refused = [result for result in results if isinstance(result, MCPError)]
    (taken,) = [result for result in results if not isinstance(result, MCPError)]
    assert isinstance(taken, types.CallToolResult)
    assert said(taken) == "accept:blue"
    assert {error.error.message for error in refused} == {"Invalid or expired requestState"}


@pytest.mark.filterwarnings("ignore:resources/(un)?subscribe is removed")  # the older protocol has them
@pytest.mark.requirement("GOV-4", "OPS-3")
async def test_a_session_hears_of_a_resource_wherever_it_has_subscribed(ports: list[int]):
    told = asyncio.Queue[str]()

    async def handle(message: Any) -> None:
        if isinstance(message, types.ResourceUpdatedNotification):
            told.put_nowait(message.params.uri)

    async with connected(ports, "legacy", "/web/mcp", message_handler=handle) as client:
        for _ in range(PROCESSES):  # each time at another process, while the stream stays at one
            await client.subscribe_resource("web://readme")
            await client.call_tool("touch", {})
            assert await told.get() == "web://readme"
            await client.unsubscribe_resource("web://readme")
            while not told.empty():
                told.get_nowait()
