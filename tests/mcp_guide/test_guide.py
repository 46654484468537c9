import asyncio
import threading
from dataclasses import replace
from pathlib import Path

import pytest

from mcp_guide.active_project import ActiveProjects
from mcp_guide.configuration.file import ConfigurationFile
from mcp_guide.guide import Guide
from mcp_guide.model import Configuration


@pytest.fixture
def guide(tmp_path: Path):
    file, active = ConfigurationFile(tmp_path / "guide.yaml"), ActiveProjects(folder=tmp_path)
    guide = Guide(file, active, None, tmp_path / "docs")
    yield guide
    guide.close()


async def test_a_cancelled_change_is_not_written(guide: Guide):
    started, may_continue, ended = asyncio.Event(), threading.Event(), threading.Event()
    loop = asyncio.get_running_loop()
    change = guide.file.change

    def observed_change(*arguments) -> Configuration:
        try:
            return change(*arguments)
        finally:
            ended.set()

    def set_flag(configuration: Configuration) -> Configuration:
        loop.call_soon_threadsafe(started.set)
        assert may_continue.wait(60)
        return replace(configuration, flags={"poison": True})

    guide.file.change = observed_change
    call = asyncio.create_task(guide.change_configuration(set_flag))
    await started.wait()
    call.cancel()
    with pytest.raises(asyncio.CancelledError):
        await call
    may_continue.set()
    assert await asyncio.to_thread(ended.wait, 60)
    assert (guide.file.path.exists(), guide.file.read()) == (False, Configuration())
