"""One suite for both stores: what holds in memory holds in Redis."""

import asyncio
import json
import signal
from collections.abc import AsyncIterator, Callable

import anyio
import pytest
import redis

from mcp_core.declare.spec import RateLimit
from mcp_core.state import memory
from mcp_core.state.interface import LARGEST_ENTRY, CachedAnswer, State, StateUnavailable
from mcp_core.state.memory import MAX_ENTRIES, MemoryState
from mcp_core.state.redis import RedisState

HOUR = 3_600_000


@pytest.fixture(params=["memory", "redis"])
async def state(request: pytest.FixtureRequest) -> AsyncIterator[State]:
    made: State = MemoryState()
    if request.param == "redis":
        made = RedisState(request.getfixturevalue("redis_url"), "test")
    yield made
    await made.close()


async def test_calls_up_to_the_limit_pass_and_the_next_one_must_wait(state: State):
    limit = RateLimit(max_calls=3, window_ms=HOUR)
    waits = [await state.hit("ann\0add", limit) for _ in range(5)]
    assert waits[:3] == [0.0, 0.0, 0.0]
    assert all(0 < wait <= 2 * HOUR / 1000 for wait in waits[3:])


async def test_each_key_has_its_own_count(state: State):
    limit = RateLimit(max_calls=1, window_ms=HOUR)
    keys = ["ann\0add", "ben\0add", "ann\0list"]
    assert [await state.hit(key, limit) for key in keys] == [0.0, 0.0, 0.0]
    assert all([await state.hit(key, limit) > 0 for key in keys])


async def test_of_many_calls_at_once_exactly_the_limit_passes(state: State):
    limit = RateLimit(max_calls=10, window_ms=HOUR)
    waits = await asyncio.gather(*(state.hit("ann\0add", limit) for _ in range(40)))
    assert waits.count(0.0) == 10


async def test_an_answer_is_found_again_whole(state: State):
    answer = CachedAnswer('{"a":"ü\\u0000"}', "for the person", "for the agent", '{"confidence":1.0}')
    await state.remember("key", answer, 60)
    assert await state.recall("key") == answer
    assert await state.recall("other key") is None


async def test_an_answer_past_its_time_is_gone(state: State):
    await state.remember("key", CachedAnswer("1"), 0.001)
    await asyncio.sleep(0.01)
    assert await state.recall("key") is None


async def test_a_later_answer_replaces_the_first(state: State):
    await state.remember("key", CachedAnswer("1"), 60)
    await state.remember("key", CachedAnswer("2"), 60)
    assert await state.recall("key") == CachedAnswer("2")


async def test_an_answer_that_is_too_large_is_not_kept(state: State):
    await state.remember("key", CachedAnswer('"' + "x" * LARGEST_ENTRY + '"'), 60)
    assert await state.recall("key") is None


async def test_forgetting_a_tag_changes_its_generation_and_no_other(state: State):
    before = {tag: await state.generation([tag]) for tag in ("notes", "math")}
    both = await state.generation(["math", "notes"])
    await state.forget(["notes"])
    assert await state.generation(["notes"]) != before["notes"]
    assert await state.generation(["math"]) == before["math"]
    assert await state.generation(["math", "notes"]) != both


async def test_a_generation_never_comes_back(state: State):
    seen = []
    for _ in range(12):
        seen.append(await state.generation(["a", "b"]))
        await state.forget(["a"] if len(seen) % 2 else ["b"])
    assert len(set(seen)) == 12


async def test_without_tags_there_is_nothing_to_forget(state: State):
    assert await state.generation([]) == ""
    await state.forget([])


async def test_a_nonce_is_claimed_once(state: State):
    assert await state.claim("nonce", 60) is True
    assert await state.claim("nonce", 60) is False
    assert await state.claim("another", 60) is True


async def test_of_many_who_claim_at_once_one_wins(state: State):
    assert sum(await asyncio.gather(*(state.claim("nonce", 60) for _ in range(20)))) == 1


async def test_the_seal_key_is_long_and_stays(state: State):
    first = await state.seal_key()
    assert len(first) == 32
    assert await state.seal_key() == first


# ---- in memory -----------------------------------------------------------------------------------


class Clock:
    def __init__(self) -> None:
        self.now = 1_000_000.0

    def __call__(self) -> float:
        return self.now


