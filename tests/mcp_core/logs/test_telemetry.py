import asyncio
import json
import platform
from collections.abc import AsyncIterator
from contextlib import AbstractAsyncContextManager, asynccontextmanager
from importlib.metadata import version
from pathlib import Path
from typing import Any

import pytest
from opentelemetry.sdk.metrics import MeterProvider
from opentelemetry.sdk.metrics.export import InMemoryMetricReader
from opentelemetry.sdk.trace import ReadableSpan, TracerProvider
from opentelemetry.sdk.trace.export import SimpleSpanProcessor
from opentelemetry.sdk.trace.export.in_memory_span_exporter import InMemorySpanExporter
from opentelemetry.trace import SpanKind, StatusCode
from sqlalchemy import Connection, text

from mcp_core import App, NotFound, Request, Telemetry, UnknownTool, get_logger
from mcp_core.db import Database, address, open_database
from mcp_core.logs.telemetry import BUCKETS, METRICS, SPAN_ATTRIBUTES, LoopLag, prometheus
from tests.mcp_core.declared import Number, mutation, query

TRACE_ID, SPAN_ID = "0af7651916cd43dd8448eb211c80319c", "b7ad6b7169203331"
PARENT = {"traceparent": f"00-{TRACE_ID}-{SPAN_ID}-01"}


@query({"n": 1}, cache_ttl=60)
async def find(n: Number) -> int:
    if n == 0:
        raise NotFound("There is no 0.")
    if n < 0:
        raise ZeroDivisionError
    return n


@mutation()
async def write() -> int:
    return 1


async def five_calls(app: App) -> None:
    """Two misses that answer, one hit, one business error, one system error, one refusal; and a write."""
    async with app:
        for n in (1, 1, 2, 0, -1, "x"):
            await app.call("find", {"n": n})
        await app.call("write")


@pytest.mark.requirement("OBS-1")
async def test_counts_times_error_rate_and_hit_rate_are_opentelemetry_metrics_of_each_tool():
    reader = InMemoryMetricReader()
    provider = MeterProvider([reader])
    telemetry = Telemetry("library", meter_provider=provider)
    await five_calls(App("test", version="1.0.0", format="result", tools=[find, write], telemetry=telemetry))
    data = reader.get_metrics_data()
    assert data is not None
    (scope,) = data.resource_metrics[0].scope_metrics
    assert scope.scope.name == "toolcharter"
    metrics = {metric.name: metric for metric in scope.metrics}
    assert metrics.keys() <= METRICS.keys()

    def points(name: str, tool: str, *labels: str) -> dict[Any, Any]:
        found = [p for p in metrics[name].data.data_points if p.attributes["tool"] == tool]
        assert all(point.attributes["server"] == "library" for point in found)
        return {tuple(p.attributes[label] for label in labels): getattr(p, "value", None) or p for p in found}

    counts = {("ok",): 3, ("business",): 1, ("system",): 1, ("validation",): 1}
    assert points("toolcharter.tool.calls", "find", "outcome") == counts
    assert points("toolcharter.tool.calls", "write", "outcome") == {("ok",): 1}
    assert points("toolcharter.tool.errors", "find") == {(): 3}
    assert points("toolcharter.tool.error.rate", "find") == {(): 0.5}
    assert points("toolcharter.tool.cache.lookups", "find", "result") == {("hit",): 1, ("miss",): 4}
    assert points("toolcharter.tool.cache.hit.rate", "find") == {(): 0.2}
    durations = points("toolcharter.tool.duration", "find", "outcome")
    assert {outcome: point.count for outcome, point in durations.items()} == counts
    assert all(0 < point.sum < 5 for point in durations.values())
    assert metrics["toolcharter.tool.duration"].unit == "s"
    provider.shutdown()


