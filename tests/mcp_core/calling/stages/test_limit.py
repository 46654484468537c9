import asyncio
import json
import signal
from collections.abc import Callable
from typing import Any

import pytest

from mcp_core import App, Caller, RateLimit, Settings
from mcp_core.state.memory import MemoryState
from tests.mcp_core.declared import Number, query

ANN, BEN = Caller("user:ann"), Caller("user:ben")
TWO_AN_HOUR = RateLimit(max_calls=2, window_ms=3_600_000)


class Clock:
    now = 0.0

    def __call__(self) -> float:
        return self.now


@query(rate_limit=TWO_AN_HOUR)
async def ping() -> int:
    return 1


@query(rate_limit=TWO_AN_HOUR)
async def pong() -> int:
    return 2


@query()
async def unlimited() -> int:
    return 3


@pytest.mark.requirement("VAL-3")
async def test_a_caller_over_the_limit_is_refused_with_the_time_to_wait():
    clock = Clock()
    async with App("test", version="1.0.0", format="result", tools=[ping], state=MemoryState(clock)) as app:
        assert [(await app.call("ping")).is_error for _ in range(2)] == [False, False]
        refused = await app.call("ping")
    assert refused.is_error
    assert json.loads(refused.text) == {
        "success": False,
        "error": "Rate limit of 'ping' reached: 2 calls in 3600 seconds. Try again in 3600.0 seconds.",
        "error_type": "RateLimitError",
        "instruction": "Wait 3600 seconds before calling this tool again.",
    }


@pytest.mark.requirement("VAL-3")
async def test_a_limit_ends_with_its_window():
    clock = Clock()
    async with App("test", version="1.0.0", format="result", tools=[ping], state=MemoryState(clock)) as app:
        assert [(await app.call("ping")).is_error for _ in range(3)] == [False, False, True]
        clock.now += 3599.9
        assert (await app.call("ping")).is_error
        clock.now += 0.1
        assert [(await app.call("ping")).is_error for _ in range(3)] == [False, False, True]


@pytest.mark.requirement("VAL-3")
async def test_a_limit_holds_for_each_caller_and_each_tool():
    async with App("test", version="1.0.0", format="result", tools=[ping, pong, unlimited]) as app:
        assert [(await app.call("ping", caller=ANN)).is_error for _ in range(3)] == [False, False, True]
        assert [(await app.call("ping", caller=BEN)).is_error for _ in range(3)] == [False, False, True]
        assert [(await app.call("pong", caller=ANN)).is_error for _ in range(3)] == [False, False, True]
        assert not any([(await app.call("unlimited", caller=ANN)).is_error for _ in range(9)])


@pytest.mark.requirement("VAL-3")
async def test_a_limit_holds_across_processes_that_share_a_redis(redis_url: str):
    settings = Settings(redis=redis_url)
    one = App("test", version="1.0.0", format="result", tools=[ping], settings=settings)
    two = App("test", version="1.0.0", format="result", tools=[ping], settings=settings)
    async with one, two:
        assert not (await one.call("ping", caller=ANN)).is_error
        assert not (await two.call("ping", caller=ANN)).is_error
        for app in (one, two):
            refused = json.loads((await app.call("ping", caller=ANN)).text)
            assert refused["error_type"] == "RateLimitError"
            assert not (await app.call("ping", caller=BEN)).is_error


async def test_a_refused_call_reaches_no_handler():
    ran = []

    @query(rate_limit=TWO_AN_HOUR)
    async def count() -> int:
        ran.append(1)
        return len(ran)

    async with App("test", version="1.0.0", format="result", tools=[count]) as app:
        for _ in range(5):
            await app.call("count")
    assert len(ran) == 2


@pytest.mark.parametrize(
    ("policy", "goes_through", "meanwhile"),
    [("open", True, "pass without a limit"), ("closed", False, "with a limit are refused")],
)
async def test_without_redis_a_limit_follows_its_policy_and_says_so(
    dead_url: str, policy, goes_through: bool, meanwhile: str, log
):
    settings = Settings(redis=dead_url, limits_without_redis=policy)
    async with App("test", version="1.0.0", format="result", tools=[ping], settings=settings) as app:
        answers = [await app.call("ping") for _ in range(4)]
    assert [not answer.is_error for answer in answers] == [goes_through] * 4
    loud = [message for level, message in log.messages if level == "ERROR" and "Tool" not in message]
    assert len(loud) == 2  # one for the connection and one for what follows from it, however many calls there are
    assert loud[0].startswith("Redis cannot be used: ")
    assert loud[1].startswith(f"Rate limits cannot be read; calls {meanwhile}: ")
    if not goes_through:
        assert json.loads(answers[0].text) == {
            "success": False,
            "error": "The rate limit of this tool cannot be checked right now. Try again later.",
            "error_type": "UnavailableError",
            "instruction": "Present this error to the user and take no further action.",
        }


