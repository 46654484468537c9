"""All metrics and span names, and the counts behind them.

Each call is counted once, in memory. Prometheus reads the counts at `/metrics`. OpenTelemetry reads the same counts
through observable instruments, so that they cost a call only once; durations are recorded where an SDK is set up.
"""

import asyncio
import bisect
import os
import platform
import sys
import threading
from collections.abc import Callable, Generator, Iterable, Iterator, Mapping
from contextlib import AbstractContextManager, contextmanager, nullcontext
from contextvars import ContextVar
from dataclasses import dataclass, field
from functools import cache, partial
from typing import TYPE_CHECKING, Any, Literal, NamedTuple

if TYPE_CHECKING:
    from opentelemetry.metrics import CallbackOptions, Histogram, MeterProvider, Observation
    from opentelemetry.trace import Span, Tracer, TracerProvider
    from opentelemetry.trace.propagation.tracecontext import TraceContextTextMapPropagator

SCOPE = "toolcharter"
CALLS = "toolcharter.tool.calls"
ERRORS = "toolcharter.tool.errors"
CACHE_LOOKUPS = "toolcharter.tool.cache.lookups"
DURATION = "toolcharter.tool.duration"
ERROR_RATE = "toolcharter.tool.error.rate"
CACHE_HIT_RATE = "toolcharter.tool.cache.hit.rate"

IN_FLIGHT = "toolcharter.calls.in_flight"
SHARE_REFUSALS = "toolcharter.share.refusals"
THREADS = "toolcharter.threads"
LOOP_LAG = "toolcharter.loop.lag"
DATABASE_WAITS = "toolcharter.db.waits"
DATABASE_WAIT_TIME = "toolcharter.db.wait.time"
AUDIT_RECORDS = "toolcharter.audit.records"
CALL_LOG_CALLS = "toolcharter.call_log.calls"
REQUESTS = "toolcharter.requests"
DEPENDENCY_UP = "toolcharter.dependency.up"
DEPENDENCY_FAILURES = "toolcharter.dependency.failures"
BUILD = "toolcharter.build.info"
HTTP_CONNECTIONS = "toolcharter.http.connections"
HTTP_REFUSALS = "toolcharter.http.refusals"
HTTP_REQUESTS = "toolcharter.http.requests"
WORKERS = "toolcharter.workers"
WORKER_RESTARTS = "toolcharter.worker.restarts"

HTTP_SERVER = "(http)"
"""The label `server` of figures that are taken before it is known which server is meant."""


class Metric(NamedTuple):
    """A metric as it is declared."""

    kind: Literal["counter", "gauge", "histogram"]
    labels: tuple[str, ...]
    """Besides `server`. Their values are few: names that clients choose do not become labels."""
    description: str
    unit: Literal["", "s"] = ""


