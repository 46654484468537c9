"""Renewals that several calls share."""

import asyncio
from pathlib import Path

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


async def test_renewals_with_the_same_lock_file_run_one_after_the_other(tmp_path: Path):
    began, may_end, under_way, most = asyncio.Event(), asyncio.Event(), 0, 0

    async def renew() -> None:
        nonlocal under_way, most
        under_way += 1
        most = max(most, under_way)
        began.set()
        await may_end.wait()
        under_way -= 1

    lock_file = tmp_path / "new folder" / "renewal.lock"
    renewals = [asyncio.create_task(SharedRenewal[None]().run(renew, lock_file)) for _ in range(3)]
    await began.wait()
    for _ in range(20):
        await asyncio.to_thread(lambda: None)  # the others come as far as they can
    may_end.set()
    await asyncio.gather(*renewals)
    assert (under_way, most) == (0, 1)