async def test_a_caller_who_waits_for_that_time_passes():
    clock = Clock()
    state, limit = MemoryState(clock), RateLimit(max_calls=4, window_ms=10_000)
    for step in (0.0, 0.0, 3.0, 9.0):
        clock.now += step
        assert await state.hit("key", limit) == 0.0
    refused = 0
    for _ in range(12):
        wait = await state.hit("key", limit)
        refused += wait > 0
        clock.now += wait + 1e-6
        assert await state.hit("key", limit) == 0.0
    assert refused > 3


async def test_over_time_no_more_passes_than_the_limit_and_not_much_less():
    clock = Clock()
    state, limit = MemoryState(clock), RateLimit(max_calls=5, window_ms=1_000)
    passed = []
    for _ in range(200):
        clock.now += 0.05
        if await state.hit("key", limit) == 0.0:
            passed.append(clock.now)
    assert 40 <= len(passed) <= 50  # ten seconds at five a second
    clock.now += 60
    assert await state.hit("key", limit) == 0.0


async def test_many_callers_of_a_short_limit_do_not_reset_a_long_one():
    clock = Clock()
    state, long, short = MemoryState(clock), RateLimit(1, HOUR), RateLimit(1, 1)
    assert await state.hit("ann", long) == 0.0
    for number in range(MAX_ENTRIES + 1):
        await state.hit(f"caller {number}", short)
    assert await state.hit("ann", long) > 0


async def test_windows_that_have_passed_are_dropped():
    clock = Clock()
    state, short = MemoryState(clock), RateLimit(1, 1)
    for number in range(3 * MAX_ENTRIES):
        clock.now += 1
        await state.hit(f"caller {number}", short)
    assert len(state._windows) <= MAX_ENTRIES


async def test_the_memory_keeps_the_answers_used_last():
    state = MemoryState()
    for number in range(MAX_ENTRIES):
        await state.remember(f"key {number}", CachedAnswer("1"), 60)
    await state.recall("key 0")
    await state.remember("one more", CachedAnswer("1"), 60)
    assert await state.recall("key 0") == CachedAnswer("1")
    assert await state.recall("key 1") is None


async def test_used_nonces_are_dropped_once_they_have_expired():
    clock = Clock()
    state = MemoryState(clock)
    for number in range(2 * MAX_ENTRIES):
        clock.now += 1
        assert await state.claim(f"nonce {number}", 10)
    assert len(state._claims) <= MAX_ENTRIES
    assert not await state.claim(f"nonce {2 * MAX_ENTRIES - 1}", 10)


# ---- in Redis ------------------------------------------------------------------------------------


async def test_two_processes_on_one_redis_are_one(redis_url: str):
    one, two, limit = RedisState(redis_url, "test"), RedisState(redis_url, "test"), RateLimit(2, HOUR)
    assert [await one.hit("ann", limit), await two.hit("ann", limit)] == [0.0, 0.0]
    assert await one.hit("ann", limit) > 0
    assert await two.hit("ann", limit) > 0
    await one.remember("key", CachedAnswer("1"), 60)
    assert await two.recall("key") == CachedAnswer("1")
    await one.forget(["notes"])
    assert await one.generation(["notes"]) == await two.generation(["notes"]) == "1"
    assert [await one.claim("nonce", 60), await two.claim("nonce", 60)] == [True, False]
    assert await one.seal_key() == await two.seal_key()
    await one.close()
    await two.close()


async def test_two_servers_on_one_redis_share_nothing(redis_url: str):
    one, two, limit = RedisState(redis_url, "one"), RedisState(redis_url, "two"), RateLimit(1, HOUR)
    assert [await one.hit("ann", limit), await two.hit("ann", limit)] == [0.0, 0.0]
    await one.remember("key", CachedAnswer("1"), 60)
    assert await two.recall("key") is None
    assert [await one.claim("nonce", 60), await two.claim("nonce", 60)] == [True, True]
    assert await one.seal_key() != await two.seal_key()
    await one.close()
    await two.close()


async def test_everything_in_redis_is_below_the_servers_name_and_shows_no_arguments(redis_server, redis_url: str):
    state = RedisState(redis_url, "demo")
    await state.hit("ann\0add", RateLimit(1, HOUR))
    await state.remember('ann\0add\x001.0.0\x000\0{"pin":"4711"}', CachedAnswer("1"), 60)
    await state.forget(["notes"])
    await state.claim("nonce", 60)
    await state.seal_key()
    await state.close()
    keys = redis_server.keys()
    assert len(keys) == 5
    assert all(key.startswith("toolcharter:demo:") for key in keys)
    assert not [key for key in keys if "4711" in key]


