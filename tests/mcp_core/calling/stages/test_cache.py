import asyncio
import json
from dataclasses import replace
from typing import Any

import pytest

from mcp_core import App, Caller, DeclarationError, NotFound, Request, Result, Settings
from mcp_core.declare.listed import ListedTool
from mcp_core.declare.spec import Declaration, spec_of
from mcp_core.state.interface import State
from mcp_core.state.memory import MemoryState
from tests.mcp_core.declared import Number, mutation, query

ANN, BEN = Caller("user:ann"), Caller("user:ben")


class Shelf:
    """What the tools of these tests read and write, and how often they ran."""

    def __init__(self) -> None:
        self.books, self.reads = 0, 0

    def app(self, version: str = "1.0.0", **options: Any) -> App:
        cached: dict[str, Any] = {"cache_ttl": 60, "tags": ["books", "shelf"], "version": version}

        @query({"n": 1}, **cached)
        async def count(n: Number) -> int:
            self.reads += 1
            return self.books

        @query({"n": 1}, **cached)
        async def total(n: Number) -> int:
            self.reads += 1
            return self.books

        @query(cache_ttl=60, tags=["films"])
        async def films() -> int:
            self.reads += 1
            return 0

        @mutation({"n": 1}, tags=["books"])
        async def put(n: Number) -> int:
            self.books += n
            return self.books

        @mutation({"n": 1}, tags=["books"])
        async def put_and_fail(n: Number) -> int:
            self.books += n
            raise NotFound("half way")

        return App(
            "test", version="1.0.0", tools=[count, total, films, put, put_and_fail], **{"format": "result", **options}
        )


@pytest.fixture(params=["memory", "redis"])
def settings(request: pytest.FixtureRequest) -> Settings:
    """The cache behaves the same in memory and in Redis."""
    url = request.getfixturevalue("redis_url") if request.param == "redis" else None
    return Settings(redis=url)


async def value(app: App, tool: str, arguments: dict[str, Any] | None = None, caller: Caller = ANN) -> Any:
    return json.loads((await app.call(tool, arguments, caller)).text).get("value")


@pytest.mark.requirement("DEF-4")
async def test_the_same_question_is_answered_from_the_cache(settings: Settings):
    shelf = Shelf()
    async with shelf.app(settings=settings, format="hints") as app:
        first, second = [json.loads((await app.call("count", {"n": 1}, ANN)).text) for _ in range(2)]
    assert shelf.reads == 1
    assert [first["metadata"]["cached"], second["metadata"]["cached"]] == [False, True]
    assert first["data"] == second["data"] == 0
    assert first["agentHints"] == second["agentHints"]
    assert first["metadata"]["traceId"] != second["metadata"]["traceId"]


async def test_arguments_in_another_order_hit_the_cache(settings: Settings):
    ran = []

    @query({"a": 1, "b": 2}, cache_ttl=60)
    async def pair(a: Number, b: Number) -> int:
        ran.append((a, b))
        return len(ran)

    async with App("test", version="1.0.0", format="result", tools=[pair], settings=settings) as app:
        assert await value(app, "pair", {"a": 1, "b": 2}) == await value(app, "pair", {"b": 2, "a": 1}) == 1


@pytest.mark.parametrize(
    "other",
    [("count", {"n": 1}, BEN), ("total", {"n": 1}, ANN), ("count", {"n": 2}, ANN)],
    ids=["caller", "tool", "arguments"],
)
async def test_another_caller_tool_or_argument_is_another_question(settings: Settings, other: tuple[Any, ...]):
    shelf = Shelf()
    async with shelf.app(settings=settings) as app:
        await app.call("count", {"n": 1}, ANN)
        await app.call(*other)
    assert shelf.reads == 2


async def test_another_version_of_a_tool_does_not_find_the_answers_of_the_old_one(settings: Settings):
    shelf, state = Shelf(), MemoryState()
    shared: dict[str, Any] = {"settings": settings} if settings.redis else {"state": state}
    async with shelf.app(**shared) as old, shelf.app(version="1.1.0", **shared) as new:
        await old.call("count", {"n": 1}, ANN)
        await new.call("count", {"n": 1}, ANN)
    assert shelf.reads == 2


