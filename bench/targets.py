"""The targets, compared with the measurements."""

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, replace
from typing import Literal

from bench import cold_start, http_calls, list_calls, memory_calls, stdio_calls, verify_speed
from bench.contenders import ERAS, IN_FLIGHT, TOOLS
from bench.measure import Cell, Samples, difference, median, ratio, values

Compare = Callable[[Sequence[float], Sequence[float]], float]


@dataclass(frozen=True)
class Finding:
    """One promise under one condition."""

    condition: str
    value: float
    by_cpu: float | None = None
    """The same ratio in processor time, which is less noisy than calls a second or wall time."""


@dataclass(frozen=True)
class Target:
    """A promise: at least or at most a bound, under every condition."""

    words: str
    sense: Literal["least", "most"]
    bound: float
    unit: str
    findings: tuple[Finding, ...]

    def holds(self, finding: Finding) -> bool:
        return finding.value >= self.bound if self.sense == "least" else finding.value <= self.bound

    @property
    def met(self) -> bool | None:
        """None if it was not measured."""
        return all(map(self.holds, self.findings)) if self.findings else None

    @property
    def worst(self) -> Finding | None:
        pick = min if self.sense == "least" else max
        return pick(self.findings, key=lambda finding: finding.value) if self.findings else None


def targets(samples: Samples) -> list[Target]:
    """Every target of the project."""
    native, on_fastmcp = "governed_native", "governed_fastmcp"
    http = [(era, busy) for era in ERAS for busy in IN_FLIGHT]
    return [
        _speed("Governed native over HTTP against the bare low-level SDK, calls/s", 0.85, samples, native, "low_level"),
        _speed("Governed native over HTTP against bare FastMCP, calls/s", 2.0, samples, native, "plain_fastmcp"),
        _flat("Governed native over HTTP, 1,000 tools against 1, calls/s", samples, native),
        Target(
            "Governance itself: processor time over the bare low-level SDK, in memory",
            "most",
            60.0,
            "µs",
            tuple(_governance(samples)),
        ),
        Target("Cold start against the bare low-level SDK", "most", 1.15, "x", tuple(_starts(samples))),
        Target("Memory over the bare low-level SDK", "most", 12.0, "MB", tuple(_weights(samples))),
        Target(
            "Governed on FastMCP against FastMCP with five of its own middlewares, over HTTP, calls/s",
            "least",
            1.0,
            "x",
            tuple(
                finding
                for tools in TOOLS
                for era, busy in http
                for finding in _against(samples, _http(on_fastmcp, era, busy, tools), "fastmcp_middlewares")
            ),
        ),
        _flat("Governed on FastMCP over HTTP, 1,000 tools against 1, calls/s", samples, on_fastmcp),
        _speed(
            "Fast lane over HTTP, 1 in flight, against the bare low-level SDK",
            1.8,
            samples,
            native,
            "low_level",
            only=1,
        ),
        _speed(
            "Fast lane over HTTP, 32 in flight, against the bare low-level SDK",
            3.3,
            samples,
            native,
            "low_level",
            only=32,
        ),
        _speed(
            "Fast lane over HTTP, 32 in flight, against bare FastMCP", 8.0, samples, native, "plain_fastmcp", only=32
        ),
        _processor_time(
            "Fast lane over HTTP, 1 in flight, processor time over a direct ASGI function", 1.3, samples, 1
        ),
        _processor_time(
            "Fast lane over HTTP, 32 in flight, processor time over a direct ASGI function", 2.1, samples, 32
        ),
        Target("Fast lane over stdio, 32 in flight, against the bare SDK", "least", 3.0, "x", tuple(_pipes(samples))),
        Target("Fast lane: cold start against the bare low-level SDK", "most", 0.5, "x", tuple(_starts(samples))),
        Target("Fast lane: memory against the bare low-level SDK", "most", 0.75, "x", tuple(_shares(samples))),
        Target("Fast lane: tools/list of 1,000 tools, processor time", "most", 5.0, "ms", tuple(_lists(samples))),
        Target("Verifying 6,000 tools on one core, processor time", "most", 10.0, "s", tuple(_verified(samples))),
    ]


def _speed(words: str, bound: float, samples: Samples, ours: str, theirs: str, *, only: int | None = None) -> Target:
    http = [(era, busy) for era in ERAS for busy in IN_FLIGHT if only in (None, busy)]
    found = [finding for era, busy in http for finding in _against(samples, _http(ours, era, busy), theirs)]
    return Target(words, "least", bound, "x", tuple(found))


