"""One suite for both stores: what holds in memory holds in Redis."""

import asyncio
import signal
from collections.abc import AsyncIterator, Callable, Sequence

import anyio
import pytest
import redis
from hypothesis import given, settings
from hypothesis import strategies as st

from mcp_core.declare.spec import RateLimit
from mcp_core.result import Body
from mcp_core.state import memory
from mcp_core.state.interface import MAX_ENTRY_LENGTH, MAX_EXACT_CALLS, State, StateUnavailable
from mcp_core.state.memory import MAX_ENTRIES, MemoryState
from mcp_core.state.redis import RedisState
from tests.thorough import examples

HOUR = 3_600_000
PATIENCE = 20.0
"""How long a Redis that is up may be silent on a busy machine."""
SHORT = 1.0
"""The same where a test waits for it."""


@pytest.fixture(params=["memory", "redis"])
async def state(request: pytest.FixtureRequest) -> AsyncIterator[State]:
    made: State = MemoryState()
    if request.param == "redis":
        made = RedisState(request.getfixturevalue("redis_url"), "test", timeout=PATIENCE)
    await made.open()
    yield made
    await made.close()


NOTES = ["notes"]


async def keep(state: State, key: str, answer: Body, ttl: float = 60, tags: Sequence[str] = ("notes",)) -> None:
    await state.store(key, (await state.lookup(key, tags)).generation, answer, ttl)


async def recall(state: State, key: str, tags: Sequence[str] = ("notes",)) -> Body | None:
    return (await state.lookup(key, tags)).answer


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
    limit = RateLimit(max_calls=100, window_ms=HOUR)
    waits = await asyncio.gather(*(state.hit("ann\0add", limit) for _ in range(1000)))
    assert waits.count(0.0) == 100


async def test_a_key_that_is_not_valid_unicode_harms_nobody(state: State):
    limit = RateLimit(max_calls=1, window_ms=HOUR)
    waits = await asyncio.gather(*(state.hit(key, limit) for key in ("ann", "\ud800", "ben", "\ud800")))
    assert waits[:3] == [0.0, 0.0, 0.0]
    assert waits[3] > 0
    await keep(state, "\ud800", Body("1"))
    assert await recall(state, "\ud800") == Body("1")


async def test_an_answer_is_found_again_whole(state: State):
    answer = Body('{"a":"ü\\u0000"}', None, "for the person", "for the agent", '{"confidence":1.0}')
    await keep(state, "key", answer)
    assert await recall(state, "key") == answer
    assert await recall(state, "other key") is None


async def test_an_answer_past_its_time_is_gone(state: State):
    await keep(state, "key", Body("1"), 0.001)
    async with asyncio.timeout(60):
        while await recall(state, "key") is not None:  # noqa: ASYNC110 - the event is in another process
            await asyncio.sleep(0.001)


async def test_a_later_answer_replaces_the_first(state: State):
    await keep(state, "key", Body("1"))
    await keep(state, "key", Body("2"))
    assert await recall(state, "key") == Body("2")


async def test_an_answer_that_is_too_large_is_not_kept(state: State):
    await keep(state, "key", Body('"' + "x" * MAX_ENTRY_LENGTH + '"'))
    await keep(state, "images", Body("1", blocks="x" * MAX_ENTRY_LENGTH))
    assert await recall(state, "key") is None
    assert await recall(state, "images") is None


async def test_forgetting_a_tag_forgets_the_answers_behind_it_and_no_others(state: State):
    for key, tags in (("notes", NOTES), ("math", ["math"]), ("both", ["math", "notes"]), ("none", [])):
        await keep(state, key, Body("1"), tags=tags)
    await state.invalidate(NOTES)
    assert await recall(state, "notes") is None
    assert await recall(state, "both", ["math", "notes"]) is None
    assert await recall(state, "math", ["math"]) == Body("1")
    assert await recall(state, "none", []) == Body("1")


async def test_an_answer_that_was_made_before_its_tag_was_forgotten_is_not_found(state: State):
    before = (await state.lookup("key", NOTES)).generation
    await state.invalidate(NOTES)
    await state.store("key", before, Body("stale"), 60)
    assert await recall(state, "key") is None


async def test_a_generation_never_comes_back(state: State):
    seen = []
    for _ in range(12):
        seen.append((await state.lookup("key", ["a", "b"])).generation)
        await state.invalidate(["a"] if len(seen) % 2 else ["b"])
    assert len(set(seen)) == 12


async def test_without_tags_there_is_nothing_to_forget(state: State):
    assert (await state.lookup("key", [])).generation == ""
    await state.invalidate([])


