"""The governor beside other proxies: calls through it, and what many upstreams and thousands of tools cost.

`python -m bench --only govern --write` writes docs/benchmarks-govern.md.

The client is the same for all, and speaks HTTP. The upstream is the bare low-level SDK, over HTTP and over stdio.
"""

import asyncio
import json
import subprocess
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import ExitStack
from dataclasses import dataclass, field
from pathlib import Path

import psutil

from bench import load, messages, stdio_calls, tool_search
from bench.contenders import IN_FLIGHT
from bench.govern_proxies import (
    CONNECTED,
    DIRECT,
    FASTMCP,
    OTHER,
    OURS,
    PROXIES,
    TINY,
    UPSTREAM,
    Proxy,
    governor,
    mcp_proxy_command,
    serve,
)
from bench.http_calls import Load, sample
from bench.measure import Cell, Sample, cpu_seconds, difference, interleave, median, ratio, spread, values
from bench.processes import Served, serving, started

KIND = "govern"
HTTP, STDIO = "http", "stdio"
MANY = 50
FEW_TOOLS, MANY_TOOLS = 10, 5_000
LIST_BUDGET = 2_000
"""Tokens that may be listed."""
Log = Callable[[str], None]
Samples = dict[Cell, list[Sample]]


@dataclass
class Figures:
    """Everything that the page shows."""

    calls: Samples
    scale: Samples
    memory: Mapping[str, float]
    """Megabytes of the governor, by what it governs."""
    listed: int
    """Tokens of the list with thousands of tools."""
    missing: Mapping[str, str] = field(default_factory=dict)
    """Why a proxy was not measured."""
    recall: str = "The data is not beside the repository."
    """The table of how well tools are found."""
    cost: tool_search.Cost | None = None
    """What a search costs."""


def measure(rounds: int, load: Load, folder: Path, log: Log) -> Figures:
    missing = {}
    if mcp_proxy_command()[0] is None:
        missing[OTHER.name] = mcp_proxy_command()[1]
    calls = measure_calls(rounds, load, folder, log, [proxy for proxy in PROXIES if proxy.name not in missing])
    scale, memory, listed = measure_scale(rounds, load, folder, log)
    figures = Figures(calls, scale, memory, listed, missing)
    if tool_search.FOLDER.is_dir():
        log("searching for tools")
        data = tool_search.read()
        figures.recall, figures.cost = tool_search.table(data), tool_search.measure_cost(data, folder)
    return figures


# --- calls ---------------------------------------------------------------------------------------------------


def cell(proxy: Proxy, kind: str, in_flight: int) -> Cell:
    return Cell(kind, proxy.name, proxy.era, 1, in_flight)


def measure_calls(rounds: int, load: Load, folder: Path, log: Log, proxies: Sequence[Proxy]) -> Samples:
    pairs = [(proxy, kind) for kind in (HTTP, STDIO) for proxy in proxies if proxy.only in (None, kind)]
    with ExitStack() as stack:
        upstream = stack.enter_context(serving("low_level", folder))
        targets = {HTTP: [f"http://127.0.0.1:{upstream.port}/mcp"], STDIO: UPSTREAM}
        served: dict[tuple[str, str], Served] = {(DIRECT.name, HTTP): upstream}
        for proxy, kind in pairs:
            if proxy is not DIRECT:
                log(f"starting {proxy.name} before an upstream over {kind}")
                served[proxy.name, kind] = stack.enter_context(serve(proxy, targets[kind], folder))
        pipe = stack.enter_context(started(UPSTREAM, folder))
        cells = [cell(proxy, kind, busy) for busy in IN_FLIGHT for proxy, kind in pairs]

        def take(one: Cell, number: int, load: Load = load) -> Sample:
            first = (number + 2) * 1_000_000 + cells.index(one) * 10_000
            found = served.get((one.peer, one.kind))
            return sample_pipe(pipe, one, load, first) if found is None else sample(found, one, load, first)

        for one in cells:
            take(one, -1, Load(0.3, 100))
        return interleave(cells, rounds, take, log)


