"""The page: what was measured, how, and which targets it meets, as it came out."""

import os
import platform
from collections.abc import Callable, Iterable, Sequence
from importlib.metadata import PackageNotFoundError, version
from pathlib import Path

import psutil

from bench import (
    cold_start,
    http_calls,
    list_calls,
    messages,
    real_clients,
    sqlite_calls,
    stages,
    stdio_calls,
    verify_speed,
)
from bench.contenders import CONTENDERS, ERAS, IN_FLIGHT, SQLITE, STARTED, TOOLS
from bench.measure import Cell, Samples, median, spread, values
from bench.targets import Finding, Target, targets

PACKAGES = ("mcp", "fastmcp-slim", "openai-agents", "httpx2", "pydantic", "uvicorn", "uvloop", "httptools")
MISSING = "-"
LABELS = {name: one.label for name, one in (CONTENDERS | SQLITE).items()} | STARTED

HOW = """\
## How it is measured
All servers are measured in one run, by turns: each figure is the median of {rounds} rounds, and in each
round every server is measured once, in a new order. "±" is half the distance between the quartiles. A ratio is the
median of the ratios of all rounds.

- **add(a, b)** is the tool that is called, with new numbers each time; the other tools are only listed.
  Every answer is checked: it must be a success with the right sum.
- **Requests** are those of real clients, byte for byte except for address, session and arguments;
  `tests/data/http_requests/` has them as they were recorded. Where no client is named it is the MCP Python SDK's,
  which sends head and body in two writes; so does the load generator, 100 µs apart.
- **direct ASGI function** is the floor: it reads the JSON, adds, and writes JSON, without MCP and without checks.
- **bare low-level SDK** answers with a plain text block and validates nothing. It gets a function that looks up a
  schema by name; without it, the SDK would list all tools on each call of the newer protocol. FastMCP gets one too,
  by a private attribute; with five middlewares it is as its documentation shows.
- **FastMCP 4 + five middlewares**: error handling, rate limiting, structured logging (to a file), timing, response
  caching; configured so that each call is within the limit and is not in the cache.
- **governed**: permission, rate limit, cache (never hit), strict validation, deadline, hints, metrics and an audit
  file, all switched on. The console is off; its record of recent calls adds about 5 µs to a call.
- **Tuned**: each library's own ASGI application with `json_response=True, stateless_http=True`, in uvicorn with
  httptools and uvloop, log level "warning", no access log, one process, loopback. Ours is served as its command
  serves it, with the uvicorn options of `toolcharter/serving/server.py`. FastMCP does not check Host and Origin by
  default, and does not here; the SDK and ours check both.
- **Processor time** is that of the server only, user and system, from the kernel's clock for its process. On a shared
  machine it is more reliable than calls a second. The load generator is a separate process with raw sockets.
- **Real clients** are processes that stay connected and call one after the other, or 32 at once; the time of a call
  includes the client's own work, which is most of it. The Agents SDK sends one call at a time.
- **SQLite**: `add_task` on a file, with the same table, WAL and `synchronous=NORMAL`. By hand it is one connection of
  `sqlite3` in the event loop.
- **Cold start** is the time from starting a command to the first tools/list answer over stdio, with an existing
  database; ours have all their tools, the others have one. Memory is resident memory after that answer.
- **`toolcharter verify`** is timed from the answer to tools/list to the finished HTML page. The tools are real
  ones if a collection of them is beside the repository, each several times with different words; otherwise generated.
"""


WHAT_NEXT = """
Measured inside real calls, one after the other; the figures include the clocks around the steps. What the next ten
microseconds would cost:

- `record` writes a line to the audit file for each call, with one system call, before the call is answered. Over HTTP,
  calls that arrive together share it. To buffer lines longer would lose them when the process is killed.
- `observe`, `record` and `render` write ids, times and caller into the audit line and into the answer of each call. To
  omit them in one of the two would save a little, but make it harder to find the audit line of an answer.
- `parse` reads the arguments from JSON, so that a handler can never change the request. To validate the original
  objects would be faster, but give that up.
"""


def machine() -> str:
    """The machine and the versions."""
    packages = ", ".join(f"{name} {_version(name)}" for name in PACKAGES)
    load = ", ".join(f"{number:.1f}" for number in os.getloadavg())
    return (
        f"{os.cpu_count()} cores ({_processor()}), {psutil.virtual_memory().total / 1e9:.0f} GB, {platform.system()} "
        f"{platform.release().split('-')[0]}, Python {platform.python_version()}; {packages}. Load average: {load}."
    )


def _version(name: str) -> str:
    try:
        return version(name)
    except PackageNotFoundError:
        return "not installed"


def _processor() -> str:
    try:
        lines = Path("/proc/cpuinfo").read_text(encoding="utf-8").splitlines()
    except OSError:
        return platform.machine()
    return next((line.partition(":")[2].strip() for line in lines if line.startswith("model name")), platform.machine())