METRICS: Mapping[str, Metric] = {
    CALLS: Metric(
        "counter", ("tool", "outcome"), "Calls, by tool and outcome; (unknown) stands for tools that do not exist."
    ),
    ERRORS: Metric("counter", ("tool",), "Calls that ended in an error, by tool."),
    ERROR_RATE: Metric("gauge", ("tool",), "The share of calls that ended in an error, by tool."),
    CACHE_LOOKUPS: Metric("counter", ("tool", "result"), "Lookups in the answer cache, by tool and hit or miss."),
    CACHE_HIT_RATE: Metric("gauge", ("tool",), "The share of lookups that found an answer, by tool."),
    DURATION: Metric("histogram", ("tool",), "How long a call took, in seconds, by tool.", "s"),
    IN_FLIGHT: Metric("gauge", (), f"Calls that are running; for the server {HTTP_SERVER}, HTTP requests to servers."),
    THREADS: Metric(
        "gauge",
        ("state",),
        "Threads for handlers that are not async: limit, running, stuck (past the deadline of their call, and still "
        "running); and the calls that are waiting for one.",
    ),
    SHARE_REFUSALS: Metric(
        "counter",
        ("bound",),
        "Calls that were refused because their caller held more than an equal share of a bound (calls, threads) that "
        "was nearly used up.",
    ),
    HTTP_CONNECTIONS: Metric("gauge", (), "Open HTTP connections."),
    HTTP_REFUSALS: Metric(
        "counter",
        ("reason",),
        "HTTP requests and connections that a limit refused or closed, whoever sent them, by reason.",
    ),
    HTTP_REQUESTS: Metric(
        "counter",
        ("path",),
        "HTTP requests to the server, by the path that answered: direct (without ASGI), asgi, or sdk (the MCP SDK). "
        "Mostly direct; a client whose calls are counted elsewhere costs several times as much.",
    ),
    REQUESTS: Metric(
        "counter",
        ("method", "outcome"),
        "Requests that are not calls of tools, by method and outcome; (http) stands for requests that were refused "
        "before their method was read, and (other) for methods that do not exist.",
    ),
    LOOP_LAG: Metric(
        "gauge", (), "How late the event loop was at worst in the last half minute, in seconds; over HTTP.", "s"
    ),
    DATABASE_WAITS: Metric("counter", (), "How often a call used the database."),
    DATABASE_WAIT_TIME: Metric(
        "counter", (), "How long calls waited for a connection or thread of the database, in seconds.", "s"
    ),
    AUDIT_RECORDS: Metric("counter", ("result",), "Audit records, written or lost."),
    CALL_LOG_CALLS: Metric(
        "counter",
        ("result",),
        "Recent calls for the console: written in full, only counted where there are very many, or lost.",
    ),
    WORKERS: Metric("gauge", (), "Workers that are open, with --workers."),
    WORKER_RESTARTS: Metric("counter", (), "Workers that ended unexpectedly and were started again."),
    DEPENDENCY_UP: Metric("gauge", ("dependency",), "1 if the dependency (redis, issuer) can be used, otherwise 0."),
    DEPENDENCY_FAILURES: Metric("counter", ("dependency",), "How often the dependency became unusable."),
    BUILD: Metric("gauge", ("version", "toolcharter", "python"), "Always 1; the labels are the versions."),
}
SPAN = "tools/call {tool}"
CHILD_SPANS: Mapping[str, str] = {
    "db read {unit}": "A unit of work that reads the database; `db.system.name` is sqlite or postgresql.",
    "db write {unit}": "A transaction.",
    "HTTP {method}": "A request to another system, which gets the `traceparent`; with `server.address`, `url.path` "
    "and `http.response.status_code`.",
}
SPAN_ATTRIBUTES: Mapping[str, str] = {
    "gen_ai.operation.name": "Always `execute_tool`.",
    "gen_ai.tool.name": "The tool's undecorated name; (unknown) for a tool that does not exist.",
    "toolcharter.tool.category": "query, mutation, analysis or generation.",
    "toolcharter.outcome": "ok, validation, business, system, cancelled or asked.",
    "toolcharter.cached": "Whether the answer came from the cache.",
    "error.type": "The error type, on a failure.",
}

BUCKETS = (
    *(0.00001, 0.000025, 0.00005, 0.0001, 0.00025, 0.0005, 0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5),
    *(1.0, 2.5, 5.0, 10.0, 60.0),
)
"""In seconds, from 10 µs: a cached answer takes less than 50."""
_ERRORS = frozenset({"validation", "business", "system"})


@dataclass(slots=True)
class ToolCounts:
    """The counts of one tool."""

    outcomes: dict[str, int] = field(default_factory=dict[str, int])
    hits: int = 0
    misses: int = 0
    seconds: float = 0.0
    buckets: list[int] = field(default_factory=lambda: [0] * (len(BUCKETS) + 1))

    @property
    def calls(self) -> int:
        """All calls."""
        return sum(self.outcomes.values())

    @property
    def errors(self) -> int:
        """The calls that ended in an error."""
        return sum(count for outcome, count in self.outcomes.items() if outcome in _ERRORS)

    @property
    def error_rate(self) -> float:
        """The share of calls that ended in an error."""
        return self.errors / self.calls if self.calls else 0.0

    @property
    def hit_rate(self) -> float:
        """The share of lookups that found an answer."""
        looked = self.hits + self.misses
        return self.hits / looked if looked else 0.0


class Sample(NamedTuple):
    """The value of a metric at one moment, with the labels that it declares besides `server`."""

    name: str
    labels: tuple[str, ...]
    value: float


Source = Callable[[], Iterable[Sample]]
"""Reads figures that something else keeps, when metrics are read."""


