from collections.abc import AsyncIterator
from pathlib import Path

import pytest
import pytest_asyncio

from tests.mcp_guide.guide_server import Call, built, calling, place


@pytest.fixture
def root(tmp_path: Path) -> Path:
    """The document root of `call`."""
    return place(tmp_path / "docs")


@pytest_asyncio.fixture
async def call(root: Path, tmp_path: Path) -> AsyncIterator[Call]:
    """Call a tool of a guide with a few documents."""
    async with built(tmp_path) as app:
        yield calling(app)