def _processor_time(words: str, bound: float, samples: Samples, busy: int) -> Target:
    found: list[Finding] = []
    for era in ERAS:
        ours, floor = _http("governed_native", era, busy), _http("direct_asgi", era, busy)
        if samples.get(ours) and samples.get(floor):
            found.append(Finding(era, _compare(samples, ours, floor, "cpu_us", ratio)))
    return Target(words, "most", bound, "x", tuple(found))


def _http(peer: str, era: str, busy: int, tools: int = 1) -> Cell:
    return Cell(http_calls.KIND, peer, era, tools, busy)


def _against(samples: Samples, ours: Cell, peer: str) -> Iterable[Finding]:
    words = f"{ours.era}, {ours.in_flight} in flight" + (f", {ours.tools:,} tools" if ours.tools > 1 else "")
    return _http_ratio(samples, ours, replace(ours, peer=peer), words)


def _flat(words: str, samples: Samples, peer: str) -> Target:
    found = [
        finding
        for era in ERAS
        for busy in IN_FLIGHT
        for finding in _http_ratio(
            samples,
            _http(peer, era, busy, TOOLS[-1]),
            _http(peer, era, busy),
            f"{era}, {busy} in flight",
        )
    ]
    return Target(words, "least", 0.95, "x", tuple(found))


def _http_ratio(samples: Samples, ours: Cell, theirs: Cell, words: str) -> Iterable[Finding]:
    if samples.get(ours) and samples.get(theirs):
        by_cpu = ratio(values(samples, theirs, "cpu_us"), values(samples, ours, "cpu_us"))
        yield Finding(words, _compare(samples, ours, theirs, "calls_per_s", ratio), by_cpu)


def _governance(samples: Samples) -> Iterable[Finding]:
    for era in ERAS:
        for tools in TOOLS:
            ours, theirs = (Cell(memory_calls.KIND, peer, era, tools) for peer in ("governed_native", "low_level"))
            if samples.get(ours) and samples.get(theirs):
                words = f"{era}, {tools:,} tool{'s' if tools > 1 else ''}"
                yield Finding(words, _compare(samples, ours, theirs, "cpu_us", difference))


def _starts(samples: Samples) -> Iterable[Finding]:
    for era, ours, theirs in _start_pairs(samples):
        by_cpu = _compare(samples, ours, theirs, "cpu_ms", ratio)
        yield Finding(era, _compare(samples, ours, theirs, "wall_ms", ratio), by_cpu)


def _weights(samples: Samples) -> Iterable[Finding]:
    for era, ours, theirs in _start_pairs(samples):
        yield Finding(era, _compare(samples, ours, theirs, "rss_mb", difference))


def _shares(samples: Samples) -> Iterable[Finding]:
    for era, ours, theirs in _start_pairs(samples):
        yield Finding(era, _compare(samples, ours, theirs, "rss_mb", ratio))


def _pipes(samples: Samples) -> Iterable[Finding]:
    for era in ERAS:
        ours, theirs = (
            Cell(stdio_calls.KIND, peer, era, 1, stdio_calls.IN_FLIGHT) for peer in ("governed_native", "low_level")
        )
        yield from _http_ratio(samples, ours, theirs, era)


def _verified(samples: Samples) -> Iterable[Finding]:
    if taken := values(samples, verify_speed.cell(), "cpu_s"):
        yield Finding("all rules, scores, duplicates, HTML page", median(taken))


def _lists(samples: Samples) -> Iterable[Finding]:
    for era in ERAS:
        taken = values(samples, Cell(list_calls.KIND, "governed_native", era, TOOLS[-1]), "cpu_ms")
        if taken:
            yield Finding(era, median(taken))


def _start_pairs(samples: Samples) -> Iterable[tuple[str, Cell, Cell]]:
    for era in ERAS:
        ours, theirs = (Cell(cold_start.KIND, peer, era) for peer in ("governed_native", "low_level"))
        if samples.get(ours) and samples.get(theirs):
            yield era, ours, theirs


def _compare(samples: Samples, ours: Cell, theirs: Cell, metric: str, how: Compare) -> float:
    return how(values(samples, ours, metric), values(samples, theirs, metric))
