import json

import pytest

from mcp_core import App, Caller, RateLimit, Settings
from mcp_core.state.memory import MemoryState
from tests.mcp_core.declared import query

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
    async with App("test", version="1.0.0", tools=[ping], state=MemoryState(clock)) as app:
        assert [(await app.call("ping")).is_error for _ in range(2)] == [False, False]
        refused = await app.call("ping")
    assert refused.is_error
    assert json.loads(refused.text) == {
        "success": False,
        "error": "Rate limit of 'ping' reached: 2 calls in 3600 seconds. Try again in 5400.0 seconds.",
        "error_type": "RateLimitError",
        "instruction": "Wait 5400 seconds before calling this tool again.",
    }


@pytest.mark.requirement("VAL-3")
async def test_a_limit_ends_with_its_window():
    clock = Clock()
    async with App("test", version="1.0.0", tools=[ping], state=MemoryState(clock)) as app:
        assert [(await app.call("ping")).is_error for _ in range(3)] == [False, False, True]
        clock.now += 5400
        assert [(await app.call("ping")).is_error for _ in range(2)] == [False, True]


@pytest.mark.requirement("VAL-3")
async def test_a_limit_holds_for_each_caller_and_each_tool():
    async with App("test", version="1.0.0", tools=[ping, pong, unlimited]) as app:
        assert [(await app.call("ping", caller=ANN)).is_error for _ in range(3)] == [False, False, True]
        assert [(await app.call("ping", caller=BEN)).is_error for _ in range(3)] == [False, False, True]
        assert [(await app.call("pong", caller=ANN)).is_error for _ in range(3)] == [False, False, True]
        assert not any([(await app.call("unlimited", caller=ANN)).is_error for _ in range(9)])


@pytest.mark.requirement("VAL-3")
async def test_a_limit_holds_across_processes_that_share_a_redis(redis_url: str):
    settings = Settings(redis=redis_url)
    one = App("test", version="1.0.0", tools=[ping], settings=settings)
    two = App("test", version="1.0.0", tools=[ping], settings=settings)
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

    async with App("test", version="1.0.0", tools=[count]) as app:
        for _ in range(5):
            await app.call("count")
    assert len(ran) == 2


@pytest.mark.parametrize(("policy", "goes_through"), [("open", True), ("closed", False)])
async def test_without_redis_a_limit_follows_its_policy_and_says_so(dead_url: str, policy, goes_through: bool, log):
    settings = Settings(redis=dead_url, limits_without_redis=policy)
    async with App("test", version="1.0.0", tools=[ping], settings=settings) as app:
        answers = [await app.call("ping") for _ in range(4)]
    assert [not answer.is_error for answer in answers] == [goes_through] * 4
    loud = [message for level, message in log.messages if level == "ERROR" and "Rate limits cannot be read" in message]
    assert len(loud) == 4
    assert f"fail {policy}" in loud[0]
    if not goes_through:
        assert json.loads(answers[0].text) == {
            "success": False,
            "error": "The rate limit of this tool cannot be checked right now. Try again later.",
            "error_type": "UnavailableError",
            "instruction": "Present this error to the user and take no further action.",
        }