def sample_pipe(process: "subprocess.Popen[str]", one: Cell, load: Load, first: int) -> Sample:
    """Calls over a pipe, without any proxy."""
    calls = min(load.calls, 1_000)
    began, used = time.perf_counter(), cpu_seconds(process.pid)
    stdio_calls.drive(process, one.era, range(first, first + calls), one.in_flight)
    passed, used = time.perf_counter() - began, cpu_seconds(process.pid) - used
    return {"calls_per_s": calls / passed, "cpu_us": used / calls * 1e6, "median_ms": passed / calls * 1e3}


# --- many upstreams, thousands of tools ----------------------------------------------------------------------

SCALE = {
    "1 upstream, 10 tools": (1, FEW_TOOLS, None),
    "50 upstreams, 10 tools each": (MANY, FEW_TOOLS, None),
    "1 upstream, 5,000 tools": (1, MANY_TOOLS, None),
    "1 upstream, 5,000 tools, through `call_tool`": (1, MANY_TOOLS, "call_tool"),
}
BASE = next(iter(SCALE))
NO_CONSOLE = "50 upstreams, without the web console"


def measure_scale(rounds: int, load: Load, folder: Path, log: Log) -> tuple[Samples, dict[str, float], int]:
    sizes = dict.fromkeys((upstreams, tools) for upstreams, tools, _ in SCALE.values())
    cells = [Cell("scale", name, messages.MODERN, 1, 32) for name in SCALE]
    with ExitStack() as stack:
        served: dict[tuple[int, int], Served] = {}
        memory: dict[str, float] = {}
        for upstreams, tools in sizes:
            log(f"starting {upstreams} upstreams with {tools} tools each")
            table = {
                f"s{n}": {"command": [*TINY, str(tools)], "prefix": "" if n == 0 else f"s{n}"} for n in range(upstreams)
            }
            one = served[upstreams, tools] = stack.enter_context(governor(table, folder))
            asyncio.run(call_each(one.port, upstreams))
            memory[next(name for name, size in SCALE.items() if size[:2] == (upstreams, tools))] = megabytes(one.pid)
            if upstreams == MANY:
                with governor(table, folder, "--no-console") as bare:
                    asyncio.run(call_each(bare.port, upstreams))
                    memory[NO_CONSOLE] = megabytes(bare.pid)

        def take(one: Cell, number: int, load: Load = load) -> Sample:
            upstreams, tools, through = SCALE[one.peer]
            first = (number + 2) * 1_000_000 + cells.index(one) * 10_000
            return sample(served[upstreams, tools], one, load, first, through=through)

        for one in cells:
            take(one, -1, Load(0.3, 100))
        listed = asyncio.run(tokens_listed(served[1, MANY_TOOLS].port))
        return interleave(cells, rounds, take, log), memory, listed


async def call_each(port: int, upstreams: int) -> None:
    """Connect to all upstreams."""
    wire = await load.connect(port)
    for number in range(upstreams):
        name = "add" if number == 0 else f"s{number}_add"
        answer = load.body(await wire.ask(*messages.post_call(port, name, {"a": 1, "b": 2}, number)))
        if messages.sum_in(answer) != 3:
            raise ValueError(f"asked {name} for 1 + 2, got {answer}")
    wire.close()


async def tokens_listed(port: int) -> int:
    """About how many tokens the list of tools costs a model: four characters each."""
    wire = await load.connect(port)
    asked = messages.request(messages.MODERN, 1, "tools/list")
    listed = load.body(await wire.ask(*messages.post(port, asked, messages.MODERN)))["result"]["tools"]
    wire.close()
    shown = [{key: tool.get(key) for key in ("name", "description", "inputSchema")} for tool in listed]
    return len(json.dumps(shown)) // 4


def megabytes(pid: int) -> float:
    return psutil.Process(pid).memory_info().rss / 1e6