@pytest.mark.requirement("OBS-1")
async def test_the_same_counts_are_served_to_prometheus():
    app = App("library", version="1.0.0", format="result", tools=[find, write])
    await five_calls(app)
    lines = prometheus([app.telemetry]).splitlines()
    of = 'server="library",tool="find"'
    for line in (
        "# TYPE toolcharter_tool_calls_total counter",
        f'toolcharter_tool_calls_total{{{of},outcome="ok"}} 3',
        f'toolcharter_tool_calls_total{{{of},outcome="business"}} 1',
        f'toolcharter_tool_calls_total{{{of},outcome="system"}} 1',
        f'toolcharter_tool_calls_total{{{of},outcome="validation"}} 1',
        'toolcharter_tool_calls_total{server="library",tool="write",outcome="ok"} 1',
        "# TYPE toolcharter_tool_errors_total counter",
        f"toolcharter_tool_errors_total{{{of}}} 3",
        "# TYPE toolcharter_tool_error_rate gauge",
        f"toolcharter_tool_error_rate{{{of}}} 0.5",
        f'toolcharter_tool_cache_lookups_total{{{of},result="hit"}} 1',
        f'toolcharter_tool_cache_lookups_total{{{of},result="miss"}} 4',
        "# TYPE toolcharter_tool_cache_hit_rate gauge",
        f"toolcharter_tool_cache_hit_rate{{{of}}} 0.2",
        "# TYPE toolcharter_tool_duration_seconds histogram",
        f'toolcharter_tool_duration_seconds_bucket{{{of},le="+Inf"}} 6',
        f"toolcharter_tool_duration_seconds_count{{{of}}} 6",
    ):
        assert lines.count(line) == 1, line


def test_prometheus_text_is_whole():
    telemetry = Telemetry("library")
    telemetry.record("find", "ok", 0.0005, cached=False)
    telemetry.record("find", "system", 0.3, cached=None)
    telemetry.record("find", "ok", 90.0, cached=True)
    of = 'server="library",tool="find"'
    bounds = [(f'le="{bound}"', sum(seconds <= bound for seconds in (0.0005, 0.3))) for bound in BUCKETS] + [
        ('le="+Inf"', 3)
    ]
    assert prometheus([telemetry, Telemetry("idle")]).splitlines() == [
        "# HELP toolcharter_tool_calls_total Calls, by tool and outcome; (unknown) stands for tools that do not exist.",
        "# TYPE toolcharter_tool_calls_total counter",
        f'toolcharter_tool_calls_total{{{of},outcome="ok"}} 2',
        f'toolcharter_tool_calls_total{{{of},outcome="system"}} 1',
        "# HELP toolcharter_tool_errors_total Calls that ended in an error, by tool.",
        "# TYPE toolcharter_tool_errors_total counter",
        f"toolcharter_tool_errors_total{{{of}}} 1",
        "# HELP toolcharter_tool_error_rate The share of calls that ended in an error, by tool.",
        "# TYPE toolcharter_tool_error_rate gauge",
        f"toolcharter_tool_error_rate{{{of}}} {1 / 3}",
        "# HELP toolcharter_tool_cache_lookups_total Lookups in the answer cache, by tool and hit or miss.",
        "# TYPE toolcharter_tool_cache_lookups_total counter",
        f'toolcharter_tool_cache_lookups_total{{{of},result="hit"}} 1',
        f'toolcharter_tool_cache_lookups_total{{{of},result="miss"}} 1',
        "# HELP toolcharter_tool_cache_hit_rate The share of lookups that found an answer, by tool.",
        "# TYPE toolcharter_tool_cache_hit_rate gauge",
        f"toolcharter_tool_cache_hit_rate{{{of}}} 0.5",
        "# HELP toolcharter_tool_duration_seconds How long a call took, in seconds, by tool.",
        "# TYPE toolcharter_tool_duration_seconds histogram",
        *(f"toolcharter_tool_duration_seconds_bucket{{{of},{bound}}} {count}" for bound, count in bounds),
        f"toolcharter_tool_duration_seconds_sum{{{of}}} 90.3005",
        f"toolcharter_tool_duration_seconds_count{{{of}}} 3",
        "# HELP toolcharter_calls_in_flight Calls that are running; for the server (http), HTTP requests to servers.",
        "# TYPE toolcharter_calls_in_flight gauge",
        'toolcharter_calls_in_flight{server="library"} 0',
        'toolcharter_calls_in_flight{server="idle"} 0',
    ]


async def test_a_running_call_is_in_flight_and_the_build_is_named():
    seen: list[str] = []

    @query()
    async def look() -> int:
        seen.append(prometheus([app.telemetry]))
        return 1

    app = App("library", version="1.2.3", format="result", tools=[look])
    async with app:
        await app.call("look")
        after = prometheus([app.telemetry])
    assert 'toolcharter_calls_in_flight{server="library"} 1\n' in seen[0]
    assert 'toolcharter_calls_in_flight{server="library"} 0\n' in after
    labels = f'version="1.2.3",toolcharter="{version("toolcharter")}",python="{platform.python_version()}"'
    assert f'toolcharter_build_info{{server="library",{labels}}} 1\n' in after


def test_buckets_begin_where_a_cached_answer_ends():
    assert BUCKETS[0] == 0.00001
    assert list(BUCKETS) == sorted(set(BUCKETS))


