from collections.abc import AsyncGenerator

import pytest

from tests.mcp_atl.server import Server, serve


@pytest.fixture(params=["cloud", "datacenter"])
async def server(request: pytest.FixtureRequest) -> AsyncGenerator[Server]:
    """A server with a sandbox of each kind."""
    async with serve(request.param) as made:
        yield made


@pytest.fixture
async def cloud() -> AsyncGenerator[Server]:
    async with serve("cloud") as made:
        yield made


@pytest.fixture
async def datacenter() -> AsyncGenerator[Server]:
    async with serve("datacenter") as made:
        yield made