class Waits:
    """How often and how long something was waited for, in any thread."""

    def __init__(self) -> None:
        self.count, self.seconds = 0, 0.0
        self._lock = threading.Lock()

    def add(self, seconds: float) -> None:
        """Count one time."""
        with self._lock:
            self.count += 1
            self.seconds += seconds

    def database_samples(self) -> Iterator[Sample]:
        """As the metrics of a database."""
        yield Sample(DATABASE_WAITS, (), self.count)
        yield Sample(DATABASE_WAIT_TIME, (), round(self.seconds, 6))


class LoopLag:
    """Measures how late the event loop runs a timer that is due."""

    def __init__(self) -> None:
        self._worst = self._worst_before = 0.0
        self._ticks = 0
        self._timer: asyncio.TimerHandle | None = None

    def start(self) -> None:
        """Measure until `stop`, twice a second."""
        loop = asyncio.get_running_loop()
        self._timer = loop.call_later(_LAG_SECONDS, self._measure, loop, loop.time() + _LAG_SECONDS)

    def stop(self) -> None:
        """Measure no longer."""
        if self._timer is not None:
            self._timer.cancel()

    def samples(self) -> Iterator[Sample]:
        """The worst of the last 15 to 30 seconds."""
        yield Sample(LOOP_LAG, (), round(max(self._worst, self._worst_before), 6))

    def _measure(self, loop: asyncio.AbstractEventLoop, due: float) -> None:
        self._ticks += 1
        if self._ticks % _LAG_TICKS == 0:
            self._worst_before, self._worst = self._worst, 0.0
        self._worst = max(self._worst, loop.time() - due)
        self.start()


_LAG_SECONDS = 0.5
_LAG_TICKS = 30

_tracer: ContextVar["Tracer | None"] = ContextVar("toolcharter_tracer", default=None)
"""The tracer of the call that runs, if it is traced."""
_opening: ContextVar["Telemetry | None"] = ContextVar("toolcharter_opening", default=None)
_NO_SPAN = nullcontext()
_PROVIDER_VARIABLES = ("OTEL_PYTHON_METER_PROVIDER", "OTEL_PYTHON_TRACER_PROVIDER")


def is_sdk_in_use() -> bool:
    """Whether OpenTelemetry's SDK may be set up. Without it, the API does nothing, and is not even imported."""
    return "opentelemetry.sdk" in sys.modules or any(map(os.environ.get, _PROVIDER_VARIABLES))


@cache
def _propagator() -> "TraceContextTextMapPropagator":
    from opentelemetry.trace.propagation.tracecontext import (  # noqa: PLC0415 - 8 ms, and few calls are traced
        TraceContextTextMapPropagator,
    )

    return TraceContextTextMapPropagator()


current_tracer: Callable[[], "Tracer | None"] = _tracer.get
"""The tracer of the call that runs; None if the call is not traced."""


def is_traced() -> bool:
    """Whether the call that runs is traced."""
    return current_tracer() is not None


def child_span(name: str, attributes: Mapping[str, str] | None = None) -> AbstractContextManager["Span | None"]:
    """A span of a request to something else inside the call that runs. Where calls are not traced, it does nothing."""
    tracer = _tracer.get()
    if tracer is None:
        return _NO_SPAN
    from opentelemetry.trace import SpanKind  # noqa: PLC0415 - 8 ms, and few calls are traced

    return tracer.start_as_current_span(name, None, SpanKind.CLIENT, attributes)


def trace_headers() -> dict[str, str]:
    """The headers that carry the trace of the call that runs to another system; none if it is not traced."""
    headers: dict[str, str] = {}
    if _tracer.get() is not None:
        _propagator().inject(headers)
    return headers


def opening_telemetry() -> "Telemetry | None":
    """The telemetry of the app that is being opened, for what is opened with it."""
    return _opening.get()


