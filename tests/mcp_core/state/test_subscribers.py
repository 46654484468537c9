import asyncio
from collections.abc import AsyncGenerator

import pytest

from mcp_core.state.subscribers import MAX_SUBSCRIBERS, MAX_WAITING, Subscribers, TooManySubscribers


async def begin(subscribers: Subscribers[int], idle: float = 60.0) -> AsyncGenerator[int | None]:
    """A subscriber that listens."""
    stream = subscribers.listen(idle)
    assert await anext(stream) is None
    return stream


async def test_everyone_who_listens_gets_each_item():
    subscribers = Subscribers[int]()
    subscribers.send(0)  # nobody listens
    one, two = await begin(subscribers), await begin(subscribers)
    subscribers.send(1)
    subscribers.send(2)
    assert [await anext(stream) for stream in (one, one, two, two)] == [1, 2, 1, 2]


async def test_who_does_not_keep_up_is_dropped_and_the_others_stay():
    subscribers = Subscribers[int]()
    slow, quick = await begin(subscribers), await begin(subscribers)
    for number in range(MAX_WAITING + 1):
        subscribers.send(number)
        assert await anext(quick) == number
    with pytest.raises(StopAsyncIteration):
        await anext(slow)
    subscribers.send(-1)
    assert await anext(quick) == -1


async def test_something_runs_only_while_somebody_listens():
    events: list[str] = []
    subscribers = Subscribers[int](lambda: events.append("first"), lambda: events.append("last"))
    one, two = await begin(subscribers), await begin(subscribers)
    await one.aclose()
    assert events == ["first"]
    await two.aclose()
    assert events == ["first", "last"]


async def test_all_subscriptions_end_at_once_and_no_new_one_begins():
    subscribers = Subscribers[int]()
    streams = [await begin(subscribers)]
    item = asyncio.ensure_future(anext(streams[0]))
    await asyncio.sleep(0)
    subscribers.stop()
    with pytest.raises(StopAsyncIteration):
        await item
    streams.append(await begin(subscribers))
    with pytest.raises(StopAsyncIteration):
        await anext(streams[1])


async def test_a_quiet_stream_shows_signs_of_life():
    assert await anext(await begin(Subscribers[int](), idle=0.001)) is None


async def test_no_more_can_listen_than_there_is_room_for():
    subscribers = Subscribers[int]()
    streams = [await begin(subscribers) for _ in range(MAX_SUBSCRIBERS)]
    with pytest.raises(TooManySubscribers):
        await begin(subscribers)
    await streams[0].aclose()
    await begin(subscribers)