async def test_closing_leaves_no_connection_behind(redis_server, redis_url: str):
    state = RedisState(redis_url, "test")
    await asyncio.gather(*(state.hit("ann", RateLimit(9, HOUR)) for _ in range(5)), state.recall("key"))
    with redis.Redis(port=redis_server.port) as client:
        assert len(client.client_list()) > 1
        await state.close()
        async with asyncio.timeout(60):
            while len(client.client_list()) > 1:  # noqa: ASYNC110 - the event is in another process
                await asyncio.sleep(0.01)


@pytest.mark.parametrize("text", ["no json", "[1]", json.dumps({"data": "1", "shape": "of another release"})])
async def test_an_answer_that_another_release_wrote_is_a_miss(redis_url: str, text: str):
    state = RedisState(redis_url, "test")
    await state.remember("key", CachedAnswer("1"), 60)
    await state._redis.set(state._hashed("key"), text)
    assert await state.recall("key") is None
    await state.close()


USES: dict[str, Callable[[State], object]] = {
    "hit": lambda state: state.hit("ann", RateLimit(1, HOUR)),
    "generation": lambda state: state.generation(["notes"]),
    "forget": lambda state: state.forget(["notes"]),
    "recall": lambda state: state.recall("key"),
    "remember": lambda state: state.remember("key", CachedAnswer("1"), 60),
    "claim": lambda state: state.claim("nonce", 60),
    "seal_key": lambda state: state.seal_key(),
}


@pytest.mark.parametrize("use", USES.values(), ids=USES)
async def test_a_redis_that_cannot_be_reached_is_reported_as_unavailable(dead_url: str, use):
    state = RedisState(dead_url, "test")
    async with asyncio.timeout(60):
        with pytest.raises(StateUnavailable):
            await use(state)
    await state.close()


async def test_a_redis_that_hangs_is_reported_as_unavailable(new_redis):
    server = new_redis()
    state = RedisState(server.url, "test")
    await state.hit("ann", RateLimit(9, HOUR))
    await state.recall("key")
    server.process.send_signal(signal.SIGSTOP)
    async with asyncio.timeout(60):
        results = await asyncio.gather(*(use(state) for use in USES.values()), return_exceptions=True)
    assert [type(result) for result in results] == [StateUnavailable] * len(USES)
    await state.close()


async def test_a_redis_that_comes_back_is_used_again(new_redis):
    server = new_redis()
    state = RedisState(server.url, "test")
    await state.remember("key", CachedAnswer("1"), 60)
    await state.hit("ann", RateLimit(9, HOUR))
    server.stop()
    with pytest.raises(StateUnavailable):
        await state.recall("key")
    server.start()
    await state.remember("key", CachedAnswer("2"), 60)
    assert await state.recall("key") == CachedAnswer("2")
    assert await state.hit("ann", RateLimit(9, HOUR)) == 0.0
    await state.close()


async def test_the_health_of_a_redis_follows_it_down_and_up(new_redis):
    server = new_redis()
    state = RedisState(server.url, "test")
    first = await state.check_health()
    assert (first.name, first.ok, first.detail) == ("redis", True, "")
    server.stop()
    down = await state.check_health()
    assert not down.ok
    assert down.detail
    assert down.since >= first.since
    assert state.health() == await state.check_health() == down
    server.start()
    assert (await state.check_health()).ok
    await state.close()


async def test_a_store_in_memory_depends_on_nothing():
    state = MemoryState()
    assert (state.health(), await state.check_health()) == (None, None)


async def test_a_call_that_is_being_cancelled_still_forgets(redis_url: str):
    # A cancel scope of anyio, which MCP libraries use, cancels again at every wait.
    state = RedisState(redis_url, "test")
    with anyio.CancelScope() as scope:
        scope.cancel()
        try:
            await asyncio.sleep(60)
        finally:
            await state.forget(["notes"])
    async with asyncio.timeout(60):
        while await state.generation(["notes"]) == "0":  # noqa: ASYNC110 - the event is in another process
            await asyncio.sleep(0.01)
    await state.close()


async def test_used_confirmations_in_memory_have_a_bound_and_none_is_forgotten_early(monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setattr(memory, "MAX_CLAIMS", 3)
    now = 0.0
    state = MemoryState(clock=lambda: now)
    assert [await state.claim(str(number), 10) for number in range(3)] == [True] * 3
    with pytest.raises(StateUnavailable):
        await state.claim("3", 10)
    assert await state.claim("0", 10) is False
    now = 10.0
    assert await state.claim("3", 10) is True
    assert len(state._claims) == 1
