"""An agent's first try: of 25 natural calls of a server, at least 21 work or are corrected in one step."""

from collections.abc import AsyncGenerator
from contextlib import asynccontextmanager
from importlib.metadata import entry_points
from typing import Any

import pytest

from mcp_core import App, Settings
from tests.mcp_atl.server import serve
from tests.natural_calls import DATA, failures, natural_calls

SERVERS = sorted(path.stem.removeprefix("natural_calls_") for path in DATA.glob("natural_calls_*.jsonl"))
LEAST = 21


@asynccontextmanager
async def opened(server: str, tmp_path: Any) -> AsyncGenerator[App]:
    """A server with the data that its calls are about."""
    if server == "atl":
        async with serve() as atl:
            yield atl.app
        return
    (entry,) = entry_points(group="toolcharter.servers", name=server)
    async with entry.load()(Settings(db=f"sqlite:///{tmp_path / 'data.db'}")) as app:
        await app.prepare_examples(app)
        yield app


@pytest.mark.requirement("PRO-7")
@pytest.mark.parametrize("server", SERVERS)
async def test_natural_first_calls_work_or_are_corrected_in_one_step(server: str, tmp_path: Any):
    calls = natural_calls(server)
    async with opened(server, tmp_path) as app:
        failed = await failures(app, calls)
    assert len(calls) == 25
    assert len(calls) - len(failed) >= LEAST, "\n".join(f"{call}: {error}" for call, error in failed)
