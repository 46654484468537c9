from collections.abc import AsyncIterator

import pytest
import pytest_asyncio

from mcp_core import App
from tests.mcp_noema.learning import Clock, Learner, learning


@pytest.fixture
def clock() -> Clock:
    """The time of the server, which stands still until a test moves it."""
    return Clock()


@pytest_asyncio.fixture
async def app(db_url: str, clock: Clock) -> AsyncIterator[App]:
    """The server over an empty database, of either kind."""
    async with learning(db_url, clock) as opened:
        yield opened


@pytest.fixture
def ana(app: App, clock: Clock) -> Learner:
    return Learner(app, clock, "ana")


@pytest.fixture
def bob(app: App, clock: Clock) -> Learner:
    return Learner(app, clock, "bob")
