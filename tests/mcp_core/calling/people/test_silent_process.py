"""A call that waits at a process that was killed is soon not shown at the others."""

import asyncio

import pytest

from mcp_core.calling.people import Approvals, Verdict, Waiting, approvals
from mcp_core.state.memory import MemoryState

HELD = Waiting("held", "s", "t", "q", {}, "", "c", "a", 0, 9999, "", "", is_held=True)
OFFERED = HELD._replace(id="offered", is_held=False)


async def until_shown(numbers: list[str], at: Approvals) -> None:
    """Wait until exactly these are shown."""
    changes = at.changes.listen(60.0)
    async with asyncio.timeout(30):
        await anext(changes)
        while [one.id for one in await at.list()] != numbers:
            await anext(changes)
    await changes.aclose()


async def test_a_call_at_a_silent_process_is_dropped_and_shown_again_when_the_process_is_heard(monkeypatch):
    monkeypatch.setattr(approvals, "LOOK_SECONDS", 0.01)
    now, state = 1000.0, MemoryState()
    here, there = (Approvals(state, clock=lambda: now) for _ in range(2))
    await there.list()
    await here.offer("binding", OFFERED)
    call = asyncio.ensure_future(here.ask(HELD, None))
    await until_shown(["offered", "held"], there)
    with monkeypatch.context() as silence:
        silence.setattr(here, "_announce", lambda *_: asyncio.sleep(0))
        now += approvals.SILENT_SECONDS + 1
        await until_shown(["offered"], there)  # the client has this question, and can call any process
        assert [one.id for one in await here.list()] == ["offered", "held"]
    await until_shown(["offered", "held"], there)
    await there.answer("held", Verdict(accepted=True, by="user:bob"))
    assert await call == (True, "user:bob")
    await asyncio.gather(here.close(), there.close())


async def test_a_call_whose_process_is_heard_stays_for_as_long_as_it_waits(monkeypatch):
    monkeypatch.setattr(approvals, "LOOK_SECONDS", 0.01)
    now, state = 1000.0, MemoryState()
    here, there = (Approvals(state, clock=lambda: now) for _ in range(2))
    await there.list()
    call = asyncio.ensure_future(here.ask(HELD, None))
    await until_shown(["held"], there)
    heard: asyncio.Queue[str] = asyncio.Queue()
    await state.listen(heard.put_nowait)
    for _ in range(3):
        now += approvals.SILENT_SECONDS - 1
        async with asyncio.timeout(30):
            await heard.get()
            await heard.get()  # the first may have been sent before
        assert [one.id for one in await there.list()] == ["held"]
    call.cancel()
    with pytest.raises(asyncio.CancelledError):
        await call
    await asyncio.gather(here.close(), there.close())