@pytest.mark.requirement("DEF-4")
@pytest.mark.parametrize("put", ["put", "put_and_fail"])
async def test_a_mutation_forgets_what_shares_a_tag_with_it_also_when_it_fails(settings: Settings, put: str):
    shelf = Shelf()
    async with shelf.app(settings=settings) as app:
        assert await value(app, "count", {"n": 1}) == 0
        assert await value(app, "count", {"n": 1}, BEN) == 0
        await app.call(put, {"n": 5}, ANN)
        assert await value(app, "count", {"n": 1}) == 5
        assert await value(app, "count", {"n": 1}, BEN) == 5
        assert shelf.reads == 4
        await app.call("films")
        await app.call(put, {"n": 5}, ANN)
        await app.call("films")
    assert shelf.reads == 5


@pytest.mark.parametrize("ending", ["cancelled", "past its deadline"])
async def test_a_mutation_that_is_stopped_half_way_forgets_too(settings: Settings, ending: str):
    books, begun = [], asyncio.Event()

    @query(cache_ttl=60)
    async def count() -> int:
        return len(books)

    @mutation(response_time=0.05 if ending == "past its deadline" else 60.0)
    async def put() -> int:
        books.append("one")
        begun.set()
        await asyncio.sleep(600)
        return 1

    async with App("test", version="1.0.0", format="result", tools=[count, put], settings=settings) as app:
        assert await value(app, "count") == 0
        if ending == "past its deadline":
            while not books:  # on a busy machine, a gate can take all of its time
                await app.call("put", caller=ANN)
        else:
            call = asyncio.create_task(app.call("put", caller=ANN))
            await begun.wait()
            call.cancel()
            await asyncio.wait([call])
        assert await value(app, "count") == 1


async def test_a_query_under_way_during_a_mutation_does_not_poison_the_cache(settings: Settings):
    books, reading, go_on = [], asyncio.Event(), asyncio.Event()

    @query(cache_ttl=60)
    async def count() -> int:
        seen = len(books)
        reading.set()
        await go_on.wait()
        return seen

    @mutation()
    async def put() -> int:
        books.append("one")
        return len(books)

    async with App("test", version="1.0.0", format="result", tools=[count, put], settings=settings) as app:
        slow = asyncio.create_task(value(app, "count"))
        await reading.wait()
        await app.call("put", caller=ANN)
        go_on.set()
        assert await slow == 0
        assert await value(app, "count") == 1


@pytest.mark.requirement("DEF-4")
@pytest.mark.parametrize("changes", [{"category": "mutation"}, {"category": "generation"}, {"read_only": False}])
async def test_a_mutation_is_never_cached(changes: dict[str, Any]):
    app = App("test", version="1.0.0", format="result")
    ran = []

    async def put() -> int:
        ran.append(1)
        return len(ran)

    with pytest.raises(DeclarationError, match=r"put: (cache_ttl: is 60, but a|read_only: is False, but a query)"):
        app.tool(cache_ttl=60, **changes)(put)
    # As another server lists it, so that no check of the declaration stops it.
    spec = spec_of(put, Declaration(category="mutation", cache_ttl=60))
    app.registry.register(replace(spec, listed=ListedTool("put", "", "", {})))
    async with app:
        assert [await value(app, "put") for _ in range(3)] == [1, 2, 3]


@pytest.mark.requirement("AUT-2")
async def test_a_cache_ttl_by_itself_is_enough():
    app = App("test", version="1.0.0", format="result")
    ran = []

    @app.tool(cache_ttl=60)
    async def look() -> int:
        ran.append(1)
        return len(ran)

    async with app:
        assert [await value(app, "look") for _ in range(3)] == [1, 1, 1]
        (listed,) = app.list_tools()
    assert (listed.annotations["readOnlyHint"], listed.meta["dev.toolcharter/cacheTTL"]) == (True, 60)