async def test_a_mark_stays_for_its_time(state: State):
    await state.mark("one", 60)
    await state.mark("two", 0.001)
    await asyncio.sleep(0.01)
    assert [await state.is_marked(name) for name in ("one", "two", "three")] == [True, False, False]
    assert sorted(await asyncio.gather(*(state.take_mark("one") for _ in range(3)))) == [False, False, True]
    assert not await state.is_marked("one")


async def test_a_set_has_what_was_added_and_not_taken_out(state: State):
    assert await state.members("set") == frozenset()
    for member in ("a", "b", "a"):
        await state.add_member("set", member, 60)
    await state.add_member("other", "c", 60)
    await state.remove_member("set", "b")
    await state.remove_member("set", "never added")
    assert (await state.members("set"), await state.members("other")) == ({"a"}, {"c"})


async def test_what_is_announced_is_received_in_order_by_those_who_listened_before(state: State):
    first, second, done = [], [], asyncio.Event()
    await state.announce("before")
    await state.listen(first.append)
    await state.announce("one")

    def receive(message: str) -> None:
        second.append(message)
        if message == "last":
            done.set()

    await state.listen(receive)
    for message in ("two", "ü\n", "last"):
        await state.announce(message)
    async with asyncio.timeout(60):
        await done.wait()
    assert first == ["one", "two", "ü\n", "last"]
    assert second[-3:] == ["two", "ü\n", "last"]


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
        await keep(state, f"key {number}", Body("1"))
    await recall(state, "key 0")
    await keep(state, "one more", Body("1"))
    assert await recall(state, "key 0") == Body("1")
    assert await recall(state, "key 1") is None


async def test_used_nonces_are_dropped_once_they_have_expired():
    clock = Clock()
    state = MemoryState(clock)
    for number in range(2 * MAX_ENTRIES):
        clock.now += 1
        assert await state.claim(f"nonce {number}", 10)
    assert len(state._claims) <= MAX_ENTRIES
    assert not await state.claim(f"nonce {2 * MAX_ENTRIES - 1}", 10)


@given(st.lists(st.floats(0, 3), max_size=60), st.integers(1, 5))
@settings(max_examples=examples(200))
def test_no_window_ever_has_more_calls_than_the_limit(steps: list[float], most: int):
    clock = Clock()
    state, limit = MemoryState(clock), RateLimit(most, 2_000)
    passed = []
    for step in steps:
        clock.now += step
        if asyncio.run(state.hit("key", limit)) == 0.0:
            passed.append(clock.now)
    for start in passed:
        assert sum(start <= time < start + 2 for time in passed) <= most


async def test_at_the_edge_of_a_window_the_limit_holds_as_anywhere():
    clock = Clock()
    state, limit = MemoryState(clock), RateLimit(100, 10_000)
    clock.now += 9.99
    waits = [await state.hit("key", limit) for _ in range(150)]
    clock.now += 0.02
    waits += [await state.hit("key", limit) for _ in range(150)]
    assert waits.count(0.0) == 100


async def test_a_limit_that_is_too_large_for_a_log_is_counted(state: State):
    limit = RateLimit(MAX_EXACT_CALLS + 1, HOUR)
    waits = await asyncio.gather(*(state.hit("ann", limit) for _ in range(MAX_EXACT_CALLS + 10)))
    assert waits.count(0.0) == MAX_EXACT_CALLS + 1


# ---- in Redis ------------------------------------------------------------------------------------


async def test_two_processes_on_one_redis_are_one(redis_url: str):
    one, two, limit = (
        RedisState(redis_url, "test", timeout=PATIENCE),
        RedisState(redis_url, "test", timeout=PATIENCE),
        RateLimit(2, HOUR),
    )
    assert [await one.hit("ann", limit), await two.hit("ann", limit)] == [0.0, 0.0]
    assert await one.hit("ann", limit) > 0
    assert await two.hit("ann", limit) > 0
    await keep(one, "key", Body("1"))
    assert await recall(one, "key") == await recall(two, "key") == Body("1")
    await one.invalidate(["notes"])
    assert await recall(two, "key") is None
    assert [await one.claim("nonce", 60), await two.claim("nonce", 60)] == [True, False]
    assert await one.seal_key() == await two.seal_key()
    await one.close()
    await two.close()


async def test_by_the_clock_of_redis_no_window_has_more_calls_than_the_limit(redis_server, redis_url: str):
    state, limit, passed = RedisState(redis_url, "test", timeout=PATIENCE), RateLimit(3, 20), []
    with redis.Redis(port=redis_server.port) as client:
        while len(passed) < 40:
            if await state.hit("ann", limit) == 0.0:
                newest = client.lindex("toolcharter:test:limit:ann", -1)
                passed += [int(newest)] if newest else []  # it may have expired on a busy machine
    await state.close()
    assert all(later - earlier >= 20_000 for earlier, later in zip(passed, passed[3:], strict=False))


