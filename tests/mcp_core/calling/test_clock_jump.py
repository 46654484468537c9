"""A clock that jumps by an hour, as after a wrong set-up or a virtual machine that slept."""

import json
import time
from typing import Any

import pytest

from mcp_core import Answer, App, Caller, Confirm, Question, RateLimit, Request, Settings
from mcp_core.calling.records import Reply
from mcp_core.calling.stages.idempotency import KEY
from tests.mcp_core.declared import Number, mutation, query

ANN = Caller("user:ann")
HOUR = 3600.0


class Jump:
    """The clock of the system, which a test moves."""

    def __init__(self, monkeypatch: pytest.MonkeyPatch) -> None:
        self._real, self.hours = time.time, 0
        monkeypatch.setattr(time, "time", lambda: self._real() + self.hours * HOUR)


@pytest.fixture
def jump(monkeypatch: pytest.MonkeyPatch) -> Jump:
    return Jump(monkeypatch)


class Done(list[int]):
    """What the tools have done."""


def build(done: Done, settings: Settings) -> App:
    @query({"n": 1}, cache_ttl=60)
    async def read(n: Number) -> int:
        done.append(n)
        return len(done)

    @mutation({"n": 1}, rate_limit=RateLimit(max_calls=2, window_ms=600_000))
    async def change(n: Number) -> int:
        done.append(n)
        return len(done)

    @mutation({"n": 1, "explicit_action": "REMOVE"}, confirm=Confirm("REMOVE", required=True), tags=["other"])
    async def remove(n: Number) -> int:
        done.append(n)
        return len(done)

    return App("test", version="1.0.0", format="result", tools=[read, change, remove], settings=settings)


@pytest.fixture(params=["memory", "redis"])
def settings(request: pytest.FixtureRequest) -> Settings:
    url = request.getfixturevalue("redis_url") if request.param == "redis" else None
    return Settings(redis=url)


async def said(app: App, request: Request) -> Any:
    answer = await app.answer(request)
    assert isinstance(answer, Answer)
    fields = json.loads(answer.text)
    return fields["error_type"] if answer.is_error else fields["value"]


@pytest.mark.parametrize("hours", [1, -1])
async def test_limits_cached_answers_and_idempotency_keys_do_not_follow_the_jump(
    jump: Jump, settings: Settings, hours: int
):
    done = Done()
    async with build(done, settings) as app:
        read = Request("read", {"n": 1}, ANN)
        change = Request("change", {"n": 2}, ANN, meta={KEY: "k"})
        assert [await said(app, request) for request in (change, read, change)] == [1, 2, 1]
        jump.hours = hours
        assert await said(app, change) == "RateLimitError"
        # The repeated change invalidated the first answer of `read`; this one is cached after the jump.
        assert [await said(app, read) for _ in range(2)] == [3, 3]
        jump.hours = 0
        assert await said(app, read) == 3
    assert done == [2, 1, 1]


async def test_a_question_expires_when_the_clock_jumps_ahead_and_a_confirmation_counts_once_when_it_jumps_back(
    jump: Jump, settings: Settings
):
    done = Done()
    async with build(done, settings) as app:
        call = Request("remove", {"n": 1, "explicit_action": "REMOVE"}, ANN, can_return_questions=True)
        early = await app.answer(call)
        jump.hours = 1
        late = await app.answer(call)
        assert isinstance(early, Question)
        assert isinstance(late, Question)
        assert await said(app, call._replace(reply=Reply(early.state, accepted=True))) == "ConsentError"
        assert done == []
        jump.hours = 0
        confirmed = call._replace(reply=Reply(late.state, accepted=True))
        assert [await said(app, confirmed) for _ in range(2)] == [1, "ConsentError"]
        jump.hours = 1
        assert await said(app, confirmed) == "ConsentError"
    assert done == [1]
