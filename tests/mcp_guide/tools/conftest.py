from collections.abc import AsyncIterator
from pathlib import Path

import pytest
import pytest_asyncio

from mcp_core import App
from tests.mcp_guide.guide_server import Call, build_guide, make_call, write_documents


@pytest.fixture
def root(tmp_path: Path) -> Path:
    """The document root of `call`."""
    return write_documents(tmp_path / "docs")


@pytest_asyncio.fixture
async def app(root: Path, tmp_path: Path) -> AsyncIterator[App]:
    """A guide with a few documents."""
    async with build_guide(tmp_path) as app:
        yield app


@pytest.fixture
def call(app: App) -> Call:
    """Call a tool of the guide."""
    return make_call(app)