class Telemetry:
    """The counts of one server, and its spans."""

    def __init__(
        self,
        server: str,
        *,
        meter_provider: "MeterProvider | None" = None,
        tracer_provider: "TracerProvider | None" = None,
    ) -> None:
        self.server = server
        self.tallies: dict[str, ToolCounts] = {}
        self.in_flight = 0
        """Calls that are running."""
        self._counts: dict[tuple[str, tuple[str, ...]], int] = {}
        self._sources: list[Source] = [self._tool_samples, self._counted, self._running]
        self._duration: Histogram | None = None
        self._tracer: Tracer | None = None
        if meter_provider or tracer_provider or is_sdk_in_use():
            self._export(meter_provider, tracer_provider)
        self.traced = self._tracer is not None

    def _export(self, meter_provider: "MeterProvider | None", tracer_provider: "TracerProvider | None") -> None:
        from opentelemetry import metrics, trace  # noqa: PLC0415 - 8 ms, and few servers export

        # The API's own providers do nothing, so they are not called at all.
        provider = meter_provider or metrics.get_meter_provider()
        if meter_provider or type(provider).__module__.startswith("opentelemetry.sdk"):
            self._duration = self._instruments(provider)
        tracers = tracer_provider or trace.get_tracer_provider()
        if tracer_provider or type(tracers).__module__.startswith("opentelemetry.sdk"):
            self._tracer = tracers.get_tracer(SCOPE)

    def _instruments(self, provider: "MeterProvider") -> "Histogram":
        meter = provider.get_meter(SCOPE)
        for name, metric in METRICS.items():
            observe = [partial(self._observe, name)]
            if metric.kind == "counter":
                meter.create_observable_counter(name, observe, metric.unit, metric.description)
            elif metric.kind == "gauge":
                meter.create_observable_gauge(name, observe, metric.unit, metric.description)
        return meter.create_histogram(
            DURATION, "s", METRICS[DURATION].description, explicit_bucket_boundaries_advisory=BUCKETS
        )

    def add_source(self, source: Source) -> None:
        """Add figures that are read whenever metrics are."""
        self._sources.append(source)

    def remove_source(self, source: Source) -> None:
        """Undo `add_source`."""
        self._sources.remove(source)

    def count(self, name: str, *labels: str) -> None:
        """Add one to a counter. The values of its labels must be few: they are kept for ever."""
        key = (name, labels)
        self._counts[key] = self._counts.get(key, 0) + 1

    def samples(self) -> Iterator[Sample]:
        """Every counter and gauge as it is now."""
        for source in tuple(self._sources):
            yield from source()

    def record(self, tool: str, outcome: str, seconds: float, *, cached: bool | None) -> None:
        """Count one call. `cached` is None where the cache was not used."""
        tally = self.tallies.get(tool)
        if tally is None:
            tally = self.tallies[tool] = ToolCounts()
        tally.outcomes[outcome] = tally.outcomes.get(outcome, 0) + 1
        tally.seconds += seconds
        tally.buckets[bisect.bisect_left(BUCKETS, seconds)] += 1
        if cached is not None:
            if cached:
                tally.hits += 1
            else:
                tally.misses += 1
        if self._duration is not None:
            self._duration.record(seconds, {"server": self.server, "tool": tool, "outcome": outcome})

    @contextmanager
    def span(self, tool: str, category: str | None, carrier: Mapping[str, Any]) -> Generator["Span"]:
        """A span for a call, in the caller's trace. Only where calls are `traced`."""
        from opentelemetry import context  # noqa: PLC0415 - 8 ms, and few calls are traced
        from opentelemetry.trace import SpanKind  # noqa: PLC0415 - as above

        if self._tracer is None:
            raise RuntimeError(f"The calls of {self.server} are not traced; ask `traced` first")
        headers = {key: value for key, value in carrier.items() if isinstance(value, str)}
        parent = _propagator().extract(headers, context.get_current()) if "traceparent" in headers else None
        attributes = {"gen_ai.operation.name": "execute_tool", "gen_ai.tool.name": tool}
        if category is not None:
            attributes["toolcharter.tool.category"] = category
        name = SPAN.format(tool=tool)
        with self._tracer.start_as_current_span(
            name, parent, SpanKind.SERVER, attributes, record_exception=False, set_status_on_exception=False
        ) as span:
            token = _tracer.set(self._tracer)
            try:
                yield span
            finally:
                _tracer.reset(token)

    @contextmanager
    def opening(self) -> Generator[None]:
        """While an app is opened, what is opened with it can add its figures here."""
        token = _opening.set(self)
        try:
            yield
        finally:
            _opening.reset(token)

    # --- the figures ---------------------------------------------------------------------------------------

    def _observe(self, name: str, _: "CallbackOptions") -> Iterable["Observation"]:
        from opentelemetry.metrics import Observation  # noqa: PLC0415 - 8 ms, and few servers export

        names = METRICS[name].labels
        for sample in self.samples():
            if sample.name == name:
                labels = {"server": self.server, **dict(zip(names, sample.labels, strict=True))}
                yield Observation(sample.value, labels)

    def _tool_samples(self) -> Iterator[Sample]:
        for tool, tally in tuple(self.tallies.items()):
            for outcome, number in tally.outcomes.items():
                yield Sample(CALLS, (tool, outcome), number)
            yield Sample(ERRORS, (tool,), tally.errors)
            yield Sample(ERROR_RATE, (tool,), tally.error_rate)
            yield Sample(CACHE_LOOKUPS, (tool, "hit"), tally.hits)
            yield Sample(CACHE_LOOKUPS, (tool, "miss"), tally.misses)
            yield Sample(CACHE_HIT_RATE, (tool,), tally.hit_rate)

    def _counted(self) -> Iterator[Sample]:
        for (name, labels), number in tuple(self._counts.items()):
            yield Sample(name, labels, number)

    def _running(self) -> Iterator[Sample]:
        yield Sample(IN_FLIGHT, (), self.in_flight)