@pytest.mark.requirement("FAR-2")
@pytest.mark.parametrize(("policy", "passed"), [("whole", 60), ("share", 20)])
async def test_without_redis_each_process_counts_by_itself(dead_url: str, policy: str, passed: int, log):
    @query(rate_limit=RateLimit(60, 3_600_000))
    async def work() -> int:
        return 1

    settings = Settings(redis=dead_url, limits_without_redis=policy, workers=3)
    async with App("test", version="1.0.0", format="result", tools=[work], settings=settings) as app:
        answers = await asyncio.gather(*(app.call("work") for _ in range(200)))
    assert [answer.is_error for answer in answers].count(False) == passed
    expected = "whole limit" if policy == "whole" else "its share of the limit"
    (line,) = [message for level, message in log.messages if level == "ERROR" and "Rate limits" in message]
    assert line.startswith("Rate limits cannot be read; this process counts calls by itself, up to ")
    assert f"{expected}: " in line


@pytest.mark.requirement("FAR-2")
async def test_a_limit_holds_while_redis_is_held_up_and_after_it(new_redis: Callable[[], Any]):
    redis, ran = new_redis(), []

    @query(rate_limit=RateLimit(60, 3_600_000))
    async def work() -> int:
        ran.append(1)
        return 1

    settings = Settings(redis=redis.url, redis_timeout=0.1)
    async with App("test", version="1.0.0", format="result", tools=[work], settings=settings) as app:
        for _ in range(20):
            await app.call("work")
        redis.process.send_signal(signal.SIGSTOP)
        asyncio.get_running_loop().call_later(0.3, redis.process.send_signal, signal.SIGCONT)
        await asyncio.gather(*(app.call("work") for _ in range(1000)))
        assert len(ran) == 60
        async with asyncio.timeout(30):
            while not (await app.state.check_health()).ok:  # noqa: ASYNC110 - another process answers
                await asyncio.sleep(0.05)
        await asyncio.gather(*(app.call("work") for _ in range(100)))
    assert len(ran) == 60


class Slow(MemoryState):
    """A store that answers late."""

    def __init__(self, seconds: float) -> None:
        super().__init__()
        self.seconds = seconds

    async def hit(self, *given: Any) -> float:
        await asyncio.sleep(self.seconds)
        return await super().hit(*given)


async def test_a_gate_takes_no_longer_than_the_deadline():
    ran = []

    @query(rate_limit=TWO_AN_HOUR, response_time=0.2)
    async def work() -> int:
        ran.append(1)
        return 1

    async with App("test", version="1.0.0", format="result", tools=[work], state=Slow(60)) as app:
        refused = json.loads((await app.call("work")).text)
    assert (refused["error_type"], ran) == ("DeadlineError", [])


async def test_the_handler_has_the_time_that_its_gates_left(monkeypatch: pytest.MonkeyPatch):
    loop, seen = asyncio.get_running_loop(), {}
    call_at = loop.call_at

    def record(when: float, *given: Any, **more: Any) -> asyncio.TimerHandle:
        seen["timer"] = when
        return call_at(when, *given, **more)

    @query(rate_limit=TWO_AN_HOUR, response_time=60)
    async def work() -> int:
        seen["began"] = loop.time()
        await asyncio.sleep(0)
        return 1

    async with App("test", version="1.0.0", format="result", tools=[work], state=Slow(0.2)) as app:
        monkeypatch.setattr(loop, "call_at", record)
        assert not (await app.call("work")).is_error
        monkeypatch.undo()
    assert seen["timer"] - seen["began"] < 60 - 0.19


@pytest.mark.requirement("VAL-3")
async def test_a_limit_counts_every_call_of_a_cached_tool_and_its_refusal_comes_first():
    ran = []

    @query({"n": 1}, rate_limit=RateLimit(4, 3_600_000), cache_ttl=60, permissions=["it:read"])
    async def read(n: Number) -> int:
        ran.append(n)
        return n

    allowed, denied = Caller("user:ann", grants=frozenset({"it:read"})), Caller("user:ann")
    async with App("test", version="1.0.0", format="result", tools=[read]) as app:
        calls = [({"n": 1}, allowed), ({"n": 1}, allowed), ({"n": "one"}, allowed), ({"n": 1}, denied)]
        calls += calls[1:]
        texts = [json.loads((await app.call("read", *call)).text) for call in calls]
    types = [text.get("error_type") for text in texts]
    assert types == [None, None, "ValidationError", "PermissionError", *["RateLimitError"] * 3]
    assert ran == [1]
