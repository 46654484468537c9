import asyncio
import shutil
from collections.abc import AsyncIterator, Iterator
from pathlib import Path

import pytest
import pytest_asyncio

from mcp_core import App
from mcp_core.db import address, open_database
from mcp_noema.store.opening import MIGRATIONS
from tests.conftest import PostgresServer
from tests.mcp_noema.compiled_statements import shared_between_engines
from tests.mcp_noema.learner import Clock, Learner, open_app


@pytest.fixture(scope="session", autouse=True)
def _compiled_statements() -> Iterator[None]:
    with shared_between_engines():
        yield


@pytest.fixture
def clock() -> Clock:
    """The time of the server, which stands still until a test moves it."""
    return Clock()


async def migrated(url: str) -> str:
    async with open_database(address(url, "noema")) as database:
        await MIGRATIONS.apply(database)
    return url


@pytest.fixture(scope="session")
def sqlite_collection(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A collection with nothing in it. Tests copy it: to make the tables takes longer than most of them."""
    file = tmp_path_factory.mktemp("collection") / "noema.db"
    asyncio.run(migrated(f"sqlite:///{file}"))
    return file


@pytest.fixture(scope="session")
def postgres_collection(postgres_server: PostgresServer) -> str:
    """The name of a database with the same, for the same reason."""
    name = postgres_server.new_database()
    asyncio.run(migrated(postgres_server.url(name)))
    return name


@pytest.fixture(params=["sqlite", "postgresql"])
def db_url(request: pytest.FixtureRequest, tmp_path: Path) -> Iterator[str]:
    """The address of a collection with nothing in it, in a database of either kind."""
    if request.param == "sqlite":
        copied = shutil.copy(request.getfixturevalue("sqlite_collection"), tmp_path / "noema.db")
        yield f"sqlite:///{copied}"
        return
    like, server = request.getfixturevalue("postgres_collection"), request.getfixturevalue("postgres_server")
    name = server.new_database(like)
    yield server.url(name)
    server.sql(f"DROP DATABASE {name} WITH (FORCE)")


@pytest_asyncio.fixture
async def app(db_url: str, clock: Clock) -> AsyncIterator[App]:
    """The server over an empty collection, of either kind."""
    async with open_app(db_url, clock) as opened:
        yield opened


@pytest.fixture
def ana(app: App, clock: Clock) -> Learner:
    return Learner(app, clock, "ana")


@pytest.fixture
def bob(app: App, clock: Clock) -> Learner:
    return Learner(app, clock, "bob")