async def test_a_limit_that_was_lowered_or_a_clock_that_was_set_back_does_not_lock_a_caller_out(
    redis_server, redis_url: str
):
    state, key = RedisState(redis_url, "test", timeout=PATIENCE), "toolcharter:test:limit:ann"
    for _ in range(5):
        assert await state.hit("ann", RateLimit(5, HOUR)) == 0.0
    assert 0 < await state.hit("ann", RateLimit(2, HOUR)) <= HOUR / 1000
    with redis.Redis(port=redis_server.port) as client:
        assert client.llen(key) == 2
        later = client.time()[0] * 1_000_000 + 3 * HOUR * 1000
        client.delete(key)
        client.rpush(key, later, later)
    assert await state.hit("ann", RateLimit(2, HOUR)) == 0.0
    await state.close()


async def test_a_redis_with_a_password_is_used_with_it_and_a_wrong_one_is_not_shown(new_redis, log):
    server = new_redis()
    with redis.Redis(port=server.port) as client:
        client.config_set("requirepass", "s3cret")
        right = RedisState(server.url.replace("//", "//:s3cret@"), "test", timeout=PATIENCE)
        assert await right.hit("ann", RateLimit(1, HOUR)) == 0.0
        wrong = RedisState(server.url.replace("//", "//:w0rd@"), "test", timeout=PATIENCE)
        with pytest.raises(StateUnavailable):
            await wrong.hit("ann", RateLimit(1, HOUR))
        await right.close()
        await wrong.close()
    assert not wrong.health().ok
    assert "w0rd" not in wrong.health().detail + "".join(log.texts)


async def test_two_servers_on_one_redis_share_nothing(redis_url: str):
    one, two, limit = RedisState(redis_url, "one"), RedisState(redis_url, "two"), RateLimit(1, HOUR)
    assert [await one.hit("ann", limit), await two.hit("ann", limit)] == [0.0, 0.0]
    await keep(one, "key", Body("1"))
    assert await recall(one, "key") == Body("1")
    assert await recall(two, "key") is None
    assert [await one.claim("nonce", 60), await two.claim("nonce", 60)] == [True, True]
    assert await one.seal_key() != await two.seal_key()
    await one.close()
    await two.close()


async def test_everything_in_redis_is_below_the_servers_name_and_shows_no_arguments(redis_server, redis_url: str):
    state = RedisState(redis_url, "demo")
    await state.hit("ann\0add", RateLimit(1, HOUR))
    await keep(state, 'ann\0add\x001.0.0\0{"pin":"4711"}', Body("1"))
    await state.invalidate(["notes"])
    await state.claim("nonce", 60)
    await state.mark("mark", 60)
    await state.announce("message")
    await state.seal_key()
    keys = redis_server.keys()
    await state.close()
    kinds = {key.removeprefix("toolcharter:demo:").partition(":")[0] for key in keys}
    assert kinds - {"probe"} == {"answer", "limit", "mark", "messages", "seal-key", "tag", "used"}
    assert all(key.startswith("toolcharter:demo:") for key in keys)
    assert not [key for key in keys if "4711" in key]


async def test_closing_leaves_no_connection_behind(redis_server, redis_url: str):
    state = RedisState(redis_url, "test", timeout=PATIENCE)
    await asyncio.gather(*(state.hit("ann", RateLimit(9, HOUR)) for _ in range(5)), state.listen(print))
    with redis.Redis(port=redis_server.port) as client:
        assert len(client.client_list()) > 1
        await state.close()
        async with asyncio.timeout(60):
            while len(client.client_list()) > 1:  # noqa: ASYNC110 - the event is in another process
                await asyncio.sleep(0.01)


@pytest.mark.parametrize("text", ["no json", "[1]", '{"shape": "of another release"}'])
async def test_an_answer_that_another_release_wrote_is_a_miss(redis_server, redis_url: str, text: str):
    state = RedisState(redis_url, "test", timeout=PATIENCE)
    await keep(state, "key", Body("1"))
    assert await recall(state, "key") == Body("1")
    with redis.Redis(port=redis_server.port, decode_responses=True) as client:
        [key] = client.keys("*:answer:*")
        client.set(key, client.get(key).partition("\n")[0] + "\n" + text)
    assert await recall(state, "key") is None
    await state.close()