def build_info(server_version: str) -> Source:
    """The versions of a server, of toolcharter and of Python, as a metric."""
    return lambda: (Sample(BUILD, (server_version, _own_version(), platform.python_version()), 1),)


@cache
def _own_version() -> str:
    from importlib.metadata import PackageNotFoundError, version  # noqa: PLC0415 - 19 ms that a start does not need

    try:
        return version("toolcharter")
    except PackageNotFoundError:
        return "unknown"


def trace_id_of(span: "Span") -> str | None:
    """The id of the trace that a span belongs to."""
    context = span.get_span_context()
    return format(context.trace_id, "032x") if context.is_valid else None


def end_span(span: "Span", outcome: str, *, cached: bool | None, error_type: str | None) -> None:
    """Set the attributes of a span at the end of its call."""
    span.set_attribute("toolcharter.outcome", outcome)
    span.set_attribute("toolcharter.cached", bool(cached))
    if error_type is not None:
        from opentelemetry.trace import StatusCode  # noqa: PLC0415 - 8 ms, and few calls are traced

        span.set_attribute("error.type", error_type)
        span.set_status(StatusCode.ERROR)


def prometheus(servers: Iterable[Telemetry]) -> str:
    """The figures of several servers in Prometheus' text format."""
    rows: dict[str, list[str]] = {name: [] for name in METRICS}
    for telemetry in servers:
        for name, labels, value in telemetry.samples():
            rows[name].append(_row(exposed_name(name), telemetry.server, METRICS[name].labels, labels, value))
        for tool, tally in tuple(telemetry.tallies.items()):
            rows[DURATION] += _histogram(telemetry.server, tool, tally)
    return "".join(_family(name, lines) for name, lines in rows.items() if lines)


def prometheus_sample(server: str, sample: Sample) -> str:
    """One figure that belongs to no `Telemetry`, in Prometheus' text format."""
    name, labels, value = sample
    return _family(name, [_row(exposed_name(name), server, METRICS[name].labels, labels, value)])


def _family(name: str, lines: list[str]) -> str:
    exposed, metric = exposed_name(name), METRICS[name]
    return f"# HELP {exposed} {metric.description}\n# TYPE {exposed} {metric.kind}\n" + "".join(lines)


def _histogram(server: str, tool: str, tally: ToolCounts) -> Iterator[str]:
    total, name = 0, exposed_name(DURATION)
    for limit, number in zip((*BUCKETS, "+Inf"), tally.buckets, strict=True):
        total += number
        yield _row(f"{name}_bucket", server, ("tool", "le"), (tool, str(limit)), total)
    yield _row(f"{name}_sum", server, ("tool",), (tool,), round(tally.seconds, 6))
    yield _row(f"{name}_count", server, ("tool",), (tool,), total)


def _row(exposed: str, server: str, names: tuple[str, ...], values: tuple[str, ...], value: float) -> str:
    labels = "".join(f',{name}="{_escape(text)}"' for name, text in zip(names, values, strict=True))
    return f'{exposed}{{server="{_escape(server)}"{labels}}} {value}\n'


def _escape(text: str) -> str:
    return text.replace("\\", "\\\\").replace('"', '\\"').replace("\n", "\\n")


def exposed_name(name: str) -> str:
    """The name of a metric in Prometheus: with underscores, its unit and the ending of a counter."""
    metric = METRICS[name]
    unit, ending = "_seconds" if metric.unit else "", "_total" if metric.kind == "counter" else ""
    return name.replace(".", "_") + unit + ending
