from collections.abc import AsyncIterator
from pathlib import Path

import pytest
import pytest_asyncio

from tests.mcp_guide.guide_server import Call, build_guide, make_call, write_documents


@pytest.fixture
def root(tmp_path: Path) -> Path:
    """The document root of `call`."""
    return write_documents(tmp_path / "docs")


@pytest_asyncio.fixture
async def call(root: Path, tmp_path: Path) -> AsyncIterator[Call]:
    """Call a tool of a guide with a few documents."""
    async with build_guide(tmp_path) as app:
        yield make_call(app)