USES: dict[str, Callable[[State], object]] = {
    "hit": lambda state: state.hit("ann", RateLimit(1, HOUR)),
    "invalidate": lambda state: state.invalidate(["notes"]),
    "lookup": lambda state: state.lookup("key", NOTES),
    "claim": lambda state: state.claim("nonce", 60),
    "mark": lambda state: state.mark("mark", 60),
    "take_mark": lambda state: state.take_mark("mark"),
    "is_marked": lambda state: state.is_marked("mark"),
    "announce": lambda state: state.announce("message"),
    "listen": lambda state: state.listen(print),
}


@pytest.mark.parametrize("use", USES.values(), ids=USES)
async def test_a_redis_that_cannot_be_reached_is_reported_as_unavailable(dead_url: str, use):
    state = RedisState(dead_url, "test")
    async with asyncio.timeout(60):
        with pytest.raises(StateUnavailable):
            await use(state)
    await state.close()


@pytest.mark.requirement("OPS-7")
async def test_a_redis_that_hangs_costs_one_timeout_and_then_nothing_until_it_answers_again(new_redis, log):
    server = new_redis()
    state = RedisState(server.url, "test", timeout=SHORT)
    await state.open()
    await keep(state, "key", Body("1"))
    server.process.send_signal(signal.SIGSTOP)
    async with asyncio.timeout(60):
        results = await asyncio.gather(*(use(state) for use in USES.values()), return_exceptions=True)
    assert [type(result) for result in results] == [StateUnavailable] * len(USES)
    health = state.health()
    assert (health.ok, health.detail) == (False, "no reply for 1 second")
    for _ in range(100):
        with pytest.raises(StateUnavailable):
            state.hit("ann", RateLimit(9, HOUR)).send(None)  # raises before it would wait
    assert len(await state.seal_key()) == 32  # kept since the first connection
    server.process.send_signal(signal.SIGCONT)
    await until_healthy(state)
    assert await state.hit("ann", RateLimit(9, HOUR)) == 0.0
    await state.close()
    assert [level for level, _ in log.messages] == ["ERROR", "WARNING"]
    assert log.messages[0][1] == "Redis cannot be used: no reply for 1 second"
    assert log.messages[1][1].startswith("Redis can be used again, after ")


@pytest.mark.requirement("OPS-7")
async def test_a_redis_that_comes_back_is_used_again(new_redis):
    server = new_redis()
    state = RedisState(server.url, "test", timeout=PATIENCE)
    key = await state.seal_key()
    await keep(state, "key", Body("1"))
    await state.hit("ann", RateLimit(9, HOUR))
    server.stop()
    await until_unhealthy(state)
    with pytest.raises(StateUnavailable):
        await state.lookup("key", NOTES)
    server.start()
    await until_healthy(state)
    assert await recall(state, "key") is None  # Redis was empty
    await keep(state, "key", Body("2"))
    assert await recall(state, "key") == Body("2")
    assert await state.hit("ann", RateLimit(9, HOUR)) == 0.0
    another = RedisState(server.url, "test", timeout=PATIENCE)
    assert await another.seal_key() == await state.seal_key() == key  # the one that was lost is put back
    await another.close()
    await state.close()


async def test_what_was_forgotten_while_redis_was_away_is_not_found_after_it(new_redis):
    server = new_redis()
    state = RedisState(server.url, "test", timeout=SHORT)
    await state.open()
    await keep(state, "key", Body("stale"))
    assert await recall(state, "key") == Body("stale")
    server.process.send_signal(signal.SIGSTOP)
    with pytest.raises(StateUnavailable):
        await state.lookup("key", NOTES)
    # Not sent any more. What was sent to a Redis that hangs is carried out when it goes on.
    with pytest.raises(StateUnavailable):
        await state.invalidate(NOTES)
    server.process.send_signal(signal.SIGCONT)
    await until_healthy(state)
    assert await recall(state, "key") is None
    await state.close()


async def test_a_redis_that_takes_no_writes_is_as_good_as_away(new_redis):
    server = new_redis()
    state = RedisState(server.url, "test", timeout=PATIENCE)
    await state.hit("ann", RateLimit(9, HOUR))
    with redis.Redis(port=server.port) as client:
        client.config_set("maxmemory", 1)
        with pytest.raises(StateUnavailable) as raised:
            await state.claim("nonce", 60)
        assert "maxmemory" in str(raised.value.__cause__)
        assert not (await state.check_health()).ok
        client.config_set("maxmemory", 0)
    await until_healthy(state)
    assert await state.claim("nonce", 60)
    await state.close()


