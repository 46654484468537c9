"""The targets, compared with the measurements."""

from collections.abc import Iterable, Iterator
from dataclasses import dataclass, replace
from typing import Literal

from bench import cold_start, http_calls, list_calls, sqlite_calls, stdio_calls, verify_speed
from bench.contenders import ERAS, IN_FLIGHT, OURS, TOOLS
from bench.measure import Cell, Samples, median, ratio, values

NATIVE, ON_FASTMCP, SDK, FASTMCP = "governed_native", "governed_fastmcp", "low_level", "plain_fastmcp"
HTTP = http_calls.KIND
HTTP_CONDITIONS = [(era, busy) for era in ERAS for busy in IN_FLIGHT]


@dataclass(frozen=True)
class Finding:
    """One promise under one condition."""

    condition: str
    value: float


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
    """Every target of the project. Processor time is that of the server for each call."""
    return [
        *(
            _target(
                f"Over HTTP, processor time over a direct ASGI function, {busy} in flight",
                "most",
                bound,
                _ratios(samples, "cpu_us", [_http(NATIVE, era, busy) for era in ERAS], "direct_asgi"),
            )
            for busy, bound in ((32, 1.3), (1, 1.4))
        ),
        _less("Over HTTP, times less processor time than the low-level SDK", 4.5, samples, HTTP, NATIVE, SDK),
        _less("Over HTTP, times less processor time than FastMCP", 8.0, samples, HTTP, NATIVE, FASTMCP),
        _less(
            "A tool on SQLite, times less processor time than by hand on the low-level SDK",
            2.5,
            samples,
            sqlite_calls.KIND,
            "todo",
            "todo_low_level",
        ),
        _target(
            "On FastMCP over HTTP, times less processor time than FastMCP with five of its own middlewares",
            "least",
            1.0,
            _times_less(
                samples,
                [_http(ON_FASTMCP, era, busy, tools) for tools in TOOLS for era, busy in HTTP_CONDITIONS],
                "fastmcp_middlewares",
            ),
        ),
        *(
            _target(f"{words} over HTTP, processor time, 1,000 tools over 1", "most", 1.05, _growth(samples, peer))
            for words, peer in (("Native", NATIVE), ("On FastMCP", ON_FASTMCP))
        ),
        _target(
            "Over stdio, 32 in flight, times less processor time than the low-level SDK",
            "least",
            3.0,
            _times_less(samples, [Cell(stdio_calls.KIND, NATIVE, era, 1, stdio_calls.IN_FLIGHT) for era in ERAS], SDK),
        ),
        _target("Cold start of the demo, processor time", "most", 350.0, _starts(samples, ["demo"]), "ms"),
        _target("Cold start of each server, processor time", "most", 500.0, _starts(samples, [*OURS][1:]), "ms"),
        _target(
            "Cold start, memory over the low-level SDK",
            "most",
            0.75,
            _ratios(samples, "rss_mb", [Cell(cold_start.KIND, name, era) for name in OURS for era in ERAS], SDK),
        ),
        _target("tools/list of 1,000 tools, processor time", "most", 5.0, _lists(samples), "ms"),
        _target("Verifying 6,000 tools on one core, processor time", "most", 10.0, _verified(samples), "s"),
    ]


def _target(
    words: str, sense: Literal["least", "most"], bound: float, found: Iterable[Finding], unit: str = "x"
) -> Target:
    return Target(words, sense, bound, unit, tuple(found))


def _http(peer: str, era: str, busy: int, tools: int = 1) -> Cell:
    return Cell(HTTP, peer, era, tools, busy)


def _less(words: str, bound: float, samples: Samples, kind: str, ours: str, theirs: str) -> Target:  # noqa: PLR0917 - a row
    cells = [Cell(kind, ours, era, 1, busy) for era, busy in HTTP_CONDITIONS]
    return _target(words, "least", bound, _times_less(samples, cells, theirs))


def _times_less(samples: Samples, cells: Iterable[Cell], peer: str) -> Iterator[Finding]:
    """How many times less processor time than another server."""
    for finding in _ratios(samples, "cpu_us", cells, peer):
        yield replace(finding, value=1 / finding.value)


def _ratios(samples: Samples, metric: str, cells: Iterable[Cell], peer: str) -> Iterator[Finding]:
    """A metric over that of another server under the same conditions."""
    for ours in cells:
        yield from _ratio(samples, metric, ours, replace(ours, peer=peer), _words(ours))


def _ratio(samples: Samples, metric: str, ours: Cell, theirs: Cell, words: str) -> Iterator[Finding]:
    if samples.get(ours) and samples.get(theirs):
        yield Finding(words, ratio(values(samples, ours, metric), values(samples, theirs, metric)))


def _words(cell: Cell) -> str:
    """The conditions of a cell."""
    if cell.kind == cold_start.KIND:
        return f"{cell.peer}, {cell.era}"
    return f"{cell.era}, {cell.in_flight} in flight" + (f", {cell.tools:,} tools" if cell.tools > 1 else "")


def _growth(samples: Samples, peer: str) -> Iterator[Finding]:
    for era, busy in HTTP_CONDITIONS:
        few, many = _http(peer, era, busy), _http(peer, era, busy, TOOLS[-1])
        yield from _ratio(samples, "cpu_us", many, few, _words(few))


def _starts(samples: Samples, names: Iterable[str]) -> Iterator[Finding]:
    for cell in (Cell(cold_start.KIND, name, era) for name in names for era in ERAS):
        if taken := values(samples, cell, "cpu_ms"):
            yield Finding(_words(cell), median(taken))


def _verified(samples: Samples) -> Iterator[Finding]:
    if taken := values(samples, verify_speed.cell(), "cpu_s"):
        yield Finding("all rules, scores, duplicates, HTML page", median(taken))


def _lists(samples: Samples) -> Iterator[Finding]:
    for era in ERAS:
        if taken := values(samples, Cell(list_calls.KIND, NATIVE, era, TOOLS[-1]), "cpu_ms"):
            yield Finding(era, median(taken))
