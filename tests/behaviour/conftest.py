from collections.abc import AsyncIterator, Callable
from functools import partial

import pytest
import pytest_asyncio

from tests.behaviour.combinations import Combination, Connect, Pool, params


@pytest_asyncio.fixture(scope="session", loop_scope="session")
async def pool(tmp_path_factory: pytest.TempPathFactory) -> AsyncIterator[Pool]:
    """The servers that the tests share."""
    made = Pool(tmp_path_factory.mktemp("served"))
    yield made
    await made.close()


@pytest.fixture(params=params())
def combination(request: pytest.FixtureRequest) -> Combination:
    """A host, a transport and a protocol era."""
    return request.param


@pytest.fixture
def connect(combination: Combination, pool: Pool) -> Connect:
    """`async with connect(user=..., person=..., can_ask=...) as client:` over this combination."""
    return partial(pool.connect, combination)


@pytest.fixture
def server_log(combination: Combination, pool: Pool) -> Callable[[], str]:
    """What the server behind `connect()` has written to stderr."""

    def read() -> str:
        if combination.transport == "stdio":
            return pool.stdio_log(combination).read_text()
        return pool.server(combination).log.read_text()

    return read