async def test_a_sealing_key_that_redis_has_lost_is_put_back(redis_server, redis_url: str):
    one, two = (RedisState(redis_url, "test", timeout=PATIENCE) for _ in range(2))
    key = await one.seal_key()
    redis_server.flush()
    await one.check_health()
    assert await two.seal_key() == key
    redis_server.flush()
    three = RedisState(redis_url, "test", timeout=PATIENCE)
    other = await three.seal_key()
    assert other != key
    for state in (one, two):
        await state.check_health()
        assert await state.seal_key() == other
    for state in (one, two, three):
        await state.close()


async def test_an_answer_from_before_a_change_is_not_found_when_redis_loses_the_generation(
    redis_server, redis_url: str
):
    state = RedisState(redis_url, "test", timeout=PATIENCE)
    await keep(state, "key", Body("stale"))
    assert await recall(state, "key") == Body("stale")
    await state.invalidate(NOTES)
    with redis.Redis(port=redis_server.port) as client:
        assert client.delete("toolcharter:test:tag:notes") == 1
    assert await recall(state, "key") is None
    await state.close()


async def test_a_redis_that_has_lost_its_scripts_gets_them_again(redis_server, redis_url: str):
    state = RedisState(redis_url, "test", timeout=PATIENCE)
    assert await state.hit("ann", RateLimit(2, HOUR)) == 0.0
    with redis.Redis(port=redis_server.port) as client:
        client.script_flush()
    assert await state.hit("ann", RateLimit(2, HOUR)) == 0.0
    assert await state.hit("ann", RateLimit(2, HOUR)) > 0
    await state.close()


async def test_a_connection_that_redis_closes_is_opened_again(redis_server, redis_url: str):
    state = RedisState(redis_url, "test", timeout=PATIENCE)
    await state.open()
    with redis.Redis(port=redis_server.port) as client:
        client.client_kill_filter(_type="normal", skipme=True)
    async with asyncio.timeout(60):
        while True:
            try:  # one that was on its way is lost
                assert await state.hit("ann", RateLimit(9, HOUR)) == 0.0
                break
            except StateUnavailable:
                await asyncio.sleep(0.01)
    assert state.health().ok
    await state.close()


async def test_messages_are_received_again_after_redis_hung(new_redis):
    server, received, done = new_redis(), [], asyncio.Event()
    state, other = (RedisState(server.url, "test", timeout=SHORT) for _ in range(2))

    def receive(message: str) -> None:
        received.append(message)
        if message == "after":
            done.set()

    await state.open()
    await state.listen(receive)
    await other.open()
    await other.announce("before")
    server.process.send_signal(signal.SIGSTOP)
    with pytest.raises(StateUnavailable):
        await other.announce("lost")
    server.process.send_signal(signal.SIGCONT)
    await until_healthy(other)
    await other.announce("after")
    async with asyncio.timeout(60):
        await done.wait()
    assert [message for message in received if message != "lost"] == ["before", "after"]
    await state.close()
    await other.close()


async def until_healthy(state: State) -> None:
    async with asyncio.timeout(60):
        while not (await state.check_health()).ok:  # noqa: ASYNC110 - the event is in another process
            await asyncio.sleep(0.01)


async def until_unhealthy(state: State) -> None:
    async with asyncio.timeout(60):
        while (await state.check_health()).ok:  # noqa: ASYNC110 - the event is in another process
            await asyncio.sleep(0.01)


async def test_the_health_of_a_redis_follows_it_down_and_up(new_redis):
    server = new_redis()
    state = RedisState(server.url, "test", timeout=SHORT)
    first = await state.check_health()
    assert (first.name, first.ok, first.detail) == ("redis", True, "")
    server.stop()
    await until_unhealthy(state)
    down = state.health()
    assert down.detail
    assert down.since >= first.since
    assert state.health() == await state.check_health() == down
    server.start()
    await until_healthy(state)
    await state.close()


async def test_a_store_in_memory_depends_on_nothing():
    state = MemoryState()
    assert (state.health(), await state.check_health()) == (None, None)


async def test_a_call_that_is_being_cancelled_still_forgets(redis_url: str):
    # A cancel scope of anyio, which MCP libraries use, cancels again at every wait.
    state = RedisState(redis_url, "test", timeout=PATIENCE)
    before = (await state.lookup("key", NOTES)).generation
    with anyio.CancelScope() as scope:
        scope.cancel()
        try:
            await asyncio.sleep(60)
        finally:
            await state.invalidate(["notes"])
    async with asyncio.timeout(60):
        while (await state.lookup("key", NOTES)).generation == before:  # noqa: ASYNC110 - another process
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
