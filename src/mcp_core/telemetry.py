"""All metrics and span names, and the counts behind them.

Each call is counted once, in memory. Prometheus reads the counts at `/metrics`. OpenTelemetry reads the same counts
through observable instruments, so that they cost a call only once; durations are recorded where an SDK is set up.
"""

import bisect
from collections.abc import Generator, Iterable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, field
from typing import Any

from opentelemetry import context as otel_context
from opentelemetry import metrics, trace
from opentelemetry.metrics import CallbackOptions, Observation
from opentelemetry.trace import Span, SpanKind, StatusCode
from opentelemetry.trace.propagation.tracecontext import TraceContextTextMapPropagator

SCOPE = "toolcharter"
CALLS = "toolcharter.tool.calls"
ERRORS = "toolcharter.tool.errors"
CACHE_LOOKUPS = "toolcharter.tool.cache.lookups"
DURATION = "toolcharter.tool.duration"
ERROR_RATE = "toolcharter.tool.error.rate"
CACHE_HIT_RATE = "toolcharter.tool.cache.hit.rate"

METRICS: Mapping[str, str] = {
    CALLS: "Calls, by tool and outcome; (unknown) stands for tools that do not exist.",
    ERRORS: "Calls that ended in an error, by tool.",
    ERROR_RATE: "The share of calls that ended in an error, by tool.",
    CACHE_LOOKUPS: "Lookups in the answer cache, by tool and hit or miss.",
    CACHE_HIT_RATE: "The share of lookups that found an answer, by tool.",
    DURATION: "How long a call took, in seconds, by tool.",
}
SPAN = "tools/call {tool}"
SPAN_ATTRIBUTES: Mapping[str, str] = {
    "gen_ai.operation.name": "Always `execute_tool`.",
    "gen_ai.tool.name": "The tool's undecorated name; (unknown) for a tool that does not exist.",
    "toolcharter.tool.category": "query, mutation, analysis or generation.",
    "toolcharter.outcome": "ok, validation, business, system, cancelled or asked.",
    "toolcharter.cached": "Whether the answer came from the cache.",
    "error.type": "The error type, on a failure.",
}

BUCKETS = (0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1.0, 2.5, 5.0, 10.0, 60.0)
_ERRORS = frozenset({"validation", "business", "system"})


@dataclass(slots=True)
class Tally:
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


class Telemetry:
    """The counts of one server, and its spans."""

    def __init__(
        self,
        server: str,
        *,
        meter_provider: metrics.MeterProvider | None = None,
        tracer_provider: trace.TracerProvider | None = None,
    ) -> None:
        self.server = server
        self.tallies: dict[str, Tally] = {}
        provider = meter_provider or metrics.get_meter_provider()
        self._duration = None
        # The API's own providers do nothing, so they are not called at all.
        if meter_provider or type(provider).__module__.startswith("opentelemetry.sdk"):
            self._duration = self._instruments(provider)
        tracers = tracer_provider or trace.get_tracer_provider()
        self.traced = bool(tracer_provider) or type(tracers).__module__.startswith("opentelemetry.sdk")
        self._tracer = tracers.get_tracer(SCOPE)
        self._propagator = TraceContextTextMapPropagator()

    def _instruments(self, provider: metrics.MeterProvider) -> metrics.Histogram:
        meter = provider.get_meter(SCOPE)
        meter.create_observable_counter(CALLS, [self._observe_calls], description=METRICS[CALLS])
        meter.create_observable_counter(ERRORS, [self._observe_errors], description=METRICS[ERRORS])
        meter.create_observable_gauge(ERROR_RATE, [self._observe_error_rate], description=METRICS[ERROR_RATE])
        meter.create_observable_counter(CACHE_LOOKUPS, [self._observe_lookups], description=METRICS[CACHE_LOOKUPS])
        meter.create_observable_gauge(CACHE_HIT_RATE, [self._observe_hit_rate], description=METRICS[CACHE_HIT_RATE])
        return meter.create_histogram(DURATION, "s", METRICS[DURATION])

    def record(self, tool: str, outcome: str, seconds: float, *, cached: bool | None) -> None:
        """Count one call. `cached` is None where the cache was not used."""
        tally = self.tallies.get(tool)
        if tally is None:
            tally = self.tallies[tool] = Tally()
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
    def span(self, tool: str, category: str | None, carrier: Mapping[str, Any]) -> Generator[Span]:
        """A span for a call, in the caller's trace."""
        headers = {key: value for key, value in carrier.items() if isinstance(value, str)}
        parent = self._propagator.extract(headers, otel_context.get_current()) if "traceparent" in headers else None
        attributes = {"gen_ai.operation.name": "execute_tool", "gen_ai.tool.name": tool}
        if category is not None:
            attributes["toolcharter.tool.category"] = category
        name = SPAN.format(tool=tool)
        with self._tracer.start_as_current_span(
            name, parent, SpanKind.SERVER, attributes, record_exception=False, set_status_on_exception=False
        ) as span:
            yield span

    # --- the counts, as OpenTelemetry reads them -----------------------------------------------------------

    def _labelled(self) -> Iterator[tuple[Tally, dict[str, str]]]:
        for tool, tally in self.tallies.items():
            yield tally, {"server": self.server, "tool": tool}

    def _observe_calls(self, _: CallbackOptions) -> Iterable[Observation]:
        for tally, labels in self._labelled():
            for outcome, count in tally.outcomes.items():
                yield Observation(count, labels | {"outcome": outcome})

    def _observe_errors(self, _: CallbackOptions) -> Iterable[Observation]:
        return [Observation(tally.errors, labels) for tally, labels in self._labelled()]

    def _observe_error_rate(self, _: CallbackOptions) -> Iterable[Observation]:
        return [Observation(tally.error_rate, labels) for tally, labels in self._labelled()]

    def _observe_lookups(self, _: CallbackOptions) -> Iterable[Observation]:
        for tally, labels in self._labelled():
            yield Observation(tally.hits, labels | {"result": "hit"})
            yield Observation(tally.misses, labels | {"result": "miss"})

    def _observe_hit_rate(self, _: CallbackOptions) -> Iterable[Observation]:
        return [Observation(tally.hit_rate, labels) for tally, labels in self._labelled()]