def page(samples: Samples, command: str, rounds: str, about: str) -> str:
    """The whole page, as Markdown."""
    intro = (
        "# Benchmarks\n\n"
        f"Made by `{command}`; do not edit. Times depend on the machine and its load; ratios depend on them less.\n\n"
        f"{about}\n"
    )
    parts = [intro, target_section(targets(samples)), *tables(samples), HOW.format(rounds=rounds)]
    return "\n".join(part for part in parts if part)


def tables(samples: Samples) -> list[str]:
    """One for each kind that was measured, in this order."""
    writers: dict[str, Callable[[Samples], str]] = {
        real_clients.KIND: client_table,
        http_calls.KIND: http_tables,
        sqlite_calls.KIND: sqlite_table,
        stdio_calls.KIND: pipe_table,
        list_calls.KIND: list_table,
        stages.KIND: stage_table,
        cold_start.KIND: start_table,
        verify_speed.KIND: verify_table,
    }
    kinds = {cell.kind for cell in samples}
    return [write(samples) for kind, write in writers.items() if kind in kinds]


def client_table(samples: Samples) -> str:
    metrics = (("cpu_us", "processor time of the server, µs", 0), ("wall_ms", "time of a call, ms", 2))
    heads = ["client", "server", *(f"{words}, {busy} in flight" for busy in IN_FLIGHT for _, words, _ in metrics)]
    parts = ["## Real clients over HTTP"]
    for era in ERAS:
        cells = [
            [Cell(real_clients.KIND, peer, era, 1, busy, client) for busy in IN_FLIGHT]
            for client in real_clients.CLIENTS
            for peer in real_clients.PEERS
        ]
        rows = [
            [
                real_clients.CLIENTS[row[0].client],
                LABELS[row[0].peer],
                *(_figure(samples, cell, metric, digits) for cell in row for metric, _, digits in metrics),
            ]
            for row in cells
            if any(samples.get(cell) for cell in row)
        ]
        parts.append(f"Protocol {era}\n\n" + table(heads, rows, words=2))
    return "\n\n".join(part.rstrip() for part in parts) + "\n"


def http_tables(samples: Samples) -> str:
    """One table for each metric, and the heads of other clients."""
    first = http_table(samples, "cpu_us", "the server's processor time for each call, µs")
    return "\n".join([first, http_table(samples, "calls_per_s", "calls a second"), head_table(samples)])


def http_table(samples: Samples, metric: str, words: str) -> str:
    sizes = _sizes(samples, http_calls.KIND)
    parts = [f"## Over HTTP with the requests of the SDK's client: {words}"]
    for era in ERAS:
        heads = [f"{n:,} tool{'s' if n > 1 else ''}, {busy} in flight" for busy in IN_FLIGHT for n in sizes]
        rows = _rows(
            samples,
            CONTENDERS,
            lambda peer, era=era: [
                _figure(samples, Cell(http_calls.KIND, peer, era, n, busy), metric, 0)
                for busy in IN_FLIGHT
                for n in sizes
            ],
        )
        parts.append(f"Protocol {era}\n\n" + table(["", *heads], rows))
    return "\n\n".join(part.rstrip() for part in parts) + "\n"


def head_table(samples: Samples) -> str:
    clients = {"": "sdk"} | {client: client for client in messages.RECORDED[1:]}
    heads = [f"{era}, {name}" for era in ERAS for name in clients.values()]
    rows = _rows(
        samples,
        http_calls.BY_CLIENT,
        lambda peer: [
            _figure(samples, Cell(http_calls.KIND, peer, era, 1, 32, client), "cpu_us", 0)
            for era in ERAS
            for client in clients
        ],
    )
    words = "## Over HTTP with the requests of several clients, 32 in flight: the server's processor time, µs\n\n"
    return words + table(["", *heads], rows)


def sqlite_table(samples: Samples) -> str:
    heads = [f"{era}, {busy} in flight" for era in ERAS for busy in IN_FLIGHT]
    rows = _rows(
        samples,
        SQLITE,
        lambda peer: [
            _figure(samples, Cell(sqlite_calls.KIND, peer, era, 1, busy), "cpu_us", 0)
            for era in ERAS
            for busy in IN_FLIGHT
        ],
    )
    return "## `add_task` on SQLite: the server's processor time for each call, µs\n\n" + table(["", *heads], rows)


def pipe_table(samples: Samples) -> str:
    metrics = (("calls_per_s", "calls a second"), ("cpu_us", "µs of processor time for each"))
    heads = [f"{era}, {words}" for era in ERAS for _, words in metrics]

    def figures(peer: str) -> list[str]:
        cells = [Cell(stdio_calls.KIND, peer, era, 1, stdio_calls.IN_FLIGHT) for era in ERAS]
        return [_figure(samples, cell, metric, 0) for cell in cells for metric, _ in metrics]

    return f"## Over stdio: {stdio_calls.IN_FLIGHT} in flight on one pipe\n\n" + table(
        ["", *heads], _rows(samples, CONTENDERS, figures)
    )


