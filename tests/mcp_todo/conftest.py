from collections.abc import AsyncIterator, Iterator
from contextlib import asynccontextmanager
from uuid import uuid4

import pytest
import pytest_asyncio
from mcp import Client, StdioServerParameters
from mcp.client.streamable_http import streamable_http_client

from mcp_core import Settings
from mcp_core.hosts.sdk.server import build_server
from mcp_todo.app import build
from tests.behaviour.combinations import HeldClient, http_client
from tests.conftest import PostgresServer
from tests.mcp_todo.talking import COMMAND, PATIENT, Call, calling, over_http

NEW, OLD = "2026-07-28", "legacy"


@pytest.fixture(scope="session")
def todo_url(postgres_server: PostgresServer) -> Iterator[str]:
    """The todo server over HTTP, with its tasks in PostgreSQL."""
    with over_http("--db", postgres_server.url(postgres_server.new_database())) as url:
        yield url


@pytest_asyncio.fixture(scope="session", loop_scope="session")
async def held() -> AsyncIterator[dict[str, HeldClient]]:
    """Clients that the tests share: each test has a user of its own."""
    clients: dict[str, HeldClient] = {}
    yield clients
    for client in clients.values():
        await client.close()


@pytest_asyncio.fixture(
    loop_scope="session", params=[f"{t} {e}" for t in ("memory", "stdio", "http") for e in (NEW, OLD)]
)
async def call(
    request: pytest.FixtureRequest, held: dict[str, HeldClient], tmp_path_factory: pytest.TempPathFactory
) -> Call:
    """Call a tool with a real client: in memory and over stdio with SQLite, over HTTP with PostgreSQL."""
    transport, mode = request.param.split()
    if request.param not in held:
        db = f"sqlite:///{tmp_path_factory.mktemp('todo') / 'todo.db'}"
        if transport == "memory":
            connected = Client(build_server(build(Settings(db=db, deadline=30))), mode=mode)
        elif transport == "stdio":
            connected = Client(StdioServerParameters(command=COMMAND, args=["--db", db, *PATIENT]), mode=mode)
        else:
            connected = _at(request.getfixturevalue("todo_url"), mode)
        held[request.param] = HeldClient(lambda _: connected)
    return calling(await held[request.param].client())


@asynccontextmanager
async def _at(url: str, mode: str) -> AsyncIterator[Client]:
    async with http_client() as http, Client(streamable_http_client(url, http_client=http), mode=mode) as client:
        yield client


@pytest.fixture
def user() -> str:
    """Nobody whom another test knows."""
    return f"user-{uuid4()}"
