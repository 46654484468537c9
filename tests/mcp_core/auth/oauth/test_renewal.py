"""Renewals that several calls share."""

import asyncio

import pytest

from mcp_core.auth.oauth.renewal import SharedRenewal


async def test_calls_at_the_same_time_share_one_renewal_that_outlives_them():
    may_end, renewals = asyncio.Event(), 0

    async def renew() -> int:
        nonlocal renewals
        renewals += 1
        await may_end.wait()
        return renewals

    renewal = SharedRenewal[int]()
    first, second = (asyncio.create_task(renewal.run(renew)) for _ in range(2))
    await asyncio.sleep(0)
    first.cancel()
    with pytest.raises(asyncio.CancelledError):
        await first
    may_end.set()
    assert await second == 1
    assert await renewal.run(renew) == 2