# --- the page ------------------------------------------------------------------------------------------------


def page(figures: Figures, command: str, about: str) -> str:
    targets = "\n".join(target_lines(figures))
    return f"""\
# Benchmarks of the governor

Made by `{command}`; do not edit. Times depend on the machine and its load; ratios depend on them less.

{about}

## Targets

| target | bound | measured | |
|---|---:|---:|---|
{targets}

## Calls through a proxy

The tool adds two numbers; every answer is checked.
The upstream is the bare low-level SDK, tuned (`json_response=True, stateless_http=True`) over HTTP, and over stdio.
The client speaks HTTP to all of them, except to the upstream over stdio directly.
Protocol 2026-07-28 on both sides, except for mcp-proxy, which knows 2025-11-25 only.
Processor time is that of the proxy alone; "direct" has that of the upstream.

{call_table(figures, HTTP)}

{call_table(figures, STDIO)}

FastMCP's proxy is served with `json_response=True, stateless_http=True`, without logs.
`create_proxy(target)` is what its documentation shows: each request connects anew.
With a client that is connected already it is fastest, and then all callers share one session, which FastMCP warns of.
mcp-proxy serves commands over HTTP, and addresses over stdio only.
Ours validates arguments, checks permissions and limits, writes the audit trail and examines answers.

## Many upstreams, thousands of tools

Upstreams are small servers over stdio; 32 calls in flight to one tool; all upstreams are connected.

{scale_table(figures)}

The list of 5,000 tools costs an agent {figures.listed:,} tokens.

## Finding tools

{figures.recall}

- **Tasks**: LiveMCPBench, 94 tasks of several sentences, each of which needs one to seven of 527 tools.
  Recall at k is the share of the needed tools that are among the first k, averaged over the tasks.
  The query is the whole task.
- **Steps**: the same tasks; the query has the steps that people wrote down for them, each on a line.
  `search_tools` asks agents to search like this.
- **Searches**: the same tasks, with one search for each of these steps.
  The share of the needed tools that any of these searches has among the first k.
- **Requests**: 83 short requests, each for one of 1,521 tools of 215 servers, written from their definitions.
- **Together**: 60 queries, each of two to four of these requests in one sentence.
- **After use**: the words of the other half of the tasks count for the tools that these needed.

The weights were chosen by the even tasks, their steps and the requests.
The odd tasks were measured beside them, more than once over time, so they are not unseen.

{cost_lines(figures.cost)}
"""


def cost_lines(cost: tool_search.Cost | None) -> str:
    if cost is None:
        return ""
    return (
        f"With 5,000 tools, in processor time: the index is made in {cost.build:.2f} s, from its file in "
        f"{cost.from_file:.2f} s, after a change of one tool in {cost.one_changed:.2f} s; "
        f"a request takes {cost.request:.1f} ms, a whole task {cost.task:.1f} ms (medians)."
    )


def call_table(figures: Figures, kind: str) -> str:
    lines = [
        f"| upstream over {kind} | calls/s, 1 in flight | median, ms | calls/s, 32 in flight | µs of processor time |",
        "|---|---:|---:|---:|---:|",
    ]
    for proxy in PROXIES:
        if proxy.name in figures.missing:
            lines.append(f"| {proxy.label} | {figures.missing[proxy.name]} | | | |")
        elif proxy.only not in (None, kind):
            lines.append(f"| {proxy.label} | cannot serve an upstream over {kind} to HTTP clients | | | |")
        else:
            one, busy = (cell(proxy, kind, n) for n in IN_FLIGHT)
            lines.append(
                f"| {proxy.label} | {_rate(figures.calls, one)} | {_median(figures.calls, one, 'median_ms'):.2f} | "
                f"{_rate(figures.calls, busy)} | {_median(figures.calls, busy, 'cpu_us'):,.0f} |"
            )
    return "\n".join(lines)


