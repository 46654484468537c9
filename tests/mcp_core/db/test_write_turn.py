"""The turn to write to a SQLite file."""

import asyncio

import pytest

from mcp_core.db.write_turn import WriteTurn


async def test_the_turn_is_taken_in_order_and_those_that_do_not_hold_it_go_on_together():
    turn, order = WriteTurn(), list[str]()

    async def hold(name: str) -> None:
        await turn.take(long=True)
        order.append(name)

    async def pass_by(name: str) -> None:
        await turn.until_free()
        order.append(name)

    await turn.take(long=True)
    tasks = [asyncio.create_task(wait) for wait in (pass_by("a"), pass_by("b"), hold("c"), pass_by("d"), hold("e"))]
    await asyncio.sleep(0)
    assert order == []
    turn.end()
    await asyncio.gather(*tasks[:3])
    assert order == ["a", "b", "c"]
    turn.end()
    await asyncio.wait_for(asyncio.gather(*tasks[3:]), 30)
    assert order == ["a", "b", "c", "d", "e"]


async def test_one_that_is_cancelled_when_its_turn_comes_lets_the_next_one_go_on():
    turn = WriteTurn()
    await turn.take(long=True)
    first, second = (asyncio.create_task(turn.take(long=True)) for _ in range(2))
    await asyncio.sleep(0)
    turn.end()
    first.cancel()
    with pytest.raises(asyncio.CancelledError):
        await first
    await asyncio.wait_for(second, 30)