@pytest.mark.parametrize("way", ["raised", "returned"])
async def test_a_failure_is_never_cached(settings: Settings, way: str):
    ran = []

    @query(cache_ttl=60)
    async def flaky() -> Result[int]:
        ran.append(1)
        if len(ran) == 1 and way == "raised":
            raise NotFound("not yet")
        return Result.ok(len(ran)) if len(ran) > 1 else Result.failure("not yet", "NotFoundError")

    async with App("test", version="1.0.0", format="result", tools=[flaky], settings=settings) as app:
        assert (await app.call("flaky", caller=ANN)).is_error
        assert [await value(app, "flaky") for _ in range(2)] == [2, 2]


async def test_an_answer_that_was_not_asked_to_be_kept_is_not():
    ran = []

    @query()
    async def now() -> int:
        ran.append(1)
        return len(ran)

    async with App("test", version="1.0.0", format="result", tools=[now]) as app:
        assert [await value(app, "now") for _ in range(2)] == [1, 2]


async def test_an_answer_is_kept_for_its_time_and_no_longer():
    clock = [0.0]
    shelf = Shelf()
    async with shelf.app(state=MemoryState(lambda: clock[0])) as app:
        for moment in (0.0, 59.9, 60.0, 119.9):
            clock[0] = moment
            await app.call("count", {"n": 1}, ANN)
    assert shelf.reads == 2


async def test_without_redis_reads_go_on_and_the_log_says_so(dead_url: str, log):
    shelf = Shelf()
    async with asyncio.timeout(60), shelf.app(settings=Settings(redis=dead_url)) as app:
        assert [await value(app, "count", {"n": 1}) for _ in range(2)] == [0, 0]
        assert await value(app, "put", {"n": 3}) == 3
        assert await value(app, "count", {"n": 1}) == 3
    assert shelf.reads == 3
    said = [
        (level, message.partition(":")[0]) for level, message in log.messages if "cache" in message and level != "DEBUG"
    ]
    assert said == [
        ("WARNING", "The cache cannot be reached; calls go on without it"),
        ("ERROR", "The cache cannot be reached; answers from before put are invalidated when it is back"),
    ]


async def test_a_redis_that_stops_during_a_call_affects_only_the_cache(new_redis):
    server = new_redis()

    @query(cache_ttl=60)
    async def stop_redis() -> str:
        server.stop()
        return "still answered"

    async with App(
        "test", version="1.0.0", format="result", tools=[stop_redis], settings=Settings(redis=server.url)
    ) as app:
        assert await value(app, "stop_redis") == "still answered"
        assert await value(app, "stop_redis") == "still answered"


async def test_the_cache_keeps_callers_apart_whose_keys_look_alike():
    state: State = MemoryState()
    seen: list[str | None] = []

    @query({"n": 1}, cache_ttl=60)
    async def who(n: Number) -> int:
        seen.append(str(n))
        return len(seen)

    async with App("test", version="1.0.0", format="result", tools=[who], state=state) as app:
        for key in ("a", "a\0who", "", "\0"):
            await app.answer(Request("who", {"n": 1}, Caller(key)))
    assert len(seen) == 4


@pytest.mark.parametrize(
    ("of_query", "of_mutation", "invalidates"),
    [
        ((), (), True),
        (("books",), (), True),
        ((), ("books",), True),
        (("books",), ("books",), True),
        (("films",), ("books",), False),
    ],
)
async def test_without_tags_any_change_may_be_of_what_any_query_reads(of_query, of_mutation, invalidates):
    books = ["Dune"]
    app = App("test")

    @app.tool(cache_ttl=60, **({"tags": of_query} if of_query else {}))
    async def count() -> int:
        """Count the books."""
        return len(books)

    @app.tool(**({"tags": of_mutation} if of_mutation else {}))
    async def remove() -> None:
        """Remove a book."""
        books.clear()

    async with app:
        assert (await app.call("count")).text == "1"
        await app.call("remove")
        assert (await app.call("count")).text == ("0" if invalidates else "1")