def scale_table(figures: Figures) -> str:
    lines = ["| | calls/s | µs of processor time | memory, MB |", "|---|---:|---:|---:|"]
    for one in figures.scale:
        used = figures.memory.get(one.peer)
        lines.append(
            f"| {one.peer} | {_rate(figures.scale, one)} | {_median(figures.scale, one, 'cpu_us'):,.0f} | "
            f"{'' if used is None else f'{used:.0f}'} |"
        )
    lines.append(f"| {NO_CONSOLE} | | | {figures.memory[NO_CONSOLE]:.0f} |")
    return "\n".join(lines)


def target_lines(figures: Figures) -> Iterator[str]:
    calls = figures.calls
    for kind in (HTTP, STDIO):
        rate = _median(calls, cell(OURS, kind, 32), "calls_per_s")
        possible = _median(calls, cell(DIRECT, kind, 32), "calls_per_s")
        what = f"Calls a second, upstream over {kind}, 32 in flight"
        yield _line(
            f"{what} (direct: {possible:,.0f})", "at least 1,200", f"{rate:,.0f}", met=rate >= min(1_200, possible)
        )
    for kind in (HTTP, STDIO):
        added = difference(*(values(calls, cell(proxy, kind, 1), "median_ms") for proxy in (OURS, DIRECT)))
        yield _line(f"Added to the median, upstream over {kind}", "at most 1 ms", f"{added:.2f} ms", met=added <= 1)
    yield from _proxy_targets(calls)
    yield from _scale_targets(figures)


def _proxy_targets(calls: Samples) -> Iterator[str]:
    """The upstream limits calls a second, and has its share of the machine; the work of the proxies does not."""
    rates = (values(calls, cell(one, HTTP, 32), "calls_per_s") for one in (OURS, FASTMCP))
    times = ratio(*rates)
    yield _line(
        f"Calls a second against {FASTMCP.label}, upstream over http", "at least 20", f"{times:.1f}", met=times >= 20
    )
    for proxy in (FASTMCP, CONNECTED):
        for kind in (HTTP, STDIO):
            less = ratio(*(values(calls, cell(one, kind, 32), "cpu_us") for one in (proxy, OURS)))
            what = f"Processor time against {proxy.label}, upstream over {kind}, times less"
            yield _line(what, "at least 20", f"{less:.1f}", met=less >= 20)


def _scale_targets(figures: Figures) -> Iterator[str]:
    base, *others = figures.scale
    for one in others:
        cost = ratio(values(figures.scale, one, "cpu_us"), values(figures.scale, base, "cpu_us"))
        yield _line(f"Processor time, {one.peer}, against {BASE}", "at most 1.15", f"{cost:.2f}", met=cost <= 1.15)
    for name in (f"{MANY} upstreams, {FEW_TOOLS} tools each", NO_CONSOLE):
        used = figures.memory[name]
        yield _line(f"Memory, {name}", "at most 80 MB", f"{used:.0f} MB", met=used <= 80)
    if figures.cost is not None:
        cost = figures.cost
        yield _line("Index of 5,000 tools, processor time", "at most 5 s", f"{cost.build:.2f} s", met=cost.build <= 5)
        slowest = max(cost.request, cost.task)
        yield _line("A search among 5,000 tools", "at most 10 ms", f"{slowest:.1f} ms", met=slowest <= 10)
    tokens = figures.listed
    yield _line("Tokens listed with 5,000 tools", f"at most {LIST_BUDGET:,}", f"{tokens:,}", met=tokens <= LIST_BUDGET)


def _line(what: str, bound: str, measured: str, *, met: bool) -> str:
    return f"| {what} | {bound} | {measured} | {'met' if met else '**missed**'} |"


def _median(samples: Samples, one: Cell, metric: str) -> float:
    return median(values(samples, one, metric))


def _rate(samples: Samples, one: Cell) -> str:
    rates = values(samples, one, "calls_per_s")
    return f"{median(rates):,.0f} ± {spread(rates):.0%}"