def list_table(samples: Samples) -> str:
    def figures(peer: str) -> list[str]:
        return [_figure(samples, Cell(list_calls.KIND, peer, era, TOOLS[-1]), "cpu_ms", 2) for era in ERAS]

    words = f"## tools/list of {TOOLS[-1]:,} tools over HTTP: the server's processor time for each, ms\n\n"
    return words + table(["", *ERAS], _rows(samples, CONTENDERS, figures))


def stage_table(samples: Samples) -> str:
    cell = Cell(stages.KIND, "governed_native", ERAS[-1])
    taken = {step: median(values(samples, cell, step)) for step in (*stages.STEPS, "whole")}
    whole = taken.pop("whole")
    rest = whole - sum(taken.values())
    order = sorted(taken.items(), key=lambda entry: -entry[1])
    rows = [[step, f"{spent:.1f}", f"{spent / whole:.0%}"] for step, spent in order]
    rows += [["between the steps", f"{rest:.1f}", f"{rest / whole:.0%}"], ["**whole**", f"{whole:.1f}", ""]]
    return "## Where a governed call spends its time, µs\n\n" + table(["step", "µs", "share"], rows) + WHAT_NEXT


def start_table(samples: Samples) -> str:
    metrics = (("cpu_ms", "ms of processor time", 0), ("wall_ms", "ms", 0), ("rss_mb", "MB resident", 1))
    heads = [f"{era}, {words}" for era in ERAS for _, words, _ in metrics]
    rows = _rows(
        samples,
        STARTED,
        lambda peer: [
            _figure(samples, Cell(cold_start.KIND, peer, era), metric, digits)
            for era in ERAS
            for metric, _, digits in metrics
        ],
    )
    return "## Cold start: to the first tools/list answer over stdio\n\n" + table(["", *heads], rows)


def verify_table(samples: Samples) -> str:
    cell = verify_speed.cell()
    rules, findings = (median(values(samples, cell, metric)) for metric in ("rules", "findings"))
    rows = [[f"{rules:g}", f"{findings:,g}", *(_figure(samples, cell, m, 2) for m in ("cpu_s", "wall_s"))]]
    words = f"## `toolcharter verify` on {verify_speed.TOOLS:,} tools, with scores, duplicates and the HTML page\n\n"
    return words + table(["rules", "findings", "processor time, s", "s"], rows)


def _sizes(samples: Samples, kind: str) -> list[int]:
    return [size for size in TOOLS if any(cell.kind == kind and cell.tools == size for cell in samples)]


def _rows(samples: Samples, peers: Iterable[str], figures: Callable[[str], list[str]]) -> list[list[str]]:
    there = {cell.peer for cell in samples}
    rows = [[LABELS[peer], *figures(peer)] for peer in peers if peer in there]
    return [row for row in rows if any(figure != MISSING for figure in row[1:])]


def _figure(samples: Samples, cell: Cell, metric: str, digits: int) -> str:
    numbers = values(samples, cell, metric)
    if not numbers:
        return MISSING
    return f"{median(numbers):,.{digits}f} ± {spread(numbers):.0%}"


def target_section(found: Sequence[Target]) -> str:
    rows = [_target_row(target) for target in found if target.findings]
    if not rows:
        return ""
    summary = table(["Target", "bound", "measured, worst case", "range", ""], rows)
    details = [_finding_row(target, finding) for target in found for finding in target.findings]
    every = table(["Target", "condition", "measured", ""], details)
    fold = f"<details><summary>Each target under each condition</summary>\n\n{every}\n</details>\n"
    return f"## Targets\n\n{summary}\n{fold}"


def _finding_row(target: Target, finding: Finding) -> list[str]:
    verdict = "met" if target.holds(finding) else "**missed**"
    return [target.words, finding.condition, _value(finding.value, target), verdict]


def _target_row(target: Target) -> list[str]:
    worst = target.worst
    assert worst is not None
    numbers = sorted(finding.value for finding in target.findings)
    bound = f"at {target.sense} {_value(target.bound, target)}"
    shown = f"{_value(worst.value, target)} ({worst.condition})"
    extent = f"{_value(numbers[0], target)} to {_value(numbers[-1], target)}"
    met = sum(map(target.holds, target.findings))
    verdict = "met" if target.met else f"**missed** ({met} of {len(target.findings)} conditions meet it)"
    return [target.words, bound, shown, extent, verdict]


def _value(number: float, target: Target) -> str:
    if target.unit == "x":
        return f"{number:.2f}"
    return f"{number:,.1f} {target.unit}"


def table(heads: Sequence[str], rows: Iterable[Sequence[str]], *, words: int = 1) -> str:
    """A Markdown table; so many of the first columns are words, the others are figures."""
    lines = [
        "| " + " | ".join(heads) + " |",
        "|" + "|".join([*["---"] * words, *["---:"] * (len(heads) - words)]) + "|",
        *("| " + " | ".join(row) + " |" for row in rows),
    ]
    return "\n".join(lines) + "\n"
