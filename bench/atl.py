"""What the Atlassian server costs: bytes for the agent, processor time of a call, waiting for a slow site.

`python -m bench --only atl --write` writes docs/benchmarks-atl.md.
"""

import asyncio
import json
import math
import time
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any, NamedTuple

import psutil

from bench.atl_site import RecordedSite
from bench.http_calls import cpu_ms
from bench.measure import median
from bench.processes import Served, serving
from mcp_atl.app import build
from mcp_atl.settings import AtlSettings

KIND = "atl"
PEER_LIST, PEER_ISSUE, PEER_SEARCH = 115_018, 3_532, 6_355
"""Bytes of the largest comparable server, mcp-atlassian: its tool list, an issue, and a search with ten issues."""
ALL_ISSUES = "project in (FERRY, APP, HELP) ORDER BY key"
BESIDE = """\
The load average says what ran beside this: above 2, other processes used both cores, and elapsed times are longer.
The site repeats answers that the sandbox gave, so the time of a site is not in these figures.
The bytes of mcp-atlassian are of its answers about other issues: they compare sizes, not the same data."""
WAITING = 200
DELAY = 0.1

GET = ("atl_get", {"subject": "FERRY-12"})
SEARCH_10 = ("atl_search", {"product": "jira", "subject": ALL_ISSUES, "parameters": {"limit": 10}})
SEARCH_10_TABLE = ("atl_search", {**SEARCH_10[1], "parameters": {"limit": 10, "format": "table"}})
SEARCH_50 = ("atl_search", {**SEARCH_10[1], "parameters": {"limit": 50}})
PAGE = ("atl_get", {"subject": "20103"})
OUTLINE = ("atl_get", {"subject": "20103", "parameters": {"part": "outline"}})


class Figure(NamedTuple):
    """A measured value and its upper bound."""

    title: str
    value: float
    most: float = math.inf


def run(folder: Path, log: Callable[[str], None], *, quick: bool) -> dict[str, list[Figure]]:
    """Everything that the page shows."""
    log("bytes")
    sizes = asyncio.run(_sizes())
    log("over HTTP")
    served = _served_figures(folder, 3 if quick else 9)
    log("a slow site")
    waiting = [asyncio.run(_wait()) for _ in range(1 if quick else 5)]
    return {
        "bytes": sizes,
        "served": served,
        "waiting": [Figure(f"{WAITING} calls at once, {DELAY * 1000:.0f} ms each, ms", median(waiting), 1_000)],
    }


async def _sizes() -> list[Figure]:
    everything, reading = (_list_size(AtlSettings(sandbox=True, read_only=one)) for one in (False, True))
    async with build(AtlSettings(sandbox=True), RecordedSite()) as app:
        texts = [(await app.call(*call)).text for call in (GET, SEARCH_10, SEARCH_10_TABLE)]
    _check(texts)
    taken = [len(text.encode()) for text in texts]
    return [
        Figure(f"the list of tools (mcp-atlassian: {PEER_LIST:,})", everything, 18_000),
        Figure("the list of tools with --read-only", reading, 9_000),
        Figure(f"an issue with its description (mcp-atlassian: {PEER_ISSUE:,})", taken[0], PEER_ISSUE / 2),
        Figure(f"a search with 10 issues (mcp-atlassian: {PEER_SEARCH:,})", taken[1], PEER_SEARCH / 2),
        Figure("the same as a table", taken[2]),
    ]


def _list_size(settings: AtlSettings) -> int:
    tools = [tool.for_model() for tool in build(settings).list_tools()]
    return len(json.dumps(tools, ensure_ascii=False, separators=(",", ":")).encode())


async def _wait() -> float:
    """Milliseconds until all answers are there."""
    site = RecordedSite()
    async with build(AtlSettings(sandbox=True), site) as app:
        await app.call(*GET)
        site.delay = DELAY
        started = time.perf_counter()
        answers = await asyncio.gather(*(app.call(*GET) for _ in range(WAITING)))
        passed = time.perf_counter() - started
    _check([answer.text for answer in answers])
    return 1000 * passed


def _check(answers: Sequence[str]) -> None:
    if failed := [text for text in answers if not json.loads(text)["success"]]:
        raise ValueError(failed[0])


def _served_figures(folder: Path, rounds: int) -> list[Figure]:
    with serving("atl", folder) as served:
        figures = [
            _cpu(served, "get, an issue", GET, rounds, 5),
            _cpu(served, "get, a page with tables", PAGE, rounds),
            _cpu(served, "get, the outline of a page", OUTLINE, rounds),
            _cpu(served, "search, 10 issues", SEARCH_10, rounds),
            _cpu(served, "search, 50 issues", SEARCH_50, rounds, 15),
        ]
        memory = psutil.Process(served.pid).memory_info().rss / 1e6
    return [*figures, Figure("memory after these calls, with the sandbox, MB", memory, 110)]


def _cpu(served: Served, title: str, call: tuple[str, dict[str, Any]], rounds: int, most: float = math.inf) -> Figure:
    cpu_ms(served, *call, 5)
    return Figure(f"{title}, ms", median([cpu_ms(served, *call, 20) for _ in range(rounds)]), most)


# --- the page ----------------------------------------------------------------------------------------------


def page_of(taken: dict[str, list[Figure]], made_by: str, about: str) -> str:
    parts = [
        "# Benchmarks of the Atlassian server",
        f"Made by `{made_by}`; do not edit.",
        about,
        BESIDE,
        "## Bytes for the agent",
        _table(taken["bytes"], 0),
        "## Over HTTP: the server's processor time for each call",
        "Protocol 2026-07-28, one call after the other, everything governed.",
        _table(taken["served"], 2),
        "## A slow site",
        "`get` of an issue, in one process, with a site that waits before each answer: elapsed time.",
        _table(taken["waiting"], 0),
    ]
    return "\n\n".join(parts) + "\n"


def _table(figures: Sequence[Figure], digits: int) -> str:
    lines = ["| | | target: at most |", "|---|---:|---|"]
    for figure in figures:
        met = "met" if figure.value <= figure.most else "**missed**"
        verdict = "" if figure.most == math.inf else f"{figure.most:,.10g}: {met}"
        lines.append(f"| {figure.title} | {figure.value:,.{digits}f} | {verdict} |")
    return "\n".join(lines)
