"""Calls that wait for the site keep nobody else waiting."""

import asyncio

from tests.mcp_atl.server import Server


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
