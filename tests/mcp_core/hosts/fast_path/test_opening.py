from contextlib import suppress

import pytest

from mcp_core.hosts.fast_path import opening as module
from mcp_core.hosts.fast_path.methods import FastPath
from mcp_core.hosts.fast_path.opening import open_in_background
from mcp_core.hosts.protocol import Peer, RpcError
from mcp_core.process.start_errors import CannotStart
from tests.mcp_core.declared import Life
from toolcharter import App, Caller, tool


@tool
def ping() -> str:
    """Answer."""
    return "pong"


@pytest.fixture(autouse=True)
def _no_timer(monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setattr(module, "MAX_DELAY_SECONDS", 3600.0)


async def test_a_list_is_answered_before_the_app_is_opened_and_then_opens_it():
    app = App("pinger", version="1.0.0", tools=[ping])
    async with open_in_background(app) as opening:
        fast_path = FastPath(app, opening)
        await fast_path.answer("tools/list", {}, Peer(Caller(), modern=False))
        assert not app.is_open
        await opening.opened
        assert app.is_open
    assert not app.is_open


async def test_a_call_opens_the_app_at_once(monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setattr(module, "DELAY_SECONDS", 3600.0)
    app = App("pinger", version="1.0.0", tools=[ping])
    async with open_in_background(app) as opening:
        params = {"name": "ping", "arguments": {}}
        answer = await FastPath(app, opening).answer("tools/call", params, Peer(Caller(), modern=False))
        assert "pong" in answer
        assert app.is_open


async def test_without_any_request_the_app_is_opened_after_a_while(monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setattr(module, "MAX_DELAY_SECONDS", 0.0)
    app = App("pinger", version="1.0.0", tools=[ping])
    async with open_in_background(app) as opening:
        await opening.opened
        assert app.is_open


async def test_an_app_that_cannot_be_opened_is_noticed_though_nothing_was_requested():
    async def fail() -> Life:
        raise OSError("no database")

    app = App("pinger", version="1.0.0", tools=[ping])
    app.provide(Life, fail)
    with pytest.raises(OSError, match="no database"):
        async with open_in_background(app):
            pass


@pytest.mark.requirement("FAR-5")
async def test_a_request_that_arrived_before_the_failure_gets_the_reason_too():
    async def fail() -> Life:
        raise CannotStart("The database is away. Start it.")

    app = App("pinger", version="1.0.0", tools=[ping])
    app.provide(Life, fail)
    with suppress(CannotStart):
        async with open_in_background(app) as opening:
            fast_path = FastPath(app, opening)
            answers = [
                fast_path.answer("resources/read", {"uri": "toolcharter://health"}, Peer(Caller(), modern=False)),
                fast_path.answer("tools/call", {"name": "ping", "arguments": {}}, Peer(Caller(), modern=False)),
            ]
            opening.begun.set()
            await opening.failed.wait()
            for answer in answers:
                with pytest.raises(RpcError, match=r"pinger cannot start\. The database is away\. Start it\."):
                    await answer