def trace_id_of(span: Span) -> str | None:
    """The id of the trace that a span belongs to."""
    context = span.get_span_context()
    return format(context.trace_id, "032x") if context.is_valid else None


def end_span(span: Span, outcome: str, *, cached: bool | None, error_type: str | None) -> None:
    """Set the attributes of a span at the end of its call."""
    span.set_attribute("toolcharter.outcome", outcome)
    span.set_attribute("toolcharter.cached", bool(cached))
    if error_type is not None:
        span.set_attribute("error.type", error_type)
        span.set_status(StatusCode.ERROR)


def prometheus(servers: Iterable[Telemetry]) -> str:
    """The counts of several servers in Prometheus' text format."""
    rows: dict[str, list[str]] = {name: [] for name in METRICS}
    for telemetry in servers:
        for tool, tally in telemetry.tallies.items():
            labels = f'server="{telemetry.server}",tool="{tool}"'
            rows[CALLS] += [_row(CALLS, f'{labels},outcome="{o}"', n, "_total") for o, n in tally.outcomes.items()]
            rows[ERRORS].append(_row(ERRORS, labels, tally.errors, "_total"))
            rows[ERROR_RATE].append(_row(ERROR_RATE, labels, tally.error_rate))
            rows[CACHE_LOOKUPS].append(_row(CACHE_LOOKUPS, f'{labels},result="hit"', tally.hits, "_total"))
            rows[CACHE_LOOKUPS].append(_row(CACHE_LOOKUPS, f'{labels},result="miss"', tally.misses, "_total"))
            rows[CACHE_HIT_RATE].append(_row(CACHE_HIT_RATE, labels, tally.hit_rate))
            rows[DURATION] += _histogram(labels, tally)
    return "".join(_family(name, lines) for name, lines in rows.items() if lines)


def _family(name: str, lines: list[str]) -> str:
    kind = "histogram" if name == DURATION else "gauge" if name.endswith("rate") else "counter"
    flat = _flat(name) + ("_seconds" if kind == "histogram" else "_total" if kind == "counter" else "")
    return f"# HELP {flat} {METRICS[name]}\n# TYPE {flat} {kind}\n" + "".join(lines)


def _histogram(labels: str, tally: Tally) -> list[str]:
    rows: list[str] = []
    total = 0
    for limit, count in zip((*BUCKETS, "+Inf"), tally.buckets, strict=True):
        total += count
        rows.append(_row(DURATION, f'{labels},le="{limit}"', total, "_seconds_bucket"))
    rows.append(_row(DURATION, labels, round(tally.seconds, 6), "_seconds_sum"))
    rows.append(_row(DURATION, labels, total, "_seconds_count"))
    return rows


def _row(name: str, labels: str, value: float, suffix: str = "") -> str:
    return f"{_flat(name)}{suffix}{{{labels}}} {value}\n"


def _flat(name: str) -> str:
    return name.replace(".", "_")