def test_labels_are_escaped():
    telemetry = Telemetry('a"b\\c\nd')
    assert 'server="a\\"b\\\\c\\nd"' in prometheus([telemetry])


def traced() -> tuple[Telemetry, InMemorySpanExporter]:
    exporter, provider = InMemorySpanExporter(), TracerProvider()
    provider.add_span_processor(SimpleSpanProcessor(exporter))
    return Telemetry("library", tracer_provider=provider), exporter


def shown(span: ReadableSpan) -> dict[str, Any]:
    assert SPAN_ATTRIBUTES.keys() >= dict(span.attributes or {}).keys()
    return dict(span.attributes or {})


@pytest.mark.requirement("OBS-2")
async def test_every_call_is_one_span_in_the_callers_trace():
    telemetry, exporter = traced()
    async with App("test", version="1.0.0", format="result", tools=[find, write], telemetry=telemetry) as app:
        await app.answer(Request("find", {"n": 1}, meta=PARENT))
        await app.answer(Request("find", {"n": 1}, meta=PARENT))
        await app.answer(Request("find", {"n": 0}, meta=PARENT))
        await app.answer(Request("write", {}, meta=PARENT))
    spans = exporter.get_finished_spans()
    assert [span.name for span in spans] == ["tools/call find"] * 3 + ["tools/call write"]
    assert {span.kind for span in spans} == {SpanKind.SERVER}
    assert {format(span.context.trace_id, "032x") for span in spans} == {TRACE_ID}
    assert {format(span.parent.span_id, "016x") for span in spans} == {SPAN_ID}
    fixed = {"gen_ai.operation.name": "execute_tool", "gen_ai.tool.name": "find", "toolcharter.tool.category": "query"}
    assert [shown(span) for span in spans] == [
        fixed | {"toolcharter.outcome": "ok", "toolcharter.cached": False},
        fixed | {"toolcharter.outcome": "ok", "toolcharter.cached": True},
        fixed | {"toolcharter.outcome": "business", "toolcharter.cached": False, "error.type": "NotFoundError"},
        fixed
        | {"gen_ai.tool.name": "write", "toolcharter.tool.category": "mutation"}
        | {"toolcharter.outcome": "ok", "toolcharter.cached": False},
    ]
    assert [span.status.status_code is StatusCode.ERROR for span in spans] == [False, False, True, False]


@pytest.mark.requirement("OBS-2")
async def test_a_call_to_an_unknown_tool_is_one_span_whose_name_does_not_grow_with_what_callers_try():
    telemetry, exporter = traced()
    async with App("test", version="1.0.0", format="result", tools=[find], telemetry=telemetry) as app:
        with pytest.raises(UnknownTool):
            await app.answer(Request("fynd", {}, meta=PARENT))
    (span,) = exporter.get_finished_spans()
    assert (span.name, format(span.context.trace_id, "032x")) == ("tools/call (unknown)", TRACE_ID)
    assert shown(span) == {
        "gen_ai.operation.name": "execute_tool",
        "gen_ai.tool.name": "(unknown)",
        "toolcharter.outcome": "validation",
        "toolcharter.cached": False,
        "error.type": "UnknownTool",
    }
    assert span.status.status_code is StatusCode.ERROR


@pytest.mark.requirement("OBS-2", "CTX-2")
@pytest.mark.parametrize("meta", [{}, {"traceparent": "nonsense"}, {"traceparent": f"ff-{TRACE_ID}-{SPAN_ID}-01"}])
async def test_a_call_without_a_trace_begins_one_that_answer_and_log_name_too(meta: dict[str, str], log):
    telemetry, exporter = traced()
    async with App("test", version="1.0.0", tools=[find], telemetry=telemetry, format="hints") as app:
        answer = await app.answer(Request("find", {"n": 1}, meta=meta))
    (span,) = exporter.get_finished_spans()
    trace_id = format(span.context.trace_id, "032x")
    assert span.parent is None
    assert json.loads(answer.text)["metadata"]["traceId"] == trace_id != TRACE_ID
    assert {entry["traceId"] for entry in log.entries} == {trace_id}


@pytest.mark.requirement("OBS-2")
async def test_a_call_inside_a_span_of_the_host_is_its_child():
    telemetry, exporter = traced()
    async with App("test", version="1.0.0", format="result", tools=[find], telemetry=telemetry) as app:
        with telemetry._tracer.start_as_current_span("POST /mcp") as outer:
            await app.call("find", {"n": 1})
    inner = exporter.get_finished_spans()[0]
    assert inner.parent == outer.get_span_context()


