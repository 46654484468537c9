"""Calls that wait for the site keep nobody else waiting."""

import asyncio
from itertools import pairwise
from typing import Any

import pytest

from tests.mcp_atl.server import Server, serve


async def test_a_command_that_needs_no_site_is_answered_while_many_wait_for_it(cloud: Server):
    cloud.sandbox.faults.slow(60)
    waiting = [asyncio.create_task(cloud.call("get", "APP-1")) for _ in range(50)]
    while len(cloud.sandbox.requests) < 50:  # noqa: ASYNC110 - until all have been sent
        await asyncio.sleep(0)
    assert (await cloud.ok("help", "get"))["command"] == "get"
    assert not any(task.done() for task in waiting)
    for task in waiting:
        task.cancel()
    await asyncio.gather(*waiting, return_exceptions=True)


async def test_a_thousand_calls_at_once_are_all_answered(cloud: Server):
    found = await asyncio.gather(*(cloud.ok("get", "APP-1", response_fields=["key"]) for _ in range(1000)))
    assert found == [{"key": "APP-1"}] * 1000


async def test_calls_of_two_servers_share_nothing(cloud: Server, datacenter: Server):
    await cloud.ok("update", "APP-1", fields={"summary": "Only here"})
    assert (await datacenter.ok("get", "APP-1", response_fields=["summary"]))["summary"] == "New ticket screen"


@pytest.mark.parametrize("kind", ["cloud", "datacenter"])
async def test_other_calls_go_on_while_a_long_page_is_converted(kind: Any):
    """Counts the turns of the event loop: without a thread, a long page gives others no more than a short one."""
    chapters = [f"# {number}\n\n{'Some **words** and `code`. ' * 40}" for number in range(36)]
    turns = 0

    async def count_turns() -> None:
        nonlocal turns
        while True:
            turns += 1
            await asyncio.sleep(0)

    async def turns_with(body: str) -> list[int]:
        """Those of a page that is made, read and changed."""
        marks = [turns]
        made = await server.ok("create", "page", space="ENG", title=f"Of {len(body)}", body=body)
        marks.append(turns)
        await server.ok("get", made["id"], part="1")
        marks.append(turns)
        await server.ok("update", made["id"], section="1", body="New.")
        return [after - before for before, after in pairwise([*marks, turns])]

    async with serve(kind) as server:
        counting = asyncio.create_task(count_turns())
        short, long = await turns_with(chapters[0]), await turns_with("\n\n".join(chapters))
        counting.cancel()
    assert all(after > 3 * before for before, after in zip(short, long, strict=True)), (short, long)