@pytest.mark.requirement("OBS-2")
async def test_a_cancelled_call_ends_its_span_and_says_so():
    telemetry, exporter = traced()
    begun = asyncio.Event()

    @query()
    async def hang() -> int:
        begun.set()
        await asyncio.sleep(600)
        return 1

    async with App("test", version="1.0.0", format="result", tools=[hang], telemetry=telemetry) as app:
        call = asyncio.create_task(app.call("hang"))
        await begun.wait()
        call.cancel()
        await asyncio.wait([call])
    (span,) = exporter.get_finished_spans()
    assert shown(span)["toolcharter.outcome"] == "cancelled"


@pytest.mark.requirement("OBS-2")
async def test_what_a_handler_traces_is_a_child_of_its_call():
    telemetry, exporter = traced()

    @query()
    async def outer() -> int:
        with telemetry._tracer.start_as_current_span("SELECT"):
            get_logger("mine").info("reading")
        return 1

    async with App("test", version="1.0.0", format="result", tools=[outer], telemetry=telemetry) as app:
        await app.call("outer")
    inner, call = exporter.get_finished_spans()
    assert inner.name == "SELECT"
    assert inner.parent is not None
    assert inner.parent.span_id == call.context.span_id


@pytest.mark.requirement("LOG-6")
async def test_no_argument_and_no_error_text_is_on_a_span():
    telemetry, exporter = traced()

    @query({"token": "x"})
    async def fail(token: str) -> int:
        """Fail, for a test.

        Args:
            token: A secret.
        """
        raise OSError(f"token {token} is wrong")

    async with App("test", version="1.0.0", format="result", tools=[fail], telemetry=telemetry) as app:
        await app.call("fail", {"token": "hunter2"})
    (span,) = exporter.get_finished_spans()
    assert "hunter2" not in span.to_json()
    assert span.events == ()


async def test_a_loop_that_was_held_up_is_late_and_the_worst_of_half_a_minute_is_served(
    monkeypatch: pytest.MonkeyPatch,
):
    lag, loop = LoopLag(), asyncio.get_running_loop()
    lag.start()
    lag._measure(loop, loop.time() - 0.25)
    (sample,) = lag.samples()
    assert 0.25 <= sample.value < 5
    for _ in range(2 * 30):
        lag._timer.cancel()
        lag._measure(loop, loop.time())
    (sample,) = lag.samples()
    lag.stop()
    assert sample.value < 0.25


@pytest.mark.parametrize("kind", ["sqlite", "postgresql"])
async def test_the_waits_for_a_database_are_figures_of_the_app_that_opened_it(
    kind: str, request: pytest.FixtureRequest, tmp_path: Path
):
    url = f"sqlite:///{tmp_path / 'x.db'}" if kind == "sqlite" else request.getfixturevalue("postgres_url")

    def connect() -> AbstractAsyncContextManager[Database]:
        return open_database(address(url, "x"))

    telemetry, exporter = traced()

    @query(response_time=60.0)
    async def look(database: Database) -> int:
        return await database.read(count_nothing)

    app = App("library", version="1.0.0", format="result", tools=[look], telemetry=telemetry)
    app.provide(Database, connect)
    async with app:
        await app.call("look")
        metrics = prometheus([telemetry])
    assert 'toolcharter_db_waits_total{server="library"} 1\n' in metrics
    assert 'toolcharter_db_wait_time_seconds_total{server="library"} 0.' in metrics
    assert "toolcharter_db_waits_total" not in prometheus([telemetry])
    read, call = exporter.get_finished_spans()
    assert (read.name, read.attributes) == ("db read count_nothing", {"db.system.name": kind})
    assert read.parent.span_id == call.context.span_id


async def test_the_writes_of_a_call_with_an_idempotency_key_are_traced(tmp_path: Path):
    @asynccontextmanager
    async def connect(app: App) -> AsyncIterator[Database]:
        async with open_database(address(f"sqlite:///{tmp_path / 'x.db'}", "x")) as database:
            await app.use_database(database)
            yield database

    telemetry, exporter = traced()

    @mutation(response_time=60.0)
    async def change(database: Database) -> int:
        return await database.write(count_nothing) + await database.read(count_nothing)

    app = App("library", version="1.0.0", format="result", tools=[change], telemetry=telemetry)
    app.provide(Database, connect)
    async with app:
        assert not (await app.call("change", idempotency_key="k")).is_error
    names = [span.name for span in exporter.get_finished_spans()]
    assert names[:4] == ["db read find", "db write count_nothing", "db read count_nothing", "db write clean_up"]


def count_nothing(connection: Connection) -> int:
    return connection.execute(text("SELECT 0")).scalar_one()
